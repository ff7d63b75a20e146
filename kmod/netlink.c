// SPDX-License-Identifier: GPL-2.0
/*
 * The generic netlink family: one of the front doors.  The policies say what
 * Documentation/netlink/specs/rdmamig.yaml says; every refusal has an extended
 * ack, with the offending attribute where there is one.
 */
#include <linux/capability.h>
#include <linux/file.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/module.h>
#include <linux/sched/mm.h>
#include <linux/sched/task.h>
#include <net/genetlink.h>
#include <uapi/linux/rdmamig.h>

#include "compat/mem_fd.h"
#include "netlink.h"
#include "refuse.h"
#include "session.h"

static const struct genl_multicast_group groups[] = {
	{ .name = RDMAMIG_MCGRP_SESSION },
};

/* ---- policies ---- */

static struct netlink_range_validation range_rate = {
	.max = S64_MAX,
};

static struct netlink_range_validation range_bytes = {
	.min = 1,
	.max = S64_MAX,
};

static const struct nla_policy block_policy[RDMAMIG_A_BLOCK_MAX + 1] = {
	[RDMAMIG_A_BLOCK_NAME]		= { .type = NLA_NUL_STRING,
					    .len = RDMAMIG_BLOCK_NAME_MAX },
	[RDMAMIG_A_BLOCK_ADDRESS]	= { .type = NLA_U64 },
	[RDMAMIG_A_BLOCK_LENGTH]	= NLA_POLICY_FULL_RANGE(NLA_U64,
								&range_bytes),
};

/* The tunables, for commands that take them. */
#define TUNABLES							\
	[RDMAMIG_A_SESSION_PIN_LIMIT]	= NLA_POLICY_FULL_RANGE(NLA_U64,\
							&range_bytes),	\
	[RDMAMIG_A_SESSION_PIN_ALL]	= NLA_POLICY_MAX(NLA_U8, 1),	\
	[RDMAMIG_A_SESSION_MAX_MEMORY]	= NLA_POLICY_FULL_RANGE(NLA_U64,\
							&range_bytes),	\
	[RDMAMIG_A_SESSION_RATE_LIMIT]	= NLA_POLICY_FULL_RANGE(NLA_U64,\
							&range_rate),	\
	[RDMAMIG_A_SESSION_UNREG]	= NLA_POLICY_MAX(NLA_U32,	\
						RDMAMIG_UNREG_OFF),	\
	[RDMAMIG_A_SESSION_PEER_CHUNK]	= NLA_POLICY_MAX(NLA_U32,	\
						RDMAMIG_PEER_CHUNK_UNKNOWN), \
	[RDMAMIG_A_SESSION_PEER_TIMEOUT] = { .type = NLA_U32 },		\
	[RDMAMIG_A_SESSION_CONNECT_TIMEOUT] = { .type = NLA_U32 },	\
	[RDMAMIG_A_SESSION_MAX_DOWNTIME] = { .type = NLA_U32 },		\
	[RDMAMIG_A_SESSION_AUTO_FINISH]	= NLA_POLICY_MAX(NLA_U8, 1)

static const struct nla_policy new_policy[RDMAMIG_A_SESSION_MAX + 1] = {
	[RDMAMIG_A_SESSION_ROLE]	= NLA_POLICY_MAX(NLA_U32,
						RDMAMIG_ROLE_TARGET),
	[RDMAMIG_A_SESSION_MODE]	= NLA_POLICY_MAX(NLA_U32,
						RDMAMIG_MODE_WINDOWS),
	[RDMAMIG_A_SESSION_LOCAL_ADDR]	= NLA_POLICY_MIN_LEN(sizeof(struct sockaddr_in)),
	[RDMAMIG_A_SESSION_REMOTE_ADDR]	= NLA_POLICY_MIN_LEN(sizeof(struct sockaddr_in)),
	[RDMAMIG_A_SESSION_FROM_ADDR]	= NLA_POLICY_MIN_LEN(sizeof(struct sockaddr_in)),
	[RDMAMIG_A_SESSION_FROM_PREFIX]	= NLA_POLICY_MAX(NLA_U8, 128),
	[RDMAMIG_A_SESSION_MEM_FD]	= { .type = NLA_U32 },
	[RDMAMIG_A_SESSION_BLOCK]	= NLA_POLICY_NESTED(block_policy),
	[RDMAMIG_A_SESSION_CONFIRM]	= { .type = NLA_FLAG },
	TUNABLES,
};

