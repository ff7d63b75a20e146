// SPDX-License-Identifier: GPL-2.0
/*
 * Regions of a target.  A chunk gets a fast-registered MR from a pool that
 * grows by need and never beyond what the limit lets be pinned.
 *
 * Normal operation.  Registration is posted without a signal, as one chain with
 * the message that announces the keys behind it: a key is never told before its
 * registration is ahead of the message in the same queue.  The key changes with
 * each use.  Invalidation is one chain with its last entry signalled, and only
 * when that completion has come is the MR touched again, or the memory.
 *
 * Recovery.  When the connection fails no invalidation is waited for: the QP is
 * drained and the MRs are deregistered (rdmamig_mr_destroy_pool()), which ends
 * every key, before any memory is unmapped.
 *
 * With pin-all a block has one region over all of it.
 */
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <rdma/mr_pool.h>

#include "chunk.h"
#include "conn.h"
#include "ctrl.h"
#include "mr.h"
#include "session.h"

#define GROW		16	/* MRs by which the pool grows */
#define POST_WAIT_MS	60000

/* Rights of a region: what a peer's write needs and nothing else. */
#define ACCESS		(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE)

static void batch_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rdmamig_conn *conn = container_of(wc->wr_cqe, struct rdmamig_conn,
						 batch_cqe);

	if (!rdmamig_conn_wc_ok(conn, wc, "registration"))
		return;
	atomic_add(atomic_xchg(&conn->batch_slots, 0), &conn->sq_free);
	rdmamig_session_kick(conn->s);
}

static void inv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rdmamig_conn *conn = container_of(wc->wr_cqe, struct rdmamig_conn,
						 inv_cqe);

	if (!rdmamig_conn_wc_ok(conn, wc, "invalidation"))
		return;
	atomic_add(atomic_xchg(&conn->batch_slots, 0), &conn->sq_free);
	WRITE_ONCE(conn->inv_done, true);
	rdmamig_session_kick(conn->s);
}

static int wait_room(struct rdmamig_session *s, u32 slots)
{
	struct rdmamig_conn *conn = s->conn;
	int err;

	err = rdmamig_wait(s, atomic_read(&conn->sq_free) >= (int)slots &&
			   !atomic_read(&conn->batch_slots), POST_WAIT_MS);
	if (err)
		return rdmamig_session_fail(s, err, "the send queue is stuck");
	return 0;
}

static struct ib_mr *get_mr(struct rdmamig_session *s)
{
	struct rdmamig_conn *conn = s->conn;
	struct ib_mr *mr = ib_mr_pool_get(conn->id->qp, &conn->mrs);

	if (mr)
		return mr;
	if (!ib_mr_pool_init(conn->id->qp, &conn->mrs, GROW, IB_MR_TYPE_MEM_REG,
			     conn->mr_pages, 0))
		conn->mrs_made += GROW;
	else if (!ib_mr_pool_init(conn->id->qp, &conn->mrs, 1,
				  IB_MR_TYPE_MEM_REG, conn->mr_pages, 0))
		conn->mrs_made++;
	return ib_mr_pool_get(conn->id->qp, &conn->mrs);
}

/**
 * rdmamig_mr_prepare() - give a pinned chunk its region and key
 * @s: target session
 * @chunk: PINNED
 *
 * The key works when rdmamig_mr_register() has posted it.
 *
 * Context: the session's thread; sleeps when the pool grows.
 *
 * Return: 0, or the recorded negative errno.
 */
int rdmamig_mr_prepare(struct rdmamig_session *s, struct rdmamig_chunk *chunk)
{
	struct ib_mr *mr = get_mr(s);
	int n;

	if (!mr)
		return rdmamig_session_fail(s, -ENOMEM,
					    "device %s has no more memory regions (%u in use): lower pin-limit",
					    s->device, s->conn->mrs_made);
	n = ib_map_mr_sg(mr, chunk->sgt.sgl, chunk->sgt.nents, NULL, PAGE_SIZE);
	if (n != chunk->sgt.nents) {
		ib_mr_pool_put(s->conn->id->qp, &s->conn->mrs, mr);
		return rdmamig_session_fail(s, n < 0 ? n : -EINVAL,
					    "block '%s': a chunk does not fit a memory region",
					    chunk->block->name);
	}
	ib_update_fast_reg_key(mr, ib_inc_rkey(mr->rkey));
	mr->iova = chunk->block->base + rdmamig_chunk_offset(chunk);
	chunk->mr = mr;
	chunk->rkey = mr->rkey;
	return 0;
}

