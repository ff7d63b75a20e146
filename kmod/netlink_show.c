// SPDX-License-Identifier: GPL-2.0
/*
 * What the netlink family tells: sessions, blocks, counters, devices, windows,
 * and events.  A dump goes on behind the id or index that it told last, so it
 * survives whatever changes meanwhile.  Without CAP_NET_ADMIN no address of the
 * owner's memory is told.
 */
#include <linux/capability.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/sched/mm.h>
#include <linux/sched/task.h>
#include <net/genetlink.h>
#include <uapi/linux/rdmamig.h>

#include "compat/compat.h"
#include "device.h"
#include "netlink.h"
#include "session.h"

/**
 * rdmamig_netlink_put_addr() - add an address to a message
 * @skb: the message
 * @attr: attribute
 * @addr: the address; one without a family is left out
 *
 * Context: any.
 *
 * Return: 0 or a negative errno.
 */
int rdmamig_netlink_put_addr(struct sk_buff *skb, int attr,
			     const struct sockaddr_storage *addr)
{
	if (!addr->ss_family)
		return 0;
	return nla_put(skb, attr, addr->ss_family == AF_INET ?
		       sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6),
		       addr);
}

static u32 owner_pid(struct mm_struct *mm)
{
	struct task_struct *task;
	u32 pid = 0;

	rcu_read_lock();
	task = rcu_dereference(mm->owner);
	if (task && atomic_read(&mm->mm_users))
		pid = task_tgid_nr(task);
	rcu_read_unlock();
	return pid;
}

#define PUT_U64(skb, attr, value) \
	nla_put_u64_64bit(skb, attr, value, RDMAMIG_A_SESSION_PAD)

static int put_session(struct sk_buff *skb, struct rdmamig_session *s)
{
	char text[sizeof(s->error_text)];
	struct sockaddr_storage remote;
	enum rdmamig_state state;
	int error;

	spin_lock(&s->lock);
	state = s->state;
	error = rdmamig_state_is_end(state) ? s->error : 0;
	strscpy(text, s->error_text, sizeof(text));
	remote = s->remote;
	spin_unlock(&s->lock);

	if (nla_put_u32(skb, RDMAMIG_A_SESSION_ID, s->id) ||
	    nla_put_u32(skb, RDMAMIG_A_SESSION_ROLE, s->role) ||
	    nla_put_u32(skb, RDMAMIG_A_SESSION_MODE, s->mode) ||
	    nla_put_u32(skb, RDMAMIG_A_SESSION_STATE, state) ||
	    rdmamig_netlink_put_addr(skb, RDMAMIG_A_SESSION_LOCAL_ADDR, &s->local) ||
	    rdmamig_netlink_put_addr(skb, RDMAMIG_A_SESSION_REMOTE_ADDR, &remote) ||
	    rdmamig_netlink_put_addr(skb, RDMAMIG_A_SESSION_FROM_ADDR, &s->from) ||
	    (s->from.ss_family &&
	     nla_put_u8(skb, RDMAMIG_A_SESSION_FROM_PREFIX, s->from_prefix)) ||
	    (s->confirm && nla_put_flag(skb, RDMAMIG_A_SESSION_CONFIRM)) ||
	    PUT_U64(skb, RDMAMIG_A_SESSION_PIN_LIMIT,
		    READ_ONCE(s->limit) ?: s->tun.pin_limit) ||
	    nla_put_u8(skb, RDMAMIG_A_SESSION_PIN_ALL,
		       s->pin_all || s->tun.pin_all) ||
	    PUT_U64(skb, RDMAMIG_A_SESSION_MAX_MEMORY, s->tun.max_memory) ||
	    PUT_U64(skb, RDMAMIG_A_SESSION_RATE_LIMIT, s->tun.rate_limit) ||
	    nla_put_u32(skb, RDMAMIG_A_SESSION_UNREG, s->tun.unreg) ||
	    nla_put_u32(skb, RDMAMIG_A_SESSION_PEER_CHUNK, s->tun.peer_chunk) ||
	    nla_put_u32(skb, RDMAMIG_A_SESSION_PEER_TIMEOUT,
			s->tun.peer_timeout) ||
	    nla_put_u32(skb, RDMAMIG_A_SESSION_CONNECT_TIMEOUT,
			s->tun.connect_timeout) ||
	    nla_put_u32(skb, RDMAMIG_A_SESSION_MAX_DOWNTIME,
			s->tun.max_downtime) ||
	    nla_put_u8(skb, RDMAMIG_A_SESSION_AUTO_FINISH,
		       s->tun.auto_finish) ||
	    nla_put_string(skb, RDMAMIG_A_SESSION_DEVICE, s->device) ||
	    nla_put_u32(skb, RDMAMIG_A_SESSION_OWNER_PID, owner_pid(s->mm)) ||
	    (s->peer_known &&
	     nla_put_u8(skb, RDMAMIG_A_SESSION_PEER_RDMAMIG, s->peer_tail)) ||
	    nla_put_u32(skb, RDMAMIG_A_SESSION_BLOCK_COUNT,
			READ_ONCE(s->ram.count)) ||
	    PUT_U64(skb, RDMAMIG_A_SESSION_RAM_BYTES,
		    READ_ONCE(s->ram.bytes)))
		return -EMSGSIZE;
	if (error && (nla_put_u32(skb, RDMAMIG_A_SESSION_ERRNO, -error) ||
		      nla_put_string(skb, RDMAMIG_A_SESSION_ERROR_TEXT, text)))
		return -EMSGSIZE;
	return 0;
}