static const struct nla_policy set_policy[RDMAMIG_A_SESSION_MAX + 1] = {
	[RDMAMIG_A_SESSION_ID]		= { .type = NLA_U32 },
	TUNABLES,
};

static const struct nla_policy id_policy[RDMAMIG_A_SESSION_ID + 1] = {
	[RDMAMIG_A_SESSION_ID]		= { .type = NLA_U32 },
};

static const struct nla_policy cancel_policy[RDMAMIG_A_SESSION_MAX + 1] = {
	[RDMAMIG_A_SESSION_ID]		= { .type = NLA_U32 },
	[RDMAMIG_A_SESSION_ERROR_TEXT]	= { .type = NLA_NUL_STRING,
					    .len = RDMAMIG_ERROR_TEXT_MAX },
};

static const struct nla_policy bind_policy[RDMAMIG_A_SESSION_MAX + 1] = {
	[RDMAMIG_A_SESSION_ID]		= { .type = NLA_U32 },
	[RDMAMIG_A_SESSION_BLOCK]	= NLA_POLICY_NESTED(block_policy),
	[RDMAMIG_A_SESSION_PIN_LIMIT]	= NLA_POLICY_FULL_RANGE(NLA_U64,
							&range_bytes),
};

static const struct nla_policy window_add_policy[RDMAMIG_A_SESSION_MAX + 1] = {
	[RDMAMIG_A_SESSION_ID]		= { .type = NLA_U32 },
	[RDMAMIG_A_SESSION_WINDOW]	= NLA_POLICY_MAX(NLA_U32,
						RDMAMIG_WINDOW_RAM),
};

static const struct nla_policy block_get_policy[RDMAMIG_A_BLOCK_MAX + 1] = {
	[RDMAMIG_A_BLOCK_SESSION_ID]	= { .type = NLA_U32 },
};

static const struct nla_policy stats_get_policy[RDMAMIG_A_STATS_SESSION_ID + 1] = {
	[RDMAMIG_A_STATS_SESSION_ID]	= { .type = NLA_U32 },
};

static const struct nla_policy window_get_policy[RDMAMIG_A_WINDOW_SESSION_ID + 1] = {
	[RDMAMIG_A_WINDOW_SESSION_ID]	= { .type = NLA_U32 },
};

static const struct nla_policy dirty_policy[RDMAMIG_A_DIRTY_MAX + 1] = {
	[RDMAMIG_A_DIRTY_SESSION_ID]	= { .type = NLA_U32 },
	[RDMAMIG_A_DIRTY_BLOCK_INDEX]	= { .type = NLA_U32 },
	[RDMAMIG_A_DIRTY_FIRST_PAGE]	= { .type = NLA_U64 },
	[RDMAMIG_A_DIRTY_BITMAP]	= { .type = NLA_BINARY,
					    .len = RDMAMIG_DIRTY_BITMAP_MAX },
};

/* ---- what comes in ---- */

static int missing(struct genl_info *info, const char *what)
{
	return rdmamig_refuse(info->extack, -EINVAL, "%s is missing", what);
}

/**
 * rdmamig_netlink_find() - the session that a request names
 * @attrs: of the request
 * @attr: the one that holds the id
 * @extack: says why not
 *
 * Context: process context.
 *
 * Return: the session with a reference, or ERR_PTR: -EINVAL without an id,
 * -ENOENT.
 */
struct rdmamig_session *rdmamig_netlink_find(struct nlattr **attrs, int attr,
					     struct netlink_ext_ack *extack)
{
	struct rdmamig_session *s;

