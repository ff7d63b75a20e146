/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RDMAMIG_DIRTY_H
#define RDMAMIG_DIRTY_H

#include <linux/spinlock.h>
#include <linux/types.h>

/*
 * Which pages of a block are still to be sent.  @any has a bit a chunk that
 * holds a dirty page, @full a bit a chunk that is dirty throughout; a chunk in
 * @any alone has its pages in @pages, a bitmap a GiB that appears with the
 * first such bit.
 */
struct rdmamig_dirty {
	spinlock_t lock;	/* guards all of it */
	u64 nr_chunks;
	u64 nr_pages;
	u64 dirty_pages;
	unsigned long *any;
	unsigned long *full;
	unsigned long **pages;
};

int rdmamig_dirty_init(struct rdmamig_dirty *d, u64 length);
void rdmamig_dirty_destroy(struct rdmamig_dirty *d);
void rdmamig_dirty_mark_chunk(struct rdmamig_dirty *d, u64 chunk);
int rdmamig_dirty_merge(struct rdmamig_dirty *d, u64 first,
			const __le64 *words, u32 nr_words);
bool rdmamig_dirty_next(struct rdmamig_dirty *d, u64 from, u64 *chunk);
u32 rdmamig_dirty_take(struct rdmamig_dirty *d, u64 chunk, unsigned long *mask);

/* Dirty bytes, for whoever wants to know. */
static inline u64 rdmamig_dirty_bytes(const struct rdmamig_dirty *d)
{
	return READ_ONCE(d->dirty_pages) << PAGE_SHIFT;
}

#endif /* RDMAMIG_DIRTY_H */
