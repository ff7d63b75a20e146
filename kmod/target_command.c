// SPDX-License-Identifier: GPL-2.0
/*
 * What a source may ask of a target: the commands of the control channel.  Each
 * is validated by the codec against the block table before it is carried out;
 * what breaks a rule ends the session and names the rule.
 */
#include <linux/mm.h>

#include "chunk.h"
#include "conn.h"
#include "ctrl.h"
#include "mr.h"
#include "pin.h"
#include "reclaim.h"
#include "session.h"
#include "target.h"

#define OWNER_MS	60000	/* for the owner to bind */
#define HOOK		0x80	/* the last 8 stream bytes before a window */

static bool get_block(const void *ctx, u32 index,
		      struct rdmamig_codec_block *block)
{
	const struct rdmamig_session *s = ctx;
	const struct rdmamig_block *b;

	if (!s->target.blocks_agreed || index >= s->ram.count)
		return false;
	b = s->ram.wire[index];
	block->base = b->base;
	block->offset = b->offset;
	block->length = b->length;
	return true;
}

static struct rdmamig_codec_table table_of(const struct rdmamig_session *s)
{
	return (struct rdmamig_codec_table) {
		.get		= get_block,
		.ctx		= s,
		.page_size	= PAGE_SIZE,
	};
}

static int lost_memory(struct rdmamig_session *s, const struct rdmamig_block *b,
		       u64 first, u64 last)
{
	int err = rdmamig_session_owner_gone(s);

	if (err)
		return err;
	s->stats.stale_chunks++;
	return rdmamig_session_fail(s, -EFAULT,
				    "block '%s': offset %llu, length %llu: the owner took the memory away while it was received",
				    b->name, first << RDMAMIG_CHUNK_SHIFT,
				    (last + 1 - first) << RDMAMIG_CHUNK_SHIFT);
}

/**
 * rdmamig_target_check() - look after memory that changed under us
 * @s: target session
 *
 * Until its key is gone, writes land in the old page, which is still pinned and
 * nobody else's; but what they brought is lost to the owner, so the session
 * cannot go on.
 *
 * Context: the session's thread; sleeps.
 *
 * Return: 0, or the recorded negative errno, which names block and range.
 */
int rdmamig_target_check(struct rdmamig_session *s)
{
	struct rdmamig_chunk *chunk;
	unsigned long index;
	u64 first, last;
	u32 i;

	for (i = 0; i < s->ram.count; i++) {
		struct rdmamig_block *b = &s->ram.v[i];

		if (!rdmamig_ramblock_suspect(b, &first, &last))
			continue;
		if (b->mr && !rdmamig_pin_block_is_current(s, b, first, last))
			return lost_memory(s, b, first, last);
		xa_for_each_range(&b->chunks, index, chunk, first, last)
			if (!rdmamig_pin_is_current(s, chunk))
				return lost_memory(s, b, index, index);
	}
	return 0;
}

static int send_blocks(struct rdmamig_session *s)
{
	struct rdmamig_buf *buf;
	u32 i, len = 0;
	int err;

	for (i = 0; s->pin_all && i < s->ram.count; i++) {
		err = rdmamig_mr_register_block(s, &s->ram.v[i]);
		if (err)
			return err;
	}
	buf = rdmamig_ctrl_buf(s, s->conn);
	if (IS_ERR(buf))
		return PTR_ERR(buf);
	for (i = 0; i < s->ram.count; i++) {
		const struct rdmamig_block *b = s->ram.wire[i];
		struct rdmamig_codec_block rec = {
			.base = b->base, .offset = b->offset,
			.length = b->length,
		};

		len += rdmamig_codec_put_block(rdmamig_ctrl_payload(buf), i,
					       &rec, b->rkey);
	}
	s->target.blocks_agreed = true;
	err = rdmamig_ctrl_send(s, buf, RDMAMIG_MSG_RAM_BLOCKS_RESULT, 1, len);
	if (!err)
		rdmamig_session_set_state(s, RDMAMIG_STATE_RUNNING);
	return err;
}

