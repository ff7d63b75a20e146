// SPDX-License-Identifier: GPL-2.0
/*
 * manifest.json: what a received directory holds, and that it is whole.
 *
 * It is written last, under another name, and renamed when it is on disk: so
 * a directory that has one is complete.  It is read with suspicion: a person
 * may have edited it.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <json-c/json.h>

#include "manifest.h"

#define TEMP_NAME	MANIFEST_NAME ".tmp"
#define SIZE_MOST	(64 << 20)	/* bytes of a manifest that is read */

static const char *const kind_words[] = {
	[QSTREAM_WINDOW_UNKNOWN]	= "unknown",
	[QSTREAM_WINDOW_SETUP]		= "setup",
	[QSTREAM_WINDOW_PART]		= "part",
	[QSTREAM_WINDOW_END]		= "end",
};

/**
 * manifest_free() - let go of a manifest's lists
 * @manifest: it
 */
void manifest_free(struct manifest *manifest)
{
	free(manifest->blocks);
	free(manifest->windows);
	memset(manifest, 0, sizeof(*manifest));
}

/**
 * utf8_ok() - whether text may stand in JSON
 * @text: it
 *
 * Return: true if it is well-formed UTF-8.
 */
bool utf8_ok(const char *text)
{
	const unsigned char *p = (const unsigned char *)text;

	while (*p) {
		unsigned int more;
		uint32_t code;

		if (*p < 0x80) {
			p++;
			continue;
		}
		if (*p >= 0xc2 && *p <= 0xdf)
			more = 1;
		else if (*p >= 0xe0 && *p <= 0xef)
			more = 2;
		else if (*p >= 0xf0 && *p <= 0xf4)
			more = 3;
		else
			return false;
		code = *p++ & (0x3f >> more);
		for (; more; more--, p++) {
			if ((*p & 0xc0) != 0x80)
				return false;
			code = code << 6 | (*p & 0x3f);
			if (more == 2 && code < 0x20 && p[-1] == 0xe0)
				return false;
			if (more == 3 && (code < 0x10 || code > 0x10f))
				return false;
		}
		if (code >= 0xd800 && code <= 0xdfff)
			return false;
	}
	return true;
}

static json_object *blocks_json(const struct manifest *manifest)
{
	json_object *list = json_object_new_array();
	size_t i;

	for (i = 0; i < manifest->block_count; i++) {
		const struct manifest_block *block = &manifest->blocks[i];
		json_object *row = json_object_new_object();

		json_object_object_add(row, "index", json_object_new_uint64(i));
		json_object_object_add(row, "name", json_object_new_string(block->name));
		json_object_object_add(row, "length", json_object_new_uint64(block->length));
		json_object_object_add(row, "file", json_object_new_string(block->file));
		json_object_object_add(row, "resident-bytes",
				       json_object_new_uint64(block->resident));
		json_object_array_add(list, row);
	}
	return list;
}

static json_object *windows_json(const struct manifest *manifest)
{
	json_object *list = json_object_new_array();
	size_t i;

	for (i = 0; i < manifest->window_count; i++) {
		json_object *row = json_object_new_object();

		json_object_object_add(row, "offset",
				       json_object_new_uint64(manifest->windows[i].offset));
		json_object_object_add(row, "kind", json_object_new_string
				       (kind_words[manifest->windows[i].kind]));
		json_object_array_add(list, row);
	}
	return list;
}

static json_object *manifest_json(const struct manifest *manifest)
{
	json_object *peer = json_object_new_object();
	json_object *stream = json_object_new_object();
	json_object *doc = json_object_new_object();

	json_object_object_add(doc, "format-version", json_object_new_int(1));
	json_object_object_add(peer, "address", manifest->peer[0] ?
			       json_object_new_string(manifest->peer) : NULL);
	json_object_object_add(peer, "rdmamig",
			       json_object_new_boolean(manifest->peer_rdmamig));
	json_object_object_add(doc, "peer", peer);
	json_object_object_add(doc, "blocks", blocks_json(manifest));
	json_object_object_add(doc, "windows", windows_json(manifest));
	json_object_object_add(stream, "file",
			       json_object_new_string(manifest->stream_file));
	json_object_object_add(stream, "length",
			       json_object_new_uint64(manifest->stream_length));
	json_object_object_add(doc, "stream", stream);
	return doc;
}

