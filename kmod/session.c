// SPDX-License-Identifier: GPL-2.0
/*
 * Sessions: what one is made of, who moves its state, and how it ends.
 *
 * A session has one thread, which lives from its birth to its end and does
 * everything that touches the connection or the owner's memory.  Others ask:
 * they set a bit and kick.  So there is no lock order to know: the locks of a
 * session are leaves (Documentation/locking.rst).
 *
 * The end of a session, whatever led to it, is one function, end_session(), run
 * by the thread alone: tell the peer, disconnect, drain, take back regions and
 * memory, free the connection, uncharge the owner, and only then show the last
 * state.  Whoever sees that state knows that nothing is held any more.
 *
 * References.  The table holds one, the thread one, an open stream one, each
 * command one while it runs.  Ended sessions stay in the table as records, the
 * oldest going first when there are more than RECORDS_MAX.
 */
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/xarray.h>

#include "conn.h"
#include "ctrl.h"
#include "netlink.h"
#include "pin.h"
#include "reclaim.h"
#include "refuse.h"
#include "session.h"
#include "trace.h"

#define RECORDS_MAX	64
#define DEFAULT_LEAST	(32ull << 20)	/* bytes: see rdmamig_session_limit() */
#define DEFAULT_SHIFT	4		/* 1/16 of the RAM */
#define TICK_MS		50		/* while a symptom waits for its cause */

static DEFINE_XARRAY_ALLOC1(sessions);
static DEFINE_MUTEX(sessions_lock);	/* guards the table and the records */
static LIST_HEAD(records);
static u32 nr_records;
static u32 next_id;

/* ---- state ---- */

static const char * const state_names[] = {
	[RDMAMIG_STATE_LISTENING]	= "listening",
	[RDMAMIG_STATE_CONNECTING]	= "connecting",
	[RDMAMIG_STATE_SETUP]		= "setup",
	[RDMAMIG_STATE_BINDING]		= "binding",
	[RDMAMIG_STATE_RUNNING]		= "running",
	[RDMAMIG_STATE_SEALED]		= "sealed",
	[RDMAMIG_STATE_FINISHING]	= "finishing",
	[RDMAMIG_STATE_COMPLETED]	= "completed",
	[RDMAMIG_STATE_SENT]		= "sent",
	[RDMAMIG_STATE_UNKNOWN]		= "unknown",
	[RDMAMIG_STATE_CANCELLED]	= "cancelled",
	[RDMAMIG_STATE_FAILED]		= "failed",
};

#define TO(state)	(1u << RDMAMIG_STATE_##state)
#define TO_ANY_END	(TO(CANCELLED) | TO(FAILED))

/* The legal moves. */
static const unsigned int state_moves[] = {
	[RDMAMIG_STATE_LISTENING]	= TO(SETUP) | TO_ANY_END,
	[RDMAMIG_STATE_CONNECTING]	= TO(SETUP) | TO_ANY_END,
	[RDMAMIG_STATE_SETUP]		= TO(BINDING) | TO(RUNNING) | TO_ANY_END,
	[RDMAMIG_STATE_BINDING]		= TO(RUNNING) | TO_ANY_END,
	[RDMAMIG_STATE_RUNNING]		= TO(SEALED) | TO(FINISHING) | TO_ANY_END,
	[RDMAMIG_STATE_SEALED]		= TO(FINISHING) | TO_ANY_END,
	[RDMAMIG_STATE_FINISHING]	= TO(COMPLETED) | TO(SENT) | TO(UNKNOWN) |
					  TO_ANY_END,
	[RDMAMIG_STATE_UNKNOWN]		= TO(CANCELLED),
	[RDMAMIG_STATE_FAILED]		= 0,
};

/**
 * rdmamig_state_name() - a state in words
 * @state: the state
 *
 * Context: any.
 *
 * Return: a constant string.
 */
const char *rdmamig_state_name(enum rdmamig_state state)
{
	return state < ARRAY_SIZE(state_names) ? state_names[state] : "?";
}

/**
 * rdmamig_state_is_end() - is a session in this state over
 * @state: the state
 *
 * Context: any.
 *
 * Return: true when it holds nothing but its record.
 */
bool rdmamig_state_is_end(enum rdmamig_state state)
{
	return state >= RDMAMIG_STATE_COMPLETED;
}

