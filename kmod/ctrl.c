// SPDX-License-Identifier: GPL-2.0
/*
 * The control channel: SENDs with a 16-byte header.
 *
 * Receives.  RDMAMIG_RX_BUFS buffers are posted before the peer can send.  A
 * completed one waits in order on the connection's list until the session's
 * thread takes it, and is posted again only when its payload has been used, so
 * that no peer can change what is being parsed.
 *
 * Turns.  A target sends one READY for one command: after the buffer is posted
 * again and after the answer.  A source sends a command only with a READY in
 * hand.  Only ERROR needs none.
 */
#include <linux/mm.h>

#include "conn.h"
#include "ctrl.h"
#include "session.h"
#include "trace.h"

#define SEND_WAIT_MS	60000	/* a SEND that the peer's QP does not take */
#define ERROR_WAIT_MS	200	/* for an ERROR to leave; best effort */

static void rx_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rdmamig_buf *buf = container_of(wc->wr_cqe, struct rdmamig_buf,
					       cqe);
	struct rdmamig_conn *conn = buf->conn;
	unsigned long flags;

	if (!rdmamig_conn_wc_ok(conn, wc, "receive"))
		return;
	ib_dma_sync_single_for_cpu(conn->id->device, buf->sge.addr, buf->size,
				   DMA_FROM_DEVICE);
	buf->bytes = wc->byte_len;
	spin_lock_irqsave(&conn->rx_lock, flags);
	list_add_tail(&buf->list, &conn->rx_list);
	spin_unlock_irqrestore(&conn->rx_lock, flags);
	rdmamig_session_kick(conn->s);
}

static void tx_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rdmamig_buf *buf = container_of(wc->wr_cqe, struct rdmamig_buf,
					       cqe);

	if (!rdmamig_conn_wc_ok(buf->conn, wc, "send"))
		return;
	atomic_add(buf->slots, &buf->conn->sq_free);
	WRITE_ONCE(buf->busy, false);
	rdmamig_session_kick(buf->conn->s);
}

static void ready_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rdmamig_buf *buf = container_of(wc->wr_cqe, struct rdmamig_buf,
					       cqe);

	if (!rdmamig_conn_wc_ok(buf->conn, wc, "send"))
		return;
	atomic_inc(&buf->conn->sq_free);
	rdmamig_session_kick(buf->conn->s);
}

/**
 * rdmamig_ctrl_init() - prepare the buffers of a connection
 * @conn: connection, its buffers allocated
 *
 * Context: the session's thread.
 */
void rdmamig_ctrl_init(struct rdmamig_conn *conn)
{
	u32 i;

	for (i = 0; i < RDMAMIG_RX_BUFS; i++)
		conn->rx[i].cqe.done = rx_done;
	for (i = 0; i < RDMAMIG_TX_BUFS; i++)
		conn->tx[i].cqe.done = tx_done;
	conn->ready.cqe.done = ready_done;
	conn->ready.sge.length =
		rdmamig_codec_put_header(conn->ready.va, RDMAMIG_MSG_READY, 1,
					 0);
	ib_dma_sync_single_for_device(conn->id->device, conn->ready.sge.addr,
				      conn->ready.size, DMA_TO_DEVICE);
}

/**
 * rdmamig_ctrl_post_rx() - post a receive
 * @buf: receive buffer that nobody uses
 *
 * Context: the session's thread.
 *
 * Return: 0 or a negative errno.
 */
int rdmamig_ctrl_post_rx(struct rdmamig_buf *buf)
{
	struct ib_recv_wr wr = {
		.wr_cqe		= &buf->cqe,
		.sg_list	= &buf->sge,
		.num_sge	= 1,
	};

	ib_dma_sync_single_for_device(buf->conn->id->device, buf->sge.addr,
				      buf->size, DMA_FROM_DEVICE);
	return ib_post_recv(buf->conn->id->qp, &wr, NULL);
}