/**
 * rdmamig_mr_put() - give a chunk's region back to the pool
 * @s: target session
 * @chunk: its key is invalid; or the connection is quiet and
 *	rdmamig_mr_destroy_pool() follows, before any memory is unmapped
 *
 * Context: the session's thread.
 */
void rdmamig_mr_put(struct rdmamig_session *s, struct rdmamig_chunk *chunk)
{
	if (!chunk->mr)
		return;
	ib_mr_pool_put(s->conn->id->qp, &s->conn->mrs, chunk->mr);
	chunk->mr = NULL;
}

/**
 * rdmamig_mr_destroy_pool() - deregister every region: no key is valid after it
 * @s: session whose connection is quiet, its chunks' regions put back
 *
 * Context: the session's thread; sleeps.
 */
void rdmamig_mr_destroy_pool(struct rdmamig_session *s)
{
	if (s->conn->id->qp)
		ib_mr_pool_destroy(s->conn->id->qp, &s->conn->mrs);
}

/* Posts a chain of registrations with its last entry signalled. */
static int post_regs(struct rdmamig_session *s, u32 n)
{
	struct rdmamig_conn *conn = s->conn;
	int err;

	conn->batch_cqe.done = batch_done;
	conn->regs[n - 1].wr.wr_cqe = &conn->batch_cqe;
	conn->regs[n - 1].wr.send_flags = IB_SEND_SIGNALED;
	conn->regs[n - 1].wr.next = NULL;
	atomic_set(&conn->batch_slots, n);
	err = rdmamig_conn_post(conn, &conn->regs[0].wr, n);
	if (err)
		return rdmamig_session_fail(s, err, "cannot register: %pe",
					    ERR_PTR(err));
	return 0;
}

/**
 * rdmamig_mr_register() - register chunks and announce their keys
 * @s: target session
 * @chunks: list of PINNED chunks, prepared; REGISTERED on success; may be empty
 * @answer: message that tells the keys, its payload written
 * @type: its type
 * @repeat: its repeat
 * @len: its bytes of payload
 *
 * Context: the session's thread; sleeps for room in the send queue.
 *
 * Return: 0, or the recorded negative errno.
 */
int rdmamig_mr_register(struct rdmamig_session *s, struct list_head *chunks,
			struct rdmamig_buf *answer, u32 type, u32 repeat,
			u32 len)
{
	struct rdmamig_conn *conn = s->conn;
	struct rdmamig_chunk *chunk;
	u32 n = 0;
	int err;

	list_for_each_entry(chunk, chunks, list) {
		if (!n) {
			err = wait_room(s, RDMAMIG_WR_BATCH + 1);
			if (err)
				return err;
		}
		if (n == RDMAMIG_WR_BATCH) {
			err = post_regs(s, n);
			if (!err)
				err = wait_room(s, RDMAMIG_WR_BATCH + 1);
			if (err)
				return err;
			n = 0;
		}
		conn->batch_cqe.done = batch_done;
		conn->regs[n] = (struct ib_reg_wr) {
			.wr.opcode	= IB_WR_REG_MR,
			.wr.wr_cqe	= &conn->batch_cqe,
			.mr		= chunk->mr,
			.key		= chunk->mr->rkey,
			.access		= ACCESS,
		};
		if (n)
			conn->regs[n - 1].wr.next = &conn->regs[n].wr;
		n++;
	}

	err = rdmamig_ctrl_send_behind(s, answer, type, repeat, len,
				       n ? &conn->regs[0].wr : NULL,
				       n ? &conn->regs[n - 1].wr : NULL, n);
	if (err)
		return err;
	list_for_each_entry(chunk, chunks, list)
		rdmamig_chunk_move(chunk, RDMAMIG_CHUNK_REGISTERED);
	return 0;
}

