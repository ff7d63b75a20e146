// SPDX-License-Identifier: GPL-2.0
/*
 * The target: listens, takes one source, and lets it write.
 *
 * Normal operation.  Each command is validated by the codec against the block
 * table, carried out, answered where it has an answer, its buffer posted again,
 * and only then is the next READY sent.  A chunk is pinned and registered when
 * the source asks for its key, and let go when the source gives it back.  A key
 * is announced behind its registration in the same queue (mr.c).
 *
 * The end.  Before the owner may use its memory the session is sealed: every
 * key is invalidated, completion seen, everything unmapped and unpinned.  A
 * source that speaks END gets its END_OK after that (and, with confirm, after
 * the owner said finish).  A stock source says nothing: its owner recognises
 * the end in the stream and asks for the seal.  When such a source is gone
 * before that, the drained connection seals.
 *
 * Recovery.  Any error leaves the loop; the session drains the queue pair,
 * deregisters, unmaps, unpins.
 */
#include <linux/mm.h>
#include <rdma/rdma_cm.h>

#include "chunk.h"
#include "conn.h"
#include "ctrl.h"
#include "mr.h"
#include "pin.h"
#include "reclaim.h"
#include "session.h"
#include "target.h"

#define FOREVER_MS	(1u << 30)
#define OWNER_MS	60000	/* for the owner to bind, or to judge an end */
#define LEAVE_MS	2000	/* for the source to disconnect at the end */
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

/* ---- who may connect ---- */

/* Fills @why when a source cannot be taken. */
static bool judge(struct rdmamig_session *s,
		  const struct rdmamig_codec_private *priv, char *why, u32 size)
{
	bool native = priv->has_tail &&
		      (priv->tail.features & RDMAMIG_FEATURE_NATIVE);
	u64 least = min_t(u64, RDMAMIG_PIN_WINDOW, s->ram.bytes);
	u64 limit = s->limit;

	if (s->mode == RDMAMIG_MODE_NATIVE && !native) {
		strscpy(why, "this target takes rdmamigctl start: use rdmamigctl receive for QEMU or send",
			size);
		return false;
	}
	if (s->mode == RDMAMIG_MODE_WINDOWS && native) {
		strscpy(why, "this target takes rdmamigctl send: use rdmamigctl listen for start",
			size);
		return false;
	}
	if (priv->has_tail && priv->tail.pin_limit)
		limit = limit ? min(limit, priv->tail.pin_limit) :
				priv->tail.pin_limit;
	if (priv->pin_all)
		least = s->ram.bytes;
	if (limit && limit < least) {
		snprintf(why, size,
			 "pin-limit %llu here, %llu there: %s at least %llu",
			 s->limit, priv->has_tail ? priv->tail.pin_limit : 0,
			 priv->pin_all ? "pin-all needs" : "it takes", least);
		return false;
	}
	return true;
}

static void settle(struct rdmamig_session *s,
		   const struct rdmamig_codec_private *priv)
{
	u32 mine = RDMAMIG_FEATURE_END_ACK | RDMAMIG_FEATURE_BATCH;

	if (s->mode == RDMAMIG_MODE_NATIVE)
		mine |= RDMAMIG_FEATURE_NATIVE;
	s->peer_tail = priv->has_tail;
	s->peer_known = true;
	s->pin_all = priv->pin_all;
	s->features = priv->has_tail ? priv->tail.features & mine : 0;
	s->peer_limit = priv->has_tail ? priv->tail.pin_limit : 0;
	if (s->peer_limit)
		s->limit = s->limit ? min(s->limit, s->peer_limit) :
				      s->peer_limit;
}

static struct rdmamig_conn *take_pending(struct rdmamig_session *s)
{
	return xchg(&s->pending, NULL);
}

