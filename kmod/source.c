// SPDX-License-Identifier: GPL-2.0
/*
 * The source: connects, and sends its memory.
 *
 * Normal operation.  One loop (engine()) does what can be done and then sleeps
 * until something happens.  In each turn of it, in this order:
 *
 *   receive	messages: a READY, answers
 *   reap	completed writes; their chunks become idle
 *   stale	chunks whose pages the owner's mapping lost are pinned anew
 *   command	with a READY in hand: the one command that helps most
 *   write	post writes of chunks that have a key, a little ahead of the wire
 *		(source_write.c)
 *   fill	find dirty chunks, look whether they are zero, pin the next batch
 *		(source_fill.c)
 *
 * So the keys of the next batch are asked for before the writes of this one are
 * posted, and the batch after it is pinned while they are on the wire.  The
 * send queue is kept short, for a message must not wait behind many megabytes.
 *
 * A chunk stays pinned at both ends until the limit wants its room; then the
 * least recently used idle ones go, a batch at a time (reclaim.c).
 *
 * Recovery.  Any error leaves the loop.  What was pinned stays pinned until the
 * session has drained the queue pair.
 */
#include <linux/ktime.h>
#include <linux/mm.h>

#include "chunk.h"
#include "conn.h"
#include "ctrl.h"
#include "pin.h"
#include "reclaim.h"
#include "session.h"
#include "source.h"

#define ANSWER_MS	60000		/* for READY and for an answer */
#define LEAVE_MS	200		/* for a stock destination to read on */
#define FOREVER_MS	1000000000	/* 11 days */
#define END_BYTES_PER_S	(16u << 20)	/* how slow a target's owner may be */

/**
 * rdmamig_source_init() - empty queues
 * @s: session
 *
 * Context: any.
 */
void rdmamig_source_init(struct rdmamig_session *s)
{
	struct rdmamig_source *src = &s->source;

	INIT_LIST_HEAD(&src->need_key);
	INIT_LIST_HEAD(&src->asked_key);
	INIT_LIST_HEAD(&src->to_write);
	INIT_LIST_HEAD(&src->lru);
	INIT_LIST_HEAD(&src->leaving);
	init_llist_head(&src->done);
}

/**
 * rdmamig_source_remaining() - bytes that are still to be sent
 * @s: source session
 *
 * Context: any.
 *
 * Return: what is dirty, and what is queued or on the wire.
 */
u64 rdmamig_source_remaining(const struct rdmamig_session *s)
{
	return rdmamig_ramblocks_dirty(&s->ram) +
	       READ_ONCE(s->source.queued_bytes);
}

/* ---- receive ---- */

static int got_blocks(struct rdmamig_session *s,
		      const struct rdmamig_codec_msg *msg)
{
	struct rdmamig_codec_block rec;
	const char *why;
	u32 i, rkey;

	for (i = 0; i < s->ram.count; i++) {
		struct rdmamig_block *b = &s->ram.v[i];

		why = rdmamig_codec_blocks_result(msg, i, s->ram.count,
						  b->length, &rec, &rkey);
		if (why)
			return rdmamig_session_fail(s, -EPROTO,
						    "protocol: block '%s': %s",
						    b->name, why);
		b->base = rec.base;
		b->offset = rec.offset;
		b->rkey = rkey;
	}
	return 0;
}

static int got_keys(struct rdmamig_session *s,
		    const struct rdmamig_codec_msg *msg)
{
	struct rdmamig_source *src = &s->source;
	struct rdmamig_codec_result result;
	struct rdmamig_chunk *chunk;
	const char *why;
	u32 i = 0;

	list_for_each_entry(chunk, &src->asked_key, list) {
		why = rdmamig_codec_register_result(msg, i++, src->asked,
						    &result);
		if (!why && result.base != chunk->block->base)
			why = "register result: the base of a block changed";
		if (why)
			return rdmamig_ctrl_protocol(s, why);
		chunk->rkey = result.rkey;
		if (__test_and_set_bit(chunk->index, chunk->block->had_key))
			s->stats.refaults++;
		rdmamig_chunk_move(chunk, RDMAMIG_CHUNK_REGISTERED);
	}
	s->stats.registered += src->asked;
	s->stats.registrations += src->asked;
	list_splice_tail_init(&src->asked_key, &src->to_write);
	return 0;
}