	if (!attrs || !attrs[attr]) {
		rdmamig_refuse(extack, -EINVAL, "the session's id is missing");
		return ERR_PTR(-EINVAL);
	}
	s = rdmamig_session_get(nla_get_u32(attrs[attr]));
	if (!s) {
		NL_SET_BAD_ATTR(extack, attrs[attr]);
		rdmamig_refuse(extack, -ENOENT, "no session %u",
			       nla_get_u32(attrs[attr]));
		return ERR_PTR(-ENOENT);
	}
	return s;
}

static int get_addr(struct genl_info *info, int attr, const char *what,
		    struct sockaddr_storage *addr)
{
	struct nlattr *nla = info->attrs[attr];
	const struct sockaddr *sa;
	u32 need;

	if (!nla)
		return 0;
	sa = nla_data(nla);
	need = sa->sa_family == AF_INET ? sizeof(struct sockaddr_in) :
	       sa->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6) : 0;
	if (!need || nla_len(nla) < need) {
		NL_SET_BAD_ATTR(info->extack, nla);
		return rdmamig_refuse(info->extack, -EAFNOSUPPORT,
				      "%s: neither an IPv4 nor an IPv6 address",
				      what);
	}
	memcpy(addr, sa, need);
	return 0;
}

static int get_u32_range(struct genl_info *info, int attr, const char *what,
			 u32 least, u32 most, u32 *value)
{
	struct nlattr *nla = info->attrs[attr];
	u32 v;

	if (!nla)
		return 0;
	v = nla_get_u32(nla);
	if (v < least || v > most) {
		NL_SET_BAD_ATTR(info->extack, nla);
		return rdmamig_refuse(info->extack, -ERANGE,
				      "%s: %u is not within %u to %u", what, v,
				      least, most);
	}
	*value = v;
	return 0;
}

static int get_tunables(struct genl_info *info, struct rdmamig_tunables *tun)
{
	struct nlattr **a = info->attrs;
	int err;

	err = get_u32_range(info, RDMAMIG_A_SESSION_PEER_TIMEOUT,
			    "peer-timeout (ms)", RDMAMIG_PEER_TIMEOUT_MIN,
			    RDMAMIG_PEER_TIMEOUT_MAX, &tun->peer_timeout);
	if (!err)
		err = get_u32_range(info, RDMAMIG_A_SESSION_CONNECT_TIMEOUT,
				    "connect-timeout (ms)",
				    RDMAMIG_CONNECT_TIMEOUT_MIN,
				    RDMAMIG_CONNECT_TIMEOUT_MAX,
				    &tun->connect_timeout);
	if (!err)
		err = get_u32_range(info, RDMAMIG_A_SESSION_MAX_DOWNTIME,
				    "max-downtime (ms)", 0,
				    RDMAMIG_MAX_DOWNTIME_MAX,
				    &tun->max_downtime);
	if (err)
		return err;
	if (a[RDMAMIG_A_SESSION_RATE_LIMIT]) {
		u64 rate = nla_get_u64(a[RDMAMIG_A_SESSION_RATE_LIMIT]);

		if (rate && rate < RDMAMIG_RATE_LIMIT_MIN) {
			NL_SET_BAD_ATTR(info->extack,
					a[RDMAMIG_A_SESSION_RATE_LIMIT]);
			return rdmamig_refuse(info->extack, -ERANGE,
					      "rate-limit: %llu bytes a second: it is 0 (none) or at least %u",
					      rate, RDMAMIG_RATE_LIMIT_MIN);
		}
		tun->rate_limit = rate;
	}
	if (a[RDMAMIG_A_SESSION_PIN_LIMIT])
		tun->pin_limit = nla_get_u64(a[RDMAMIG_A_SESSION_PIN_LIMIT]);
	if (a[RDMAMIG_A_SESSION_MAX_MEMORY])
		tun->max_memory = nla_get_u64(a[RDMAMIG_A_SESSION_MAX_MEMORY]);
	if (a[RDMAMIG_A_SESSION_PIN_ALL])
		tun->pin_all = nla_get_u8(a[RDMAMIG_A_SESSION_PIN_ALL]);
	if (a[RDMAMIG_A_SESSION_AUTO_FINISH])
		tun->auto_finish = nla_get_u8(a[RDMAMIG_A_SESSION_AUTO_FINISH]);
	if (a[RDMAMIG_A_SESSION_UNREG])
		tun->unreg = nla_get_u32(a[RDMAMIG_A_SESSION_UNREG]);
	if (a[RDMAMIG_A_SESSION_PEER_CHUNK])
		tun->peer_chunk = nla_get_u32(a[RDMAMIG_A_SESSION_PEER_CHUNK]);
	return 0;
}

