// SPDX-License-Identifier: GPL-2.0
/*
 * The life of a chunk.  The table of legal moves is pure, so that it can be
 * tested in user space; the rest is bookkeeping around it.
 */
#include "chunk.h"

#ifdef __KERNEL__
#include <linux/slab.h>

#include "ramblock.h"
#include "trace.h"
#endif

#define MOVE(to) (1u << RDMAMIG_CHUNK_##to)

static const unsigned int chunk_moves[RDMAMIG_CHUNK_STATES] = {
	[RDMAMIG_CHUNK_IDLE]		= MOVE(PINNED),
	[RDMAMIG_CHUNK_PINNED]		= MOVE(REGISTERED) | MOVE(UNPIN),
	[RDMAMIG_CHUNK_REGISTERED]	= MOVE(IN_FLIGHT) | MOVE(INVALIDATING),
	[RDMAMIG_CHUNK_IN_FLIGHT]	= MOVE(REGISTERED),
	[RDMAMIG_CHUNK_INVALIDATING]	= MOVE(UNPIN),
	[RDMAMIG_CHUNK_UNPIN]		= MOVE(IDLE),
};

static const char * const chunk_state_names[RDMAMIG_CHUNK_STATES] = {
	[RDMAMIG_CHUNK_IDLE]		= "idle",
	[RDMAMIG_CHUNK_PINNED]		= "pinned",
	[RDMAMIG_CHUNK_REGISTERED]	= "registered",
	[RDMAMIG_CHUNK_IN_FLIGHT]	= "in-flight",
	[RDMAMIG_CHUNK_INVALIDATING]	= "invalidating",
	[RDMAMIG_CHUNK_UNPIN]		= "unpin",
};

/**
 * rdmamig_chunk_may_move() - is this move of a chunk legal
 * @from: state it is in
 * @to: state it would be in
 *
 * Context: any; pure.
 *
 * Return: true when it is.
 */
bool rdmamig_chunk_may_move(enum rdmamig_chunk_state from,
			    enum rdmamig_chunk_state to)
{
	if ((unsigned int)from >= RDMAMIG_CHUNK_STATES ||
	    (unsigned int)to >= RDMAMIG_CHUNK_STATES)
		return false;
	return chunk_moves[from] & (1u << to);
}

/**
 * rdmamig_chunk_state_name() - a state in words
 * @state: the state
 *
 * Context: any; pure.
 *
 * Return: a constant string.
 */
const char *rdmamig_chunk_state_name(enum rdmamig_chunk_state state)
{
	if ((unsigned int)state >= RDMAMIG_CHUNK_STATES)
		return "unknown";
	return chunk_state_names[state];
}

#ifdef __KERNEL__
/**
 * rdmamig_chunk_new() - begin the life of a chunk
 * @block: its RAM block
 * @index: its number in the block
 *
 * The chunk is entered in the block's table, IDLE and without memory.
 *
 * Context: the session's thread; may sleep.
 *
 * Return: the chunk, or NULL without memory.
 */
struct rdmamig_chunk *rdmamig_chunk_new(struct rdmamig_block *block, u64 index)
{
	struct rdmamig_chunk *chunk = kzalloc(sizeof(*chunk), GFP_KERNEL);

	if (!chunk)
		return NULL;
	chunk->block = block;
	chunk->index = index;
	INIT_LIST_HEAD(&chunk->list);
	chunk->bytes = min_t(u64, RDMAMIG_CHUNK_SIZE,
			     block->length - rdmamig_chunk_offset(chunk));
	if (xa_err(xa_store(&block->chunks, index, chunk, GFP_KERNEL))) {
		kfree(chunk);
		return NULL;
	}
	return chunk;
}

/**
 * rdmamig_chunk_free() - end the life of a chunk that holds nothing any more
 * @chunk: the chunk, IDLE
 *
 * Context: the session's thread; no completion may still name the chunk.
 */
void rdmamig_chunk_free(struct rdmamig_chunk *chunk)
{
	list_del(&chunk->list);
	xa_erase(&chunk->block->chunks, chunk->index);
	kfree(chunk);
}

/**
 * rdmamig_chunk_move() - the only function that changes a chunk's state
 * @chunk: the chunk
 * @to: its next state
 *
 * An illegal move is a bug of ours that no peer and no user can reach.
 *
 * Context: the session's thread.
 */
void rdmamig_chunk_move(struct rdmamig_chunk *chunk,
			enum rdmamig_chunk_state to)
{
	WARN_ONCE(!rdmamig_chunk_may_move(chunk->state, to),
		  "rdmamig: chunk moves from %s to %s\n",
		  rdmamig_chunk_state_name(chunk->state),
		  rdmamig_chunk_state_name(to));
	trace_rdmamig_chunk_move(chunk, to);
	chunk->state = to;
}
#endif /* __KERNEL__ */
