// SPDX-License-Identifier: GPL-2.0
/*
 * Connections: an rdma_cm id with its PD, CQs, QP and message buffers.
 *
 * Normal operation.  The id's event handler and the completion handlers only
 * note what happened (a bit of @seen, a message on @rx_list) and kick the
 * session's thread, which does everything else.  No event is waited for in
 * an order: the thread looks at bits.
 *
 * Failure.  The first error of a connection wins and is kept in words.  A
 * flushed completion is a symptom: for a short while its cause may replace it.
 * Nothing is released on the strength of a failed completion: the thread drains
 * the QP first (rdmamig_conn_quiesce()), then gives back regions and memory,
 * then frees (rdmamig_conn_free()).
 *
 * The send queue.  Its entries, counted in @sq_free:
 *
 *   1. RDMAMIG_WR_BATCH x 3	a source's writes, or a target's registrations
 *				and invalidations
 *   2. RDMAMIG_TX_BUFS		control messages
 *   3. 2			READY
 *   4. 1			the probe
 *   5. 1			the drain, which posts past the count
 *
 * An unsignalled entry is given back by the signalled one behind it.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <rdma/mr_pool.h>
#include <rdma/rdma_cm.h>

#include "conn.h"
#include "ctrl.h"
#include "session.h"

#define SQ_DATA		(RDMAMIG_WR_BATCH * 3)
#define SQ_SIZE		(SQ_DATA + RDMAMIG_TX_BUFS + 2 + 1)
#define SQ_DRAIN	1
#define MAX_SGE		32u
#define SYMPTOM_MS	200

/*
 * The local ack timeout: 4.096 us << n, so that all retries of a lost packet end
 * within half of the peer timeout.
 */
static u8 ack_timeout(const struct rdmamig_session *s)
{
	u64 budget = (u64)s->tun.peer_timeout * 1000000 / 2;	/* ns */
	u8 n = 14;

	while (n < 22 && (4096ull << (n + 1)) * (RDMAMIG_RETRY_COUNT + 1) <= budget)
		n++;
	return n;
}

/**
 * rdmamig_conn_break() - note that a connection is of no use any more
 * @conn: connection
 * @err: negative errno
 * @fmt: why, in words
 *
 * The first one wins, but for a symptom (-ECANCELED), which a cause replaces.
 *
 * Context: any that may take a spinlock.
 */
void rdmamig_conn_break(struct rdmamig_conn *conn, int err,
			const char *fmt, ...)
{
	unsigned long flags;
	va_list args;

	spin_lock_irqsave(&conn->error_lock, flags);
	if (!conn->error || (conn->symptom && err != -ECANCELED)) {
		if (!conn->error)
			conn->broken_at = jiffies;
		conn->symptom = err == -ECANCELED;
		conn->error = err;
		va_start(args, fmt);
		vscnprintf(conn->error_text, sizeof(conn->error_text), fmt,
			   args);
		va_end(args);
		set_bit(RDMAMIG_SEEN_BROKEN, &conn->seen);
	}
	spin_unlock_irqrestore(&conn->error_lock, flags);
	rdmamig_session_kick(conn->s);
}

/**
 * rdmamig_conn_error() - what broke a connection
 * @conn: connection
 * @text: gets the words
 * @size: bytes of @text
 *
 * Context: the session's thread.
 *
 * Return: 0 when it is not broken, or only by a symptom whose cause may still
 * come; else the negative errno.
 */
int rdmamig_conn_error(struct rdmamig_conn *conn, char *text, u32 size)
{
	unsigned long flags;
	int err;

	spin_lock_irqsave(&conn->error_lock, flags);
	err = conn->error;
	if (err && conn->symptom &&
	    time_before(jiffies, conn->broken_at + msecs_to_jiffies(SYMPTOM_MS)))
		err = 0;
	if (err) {
		strscpy(text, conn->error_text, size);
		if (conn->symptom)
			err = -ECONNRESET;
	}
	spin_unlock_irqrestore(&conn->error_lock, flags);
	return err;
}

/**
 * rdmamig_conn_wc_ok() - look at a completion
 * @conn: its connection
 * @wc: the completion; when it failed, only its status and cookie mean anything
 * @what: what was completed, for the words of an error
 *
 * Context: completion handler; does not sleep.
 *
 * Return: true on success.
 */