static u64 run_ns(const struct rdmamig_session *s)
{
	ktime_t end = READ_ONCE(s->stats.ended);

	if (!s->stats.running)
		return 0;
	return ktime_to_ns(ktime_sub(end ?: ktime_get(), s->stats.running));
}

static u64 setup_ns(const struct rdmamig_session *s)
{
	if (!s->stats.running)
		return 0;
	return ktime_to_ns(ktime_sub(s->stats.running, s->stats.created));
}

static int put_stats(struct sk_buff *skb, struct rdmamig_session *s)
{
	bool source = s->role == RDMAMIG_ROLE_SOURCE;
	const struct rdmamig_stats *st = &s->stats;
	const struct {
		int attr;
		u64 value;
		bool have;
	} values[] = {
#define STAT(name, value, have) { RDMAMIG_A_STATS_##name, value, have }
		STAT(RAM_BYTES, s->ram.bytes, true),
		STAT(DATA_BYTES, READ_ONCE(st->data_bytes), source),
		STAT(ZERO_BYTES, READ_ONCE(st->zero_bytes), true),
		STAT(REMAINING_BYTES, source ? rdmamig_source_remaining(s) : 0,
		     source),
		STAT(STREAM_BYTES, READ_ONCE(st->stream_bytes), true),
		STAT(PINNED_BYTES, READ_ONCE(st->pinned_bytes), true),
		STAT(PINNED_PEAK_BYTES, READ_ONCE(st->pinned_peak), true),
		STAT(PIN_LIMIT_BYTES, READ_ONCE(s->limit), READ_ONCE(s->limit)),
		STAT(LOCKED_BYTES, (u64)READ_ONCE(s->locked_pages) << PAGE_SHIFT,
		     true),
		STAT(REGISTERED, READ_ONCE(st->registered), true),
		STAT(REGISTRATIONS, READ_ONCE(st->registrations), true),
		STAT(UNREGISTRATIONS, READ_ONCE(st->unregistrations), true),
		STAT(REFAULTS, READ_ONCE(st->refaults), source),
		STAT(REUSES, READ_ONCE(st->reuses), source),
		STAT(EXCHANGES, READ_ONCE(st->exchanges), source),
		STAT(MESSAGES_SENT, READ_ONCE(st->messages_sent), true),
		STAT(MESSAGES_RECEIVED, READ_ONCE(st->messages_received), true),
		STAT(SLOT_WAITS, READ_ONCE(st->slot_waits), source),
		STAT(SLOT_WAIT_NS, READ_ONCE(st->slot_wait_ns), source),
		STAT(STALE_CHUNKS, READ_ONCE(st->stale_chunks), true),
		STAT(ROUNDS, READ_ONCE(st->rounds), source),
		STAT(WINDOWS, READ_ONCE(st->windows),
		     s->mode == RDMAMIG_MODE_WINDOWS),
		STAT(SETUP_NS, setup_ns(s), st->running),
		STAT(RUN_NS, run_ns(s), st->running),
		STAT(PROBES, READ_ONCE(st->probes), true),
#undef STAT
	};
	unsigned int i;

	if (nla_put_u32(skb, RDMAMIG_A_STATS_SESSION_ID, s->id))
		return -EMSGSIZE;
	for (i = 0; i < ARRAY_SIZE(values); i++)
		if (values[i].have &&
		    nla_put_u64_64bit(skb, values[i].attr, values[i].value,
				      RDMAMIG_A_STATS_PAD))
			return -EMSGSIZE;
	return 0;
}

