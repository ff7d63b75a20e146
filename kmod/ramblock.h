/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RDMAMIG_RAMBLOCK_H
#define RDMAMIG_RAMBLOCK_H

#include <linux/mmu_notifier.h>
#include <linux/spinlock.h>
#include <linux/xarray.h>
#include <uapi/linux/rdmamig.h>

#include "dirty.h"

struct file;
struct ib_mr;
struct netlink_ext_ack;
struct rdmamig_session;

/* A RAM block: named, contiguous memory of the owner. */
struct rdmamig_block {
	struct rdmamig_session *s;
	char name[RDMAMIG_BLOCK_NAME_MAX + 1];
	u16 name_len;
	u32 index;		/* position in the session's own list */
	u64 addr;		/* in the owner's memory, page aligned */
	u64 length;		/* bytes, a multiple of the page size */
	u64 base;		/* target's cookies: see struct rdmamig_wire_block */
	u64 offset;
	u32 rkey;		/* of the whole block, with pin-all */
	struct ib_mr *mr;	/* target with pin-all: the region of @rkey */
	bool claimed;		/* native target: the source named it */
	u64 pinned;		/* bytes; written by the thread */
	struct xarray chunks;	/* the chunks that are more than idle */
	struct rdmamig_dirty dirty;	/* source */
	unsigned long *had_key;	/* source: a bit a chunk, for the refaults */
	struct file *seek;	/* to find holes of a shared mapping */
	bool seek_tried;
	loff_t data_from;	/* an extent of @seek that had no hole */
	loff_t data_to;

	struct mmu_interval_notifier watch;
	bool watched;
	spinlock_t watch_lock;	/* guards suspect_* and the notifier's seq */
	bool suspect;		/* pages in this range may have gone */
	u64 suspect_first;	/* chunk indices */
	u64 suspect_last;
};

struct rdmamig_ramblocks {
	struct rdmamig_block *v;
	struct rdmamig_block **wire;	/* by the index that the wire uses */
	u32 count;
	u64 bytes;			/* sum of the lengths */
};

int rdmamig_ramblocks_alloc(struct rdmamig_ramblocks *ram, u32 count);
void rdmamig_ramblocks_free(struct rdmamig_ramblocks *ram);
int rdmamig_ramblocks_check(struct rdmamig_ramblocks *ram,
			    struct mm_struct *mm, enum rdmamig_role role,
			    struct netlink_ext_ack *extack);
int rdmamig_ramblocks_watch(struct rdmamig_ramblocks *ram,
			    struct rdmamig_session *s);
void rdmamig_ramblocks_unwatch(struct rdmamig_ramblocks *ram);
bool rdmamig_ramblock_suspect(struct rdmamig_block *b, u64 *first, u64 *last);
struct rdmamig_block *rdmamig_ramblocks_find(struct rdmamig_ramblocks *ram,
					     const char *name, u16 name_len);
u64 rdmamig_ramblocks_dirty(const struct rdmamig_ramblocks *ram);

#endif /* RDMAMIG_RAMBLOCK_H */
