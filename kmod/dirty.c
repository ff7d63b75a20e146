// SPDX-License-Identifier: GPL-2.0
/*
 * Dirty pages of a RAM block.  A bit is cleared before its page is read, never
 * after: rdmamig_dirty_take() clears, and what becomes dirty later is marked
 * again by whoever saw it.  Bits come from the session's thread (a stale chunk)
 * and from netlink (a VMM's dirty log), so a lock guards them; it is held for
 * bit operations only.
 */
#include <linux/bitmap.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "chunk.h"
#include "dirty.h"

#define CHUNKS_PER_GIB	(1u << (30 - RDMAMIG_CHUNK_SHIFT))
#define PAGES_PER_GIB	((u64)CHUNKS_PER_GIB * RDMAMIG_CHUNK_PAGES)

static u32 chunk_pages(const struct rdmamig_dirty *d, u64 chunk)
{
	return min_t(u64, RDMAMIG_CHUNK_PAGES,
		     d->nr_pages - chunk * RDMAMIG_CHUNK_PAGES);
}

/* The bits of a chunk in its GiB's bitmap; NULL when it has none. */
static unsigned long *chunk_bits(const struct rdmamig_dirty *d, u64 chunk)
{
	unsigned long *gib = d->pages[chunk / CHUNKS_PER_GIB];

	BUILD_BUG_ON(RDMAMIG_CHUNK_PAGES % BITS_PER_LONG &&
		     PAGE_SHIFT == 12);
	if (!gib)
		return NULL;
	return gib + (chunk % CHUNKS_PER_GIB) *
		     BITS_TO_LONGS(RDMAMIG_CHUNK_PAGES);
}

/**
 * rdmamig_dirty_init() - a block of which everything is dirty
 * @d: to be filled
 * @length: bytes of the block, a multiple of the page size
 *
 * Context: may sleep.
 *
 * Return: 0 or -ENOMEM; then nothing is held.
 */
int rdmamig_dirty_init(struct rdmamig_dirty *d, u64 length)
{
	u64 gibs = DIV_ROUND_UP_ULL(length, 1ull << 30);

	spin_lock_init(&d->lock);
	d->nr_pages = length >> PAGE_SHIFT;
	d->nr_chunks = DIV_ROUND_UP_ULL(length, RDMAMIG_CHUNK_SIZE);
	d->dirty_pages = d->nr_pages;
	d->any = kvcalloc(BITS_TO_LONGS(d->nr_chunks), sizeof(long), GFP_KERNEL);
	d->full = kvcalloc(BITS_TO_LONGS(d->nr_chunks), sizeof(long),
			   GFP_KERNEL);
	d->pages = kvcalloc(gibs, sizeof(*d->pages), GFP_KERNEL);
	if (!d->any || !d->full || !d->pages) {
		rdmamig_dirty_destroy(d);
		return -ENOMEM;
	}
	bitmap_fill(d->any, d->nr_chunks);
	bitmap_fill(d->full, d->nr_chunks);
	return 0;
}

/**
 * rdmamig_dirty_destroy() - free what rdmamig_dirty_init() and merges took
 * @d: the bitmap; zeroed memory is fine
 *
 * Context: may sleep; nobody else uses @d any more.
 */
void rdmamig_dirty_destroy(struct rdmamig_dirty *d)
{
	u64 i;

	if (d->pages)
		for (i = 0; i * CHUNKS_PER_GIB < d->nr_chunks; i++)
			kvfree(d->pages[i]);
	kvfree(d->pages);
	kvfree(d->full);
	kvfree(d->any);
	d->pages = NULL;
	d->full = NULL;
	d->any = NULL;
}

static u32 count_dirty(const struct rdmamig_dirty *d, u64 chunk)
{
	if (!test_bit(chunk, d->any))
		return 0;
	if (test_bit(chunk, d->full))
		return chunk_pages(d, chunk);
	return bitmap_weight(chunk_bits(d, chunk), chunk_pages(d, chunk));
}

/**
 * rdmamig_dirty_mark_chunk() - every page of a chunk is dirty
 * @d: the block's bitmap
 * @chunk: chunk index
 *
 * Context: any that may take a spinlock.
 */
void rdmamig_dirty_mark_chunk(struct rdmamig_dirty *d, u64 chunk)
{
	spin_lock(&d->lock);
	d->dirty_pages += chunk_pages(d, chunk) - count_dirty(d, chunk);
	__set_bit(chunk, d->any);
	__set_bit(chunk, d->full);
	spin_unlock(&d->lock);
}

