// SPDX-License-Identifier: GPL-2.0
/*
 * Generic netlink: requests, dumps, events, and the kernel's own words when
 * it refuses (extended acks).
 *
 * A refused request is reported with the name of the attribute that the
 * kernel points at.  The pointer is an offset into the request, so the
 * request is kept until its answer is here, and the offset is walked back to
 * a name.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>

#include "knobs.h"
#include "names.h"
#include "conn.h"

#define DUMP_TRIES	8
#define BUFFER_BYTES	(4 << 20)

/* One exchange: what the callbacks share. */
struct exchange {
	struct conn *conn;
	struct nl_msg *request;
	struct records *reply;
	bool done;
	bool interrupted;
	int err;
};

/* libnl's own codes, where the failure never came from the kernel. */
static int from_nle(int nle)
{
	switch (nle < 0 ? -nle : nle) {
	case 0:
		return 0;
	case NLE_INTR:
		return -EINTR;
	case NLE_AGAIN:
		return -EAGAIN;
	case NLE_NOMEM:
		return -ENOMEM;
	case NLE_PERM:
	case NLE_NOACCESS:
		return -EPERM;
	case NLE_MSGSIZE:
		return -EMSGSIZE;
	default:
		return -EIO;
	}
}

/*
 * Ask for room for thousands of block names in one message, and for a burst
 * of events.  SO_*BUFFORCE needs CAP_NET_ADMIN; without it the default stays.
 */
static void set_buffers(struct nl_sock *sock)
{
	int bytes = BUFFER_BYTES;
	int fd = nl_socket_get_fd(sock);

	setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof(bytes));
	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes));
}

/**
 * conn_open() - connect to the module
 * @conn: the socket to set up
 *
 * Return: 0 or an exit code; it has been reported.
 */
int conn_open(struct conn *conn)
{
	int one = 1;
	int ret;

	memset(conn, 0, sizeof(*conn));
	conn->sock = nl_socket_alloc();
	if (!conn->sock)
		return fail_memory();
	ret = genl_connect(conn->sock);
	if (ret) {
		fail(EXIT_FAILED, "netlink", "%s", nl_geterror(ret));
		goto close;
	}
	setsockopt(nl_socket_get_fd(conn->sock), SOL_NETLINK, NETLINK_EXT_ACK,
		   &one, sizeof(one));
	set_buffers(conn->sock);
	nl_socket_enable_msg_peek(conn->sock);

	conn->family = genl_ctrl_resolve(conn->sock, RDMAMIG_FAMILY_NAME);
	if (conn->family < 0) {
		conn_close(conn);
		return fail(EXIT_NO_MODULE, "module",
			    "rdmamig is not loaded: modprobe rdmamig");
	}
	return 0;

close:
	conn_close(conn);
	return EXIT_FAILED;
}

/**
 * conn_open_events() - connect, and join the events of sessions
 * @conn: the socket to set up
 *
 * Return: 0 or an exit code; it has been reported.
 */
int conn_open_events(struct conn *conn)
{
	int group;
	int ret;

	ret = conn_open(conn);
	if (ret)
		return ret;
	group = genl_ctrl_resolve_grp(conn->sock, RDMAMIG_FAMILY_NAME,
				      RDMAMIG_MCGRP_SESSION);
	ret = group < 0 ? group : nl_socket_add_membership(conn->sock, group);
	if (ret < 0) {
		conn_close(conn);
		return fail(EXIT_FAILED, "events", "cannot be subscribed to: %s",
			    nl_geterror(ret));
	}
	nl_socket_disable_seq_check(conn->sock);
	nl_socket_set_nonblocking(conn->sock);
	return 0;
}

/**
 * conn_close() - close a socket
 * @conn: it
 */
void conn_close(struct conn *conn)
{
	nl_socket_free(conn->sock);
	conn->sock = NULL;
}

/**
 * conn_drain() - take the events that wait on a socket
 * @conn: a socket of conn_open_events()
 *
 * Events only wake: what happened is asked for.  So lost ones do no harm.
 *
 * Return: 0 or a negative errno.
 */
int conn_drain(struct conn *conn)
{
	char buffer[8192];
	ssize_t n;

	do {
		n = recv(nl_socket_get_fd(conn->sock), buffer, sizeof(buffer),
			 MSG_DONTWAIT | MSG_TRUNC);
	} while (n > 0 || (n < 0 && (errno == EINTR || errno == ENOBUFS)));
	return n < 0 && errno != EAGAIN ? -errno : 0;
}

/**
 * conn_request() - begin a request
 * @conn: the socket
 * @cmd: RDMAMIG_CMD_*
 * @room: bytes of attributes, 0 for a page
 *
 * Return: the message, or NULL (reported).
 */
