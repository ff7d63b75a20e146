// SPDX-License-Identifier: GPL-2.0
/*
 * Sessions: who moves their state, what their thread waits for, what others ask.
 *
 * A session has one thread, which lives from its birth to its end
 * (session_life.c) and does everything that touches the connection or the
 * owner's memory.  Others ask: they set a bit and kick.  So there is no lock
 * order to know: the locks of a session are leaves (Documentation/locking.rst).
 */
#include <linux/mm.h>

#include "conn.h"
#include "ctrl.h"
#include "netlink.h"
#include "refuse.h"
#include "session.h"
#include "trace.h"

#define TICK_MS		50		/* while a symptom waits for its cause */

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
	/* What the peer says of itself goes before what follows from it. */
	if (rdmamig_ctrl_find_error(s, conn))
		return s->error;
	err = rdmamig_conn_error(conn, text, sizeof(text));
	if (!err && test_bit(RDMAMIG_SEEN_DISCONNECTED, &conn->seen) &&
	    !rdmamig_ctrl_pending(conn)) {
		strscpy(text, "the peer disconnected", sizeof(text));
		err = -ECONNRESET;
	}
	if (err)
		return rdmamig_session_fail(s, err, "%s", text);
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
