// SPDX-License-Identifier: GPL-2.0
/*
 * A received directory: ram.N with the bytes of block N, stream with the byte
 * stream, and manifest.json, which makes it complete.
 *
 * It holds a VM's memory: what is made here is for its owner alone.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dir.h"

#define WRITE_BYTES	(8UL << 20)	/* of one write */

static int exit_of(int err)
{
	return err == EACCES || err == EPERM ? EXIT_PERM : EXIT_FAILED;
}

/**
 * dir_create() - get a directory ready to be received into
 * @dir: it
 * @path: its path; made if it is not there
 *
 * Return: 0 or an exit code.
 */
int dir_create(struct dir *dir, const char *path)
{
	int err;

	*dir = (struct dir){ .path = path, .fd = -1 };
	if (!mkdir(path, 0700))
		dir->made = true;
	else if (errno != EEXIST)
		return fail(exit_of(errno), path, "cannot be made: %s", strerror(errno));

	dir->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir->fd < 0) {
		err = errno;
		if (dir->made)
			rmdir(path);
		return fail(exit_of(err), path, "%s", strerror(err));
	}
	if (flock(dir->fd, LOCK_EX | LOCK_NB)) {
		dir_close(dir, true);
		return fail(EXIT_FAILED, path, "another process is receiving into it");
	}
	if (!faccessat(dir->fd, MANIFEST_NAME, F_OK, AT_SYMLINK_NOFOLLOW)) {
		dir_close(dir, true);
		return fail(EXIT_FAILED, path, "holds a received VM already (" MANIFEST_NAME
			    "): nothing is overwritten, name another directory");
	}
	if (faccessat(dir->fd, ".", W_OK | X_OK, AT_EACCESS)) {
		err = errno;
		dir_close(dir, true);
		return fail(exit_of(err), path, "%s", strerror(err));
	}
	return 0;
}

/**
 * dir_close() - let go of a directory
 * @dir: it
 * @keep: what was written stays; else the partial files go
 */
void dir_close(struct dir *dir, bool keep)
{
	char file[32];
	size_t i;

	if (dir->fd < 0)
		return;
	if (!keep) {
		for (i = 0; i < dir->files; i++) {
			snprintf(file, sizeof(file), "ram.%zu", i);
			unlinkat(dir->fd, file, 0);
		}
		if (dir->stream)
			unlinkat(dir->fd, STREAM_NAME, 0);
	}
	close(dir->fd);
	dir->fd = -1;
	if (!keep && dir->made)
		rmdir(dir->path);
}

static int open_new(const struct dir *dir, const char *file)
{
	return openat(dir->fd, file, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
		      0600);
}