struct nl_msg *conn_request(struct conn *conn, int cmd, size_t room)
{
	struct nl_msg *msg;

	msg = nlmsg_alloc_size(room + 4096);
	if (!msg || !genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, conn->family, 0,
				 0, (uint8_t)cmd, RDMAMIG_FAMILY_VERSION)) {
		nlmsg_free(msg);
		fail_memory();
		return NULL;
	}
	return msg;
}

static int record_add(struct records *records, struct nlmsghdr *nlh)
{
	struct genlmsghdr *genl = nlmsg_data(nlh);
	int len = genlmsg_attrlen(genl, 0);
	struct record *v;

	v = realloc(records->v, (records->n + 1) * sizeof(*v));
	if (!v)
		return -ENOMEM;
	records->v = v;
	v[records->n].attrs = malloc(len ? len : 1);
	if (!v[records->n].attrs)
		return -ENOMEM;
	memcpy(v[records->n].attrs, genlmsg_attrdata(genl, 0), len);
	v[records->n++].len = len;
	return 0;
}

/**
 * records_free() - let go of records
 * @records: them
 */
void records_free(struct records *records)
{
	size_t i;

	for (i = 0; i < records->n; i++)
		free(records->v[i].attrs);
	free(records->v);
	records->v = NULL;
	records->n = 0;
}

/**
 * record_parse() - find the attributes of a record
 * @record: it
 * @max: greatest attribute
 * @tb: max + 1 pointers
 */
void record_parse(const struct record *record, int max, struct nlattr **tb)
{
	nla_parse(tb, max, record->attrs, record->len, NULL);
}

/**
 * attr_u64() - read an unsigned attribute of any width
 * @attr: it, or NULL
 * @value: where to put it
 *
 * Return: false if it is not there.
 */
bool attr_u64(struct nlattr *attr, uint64_t *value)
{
	if (!attr)
		return false;
	switch (nla_len(attr)) {
	case 1:
		*value = nla_get_u8(attr);
		return true;
	case 2:
		*value = nla_get_u16(attr);
		return true;
	case 4:
		*value = nla_get_u32(attr);
		return true;
	case 8:
		*value = nla_get_u64(attr);
		return true;
	default:
		return false;
	}
}

/* The name of the attribute at an offset of the request. */
static void name_attr(struct exchange *x, uint32_t offset)
{
	struct nlmsghdr *nlh = nlmsg_hdr(x->request);
	struct nlattr *attrs = genlmsg_attrdata(nlmsg_data(nlh), 0);
	int len = genlmsg_attrlen(nlmsg_data(nlh), 0);
	const char *at = (const char *)nlh + offset;
	struct nlattr *attr;
	int cmd = ((struct genlmsghdr *)nlmsg_data(nlh))->cmd;
	int left;

	nla_for_each_attr(attr, attrs, len, left) {
		const char *from = (const char *)attr;
		struct nlattr *in;
		int in_left;

		if (at < from || at >= from + NLA_ALIGN(attr->nla_len))
			continue;
		snprintf(x->conn->attr, sizeof(x->conn->attr), "%s",
			 attr_name(cmd, nla_type(attr), false));
		if (nla_type(attr) != RDMAMIG_A_SESSION_BLOCK || !attr_is_session(cmd))
			return;
		nla_for_each_nested(in, attr, in_left)
			if (at >= (const char *)in &&
			    at < (const char *)in + NLA_ALIGN(in->nla_len) &&
			    at != from)
				snprintf(x->conn->attr, sizeof(x->conn->attr), "block %s",
					 attr_name(cmd, nla_type(in), true));
		return;
	}
}

static void read_ext_ack(struct exchange *x, struct nlattr *attrs, int len)
{
	struct nlattr *tb[NLMSGERR_ATTR_MAX + 1];

	if (len <= 0 || nla_parse(tb, NLMSGERR_ATTR_MAX, attrs, len, NULL))
		return;
	if (tb[NLMSGERR_ATTR_MSG])
		snprintf(x->conn->text, sizeof(x->conn->text), "%.*s",
			 nla_len(tb[NLMSGERR_ATTR_MSG]),
			 (const char *)nla_data(tb[NLMSGERR_ATTR_MSG]));
	if (tb[NLMSGERR_ATTR_OFFS])
		name_attr(x, nla_get_u32(tb[NLMSGERR_ATTR_OFFS]));
	else if (tb[NLMSGERR_ATTR_MISS_TYPE])
		snprintf(x->conn->attr, sizeof(x->conn->attr), "%s",
			 attr_name(((struct genlmsghdr *)
				    nlmsg_data(nlmsg_hdr(x->request)))->cmd,
				   nla_get_u32(tb[NLMSGERR_ATTR_MISS_TYPE]),
				   tb[NLMSGERR_ATTR_MISS_NEST]));
}