/* Makes sure that the GiB of @chunk has a bitmap. */
static int grow(struct rdmamig_dirty *d, u64 chunk)
{
	u64 gib = chunk / CHUNKS_PER_GIB;
	unsigned long *bits;

	if (READ_ONCE(d->pages[gib]))
		return 0;
	bits = kvzalloc(CHUNKS_PER_GIB * BITS_TO_LONGS(RDMAMIG_CHUNK_PAGES) *
			sizeof(long), GFP_KERNEL);
	if (!bits)
		return -ENOMEM;
	spin_lock(&d->lock);
	if (!d->pages[gib])
		swap(d->pages[gib], bits);
	spin_unlock(&d->lock);
	kvfree(bits);
	return 0;
}

static void mark_page(struct rdmamig_dirty *d, u64 page)
{
	u64 chunk = page / RDMAMIG_CHUNK_PAGES;
	unsigned long *bits = chunk_bits(d, chunk);

	if (test_bit(chunk, d->full))
		return;
	if (!test_bit(chunk, d->any)) {
		bitmap_zero(bits, RDMAMIG_CHUNK_PAGES);
		__set_bit(chunk, d->any);
	}
	if (!__test_and_set_bit(page % RDMAMIG_CHUNK_PAGES, bits))
		d->dirty_pages++;
}

/**
 * rdmamig_dirty_merge() - add a piece of a dirty log
 * @d: the block's bitmap
 * @first: page of the block that bit 0 stands for, a multiple of 64
 * @words: the log as KVM_GET_DIRTY_LOG gives it, little-endian
 * @nr_words: 64-bit words
 *
 * Context: process context; sleeps for memory.
 *
 * Return: 0; -ERANGE when a bit is set past the end of the block, or -ENOMEM;
 * then nothing was merged.
 */
int rdmamig_dirty_merge(struct rdmamig_dirty *d, u64 first,
			const __le64 *words, u32 nr_words)
{
	u64 word, page;
	u32 i;
	int err;

	if (first % 64 || first >= d->nr_pages)
		return -ERANGE;

	for (i = 0; i < nr_words; i++) {
		word = le64_to_cpu(words[i]);
		if (!word)
			continue;
		page = first + (u64)i * 64;
		if (page + __fls(word) >= d->nr_pages)
			return -ERANGE;
		err = grow(d, page / RDMAMIG_CHUNK_PAGES);
		if (err)
			return err;
	}

	for (i = 0; i < nr_words; i++) {
		page = first + (u64)i * 64;
		spin_lock(&d->lock);
		for (word = le64_to_cpu(words[i]); word; word &= word - 1)
			mark_page(d, page + __ffs(word));
		spin_unlock(&d->lock);
	}
	return 0;
}

/**
 * rdmamig_dirty_next() - find a dirty chunk
 * @d: the block's bitmap
 * @from: chunk index where to begin
 * @chunk: the chunk found
 *
 * Context: any that may take a spinlock.
 *
 * Return: false when there is none from @from on.
 */
bool rdmamig_dirty_next(struct rdmamig_dirty *d, u64 from, u64 *chunk)
{
	spin_lock(&d->lock);
	*chunk = find_next_bit(d->any, d->nr_chunks, from);
	spin_unlock(&d->lock);
	return *chunk < d->nr_chunks;
}

/**
 * rdmamig_dirty_take() - clear a chunk's dirty pages, to send them
 * @d: the block's bitmap
 * @chunk: chunk index
 * @mask: gets its dirty pages, RDMAMIG_CHUNK_PAGES bits; or-ed in
 *
 * Call it before the pages are read.
 *
 * Context: any that may take a spinlock.
 *
 * Return: how many pages were dirty.
 */
u32 rdmamig_dirty_take(struct rdmamig_dirty *d, u64 chunk, unsigned long *mask)
{
	u32 pages;

	spin_lock(&d->lock);
	pages = count_dirty(d, chunk);
	if (test_bit(chunk, d->full))
		bitmap_set(mask, 0, pages);
	else if (pages)
		bitmap_or(mask, mask, chunk_bits(d, chunk),
			  RDMAMIG_CHUNK_PAGES);
	__clear_bit(chunk, d->any);
	__clear_bit(chunk, d->full);
	d->dirty_pages -= pages;
	spin_unlock(&d->lock);
	return pages;
}