bool rdmamig_conn_wc_ok(struct rdmamig_conn *conn, const struct ib_wc *wc,
			const char *what)
{
	if (likely(wc->status == IB_WC_SUCCESS)) {
		WRITE_ONCE(conn->alive, jiffies);
		return true;
	}
	if (READ_ONCE(conn->quiet))
		return false;
	if (wc->status == IB_WC_WR_FLUSH_ERR)
		rdmamig_conn_break(conn, -ECANCELED, "connection lost");
	else if (wc->status == IB_WC_RETRY_EXC_ERR)
		rdmamig_conn_break(conn, -ETIMEDOUT,
				   "peer lost: it acknowledges nothing any more");
	else if (wc->status == IB_WC_REM_ACCESS_ERR)
		rdmamig_conn_break(conn, -EACCES,
				   "%s: the peer refused the key (%s)", what,
				   ib_wc_status_msg(wc->status));
	else
		rdmamig_conn_break(conn, -EIO, "%s failed: %s", what,
				   ib_wc_status_msg(wc->status));
	return false;
}

static void qp_event(struct ib_event *event, void *context)
{
	struct rdmamig_conn *conn = context;

	switch (event->event) {
	case IB_EVENT_QP_FATAL:
	case IB_EVENT_QP_REQ_ERR:
	case IB_EVENT_QP_ACCESS_ERR:
		rdmamig_conn_break(conn, -EIO, "queue pair failed: %s",
				   ib_event_msg(event->event));
		break;
	default:
		break;
	}
}

/**
 * rdmamig_conn_new() - a connection without anything
 * @s: its session
 *
 * Context: may sleep.
 *
 * Return: the connection or NULL.
 */
struct rdmamig_conn *rdmamig_conn_new(struct rdmamig_session *s)
{
	struct rdmamig_conn *conn = kzalloc(sizeof(*conn), GFP_KERNEL);

	if (!conn)
		return NULL;
	conn->s = s;
	spin_lock_init(&conn->error_lock);
	spin_lock_init(&conn->rx_lock);
	INIT_LIST_HEAD(&conn->rx_list);
	INIT_LIST_HEAD(&conn->mrs);
	return conn;
}

static bool buf_alloc(struct rdmamig_conn *conn, struct rdmamig_buf *buf,
		      u32 size, enum dma_data_direction dir)
{
	struct ib_device *dev = conn->id->device;

	buf->conn = conn;
	buf->va = alloc_pages_exact(size, GFP_KERNEL | __GFP_NOWARN |
				    __GFP_ZERO);
	if (!buf->va)
		return false;
	buf->sge.addr = ib_dma_map_single(dev, buf->va, size, dir);
	if (ib_dma_mapping_error(dev, buf->sge.addr)) {
		free_pages_exact(buf->va, size);
		buf->va = NULL;
		return false;
	}
	buf->sge.lkey = conn->pd->local_dma_lkey;
	buf->sge.length = size;
	buf->size = size;
	return true;
}

static void buf_free(struct rdmamig_conn *conn, struct rdmamig_buf *buf,
		     enum dma_data_direction dir)
{
	if (!buf->va)
		return;
	ib_dma_unmap_single(conn->id->device, buf->sge.addr, buf->size, dir);
	free_pages_exact(buf->va, buf->size);
	buf->va = NULL;
}

/* Both ends know the largest message that can come, and that they send. */
static void size_buffers(struct rdmamig_conn *conn)
{
	struct rdmamig_session *s = conn->s;
	u32 head = sizeof(struct rdmamig_wire_header);
	u32 blocks, names;

	if (s->role == RDMAMIG_ROLE_TARGET) {
		conn->rx_size = RDMAMIG_MSG_MAX;
		conn->tx_size = RDMAMIG_MSG_MAX;
		return;
	}
	blocks = head + s->ram.count * (u32)sizeof(struct rdmamig_wire_block);
	names = head + s->ram.count * (u32)(sizeof(struct rdmamig_wire_block_name) +
					    RDMAMIG_BLOCK_NAME_MAX);
	conn->rx_size = PAGE_ALIGN(max_t(u32, blocks, 128 * 1024));
	conn->tx_size = PAGE_ALIGN(clamp_t(u32, names, 256 * 1024,
					   RDMAMIG_MSG_MAX));
}

