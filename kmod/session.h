/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RDMAMIG_SESSION_H
#define RDMAMIG_SESSION_H

#include <linux/atomic.h>
#include <linux/jiffies.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/socket.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <rdma/rdma_cm.h>
#include <uapi/linux/rdmamig.h>

#include "codec.h"
#include "ramblock.h"
#include "source.h"
#include "stream.h"
#include "target.h"

struct mm_struct;
struct netlink_ext_ack;
struct rdmamig_conn;

/* The tunables of a session: each a netlink attribute, none a module param. */
struct rdmamig_tunables {
	u64 pin_limit;		/* bytes; 0: the default of the session's RAM */
	u64 max_memory;		/* bytes; 0: half of what is available */
	u64 rate_limit;		/* bytes a second; 0: none */
	u32 peer_timeout;	/* ms */
	u32 connect_timeout;	/* ms */
	u32 max_downtime;	/* ms */
	enum rdmamig_unreg unreg;
	enum rdmamig_peer_chunk peer_chunk;
	bool pin_all;
	bool auto_finish;
};

/*
 * Written by the session's thread alone, read by anyone with READ_ONCE (a
 * 64-bit word is whole on the machines that we build for).
 */
struct rdmamig_stats {
	u64 data_bytes;
	u64 zero_bytes;
	u64 stream_bytes;
	u64 pinned_bytes;
	u64 pinned_peak;
	u64 registered;
	u64 registrations;
	u64 unregistrations;
	u64 refaults;
	u64 reuses;
	u64 exchanges;
	u64 messages_sent;
	u64 messages_received;
	u64 slot_waits;
	u64 slot_wait_ns;
	u64 stale_chunks;
	u64 rounds;
	u64 windows;
	u64 probes;
	ktime_t created;	/* the source asked for, or got, its connection */
	ktime_t running;
	ktime_t ended;
};

/* What others ask of the session's thread; bits of rdmamig_session.asked. */
enum {
	RDMAMIG_ASK_CANCEL,
	RDMAMIG_ASK_FINISH,
	RDMAMIG_ASK_SEAL,
	RDMAMIG_ASK_BIND,	/* the block table of a windows target is there */
	RDMAMIG_ASK_RESUME,
	RDMAMIG_OWNER_GONE,	/* the owner's mm is being torn down */
	RDMAMIG_DEVICE_GONE,	/* an RDMA device of the session goes away */
};

/*
 * A session belongs to its thread, which alone touches the connection, the
 * chunks and the counters.  Everyone else looks (state, counters), asks
 * (a bit of @asked, then a kick) or delivers (completions, messages, CM events,
 * stream bytes, each under the lock of where it is delivered).
 */
struct rdmamig_session {
	u32 id;
	enum rdmamig_role role;
	enum rdmamig_mode mode;
	bool confirm;
	struct kref ref;
	struct list_head ended_node;	/* under the table's mutex */
	struct task_struct *thread;
	char device[IB_DEVICE_NAME_MAX];

	/* Guards state, error, error_text, cancel_text, device, remote. */
	spinlock_t lock;
	enum rdmamig_state state;
	int error;			/* the first one; negative errno */
	char error_text[RDMAMIG_ERROR_TEXT_MAX + 1];
	char cancel_text[RDMAMIG_ERROR_TEXT_MAX + 1];	/* why, if told */
	enum rdmamig_state outcome;	/* the thread's; state after teardown */

	unsigned long asked;
	atomic_t kicks;			/* grows with everything that happens */
	wait_queue_head_t wait;		/* of the thread */

	struct sockaddr_storage local;
	struct sockaddr_storage remote;
	struct sockaddr_storage from;
	u8 from_prefix;
	bool from_any;

	struct rdmamig_tunables tun;
	u64 limit;			/* pin limit in force, bytes */
	u64 peer_limit;			/* 0: the peer named none */

	struct mm_struct *mm;		/* mmgrab; the owner's */
	struct mmu_interval_notifier owner;	/* tells that @mm goes */
	unsigned long locked_pages;	/* charged to the owner */
	struct rdmamig_ramblocks ram;
	struct mutex ram_lock;		/* @ram and @ending, for all but the thread */
	bool ending;			/* no block is bound any more */