/* Waits for a source that can be taken. */
static int await_source(struct rdmamig_session *s)
{
	char why[RDMAMIG_WIRE_TEXT_MAX + 1];
	struct rdmamig_conn *conn;
	int err;

	for (;;) {
		err = rdmamig_wait(s, READ_ONCE(s->pending), FOREVER_MS);
		if (err == -ETIME)
			continue;
		if (err)
			return err;
		conn = take_pending(s);
		if (judge(s, &conn->priv, why, sizeof(why)))
			break;
		rdmamig_conn_reject(conn, why);
	}
	s->conn = conn;
	return 0;
}

/* Is it the session itself that has to end, whatever a stranger did. */
static bool must_end(const struct rdmamig_session *s)
{
	return rdmamig_asked(s, RDMAMIG_ASK_CANCEL) ||
	       rdmamig_asked(s, RDMAMIG_OWNER_GONE) ||
	       rdmamig_asked(s, RDMAMIG_DEVICE_GONE);
}

/*
 * Takes a source.  One that asks and then does not come costs the listener
 * nothing: it goes on listening.
 */
static int take_source(struct rdmamig_session *s)
{
	u64 limit = s->limit;
	int err;

	for (;;) {
		err = await_source(s);
		if (err)
			return err;
		s->stats.created = ktime_get();
		settle(s, &s->conn->priv);
		err = rdmamig_conn_accept(s, s->conn) ?:
		      rdmamig_conn_wait_established(s, s->conn,
						    s->tun.connect_timeout);
		if (!err || must_end(s))
			break;
		rdmamig_conn_free(s->conn);
		s->conn = NULL;
		s->limit = limit;
		s->peer_known = false;
		spin_lock(&s->lock);
		s->error = 0;
		s->error_text[0] = 0;
		spin_unlock(&s->lock);
	}
	if (err)
		return err;
	spin_lock(&s->lock);
	s->remote = s->conn->id->route.addr.dst_addr;
	spin_unlock(&s->lock);
	return 0;
}

static bool same_host(const struct rdma_cm_id *a, const struct rdma_cm_id *b)
{
	const struct sockaddr_storage *x = &a->route.addr.dst_addr;
	const struct sockaddr_storage *y = &b->route.addr.dst_addr;

	if (a->device != b->device || x->ss_family != y->ss_family)
		return false;
	if (x->ss_family == AF_INET)
		return ((const struct sockaddr_in *)x)->sin_addr.s_addr ==
		       ((const struct sockaddr_in *)y)->sin_addr.s_addr;
	return ipv6_addr_equal(&((const struct sockaddr_in6 *)x)->sin6_addr,
			       &((const struct sockaddr_in6 *)y)->sin6_addr);
}

/* Another request while a session runs: a stock source's return path. */
static int take_second(struct rdmamig_session *s)
{
	struct rdmamig_conn *conn = take_pending(s);

	if (!conn)
		return 0;
	if (s->mode != RDMAMIG_MODE_WINDOWS || s->peer_tail || s->second ||
	    s->target.blocks_agreed || conn->priv.has_tail ||
	    !same_host(conn->id, s->conn->id)) {
		rdmamig_conn_reject(conn, "this listener is taken");
		return 0;
	}
	s->second = conn;
	return rdmamig_conn_accept(s, conn);
}

/* ---- memory that changed under us ---- */

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

/*
 * The owner's memory moved under a registered chunk.  Until its key is gone,
 * writes land in the old page, which is still pinned and nobody else's; but what
 * they brought is lost to the owner, so the session cannot go on.
 */
static int check_suspects(struct rdmamig_session *s)
{
	struct rdmamig_chunk *chunk;
	unsigned long index;
	u64 first, last;
	u32 i;

	for (i = 0; i < s->ram.count; i++) {
		struct rdmamig_block *b = &s->ram.v[i];

		if (!READ_ONCE(b->suspect))
			continue;
		spin_lock(&b->watch_lock);
		first = b->suspect_first;
		last = b->suspect_last;
		b->suspect = false;
		spin_unlock(&b->watch_lock);
		if (b->mr && !rdmamig_pin_block_is_current(s, b, first, last))
			return lost_memory(s, b, first, last);
		xa_for_each_range(&b->chunks, index, chunk, first, last)
			if (!rdmamig_pin_is_current(s, chunk))
				return lost_memory(s, b, index, index);
	}
	return 0;
}