/* An illegal move is a bug of ours that nobody outside can cause. */
static void move_state(struct rdmamig_session *s, enum rdmamig_state state)
{
	enum rdmamig_state old = s->state;

	lockdep_assert_held(&s->lock);
	WARN_ONCE(!(state_moves[old] & (1u << state)),
		  "rdmamig: session moves from %s to %s\n",
		  rdmamig_state_name(old), rdmamig_state_name(state));
	trace_rdmamig_session_state(s, old, state);
	WRITE_ONCE(s->state, state);
}

/* Tells the multicast group, the stream's descriptor and the sleepers. */
static void announce(struct rdmamig_session *s)
{
	rdmamig_stream_wake(s);
	rdmamig_netlink_notify(s);
}

/**
 * rdmamig_session_set_state() - change a session's state, and tell
 * @s: session
 * @state: its next state
 *
 * Context: process context; takes @s->lock; sleeps.
 */
void rdmamig_session_set_state(struct rdmamig_session *s,
			       enum rdmamig_state state)
{
	if (state == RDMAMIG_STATE_RUNNING)
		s->stats.running = ktime_get();
	spin_lock(&s->lock);
	move_state(s, state);
	spin_unlock(&s->lock);
	announce(s);
}

/**
 * rdmamig_session_kick() - something happened: let the thread look
 * @s: session
 *
 * Context: any.
 */
void rdmamig_session_kick(struct rdmamig_session *s)
{
	smp_mb__before_atomic();	/* what happened, before the news of it */
	atomic_inc(&s->kicks);
	wake_up(&s->wait);
}

/**
 * rdmamig_session_fail() - record why a session fails
 * @s: session
 * @err: negative errno
 * @fmt: why and which knob helps, in words
 *
 * The first error wins: what follows from it is not recorded.
 *
 * Context: the session's thread.
 *
 * Return: the errno that stands.
 */
int rdmamig_session_fail(struct rdmamig_session *s, int err,
			 const char *fmt, ...)
{
	va_list args;

	if (err == -ETIME)
		err = -ETIMEDOUT;
	spin_lock(&s->lock);
	if (!s->error) {
		va_start(args, fmt);
		vscnprintf(s->error_text, sizeof(s->error_text), fmt, args);
		va_end(args);
		WRITE_ONCE(s->error, err);
	}
	err = s->error;
	spin_unlock(&s->lock);
	return err;
}

/**
 * rdmamig_session_owner_gone() - is it the owner's exit that a failure is about
 * @s: session
 *
 * Memory that cannot be looked at any more, or is not what it was, may be that of
 * an owner on its way out.
 *
 * Context: the session's thread.
 *
 * Return: 0 when the owner is there, else the recorded negative errno.
 */
int rdmamig_session_owner_gone(struct rdmamig_session *s)
{
	if (atomic_read(&s->mm->mm_users) &&
	    !rdmamig_asked(s, RDMAMIG_OWNER_GONE))
		return 0;
	return rdmamig_session_fail(s, -ESRCH, "the owner exited");
}

/* ---- waiting ---- */

static int check_conn(struct rdmamig_session *s)
{
	unsigned long timeout = msecs_to_jiffies(s->tun.peer_timeout);
	struct rdmamig_conn *conn = s->conn;
	char text[sizeof(conn->error_text)];
	unsigned long alive;
	int err;

	if (!conn || conn->quiet || rdmamig_target_may_lose(s))
		return 0;
	err = rdmamig_conn_error(conn, text, sizeof(text));
	if (!err && test_bit(RDMAMIG_SEEN_DISCONNECTED, &conn->seen) &&
	    !rdmamig_ctrl_pending(conn)) {
		strscpy(text, "the peer disconnected", sizeof(text));
		err = -ECONNRESET;
	}
	if (err) {
		/* The peer may have said why before it left. */
		if (rdmamig_ctrl_find_error(s, conn))
			return s->error;
		return rdmamig_session_fail(s, err, "%s", text);
	}
	if (!test_bit(RDMAMIG_SEEN_ESTABLISHED, &conn->seen))
		return 0;

	/* Was it us who did not look for so long? Then the peer may be well. */
	if (time_after(jiffies, conn->checked + timeout / 3))
		WRITE_ONCE(conn->alive, jiffies);
	conn->checked = jiffies;

	alive = READ_ONCE(conn->alive);
	if (time_after(jiffies, alive + timeout))
		rdmamig_conn_break(conn, -ETIMEDOUT,
				   "peer lost: no sign of life for %u ms (peer-timeout)",
				   s->tun.peer_timeout);
	else if (time_after(jiffies, alive + timeout / 3) &&
		 atomic_read(&conn->sq_free) > 0)
		rdmamig_conn_probe(conn);
	return 0;
}

