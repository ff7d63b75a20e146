// SPDX-License-Identifier: GPL-2.0
/*
 * A source's writes: from a chunk's dirty pages to the wire, and back.
 *
 * A chunk's writes are one chain with its last entry signalled.  Its completion
 * puts the chunk on a lock-free list and kicks the thread, which makes it idle.
 * A failed completion breaks the connection and touches no chunk: the chunk
 * stays IN_FLIGHT until the queue pair is drained.
 *
 * Writes read the owner's pages through the PD's local key: the source needs
 * no region of its own.
 */
#include <linux/ktime.h>
#include <linux/mm.h>

#include "chunk.h"
#include "conn.h"
#include "session.h"
#include "source.h"

#define ON_WIRE_BYTES	SZ_2M	/* of writes posted and not completed */

static void write_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rdmamig_chunk *chunk = container_of(wc->wr_cqe,
						   struct rdmamig_chunk, cqe);
	struct rdmamig_conn *conn = cq->cq_context;

	if (!rdmamig_conn_wc_ok(conn, wc, "write"))
		return;
	atomic_add(chunk->slots, &conn->sq_free);
	llist_add(&chunk->done, &conn->s->source.done);
	rdmamig_session_kick(conn->s);
}

/*
 * Builds the work requests of a chunk's dirty pages and clears their bits: a
 * request a run of neighbours, of at most max_sge pieces.  Stops when the batch
 * is full; the rest is written when this has completed.
 */
static u32 build_writes(struct rdmamig_session *s, struct rdmamig_chunk *chunk)
{
	u64 remote = chunk->block->base + rdmamig_chunk_offset(chunk);
	struct rdmamig_conn *conn = s->conn;
	struct ib_rdma_wr *wr = NULL;
	struct sg_dma_page_iter iter;
	struct ib_sge *sge = NULL;
	u32 page = 0, n = 0, nr_sge = 0;
	dma_addr_t addr;

	chunk->writing = 0;
	for_each_sgtable_dma_page(&chunk->sgt, &iter, 0) {
		if (!test_bit(page++, chunk->dirty)) {
			wr = NULL;
			continue;
		}
		addr = sg_page_iter_dma_address(&iter);
		if (wr && sge->addr + sge->length == addr) {
			sge->length += PAGE_SIZE;
		} else {
			if (wr && wr->wr.num_sge == conn->max_sge)
				wr = NULL;
			if (!wr) {
				if (n == RDMAMIG_WR_BATCH)
					break;
				wr = &conn->writes[n++];
				*wr = (struct ib_rdma_wr) {
					.wr.opcode	= IB_WR_RDMA_WRITE,
					.wr.wr_cqe	= &chunk->cqe,
					.wr.sg_list	= &conn->sges[nr_sge],
					.remote_addr	= remote +
						((u64)(page - 1) << PAGE_SHIFT),
					.rkey		= chunk->rkey,
				};
				if (n > 1)
					conn->writes[n - 2].wr.next = &wr->wr;
			}
			sge = &conn->sges[nr_sge++];
			sge->addr = addr;
			sge->length = PAGE_SIZE;
			sge->lkey = conn->pd->local_dma_lkey;
			wr->wr.num_sge++;
		}
		__clear_bit(page - 1, chunk->dirty);
		chunk->writing += PAGE_SIZE;
	}
	if (n)
		conn->writes[n - 1].wr.send_flags = IB_SEND_SIGNALED;
	return n;
}

/**
 * rdmamig_source_rate_allows() - may the next write go
 * @s: source session
 *
 * Context: the session's thread.
 *
 * Return: false while the rate limit holds it back.
 */
bool rdmamig_source_rate_allows(struct rdmamig_session *s)
{
	return !READ_ONCE(s->tun.rate_limit) ||
	       ktime_compare(ktime_get(), s->source.next_write) >= 0;
}