static int write_all(int fd, const char *from, size_t len, uint64_t at)
{
	while (len) {
		ssize_t n = pwrite(fd, from, len < WRITE_BYTES ? len : WRITE_BYTES, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			return -EIO;
		from += n;
		at += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

static bool page_is_zero(const char *page, size_t size)
{
	const uint64_t *word = (const uint64_t *)page;
	size_t i;

	for (i = 0; i < size / sizeof(*word); i += 8)
		if (word[i] | word[i + 1] | word[i + 2] | word[i + 3] |
		    word[i + 4] | word[i + 5] | word[i + 6] | word[i + 7])
			return false;
	return true;
}

/* Bytes of pages, from @at, that are alike: all zero, or none of them is. */
static uint64_t run_length(const char *memory, uint64_t at, uint64_t end, size_t page,
			   bool *zero)
{
	uint64_t to = at + page;

	*zero = page_is_zero(memory + at, page);
	while (to < end && to - at < WRITE_BYTES &&
	       page_is_zero(memory + to, page) == *zero)
		to += page;
	return to - at;
}

/**
 * dir_write_block() - write a block's memory, sparse where it is zero
 * @dir: where to
 * @block: its length; its file and resident bytes are filled in
 * @index: of the block
 * @memory: its bytes; whole pages
 * @pause: asked now and then
 * @arg: for it
 *
 * Return: 0 or an exit code; of @pause, if it was that.
 */
int dir_write_block(struct dir *dir, struct manifest_block *block, size_t index,
		    const void *memory, dir_pause_fn pause, void *arg)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint64_t at = 0;
	int ret = 0;
	int fd;

	snprintf(block->file, sizeof(block->file), "ram.%zu", index);
	block->resident = 0;
	fd = open_new(dir, block->file);
	if (fd < 0)
		return fail(exit_of(errno), dir->path, "%s: %s", block->file, strerror(errno));
	dir->files = index + 1;

	while (at < block->length && !ret) {
		uint64_t run;
		bool zero;

		run = run_length(memory, at, block->length, page, &zero);
		if (!zero) {
			int err = write_all(fd, (const char *)memory + at, run, at);

			if (err) {
				ret = fail(exit_of(-err), dir->path, "%s: %s", block->file,
					   strerror(-err));
				break;
			}
			block->resident += run;
		}
		at += run;
		ret = pause(arg, run);
	}
	if (!ret && (ftruncate(fd, (off_t)block->length) || fsync(fd)))
		ret = fail(exit_of(errno), dir->path, "%s: %s", block->file, strerror(errno));
	if (close(fd) && !ret)
		ret = fail(exit_of(errno), dir->path, "%s: %s", block->file, strerror(errno));
	return ret;
}

/**
 * dir_write_stream() - write the byte stream
 * @dir: where to
 * @data: it
 * @len: its bytes
 *
 * Return: 0 or an exit code.
 */
int dir_write_stream(struct dir *dir, const void *data, size_t len)
{
	int err;
	int fd;

	fd = open_new(dir, STREAM_NAME);
	if (fd < 0)
		return fail(exit_of(errno), dir->path, STREAM_NAME ": %s", strerror(errno));
	dir->stream = true;
	err = write_all(fd, data, len, 0);
	if (!err && fsync(fd))
		err = -errno;
	if (close(fd) && !err)
		err = -errno;
	if (!err && fsync(dir->fd))
		err = -errno;
	if (err)
		return fail(exit_of(-err), dir->path, STREAM_NAME ": %s", strerror(-err));
	return 0;
}

/**
 * dir_open() - open a directory that was received into
 * @dir: it
 * @path: its path
 *
 * Return: 0 or an exit code.
 */
int dir_open(struct dir *dir, const char *path)
{
	*dir = (struct dir){ .path = path, .fd = -1 };
	dir->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir->fd < 0)
		return fail(exit_of(errno), path, "%s", strerror(errno));
	return 0;
}

/* Where a file system cannot map: read it. */
static void *read_file(int fd, size_t length)
{
	size_t done = 0;
	char *at;

	at = mmap(NULL, length, PROT_READ | PROT_WRITE,
		  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (at == MAP_FAILED)
		return at;
	while (done < length) {
		ssize_t n = pread(fd, at + done, length - done, (off_t)done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			int err = n ? errno : EIO;

			munmap(at, length);
			errno = err;
			return MAP_FAILED;
		}
		done += (size_t)n;
	}
	return at;
}

/**
 * dir_map() - get a file of a directory into memory, for reading
 * @dir: the directory
 * @file: its name
 * @length: bytes that it must have
 * @field: of the manifest that says so
 * @mapping: where it is
 *
 * Return: 0 or an exit code.
 */
int dir_map(const struct dir *dir, const char *file, uint64_t length, const char *field,
	    struct mapping *mapping)
{
	struct stat st;
	int fd;

	fd = openat(dir->fd, file, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st)) {
		int err = errno;

		if (fd >= 0)
			close(fd);
		return fail(exit_of(err), dir->path, "%s: %s", file, strerror(err));
	}
	if (!S_ISREG(st.st_mode)) {
		close(fd);
		return fail(EXIT_FAILED, dir->path, "%s: not a regular file", file);
	}
	if ((uint64_t)st.st_size != length) {
		close(fd);
		return fail(EXIT_FAILED, dir->path,
			    MANIFEST_NAME ": %s: %" PRIu64 ", but %s has %" PRIu64 " bytes", field,
			    length, file, (uint64_t)st.st_size);
	}
	mapping->length = (size_t)length;
	mapping->at = mmap(NULL, mapping->length, PROT_READ, MAP_SHARED, fd, 0);
	if (mapping->at == MAP_FAILED)
		mapping->at = read_file(fd, mapping->length);
	close(fd);
	if (mapping->at == MAP_FAILED) {
		mapping->at = NULL;
		return fail(EXIT_FAILED, dir->path, "%s: cannot be mapped or read: %s", file,
			    strerror(errno));
	}
	return 0;
}

/**
 * mapping_free() - let go of a file's memory
 * @mapping: it
 */
void mapping_free(struct mapping *mapping)
{
	if (mapping->at)
		munmap(mapping->at, mapping->length);
	mapping->at = NULL;
}