static int alloc_buffers(struct rdmamig_conn *conn)
{
	u32 i;

	size_buffers(conn);
	for (i = 0; i < RDMAMIG_RX_BUFS; i++)
		if (!buf_alloc(conn, &conn->rx[i], conn->rx_size,
			       DMA_FROM_DEVICE))
			return -ENOMEM;
	for (i = 0; i < RDMAMIG_TX_BUFS; i++)
		if (!buf_alloc(conn, &conn->tx[i], conn->tx_size,
			       DMA_TO_DEVICE))
			return -ENOMEM;
	if (!buf_alloc(conn, &conn->ready, PAGE_SIZE, DMA_TO_DEVICE))
		return -ENOMEM;

	conn->pages = kcalloc(RDMAMIG_CHUNK_PAGES, sizeof(*conn->pages),
			      GFP_KERNEL);
	conn->writes = kcalloc(RDMAMIG_WR_BATCH, sizeof(*conn->writes),
			       GFP_KERNEL);
	conn->sges = kcalloc(RDMAMIG_CHUNK_PAGES, sizeof(*conn->sges),
			     GFP_KERNEL);
	conn->regs = kcalloc(RDMAMIG_WR_BATCH, sizeof(*conn->regs), GFP_KERNEL);
	if (!conn->pages || !conn->writes || !conn->sges || !conn->regs)
		return -ENOMEM;
	return 0;
}

static int check_device(struct rdmamig_conn *conn)
{
	const struct ib_device_attr *attr = &conn->id->device->attrs;
	const char *why = rdmamig_conn_device_unfit(conn->id->device);

	if (why)
		return rdmamig_session_fail(conn->s, -EOPNOTSUPP,
					    "device %s: %s",
					    dev_name(&conn->id->device->dev),
					    why);
	spin_lock(&conn->s->lock);
	strscpy(conn->s->device, dev_name(&conn->id->device->dev),
		sizeof(conn->s->device));
	spin_unlock(&conn->s->lock);
	conn->max_sge = min_t(u32, MAX_SGE, attr->max_send_sge);
	conn->mr_pages = RDMAMIG_CHUNK_PAGES;
	conn->sq_size = SQ_SIZE;
	return 0;
}

/**
 * rdmamig_conn_device_unfit() - why a device cannot carry a session
 * @dev: the device
 *
 * Context: any.
 *
 * Return: NULL when it can, else a constant sentence.
 */
const char *rdmamig_conn_device_unfit(struct ib_device *dev)
{
	if (!(dev->attrs.device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS))
		return "no fast registration";
	if (dev->attrs.max_fast_reg_page_list_len < RDMAMIG_CHUNK_PAGES)
		return "a fast-registered region does not hold a chunk of 1 MiB";
	if (dev->attrs.max_qp_wr < SQ_SIZE + SQ_DRAIN)
		return "send queue too short";
	if (dev->attrs.max_send_sge < 1)
		return "no send SGEs";
	return NULL;
}

/**
 * rdmamig_conn_setup() - PD, CQs, QP and buffers of a connection
 * @conn: its id has a device
 *
 * Receives are posted here, before the peer can send.
 *
 * Context: the session's thread; sleeps.
 *
 * Return: 0, or the recorded negative errno; rdmamig_conn_free() gives back what
 * was made.
 */
int rdmamig_conn_setup(struct rdmamig_conn *conn)
{
	struct ib_qp_init_attr attr = {
		.event_handler	= qp_event,
		.qp_context	= conn,
		.qp_type	= IB_QPT_RC,
		.sq_sig_type	= IB_SIGNAL_REQ_WR,
	};
	struct ib_device *dev = conn->id->device;
	struct rdmamig_session *s = conn->s;
	int err;
	u32 i;

	err = check_device(conn);
	if (err)
		return err;

	conn->pd = ib_alloc_pd(dev, 0);
	if (IS_ERR(conn->pd)) {
		err = PTR_ERR(conn->pd);
		conn->pd = NULL;
		goto fail;
	}
	conn->send_cq = ib_alloc_cq_any(dev, conn, conn->sq_size + SQ_DRAIN,
					IB_POLL_WORKQUEUE);
	if (IS_ERR(conn->send_cq)) {
		err = PTR_ERR(conn->send_cq);
		conn->send_cq = NULL;
		goto fail;
	}
	conn->recv_cq = ib_alloc_cq_any(dev, conn, RDMAMIG_RX_BUFS + SQ_DRAIN,
					IB_POLL_WORKQUEUE);
	if (IS_ERR(conn->recv_cq)) {
		err = PTR_ERR(conn->recv_cq);
		conn->recv_cq = NULL;
		goto fail;
	}

	attr.send_cq = conn->send_cq;
	attr.recv_cq = conn->recv_cq;
	attr.cap.max_send_wr = conn->sq_size + SQ_DRAIN;
	attr.cap.max_recv_wr = RDMAMIG_RX_BUFS + SQ_DRAIN;
	attr.cap.max_send_sge = conn->max_sge;
	attr.cap.max_recv_sge = 1;
	err = rdma_create_qp(conn->id, conn->pd, &attr);
	if (err)
		goto fail;
	atomic_set(&conn->sq_free, conn->sq_size);
	rdma_set_ack_timeout(conn->id, ack_timeout(s));

	err = alloc_buffers(conn);
	if (err)
		goto fail;
	rdmamig_ctrl_init(conn);
	for (i = 0; i < RDMAMIG_RX_BUFS; i++) {
		err = rdmamig_ctrl_post_rx(&conn->rx[i]);
		if (err)
			goto fail;
	}
	return 0;

fail:
	return rdmamig_session_fail(s, err, "device %s: cannot set up the connection: %pe",
				    dev_name(&dev->dev), ERR_PTR(err));
}