static int on_error(struct sockaddr_nl *from, struct nlmsgerr *err, void *arg)
{
	struct nlmsghdr *nlh = (struct nlmsghdr *)((char *)err - NLMSG_HDRLEN);
	struct exchange *x = arg;
	int skip = sizeof(*err);

	(void)from;
	x->err = err->error;
	x->done = true;
	if (nlh->nlmsg_flags & NLM_F_ACK_TLVS) {
		if (!(nlh->nlmsg_flags & NLM_F_CAPPED))
			skip += (int)err->msg.nlmsg_len - NLMSG_HDRLEN;
		skip = NLMSG_ALIGN(skip);
		read_ext_ack(x, (struct nlattr *)((char *)err + skip),
			     (int)nlh->nlmsg_len - NLMSG_HDRLEN - skip);
	}
	return NL_STOP;
}

static int on_ack(struct nl_msg *msg, void *arg)
{
	struct exchange *x = arg;

	(void)msg;
	x->done = true;
	return NL_STOP;
}

/* The end of a dump carries a status, and words where it failed. */
static int on_finish(struct nl_msg *msg, void *arg)
{
	struct nlmsghdr *nlh = nlmsg_hdr(msg);
	struct exchange *x = arg;
	int len = nlmsg_datalen(nlh);

	x->done = true;
	if (len >= (int)sizeof(int)) {
		int err = *(int *)nlmsg_data(nlh);

		if (err < 0)
			x->err = err;
		if (nlh->nlmsg_flags & NLM_F_ACK_TLVS)
			read_ext_ack(x, (struct nlattr *)((char *)nlmsg_data(nlh) +
							  NLMSG_ALIGN(sizeof(int))),
				     len - (int)NLMSG_ALIGN(sizeof(int)));
	}
	return NL_STOP;
}

static int on_valid(struct nl_msg *msg, void *arg)
{
	struct exchange *x = arg;
	int err;

	if (nlmsg_hdr(msg)->nlmsg_flags & NLM_F_DUMP_INTR)
		x->interrupted = true;
	if (x->reply) {
		err = record_add(x->reply, nlmsg_hdr(msg));
		if (err)
			x->err = err;
	}
	return NL_OK;
}

static int on_interrupted(struct nl_msg *msg, void *arg)
{
	struct exchange *x = arg;

	(void)msg;
	x->interrupted = true;
	return NL_OK;
}

/* Send, and take everything that belongs to the answer. */
static int exchange(struct exchange *x, int flags)
{
	struct conn *conn = x->conn;
	struct nl_cb *cb;
	int ret;

	conn->text[0] = '\0';
	conn->attr[0] = '\0';
	nlmsg_hdr(x->request)->nlmsg_flags |= flags;
	/* a repeated dump is a new request */
	nlmsg_hdr(x->request)->nlmsg_seq = NL_AUTO_SEQ;

	cb = nl_cb_alloc(NL_CB_DEFAULT);
	if (!cb)
		return -ENOMEM;
	nl_cb_err(cb, NL_CB_CUSTOM, on_error, x);
	nl_cb_set(cb, NL_CB_ACK, NL_CB_CUSTOM, on_ack, x);
	nl_cb_set(cb, NL_CB_FINISH, NL_CB_CUSTOM, on_finish, x);
	nl_cb_set(cb, NL_CB_VALID, NL_CB_CUSTOM, on_valid, x);
	nl_cb_set(cb, NL_CB_DUMP_INTR, NL_CB_CUSTOM, on_interrupted, x);

	do {
		ret = nl_send_auto(conn->sock, x->request);
	} while (ret == -NLE_INTR);
	if (ret < 0) {
		nl_cb_put(cb);
		return from_nle(ret);
	}
	while (!x->done) {
		ret = nl_recvmsgs(conn->sock, cb);
		if (ret < 0 && ret != -NLE_INTR && !x->done) {
			nl_cb_put(cb);
			return from_nle(ret);
		}
	}
	nl_cb_put(cb);
	return x->err;
}

/**
 * conn_do() - send a request and wait for its answer
 * @conn: the socket
 * @msg: the request; consumed
 * @reply: where answers go, or NULL
 *
 * Return: 0 or a negative errno; the kernel's words are in @conn.
 */
int conn_do(struct conn *conn, struct nl_msg *msg, struct records *reply)
{
	struct exchange x = { .conn = conn, .request = msg, .reply = reply };
	int ret;

	ret = exchange(&x, 0);
	nlmsg_free(msg);
	return ret;
}