static int got_unregistered(struct rdmamig_session *s,
			    const struct rdmamig_codec_msg *msg)
{
	struct rdmamig_source *src = &s->source;
	struct rdmamig_chunk *chunk, *next;
	const char *why;

	why = rdmamig_codec_unregister_finished(msg, src->asked);
	if (why)
		return rdmamig_ctrl_protocol(s, why);
	list_for_each_entry_safe(chunk, next, &src->leaving, list) {
		rdmamig_chunk_move(chunk, RDMAMIG_CHUNK_UNPIN);
		rdmamig_unpin_chunk(s, chunk);
	}
	s->stats.registered -= src->asked;
	s->stats.unregistrations += src->asked;
	return 0;
}

static int got_end_ok(struct rdmamig_session *s,
		      const struct rdmamig_codec_msg *msg)
{
	const char *why = rdmamig_codec_end_ok(msg, &s->source.end_status);

	if (why)
		return rdmamig_ctrl_protocol(s, why);
	s->source.end_ok = true;
	return 0;
}

/* The answer that each command waits for, and what to do with it. */
static const struct {
	u32 type;
	int (*got)(struct rdmamig_session *s,
		   const struct rdmamig_codec_msg *msg);
} answers[] = {
	[RDMAMIG_ASKING_BLOCKS]		= { RDMAMIG_MSG_RAM_BLOCKS_RESULT,
					    got_blocks },
	[RDMAMIG_ASKING_REGISTER]	= { RDMAMIG_MSG_REGISTER_RESULT,
					    got_keys },
	[RDMAMIG_ASKING_UNREGISTER]	= { RDMAMIG_MSG_UNREGISTER_FINISHED,
					    got_unregistered },
	[RDMAMIG_ASKING_END]		= { RDMAMIG_MSG_END_OK, got_end_ok },
};

static int dispatch(struct rdmamig_session *s,
		    const struct rdmamig_codec_msg *msg)
{
	struct rdmamig_source *src = &s->source;
	int err;

	if (msg->type == RDMAMIG_MSG_READY) {
		if (src->turn)
			return rdmamig_ctrl_protocol(s, "READY: one is held already");
		if (src->asking)
			return rdmamig_ctrl_protocol(s, "READY before the answer");
		src->turn = true;
		src->turn_since = jiffies;
		return 0;
	}
	if (!src->asking || msg->type != answers[src->asking].type)
		return rdmamig_ctrl_unexpected(s, msg, "the memory is sent");
	err = answers[src->asking].got(s, msg);
	src->asking = RDMAMIG_ASKING_NOTHING;
	src->turn_since = jiffies;
	return err;
}

static int receive(struct rdmamig_session *s, bool *work)
{
	struct rdmamig_codec_msg msg;
	struct rdmamig_buf *buf;
	int err;

	while ((buf = rdmamig_ctrl_next(s, s->conn, &msg))) {
		if (IS_ERR(buf))
			return PTR_ERR(buf);
		err = dispatch(s, &msg);
		if (err)
			return err;
		err = rdmamig_ctrl_release(s, buf);
		if (err)
			return err;
		*work = true;
	}
	return 0;
}

/* ---- commands ---- */

/* Sends a command; the turn is over with it. */
static int command(struct rdmamig_session *s, struct rdmamig_buf *buf, u32 type,
		   u32 repeat, u32 len, enum rdmamig_asking asking)
{
	struct rdmamig_source *src = &s->source;

	src->turn = false;
	src->turn_since = jiffies;
	src->asking = asking;
	src->asked = repeat;
	if (asking)
		s->stats.exchanges++;
	return rdmamig_ctrl_send(s, buf, type, repeat, len);
}

static int send_register(struct rdmamig_session *s)
{
	u32 max = s->features & RDMAMIG_FEATURE_BATCH ?
		  1u << RDMAMIG_BATCH_SHIFT : 1;
	struct rdmamig_source *src = &s->source;
	struct rdmamig_chunk *chunk, *next;
	struct rdmamig_buf *buf;
	u32 n = 0, len = 0;

	buf = rdmamig_ctrl_buf(s, s->conn);
	if (IS_ERR(buf))
		return PTR_ERR(buf);
	list_for_each_entry_safe(chunk, next, &src->need_key, list) {
		if (n == max)
			break;
		len += rdmamig_codec_put_register(rdmamig_ctrl_payload(buf), n++,
						  chunk->block->index,
						  chunk->block->offset +
						  rdmamig_chunk_offset(chunk),
						  0);
		list_move_tail(&chunk->list, &src->asked_key);
	}
	src->nr_need_key -= n;
	return command(s, buf, RDMAMIG_MSG_REGISTER_REQUEST, n, len,
		       RDMAMIG_ASKING_REGISTER);
}