/**
 * rdmamig_conn_quiesce() - end all traffic: disconnect and drain
 * @conn: connection; one that was never connected is fine
 *
 * After it no completion handler runs any more, whatever the peer does.
 *
 * Context: the session's thread; sleeps; nobody else posts.
 */
void rdmamig_conn_quiesce(struct rdmamig_conn *conn)
{
	if (!conn->id || !conn->id->qp || conn->quiet)
		return;
	WRITE_ONCE(conn->quiet, true);
	rdma_disconnect(conn->id);
	ib_drain_qp(conn->id->qp);
}

/**
 * rdmamig_conn_free() - give back everything of a connection
 * @conn: quiesced, its chunks unpinned; or a listener, or never connected
 *
 * Context: the session's thread; sleeps; waits for event handlers that run.
 */
void rdmamig_conn_free(struct rdmamig_conn *conn)
{
	u32 i;

	if (!conn)
		return;
	rdmamig_conn_quiesce(conn);
	for (i = 0; i < RDMAMIG_RX_BUFS; i++)
		buf_free(conn, &conn->rx[i], DMA_FROM_DEVICE);
	for (i = 0; i < RDMAMIG_TX_BUFS; i++)
		buf_free(conn, &conn->tx[i], DMA_TO_DEVICE);
	buf_free(conn, &conn->ready, DMA_TO_DEVICE);
	if (conn->id && conn->id->qp) {
		ib_mr_pool_destroy(conn->id->qp, &conn->mrs);
		rdma_destroy_qp(conn->id);
	}
	if (conn->recv_cq)
		ib_free_cq(conn->recv_cq);
	if (conn->send_cq)
		ib_free_cq(conn->send_cq);
	if (conn->pd)
		ib_dealloc_pd(conn->pd);
	if (conn->id)
		rdma_destroy_id(conn->id);
	kfree(conn->regs);
	kfree(conn->sges);
	kfree(conn->writes);
	kfree(conn->pages);
	kfree(conn);
}

/**
 * rdmamig_conn_post() - post a chain
 * @conn: connection
 * @wr: the chain; its last entry is signalled
 * @slots: entries of the chain; the caller saw that they are free
 *
 * Context: the session's thread.
 *
 * Return: 0 or a negative errno; then the connection is broken.
 */
int rdmamig_conn_post(struct rdmamig_conn *conn, struct ib_send_wr *wr,
		      u32 slots)
{
	int err;

	atomic_sub(slots, &conn->sq_free);
	err = ib_post_send(conn->id->qp, wr, NULL);
	if (err)
		rdmamig_conn_break(conn, err, "cannot post to the send queue: %pe",
				   ERR_PTR(err));
	return err;
}

static void probe_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rdmamig_conn *conn = container_of(wc->wr_cqe, struct rdmamig_conn,
						 probe_cqe);

	if (!rdmamig_conn_wc_ok(conn, wc, "probe"))
		return;
	atomic_inc(&conn->sq_free);
	WRITE_ONCE(conn->probing, false);
}

/**
 * rdmamig_conn_probe() - ask for a sign of life
 * @conn: established connection
 *
 * A zero-length RDMA WRITE: a responder acknowledges it without looking at any
 * key, whatever its user does.
 *
 * Context: the session's thread.
 *
 * Return: 0 (also while an earlier probe is under way) or a negative errno.
 */
int rdmamig_conn_probe(struct rdmamig_conn *conn)
{
	struct ib_rdma_wr wr = {
		.wr.wr_cqe	= &conn->probe_cqe,
		.wr.opcode	= IB_WR_RDMA_WRITE,
		.wr.send_flags	= IB_SEND_SIGNALED,
	};

	if (READ_ONCE(conn->probing))
		return 0;
	conn->probe_cqe.done = probe_done;
	WRITE_ONCE(conn->probing, true);
	conn->s->stats.probes++;
	return rdmamig_conn_post(conn, &wr.wr, 1);
}
