// SPDX-License-Identifier: GPL-2.0
/*
 * The life of sessions: how one is born, given its memory, and ended, and the
 * table of them.
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

#define RECORDS_MAX	64
#define DEFAULT_LEAST	(32ull << 20)	/* bytes: see settle_limit() */
#define DEFAULT_SHIFT	4		/* 1/16 of the RAM */

static DEFINE_XARRAY_ALLOC1(sessions);
static DEFINE_MUTEX(sessions_lock);	/* guards the table and the records */
static LIST_HEAD(records);
static u32 nr_records;
static u32 next_id;

/* ---- the limit ---- */

/*
 * Settles the pin limit once the RAM is known, and charges it to the owner.
 * Without a pin-limit: 1/16 of the RAM, at least 32 MiB; all of it where nothing
 * is ever given back.
 */
static int settle_limit(struct rdmamig_session *s,
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
	err = settle_limit(s, extack);
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

/* ---- memory that comes later ---- */

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