typedef int (*put_fn)(struct sk_buff *skb, struct rdmamig_session *s);

/* A whole message about one session. */
static int put_message(struct sk_buff *skb, u32 portid, u32 seq, int flags,
		       u8 cmd, struct rdmamig_session *s, put_fn put)
{
	void *hdr = genlmsg_put(skb, portid, seq, &rdmamig_family, flags, cmd);
	int err;

	if (!hdr)
		return -EMSGSIZE;
	mutex_lock(&s->ram_lock);
	err = put(skb, s);
	mutex_unlock(&s->ram_lock);
	if (err)
		genlmsg_cancel(skb, hdr);
	else
		genlmsg_end(skb, hdr);
	return err;
}

static int reply_one(struct genl_info *info, int id_attr, u8 cmd, put_fn put)
{
	struct rdmamig_session *s = rdmamig_netlink_find(info->attrs, id_attr, info->extack);
	struct sk_buff *msg;
	int err;

	if (IS_ERR(s))
		return PTR_ERR(s);
	msg = genlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);
	err = msg ? put_message(msg, info->snd_portid, info->snd_seq, 0, cmd, s,
				put) : -ENOMEM;
	rdmamig_session_put(s);
	if (err) {
		nlmsg_free(msg);
		return err;
	}
	return genlmsg_reply(msg, info);
}

/* A dump over the sessions; the cursor is an id, so it survives changes. */
static int dump_sessions(struct sk_buff *skb, struct netlink_callback *cb,
			 u8 cmd, put_fn put)
{
	struct rdmamig_session *s;
	int err = 0;

	while (!err && (s = rdmamig_session_next(cb->args[0]))) {
		err = put_message(skb, NETLINK_CB(cb->skb).portid,
				  cb->nlh->nlmsg_seq, NLM_F_MULTI, cmd, s, put);
		if (!err)
			cb->args[0] = s->id + 1;
		rdmamig_session_put(s);
	}
	return err && !skb->len ? err : skb->len;
}

/**
 * rdmamig_netlink_session_get() - tell of one session
 * @skb: the request
 * @info: of the request
 *
 * Context: process context, from generic netlink.
 *
 * Return: 0 or a negative errno.
 */
int rdmamig_netlink_session_get(struct sk_buff *skb, struct genl_info *info)
{
	return reply_one(info, RDMAMIG_A_SESSION_ID, RDMAMIG_CMD_SESSION_GET,
			 put_session);
}

/**
 * rdmamig_netlink_session_dump() - tell of all sessions
 * @skb: gets the messages
 * @cb: of the dump; args[0] is where it goes on
 *
 * Context: process context, from generic netlink.
 *
 * Return: bytes put, 0 at the end, or a negative errno.
 */
int rdmamig_netlink_session_dump(struct sk_buff *skb,
				 struct netlink_callback *cb)
{
	return dump_sessions(skb, cb, RDMAMIG_CMD_SESSION_GET, put_session);
}