/**
 * rdmamig_mr_invalidate() - end the keys of chunks
 * @s: target session
 * @chunks: list of at most RDMAMIG_WR_BATCH INVALIDATING chunks; UNPIN, without
 *	a region, on success
 *
 * Context: the session's thread; sleeps until the completion has come.
 *
 * Return: 0, or the recorded negative errno; then the chunks are as they were,
 * and are dealt with when the connection has been drained.
 */
int rdmamig_mr_invalidate(struct rdmamig_session *s, struct list_head *chunks)
{
	struct rdmamig_conn *conn = s->conn;
	struct ib_send_wr *wr = NULL;
	struct rdmamig_chunk *chunk;
	u32 n = 0;
	int err;

	conn->inv_cqe.done = inv_done;
	list_for_each_entry(chunk, chunks, list) {
		if (wr)
			wr->next = &conn->writes[n].wr;
		wr = &conn->writes[n++].wr;
		*wr = (struct ib_send_wr) {
			.opcode			= IB_WR_LOCAL_INV,
			.wr_cqe			= &conn->inv_cqe,
			.ex.invalidate_rkey	= chunk->rkey,
		};
	}
	wr->send_flags = IB_SEND_SIGNALED;

	err = wait_room(s, n);
	if (err)
		return err;
	conn->inv_done = false;
	atomic_set(&conn->batch_slots, n);
	err = rdmamig_conn_post(conn, &conn->writes[0].wr, n);
	if (!err)
		err = rdmamig_wait(s, READ_ONCE(conn->inv_done), POST_WAIT_MS);
	if (err)
		return rdmamig_session_fail(s, err,
					    "keys could not be invalidated: %pe",
					    ERR_PTR(err));
	list_for_each_entry(chunk, chunks, list) {
		rdmamig_chunk_move(chunk, RDMAMIG_CHUNK_UNPIN);
		rdmamig_mr_put(s, chunk);
	}
	return 0;
}

/**
 * rdmamig_mr_register_block() - one region over a whole block, for pin-all
 * @s: target session
 * @b: the block; gets @b->mr and @b->rkey
 *
 * Context: the session's thread; sleeps, long for a big block.
 *
 * Return: 0, or the recorded negative errno.
 */
int rdmamig_mr_register_block(struct rdmamig_session *s,
			      struct rdmamig_block *b)
{
	struct ib_mr *mr;

	if (!s->conn->id->device->ops.reg_user_mr)
		return rdmamig_session_fail(s, -EOPNOTSUPP,
					    "pin-all: device %s cannot register block '%s' as one region",
					    s->device, b->name);
	if (!mmget_not_zero(s->mm))
		return rdmamig_session_owner_gone(s);
	kthread_use_mm(s->mm);
	mr = ib_reg_user_mr(s->conn->pd, b->addr, b->length, b->base, ACCESS);
	kthread_unuse_mm(s->mm);
	mmput_async(s->mm);
	if (IS_ERR(mr))
		return rdmamig_session_fail(s, PTR_ERR(mr),
					    "pin-all: device %s cannot register block '%s' (%llu bytes) as one region: %pe",
					    s->device, b->name, b->length, mr);
	b->mr = mr;
	b->rkey = mr->rkey;
	WRITE_ONCE(b->pinned, b->length);
	WRITE_ONCE(s->stats.pinned_bytes, s->stats.pinned_bytes + b->length);
	if (s->stats.pinned_bytes > s->stats.pinned_peak)
		WRITE_ONCE(s->stats.pinned_peak, s->stats.pinned_bytes);
	return 0;
}

/**
 * rdmamig_mr_release_block() - the reverse
 * @b: the block; one without a region is fine
 *
 * Context: the session's thread; sleeps.
 */
void rdmamig_mr_release_block(struct rdmamig_block *b)
{
	if (!b->mr)
		return;
	ib_dereg_mr(b->mr);
	b->mr = NULL;
	WRITE_ONCE(b->s->stats.pinned_bytes,
		   b->s->stats.pinned_bytes - b->length);
	WRITE_ONCE(b->pinned, 0);
}
