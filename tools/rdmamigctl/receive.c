// SPDX-License-Identifier: GPL-2.0
/*
 * receive: accept a migration into a directory.
 *
 * The kernel moves the memory and hands up the byte stream; what the stream
 * means is judged here:
 *
 *   LISTENING .. SETUP   the stream is read as it comes
 *   BINDING              it holds the block list now: memory is allocated for
 *                        the blocks and bound
 *   RUNNING              the end is looked for where the source is a stock
 *                        QEMU, which never says that it is there
 *   SEALED               no key is valid any more: everything is written out,
 *                        the manifest last
 *   FINISHING            the source is told
 *
 * Until the manifest is there the source owns the VM: whatever fails before
 * cancels the session and leaves nothing in the directory.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "args.h"
#include "dir.h"
#include "job.h"
#include "out.h"
#include "qstream.h"
#include "stream.h"
#include "vm.h"

#define END_MS	5000	/* from the stream's end to the kernel's verdict */

struct receive {
	const char *where;
	union addr addr;
	struct knobs knobs;
	struct dir dir;
	struct watch watch;
	struct progress progress;
	struct stream stream;
	struct qstream_blocks found;
	bool bound;
	bool sealing;		/* the kernel was told that the stream is whole */
	struct vm_block *blocks;
	size_t mapped;		/* blocks that have memory */
	uint64_t most;		/* max-memory */
	struct manifest manifest;
	uint64_t written;	/* while writing out */
	bool whole;		/* the manifest is there */
	uint64_t end_at;	/* when the stream ended, ms */
};

/* Half of what could be had now without swapping. */
static uint64_t default_max_memory(void)
{
	unsigned long long kib = 0;
	char line[128];
	FILE *f;

	f = fopen("/proc/meminfo", "re");
	if (f) {
		while (fgets(line, sizeof(line), f))
			if (sscanf(line, "MemAvailable: %llu", &kib) == 1)
				break;
		fclose(f);
	}
	return kib ? (uint64_t)kib * 1024 / 2 : UINT64_MAX;
}