static void rate_charge(struct rdmamig_session *s, u64 bytes)
{
	u64 rate = READ_ONCE(s->tun.rate_limit);
	ktime_t now = ktime_get();

	if (!rate)
		return;
	if (ktime_before(s->source.next_write, now))
		s->source.next_write = now;
	s->source.next_write = ktime_add_ns(s->source.next_write,
					    div64_u64(bytes * NSEC_PER_SEC,
						      rate));
}

static int write_chunk(struct rdmamig_session *s, struct rdmamig_chunk *chunk)
{
	struct rdmamig_source *src = &s->source;
	struct ib_device *dev = s->conn->id->device;
	u32 n = build_writes(s, chunk);
	int err;

	/* The owner may have written since the chunk was mapped. */
	if (!ib_uses_virt_dma(dev))
		dma_sync_sgtable_for_device(dev->dma_device, &chunk->sgt,
					    DMA_TO_DEVICE);
	chunk->cqe.done = write_done;
	chunk->slots = n;
	rdmamig_chunk_move(chunk, RDMAMIG_CHUNK_IN_FLIGHT);
	list_del_init(&chunk->list);
	src->in_flight++;
	src->in_flight_bytes += chunk->writing;
	rate_charge(s, chunk->writing);
	err = rdmamig_conn_post(s->conn, &s->conn->writes[0].wr, n);
	if (err)
		return rdmamig_session_fail(s, err, "cannot write: %pe",
					    ERR_PTR(err));
	return 0;
}

/**
 * rdmamig_source_write() - keep the wire busy
 * @s: source session
 * @work: set when something was posted
 *
 * Context: the session's thread.
 *
 * Return: 0, or the recorded negative errno.
 */
int rdmamig_source_write(struct rdmamig_session *s, bool *work)
{
	struct rdmamig_source *src = &s->source;
	struct rdmamig_chunk *chunk;
	int err;

	while (!list_empty(&src->to_write) &&
	       src->in_flight_bytes < ON_WIRE_BYTES && rdmamig_source_rate_allows(s)) {
		chunk = list_first_entry(&src->to_write, struct rdmamig_chunk,
					 list);
		/* Messages keep their entries: see the recipe in conn.c. */
		if (atomic_read(&s->conn->sq_free) <
		    RDMAMIG_WR_BATCH + RDMAMIG_TX_BUFS + 3)
			return 0;
		err = write_chunk(s, chunk);
		if (err)
			return err;
		*work = true;
	}
	return 0;
}

static void queue_idle(struct rdmamig_source *src, struct rdmamig_chunk *chunk)
{
	list_add_tail(&chunk->list, &src->lru);
	src->nr_lru++;
}

/**
 * rdmamig_source_reap() - chunks whose write has completed become idle
 * @s: source session
 * @work: set when there was one
 *
 * Context: the session's thread; sleeps.
 *
 * Return: 0, or the recorded negative errno.
 */
int rdmamig_source_reap(struct rdmamig_session *s, bool *work)
{
	struct rdmamig_source *src = &s->source;
	struct rdmamig_chunk *chunk, *next;
	struct llist_node *done;
	int err;

	done = llist_reverse_order(llist_del_all(&src->done));
	llist_for_each_entry_safe(chunk, next, done, done) {
		rdmamig_chunk_move(chunk, RDMAMIG_CHUNK_REGISTERED);
		src->in_flight--;
		src->in_flight_bytes -= chunk->writing;
		src->queued_bytes -= chunk->writing;
		s->stats.data_bytes += chunk->writing;
		*work = true;
		if (chunk->stale) {
			list_add(&chunk->list, &src->to_write);
			err = rdmamig_source_renew(s, chunk);
			if (err)
				return err;
		} else if (!bitmap_empty(chunk->dirty, RDMAMIG_CHUNK_PAGES)) {
			list_add(&chunk->list, &src->to_write);
		} else {
			queue_idle(src, chunk);
		}
	}
	return 0;
}
