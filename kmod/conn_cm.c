// SPDX-License-Identifier: GPL-2.0
/*
 * Connections as the RDMA connection manager sees them: how one is listened
 * for, made, accepted or refused, and what its event handler notes.
 */
#include <linux/in.h>
#include <linux/slab.h>
#include <net/ipv6.h>
#include <rdma/ib_cm.h>
#include <rdma/rdma_cm.h>

#include "conn.h"
#include "refuse.h"
#include "session.h"

#define RNR_FOREVER	7
#define BACKLOG		5	/* as stock */

/* Why the peer's CM, or its user, said no. */
static void rejected(struct rdmamig_conn *conn, struct rdma_cm_event *event)
{
	char text[RDMAMIG_WIRE_TEXT_MAX + 1];

	if (event->status == IB_CM_REJ_INVALID_SERVICE_ID) {
		rdmamig_conn_break(conn, -ECONNREFUSED,
				   "nobody listens at %pISpc",
				   &conn->s->remote);
		return;
	}
	if (event->status == IB_CM_REJ_CONSUMER_DEFINED &&
	    event->param.conn.private_data &&
	    rdmamig_codec_reject(event->param.conn.private_data,
				 event->param.conn.private_data_len, text,
				 sizeof(text))) {
		rdmamig_conn_break(conn, -ECONNREFUSED, "peer refused: %s",
				   text);
		return;
	}
	rdmamig_conn_break(conn, -ECONNREFUSED, "peer rejected: %s",
			   rdma_reject_msg(conn->id, event->status));
}

static void established(struct rdmamig_conn *conn, struct rdma_cm_event *event)
{
	const char *why;

	/* A target knows the request's private data already. */
	if (conn->s->role == RDMAMIG_ROLE_SOURCE) {
		why = rdmamig_codec_private(event->param.conn.private_data,
					    event->param.conn.private_data_len,
					    &conn->priv);
		if (why) {
			rdmamig_conn_break(conn, -EPROTO, "protocol: %s", why);
			return;
		}
	}
	conn->alive = jiffies;
	conn->checked = jiffies;
	set_bit(RDMAMIG_SEEN_ESTABLISHED, &conn->seen);
}

static void reject_id(struct rdma_cm_id *id, const char *why)
{
	u8 data[sizeof(struct rdmamig_wire_reject) + RDMAMIG_WIRE_TEXT_MAX];

	rdma_reject(id, data, rdmamig_codec_put_reject(data, why),
		    IB_CM_REJ_CONSUMER_DEFINED);
}

static bool prefix_matches(const struct sockaddr_storage *a,
			   const struct sockaddr_storage *b, u8 bits)
{
	const u8 *x, *y;

	if (a->ss_family != b->ss_family)
		return false;
	if (a->ss_family == AF_INET) {
		x = (const u8 *)&((const struct sockaddr_in *)a)->sin_addr;
		y = (const u8 *)&((const struct sockaddr_in *)b)->sin_addr;
	} else {
		x = (const u8 *)&((const struct sockaddr_in6 *)a)->sin6_addr;
		y = (const u8 *)&((const struct sockaddr_in6 *)b)->sin6_addr;
	}
	if (memcmp(x, y, bits / 8))
		return false;
	return !(bits % 8) || !((x[bits / 8] ^ y[bits / 8]) >> (8 - bits % 8));
}

/* Why a listener does not even look at a request; NULL when it does. */
static const char *unwelcome(struct rdmamig_session *s, struct rdma_cm_id *id,
			     struct rdmamig_codec_private *priv,
			     struct rdma_cm_event *event)
{
	const char *why;

	if (!s->from_any &&
	    !prefix_matches(&id->route.addr.dst_addr, &s->from, s->from_prefix))
		return "address not in from";
	why = rdmamig_codec_private(event->param.conn.private_data,
				    event->param.conn.private_data_len, priv);
	if (why)
		return why;
	if (priv->version != RDMAMIG_WIRE_VERSION)
		return "protocol version is not 1";
	return NULL;
}

/*
 * A request arrived at a listener.  It becomes a connection that waits for the
 * session's thread, or is rejected at once; a non-zero return lets the CM
 * destroy the new id.
 */
static int request(struct rdmamig_conn *listener, struct rdma_cm_id *id,
		   struct rdma_cm_event *event)
{
	struct rdmamig_session *s = listener->s;
	struct rdmamig_codec_private priv;
	struct rdmamig_conn *conn;
	const char *why;

	why = unwelcome(s, id, &priv, event);
	if (why)
		goto reject;

	why = "no memory";
	conn = rdmamig_conn_new(s);
	if (!conn)
		goto reject;
	conn->id = id;
	conn->priv = priv;
	id->context = conn;
	why = "this listener is taken";
	if (cmpxchg(&s->pending, NULL, conn)) {
		id->context = listener;
		kfree(conn);
		goto reject;
	}
	rdmamig_session_kick(s);
	return 0;

reject:
	reject_id(id, why);
	return -ECONNREFUSED;
}