static int send_unregister(struct rdmamig_session *s)
{
	struct rdmamig_source *src = &s->source;
	struct rdmamig_chunk *chunk;
	struct rdmamig_buf *buf;
	u32 n = 0, len = 0;

	buf = rdmamig_ctrl_buf(s, s->conn);
	if (IS_ERR(buf))
		return PTR_ERR(buf);
	src->need_room = false;
	rdmamig_reclaim_pick(s, src->batch, &src->leaving);
	list_for_each_entry(chunk, &src->leaving, list)
		len += rdmamig_codec_put_register(rdmamig_ctrl_payload(buf), n++,
						  chunk->block->index,
						  chunk->index, 0);
	return command(s, buf, RDMAMIG_MSG_UNREGISTER_REQUEST, n, len,
		       RDMAMIG_ASKING_UNREGISTER);
}

static int send_zero(struct rdmamig_session *s)
{
	struct rdmamig_source *src = &s->source;
	struct rdmamig_block *b = src->zero_block;
	struct rdmamig_buf *buf;
	u32 len;

	buf = rdmamig_ctrl_buf(s, s->conn);
	if (IS_ERR(buf))
		return PTR_ERR(buf);
	len = rdmamig_codec_put_compress(rdmamig_ctrl_payload(buf), b->index,
					 b->offset + src->zero_offset,
					 src->zero_length);
	s->stats.zero_bytes += src->zero_length;
	src->zero_block = NULL;
	return command(s, buf, RDMAMIG_MSG_COMPRESS, 1, len,
		       RDMAMIG_ASKING_NOTHING);
}

static int send_stream(struct rdmamig_session *s, u32 bytes)
{
	struct rdmamig_buf *buf = rdmamig_ctrl_buf(s, s->conn);

	if (IS_ERR(buf))
		return PTR_ERR(buf);
	bytes = min_t(u32, bytes,
		      buf->size - sizeof(struct rdmamig_wire_header));
	rdmamig_stream_take(s, rdmamig_ctrl_payload(buf), bytes);
	return command(s, buf, RDMAMIG_MSG_QEMU_FILE, 1, bytes,
		       RDMAMIG_ASKING_NOTHING);
}

/* Should idle chunks be given back with this turn. */
static bool wants_unregister(const struct rdmamig_session *s)
{
	const struct rdmamig_source *src = &s->source;

	if (!src->nr_lru || s->pin_all || s->tun.unreg == RDMAMIG_UNREG_OFF)
		return false;
	/* A stock destination with chunks of another size would crash. */
	if (!s->peer_tail && s->tun.peer_chunk == RDMAMIG_PEER_CHUNK_UNKNOWN)
		return false;
	return src->need_room || s->tun.unreg == RDMAMIG_UNREG_EAGER;
}

/* With a READY in hand: the one command that helps most. */
static int take_turn(struct rdmamig_session *s, bool *work)
{
	bool native = s->mode == RDMAMIG_MODE_NATIVE;
	struct rdmamig_source *src = &s->source;
	u32 bytes;
	int err;

	if (!src->turn)
		return 0;
	bytes = native ? rdmamig_stream_avail(s) : 0;
	if (src->nr_need_key >= src->batch)
		err = send_register(s);
	else if (wants_unregister(s))
		err = send_unregister(s);
	else if (src->nr_need_key)
		err = send_register(s);
	else if (src->zero_block)
		err = send_zero(s);
	else if (bytes)
		err = send_stream(s, bytes);
	else
		return 0;
	*work = true;
	return err;
}

/* ---- the loop ---- */

static bool suspects_left(const struct rdmamig_session *s)
{
	u32 i;

	for (i = 0; i < s->ram.count; i++)
		if (READ_ONCE(s->ram.v[i].suspect))
			return true;
	return false;
}

static bool is_clean(const struct rdmamig_session *s)
{
	const struct rdmamig_source *src = &s->source;

	return !src->in_flight && !src->zero_block && !src->asking &&
	       list_empty(&src->need_key) && list_empty(&src->to_write) &&
	       !rdmamig_ramblocks_dirty(&s->ram) && !suspects_left(s);
}