/* Windows: the owner reads the block list out of the stream and binds. */
static int got_blocks_request(struct rdmamig_session *s,
			      const struct rdmamig_codec_msg *msg)
{
	int err;

	if (s->mode != RDMAMIG_MODE_WINDOWS)
		return rdmamig_ctrl_unexpected(s, msg, "the blocks are agreed on");
	if (s->target.blocks_agreed)
		return rdmamig_ctrl_protocol(s, "RAM_BLOCKS_REQUEST: given twice");
	rdmamig_session_set_state(s, RDMAMIG_STATE_BINDING);
	err = rdmamig_wait(s, rdmamig_asked(s, RDMAMIG_ASK_BIND), OWNER_MS);
	if (err)
		return rdmamig_session_fail(s, err,
					    "the owner bound no RAM blocks within %u s",
					    OWNER_MS / 1000);
	return send_blocks(s);
}

/* Native: the source names its blocks; ours must be the same set. */
static int got_blocks(struct rdmamig_session *s,
		      const struct rdmamig_codec_msg *msg)
{
	struct rdmamig_codec_name name;
	struct rdmamig_block *b;
	const char *why;
	u32 i, pos = 0;

	if (s->mode != RDMAMIG_MODE_NATIVE)
		return rdmamig_ctrl_unexpected(s, msg, "the stream is read");
	if (s->target.blocks_agreed)
		return rdmamig_ctrl_protocol(s, "BLOCKS: given twice");
	memset(s->ram.wire, 0, s->ram.count * sizeof(*s->ram.wire));
	for (i = 0; i < msg->repeat; i++) {
		why = rdmamig_codec_blocks(msg, &pos, &name);
		if (why)
			return rdmamig_ctrl_protocol(s, why);
		b = rdmamig_ramblocks_find(&s->ram, name.name, name.name_len);
		if (!b)
			return rdmamig_session_fail(s, -ENOENT,
						    "block '%*pE' is not at the target",
						    min_t(int, name.name_len, 64),
						    name.name);
		if (b->length != name.length)
			return rdmamig_session_fail(s, -EINVAL,
						    "block '%.64s': %llu bytes at the source, %llu at the target",
						    b->name, name.length,
						    b->length);
		if (b->claimed)
			return rdmamig_session_fail(s, -EEXIST,
						    "block '%.64s': the source names it twice",
						    b->name);
		b->claimed = true;
		s->ram.wire[i] = b;
	}
	if (pos != msg->len)
		return rdmamig_ctrl_protocol(s, "BLOCKS: bytes behind the last block");
	for (i = 0; i < s->ram.count; i++)
		if (!s->ram.v[i].claimed)
			return rdmamig_session_fail(s, -ENOENT,
						    "block '%.64s' is not at the source",
						    s->ram.v[i].name);
	return send_blocks(s);
}

static int no_room(struct rdmamig_session *s)
{
	if (s->peer_tail)
		return rdmamig_session_fail(s, -EDQUOT,
					    "protocol: the source asks for more than pin-limit (%llu bytes)",
					    s->limit);
	return rdmamig_session_fail(s, -EDQUOT,
				    "pin-limit (%llu bytes) is full, and a stock source gives nothing back: raise it",
				    s->limit);
}

/* Finds or makes the chunk of a register record. */
static int want_chunk(struct rdmamig_session *s,
		      const struct rdmamig_codec_range *range,
		      struct list_head *fresh, struct rdmamig_chunk **chunk)
{
	struct rdmamig_block *b = s->ram.wire[range->block];
	int err;

