// SPDX-License-Identifier: GPL-2.0
/*
 * What a source sends next: the scan for dirty chunks, zero or pinned, and the
 * care for memory that changes while it is pinned.
 */
#include <linux/ktime.h>
#include <linux/mm.h>

#include "chunk.h"
#include "conn.h"
#include "pin.h"
#include "reclaim.h"
#include "session.h"
#include "source.h"

#define SCAN_CHUNKS	64	/* looked at in one call */
#define ZERO_BYTES	SZ_256M	/* of one message: a target is busy with it */

/* Takes dirty bits into a chunk that is pinned. */
static void take_dirty(struct rdmamig_session *s, struct rdmamig_chunk *chunk)
{
	u32 before = bitmap_weight(chunk->dirty, RDMAMIG_CHUNK_PAGES);

	rdmamig_dirty_take(&chunk->block->dirty, chunk->index, chunk->dirty);
	s->source.queued_bytes +=
		(u64)(bitmap_weight(chunk->dirty, RDMAMIG_CHUNK_PAGES) -
		      before) << PAGE_SHIFT;
}

static int lost_memory(struct rdmamig_session *s, struct rdmamig_chunk *chunk,
		       int err)
{
	return rdmamig_session_owner_gone(s) ?:
	       rdmamig_session_fail(s, err,
				    "block '%s': offset %llu: the owner took the memory away: %pe",
				    chunk->block->name,
				    rdmamig_chunk_offset(chunk), ERR_PTR(err));
}

/**
 * rdmamig_source_renew() - pin a chunk's pages anew and queue all of it
 * @s: source session
 * @chunk: pinned, no write of it under way; the owner's memory moved
 *
 * Context: the session's thread; sleeps.
 *
 * Return: 0, or the recorded negative errno.
 */
int rdmamig_source_renew(struct rdmamig_session *s, struct rdmamig_chunk *chunk)
{
	struct rdmamig_source *src = &s->source;
	int err;

	chunk->stale = false;
	s->stats.stale_chunks++;
	rdmamig_dirty_mark_chunk(&chunk->block->dirty, chunk->index);
	take_dirty(s, chunk);
	err = rdmamig_pin_renew(s, chunk);
	if (err)
		return lost_memory(s, chunk, err);
	if (chunk->state == RDMAMIG_CHUNK_REGISTERED)
		list_move_tail(&chunk->list, &src->to_write);
	return 0;
}

/*
 * Chunks that were sent and let go: where the owner gave pages back since, it
 * reads zeroes now, and the target does not.
 */
static int check_gone(struct rdmamig_session *s, struct rdmamig_block *b,
		      u64 first, u64 last)
{
	struct rdmamig_chunk *chunk;
	u64 i;
	int gone;

	/* We were told before it happens: let it end.  The next one tells anew. */
	mmu_interval_read_begin(&b->watch);
	for (i = first; i <= last; i++) {
		u64 offset = i << RDMAMIG_CHUNK_SHIFT;

		chunk = xa_load(&b->chunks, i);
		if (chunk && chunk->state != RDMAMIG_CHUNK_INVALIDATING)
			continue;
		gone = rdmamig_pin_has_hole(s, b, offset,
					    min_t(u64, RDMAMIG_CHUNK_SIZE,
						  b->length - offset));
		if (gone < 0)
			return rdmamig_session_owner_gone(s) ?:
			       rdmamig_session_fail(s, gone,
						    "block '%s': offset %llu: cannot be read: %pe",
						    b->name, offset,
						    ERR_PTR(gone));
		if (gone)
			rdmamig_dirty_mark_chunk(&b->dirty, i);
	}
	return 0;
}

/**
 * rdmamig_source_check() - look after memory that changed under us
 * @s: source session
 * @work: set when there was something
 *
 * What was read from a chunk whose pages the owner's mapping lost does not count
 * as sent: the chunk is pinned anew and all of it is dirty again.
 *
 * Context: the session's thread; sleeps.
 *
 * Return: 0, or the recorded negative errno.
 */