static int get_block(struct genl_info *info, struct nlattr *nest,
		     struct rdmamig_block *b)
{
	struct nlattr *tb[RDMAMIG_A_BLOCK_MAX + 1];
	int err;

	err = nla_parse_nested(tb, RDMAMIG_A_BLOCK_MAX, nest, block_policy,
			       info->extack);
	if (err)
		return err;
	if (!tb[RDMAMIG_A_BLOCK_NAME] || !tb[RDMAMIG_A_BLOCK_ADDRESS] ||
	    !tb[RDMAMIG_A_BLOCK_LENGTH]) {
		NL_SET_BAD_ATTR(info->extack, nest);
		return rdmamig_refuse(info->extack, -EINVAL,
				      "block: name, address and length are needed");
	}
	b->name_len = nla_strscpy(b->name, tb[RDMAMIG_A_BLOCK_NAME],
				  sizeof(b->name));
	if (!b->name_len) {
		NL_SET_BAD_ATTR(info->extack, tb[RDMAMIG_A_BLOCK_NAME]);
		return rdmamig_refuse(info->extack, -EINVAL,
				      "block: its name is empty");
	}
	b->addr = nla_get_u64(tb[RDMAMIG_A_BLOCK_ADDRESS]);
	b->length = nla_get_u64(tb[RDMAMIG_A_BLOCK_LENGTH]);
	return 0;
}

/* The blocks of a command; an empty table when it names none. */
static int get_blocks(struct genl_info *info, struct rdmamig_ramblocks *ram)
{
	struct nlattr *nla;
	u32 count = 0;
	int rem, err;

	nlmsg_for_each_attr(nla, info->nlhdr, GENL_HDRLEN, rem)
		if (nla_type(nla) == RDMAMIG_A_SESSION_BLOCK)
			count++;
	if (!count)
		return 0;
	if (count > RDMAMIG_BLOCKS_MAX)
		return rdmamig_refuse(info->extack, -E2BIG,
				      "%u blocks: at most %u", count,
				      RDMAMIG_BLOCKS_MAX);
	err = rdmamig_ramblocks_alloc(ram, count);
	if (err)
		return err;
	count = 0;
	nlmsg_for_each_attr(nla, info->nlhdr, GENL_HDRLEN, rem) {
		if (nla_type(nla) != RDMAMIG_A_SESSION_BLOCK)
			continue;
		err = get_block(info, nla, &ram->v[count++]);
		if (err) {
			rdmamig_ramblocks_free(ram);
			return err;
		}
	}
	return 0;
}

/* Whose memory: the caller's, or what a mem-fd opens. */
static struct mm_struct *get_mm(struct sk_buff *skb, struct genl_info *info,
				enum rdmamig_role role)
{
	struct nlattr *nla = info->attrs[RDMAMIG_A_SESSION_MEM_FD];
	struct mm_struct *mm = current->mm;
	const char *why = NULL;

	if (!nla) {
		if (!mm) {
			rdmamig_refuse(info->extack, -EINVAL,
				       "the caller has no memory: mem-fd is missing");
			return ERR_PTR(-EINVAL);
		}
		mmgrab(mm);
		return mm;
	}