	struct rdmamig_conn *listener;
	struct rdmamig_conn *conn;
	struct rdmamig_conn *second;	/* return path of a stock source */
	struct rdmamig_conn *pending;	/* a request not yet taken; by xchg */
	bool peer_known;		/* @peer_tail means something */
	bool peer_tail;			/* the peer is rdmamig */
	bool peer_error;		/* it sent ERROR: nothing more will come */
	bool pin_all;
	u32 features;
	u64 token;

	struct rdmamig_stream stream;
	struct rdmamig_source source;
	struct rdmamig_target target;
	struct rdmamig_stats stats;
};

/* What netlink (or a caller in the kernel) gives to make a session. */
struct rdmamig_session_spec {
	enum rdmamig_role role;
	enum rdmamig_mode mode;
	bool confirm;
	struct sockaddr_storage local;
	struct sockaddr_storage remote;
	struct sockaddr_storage from;
	u8 from_prefix;
	struct rdmamig_tunables tun;
	struct mm_struct *mm;		/* the session takes its own reference */
	struct rdmamig_ramblocks ram;	/* taken over on success */
};

struct rdmamig_session *rdmamig_session_new(struct rdmamig_session_spec *spec,
					    struct netlink_ext_ack *extack);
struct rdmamig_session *rdmamig_session_get(u32 id);
struct rdmamig_session *rdmamig_session_next(u32 id);
void rdmamig_session_put(struct rdmamig_session *s);

int rdmamig_session_ask(struct rdmamig_session *s, unsigned int bit,
			struct netlink_ext_ack *extack);
int rdmamig_session_cancel(struct rdmamig_session *s, const char *why,
			   struct netlink_ext_ack *extack);
int rdmamig_session_bind(struct rdmamig_session *s, struct mm_struct *mm,
			 struct rdmamig_ramblocks *ram, u64 pin_limit,
			 struct netlink_ext_ack *extack);
int rdmamig_session_tune(struct rdmamig_session *s,
			 const struct rdmamig_tunables *tun,
			 struct netlink_ext_ack *extack);

void rdmamig_session_kick(struct rdmamig_session *s);
__printf(3, 4)
int rdmamig_session_fail(struct rdmamig_session *s, int err,
			 const char *fmt, ...);
int rdmamig_session_owner_gone(struct rdmamig_session *s);
void rdmamig_session_set_state(struct rdmamig_session *s,
			       enum rdmamig_state state);
int rdmamig_session_check(struct rdmamig_session *s);
unsigned long rdmamig_session_tick(struct rdmamig_session *s,
				   unsigned long deadline);

const char *rdmamig_state_name(enum rdmamig_state state);
bool rdmamig_state_is_end(enum rdmamig_state state);

void rdmamig_sessions_exit(void);

/**
 * rdmamig_wait() - let the session's thread wait
 * @s: session
 * @cond: expression that ends the wait
 * @ms: bound, milliseconds
 *
 * A true @cond wins over a broken session, so that what was delivered before a
 * disconnect is still seen.  While it waits the peer is probed.
 *
 * Return: 0, -ETIME when @ms are over, or why the session is broken (recorded
 * already; never -ETIME).
 */
#define rdmamig_wait(s, cond, ms)					\
({									\
	unsigned long __end = jiffies + msecs_to_jiffies(ms);		\
	int __seen, __ret;						\
									\
	for (;;) {							\
		__seen = atomic_read_acquire(&(s)->kicks);		\
		if (cond) {						\
			__ret = 0;					\
			break;						\
		}							\
		__ret = rdmamig_session_check(s);			\
		if (__ret)						\
			break;						\
		if (time_after_eq(jiffies, __end)) {			\
			__ret = -ETIME;					\
			break;						\
		}							\
		wait_event_idle_timeout((s)->wait,			\
			atomic_read(&(s)->kicks) != __seen,		\
			rdmamig_session_tick(s, __end));		\
	}								\
	__ret;								\
})

static inline bool rdmamig_asked(const struct rdmamig_session *s,
				 unsigned int bit)
{
	return test_bit(bit, &s->asked);
}

#endif /* RDMAMIG_SESSION_H */