static int put_block(struct sk_buff *skb, struct netlink_callback *cb,
		     struct rdmamig_session *s, const struct rdmamig_block *b,
		     bool trusted)
{
	void *hdr = genlmsg_put(skb, NETLINK_CB(cb->skb).portid,
				cb->nlh->nlmsg_seq, &rdmamig_family,
				NLM_F_MULTI, RDMAMIG_CMD_BLOCK_GET);

	if (!hdr)
		return -EMSGSIZE;
	if (nla_put_u32(skb, RDMAMIG_A_BLOCK_SESSION_ID, s->id) ||
	    nla_put_u32(skb, RDMAMIG_A_BLOCK_INDEX, b->index) ||
	    nla_put_string(skb, RDMAMIG_A_BLOCK_NAME, b->name) ||
	    (trusted && nla_put_u64_64bit(skb, RDMAMIG_A_BLOCK_ADDRESS, b->addr,
					  RDMAMIG_A_BLOCK_PAD)) ||
	    nla_put_u64_64bit(skb, RDMAMIG_A_BLOCK_LENGTH, b->length,
			      RDMAMIG_A_BLOCK_PAD) ||
	    (s->role == RDMAMIG_ROLE_SOURCE &&
	     nla_put_u64_64bit(skb, RDMAMIG_A_BLOCK_DIRTY_BYTES,
			       rdmamig_dirty_bytes(&b->dirty),
			       RDMAMIG_A_BLOCK_PAD)) ||
	    nla_put_u64_64bit(skb, RDMAMIG_A_BLOCK_PINNED_BYTES,
			      READ_ONCE(b->pinned), RDMAMIG_A_BLOCK_PAD)) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, hdr);
	return 0;
}

/**
 * rdmamig_netlink_block_dump() - tell of the RAM blocks of a session
 * @skb: gets the messages
 * @cb: of the dump; args[0] is where it goes on
 *
 * Context: process context, from generic netlink.
 *
 * Return: bytes put, 0 at the end, or a negative errno.
 */
int rdmamig_netlink_block_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	bool trusted = netlink_capable(cb->skb, CAP_NET_ADMIN);
	struct rdmamig_session *s;
	int err = 0;

	s = rdmamig_netlink_find(rdmamig_compat_dump_attrs(cb),
				 RDMAMIG_A_BLOCK_SESSION_ID, cb->extack);
	if (IS_ERR(s))
		return PTR_ERR(s);
	mutex_lock(&s->ram_lock);
	for (; !err && cb->args[0] < s->ram.count; cb->args[0]++) {
		err = put_block(skb, cb, s, &s->ram.v[cb->args[0]], trusted);
		if (err)
			break;
	}
	mutex_unlock(&s->ram_lock);
	rdmamig_session_put(s);
	return err && !skb->len ? err : skb->len;
}

/**
 * rdmamig_netlink_stats_get() - tell the counters of one session
 * @skb: the request
 * @info: of the request
 *
 * Context: process context, from generic netlink.
 *
 * Return: 0 or a negative errno.
 */
int rdmamig_netlink_stats_get(struct sk_buff *skb, struct genl_info *info)
{
	return reply_one(info, RDMAMIG_A_STATS_SESSION_ID,
			 RDMAMIG_CMD_STATS_GET, put_stats);
}

/**
 * rdmamig_netlink_stats_dump() - tell the counters of all sessions
 * @skb: gets the messages
 * @cb: of the dump; args[0] is where it goes on
 *
 * Context: process context, from generic netlink.
 *
 * Return: bytes put, 0 at the end, or a negative errno.
 */
int rdmamig_netlink_stats_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump_sessions(skb, cb, RDMAMIG_CMD_STATS_GET, put_stats);
}

/**
 * rdmamig_netlink_device_dump() - tell of the RDMA devices
 * @skb: gets the messages
 * @cb: of the dump; args[0] is where it goes on
 *
 * Context: process context, from generic netlink.
 *
 * Return: bytes put, 0 at the end, or a negative errno.
 */
int rdmamig_netlink_device_dump(struct sk_buff *skb,
				struct netlink_callback *cb)
{
	struct rdmamig_device_info d;
	u32 index = cb->args[0];
	void *hdr;

