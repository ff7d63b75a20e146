/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RDMAMIG_CONN_H
#define RDMAMIG_CONN_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

#include "chunk.h"
#include "codec.h"

struct rdmamig_session;

#define RDMAMIG_RX_BUFS		4	/* receives posted on a connection */
#define RDMAMIG_TX_BUFS		2	/* messages under way, READY not counted */
#define RDMAMIG_WR_BATCH	64	/* work requests of one chain */
#define RDMAMIG_RETRY_COUNT	6	/* of the transport; 7 is for ever on rxe */

/* What has happened on a connection; bits of rdmamig_conn.seen. */
enum {
	RDMAMIG_SEEN_ADDR,
	RDMAMIG_SEEN_ROUTE,
	RDMAMIG_SEEN_ESTABLISHED,
	RDMAMIG_SEEN_DISCONNECTED,
	RDMAMIG_SEEN_BROKEN,		/* @error and @error_text are set */
};

/* A message buffer. */
struct rdmamig_buf {
	struct rdmamig_conn *conn;
	struct list_head list;
	struct ib_cqe cqe;
	struct ib_sge sge;
	void *va;
	u32 size;		/* bytes */
	u32 slots;		/* send-queue entries that its completion frees */
	u32 bytes;		/* received */
	bool busy;		/* transmit: not completed yet */
};

/* A listener, the connection of a session, or its return path. */
struct rdmamig_conn {
	struct rdmamig_session *s;
	struct rdma_cm_id *id;
	struct ib_pd *pd;
	struct ib_cq *send_cq;
	struct ib_cq *recv_cq;
	u32 max_sge;		/* of a write */
	u32 mr_pages;		/* of a fast-registered region */
	u32 sq_size;
	atomic_t sq_free;

	unsigned long seen;
	unsigned long alive;	/* jiffies of the last sign of life */
	unsigned long checked;	/* jiffies when it was last looked at */
	spinlock_t error_lock;	/* guards the three below */
	int error;		/* negative errno; valid with SEEN_BROKEN */
	bool symptom;		/* a flush: its cause may still come */
	char error_text[160];
	unsigned long broken_at;	/* jiffies */

	struct rdmamig_codec_private priv;	/* the peer's */

	/* Receives: completed ones wait in order for the thread. */
	spinlock_t rx_lock;	/* guards rx_list */
	struct list_head rx_list;
	struct rdmamig_buf rx[RDMAMIG_RX_BUFS];
	struct rdmamig_buf tx[RDMAMIG_TX_BUFS];
	struct rdmamig_buf ready;
	u32 rx_size;		/* bytes of a receive buffer */
	u32 tx_size;		/* bytes of a transmit buffer */

	struct ib_cqe probe_cqe;
	bool probing;
	struct ib_cqe batch_cqe;	/* of a chain of registrations */
	struct ib_cqe inv_cqe;		/* of a chain of invalidations */
	atomic_t batch_slots;
	bool inv_done;

	struct list_head mrs;		/* free regions: ib_mr_pool */
	u32 mrs_made;
	bool quiet;			/* drained: completions mean nothing */

	/* Scratch of the thread. */
	struct page **pages;		/* of a chunk */
	struct ib_rdma_wr *writes;	/* RDMAMIG_WR_BATCH */
	struct ib_sge *sges;		/* of a chunk's writes */
	struct ib_reg_wr *regs;		/* RDMAMIG_WR_BATCH */
};

const char *rdmamig_conn_device_unfit(struct ib_device *dev);
struct rdmamig_conn *rdmamig_conn_new(struct rdmamig_session *s);
int rdmamig_conn_setup(struct rdmamig_conn *conn);
void rdmamig_conn_quiesce(struct rdmamig_conn *conn);
void rdmamig_conn_free(struct rdmamig_conn *conn);
int rdmamig_conn_post(struct rdmamig_conn *conn, struct ib_send_wr *wr,
		      u32 slots);
int rdmamig_conn_probe(struct rdmamig_conn *conn);
__printf(3, 4)
void rdmamig_conn_break(struct rdmamig_conn *conn, int err,
			const char *fmt, ...);
int rdmamig_conn_error(struct rdmamig_conn *conn, char *text, u32 size);
bool rdmamig_conn_wc_ok(struct rdmamig_conn *conn, const struct ib_wc *wc,
			const char *what);

/* conn_cm.c */
int rdmamig_conn_listen(struct rdmamig_session *s,
			struct netlink_ext_ack *extack);
int rdmamig_conn_connect(struct rdmamig_session *s);
int rdmamig_conn_accept(struct rdmamig_session *s, struct rdmamig_conn *conn);
int rdmamig_conn_wait_established(struct rdmamig_session *s,
				  struct rdmamig_conn *conn, u32 ms);
void rdmamig_conn_reject(struct rdmamig_conn *conn, const char *why);

#endif /* RDMAMIG_CONN_H */