	*chunk = xa_load(&b->chunks, range->first);
	if (*chunk)
		return 0;
	if (!rdmamig_reclaim_has_room(s, min_t(u64, RDMAMIG_CHUNK_SIZE,
					       b->length - (range->first <<
							    RDMAMIG_CHUNK_SHIFT))))
		return no_room(s);
	*chunk = rdmamig_chunk_new(b, range->first);
	if (!*chunk)
		return rdmamig_session_fail(s, -ENOMEM, "no memory for a chunk");
	err = rdmamig_pin_chunk(s, *chunk);
	if (err) {
		rdmamig_chunk_free(*chunk);
		return rdmamig_session_owner_gone(s) ?:
		       rdmamig_session_fail(s, err,
					    "block '%s': offset %llu: cannot be pinned for writing: %pe",
					    b->name, range->first <<
					    RDMAMIG_CHUNK_SHIFT, ERR_PTR(err));
	}
	list_add_tail(&(*chunk)->list, fresh);
	return rdmamig_mr_prepare(s, *chunk);
}

static int got_register(struct rdmamig_session *s,
			const struct rdmamig_codec_msg *msg)
{
	struct rdmamig_codec_table table = table_of(s);
	struct rdmamig_codec_range range;
	struct rdmamig_chunk *chunk;
	struct rdmamig_buf *buf;
	LIST_HEAD(fresh);
	const char *why;
	u32 i, n = 0, len = 0, rkey;
	int err;

	buf = rdmamig_ctrl_buf(s, s->conn);
	if (IS_ERR(buf))
		return PTR_ERR(buf);
	for (i = 0; i < msg->repeat; i++) {
		why = rdmamig_codec_register(msg, i, &table, &range);
		if (!why && range.count > 1 && !s->pin_all)
			why = "register record: more chunks than one region holds";
		if (why) {
			err = rdmamig_ctrl_protocol(s, why);
			goto fail;
		}
		rkey = s->ram.wire[range.block]->rkey;
		if (!s->pin_all) {
			err = want_chunk(s, &range, &fresh, &chunk);
			if (err)
				goto fail;
			rkey = chunk->rkey;
		}
		len += rdmamig_codec_put_result(rdmamig_ctrl_payload(buf), i,
						rkey,
						s->ram.wire[range.block]->base);
	}
	list_for_each_entry(chunk, &fresh, list)
		n++;
	err = rdmamig_mr_register(s, &fresh, buf, RDMAMIG_MSG_REGISTER_RESULT,
				  msg->repeat, len);
	s->stats.registered += n;
	s->stats.registrations += n;
fail:
	/* The chunks are in their blocks' tables: no list is needed any more. */
	while (!list_empty(&fresh))
		list_del_init(fresh.next);
	return err;
}

static int got_unregister(struct rdmamig_session *s,
			  const struct rdmamig_codec_msg *msg)
{
	struct rdmamig_codec_table table = table_of(s);
	struct rdmamig_codec_range range;
	struct rdmamig_chunk *chunk;
	struct rdmamig_buf *buf;
	LIST_HEAD(leaving);
	const char *why;
	u64 k;
	u32 i;
	int err = 0;

	for (i = 0; i < msg->repeat; i++) {
		why = rdmamig_codec_unregister(msg, i, &table, &range);
		if (!why && s->pin_all)
			why = "UNREGISTER_REQUEST with pin-all";
		for (k = 0; !why && k < range.count; k++) {
			chunk = xa_load(&s->ram.wire[range.block]->chunks,
					range.first + k);
			if (!chunk || chunk->state != RDMAMIG_CHUNK_REGISTERED) {
				why = "unregister record: the chunk has no key";
				break;
			}
			rdmamig_chunk_move(chunk, RDMAMIG_CHUNK_INVALIDATING);
			list_add_tail(&chunk->list, &leaving);
		}
		if (why) {
			err = rdmamig_ctrl_protocol(s, why);
			break;
		}
	}
	if (!err)
		err = rdmamig_target_check(s) ?: rdmamig_reclaim_target(s, &leaving);
	while (!list_empty(&leaving))
		list_del_init(leaving.next);
	if (err)
		return err;
	buf = rdmamig_ctrl_buf(s, s->conn);
	if (IS_ERR(buf))
		return PTR_ERR(buf);
	return rdmamig_ctrl_send(s, buf, RDMAMIG_MSG_UNREGISTER_FINISHED,
				 msg->repeat, 0);
}