/**
 * manifest_write() - make a directory complete
 * @dirfd: the directory; everything else in it is on disk
 * @dir: its path, for messages
 * @manifest: what it holds
 *
 * Return: 0 or an exit code; then there is no manifest.
 */
int manifest_write(int dirfd, const char *dir, const struct manifest *manifest)
{
	json_object *doc = manifest_json(manifest);
	const char *step = "written";
	bool renamed = false;
	FILE *f = NULL;
	int err;
	int fd;

	fd = openat(dirfd, TEMP_NAME, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
		    0600);
	if (fd >= 0)
		f = fdopen(fd, "w");
	if (!f)
		goto fail;
	if (fprintf(f, "%s\n", json_object_to_json_string_ext(doc, JSON_C_TO_STRING_PRETTY |
					JSON_C_TO_STRING_NOSLASHESCAPE)) < 0 ||
	    fflush(f) || fsync(fd))
		goto fail;
	step = "renamed";
	if (renameat(dirfd, TEMP_NAME, dirfd, MANIFEST_NAME))
		goto fail;
	renamed = true;
	if (fsync(dirfd))
		goto fail;
	fclose(f);
	json_object_put(doc);
	return 0;

fail:
	err = errno;
	if (f)
		fclose(f);
	else if (fd >= 0)
		close(fd);
	unlinkat(dirfd, renamed ? MANIFEST_NAME : TEMP_NAME, 0);
	json_object_put(doc);
	return fail(EXIT_FAILED, dir, MANIFEST_NAME " cannot be %s: %s", step, strerror(err));
}

/* Reading: a field is named by its path, as in blocks[2].length. */
struct reader {
	const char *dir;
	char path[64];
};

static int bad(struct reader *r, const char *key, const char *fmt, ...) __printf(3, 4);

static int bad(struct reader *r, const char *key, const char *fmt, ...)
{
	char why[160];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	if (!r->path[0] && !key[0])
		return fail(EXIT_FAILED, r->dir, MANIFEST_NAME ": %s", why);
	return fail(EXIT_FAILED, r->dir, MANIFEST_NAME ": %s%s%s: %s", r->path,
		    r->path[0] && key[0] ? "." : "", key, why);
}

static int get(struct reader *r, json_object *from, const char *key, enum json_type type,
	       json_object **value)
{
	if (!json_object_object_get_ex(from, key, value))
		return bad(r, key, "missing");
	if (!json_object_is_type(*value, type))
		return bad(r, key, "not of type %s", json_type_to_name(type));
	return 0;
}

static int get_number(struct reader *r, json_object *from, const char *key, uint64_t *value)
{
	json_object *json;
	int ret;

	ret = get(r, from, key, json_type_int, &json);
	if (ret)
		return ret;
	if (json_object_get_int64(json) < 0)
		return bad(r, key, "negative");
	*value = json_object_get_uint64(json);
	if (*value > INT64_MAX)
		return bad(r, key, "too large");
	return 0;
}

static int get_text(struct reader *r, json_object *from, const char *key, char *text,
		    size_t size)
{
	json_object *json;
	size_t len;
	int ret;

	ret = get(r, from, key, json_type_string, &json);
	if (ret)
		return ret;
	len = (size_t)json_object_get_string_len(json);
	if (!len)
		return bad(r, key, "empty");
	if (len >= size)
		return bad(r, key, "longer than %zu bytes", size - 1);
	if (memchr(json_object_get_string(json), 0, len))
		return bad(r, key, "has a NUL in it");
	memcpy(text, json_object_get_string(json), len + 1);
	return 0;
}

/* A file of the directory itself. */
static int get_file(struct reader *r, json_object *from, char *file)
{
	int ret = get_text(r, from, "file", file, FILE_NAME_MAX + 1);

	if (ret)
		return ret;
	if (strchr(file, '/') || !strcmp(file, ".") || !strcmp(file, ".."))
		return bad(r, "file", "not a file of the directory itself");
	return 0;
}

