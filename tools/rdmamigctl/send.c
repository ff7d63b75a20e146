// SPDX-License-Identifier: GPL-2.0
/*
 * send: send what a directory holds, to an rdmamig or a stock QEMU.
 *
 * Writing into the stream and adding windows block while the kernel catches
 * up.  So a thread does that, and the main thread watches the session, draws
 * the bar and takes signals; to stop the thread it cancels the session, upon
 * which every call of the thread fails.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "args.h"
#include "dir.h"
#include "job.h"
#include "stream.h"
#include "vm.h"

#define WRITE_BYTES	(512UL << 10)
#define HOOK_LEN	8

struct send {
	const char *where;
	union addr addr;
	struct knobs knobs;
	struct dir dir;
	struct manifest manifest;
	struct mapping *ram;
	struct mapping stream;
	struct vm_block *blocks;
	struct watch watch;
	struct progress progress;

	/* the thread's */
	pthread_t thread;
	struct conn conn;
	int fd;
	int done_fd;		/* an eventfd: it is done */
	const char *step;	/* what failed */
	int err;		/* negative errno */
};

static const char hook[HOOK_LEN] = { 0, 0, 0, 0, 0, 0, 0, (char)0x80 };

static int write_stream(struct send *tx, uint64_t from, uint64_t to)
{
	const char *data = tx->stream.at;

	tx->step = "stream";
	while (from < to) {
		size_t len = to - from < WRITE_BYTES ? (size_t)(to - from) : WRITE_BYTES;
		ssize_t n = write(tx->fd, data + from, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		from += (uint64_t)n;
	}
	return 0;
}

static int add_window(struct send *tx, size_t i)
{
	uint32_t window = RDMAMIG_WINDOW_EMPTY;
	struct nl_msg *msg;

	if (!i)
		window = RDMAMIG_WINDOW_SETUP;
	else if (i + 1 == tx->manifest.window_count)
		window = RDMAMIG_WINDOW_RAM;
	tx->step = "window";
	msg = conn_request(&tx->conn, RDMAMIG_CMD_WINDOW_ADD, 0);
	if (!msg)
		return -ENOMEM;
	nla_put_u32(msg, RDMAMIG_A_SESSION_ID, tx->watch.session.id);
	nla_put_u32(msg, RDMAMIG_A_SESSION_WINDOW, window);
	return conn_do(&tx->conn, msg, NULL);
}

static int write_all(struct send *tx)
{
	uint64_t at = 0;
	size_t i;
	int ret;

	for (i = 0; i < tx->manifest.window_count; i++) {
		ret = write_stream(tx, at, tx->manifest.windows[i].offset);
		if (!ret)
			ret = add_window(tx, i);
		if (ret)
			return ret;
		at = tx->manifest.windows[i].offset;
	}
	ret = write_stream(tx, at, tx->manifest.stream_length);
	if (ret)
		return ret;
	tx->step = "finish";
	return conn_simple(&tx->conn, RDMAMIG_CMD_SESSION_FINISH, tx->watch.session.id);
}

static void *writer(void *arg)
{
	struct send *tx = arg;
	uint64_t one = 1;

	tx->err = write_all(tx);
	if (write(tx->done_fd, &one, sizeof(one)) < 0)
		tx->err = tx->err ?: -errno;
	return NULL;
}

/* Every window must stand right behind its HOOK. */
static int check_hooks(const struct send *tx)
{
	const char *data = tx->stream.at;
	size_t i;

	for (i = 0; i < tx->manifest.window_count; i++) {
		uint64_t offset = tx->manifest.windows[i].offset;

		if (memcmp(data + offset - HOOK_LEN, hook, HOOK_LEN))
			return fail(EXIT_FAILED, tx->dir.path, MANIFEST_NAME
				    ": windows[%zu].offset: the stream opens no window at %" PRIu64,
				    i, offset);
	}
	return 0;
}

static int load(struct send *tx, const char *path)
{
	struct manifest *manifest = &tx->manifest;
	char field[48];
	size_t i;
	int ret;

	ret = dir_open(&tx->dir, path);
	if (!ret)
		ret = manifest_read(tx->dir.fd, path, manifest);
	if (!ret)
		ret = dir_map(&tx->dir, manifest->stream_file, manifest->stream_length,
			      "stream.length", &tx->stream);
	if (!ret)
		ret = check_hooks(tx);
	if (ret)
		return ret;

	tx->ram = calloc(manifest->block_count, sizeof(*tx->ram));
	tx->blocks = calloc(manifest->block_count, sizeof(*tx->blocks));
	if (!tx->ram || !tx->blocks)
		return fail_memory();
	for (i = 0; i < manifest->block_count; i++) {
		const struct manifest_block *from = &manifest->blocks[i];
		struct vm_block *block = &tx->blocks[i];

		snprintf(field, sizeof(field), "blocks[%zu].length", i);
		ret = dir_map(&tx->dir, from->file, from->length, field, &tx->ram[i]);
		if (ret)
			return ret;
		memcpy(block->name, from->name, sizeof(block->name));
		block->address = (uint64_t)(uintptr_t)tx->ram[i].at;
		block->length = from->length;
	}
	return 0;
}

/*
 * Watch the session while the thread works.
 *
 * Return: 0: it is over; or an exit code, reported, and it is cancelled.
 */
static int watch_session(struct send *tx)
{
	struct pollfd done = { .fd = tx->done_fd, .events = POLLIN };
	struct watch *watch = &tx->watch;
	bool working = true;
	int ret;

	while (!session_over(watch->session.state)) {
		int seen;

		progress_session(&tx->progress, &watch->rq, &watch->session);
		seen = watch_poll(watch, working ? &done : NULL,
				  tx->progress.on ? PROGRESS_MS : -1);
		if (seen < 0)
			return -seen;
		if (seen & WATCH_SIGNAL) {
			progress_end(&tx->progress);
			return job_cancelled(watch);
		}
		if (!(seen & WATCH_FD))
			continue;
		working = false;
		if (!tx->err)
			continue;
		/* the session's own reason says more than the call's errno */
		ret = watch_settle(watch);
		if (ret || session_over(watch->session.state))
			return ret;
		progress_end(&tx->progress);
		ret = conn_fail(&tx->conn, tx->err, tx->step);
		watch_cancel(watch, last_failure());
		return ret;
	}
	return 0;
}

static int run(struct send *tx)
{
	struct new_session new = {
		.role = RDMAMIG_ROLE_SOURCE,
		.mode = RDMAMIG_MODE_WINDOWS,
		.addr = &tx->addr,
		.knobs = &tx->knobs,
		.mem_fd = -1,
		.blocks = tx->blocks,
		.count = tx->manifest.block_count,
	};
	struct watch *watch = &tx->watch;
	int ret;

	ret = new_session(&watch->rq, &new, tx->where, &watch->session.id);
	if (ret)
		return ret;
	ret = watch_get(watch);
	if (!ret)
		ret = stream_open(&watch->rq, watch->session.id, &tx->fd);
	if (!ret && pthread_create(&tx->thread, NULL, writer, tx))
		ret = fail_memory();
	if (ret) {
		/* refused or gone already: then that is the reason to give */
		if (!watch_settle(watch) && session_over(watch->session.state))
			return session_verdict(&watch->session) ?: ret;
		watch_cancel(watch, last_failure());
		return ret;
	}

	ret = watch_session(tx);
	progress_end(&tx->progress);
	pthread_join(tx->thread, NULL);
	return ret ? ret : session_report(&watch->rq, &watch->session);
}

static int parse(struct send *tx, const char **dir, struct args *args)
{
	const char *word;
	bool taken;
	int ret;

	ret = args_options(args);
	if (ret)
		return ret;
	tx->where = args_next(args);
	if (!tx->where)
		return usage_error("ADDR", "missing: ADDRESS:PORT");
	while (!(ret = args_options(args)) && (word = args_next(args))) {
		if (!strcmp(word, "dir")) {
			ret = args_value(args, word, dir);
			if (ret)
				return ret;
			continue;
		}
		ret = knobs_word(&tx->knobs, FOR_SEND, word, args, &taken);
		if (ret)
			return ret;
		if (!taken)
			return usage_error(word, "not understood here");
	}
	if (ret)
		return ret;
	if (!*dir)
		return usage_error("dir", "missing: dir DIR");
	return addr_parse(tx->where, &tx->addr);
}

static void unload(struct send *tx)
{
	size_t i;

	for (i = 0; tx->ram && i < tx->manifest.block_count; i++)
		mapping_free(&tx->ram[i]);
	mapping_free(&tx->stream);
	free(tx->ram);
	free(tx->blocks);
	manifest_free(&tx->manifest);
	dir_close(&tx->dir, true);
}

/**
 * cmd_send() - send what a directory holds
 * @args: ADDR dir DIR [TUNABLES]
 *
 * Return: exit code.
 */
int cmd_send(struct args *args)
{
	struct send tx = { .fd = -1, .done_fd = -1, .dir = { .fd = -1 } };
	const char *dir = NULL;
	int ret;

	ret = parse(&tx, &dir, args);
	if (ret)
		return ret;
	progress_init(&tx.progress);
	/* the directory first: what is wrong with it can be said without a module */
	ret = load(&tx, dir);
	if (ret)
		goto unload;
	ret = watch_open(&tx.watch, true);
	if (ret)
		goto unload;
	ret = conn_open(&tx.conn);
	if (ret)
		goto close;
	tx.done_fd = eventfd(0, EFD_CLOEXEC);
	ret = tx.done_fd < 0 ? fail(EXIT_FAILED, "eventfd", "%s", strerror(errno)) : run(&tx);
	if (tx.fd >= 0)
		close(tx.fd);
	if (tx.done_fd >= 0)
		close(tx.done_fd);
	conn_close(&tx.conn);
close:
	watch_close(&tx.watch);
unload:
	unload(&tx);
	return ret;
}