	NL_SET_BAD_ATTR(info->extack, nla);
	if (!netlink_capable(skb, CAP_SYS_PTRACE)) {
		rdmamig_refuse(info->extack, -EPERM,
			       "mem-fd: CAP_SYS_PTRACE is needed");
		return ERR_PTR(-EPERM);
	}
	mm = rdmamig_mem_fd_get(nla_get_u32(nla), role == RDMAMIG_ROLE_SOURCE ?
						  FMODE_READ : FMODE_WRITE);
	if (!IS_ERR(mm)) {
		NL_SET_BAD_ATTR(info->extack, NULL);
		return mm;
	}
	switch (PTR_ERR(mm)) {
	case -EBADF:
		why = "not an open descriptor";
		break;
	case -EACCES:
		why = role == RDMAMIG_ROLE_SOURCE ?
		      "not open for reading" : "not open for writing";
		break;
	case -ESRCH:
		why = "its process has exited";
		break;
	default:
		why = "not an open /proc/PID/mem";
		break;
	}
	rdmamig_refuse(info->extack, PTR_ERR(mm), "mem-fd: %s", why);
	return mm;
}

/* ---- commands ---- */

static int check_new(struct genl_info *info,
		     const struct rdmamig_session_spec *spec)
{
	bool target = spec->role == RDMAMIG_ROLE_TARGET;
	bool binds = target && spec->mode == RDMAMIG_MODE_WINDOWS;

	if (target && !spec->local.ss_family)
		return missing(info, "local-addr");
	if (!target && !spec->remote.ss_family)
		return missing(info, "remote-addr");
	if (!binds && !spec->ram.count)
		return rdmamig_refuse(info->extack, -EINVAL,
				      "a session without RAM blocks: name at least one");
	if (binds && spec->ram.count)
		return rdmamig_refuse(info->extack, -EINVAL,
				      "a target in windows mode gets its blocks by block-bind");
	if (spec->from.ss_family && !target)
		return rdmamig_refuse(info->extack, -EINVAL,
				      "from-addr is for a target");
	if (spec->from.ss_family &&
	    spec->from_prefix > (spec->from.ss_family == AF_INET ? 32 : 128))
		return rdmamig_refuse(info->extack, -ERANGE,
				      "from: a prefix of %u bits",
				      spec->from_prefix);
	if (spec->from.ss_family &&
	    spec->from.ss_family != spec->local.ss_family)
		return rdmamig_refuse(info->extack, -EINVAL,
				      "from: an address of another family than the listener's");
	return 0;
}

static int reply_new(struct genl_info *info, struct rdmamig_session *s)
{
	struct sk_buff *msg = genlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);
	void *hdr;

	if (!msg)
		return -ENOMEM;
	hdr = genlmsg_put_reply(msg, info, &rdmamig_family, 0,
				RDMAMIG_CMD_SESSION_NEW);
	if (!hdr || nla_put_u32(msg, RDMAMIG_A_SESSION_ID, s->id) ||
	    rdmamig_netlink_put_addr(msg, RDMAMIG_A_SESSION_LOCAL_ADDR, &s->local)) {
		nlmsg_free(msg);
		return -EMSGSIZE;
	}
	genlmsg_end(msg, hdr);
	return genlmsg_reply(msg, info);
}