/**
 * rdmamig_session_check() - may the session go on
 * @s: session
 *
 * Looks at what others asked and at the connection; asks a silent peer for a
 * sign of life.
 *
 * Context: the session's thread.
 *
 * Return: 0, or the recorded negative errno.
 */
int rdmamig_session_check(struct rdmamig_session *s)
{
	if (READ_ONCE(s->error))
		return s->error;
	if (rdmamig_asked(s, RDMAMIG_ASK_CANCEL))
		return rdmamig_session_fail(s, -ECANCELED, "%s",
					    s->cancel_text[0] ? s->cancel_text :
								"cancelled");
	if (rdmamig_asked(s, RDMAMIG_OWNER_GONE))
		return rdmamig_session_owner_gone(s);
	if (rdmamig_asked(s, RDMAMIG_DEVICE_GONE))
		return rdmamig_session_fail(s, -ENODEV,
					    "the RDMA device was removed");
	return check_conn(s);
}

/**
 * rdmamig_session_tick() - how long the thread may sleep before it looks again
 * @s: session
 * @deadline: of its wait, jiffies
 *
 * Context: the session's thread.
 *
 * Return: jiffies, at least 1.
 */
unsigned long rdmamig_session_tick(struct rdmamig_session *s,
				   unsigned long deadline)
{
	unsigned long tick = max_t(long, deadline - jiffies, 1);
	struct rdmamig_conn *conn = s->conn;

	if (!conn || conn->quiet)
		return tick;
	if (test_bit(RDMAMIG_SEEN_BROKEN, &conn->seen))
		return min(tick, msecs_to_jiffies(TICK_MS));
	if (!test_bit(RDMAMIG_SEEN_ESTABLISHED, &conn->seen))
		return tick;
	return min(tick, msecs_to_jiffies(s->tun.peer_timeout) / 12 + 1);
}

/* ---- the limit ---- */

/**
 * rdmamig_session_limit() - settle the pin limit once the RAM is known
 * @s: session with its blocks; pin_all is what the owner or the peer wants
 * @extack: says why not; may be NULL
 *
 * Without a pin-limit: 1/16 of the RAM, at least 32 MiB; all of it where nothing
 * is ever given back.  The limit is charged to the owner.
 *
 * Context: process context; sleeps.
 *
 * Return: 0 or a negative errno.
 */
int rdmamig_session_limit(struct rdmamig_session *s,
			  struct netlink_ext_ack *extack)
{
	bool never = s->tun.pin_all || s->pin_all;
	u64 ram = s->ram.bytes, limit = s->tun.pin_limit, allowed;
	u64 least = min_t(u64, RDMAMIG_PIN_WINDOW, ram);
	int err;

	if (s->mode == RDMAMIG_MODE_WINDOWS) {
		if (s->role == RDMAMIG_ROLE_SOURCE)
			never |= s->tun.peer_chunk == RDMAMIG_PEER_CHUNK_UNKNOWN;
		else
			never |= !s->peer_tail;
	}
	if (s->role == RDMAMIG_ROLE_SOURCE)
		never |= s->tun.unreg == RDMAMIG_UNREG_OFF;
	/* A source that named its limit before ours was known keeps to it. */
	if (!limit && !never)
		limit = s->peer_limit ?:
			max(ram >> DEFAULT_SHIFT, DEFAULT_LEAST);
	else if (!limit)
		limit = ram;
	limit = min(limit, ram);
	if (s->peer_limit)
		limit = min(limit, s->peer_limit);

	if (never && limit < ram)
		return rdmamig_refuse(extack, -EDQUOT,
				      "pin-limit %llu: %s keeps every chunk, all %llu bytes of RAM: raise pin-limit",
				      limit,
				      s->pin_all || s->tun.pin_all ? "pin-all" :
				      s->role == RDMAMIG_ROLE_TARGET ?
				      "a stock source" :
				      s->tun.unreg == RDMAMIG_UNREG_OFF ?
				      "unreg off" : "peer-chunk unknown", ram);
	if (limit < least)
		return rdmamig_refuse(extack, -EDQUOT,
				      "pin-limit %llu is too small: at least %llu bytes are needed",
				      limit, least);