/* ---- commands ---- */

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
		return rdmamig_session_fail(s, -EDQUOT,
					    s->peer_tail ?
					    "protocol: the source asks for more than pin-limit (%llu bytes)" :
					    "pin-limit (%llu bytes) is full, and a stock source gives nothing back: raise it",
					    s->limit);
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
		err = check_suspects(s) ?: rdmamig_reclaim_target(s, &leaving);
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

/* ---- the end ---- */

/* Every key invalid, everything unpinned; see the top of the file. */
static int seal(struct rdmamig_session *s)
{
	struct rdmamig_chunk *chunk;
	LIST_HEAD(leaving);
	unsigned long index;
	int err;
	u32 i;

	err = check_suspects(s);
	if (err)
		return err;
	s->target.sealing = true;
	for (i = 0; i < s->ram.count; i++) {
		struct rdmamig_block *b = &s->ram.v[i];

		rdmamig_mr_release_block(b);
		xa_for_each(&b->chunks, index, chunk) {
			rdmamig_chunk_move(chunk, RDMAMIG_CHUNK_INVALIDATING);
			list_add_tail(&chunk->list, &leaving);
		}
	}
	err = rdmamig_reclaim_target(s, &leaving);
	while (!list_empty(&leaving))
		list_del_init(leaving.next);
	s->target.sealing = false;
	s->target.sealed = !err;
	return err;
}

/* The source is gone: the drained connection seals. */
static int seal_dead(struct rdmamig_session *s)
{
	int err;

	rdmamig_conn_quiesce(s->conn);
	err = check_suspects(s);
	rdmamig_reclaim_all(s);
	s->target.sealed = !err;
	return err;
}

static bool is_stock(const struct rdmamig_session *s)
{
	return s->mode == RDMAMIG_MODE_WINDOWS && !s->peer_tail;
}

/* A stock source's connection is over, in whatever way. */
static bool stock_gone(const struct rdmamig_session *s)
{
	return is_stock(s) && !s->conn->quiet &&
	       (test_bit(RDMAMIG_SEEN_DISCONNECTED, &s->conn->seen) ||
		test_bit(RDMAMIG_SEEN_BROKEN, &s->conn->seen));
}

/**
 * rdmamig_target_may_lose() - may this session's peer just leave
 * @s: session
 *
 * A stock source leaves when it has sent everything, and nothing but its stream
 * tells whether it had: losing it is no failure by itself.
 *
 * Context: the session's thread.
 *
 * Return: true when the connection is over and that is to be judged by what was
 * received.
 */
bool rdmamig_target_may_lose(const struct rdmamig_session *s)
{
	return s->role == RDMAMIG_ROLE_TARGET && s->target.blocks_agreed &&
	       !s->target.sealing && stock_gone(s);
}

static int wait_finish(struct rdmamig_session *s)
{
	int err;

	rdmamig_session_set_state(s, RDMAMIG_STATE_SEALED);
	for (;;) {
		err = rdmamig_wait(s, rdmamig_asked(s, RDMAMIG_ASK_FINISH) ||
				   stock_gone(s), FOREVER_MS);
		if (err == -ETIME)
			continue;
		if (err || rdmamig_asked(s, RDMAMIG_ASK_FINISH))
			return err;
		rdmamig_conn_quiesce(s->conn);
	}
}