/**
 * conn_dump() - ask for all objects
 * @conn: the socket
 * @msg: the request; consumed
 * @reply: where they go
 *
 * A dump that changed under the kernel's hands is asked for again.
 *
 * Return: 0 or a negative errno; the kernel's words are in @conn.
 */
int conn_dump(struct conn *conn, struct nl_msg *msg, struct records *reply)
{
	int tries;
	int ret;

	for (tries = 0; ; tries++) {
		struct exchange x = { .conn = conn, .request = msg, .reply = reply };

		records_free(reply);
		ret = exchange(&x, NLM_F_DUMP);
		if (ret || !x.interrupted || tries == DUMP_TRIES)
			break;
	}
	nlmsg_free(msg);
	return ret;
}

/**
 * conn_simple() - send a command that needs only the number of a session
 * @conn: the socket
 * @cmd: RDMAMIG_CMD_SESSION_*
 * @id: the session
 *
 * Return: 0 or a negative errno.
 */
int conn_simple(struct conn *conn, int cmd, uint32_t id)
{
	struct nl_msg *msg = conn_request(conn, cmd, 0);

	if (!msg)
		return -ENOMEM;
	nla_put_u32(msg, RDMAMIG_A_SESSION_ID, id);
	return conn_do(conn, msg, NULL);
}

/**
 * conn_cancel() - cancel a session
 * @conn: the socket
 * @id: the session
 * @why: for its record and its peer, cut to what fits; or NULL
 *
 * Return: 0 or a negative errno.
 */
int conn_cancel(struct conn *conn, uint32_t id, const char *why)
{
	struct nl_msg *msg = conn_request(conn, RDMAMIG_CMD_SESSION_CANCEL, 0);
	char text[RDMAMIG_ERROR_TEXT_MAX + 1];

	if (!msg)
		return -ENOMEM;
	nla_put_u32(msg, RDMAMIG_A_SESSION_ID, id);
	if (why && *why) {
		snprintf(text, sizeof(text), "%s", why);
		nla_put_string(msg, RDMAMIG_A_SESSION_ERROR_TEXT, text);
	}
	return conn_do(conn, msg, NULL);
}

/**
 * conn_get() - ask for one object by the number of its session
 * @conn: the socket
 * @cmd: RDMAMIG_CMD_*_GET
 * @id_attr: the attribute that holds the number
 * @id: the session
 * @reply: where the answer goes
 *
 * Return: 0 or a negative errno.
 */
int conn_get(struct conn *conn, int cmd, int id_attr, uint32_t id,
	     struct records *reply)
{
	struct nl_msg *msg = conn_request(conn, cmd, 0);

	if (!msg)
		return -ENOMEM;
	nla_put_u32(msg, id_attr, id);
	if (cmd == RDMAMIG_CMD_BLOCK_GET || cmd == RDMAMIG_CMD_WINDOW_GET)
		return conn_dump(conn, msg, reply);
	return conn_do(conn, msg, reply);
}

static int exit_code(int err)
{
	return err == -EPERM || err == -EACCES ? EXIT_PERM : EXIT_FAILED;
}

/**
 * conn_fail() - say that the kernel refused
 * @conn: the socket
 * @err: negative errno
 * @what: the thing that was asked for; the attribute that the kernel points
 *	at is named instead where there is one
 *
 * Return: an exit code.
 */
int conn_fail(struct conn *conn, int err, const char *what)
{
	const struct knob *knob = knob_find(conn->attr);

	if (conn->attr[0])
		what = conn->attr;
	/* the words of a policy do not say what would be right */
	if (knob && knob->max && !strcmp(conn->text, "integer out of range"))
		return fail(exit_code(err), what, "%" PRIu64 " to %" PRIu64 " %s are allowed",
			    knob->min, knob->max, knob->unit);
	/* words that begin with the same thing need no more */
	if (what && !strncmp(conn->text, what, strlen(what)))
		what = NULL;
	if (conn->text[0])
		return fail(exit_code(err), what, "%s", conn->text);
	if (err == -EPERM)
		return fail(EXIT_PERM, what,
			    "not permitted: CAP_NET_ADMIN is needed, and CAP_SYS_PTRACE for another process");
	return fail(exit_code(err), what, "%s", strerror(-err));
}

/**
 * conn_fail_id() - the same, for a command about one session
 * @conn: the socket
 * @err: negative errno
 * @id: the session
 *
 * Return: an exit code.
 */
int conn_fail_id(struct conn *conn, int err, uint32_t id)
{
	char what[32];

	snprintf(what, sizeof(what), "session %u", id);
	if (err == -ENOENT)
		return fail(EXIT_NO_SESSION, what,
			    "no such session: 'rdmamigctl list' shows them");
	return conn_fail(conn, err, what);
}