	err = rdmamig_pin_charge(s, limit, &allowed);
	if (err == -ENOMEM)
		return rdmamig_refuse(extack, err,
				      "the owner may lock %llu bytes (RLIMIT_MEMLOCK), pin-limit is %llu: raise the one or lower the other",
				      allowed, limit);
	if (err)
		return rdmamig_refuse(extack, err, "the owner exited");
	s->limit = limit;
	return 0;
}

/* ---- the owner ---- */

static bool owner_invalidate(struct mmu_interval_notifier *owner,
			     const struct mmu_notifier_range *range,
			     unsigned long seq)
{
	struct rdmamig_session *s = container_of(owner, struct rdmamig_session,
						 owner);

	if (range->event == MMU_NOTIFY_RELEASE) {
		set_bit(RDMAMIG_OWNER_GONE, &s->asked);
		rdmamig_session_kick(s);
		return true;
	}
	spin_lock(&s->lock);
	mmu_interval_set_seq(owner, seq);
	spin_unlock(&s->lock);
	return true;
}

static const struct mmu_interval_notifier_ops owner_ops = {
	.invalidate = owner_invalidate,
};

/*
 * A session is told of its owner's exit from its birth on, with blocks or
 * without: any interval of the mm will do for that.
 */
static int watch_owner(struct rdmamig_session *s)
{
	int err;

	if (!mmget_not_zero(s->mm))
		return -ESRCH;
	err = mmu_interval_notifier_insert(&s->owner, s->mm, 0, PAGE_SIZE,
					   &owner_ops);
	mmput_async(s->mm);
	return err;
}

/* ---- birth and end ---- */

static void session_release(struct kref *ref)
{
	struct rdmamig_session *s = container_of(ref, struct rdmamig_session,
						 ref);

	rdmamig_ramblocks_free(&s->ram);
	rdmamig_stream_destroy(&s->stream);
	mmdrop(s->mm);
	kfree(s);
}

/**
 * rdmamig_session_put() - drop a reference
 * @s: session
 *
 * Context: process context; may sleep.
 */
void rdmamig_session_put(struct rdmamig_session *s)
{
	kref_put(&s->ref, session_release);
}

/**
 * rdmamig_session_get() - find a session
 * @id: its id
 *
 * Context: process context; takes the table's mutex.
 *
 * Return: the session with a reference, or NULL.
 */
struct rdmamig_session *rdmamig_session_get(u32 id)
{
	struct rdmamig_session *s;

	mutex_lock(&sessions_lock);
	s = xa_load(&sessions, id);
	if (s)
		kref_get(&s->ref);
	mutex_unlock(&sessions_lock);
	return s;
}

/**
 * rdmamig_session_next() - the session with the lowest id from @id on
 * @id: where to begin
 *
 * Context: process context; takes the table's mutex.
 *
 * Return: the session with a reference, or NULL.
 */
struct rdmamig_session *rdmamig_session_next(u32 id)
{
	struct rdmamig_session *s;
	unsigned long index = id;

	mutex_lock(&sessions_lock);
	s = xa_find(&sessions, &index, ULONG_MAX, XA_PRESENT);
	if (s)
		kref_get(&s->ref);
	mutex_unlock(&sessions_lock);
	return s;
}

/* Waits for the thread to be gone, and forgets the session. */
static void forget(struct rdmamig_session *s)
{
	kthread_stop(s->thread);
	put_task_struct(s->thread);
	rdmamig_session_put(s);
}

/* The session is a record now; the oldest record may have to go. */
static void make_record(struct rdmamig_session *s)
{
	struct rdmamig_session *old = NULL;

	mutex_lock(&sessions_lock);
	/* Not when the module is leaving and has taken it out already. */
	if (xa_load(&sessions, s->id) == s) {
		list_add_tail(&s->ended_node, &records);
		nr_records++;
	}
	if (nr_records > RECORDS_MAX) {
		old = list_first_entry(&records, struct rdmamig_session,
				       ended_node);
		list_del_init(&old->ended_node);
		xa_erase(&sessions, old->id);
		nr_records--;
	}
	mutex_unlock(&sessions_lock);
	if (old)
		forget(old);
}