/* Can what is left be sent within max-downtime, at the rate seen so far. */
static bool rest_fits(const struct rdmamig_session *s)
{
	u64 sent = s->stats.data_bytes + s->stats.zero_bytes;
	u64 ms = ktime_ms_delta(ktime_get(), s->stats.running);
	u64 rest = rdmamig_source_remaining(s);

	if (!rest)
		return true;
	return sent && rest * ms <= sent * READ_ONCE(s->tun.max_downtime);
}

static void note_round(struct rdmamig_session *s, bool clean)
{
	struct rdmamig_source *src = &s->source;

	if (clean && !src->was_clean)
		s->stats.rounds++;
	src->was_clean = clean;
	if (READ_ONCE(s->tun.auto_finish) && rest_fits(s) &&
	    !test_and_set_bit(RDMAMIG_ASK_FINISH, &s->asked))
		rdmamig_session_kick(s);
}

/* The owner said finish: is the stream over too. */
static bool native_over(struct rdmamig_session *s)
{
	rdmamig_stream_close(s);
	return !rdmamig_stream_avail(s);
}

/* How long to sleep when there is nothing to do; 0: not at all. */
static int rest(struct rdmamig_session *s, int seen)
{
	struct rdmamig_source *src = &s->source;
	u32 ms = ANSWER_MS;
	s64 us;
	int err;

	if (!list_empty(&src->to_write) && !rdmamig_source_rate_allows(s)) {
		us = ktime_us_delta(src->next_write, ktime_get());
		ms = clamp_t(s64, us / 1000, 1, ANSWER_MS);
	}
	err = rdmamig_wait(s, atomic_read(&s->kicks) != seen, ms);
	if (err && err != -ETIME)
		return err;
	if ((src->turn && !src->asking) ||
	    time_before(jiffies, src->turn_since + msecs_to_jiffies(ANSWER_MS)))
		return 0;
	return rdmamig_session_fail(s, -ETIMEDOUT,
				    "the peer is alive but %s for %u s",
				    src->asking ? "does not answer" :
						  "gives no turn",
				    ANSWER_MS / 1000);
}

/* One turn of the loop: see the top of the file. */
static int step(struct rdmamig_session *s, bool *work)
{
	return receive(s, work) ?:
	       rdmamig_source_reap(s, work) ?:
	       rdmamig_source_check(s, work) ?:
	       take_turn(s, work) ?:
	       rdmamig_source_write(s, work) ?:
	       rdmamig_source_fill(s, work);
}

/*
 * Sends memory until all is clean; in native mode until the owner said finish
 * and the stream is empty too.
 */
static int engine(struct rdmamig_session *s)
{
	bool clean, finish, work;
	int seen, err;

	for (;;) {
		seen = atomic_read_acquire(&s->kicks);
		work = false;
		err = rdmamig_session_check(s) ?: step(s, &work);
		if (err)
			return err;
		/* First whether the owner stands still, then whether all is sent. */
		finish = rdmamig_asked(s, RDMAMIG_ASK_FINISH);
		smp_rmb();	/* pairs with the barrier in rdmamig_session_ask() */
		clean = is_clean(s);
		note_round(s, clean);
		if (clean && (s->mode == RDMAMIG_MODE_WINDOWS ||
			      (finish && native_over(s))))
			return 0;
		if (work)
			continue;
		err = rest(s, seen);
		if (err)
			return err;
	}
}

/* Waits for the turn, or for the answer to the command that is out. */
static int await(struct rdmamig_session *s, bool answer, u32 ms)
{
	struct rdmamig_source *src = &s->source;
	bool work;
	int err;

	while (answer ? src->asking != RDMAMIG_ASKING_NOTHING : !src->turn) {
		err = rdmamig_wait(s, rdmamig_ctrl_pending(s->conn), ms);
		if (err == -ETIME)
			return rdmamig_session_fail(s, err,
						    "the peer is alive but %s within %u s",
						    answer ? "did not answer" :
							     "gave no turn",
						    ms / 1000);
		if (!err)
			err = receive(s, &work);
		if (err)
			return err;
	}
	return 0;
}

/* ---- the parts of a session ---- */