/**
 * rdmamig_ctrl_pending() - has a message come
 * @conn: connection
 *
 * Context: the session's thread.
 *
 * Return: true when rdmamig_ctrl_next() has something to give.
 */
bool rdmamig_ctrl_pending(struct rdmamig_conn *conn)
{
	unsigned long flags;
	bool pending;

	spin_lock_irqsave(&conn->rx_lock, flags);
	pending = !list_empty(&conn->rx_list);
	spin_unlock_irqrestore(&conn->rx_lock, flags);
	return pending;
}

/**
 * rdmamig_ctrl_protocol() - end a session because its peer broke a rule
 * @s: session
 * @why: the rule
 *
 * Context: the session's thread.
 *
 * Return: the negative errno that was recorded.
 */
int rdmamig_ctrl_protocol(struct rdmamig_session *s, const char *why)
{
	return rdmamig_session_fail(s, -EPROTO, "protocol: %s", why);
}

/**
 * rdmamig_ctrl_unexpected() - a message that has no place here
 * @s: session
 * @msg: the message
 * @when: what the session was doing
 *
 * Context: the session's thread.
 *
 * Return: the negative errno that was recorded.
 */
int rdmamig_ctrl_unexpected(struct rdmamig_session *s,
			    const struct rdmamig_codec_msg *msg,
			    const char *when)
{
	return rdmamig_session_fail(s, -EPROTO, "protocol: unexpected %s while %s",
				    rdmamig_codec_type_name(msg->type), when);
}

/* The peer's own words, where it is an rdmamig. */
static int got_error(struct rdmamig_session *s,
		     const struct rdmamig_codec_msg *msg)
{
	char text[RDMAMIG_WIRE_TEXT_MAX + 1];

	s->peer_error = true;
	if (rdmamig_codec_text(msg->payload, msg->len, text, sizeof(text)))
		return rdmamig_session_fail(s, -EREMOTEIO, "peer: %s", text);
	return rdmamig_session_fail(s, -EREMOTEIO,
				    "the peer reported an error");
}

/**
 * rdmamig_ctrl_find_error() - has the peer said why it leaves
 * @s: session
 * @conn: broken connection; its messages stay where they are
 *
 * Context: the session's thread.
 *
 * Return: true when there is an ERROR; it is recorded.
 */
bool rdmamig_ctrl_find_error(struct rdmamig_session *s,
			     struct rdmamig_conn *conn)
{
	struct rdmamig_codec_msg msg;
	struct rdmamig_buf *buf;
	unsigned long flags;
	bool found = false;

	spin_lock_irqsave(&conn->rx_lock, flags);
	list_for_each_entry(buf, &conn->rx_list, list) {
		found = !rdmamig_codec_header(buf->va, buf->bytes, &msg) &&
			msg.type == RDMAMIG_MSG_ERROR;
		if (found)
			break;
	}
	spin_unlock_irqrestore(&conn->rx_lock, flags);
	if (found)
		got_error(s, &msg);
	return found;
}

/**
 * rdmamig_ctrl_next() - take the next message
 * @s: session
 * @conn: connection
 * @msg: its decoded header
 *
 * An ERROR is dealt with here: it ends the session with the peer's words.
 *
 * Context: the session's thread.
 *
 * Return: the buffer, to be given to rdmamig_ctrl_release(); NULL when there is
 * none; ERR_PTR of the recorded errno when the message is malformed or ERROR.
 */
struct rdmamig_buf *rdmamig_ctrl_next(struct rdmamig_session *s,
				      struct rdmamig_conn *conn,
				      struct rdmamig_codec_msg *msg)
{
	struct rdmamig_buf *buf;
	unsigned long flags;
	const char *why;
	int err;

	spin_lock_irqsave(&conn->rx_lock, flags);
	buf = list_first_entry_or_null(&conn->rx_list, struct rdmamig_buf,
				       list);
	if (buf)
		list_del(&buf->list);
	spin_unlock_irqrestore(&conn->rx_lock, flags);
	if (!buf)
		return NULL;