static int got_end(struct rdmamig_session *s,
		   const struct rdmamig_codec_msg *msg)
{
	struct rdmamig_codec_end end;
	struct rdmamig_buf *buf;
	const char *why;
	int err;

	if (!(s->features & RDMAMIG_FEATURE_END_ACK) ||
	    !s->target.blocks_agreed || s->target.in_window)
		return rdmamig_ctrl_unexpected(s, msg, "the migration runs");
	why = rdmamig_codec_end(msg, &end);
	if (!why && end.stream_bytes != s->stream.head)
		why = "END: the stream has another length";
	if (!why && end.ram_bytes != s->ram.bytes)
		why = "END: the RAM has another length";
	if (why)
		return rdmamig_ctrl_protocol(s, why);

	err = seal(s);
	if (err)
		return err;
	rdmamig_stream_close(s);
	if (s->confirm)
		err = wait_finish(s);
	if (err)
		return err;
	rdmamig_session_set_state(s, RDMAMIG_STATE_FINISHING);
	buf = rdmamig_ctrl_buf(s, s->conn);
	if (IS_ERR(buf))
		return PTR_ERR(buf);
	err = rdmamig_ctrl_send(s, buf, RDMAMIG_MSG_END_OK, 1,
				rdmamig_codec_put_end_ok(rdmamig_ctrl_payload(buf),
							 0));
	if (err)
		return err;
	/* From here on the guest is this target's. */
	s->outcome = RDMAMIG_STATE_COMPLETED;
	rdmamig_ctrl_flush(s, s->conn);
	rdmamig_wait(s, test_bit(RDMAMIG_SEEN_DISCONNECTED, &s->conn->seen),
		     LEAVE_MS);
	return 0;
}

/* The return path: a source that opened one waits for SHUT. */
static int send_shut(struct rdmamig_session *s)
{
	struct rdmamig_buf *buf;
	u32 len;

	if (!s->second || !s->target.second_ready)
		return 0;
	buf = rdmamig_ctrl_buf(s, s->second);
	if (IS_ERR(buf))
		return PTR_ERR(buf);
	len = rdmamig_codec_put_shut(rdmamig_ctrl_payload(buf), 0);
	return rdmamig_ctrl_send(s, buf, RDMAMIG_MSG_QEMU_FILE, 1, len) ?:
	       rdmamig_ctrl_flush(s, s->second);
}

/*
 * A source without a return path leaves as soon as it has sent everything: wait
 * for that a moment, then end the connection ourselves.  One with a return path
 * stays for SHUT.
 */
static int seal_stock(struct rdmamig_session *s)
{
	int err;

	if (s->target.second_ready)
		return seal(s);
	err = rdmamig_wait(s, stock_gone(s), LEAVE_MS);
	if (err && err != -ETIME)
		return err;
	return seal_dead(s);
}

/*
 * A stock source's end, as its owner recognised it: seal, let the owner write
 * out, then tell the source by its return path and let it go.
 */
static int end_stock(struct rdmamig_session *s)
{
	int err = 0;

	if (!s->target.sealed)
		err = seal_stock(s);
	rdmamig_stream_close(s);
	if (!err)
		err = wait_finish(s);
	if (err)
		return err;
	rdmamig_session_set_state(s, RDMAMIG_STATE_FINISHING);
	if (s->target.second_ready) {
		/* Without SHUT the source runs its guest on. */
		if (s->conn->quiet)
			return rdmamig_session_fail(s, -ECONNRESET,
						    "the source left before it was told that all is here");
		err = send_shut(s);
		if (err)
			return err;
	}
	s->outcome = RDMAMIG_STATE_COMPLETED;
	if (!s->conn->quiet)
		rdmamig_wait(s, stock_gone(s), s->tun.peer_timeout);
	return 0;
}

static int dispatch(struct rdmamig_session *s,
		    const struct rdmamig_codec_msg *msg);

/* What had arrived when the source left: all but what wants an answer. */
static int serve_rest(struct rdmamig_session *s)
{
	struct rdmamig_codec_msg msg;
	struct rdmamig_buf *buf;
	int err;

	while ((buf = rdmamig_ctrl_next(s, s->conn, &msg))) {
		if (IS_ERR(buf))
			return PTR_ERR(buf);
		if (msg.type != RDMAMIG_MSG_QEMU_FILE &&
		    msg.type != RDMAMIG_MSG_COMPRESS &&
		    msg.type != RDMAMIG_MSG_REGISTER_FINISHED)
			return 0;
		err = dispatch(s, &msg);
		if (err)
			return err;
	}
	return 0;
}