static int cm_event(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct rdmamig_conn *conn = id->context;

	switch (event->event) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		return request(conn, id, event);
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		set_bit(RDMAMIG_SEEN_ADDR, &conn->seen);
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		set_bit(RDMAMIG_SEEN_ROUTE, &conn->seen);
		break;
	case RDMA_CM_EVENT_ADDR_ERROR:
		if (event->status == -ENODEV)
			rdmamig_conn_break(conn, -ENODEV,
					   "no RDMA device leads to %pISc: see rdmamigctl devices",
					   &conn->s->remote);
		else
			rdmamig_conn_break(conn, event->status ?: -EHOSTUNREACH,
					   "%pISc cannot be reached (address resolution: %pe)",
					   &conn->s->remote,
					   ERR_PTR(event->status));
		break;
	case RDMA_CM_EVENT_ROUTE_ERROR:
		rdmamig_conn_break(conn, event->status ?: -EHOSTUNREACH,
				   "no route to %pISc", &conn->s->remote);
		break;
	case RDMA_CM_EVENT_UNREACHABLE:
	case RDMA_CM_EVENT_CONNECT_ERROR:
		rdmamig_conn_break(conn, -EHOSTUNREACH,
				   "connection to the peer could not be made: %s",
				   rdma_event_msg(event->event));
		break;
	case RDMA_CM_EVENT_REJECTED:
		rejected(conn, event);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		established(conn, event);
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		set_bit(RDMAMIG_SEEN_DISCONNECTED, &conn->seen);
		break;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		/* The CM waits for the id: the session has to end. */
		set_bit(RDMAMIG_DEVICE_GONE, &conn->s->asked);
		break;
	default:
		break;
	}
	rdmamig_session_kick(conn->s);
	return 0;
}

/* The RDMA CM takes a loopback address for any. */
static bool is_loopback(const struct sockaddr_storage *addr)
{
	if (addr->ss_family == AF_INET)
		return ipv4_is_loopback(((const struct sockaddr_in *)addr)->sin_addr.s_addr);
	return ipv6_addr_loopback(&((const struct sockaddr_in6 *)addr)->sin6_addr);
}

/**
 * rdmamig_conn_listen() - bind and listen
 * @s: a target session; its local address is used
 * @extack: says why not
 *
 * Context: process context; sleeps.
 *
 * Return: 0 or a negative errno: -EADDRINUSE, -ENODEV when no RDMA device has
 * the address, or what the CM says.
 */
int rdmamig_conn_listen(struct rdmamig_session *s,
			struct netlink_ext_ack *extack)
{
	struct rdmamig_conn *conn;
	struct rdma_cm_id *id;
	int err;

	if (is_loopback(&s->local))
		return rdmamig_refuse(extack, -EINVAL,
				      "%pISc: a loopback address would listen on every address: name the device's",
				      &s->local);
	conn = rdmamig_conn_new(s);
	if (!conn)
		return -ENOMEM;
	id = rdma_create_id(&init_net, cm_event, conn, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(id)) {
		kfree(conn);
		return PTR_ERR(id);
	}
	conn->id = id;

	if (s->local.ss_family == AF_INET6)
		rdma_set_afonly(id, 1);
	err = rdma_bind_addr(id, (struct sockaddr *)&s->local);
	if (!err)
		err = rdma_listen(id, BACKLOG);
	if (err) {
		rdma_destroy_id(id);
		kfree(conn);
		if (err == -EADDRINUSE)
			return rdmamig_refuse(extack, err,
					      "%pISpc: the port is in use",
					      &s->local);
		if (err == -EADDRNOTAVAIL)
			return rdmamig_refuse(extack, err,
					      "%pISpc: not available: does another listener have the port on all addresses?",
					      &s->local);
		if (err == -ENODEV)
			return rdmamig_refuse(extack, -ENODEV,
					      "no RDMA device has the address %pISc: see rdmamigctl devices",
					      &s->local);
		return rdmamig_refuse(extack, err, "%pISpc: cannot listen: %pe",
				      &s->local, ERR_PTR(err));
	}
	s->listener = conn;
	return 0;
}

static void put_private(struct rdmamig_conn *conn, u8 *data,
			struct rdma_conn_param *param, bool request)
{
	struct rdmamig_session *s = conn->s;
	struct rdmamig_codec_private priv = {
		.version	= RDMAMIG_WIRE_VERSION,
		.pin_all	= s->pin_all,
		.has_tail	= request || s->peer_tail,
		.tail = {
			.features	= s->features,
			.chunk_shift	= RDMAMIG_CHUNK_SHIFT,
			.batch_shift	= RDMAMIG_BATCH_SHIFT,
			.token		= s->token,
			.pin_limit	= s->limit,
		},
	};