static void free_conns(struct rdmamig_session *s)
{
	struct rdmamig_conn *pending;

	/* First the listener: no request comes any more. */
	rdmamig_conn_free(s->listener);
	s->listener = NULL;
	pending = xchg(&s->pending, NULL);
	if (pending)
		rdmamig_conn_reject(pending, "the session is over");
	rdmamig_conn_free(s->second);
	s->second = NULL;
	rdmamig_conn_free(s->conn);
	s->conn = NULL;
}

static enum rdmamig_state last_state(struct rdmamig_session *s, int err)
{
	if (!err)
		return s->outcome;
	/*
	 * END is out and unanswered.  An ERROR instead of END_OK is an answer:
	 * a target that sent it has not taken the guest, and never will.
	 */
	if (s->source.end_posted && !s->source.end_ok && !s->peer_error)
		return RDMAMIG_STATE_UNKNOWN;
	return err == -ECANCELED ? RDMAMIG_STATE_CANCELLED :
				   RDMAMIG_STATE_FAILED;
}

/* See the top of the file. */
static void end_session(struct rdmamig_session *s, int err)
{
	enum rdmamig_state state;

	mutex_lock(&s->ram_lock);
	s->ending = true;
	mutex_unlock(&s->ram_lock);

	if (s->outcome == RDMAMIG_STATE_COMPLETED && err) {
		/* END_OK or SHUT is out: what came later is no failure. */
		spin_lock(&s->lock);
		s->error = 0;
		s->error_text[0] = 0;
		spin_unlock(&s->lock);
		err = 0;
	}
	state = last_state(s, err);
	if (err && s->conn && !s->conn->quiet &&
	    test_bit(RDMAMIG_SEEN_ESTABLISHED, &s->conn->seen))
		rdmamig_ctrl_error(s, s->error_text);
	if (s->second)
		rdmamig_conn_quiesce(s->second);
	if (s->conn) {
		rdmamig_conn_quiesce(s->conn);
		rdmamig_reclaim_all(s);
	}
	rdmamig_ramblocks_unwatch(&s->ram);
	mmu_interval_notifier_remove(&s->owner);
	free_conns(s);
	rdmamig_pin_uncharge(s);
	s->stats.ended = ktime_get();
	if (state == RDMAMIG_STATE_UNKNOWN) {
		spin_lock(&s->lock);
		strlcat(s->error_text, "; ask the target: rdmamigctl show ID",
			sizeof(s->error_text));
		spin_unlock(&s->lock);
	}
	rdmamig_session_set_state(s, state);
}

static int session_thread(void *arg)
{
	struct rdmamig_session *s = arg;
	int err;

	if (s->role == RDMAMIG_ROLE_SOURCE)
		err = rdmamig_source_run(s);
	else
		err = rdmamig_target_run(s);
	end_session(s, err);
	make_record(s);
	rdmamig_session_put(s);
	return 0;
}

static struct rdmamig_session *session_alloc(struct rdmamig_session_spec *spec)
{
	struct rdmamig_session *s = kzalloc(sizeof(*s), GFP_KERNEL);

	if (!s)
		return NULL;
	kref_init(&s->ref);
	INIT_LIST_HEAD(&s->ended_node);
	spin_lock_init(&s->lock);
	mutex_init(&s->ram_lock);
	init_waitqueue_head(&s->wait);
	rdmamig_stream_init(&s->stream);
	rdmamig_source_init(s);
	s->role = spec->role;
	s->mode = spec->mode;
	s->confirm = spec->confirm || (spec->role == RDMAMIG_ROLE_TARGET &&
				       spec->mode == RDMAMIG_MODE_WINDOWS);
	s->state = spec->role == RDMAMIG_ROLE_SOURCE ?
		   RDMAMIG_STATE_CONNECTING : RDMAMIG_STATE_LISTENING;
	s->local = spec->local;
	s->remote = spec->remote;
	s->from = spec->from;
	s->from_prefix = spec->from_prefix;
	s->from_any = !spec->from.ss_family;
	s->tun = spec->tun;
	s->pin_all = spec->role == RDMAMIG_ROLE_SOURCE && spec->tun.pin_all;
	s->mm = spec->mm;
	mmgrab(s->mm);
	s->ram = spec->ram;
	memset(&spec->ram, 0, sizeof(spec->ram));
	s->stats.created = ktime_get();
	return s;
}