	while (rdmamig_device_next(&index, &d)) {
		hdr = genlmsg_put(skb, NETLINK_CB(cb->skb).portid,
				  cb->nlh->nlmsg_seq, &rdmamig_family,
				  NLM_F_MULTI, RDMAMIG_CMD_DEVICE_GET);
		if (!hdr)
			break;
		if (nla_put_string(skb, RDMAMIG_A_DEVICE_NAME, d.name) ||
		    nla_put_u8(skb, RDMAMIG_A_DEVICE_USABLE, !d.unfit) ||
		    (d.unfit && nla_put_string(skb, RDMAMIG_A_DEVICE_REASON,
					       d.unfit)) ||
		    nla_put_u32(skb, RDMAMIG_A_DEVICE_MR_PAGES, d.mr_pages) ||
		    nla_put_u32(skb, RDMAMIG_A_DEVICE_MAX_MR, d.max_mr) ||
		    nla_put_u32(skb, RDMAMIG_A_DEVICE_MAX_QP_WR, d.max_qp_wr) ||
		    nla_put_u32(skb, RDMAMIG_A_DEVICE_MAX_SEND_SGE,
				d.max_send_sge) ||
		    nla_put_u32(skb, RDMAMIG_A_DEVICE_PORTS, d.ports) ||
		    nla_put_u32(skb, RDMAMIG_A_DEVICE_ACTIVE_PORTS,
				d.active_ports)) {
			genlmsg_cancel(skb, hdr);
			break;
		}
		genlmsg_end(skb, hdr);
		cb->args[0] = index;
	}
	return skb->len;
}

/**
 * rdmamig_netlink_window_dump() - tell where the windows of a stream were
 * @skb: gets the messages
 * @cb: of the dump; args[0] is where it goes on
 *
 * Context: process context, from generic netlink.
 *
 * Return: bytes put, 0 at the end, or a negative errno.
 */
int rdmamig_netlink_window_dump(struct sk_buff *skb,
				struct netlink_callback *cb)
{
	struct rdmamig_session *s;
	u64 offset;
	void *hdr;

	s = rdmamig_netlink_find(rdmamig_compat_dump_attrs(cb),
				 RDMAMIG_A_WINDOW_SESSION_ID, cb->extack);
	if (IS_ERR(s))
		return PTR_ERR(s);
	while (rdmamig_stream_get_window(s, cb->args[0], &offset)) {
		hdr = genlmsg_put(skb, NETLINK_CB(cb->skb).portid,
				  cb->nlh->nlmsg_seq, &rdmamig_family,
				  NLM_F_MULTI, RDMAMIG_CMD_WINDOW_GET);
		if (!hdr)
			break;
		if (nla_put_u32(skb, RDMAMIG_A_WINDOW_SESSION_ID, s->id) ||
		    nla_put_u32(skb, RDMAMIG_A_WINDOW_INDEX, cb->args[0]) ||
		    nla_put_u64_64bit(skb, RDMAMIG_A_WINDOW_OFFSET, offset,
				      RDMAMIG_A_WINDOW_PAD)) {
			genlmsg_cancel(skb, hdr);
			break;
		}
		genlmsg_end(skb, hdr);
		cb->args[0]++;
	}
	rdmamig_session_put(s);
	return skb->len;
}

static bool mute;	/* the family is going, and its group with it */

/**
 * rdmamig_netlink_mute() - tell of nothing any more
 *
 * The sessions that the module's exit ends have nobody to tell.
 *
 * Context: process context, before the family is unregistered.
 */
void rdmamig_netlink_mute(void)
{
	WRITE_ONCE(mute, true);
}

/**
 * rdmamig_netlink_notify() - tell the listeners of a change of state
 * @s: session
 *
 * Context: process context; sleeps for memory.
 */
void rdmamig_netlink_notify(struct rdmamig_session *s)
{
	struct sk_buff *msg;

	if (READ_ONCE(mute) ||
	    !genl_has_listeners(&rdmamig_family, &init_net, 0))
		return;
	msg = genlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);
	if (!msg)
		return;
	if (put_message(msg, 0, 0, 0, RDMAMIG_CMD_SESSION_NTF, s,
			put_session)) {
		nlmsg_free(msg);
		return;
	}
	genlmsg_multicast(&rdmamig_family, msg, 0, 0, GFP_KERNEL);
}
