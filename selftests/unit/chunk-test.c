// SPDX-License-Identifier: GPL-2.0
/*
 * The life of a chunk: each move, legal or not, against the picture in chunk.h.
 */
#include "chunk.h"
#include "tap.h"

#define STATES	RDMAMIG_CHUNK_STATES

/* A row a state, a column a state that it might move to; x is legal. */
static const char * const picture[STATES] = {
	[RDMAMIG_CHUNK_IDLE]		= ".x....",
	[RDMAMIG_CHUNK_PINNED]		= "..x..x",
	[RDMAMIG_CHUNK_REGISTERED]	= "...xx.",
	[RDMAMIG_CHUNK_IN_FLIGHT]	= "..x...",
	[RDMAMIG_CHUNK_INVALIDATING]	= ".....x",
	[RDMAMIG_CHUNK_UNPIN]		= "x.....",
};

int main(void)
{
	unsigned int from, to;

	for (from = 0; from < STATES; from++)
		for (to = 0; to < STATES; to++)
			ok(rdmamig_chunk_may_move(from, to) ==
			   (picture[from][to] == 'x'),
			   "chunk: %s to %s", rdmamig_chunk_state_name(from),
			   rdmamig_chunk_state_name(to));
	ok(!rdmamig_chunk_may_move(STATES, RDMAMIG_CHUNK_PINNED),
	   "chunk: from no state");
	ok(!rdmamig_chunk_may_move(RDMAMIG_CHUNK_IDLE, STATES),
	   "chunk: to no state");
	ok(!strcmp(rdmamig_chunk_state_name(STATES), "unknown"),
	   "chunk: the name of no state");
	return tap_done();
}