static int session_new(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr **a = info->attrs;
	struct rdmamig_session_spec *spec;
	struct rdmamig_session *s;
	int err;

	if (!a[RDMAMIG_A_SESSION_ROLE])
		return missing(info, "role");
	spec = kzalloc(sizeof(*spec), GFP_KERNEL);
	if (!spec)
		return -ENOMEM;
	spec->role = nla_get_u32(a[RDMAMIG_A_SESSION_ROLE]);
	if (a[RDMAMIG_A_SESSION_MODE])
		spec->mode = nla_get_u32(a[RDMAMIG_A_SESSION_MODE]);
	spec->confirm = nla_get_flag(a[RDMAMIG_A_SESSION_CONFIRM]);
	spec->tun.peer_timeout = RDMAMIG_PEER_TIMEOUT_DEFAULT;
	spec->tun.connect_timeout = RDMAMIG_CONNECT_TIMEOUT_DEFAULT;
	spec->tun.max_downtime = RDMAMIG_MAX_DOWNTIME_DEFAULT;

	err = get_addr(info, RDMAMIG_A_SESSION_LOCAL_ADDR, "local-addr",
		       &spec->local);
	if (!err)
		err = get_addr(info, RDMAMIG_A_SESSION_REMOTE_ADDR,
			       "remote-addr", &spec->remote);
	if (!err)
		err = get_addr(info, RDMAMIG_A_SESSION_FROM_ADDR, "from-addr",
			       &spec->from);
	if (!err)
		err = get_tunables(info, &spec->tun);
	if (err)
		goto free;
	spec->from_prefix = spec->from.ss_family == AF_INET ? 32 : 128;
	if (a[RDMAMIG_A_SESSION_FROM_PREFIX])
		spec->from_prefix = nla_get_u8(a[RDMAMIG_A_SESSION_FROM_PREFIX]);

	spec->mm = get_mm(skb, info, spec->role);
	if (IS_ERR(spec->mm)) {
		err = PTR_ERR(spec->mm);
		goto free;
	}
	err = get_blocks(info, &spec->ram) ?: check_new(info, spec);
	if (err)
		goto drop;
	s = rdmamig_session_new(spec, info->extack);
	if (IS_ERR(s)) {
		err = PTR_ERR(s);
		goto drop;
	}
	err = reply_new(info, s);
	if (err)	/* nobody knows of it */
		rdmamig_session_cancel(s, NULL, NULL);
	rdmamig_session_put(s);
drop:
	rdmamig_ramblocks_free(&spec->ram);
	mmdrop(spec->mm);
free:
	kfree(spec);
	return err;
}

static int session_set(struct sk_buff *skb, struct genl_info *info)
{
	struct rdmamig_session *s = rdmamig_netlink_find(info->attrs,
							 RDMAMIG_A_SESSION_ID,
							 info->extack);
	struct rdmamig_tunables tun;
	int err;

	if (IS_ERR(s))
		return PTR_ERR(s);
	tun = s->tun;
	err = get_tunables(info, &tun) ?:
	      rdmamig_session_tune(s, &tun, info->extack);
	rdmamig_session_put(s);
	return err;
}

static int ask(struct genl_info *info, unsigned int bit)
{
	struct rdmamig_session *s = rdmamig_netlink_find(info->attrs,
							 RDMAMIG_A_SESSION_ID,
							 info->extack);
	int err;

	if (IS_ERR(s))
		return PTR_ERR(s);
	err = rdmamig_session_ask(s, bit, info->extack);
	rdmamig_session_put(s);
	return err;
}

static int session_finish(struct sk_buff *skb, struct genl_info *info)
{
	return ask(info, RDMAMIG_ASK_FINISH);
}

static int session_cancel(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *text = info->attrs[RDMAMIG_A_SESSION_ERROR_TEXT];
	struct rdmamig_session *s = rdmamig_netlink_find(info->attrs,
							 RDMAMIG_A_SESSION_ID,
							 info->extack);
	int err;

	if (IS_ERR(s))
		return PTR_ERR(s);
	err = rdmamig_session_cancel(s, text ? nla_data(text) : NULL,
				     info->extack);
	rdmamig_session_put(s);
	return err;
}

static int session_resume(struct sk_buff *skb, struct genl_info *info)
{
	return ask(info, RDMAMIG_ASK_RESUME);
}

static int session_seal(struct sk_buff *skb, struct genl_info *info)
{
	return ask(info, RDMAMIG_ASK_SEAL);
}

static int block_bind(struct sk_buff *skb, struct genl_info *info)
{
	struct rdmamig_session *s = rdmamig_netlink_find(info->attrs,
							 RDMAMIG_A_SESSION_ID,
							 info->extack);
	struct nlattr *limit = info->attrs[RDMAMIG_A_SESSION_PIN_LIMIT];
	struct rdmamig_ramblocks ram = {};
	int err;

	if (IS_ERR(s))
		return PTR_ERR(s);
	err = get_blocks(info, &ram);
	if (!err && !ram.count)
		err = missing(info, "block");
	if (!err)
		err = rdmamig_session_bind(s, current->mm, &ram,
					   limit ? nla_get_u64(limit) : 0,
					   info->extack);
	rdmamig_ramblocks_free(&ram);
	rdmamig_session_put(s);
	return err;
}