int rdmamig_source_check(struct rdmamig_session *s, bool *work)
{
	struct rdmamig_source *src = &s->source;
	struct rdmamig_chunk *chunk;
	unsigned long index;
	u64 first, last;
	int err;
	u32 i;

	for (i = 0; i < s->ram.count; i++) {
		struct rdmamig_block *b = &s->ram.v[i];

		if (!rdmamig_ramblock_suspect(b, &first, &last))
			continue;
		*work = true;
		err = check_gone(s, b, first, last);
		if (err)
			return err;
		xa_for_each_range(&b->chunks, index, chunk, first, last) {
			if (chunk->state == RDMAMIG_CHUNK_INVALIDATING ||
			    rdmamig_pin_is_current(s, chunk))
				continue;
			if (chunk->state == RDMAMIG_CHUNK_IN_FLIGHT) {
				chunk->stale = true;
				continue;
			}
			if (chunk->state == RDMAMIG_CHUNK_REGISTERED &&
			    bitmap_empty(chunk->dirty, RDMAMIG_CHUNK_PAGES))
				src->nr_lru--;
			err = rdmamig_source_renew(s, chunk);
			if (err)
				return err;
		}
	}
	return 0;
}

/* The next dirty chunk that can be dealt with now. */
static bool next_dirty(struct rdmamig_session *s, struct rdmamig_block **block,
		       u64 *index, struct rdmamig_chunk **chunk)
{
	struct rdmamig_source *src = &s->source;
	u32 tried;

	for (tried = 0; tried <= s->ram.count; tried++) {
		struct rdmamig_block *b = &s->ram.v[src->block];

		while (rdmamig_dirty_next(&b->dirty, src->chunk, index)) {
			*chunk = xa_load(&b->chunks, *index);
			if (!*chunk ||
			    ((*chunk)->state != RDMAMIG_CHUNK_IN_FLIGHT &&
			     (*chunk)->state != RDMAMIG_CHUNK_INVALIDATING)) {
				*block = b;
				return true;
			}
			src->chunk = *index + 1;
		}
		src->block = (src->block + 1) % s->ram.count;
		src->chunk = 0;
	}
	return false;
}

/* A chunk that is still here has become dirty again. */
static int fill_again(struct rdmamig_session *s, struct rdmamig_chunk *chunk)
{
	struct rdmamig_source *src = &s->source;
	bool idle = chunk->state == RDMAMIG_CHUNK_REGISTERED &&
		    bitmap_empty(chunk->dirty, RDMAMIG_CHUNK_PAGES);
	int err;

	take_dirty(s, chunk);
	if (idle) {
		s->stats.reuses++;
		src->nr_lru--;
		list_move_tail(&chunk->list, &src->to_write);
	}
	/* A page that was absent may be what is dirty now. */
	if (!chunk->holes)
		return 0;
	err = rdmamig_pin_renew(s, chunk);
	return err ? lost_memory(s, chunk, err) : 0;
}

/* Room in the one zero range that can wait. */
static bool zero_fits(const struct rdmamig_session *s,
		      const struct rdmamig_block *b, u64 offset)
{
	const struct rdmamig_source *src = &s->source;

	if (!src->zero_block)
		return true;
	/* A stock destination gets at most a chunk at a time. */
	return s->peer_tail && src->zero_block == b &&
	       src->zero_length < ZERO_BYTES &&
	       src->zero_offset + src->zero_length == offset;
}

static void zero_add(struct rdmamig_source *src, struct rdmamig_block *b,
		     u64 offset, u32 bytes)
{
	if (!src->zero_block) {
		src->zero_block = b;
		src->zero_offset = offset;
		src->zero_length = 0;
	}
	src->zero_length += bytes;
}

static void wait_begins(struct rdmamig_session *s)
{
	struct rdmamig_source *src = &s->source;

	src->need_room = true;
	if (src->wait_since)
		return;
	src->wait_since = ktime_get();
	s->stats.slot_waits++;
}

static void wait_ends(struct rdmamig_session *s)
{
	struct rdmamig_source *src = &s->source;

	if (!src->wait_since)
		return;
	s->stats.slot_wait_ns += ktime_to_ns(ktime_sub(ktime_get(),
						       src->wait_since));
	src->wait_since = 0;
}