	param->private_data = data;
	param->private_data_len = rdmamig_codec_put_private(data, &priv);
	param->retry_count = RDMAMIG_RETRY_COUNT;
	param->rnr_retry_count = RNR_FOREVER;
}

/* What is left until @end, ms; at least 1. */
static u32 left(unsigned long end)
{
	return time_before(jiffies, end) ?
	       max(jiffies_to_msecs(end - jiffies), 1u) : 1;
}

/**
 * rdmamig_conn_connect() - connect a source to its target
 * @s: source session; its remote address is used
 *
 * Context: the session's thread; sleeps, at most connect-timeout.
 *
 * Return: 0 when established, or the recorded negative errno.
 */
int rdmamig_conn_connect(struct rdmamig_session *s)
{
	u8 data[sizeof(struct rdmamig_wire_private)];
	u32 ms = s->tun.connect_timeout;
	struct rdma_conn_param param = {
		.initiator_depth = 2,
	};
	unsigned long end = jiffies + msecs_to_jiffies(ms);
	struct rdmamig_conn *conn;
	struct rdma_cm_id *id;
	int err;

	conn = rdmamig_conn_new(s);
	if (!conn)
		return rdmamig_session_fail(s, -ENOMEM, "no memory");
	id = rdma_create_id(&init_net, cm_event, conn, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(id)) {
		kfree(conn);
		return rdmamig_session_fail(s, PTR_ERR(id),
					    "cannot make an RDMA connection: %pe",
					    id);
	}
	conn->id = id;
	s->conn = conn;

	err = rdma_resolve_addr(id, NULL, (struct sockaddr *)&s->remote, ms);
	if (err)
		goto resolve;
	err = rdmamig_wait(s, test_bit(RDMAMIG_SEEN_ADDR, &conn->seen),
			   left(end));
	if (err)
		goto resolve;
	err = rdma_resolve_route(id, left(end));
	if (err)
		goto resolve;
	err = rdmamig_wait(s, test_bit(RDMAMIG_SEEN_ROUTE, &conn->seen),
			   left(end));
	if (err)
		goto resolve;

	err = rdmamig_conn_setup(conn);
	if (err)
		return err;
	put_private(conn, data, &param, true);
	err = rdma_connect(id, &param);
	if (err)
		goto resolve;
	return rdmamig_conn_wait_established(s, conn, left(end));

resolve:
	if (err == -ENODEV)
		return rdmamig_session_fail(s, err,
					    "no RDMA device leads to %pISc: see rdmamigctl devices",
					    &s->remote);
	return rdmamig_session_fail(s, err,
				    "%pISc cannot be reached within connect-timeout (%u ms): %pe",
				    &s->remote, ms,
				    ERR_PTR(err == -ETIME ? -ETIMEDOUT : err));
}

/**
 * rdmamig_conn_wait_established() - wait for the end of the CM's handshake
 * @s: session
 * @conn: its connection, connected or accepted
 * @ms: bound, milliseconds
 *
 * Context: the session's thread; sleeps, at most @ms.
 *
 * Return: 0, or the recorded negative errno.
 */
int rdmamig_conn_wait_established(struct rdmamig_session *s,
				  struct rdmamig_conn *conn, u32 ms)
{
	int err;

	err = rdmamig_wait(s, test_bit(RDMAMIG_SEEN_ESTABLISHED, &conn->seen),
			   ms);
	if (err == -ETIME)
		return rdmamig_session_fail(s, err,
					    "no answer from %pISpc within connect-timeout (%u ms)",
					    &s->remote,
					    s->tun.connect_timeout);
	return err;
}

/**
 * rdmamig_conn_accept() - accept a request
 * @s: target session; pin_all, features, limit and token are settled
 * @conn: what the listener got
 *
 * Context: the session's thread; sleeps.
 *
 * Return: 0, or the recorded negative errno.
 */
int rdmamig_conn_accept(struct rdmamig_session *s, struct rdmamig_conn *conn)
{
	u8 data[sizeof(struct rdmamig_wire_private)];
	struct rdma_conn_param param = {
		.responder_resources = 2,
	};
	int err;

	err = rdmamig_conn_setup(conn);
	if (err)
		return err;
	put_private(conn, data, &param, false);
	rdma_lock_handler(conn->id);
	err = rdma_accept(conn->id, &param);
	rdma_unlock_handler(conn->id);
	if (err)
		return rdmamig_session_fail(s, err,
					    "cannot accept the connection: %pe",
					    ERR_PTR(err));
	return 0;
}

/**
 * rdmamig_conn_reject() - refuse a request that was not accepted yet
 * @conn: what the listener got; freed
 * @why: for the peer's eyes
 *
 * Context: the session's thread; sleeps.
 */
void rdmamig_conn_reject(struct rdmamig_conn *conn, const char *why)
{
	reject_id(conn->id, why);
	rdmamig_conn_free(conn);
}