static int allocate(struct receive *rx)
{
	uint32_t i;

	rx->blocks = calloc(rx->found.count, sizeof(*rx->blocks));
	if (!rx->blocks)
		return fail_memory();
	for (i = 0; i < rx->found.count; i++) {
		const struct qstream_block *from = &rx->found.block[i];
		struct vm_block *block = &rx->blocks[i];
		void *at;

		if (!utf8_ok(from->name))
			return fail(EXIT_FAILED, "block", "%u: its name is not UTF-8", i);
		memcpy(block->name, from->name, sizeof(block->name));
		block->length = from->length;
		at = mmap(NULL, (size_t)block->length, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (at == MAP_FAILED)
			return fail(EXIT_FAILED, block->name,
				    "no memory for its %" PRIu64 " bytes: %s",
				    block->length, strerror(errno));
		block->address = (uint64_t)(uintptr_t)at;
		rx->mapped++;
	}
	return 0;
}

/* The source wants the block list: find it, and give the blocks memory. */
static int bind_blocks(struct receive *rx)
{
	struct conn *conn = &rx->watch.rq;
	struct nl_msg *msg;
	const char *why;
	int ret;

	ret = stream_read(&rx->stream);
	if (ret)
		return ret;
	why = qstream_find_blocks(rx->stream.data, rx->stream.len, &rx->found);
	if (why)
		return fail(EXIT_FAILED, "block list", "not understood: %s", why);
	if (rx->found.total > rx->most - rx->stream.len)
		return fail(EXIT_FAILED, "max-memory",
			    "needs %" PRIu64 " bytes, allowed are %" PRIu64 ": raise max-memory",
			    rx->found.total + rx->stream.len, rx->most);
	ret = allocate(rx);
	if (ret)
		return ret;

	msg = conn_request(conn, RDMAMIG_CMD_BLOCK_BIND, blocks_room(rx->found.count));
	if (!msg)
		return EXIT_FAILED;
	nla_put_u32(msg, RDMAMIG_A_SESSION_ID, rx->watch.session.id);
	blocks_put(msg, rx->blocks, rx->found.count);
	ret = conn_do(conn, msg, NULL);
	if (ret)
		return conn_fail_id(conn, ret, rx->watch.session.id);
	rx->bound = true;
	return 0;
}

/* Fill in the windows that the stream has had so far. */
static int get_windows(struct receive *rx)
{
	struct manifest *manifest = &rx->manifest;
	struct conn *conn = &rx->watch.rq;
	struct records reply = { 0 };
	size_t i;
	int ret;

	ret = conn_get(conn, RDMAMIG_CMD_WINDOW_GET, RDMAMIG_A_WINDOW_SESSION_ID,
		       rx->watch.session.id, &reply);
	if (ret) {
		records_free(&reply);
		return conn_fail_id(conn, ret, rx->watch.session.id);
	}
	free(manifest->windows);
	manifest->window_count = 0;
	manifest->windows = calloc(reply.n ? reply.n : 1, sizeof(*manifest->windows));
	if (!manifest->windows) {
		records_free(&reply);
		return fail_memory();
	}
	for (i = 0; i < reply.n; i++) {
		struct nlattr *tb[RDMAMIG_A_WINDOW_MAX + 1];
		uint64_t offset = 0;

		record_parse(&reply.v[i], RDMAMIG_A_WINDOW_MAX, tb);
		attr_u64(tb[RDMAMIG_A_WINDOW_OFFSET], &offset);
		/* a window whose bytes are still on their way up */
		if (offset > rx->stream.len)
			break;
		manifest->windows[i].offset = offset;
		manifest->windows[i].kind = qstream_window_kind(rx->stream.data, offset,
								&rx->found);
		manifest->window_count++;
	}
	records_free(&reply);
	return 0;
}

/* Whether the window of the last pages was seen and stream follows it. */
static bool end_window_closed(const struct receive *rx)
{
	const struct manifest *manifest = &rx->manifest;
	const struct manifest_window *last;

	if (!manifest->window_count)
		return false;
	last = &manifest->windows[manifest->window_count - 1];
	return last->kind == QSTREAM_WINDOW_END && last->offset < rx->stream.len;
}

/*
 * A stock source: is this the end?  Then seal.  The strong test, which reads
 * the description at the stream's end, while the source is connected; the
 * weak one when it has gone.
 */
static int try_end(struct receive *rx)
{
	struct stream *stream = &rx->stream;
	bool whole;
	int ret;

	whole = qstream_is_complete(stream->data, stream->len, &rx->found) ||
		(stream->ended && qstream_may_be_complete(stream->data, stream->len));
	if (whole) {
		ret = get_windows(rx);
		if (ret)
			return ret;
		whole = end_window_closed(rx);
	}
	if (!whole && stream->ended)
		return fail(EXIT_ENDED, "stream",
			    "the source disconnected before the end of its stream");
	if (!whole)
		return 0;
	rx->sealing = true;
	ret = conn_simple(&rx->watch.rq, RDMAMIG_CMD_SESSION_SEAL, rx->watch.session.id);
	if (ret)
		return conn_fail_id(&rx->watch.rq, ret, rx->watch.session.id);
	return watch_get(&rx->watch);
}

/* One look at a session that is receiving. */
static int step(struct receive *rx)
{
	struct session *session = &rx->watch.session;

	if (session_over(session->state))
		return session_verdict(session) ?: fail(EXIT_ENDED, "session",
							"ended before it was sealed");
	if (session->state == RDMAMIG_STATE_BINDING && !rx->bound)
		return bind_blocks(rx);
	if (rx->stream.ended && !rx->end_at)
		rx->end_at = monotonic_ms();
	if (rx->stream.ended && !rx->bound)
		return fail(EXIT_ENDED, "stream",
			    "the source disconnected before it asked for the block list");
	if (!rx->bound || rx->sealing || session->state == RDMAMIG_STATE_SEALED)
		return 0;
	if (!session->peer_rdmamig)
		return try_end(rx);
	/* an rdmamig says END: the kernel seals or fails by itself */
	if (rx->end_at && monotonic_ms() - rx->end_at > END_MS)
		return fail(EXIT_ENDED, "stream", "the source disconnected without an end");
	return 0;
}

/* A read failed: the session has failed, and its state will tell why. */
static int unreadable(struct receive *rx)
{
	int ret = watch_settle(&rx->watch);

	if (ret)
		return ret;
	ret = session_over(rx->watch.session.state) ? session_verdict(&rx->watch.session) : 0;
	return ret ? ret : fail(EXIT_ENDED, "stream", "cannot be read");
}

/* Until the session is sealed. */
static int receive_memory(struct receive *rx)
{
	int ret;

	while (rx->watch.session.state != RDMAMIG_STATE_SEALED) {
		struct pollfd fd = { .fd = rx->stream.fd, .events = POLLIN };
		int seen;

		progress_session(&rx->progress, &rx->watch.rq, &rx->watch.session);
		seen = watch_poll(&rx->watch, rx->stream.ended ? NULL : &fd, PROGRESS_MS);
		if (seen < 0)
			return -seen;
		if (seen & WATCH_SIGNAL)
			return fail(EXIT_ENDED, "interrupted", "cancelling session %u",
				    rx->watch.session.id);
		if (seen & WATCH_FD) {
			ret = stream_read(&rx->stream);
			if (ret > 0)
				return ret;
			ret = ret ? unreadable(rx) : watch_get(&rx->watch);
			if (ret)
				return ret;
		}
		ret = step(rx);
		if (ret)
			return ret;
	}
	/* what still waits to be read: the stream ends at the seal */
	ret = stream_read(&rx->stream);
	return ret < 0 ? unreadable(rx) : ret;
}

/* Between two writes: draw, and notice signals and a session that failed. */
static int writing(void *arg, uint64_t written)
{
	struct receive *rx = arg;
	int seen;

	rx->written += written;
	progress_draw(&rx->progress, "writing", rx->written, rx->found.total);
	seen = watch_poll(&rx->watch, NULL, 0);
	if (seen < 0)
		return -seen;
	if (seen & WATCH_SIGNAL)
		return fail(EXIT_ENDED, "interrupted", "cancelling session %u",
			    rx->watch.session.id);
	if (session_over(rx->watch.session.state))
		return session_verdict(&rx->watch.session) ?: EXIT_ENDED;
	return 0;
}

static int write_out(struct receive *rx, const char *peer)
{
	struct manifest *manifest = &rx->manifest;
	uint32_t i;
	int ret;

	ret = get_windows(rx);
	if (ret)
		return ret;
	snprintf(manifest->peer, sizeof(manifest->peer), "%s", peer);
	manifest->peer_rdmamig = rx->watch.session.peer_rdmamig;
	manifest->blocks = calloc(rx->found.count, sizeof(*manifest->blocks));
	if (!manifest->blocks)
		return fail_memory();
	manifest->block_count = rx->found.count;

	memset(&rx->progress, 0, sizeof(rx->progress));
	progress_init(&rx->progress);
	for (i = 0; i < rx->found.count; i++) {
		struct manifest_block *block = &manifest->blocks[i];
		void *memory = (void *)(uintptr_t)rx->blocks[i].address;

		memcpy(block->name, rx->found.block[i].name, sizeof(block->name));
		block->length = rx->found.block[i].length;
		ret = dir_write_block(&rx->dir, block, i, memory, writing, rx);
		if (ret)
			return ret;
	}
	snprintf(manifest->stream_file, sizeof(manifest->stream_file), STREAM_NAME);
	manifest->stream_length = rx->stream.len;
	ret = dir_write_stream(&rx->dir, rx->stream.data, rx->stream.len);
	if (!ret)
		ret = writing(rx, 0);
	if (!ret)
		ret = manifest_write(rx->dir.fd, rx->dir.path, manifest);
	return ret;
}

/* Everything is here for good: tell the source, and wait for the end. */
static int finish(struct receive *rx)
{
	struct watch *watch = &rx->watch;
	int ret;

	ret = conn_simple(&watch->rq, RDMAMIG_CMD_SESSION_FINISH, watch->session.id);
	if (ret)
		ret = conn_fail_id(&watch->rq, ret, watch->session.id);
	if (!ret)
		ret = watch_get(watch);
	if (!ret)
		ret = job_wait(watch, &rx->progress);
	if (ret)
		fail(ret, rx->dir.path,
		     "complete and valid all the same; the source may not know: there it may need 'resume' or 'cancel'");
	return ret;
}

static int announce(struct receive *rx)
{
	uint64_t id = rx->watch.session.id;
	struct out out;

	if (opt.json) {
		out_open(&out);
		out_value(&out, "id", OUT_NUMBER, &id);
		return out_close(&out);
	}
	if (!opt.quiet) {
		printf("session %u: listening on %s\n", rx->watch.session.id, rx->where);
		if (fflush(stdout))
			return fail(EXIT_FAILED, "output", "cannot be written");
	}
	return 0;
}

static int run(struct receive *rx)
{
	struct new_session new = {
		.role = RDMAMIG_ROLE_TARGET,
		.mode = RDMAMIG_MODE_WINDOWS,
		.addr = &rx->addr,
		.knobs = &rx->knobs,
		.mem_fd = -1,
	};
	struct watch *watch = &rx->watch;
	char peer[ADDR_TEXT];
	int ret;

	ret = new_session(&watch->rq, &new, rx->where, &watch->session.id);
	if (ret)
		return ret;
	ret = watch_get(watch);
	if (!ret)
		ret = stream_open(&watch->rq, watch->session.id, &rx->stream.fd);
	if (!ret)
		ret = announce(rx);
	if (!ret)
		ret = receive_memory(rx);
	memcpy(peer, watch->session.remote, sizeof(peer));
	if (!ret)
		ret = write_out(rx, peer);
	progress_end(&rx->progress);
	if (!ret) {
		rx->whole = true;
		return finish(rx);
	}

	if (!session_over(watch->session.state))
		watch_cancel(watch, last_failure());
	return ret;
}

static int parse(struct receive *rx, const char **dir, struct args *args)
{
	const char *word;
	bool taken;
	int ret;

	ret = args_options(args);
	if (ret)
		return ret;
	rx->where = args_next(args);
	if (!rx->where)
		return usage_error("ADDR", "missing: ADDRESS:PORT");
	while (!(ret = args_options(args)) && (word = args_next(args))) {
		if (!strcmp(word, "dir")) {
			ret = args_value(args, word, dir);
			if (ret)
				return ret;
			continue;
		}
		ret = knobs_word(&rx->knobs, FOR_RECEIVE, word, args, &taken);
		if (ret)
			return ret;
		if (!taken)
			return usage_error(word, "not understood here");
	}
	if (ret)
		return ret;
	if (!*dir)
		return usage_error("dir", "missing: dir DIR");
	return addr_parse(rx->where, &rx->addr);
}

/**
 * cmd_receive() - accept a migration into a directory
 * @args: ADDR dir DIR [TUNABLES]
 *
 * Return: exit code.
 */
int cmd_receive(struct args *args)
{
	struct receive rx = { .stream = { .fd = -1 }, .dir = { .fd = -1 } };
	const char *dir = NULL;
	size_t i;
	int ret;

	ret = parse(&rx, &dir, args);
	if (ret)
		return ret;
	rx.most = rx.knobs.given[KNOB_MAX_MEMORY] ? rx.knobs.value[KNOB_MAX_MEMORY]
						  : default_max_memory();
	rx.stream.most = rx.most;
	progress_init(&rx.progress);
	ret = dir_create(&rx.dir, dir);
	if (ret)
		return ret;
	ret = watch_open(&rx.watch, true);
	if (ret) {
		dir_close(&rx.dir, false);
		return ret;
	}
	ret = run(&rx);
	dir_close(&rx.dir, !ret || rx.whole);
	watch_close(&rx.watch);

	for (i = 0; i < rx.mapped; i++)
		munmap((void *)(uintptr_t)rx.blocks[i].address, (size_t)rx.blocks[i].length);
	free(rx.blocks);
	qstream_free_blocks(&rx.found);
	manifest_free(&rx.manifest);
	stream_close(&rx.stream);
	return ret;
}