static int by_name(const void *a, const void *b)
{
	const struct manifest_block *const *x = a;
	const struct manifest_block *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

static int check_names(struct reader *r, const struct manifest *manifest)
{
	const struct manifest_block **sorted;
	int ret = 0;
	size_t i;

	sorted = calloc(manifest->block_count, sizeof(*sorted));
	if (!sorted)
		return fail_memory();
	for (i = 0; i < manifest->block_count; i++)
		sorted[i] = &manifest->blocks[i];
	qsort(sorted, manifest->block_count, sizeof(*sorted), by_name);
	for (i = 1; i < manifest->block_count && !ret; i++)
		if (!strcmp(sorted[i]->name, sorted[i - 1]->name))
			ret = bad(r, "blocks", "the name \"%s\" stands there twice",
				  sorted[i]->name);
	free(sorted);
	return ret;
}

static int read_block(struct reader *r, json_object *row, size_t i,
		      struct manifest_block *block)
{
	uint64_t index;
	int ret;

	snprintf(r->path, sizeof(r->path), "blocks[%zu]", i);
	if (!json_object_is_type(row, json_type_object))
		return bad(r, "", "not an object");
	ret = get_number(r, row, "index", &index);
	if (!ret && index != i)
		ret = bad(r, "index", "%" PRIu64 " where %zu is expected", index, i);
	if (!ret)
		ret = get_text(r, row, "name", block->name, sizeof(block->name));
	if (!ret)
		ret = get_number(r, row, "length", &block->length);
	if (!ret && !block->length)
		ret = bad(r, "length", "a block has at least a page");
	if (!ret)
		ret = get_file(r, row, block->file);
	r->path[0] = '\0';
	return ret;
}

static int read_blocks(struct reader *r, json_object *doc, struct manifest *manifest)
{
	json_object *list;
	size_t n, i;
	int ret;

	ret = get(r, doc, "blocks", json_type_array, &list);
	if (ret)
		return ret;
	n = json_object_array_length(list);
	if (!n)
		return bad(r, "blocks", "empty");
	if (n > QSTREAM_BLOCKS_MAX)
		return bad(r, "blocks", "%zu of them, at most %d are allowed", n,
			   QSTREAM_BLOCKS_MAX);
	manifest->blocks = calloc(n, sizeof(*manifest->blocks));
	if (!manifest->blocks)
		return fail_memory();
	manifest->block_count = n;
	for (i = 0; i < n; i++) {
		ret = read_block(r, json_object_array_get_idx(list, i), i,
				 &manifest->blocks[i]);
		if (ret)
			return ret;
	}
	return check_names(r, manifest);
}

static int read_window(struct reader *r, json_object *row, size_t i,
		       struct manifest *manifest)
{
	struct manifest_window *window = &manifest->windows[i];
	char kind[16];
	size_t k;
	int ret;

	snprintf(r->path, sizeof(r->path), "windows[%zu]", i);
	if (!json_object_is_type(row, json_type_object))
		return bad(r, "", "not an object");
	ret = get_number(r, row, "offset", &window->offset);
	if (ret)
		return ret;
	if (window->offset < (i ? window[-1].offset : 0) + 8)
		return bad(r, "offset", "%" PRIu64 " is less than 8 bytes after the one before",
			   window->offset);
	if (window->offset > manifest->stream_length)
		return bad(r, "offset", "%" PRIu64 " lies behind the stream's %" PRIu64 " bytes",
			   window->offset, manifest->stream_length);
	ret = get_text(r, row, "kind", kind, sizeof(kind));
	if (ret)
		return ret;
	for (k = 0; k < ARRAY_SIZE(kind_words); k++)
		if (!strcmp(kind, kind_words[k]))
			break;
	if (k == ARRAY_SIZE(kind_words))
		return bad(r, "kind", "\"%s\" is not setup, part, end or unknown", kind);
	window->kind = (enum qstream_window)k;
	if (i ? k == QSTREAM_WINDOW_SETUP : k != QSTREAM_WINDOW_SETUP)
		return bad(r, "kind", "the first window is setup, and no other");
	r->path[0] = '\0';
	return 0;
}

static int read_windows(struct reader *r, json_object *doc, struct manifest *manifest)
{
	json_object *list;
	size_t n, i;
	int ret;

	ret = get(r, doc, "windows", json_type_array, &list);
	if (ret)
		return ret;
	n = json_object_array_length(list);
	if (n < 2)
		return bad(r, "windows", "%zu: a stream has at least two, setup and end", n);
	manifest->windows = calloc(n, sizeof(*manifest->windows));
	if (!manifest->windows)
		return fail_memory();
	manifest->window_count = n;
	for (i = 0; i < n; i++) {
		ret = read_window(r, json_object_array_get_idx(list, i), i, manifest);
		if (ret)
			return ret;
	}
	return 0;
}

static int read_doc(struct reader *r, json_object *doc, struct manifest *manifest)
{
	uint64_t version;
	json_object *stream;
	int ret;

	if (!json_object_is_type(doc, json_type_object))
		return bad(r, "", "not an object");
	ret = get_number(r, doc, "format-version", &version);
	if (!ret && version != 1)
		ret = bad(r, "format-version", "%" PRIu64 ": this tool reads 1", version);
	if (!ret)
		ret = get(r, doc, "stream", json_type_object, &stream);
	if (ret)
		return ret;
	snprintf(r->path, sizeof(r->path), "stream");
	ret = get_file(r, stream, manifest->stream_file);
	if (!ret)
		ret = get_number(r, stream, "length", &manifest->stream_length);
	r->path[0] = '\0';
	if (!ret)
		ret = read_blocks(r, doc, manifest);
	if (!ret)
		ret = read_windows(r, doc, manifest);
	return ret;
}

static int load(struct reader *r, int dirfd, char **text, size_t *len)
{
	struct stat st;
	ssize_t n;
	int fd;

	fd = openat(dirfd, MANIFEST_NAME, O_RDONLY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return fail(EXIT_FAILED, r->dir, "has no " MANIFEST_NAME
			    ": not a received directory, or not a complete one");
	if (fd < 0 || fstat(fd, &st)) {
		if (fd >= 0)
			close(fd);
		return fail(errno == EACCES ? EXIT_PERM : EXIT_FAILED, r->dir,
			    MANIFEST_NAME ": %s", strerror(errno));
	}
	if (!S_ISREG(st.st_mode) || st.st_size > SIZE_MOST) {
		close(fd);
		return bad(r, "", "not a file of at most %d bytes", SIZE_MOST);
	}
	*text = malloc((size_t)st.st_size + 1);
	if (!*text) {
		close(fd);
		return fail_memory();
	}
	n = pread(fd, *text, (size_t)st.st_size, 0);
	close(fd);
	if (n != st.st_size)
		return bad(r, "", "cannot be read whole");
	(*text)[n] = '\0';
	*len = (size_t)n;
	return 0;
}

/**
 * manifest_read() - read what a directory holds
 * @dirfd: the directory
 * @dir: its path, for messages
 * @manifest: where to; free it in any case
 *
 * Return: 0 or an exit code; the message names the field.
 */
int manifest_read(int dirfd, const char *dir, struct manifest *manifest)
{
	struct reader r = { .dir = dir };
	json_tokener *tokener;
	json_object *doc;
	char *text = NULL;
	size_t len = 0;
	int ret;

	memset(manifest, 0, sizeof(*manifest));
	ret = load(&r, dirfd, &text, &len);
	if (ret) {
		free(text);
		return ret;
	}
	tokener = json_tokener_new_ex(16);
	if (!tokener) {
		free(text);
		return fail_memory();
	}
	json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
	doc = json_tokener_parse_ex(tokener, text, (int)len);
	if (json_tokener_get_error(tokener) == json_tokener_continue)
		ret = bad(&r, "", "not JSON: it is cut short");
	else if (json_tokener_get_error(tokener) != json_tokener_success)
		ret = bad(&r, "", "not JSON: %s at byte %zu",
			  json_tokener_error_desc(json_tokener_get_error(tokener)),
			  json_tokener_get_parse_end(tokener));
	else if (strspn(text + json_tokener_get_parse_end(tokener), " \t\r\n") !=
		 len - json_tokener_get_parse_end(tokener))
		ret = bad(&r, "", "not JSON: something follows the object");
	else
		ret = read_doc(&r, doc, manifest);
	json_object_put(doc);
	json_tokener_free(tokener);
	free(text);
	return ret;
}