static struct rdmamig_buf *turn_buf(struct rdmamig_session *s)
{
	int err = await(s, false, ANSWER_MS);

	if (err)
		return ERR_PTR(err);
	return rdmamig_ctrl_buf(s, s->conn);
}

/* With pin-all the peer registers all of its memory before it answers. */
static u32 blocks_ms(const struct rdmamig_session *s)
{
	return min_t(u64, FOREVER_MS,
		     ANSWER_MS + (s->pin_all ? s->ram.bytes >> 16 : 0));
}

static int exchange_blocks(struct rdmamig_session *s)
{
	bool native = s->mode == RDMAMIG_MODE_NATIVE;
	struct rdmamig_buf *buf = turn_buf(s);
	u32 i, len = 0;
	int err;

	if (IS_ERR(buf))
		return PTR_ERR(buf);
	for (i = 0; native && i < s->ram.count; i++) {
		struct rdmamig_block *b = &s->ram.v[i];

		if (len + sizeof(struct rdmamig_wire_block_name) + b->name_len >
		    RDMAMIG_PAYLOAD_MAX)
			return rdmamig_session_fail(s, -E2BIG,
						    "the names of %u blocks do not fit a message",
						    s->ram.count);
		len += rdmamig_codec_put_name(rdmamig_ctrl_payload(buf), len,
					      b->length, b->name, b->name_len);
	}
	err = command(s, buf, native ? RDMAMIG_MSG_BLOCKS :
				       RDMAMIG_MSG_RAM_BLOCKS_REQUEST,
		      native ? s->ram.count : 1, len, RDMAMIG_ASKING_BLOCKS);
	if (err)
		return err;
	err = await(s, true, blocks_ms(s));
	if (!err)
		rdmamig_session_set_state(s, RDMAMIG_STATE_RUNNING);
	return err;
}

static int window(struct rdmamig_session *s, enum rdmamig_window kind)
{
	bool first = READ_ONCE(s->state) != RDMAMIG_STATE_RUNNING;
	bool is_setup = kind == RDMAMIG_WINDOW_SETUP;
	struct rdmamig_buf *buf;
	int err = 0;

	if (first != is_setup)
		return rdmamig_session_fail(s, -EINVAL,
					    "the first window of a stream, and no other, is its setup");
	if (is_setup)
		err = exchange_blocks(s);
	else if (kind == RDMAMIG_WINDOW_RAM)
		err = engine(s);
	if (err)
		return err;
	s->stats.windows++;
	buf = turn_buf(s);
	if (IS_ERR(buf))
		return PTR_ERR(buf);
	return command(s, buf, RDMAMIG_MSG_REGISTER_FINISHED, 1, 0,
		       RDMAMIG_ASKING_NOTHING);
}

/* Replays the owner's stream, and does what each of its windows wants. */
static int run_windows(struct rdmamig_session *s)
{
	enum rdmamig_window kind;
	bool work, finish;
	u32 bytes;
	int err;

	for (;;) {
		err = rdmamig_wait(s, rdmamig_ctrl_pending(s->conn) ||
				   (bytes = rdmamig_stream_avail(s)) ||
				   rdmamig_stream_at_mark(s, &kind) ||
				   rdmamig_asked(s, RDMAMIG_ASK_FINISH),
				   FOREVER_MS);
		if (!err)
			err = receive(s, &work);
		if (err)
			return err;
		/* First whether it is over, then whether something is left. */
		finish = rdmamig_asked(s, RDMAMIG_ASK_FINISH);
		smp_rmb();	/* pairs with the barrier in rdmamig_session_ask() */
		bytes = rdmamig_stream_avail(s);
		if (bytes) {
			err = await(s, false, ANSWER_MS) ?:
			      send_stream(s, bytes);
		} else if (rdmamig_stream_at_mark(s, &kind)) {
			err = window(s, kind);
			rdmamig_stream_pass_mark(s);
		} else if (finish) {
			rdmamig_stream_close(s);
			if (!rdmamig_stream_avail(s))
				return 0;
		}
		if (err)
			return err;
	}
}

