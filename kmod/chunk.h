/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RDMAMIG_CHUNK_H
#define RDMAMIG_CHUNK_H

#include "wire.h"

/*
 * The life of a chunk, at either end:
 *
 *   IDLE -> PINNED -> REGISTERED <-> IN_FLIGHT
 *     ^        |         |
 *     |        v         v
 *     +---- UNPIN <-- INVALIDATING
 *
 * An IDLE chunk has no struct: it is what is not in the block's table.
 */
enum rdmamig_chunk_state {
	RDMAMIG_CHUNK_IDLE,
	RDMAMIG_CHUNK_PINNED,		/* pinned and DMA-mapped, no key */
	RDMAMIG_CHUNK_REGISTERED,	/* the peer can write to it */
	RDMAMIG_CHUNK_IN_FLIGHT,	/* source: a write is on the wire */
	RDMAMIG_CHUNK_INVALIDATING,	/* its key is being given back */
	RDMAMIG_CHUNK_UNPIN,		/* no key: unmap and unpin it */
	RDMAMIG_CHUNK_STATES,
};

bool rdmamig_chunk_may_move(enum rdmamig_chunk_state from,
			    enum rdmamig_chunk_state to);
const char *rdmamig_chunk_state_name(enum rdmamig_chunk_state state);

#ifdef __KERNEL__
#include <linux/bitmap.h>
#include <linux/list.h>
#include <linux/llist.h>
#include <linux/scatterlist.h>
#include <rdma/ib_verbs.h>

#define RDMAMIG_CHUNK_PAGES	(RDMAMIG_CHUNK_SIZE >> PAGE_SHIFT)

struct rdmamig_block;

/*
 * A chunk that is more than idle.  It belongs to the session's thread; a
 * completion handler touches @done alone.
 */
struct rdmamig_chunk {
	struct rdmamig_block *block;
	u64 index;
	enum rdmamig_chunk_state state;
	bool stale;			/* the owner's memory moved away */
	bool holes;			/* source: the zero page stands for some */
	u32 bytes;			/* the last chunk of a block is short */
	struct list_head list;		/* the queue of its state, or the LRU */
	struct sg_table sgt;		/* the pinned pages, mapped for DMA */
	struct ib_mr *mr;		/* target */
	u32 rkey;			/* of the target's region */
	DECLARE_BITMAP(dirty, RDMAMIG_CHUNK_PAGES); /* source: to be written */
	struct ib_cqe cqe;		/* source: of its last write */
	u32 slots;			/* send-queue entries of its writes */
	u32 writing;			/* bytes of the write on the wire */
	struct llist_node done;		/* source: its write completed */
};

struct rdmamig_chunk *rdmamig_chunk_new(struct rdmamig_block *block, u64 index);
void rdmamig_chunk_free(struct rdmamig_chunk *chunk);
void rdmamig_chunk_move(struct rdmamig_chunk *chunk,
			enum rdmamig_chunk_state to);

/* Where the chunk begins in its block, bytes. */
static inline u64 rdmamig_chunk_offset(const struct rdmamig_chunk *chunk)
{
	return chunk->index << RDMAMIG_CHUNK_SHIFT;
}
#endif /* __KERNEL__ */

#endif /* RDMAMIG_CHUNK_H */
