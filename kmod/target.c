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

#define FOREVER_MS	1000000000	/* 11 days */
#define OWNER_MS	60000	/* for the owner to judge an end */
#define LEAVE_MS	2000	/* for the source to disconnect at the end */

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
		strscpy(why,
			"this target takes rdmamigctl start: use rdmamigctl receive for QEMU or send",
			size);
		return false;
	}
	if (s->mode == RDMAMIG_MODE_WINDOWS && native) {
		strscpy(why,
			"this target takes rdmamigctl send: use rdmamigctl listen for start",
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

/* ---- the end ---- */

/* Every key invalid, everything unpinned; see the top of the file. */
static int seal(struct rdmamig_session *s)
{
	struct rdmamig_chunk *chunk;
	LIST_HEAD(leaving);
	unsigned long index;
	int err;
	u32 i;

	err = rdmamig_target_check(s);
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
	err = rdmamig_target_check(s);
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
		    const struct rdmamig_codec_msg *msg)
{
	if (msg->type == RDMAMIG_MSG_END)
		return got_end(s, msg);
	return rdmamig_target_command(s, msg);
}

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
		err = rdmamig_target_check(s) ?: take_second(s) ?: serve_second(s);
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