static int open_stream(struct sk_buff *skb, struct genl_info *info)
{
	struct rdmamig_session *s = rdmamig_netlink_find(info->attrs,
							 RDMAMIG_A_SESSION_ID,
							 info->extack);
	struct sk_buff *msg;
	struct file *file;
	int fd, err;
	void *hdr;

	if (IS_ERR(s))
		return PTR_ERR(s);
	file = rdmamig_stream_open(s, info->extack);
	rdmamig_session_put(s);
	if (IS_ERR(file))
		return PTR_ERR(file);
	fd = get_unused_fd_flags(O_CLOEXEC);
	err = fd;
	if (fd < 0)
		goto put_file;

	err = -ENOMEM;
	msg = genlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);
	if (!msg)
		goto put_fd;
	hdr = genlmsg_put_reply(msg, info, &rdmamig_family, 0,
				RDMAMIG_CMD_STREAM_OPEN);
	if (!hdr || nla_put_u32(msg, RDMAMIG_A_SESSION_STREAM_FD, fd)) {
		nlmsg_free(msg);
		goto put_fd;
	}
	genlmsg_end(msg, hdr);
	err = genlmsg_reply(msg, info);
	if (err)
		goto put_fd;
	fd_install(fd, file);
	return 0;

put_fd:
	put_unused_fd(fd);
put_file:
	fput(file);
	return err;
}

static int window_add(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *kind = info->attrs[RDMAMIG_A_SESSION_WINDOW];
	struct rdmamig_session *s;
	int err;

	if (!kind)
		return missing(info, "window");
	s = rdmamig_netlink_find(info->attrs, RDMAMIG_A_SESSION_ID, info->extack);
	if (IS_ERR(s))
		return PTR_ERR(s);
	if (s->role != RDMAMIG_ROLE_SOURCE || s->mode != RDMAMIG_MODE_WINDOWS)
		err = rdmamig_refuse(info->extack, -EINVAL,
				     "session %u is no source in windows mode",
				     s->id);
	else
		err = rdmamig_stream_mark(s, nla_get_u32(kind), info->extack);
	rdmamig_session_put(s);
	return err;
}

static int dirty_add(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr **a = info->attrs;
	struct rdmamig_session *s;
	struct nlattr *bitmap;
	u32 index;
	int err;

	if (!a[RDMAMIG_A_DIRTY_BLOCK_INDEX] || !a[RDMAMIG_A_DIRTY_FIRST_PAGE] ||
	    !a[RDMAMIG_A_DIRTY_BITMAP])
		return missing(info, "block-index, first-page or bitmap");
	s = rdmamig_netlink_find(a, RDMAMIG_A_DIRTY_SESSION_ID, info->extack);
	if (IS_ERR(s))
		return PTR_ERR(s);

	index = nla_get_u32(a[RDMAMIG_A_DIRTY_BLOCK_INDEX]);
	bitmap = a[RDMAMIG_A_DIRTY_BITMAP];
	if (s->role != RDMAMIG_ROLE_SOURCE ||
	    READ_ONCE(s->state) >= RDMAMIG_STATE_FINISHING ||
	    rdmamig_asked(s, RDMAMIG_ASK_FINISH))
		err = rdmamig_refuse(info->extack, -EINVAL,
				     "session %u is no source that still sends",
				     s->id);
	else if (index >= s->ram.count)
		err = rdmamig_refuse(info->extack, -EINVAL,
				     "session %u has no block %u", s->id, index);
	else if (nla_len(bitmap) % 8)
		err = rdmamig_refuse(info->extack, -EINVAL,
				     "bitmap: not whole 64-bit words");
	else
		err = rdmamig_dirty_merge(&s->ram.v[index].dirty,
					  nla_get_u64(a[RDMAMIG_A_DIRTY_FIRST_PAGE]),
					  nla_data(bitmap),
					  nla_len(bitmap) / 8);
	if (err == -ERANGE)
		rdmamig_refuse(info->extack, err,
			       "bitmap: a page that is not in the block, or first-page is no multiple of 64");
	if (!err)
		rdmamig_session_kick(s);
	rdmamig_session_put(s);
	return err;
}