/* The stock source is gone; its owner judges whether that was the end. */
static int stock_left(struct rdmamig_session *s)
{
	char why[sizeof(s->conn->error_text)] = "it disconnected";
	int err;

	rdmamig_conn_error(s->conn, why, sizeof(why));
	if (!s->target.blocks_agreed)
		return rdmamig_session_fail(s, -ECONNRESET,
					    "the source left before any memory moved: %s",
					    why);
	rdmamig_conn_quiesce(s->conn);
	err = serve_rest(s) ?: seal_dead(s);
	if (err)
		return err;
	rdmamig_stream_close(s);
	err = rdmamig_wait(s, rdmamig_asked(s, RDMAMIG_ASK_SEAL) ||
			   rdmamig_asked(s, RDMAMIG_ASK_CANCEL), OWNER_MS);
	if (!err && rdmamig_asked(s, RDMAMIG_ASK_SEAL))
		return end_stock(s);
	return rdmamig_session_fail(s, err ?: -ECONNRESET,
				    "the source left before its stream was complete: %s",
				    why);
}

/* ---- the loop ---- */

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

static int dispatch(struct rdmamig_session *s,
		    const struct rdmamig_codec_msg *msg)
{
	int err;

	if (msg->type == RDMAMIG_MSG_END)
		return got_end(s, msg);
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

static int serve_one(struct rdmamig_session *s)
{
	struct rdmamig_codec_msg msg;
	struct rdmamig_buf *buf;
	int err;

	buf = rdmamig_ctrl_next(s, s->conn, &msg);
	if (IS_ERR_OR_NULL(buf))
		return PTR_ERR_OR_ZERO(buf);
	err = dispatch(s, &msg);
	if (err || s->outcome == RDMAMIG_STATE_COMPLETED)
		return err;
	return rdmamig_ctrl_release(s, buf) ?: rdmamig_ctrl_ready(s, s->conn);
}

/* The return path carries nothing to us but its READY. */
static int serve_second(struct rdmamig_session *s)
{
	struct rdmamig_codec_msg msg;
	struct rdmamig_buf *buf;

	if (!s->second || !rdmamig_ctrl_pending(s->second))
		return 0;
	buf = rdmamig_ctrl_next(s, s->second, &msg);
	if (IS_ERR_OR_NULL(buf))
		return PTR_ERR_OR_ZERO(buf);
	if (msg.type != RDMAMIG_MSG_READY)
		return rdmamig_ctrl_unexpected(s, &msg, "READY is awaited on the return path");
	s->target.second_ready = true;
	return rdmamig_ctrl_release(s, buf);
}

static int serve(struct rdmamig_session *s)
{
	int seen, err;

	err = rdmamig_ctrl_ready(s, s->conn);
	while (!err && s->outcome != RDMAMIG_STATE_COMPLETED) {
		seen = atomic_read_acquire(&s->kicks);
		err = check_suspects(s) ?: take_second(s) ?: serve_second(s);
		if (err)
			return err;
		if (rdmamig_ctrl_pending(s->conn)) {
			err = serve_one(s);
			continue;
		}
		if (is_stock(s) && rdmamig_asked(s, RDMAMIG_ASK_SEAL))
			return end_stock(s);
		if (stock_gone(s))
			return stock_left(s);
		err = rdmamig_wait(s, atomic_read(&s->kicks) != seen,
				   s->target.blocks_agreed ? FOREVER_MS :
							     OWNER_MS);
		if (err != -ETIME)
			continue;
		err = 0;
		if (!s->target.blocks_agreed)
			return rdmamig_session_fail(s, -ETIMEDOUT,
						    "the source is alive but says nothing for %u s",
						    OWNER_MS / 1000);
	}
	return err;
}

/**
 * rdmamig_target_run() - the life of a target, from listening to its outcome
 * @s: target session, listening
 *
 * Context: the session's thread.
 *
 * Return: 0 with @s->outcome set, or the recorded negative errno.
 */
int rdmamig_target_run(struct rdmamig_session *s)
{
	int err = take_source(s);

	if (err)
		return err;
	rdmamig_session_set_state(s, RDMAMIG_STATE_SETUP);
	return serve(s);
}