	s->stats.messages_received++;
	why = rdmamig_codec_header(buf->va, buf->bytes, msg);
	if (why) {
		err = rdmamig_ctrl_protocol(s, why);
		return ERR_PTR(err);
	}
	trace_rdmamig_ctrl_received(s, msg->type, msg->repeat, msg->len);
	if (msg->type == RDMAMIG_MSG_ERROR) {
		err = got_error(s, msg);
		return ERR_PTR(err);
	}
	return buf;
}

/**
 * rdmamig_ctrl_release() - a message has been used: post its buffer again
 * @s: session
 * @buf: from rdmamig_ctrl_next()
 *
 * Context: the session's thread.
 *
 * Return: 0, or the recorded negative errno.
 */
int rdmamig_ctrl_release(struct rdmamig_session *s, struct rdmamig_buf *buf)
{
	int err = rdmamig_ctrl_post_rx(buf);

	if (err)
		return rdmamig_session_fail(s, err, "cannot post a receive: %pe",
					    ERR_PTR(err));
	return 0;
}

static struct rdmamig_buf *idle_buf(struct rdmamig_conn *conn)
{
	u32 i;

	for (i = 0; i < RDMAMIG_TX_BUFS; i++)
		if (!READ_ONCE(conn->tx[i].busy))
			return &conn->tx[i];
	return NULL;
}

/**
 * rdmamig_ctrl_buf() - a buffer for a message
 * @s: session
 * @conn: connection
 *
 * Context: the session's thread; waits until one is free.
 *
 * Return: the buffer, or ERR_PTR of the recorded errno.
 */
struct rdmamig_buf *rdmamig_ctrl_buf(struct rdmamig_session *s,
				     struct rdmamig_conn *conn)
{
	struct rdmamig_buf *buf = NULL;
	int err;

	err = rdmamig_wait(s, (buf = idle_buf(conn)), SEND_WAIT_MS);
	if (err)
		return ERR_PTR(rdmamig_session_fail(s, err,
						    "the peer takes no message any more"));
	return buf;
}

/**
 * rdmamig_ctrl_send_behind() - send a message behind a chain, as one post
 * @s: session
 * @buf: from rdmamig_ctrl_buf(), its payload written
 * @type: message type
 * @repeat: as the type wants it
 * @len: bytes of payload
 * @first: chain of unsignalled work requests, or NULL
 * @last: its end
 * @slots: entries of the chain; the caller saw that they are free
 *
 * Context: the session's thread.
 *
 * Return: 0, or the recorded negative errno.
 */
int rdmamig_ctrl_send_behind(struct rdmamig_session *s, struct rdmamig_buf *buf,
			     u32 type, u32 repeat, u32 len,
			     struct ib_send_wr *first, struct ib_send_wr *last,
			     u32 slots)
{
	struct rdmamig_conn *conn = buf->conn;
	struct ib_send_wr wr = {
		.wr_cqe		= &buf->cqe,
		.sg_list	= &buf->sge,
		.num_sge	= 1,
		.opcode		= IB_WR_SEND,
		.send_flags	= IB_SEND_SIGNALED,
	};
	int err;

	buf->sge.length = rdmamig_codec_put_header(buf->va, type, repeat, len) +
			  len;
	buf->slots = slots + 1;
	WRITE_ONCE(buf->busy, true);
	ib_dma_sync_single_for_device(conn->id->device, buf->sge.addr,
				      buf->size, DMA_TO_DEVICE);
	if (first)
		last->next = &wr;
	else
		first = &wr;
	trace_rdmamig_ctrl_sent(s, type, repeat, len);
	s->stats.messages_sent++;
	err = rdmamig_conn_post(conn, first, slots + 1);
	if (err)
		return rdmamig_session_fail(s, err, "cannot send: %pe",
					    ERR_PTR(err));
	return 0;
}

