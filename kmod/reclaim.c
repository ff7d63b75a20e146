// SPDX-License-Identifier: GPL-2.0
/*
 * Giving chunks back: how much may be pinned, who goes first, and the way out.
 *
 * The limit counts every chunk from its pin to its unpin, at either end; a
 * source keeps a chunk pinned as long as its target does, so that one count,
 * under the smaller of the two limits, bounds both.
 *
 * Normal operation.  A source picks the least recently used idle chunks and
 * names them in one UNREGISTER_REQUEST; the target ends their keys, waits for
 * that, unmaps, unpins, and answers; then the source unmaps and unpins too.
 *
 * Recovery.  Once the connection is drained, rdmamig_reclaim_all() takes every
 * chunk, whatever its state: region first (its key ends with it), then the
 * mapping, then the pin; each once.
 */
#include "chunk.h"
#include "conn.h"
#include "mr.h"
#include "pin.h"
#include "reclaim.h"
#include "session.h"

/**
 * rdmamig_reclaim_has_room() - may so much more be pinned
 * @s: session
 * @bytes: how much
 *
 * Context: the session's thread.
 *
 * Return: true when the limit holds it.
 */
bool rdmamig_reclaim_has_room(const struct rdmamig_session *s, u64 bytes)
{
	return s->stats.pinned_bytes + bytes <= s->limit;
}

/**
 * rdmamig_reclaim_pick() - choose the chunks that a source gives back
 * @s: source session
 * @max: at most so many
 * @victims: gets them, INVALIDATING, oldest first
 *
 * Context: the session's thread.
 *
 * Return: how many.
 */
u32 rdmamig_reclaim_pick(struct rdmamig_session *s, u32 max,
			 struct list_head *victims)
{
	struct rdmamig_source *src = &s->source;
	struct rdmamig_chunk *chunk;
	u32 n = 0;

	while (n < max && !list_empty(&src->lru)) {
		chunk = list_first_entry(&src->lru, struct rdmamig_chunk, list);
		rdmamig_chunk_move(chunk, RDMAMIG_CHUNK_INVALIDATING);
		list_move_tail(&chunk->list, victims);
		src->nr_lru--;
		n++;
	}
	return n;
}

static void unpin_list(struct rdmamig_session *s, struct list_head *chunks)
{
	struct rdmamig_chunk *chunk, *next;

	list_for_each_entry_safe(chunk, next, chunks, list)
		rdmamig_unpin_chunk(s, chunk);
}

/**
 * rdmamig_reclaim_target() - end keys, then unmap and unpin
 * @s: target session
 * @chunks: list of INVALIDATING chunks; empty on success
 *
 * Context: the session's thread; sleeps.
 *
 * Return: 0, or the recorded negative errno.
 */
int rdmamig_reclaim_target(struct rdmamig_session *s, struct list_head *chunks)
{
	LIST_HEAD(batch);
	u32 n;
	int err;

	while (!list_empty(chunks)) {
		for (n = 0; n < RDMAMIG_WR_BATCH && !list_empty(chunks); n++)
			list_move_tail(chunks->next, &batch);
		err = rdmamig_mr_invalidate(s, &batch);
		if (err) {
			list_splice(&batch, chunks);
			return err;
		}
		unpin_list(s, &batch);
		s->stats.registered -= n;
		s->stats.unregistrations += n;
	}
	return 0;
}

/* The steps that lead any state to UNPIN; the connection is drained. */
static void condemn(struct rdmamig_chunk *chunk)
{
	if (chunk->state == RDMAMIG_CHUNK_IN_FLIGHT)
		rdmamig_chunk_move(chunk, RDMAMIG_CHUNK_REGISTERED);
	if (chunk->state == RDMAMIG_CHUNK_REGISTERED)
		rdmamig_chunk_move(chunk, RDMAMIG_CHUNK_INVALIDATING);
	if (chunk->state != RDMAMIG_CHUNK_UNPIN)
		rdmamig_chunk_move(chunk, RDMAMIG_CHUNK_UNPIN);
}

/**
 * rdmamig_reclaim_all() - take back everything that is pinned
 * @s: session whose connection is quiet
 *
 * Context: the session's thread; sleeps.
 */
void rdmamig_reclaim_all(struct rdmamig_session *s)
{
	struct rdmamig_chunk *chunk;
	unsigned long index;
	u32 i;

	/* Every key ends before any page is let go. */
	for (i = 0; i < s->ram.count; i++) {
		rdmamig_mr_release_block(&s->ram.v[i]);
		xa_for_each(&s->ram.v[i].chunks, index, chunk)
			rdmamig_mr_put(s, chunk);
	}
	rdmamig_mr_destroy_pool(s);

	for (i = 0; i < s->ram.count; i++)
		xa_for_each(&s->ram.v[i].chunks, index, chunk) {
			condemn(chunk);
			rdmamig_unpin_chunk(s, chunk);
		}
	s->stats.registered = 0;
}