static int add_dirty(struct rdmamig_session *s)
{
	u32 i;
	int err;

	for (i = 0; i < s->ram.count; i++) {
		struct rdmamig_block *b = &s->ram.v[i];

		err = rdmamig_dirty_init(&b->dirty, b->length);
		if (err)
			return err;
		b->had_key = kvcalloc(BITS_TO_LONGS(b->dirty.nr_chunks),
				      sizeof(long), GFP_KERNEL);
		if (!b->had_key)
			return -ENOMEM;
	}
	return 0;
}

/* The blocks are known: check, watch, charge. */
static int take_blocks(struct rdmamig_session *s,
		       struct netlink_ext_ack *extack)
{
	int err;

	err = rdmamig_ramblocks_check(&s->ram, s->mm, s->role, extack);
	if (err)
		return err;
	if (s->role == RDMAMIG_ROLE_SOURCE) {
		err = add_dirty(s);
		if (err)
			return err;
	}
	if (!mmget_not_zero(s->mm))
		return rdmamig_refuse(extack, -ESRCH,
				      "the owner of the memory has exited");
	err = rdmamig_ramblocks_watch(&s->ram, s);
	mmput_async(s->mm);
	if (err)
		return rdmamig_refuse(extack, err,
				      "the owner's memory cannot be watched: %pe",
				      ERR_PTR(err));
	err = rdmamig_session_limit(s, extack);
	if (err)
		rdmamig_ramblocks_unwatch(&s->ram);
	return err;
}

/**
 * rdmamig_session_new() - make a session and let it go
 * @spec: what it is; its RAM table is taken over, its mm referenced
 * @extack: says why not
 *
 * A target listens when this returns, a source connects.
 *
 * Context: process context; sleeps.
 *
 * Return: the session with a reference for the caller, or ERR_PTR; then nothing
 * is left behind.
 */
struct rdmamig_session *rdmamig_session_new(struct rdmamig_session_spec *spec,
					    struct netlink_ext_ack *extack)
{
	struct rdmamig_session *s = session_alloc(spec);
	int err;

	if (!s)
		return ERR_PTR(-ENOMEM);
	err = watch_owner(s);
	if (err) {
		rdmamig_refuse(extack, err, "the owner of the memory has exited");
		goto put;
	}
	if (s->ram.count) {
		err = take_blocks(s, extack);
		if (err)
			goto unwatch_owner;
	}
	if (s->role == RDMAMIG_ROLE_TARGET) {
		if (!s->ram.count)
			s->limit = s->tun.pin_limit;
		get_random_bytes(&s->token, sizeof(s->token));
		err = rdmamig_conn_listen(s, extack);
		if (err)
			goto unwatch;
	}

	s->thread = kthread_create(session_thread, s, "rdmamig");
	if (IS_ERR(s->thread)) {
		err = PTR_ERR(s->thread);
		goto unlisten;
	}
	get_task_struct(s->thread);

	mutex_lock(&sessions_lock);
	err = xa_alloc_cyclic(&sessions, &s->id, s, XA_LIMIT(1, INT_MAX),
			      &next_id, GFP_KERNEL);
	mutex_unlock(&sessions_lock);
	if (err < 0)
		goto stop;

	kref_get(&s->ref);	/* the thread's */
	kref_get(&s->ref);	/* the caller's */
	wake_up_process(s->thread);
	rdmamig_netlink_notify(s);
	return s;

stop:
	kthread_stop(s->thread);
	put_task_struct(s->thread);
unlisten:
	free_conns(s);
unwatch:
	rdmamig_ramblocks_unwatch(&s->ram);
	rdmamig_pin_uncharge(s);
unwatch_owner:
	mmu_interval_notifier_remove(&s->owner);
put:
	rdmamig_session_put(s);
	return ERR_PTR(err);
}

/* ---- what others ask ---- */

static int ask_resume(struct rdmamig_session *s, struct netlink_ext_ack *extack)
{
	enum rdmamig_state state;

	spin_lock(&s->lock);
	state = s->state;
	if (state == RDMAMIG_STATE_UNKNOWN) {
		strscpy(s->error_text, "resumed: the source is the truth",
			sizeof(s->error_text));
		move_state(s, RDMAMIG_STATE_CANCELLED);
	}
	spin_unlock(&s->lock);
	if (state != RDMAMIG_STATE_UNKNOWN)
		return rdmamig_refuse(extack, -EINVAL,
				      "session %u is %s: resume is for unknown",
				      s->id, rdmamig_state_name(state));
	announce(s);
	return 0;
}