/* Pins a chunk that is neither zero nor here. */
static int fill_new(struct rdmamig_session *s, struct rdmamig_block *b,
		    u64 index, const unsigned long *mask)
{
	struct rdmamig_source *src = &s->source;
	struct rdmamig_chunk *chunk;
	int err;

	chunk = rdmamig_chunk_new(b, index);
	if (!chunk)
		return rdmamig_session_fail(s, -ENOMEM, "no memory for a chunk");
	err = rdmamig_pin_chunk(s, chunk);
	if (err) {
		rdmamig_chunk_free(chunk);
		return rdmamig_session_owner_gone(s) ?:
		       rdmamig_session_fail(s, err,
					    "block '%s': offset %llu: cannot be pinned: %pe",
					    b->name,
					    index << RDMAMIG_CHUNK_SHIFT,
					    ERR_PTR(err));
	}
	bitmap_copy(chunk->dirty, mask, RDMAMIG_CHUNK_PAGES);
	src->queued_bytes += (u64)bitmap_weight(mask, RDMAMIG_CHUNK_PAGES) <<
			     PAGE_SHIFT;
	if (s->pin_all) {
		chunk->rkey = b->rkey;
		rdmamig_chunk_move(chunk, RDMAMIG_CHUNK_REGISTERED);
		list_add_tail(&chunk->list, &src->to_write);
		return 0;
	}
	list_add_tail(&chunk->list, &src->need_key);
	src->nr_need_key++;
	return 0;
}

/*
 * One dirty chunk that is not here: zero, or pinned.  Returns 1 when it has to
 * wait for room or for a turn, 0 when it was dealt with, or an errno.
 */
static int fill_one(struct rdmamig_session *s, struct rdmamig_block *b,
		    u64 index)
{
	u64 offset = index << RDMAMIG_CHUNK_SHIFT;
	u32 bytes = min_t(u64, RDMAMIG_CHUNK_SIZE, b->length - offset);
	DECLARE_BITMAP(mask, RDMAMIG_CHUNK_PAGES) = {};
	int zero = 0;

	if (!rdmamig_reclaim_has_room(s, bytes)) {
		wait_begins(s);
		return 1;
	}
	wait_ends(s);
	if (!zero_fits(s, b, offset))
		return 1;

	/* The bits are cleared before the pages are read, never after. */
	rdmamig_dirty_take(&b->dirty, index, mask);
	if (!s->pin_all)
		zero = rdmamig_pin_is_zero(s, b, offset, bytes);
	if (zero < 0)
		return rdmamig_session_owner_gone(s) ?:
		       rdmamig_session_fail(s, zero,
					    "block '%s': offset %llu: cannot be read: %pe",
					    b->name, offset, ERR_PTR(zero));
	if (!zero)
		return fill_new(s, b, index, mask);
	zero_add(&s->source, b, offset, bytes);
	return 0;
}

/**
 * rdmamig_source_fill() - find dirty chunks and make the next batch ready
 * @s: source session
 * @work: set when something was done
 *
 * Looks at no more than SCAN_CHUNKS chunks, so that messages are not kept
 * waiting.
 *
 * Context: the session's thread; sleeps.
 *
 * Return: 0, or the recorded negative errno.
 */
int rdmamig_source_fill(struct rdmamig_session *s, bool *work)
{
	struct rdmamig_source *src = &s->source;
	struct rdmamig_block *b;
	struct rdmamig_chunk *chunk;
	u32 scanned;
	u64 index;
	int ret;

	for (scanned = 0; scanned < SCAN_CHUNKS; scanned++) {
		if (src->nr_need_key >= src->batch ||
		    !next_dirty(s, &b, &index, &chunk))
			break;
		ret = chunk ? fill_again(s, chunk) : fill_one(s, b, index);
		if (ret < 0)
			return ret;
		if (ret)
			break;
		src->chunk = index + 1;
		*work = true;
	}
	/* Room for the next batch before it is wanted. */
	if (s->limit < s->ram.bytes && rdmamig_ramblocks_dirty(&s->ram) &&
	    !rdmamig_reclaim_has_room(s, (u64)src->batch << RDMAMIG_CHUNK_SHIFT))
		src->need_room = true;
	return 0;
}