/**
 * rdmamig_ctrl_send() - send a message
 * @s: session
 * @buf: from rdmamig_ctrl_buf(), its payload written
 * @type: message type
 * @repeat: as the type wants it
 * @len: bytes of payload
 *
 * Context: the session's thread.
 *
 * Return: 0, or the recorded negative errno.
 */
int rdmamig_ctrl_send(struct rdmamig_session *s, struct rdmamig_buf *buf,
		      u32 type, u32 repeat, u32 len)
{
	return rdmamig_ctrl_send_behind(s, buf, type, repeat, len, NULL, NULL,
					0);
}

/**
 * rdmamig_ctrl_ready() - give the peer its turn
 * @s: session
 * @conn: connection
 *
 * Context: the session's thread; waits for room in the send queue.
 *
 * Return: 0, or the recorded negative errno.
 */
int rdmamig_ctrl_ready(struct rdmamig_session *s, struct rdmamig_conn *conn)
{
	struct ib_send_wr wr = {
		.wr_cqe		= &conn->ready.cqe,
		.sg_list	= &conn->ready.sge,
		.num_sge	= 1,
		.opcode		= IB_WR_SEND,
		.send_flags	= IB_SEND_SIGNALED,
	};
	int err;

	err = rdmamig_wait(s, atomic_read(&conn->sq_free) > 0, SEND_WAIT_MS);
	if (err)
		return rdmamig_session_fail(s, err,
					    "the peer takes no message any more");
	trace_rdmamig_ctrl_sent(s, RDMAMIG_MSG_READY, 1, 0);
	s->stats.messages_sent++;
	err = rdmamig_conn_post(conn, &wr, 1);
	if (err)
		return rdmamig_session_fail(s, err, "cannot send: %pe",
					    ERR_PTR(err));
	return 0;
}

static bool all_sent(struct rdmamig_conn *conn)
{
	u32 i;

	for (i = 0; i < RDMAMIG_TX_BUFS; i++)
		if (READ_ONCE(conn->tx[i].busy))
			return false;
	return true;
}

/**
 * rdmamig_ctrl_flush() - wait until the peer's QP has every message
 * @s: session
 * @conn: connection
 *
 * Context: the session's thread; sleeps.
 *
 * Return: 0, or the recorded negative errno.
 */
int rdmamig_ctrl_flush(struct rdmamig_session *s, struct rdmamig_conn *conn)
{
	int err = rdmamig_wait(s, all_sent(conn), SEND_WAIT_MS);

	if (err)
		return rdmamig_session_fail(s, err,
					    "the peer takes no message any more");
	return 0;
}

/**
 * rdmamig_ctrl_error() - tell the peer that this session fails
 * @s: session, failed or cancelled
 * @text: the reason, for an rdmamig peer; a stock one gets none
 *
 * Best effort: waits a moment for the message to leave, whatever comes of it.
 *
 * Context: the session's thread; sleeps.
 */
void rdmamig_ctrl_error(struct rdmamig_session *s, const char *text)
{
	struct rdmamig_conn *conn = s->conn;
	struct rdmamig_buf *buf = idle_buf(conn);
	u32 len = 0;

	if (!buf || !buf->va || atomic_read(&conn->sq_free) < 1)
		return;
	if (s->peer_tail) {
		len = min_t(u32, strlen(text), RDMAMIG_WIRE_TEXT_MAX);
		memcpy(rdmamig_ctrl_payload(buf), text, len);
	}
	if (rdmamig_ctrl_send(s, buf, RDMAMIG_MSG_ERROR, 1, len))
		return;
	wait_event_idle_timeout(s->wait, !READ_ONCE(buf->busy) ||
				test_bit(RDMAMIG_SEEN_BROKEN, &conn->seen) ||
				test_bit(RDMAMIG_SEEN_DISCONNECTED, &conn->seen),
				msecs_to_jiffies(ERROR_WAIT_MS));
}