static int may_finish(struct rdmamig_session *s, enum rdmamig_state state,
		      struct netlink_ext_ack *extack)
{
	if (s->role == RDMAMIG_ROLE_SOURCE && state < RDMAMIG_STATE_FINISHING)
		return 0;
	if (state == RDMAMIG_STATE_SEALED)
		return 0;
	return rdmamig_refuse(extack, -EINVAL, "session %u is %s: %s", s->id,
			      rdmamig_state_name(state),
			      s->role == RDMAMIG_ROLE_SOURCE ?
			      "finish comes before the end" :
			      "a target can be finished when it is sealed");
}

static int may_seal(struct rdmamig_session *s, enum rdmamig_state state,
		    struct netlink_ext_ack *extack)
{
	if (s->role == RDMAMIG_ROLE_TARGET && s->mode == RDMAMIG_MODE_WINDOWS &&
	    !s->peer_tail && state == RDMAMIG_STATE_RUNNING)
		return 0;
	return rdmamig_refuse(extack, -EINVAL,
			      "session %u is %s: seal is for a running target of a stock source",
			      s->id, rdmamig_state_name(state));
}

/**
 * rdmamig_session_ask() - ask a session's thread for something
 * @s: session
 * @bit: RDMAMIG_ASK_CANCEL, _FINISH, _SEAL or _RESUME; rdmamig_session_cancel()
 *	is the way to cancel
 * @extack: says why not
 *
 * Context: process context.
 *
 * Return: 0 when it was taken, -EINVAL when the state does not allow it;
 * -EALREADY when the session is over.
 */
int rdmamig_session_ask(struct rdmamig_session *s, unsigned int bit,
			struct netlink_ext_ack *extack)
{
	enum rdmamig_state state = READ_ONCE(s->state);
	int err = 0;

	if (bit == RDMAMIG_ASK_RESUME)
		return ask_resume(s, extack);
	if (rdmamig_state_is_end(state))
		return rdmamig_refuse(extack, -EALREADY,
				      "session %u is over: it is %s", s->id,
				      rdmamig_state_name(state));
	if (bit == RDMAMIG_ASK_FINISH)
		err = may_finish(s, state, extack);
	else if (bit == RDMAMIG_ASK_SEAL)
		err = may_seal(s, state, extack);
	if (err)
		return err;
	smp_mb__before_atomic();	/* dirty bits before FINISH: engine() */
	set_bit(bit, &s->asked);
	rdmamig_session_kick(s);
	return 0;
}

/**
 * rdmamig_session_cancel() - end a session that is not over
 * @s: session
 * @why: for the record and for an rdmamig peer; NULL: "cancelled"
 * @extack: says why not
 *
 * Context: process context.
 *
 * Return: 0, or -EALREADY when the session is over.
 */
int rdmamig_session_cancel(struct rdmamig_session *s, const char *why,
			   struct netlink_ext_ack *extack)
{
	if (why) {
		spin_lock(&s->lock);
		if (!s->cancel_text[0])
			strscpy(s->cancel_text, why, sizeof(s->cancel_text));
		spin_unlock(&s->lock);
	}
	return rdmamig_session_ask(s, RDMAMIG_ASK_CANCEL, extack);
}

/**
 * rdmamig_session_bind() - give a receiving session its RAM blocks
 * @s: target session in windows mode, BINDING
 * @mm: memory that the addresses are in; the session's own
 * @ram: the table in the stream's order; taken over on success
 * @pin_limit: bytes; 0: what the session has
 * @extack: says why not
 *
 * Context: process context; sleeps.
 *
 * Return: 0 or a negative errno; then the session is still BINDING.
 */
int rdmamig_session_bind(struct rdmamig_session *s, struct mm_struct *mm,
			 struct rdmamig_ramblocks *ram, u64 pin_limit,
			 struct netlink_ext_ack *extack)
{
	u64 bytes = 0;
	u32 i;
	int err;