/* END and its answer: from here on the target decides. */
static int finish_with_end(struct rdmamig_session *s)
{
	u64 ms = ANSWER_MS + div_u64(s->ram.bytes, END_BYTES_PER_S / 1000);
	struct rdmamig_source *src = &s->source;
	struct rdmamig_buf *buf = turn_buf(s);
	u32 len;
	int err;

	if (IS_ERR(buf))
		return PTR_ERR(buf);
	len = rdmamig_codec_put_end(rdmamig_ctrl_payload(buf),
				    s->stats.stream_bytes, s->ram.bytes);
	src->end_posted = true;
	err = command(s, buf, RDMAMIG_MSG_END, 1, len, RDMAMIG_ASKING_END);
	if (!err)
		err = await(s, true, min_t(u64, ms, FOREVER_MS));
	if (err)
		return err;
	if (src->end_status) {
		src->end_posted = false;
		return rdmamig_session_fail(s, -EREMOTEIO,
					    "the target refused the migration at its end: %pe",
					    ERR_PTR(-(int)min(src->end_status,
							      4095u)));
	}
	s->outcome = RDMAMIG_STATE_COMPLETED;
	return 0;
}

/* What the peer's reply to the connection request settles. */
static int negotiate(struct rdmamig_session *s)
{
	const struct rdmamig_codec_private *priv = &s->conn->priv;
	struct rdmamig_source *src = &s->source;
	u64 least;

	s->peer_tail = priv->has_tail;
	s->peer_known = true;
	s->features = priv->has_tail ? s->features & priv->tail.features : 0;
	if (s->mode == RDMAMIG_MODE_NATIVE &&
	    (~s->features & (RDMAMIG_FEATURE_NATIVE | RDMAMIG_FEATURE_END_ACK)))
		return rdmamig_session_fail(s, -EPROTONOSUPPORT,
					    "the peer is not an rdmamig target: use rdmamigctl send to reach a stock QEMU");
	if (s->pin_all && !priv->pin_all)
		return rdmamig_session_fail(s, -EOPNOTSUPP,
					    "the peer does not grant pin-all: try without it");
	if (s->peer_tail) {
		s->token = priv->tail.token;
		s->peer_limit = priv->tail.pin_limit;
		if (s->peer_limit)
			s->limit = min(s->limit, s->peer_limit);
	}
	least = min_t(u64, RDMAMIG_PIN_WINDOW, s->ram.bytes);
	if (s->pin_all || s->tun.unreg == RDMAMIG_UNREG_OFF)
		least = s->ram.bytes;
	if (s->limit < least)
		return rdmamig_session_fail(s, -EDQUOT,
					    "the peer's pin-limit of %llu bytes is too small: at least %llu are needed",
					    s->peer_limit, least);
	/* One batch on the wire while the next is made ready; at 4 MiB two of 2. */
	src->batch = clamp_t(u64, s->limit >> (RDMAMIG_CHUNK_SHIFT + 2), 2,
			     1u << RDMAMIG_BATCH_SHIFT);
	return 0;
}

/**
 * rdmamig_source_run() - the life of a source, from connecting to its outcome
 * @s: source session
 *
 * Context: the session's thread.
 *
 * Return: 0 with @s->outcome set, or the recorded negative errno.
 */
int rdmamig_source_run(struct rdmamig_session *s)
{
	int err;

	s->features = RDMAMIG_FEATURE_END_ACK | RDMAMIG_FEATURE_BATCH;
	if (s->mode == RDMAMIG_MODE_NATIVE)
		s->features |= RDMAMIG_FEATURE_NATIVE;

	err = rdmamig_conn_connect(s) ?: negotiate(s);
	if (err)
		return err;
	rdmamig_session_set_state(s, RDMAMIG_STATE_SETUP);

	if (s->mode == RDMAMIG_MODE_NATIVE)
		err = exchange_blocks(s) ?: engine(s);
	else
		err = run_windows(s);
	if (err)
		return err;

	rdmamig_session_set_state(s, RDMAMIG_STATE_FINISHING);
	if (s->features & RDMAMIG_FEATURE_END_ACK)
		return finish_with_end(s);
	/*
	 * A stock destination says nothing more: all was delivered.  It takes a
	 * disconnect that it sees before it has read everything for a failure,
	 * so let it read (QEMU 7.2; seen on the wire).
	 */
	err = rdmamig_ctrl_flush(s, s->conn);
	if (err)
		return err;
	s->outcome = RDMAMIG_STATE_SENT;
	rdmamig_wait(s, test_bit(RDMAMIG_SEEN_DISCONNECTED, &s->conn->seen),
		     LEAVE_MS);
	return 0;
}