/* ---- the family ---- */

#define OP(_cmd, _policy, _max, _do, _dump, _flags)			\
	{								\
		.cmd		= RDMAMIG_CMD_##_cmd,			\
		.policy		= _policy,				\
		.maxattr	= _max,					\
		.doit		= _do,					\
		.dumpit		= _dump,				\
		.flags		= _flags,				\
	}

static const struct genl_ops ops[] = {
	OP(SESSION_NEW, new_policy, RDMAMIG_A_SESSION_MAX, session_new, NULL,
	   GENL_ADMIN_PERM),
	OP(SESSION_GET, id_policy, RDMAMIG_A_SESSION_ID, rdmamig_netlink_session_get,
	   rdmamig_netlink_session_dump, 0),
	OP(SESSION_SET, set_policy, RDMAMIG_A_SESSION_MAX, session_set, NULL,
	   GENL_ADMIN_PERM),
	OP(SESSION_FINISH, id_policy, RDMAMIG_A_SESSION_ID, session_finish,
	   NULL, GENL_ADMIN_PERM),
	OP(SESSION_CANCEL, cancel_policy, RDMAMIG_A_SESSION_MAX, session_cancel,
	   NULL, GENL_ADMIN_PERM),
	OP(SESSION_RESUME, id_policy, RDMAMIG_A_SESSION_ID, session_resume,
	   NULL, GENL_ADMIN_PERM),
	OP(SESSION_SEAL, id_policy, RDMAMIG_A_SESSION_ID, session_seal, NULL,
	   GENL_ADMIN_PERM),
	OP(BLOCK_BIND, bind_policy, RDMAMIG_A_SESSION_MAX, block_bind, NULL,
	   GENL_ADMIN_PERM),
	OP(BLOCK_GET, block_get_policy, RDMAMIG_A_BLOCK_MAX, NULL, rdmamig_netlink_block_dump,
	   0),
	OP(STATS_GET, stats_get_policy, RDMAMIG_A_STATS_SESSION_ID, rdmamig_netlink_stats_get,
	   rdmamig_netlink_stats_dump, 0),
	OP(DEVICE_GET, NULL, 0, NULL, rdmamig_netlink_device_dump, 0),
	OP(STREAM_OPEN, id_policy, RDMAMIG_A_SESSION_ID, open_stream, NULL,
	   GENL_ADMIN_PERM),
	OP(WINDOW_ADD, window_add_policy, RDMAMIG_A_SESSION_MAX, window_add,
	   NULL, GENL_ADMIN_PERM),
	OP(WINDOW_GET, window_get_policy, RDMAMIG_A_WINDOW_SESSION_ID, NULL,
	   rdmamig_netlink_window_dump, 0),
	OP(DIRTY_ADD, dirty_policy, RDMAMIG_A_DIRTY_MAX, dirty_add, NULL,
	   GENL_ADMIN_PERM),
};

struct genl_family rdmamig_family = {
	.name		= RDMAMIG_FAMILY_NAME,
	.version	= RDMAMIG_FAMILY_VERSION,
	.module		= THIS_MODULE,
	.parallel_ops	= true,
	.ops		= ops,
	.n_ops		= ARRAY_SIZE(ops),
	.mcgrps		= groups,
	.n_mcgrps	= ARRAY_SIZE(groups),
};

/**
 * rdmamig_netlink_init() - open the door
 *
 * Context: process context.
 *
 * Return: 0 or a negative errno.
 */
int rdmamig_netlink_init(void)
{
	return genl_register_family(&rdmamig_family);
}

/**
 * rdmamig_netlink_exit() - close it; no command runs any more
 *
 * Context: process context.
 */
void rdmamig_netlink_exit(void)
{
	rdmamig_netlink_mute();
	genl_unregister_family(&rdmamig_family);
}