	if (mm != s->mm)
		return rdmamig_refuse(extack, -EPERM,
				      "session %u belongs to another process",
				      s->id);
	mutex_lock(&s->ram_lock);
	if (s->ending || READ_ONCE(s->state) != RDMAMIG_STATE_BINDING ||
	    rdmamig_asked(s, RDMAMIG_ASK_BIND)) {
		err = rdmamig_refuse(extack, -EINVAL,
				     "session %u is %s: blocks are bound once, in state binding",
				     s->id, rdmamig_state_name(s->state));
		goto unlock;
	}
	for (i = 0; i < ram->count; i++)
		bytes += ram->v[i].length;
	if (s->tun.max_memory && bytes > s->tun.max_memory) {
		err = rdmamig_refuse(extack, -EDQUOT,
				     "the source has %llu bytes of RAM: max-memory is %llu",
				     bytes, s->tun.max_memory);
		goto unlock;
	}
	if (pin_limit)
		swap(s->tun.pin_limit, pin_limit);
	s->ram = *ram;
	err = take_blocks(s, extack);
	if (err) {
		if (pin_limit)
			s->tun.pin_limit = pin_limit;
		memset(&s->ram, 0, sizeof(s->ram));
		goto unlock;
	}
	memset(ram, 0, sizeof(*ram));
	set_bit(RDMAMIG_ASK_BIND, &s->asked);
	rdmamig_session_kick(s);
unlock:
	mutex_unlock(&s->ram_lock);
	return err;
}

/**
 * rdmamig_session_tune() - change the tunables of a running session
 * @s: session
 * @tun: as they shall be
 * @extack: says why not
 *
 * Context: process context.
 *
 * Return: 0, -EALREADY when the session is over, -EBUSY for one that is settled
 * when a session begins.
 */
int rdmamig_session_tune(struct rdmamig_session *s,
			 const struct rdmamig_tunables *tun,
			 struct netlink_ext_ack *extack)
{
	const char *fixed = NULL;

	if (rdmamig_state_is_end(READ_ONCE(s->state)))
		return rdmamig_refuse(extack, -EALREADY,
				      "session %u is over: it is %s", s->id,
				      rdmamig_state_name(s->state));
	if (tun->pin_limit != s->tun.pin_limit)
		fixed = "pin-limit";
	else if (tun->pin_all != s->tun.pin_all)
		fixed = "pin-all";
	else if (tun->max_memory != s->tun.max_memory)
		fixed = "max-memory";
	else if (tun->connect_timeout != s->tun.connect_timeout)
		fixed = "connect-timeout";
	else if (tun->peer_chunk != s->tun.peer_chunk)
		fixed = "peer-chunk";
	else if (tun->unreg != s->tun.unreg &&
		 (tun->unreg == RDMAMIG_UNREG_OFF) && s->limit < s->ram.bytes)
		fixed = "unreg off under a pin-limit";
	if (fixed)
		return rdmamig_refuse(extack, -EBUSY,
				      "%s is settled when a session begins",
				      fixed);
	WRITE_ONCE(s->tun.rate_limit, tun->rate_limit);
	WRITE_ONCE(s->tun.peer_timeout, tun->peer_timeout);
	WRITE_ONCE(s->tun.max_downtime, tun->max_downtime);
	WRITE_ONCE(s->tun.unreg, tun->unreg);
	WRITE_ONCE(s->tun.auto_finish, tun->auto_finish);
	rdmamig_session_kick(s);
	return 0;
}

/* ---- the module ---- */

/**
 * rdmamig_sessions_exit() - end every session and forget it
 *
 * Nobody makes a session any more, and no stream is open.
 *
 * Context: process context; waits for every thread.
 */
void rdmamig_sessions_exit(void)
{
	struct rdmamig_session *s;
	unsigned long id;
	bool mine;

	mutex_lock(&sessions_lock);
	xa_for_each(&sessions, id, s) {
		set_bit(RDMAMIG_ASK_CANCEL, &s->asked);
		rdmamig_session_kick(s);
	}
	mutex_unlock(&sessions_lock);

	while ((s = rdmamig_session_next(0))) {
		mutex_lock(&sessions_lock);
		/* A thread that becomes a record may have been quicker. */
		mine = xa_erase(&sessions, s->id) == s;
		if (!list_empty(&s->ended_node)) {
			list_del_init(&s->ended_node);
			nr_records--;
		}
		mutex_unlock(&sessions_lock);
		rdmamig_session_put(s);
		if (mine)
			forget(s);
	}
	xa_destroy(&sessions);
}