static int got_compress(struct rdmamig_session *s,
			const struct rdmamig_codec_msg *msg)
{
	struct rdmamig_codec_table table = table_of(s);
	struct rdmamig_codec_zero zero;
	const char *why;
	int err;

	why = rdmamig_codec_compress(msg, &table, &zero);
	if (why)
		return rdmamig_ctrl_protocol(s, why);
	s->stats.zero_bytes += zero.length;
	err = rdmamig_pin_zero(s, s->ram.wire[zero.block], zero.offset,
			       zero.length);
	if (err == -EINTR)
		return rdmamig_session_check(s);
	if (err)
		return rdmamig_session_owner_gone(s) ?:
		       rdmamig_session_fail(s, err,
					    "block '%s': offset %llu: cannot be zeroed: %pe",
					    s->ram.wire[zero.block]->name,
					    zero.offset, ERR_PTR(err));
	return 0;
}

static int got_stream(struct rdmamig_session *s,
		      const struct rdmamig_codec_msg *msg)
{
	if (s->target.in_window)
		return rdmamig_ctrl_unexpected(s, msg, "a window is open");
	return rdmamig_stream_put(s, msg->payload, msg->len);
}

static int got_finished(struct rdmamig_session *s,
			const struct rdmamig_codec_msg *msg)
{
	if (s->mode != RDMAMIG_MODE_WINDOWS)
		return rdmamig_ctrl_unexpected(s, msg, "there are no windows");
	s->target.in_window = false;
	return rdmamig_stream_window(s);
}

/* A command of a window: is one open, or may one open now. */
static int enter_window(struct rdmamig_session *s,
			const struct rdmamig_codec_msg *msg)
{
	if (s->mode != RDMAMIG_MODE_WINDOWS || s->target.in_window)
		return 0;
	if (s->stream.head < 8 || s->stream.last8 != HOOK)
		return rdmamig_ctrl_unexpected(s, msg,
					       "the stream is not at a HOOK");
	s->target.in_window = true;
	return 0;
}

static const struct {
	int (*got)(struct rdmamig_session *s,
		   const struct rdmamig_codec_msg *msg);
	bool window;		/* in windows mode: inside a window only */
	bool blocks;		/* only when the blocks are agreed on */
} commands[] = {
	[RDMAMIG_MSG_QEMU_FILE]			= { got_stream },
	[RDMAMIG_MSG_RAM_BLOCKS_REQUEST]	= { got_blocks_request, true },
	[RDMAMIG_MSG_COMPRESS]			= { got_compress, true, true },
	[RDMAMIG_MSG_REGISTER_REQUEST]		= { got_register, true, true },
	[RDMAMIG_MSG_REGISTER_FINISHED]		= { got_finished, true, true },
	[RDMAMIG_MSG_UNREGISTER_REQUEST]	= { got_unregister, true, true },
};

/**
 * rdmamig_target_command() - carry out a command, and answer it
 * @s: target session
 * @msg: any message but END
 *
 * Context: the session's thread; sleeps.
 *
 * Return: 0, or the recorded negative errno.
 */
int rdmamig_target_command(struct rdmamig_session *s,
			   const struct rdmamig_codec_msg *msg)
{
	int err;

	if (msg->type == RDMAMIG_MSG_BLOCKS)
		return got_blocks(s, msg);
	if (msg->type >= ARRAY_SIZE(commands) || !commands[msg->type].got)
		return rdmamig_ctrl_unexpected(s, msg, "a command is awaited");
	if (commands[msg->type].window) {
		err = enter_window(s, msg);
		if (err)
			return err;
	}
	if (commands[msg->type].blocks && !s->target.blocks_agreed)
		return rdmamig_ctrl_unexpected(s, msg,
					       "no blocks are agreed on");
	return commands[msg->type].got(s, msg);
}
