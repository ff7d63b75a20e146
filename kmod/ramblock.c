// SPDX-License-Identifier: GPL-2.0
/*
 * The table of RAM blocks: what the owner named, checked before anything
 * moves, and watched while it does.
 *
 * Watching.  An interval notifier a block tells when the owner's mapping
 * changes.  Its callback may be called with any lock of the mm held, so it only
 * notes the range and kicks the session's thread.  The thread then looks
 * whether the pages that it holds are still the ones that are mapped
 * (rdmamig_pin_is_current()): so a notification that changed nothing (a failed
 * migration of a pinned page, a change of protection) drops nothing, and one
 * that took a page away is never missed.
 */
#include <linux/backing-dev.h>
#include <linux/dax.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/hugetlb_inline.h>
#include <linux/mm.h>
#include <linux/netlink.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/sort.h>

#include "chunk.h"
#include "ramblock.h"
#include "refuse.h"
#include "session.h"

/**
 * rdmamig_ramblocks_alloc() - an empty table
 * @ram: to be filled
 * @count: blocks it will hold
 *
 * Context: may sleep.
 *
 * Return: 0 or -ENOMEM; rdmamig_ramblocks_free() gives it back.
 */
int rdmamig_ramblocks_alloc(struct rdmamig_ramblocks *ram, u32 count)
{
	u32 i;

	ram->v = kvcalloc(count, sizeof(*ram->v), GFP_KERNEL);
	ram->wire = kvcalloc(count, sizeof(*ram->wire), GFP_KERNEL);
	if (!ram->v || !ram->wire) {
		kvfree(ram->v);
		kvfree(ram->wire);
		memset(ram, 0, sizeof(*ram));
		return -ENOMEM;
	}
	ram->count = count;
	ram->bytes = 0;
	for (i = 0; i < count; i++) {
		ram->v[i].index = i;
		xa_init(&ram->v[i].chunks);
		spin_lock_init(&ram->v[i].watch_lock);
	}
	return 0;
}

/**
 * rdmamig_ramblocks_free() - free a table
 * @ram: the table; a zeroed one is fine
 *
 * Context: may sleep; no chunk is left in it and it is not watched.
 */
void rdmamig_ramblocks_free(struct rdmamig_ramblocks *ram)
{
	u32 i;

	for (i = 0; i < ram->count; i++) {
		rdmamig_dirty_destroy(&ram->v[i].dirty);
		kvfree(ram->v[i].had_key);
		xa_destroy(&ram->v[i].chunks);
	}
	kvfree(ram->v);
	kvfree(ram->wire);
	memset(ram, 0, sizeof(*ram));
}

static int compare_names(const void *a, const void *b)
{
	const struct rdmamig_block * const *x = a, * const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

static int compare_ranges(const void *a, const void *b)
{
	const struct rdmamig_block * const *x = a, * const *y = b;

	return (*x)->addr < (*y)->addr ? -1 : (*x)->addr > (*y)->addr;
}

/* The table against itself; @ram->wire is the scratch to sort in. */
static int check_table(struct rdmamig_ramblocks *ram,
		       struct netlink_ext_ack *extack)
{
	struct rdmamig_block **p = ram->wire;
	u32 i;

	for (i = 0; i < ram->count; i++)
		p[i] = &ram->v[i];

	sort(p, ram->count, sizeof(*p), compare_names, NULL);
	for (i = 1; i < ram->count; i++)
		if (!strcmp(p[i - 1]->name, p[i]->name))
			return rdmamig_refuse(extack, -EEXIST,
					      "block '%.64s': given twice",
					      p[i]->name);

	sort(p, ram->count, sizeof(*p), compare_ranges, NULL);
	for (i = 1; i < ram->count; i++)
		if (p[i]->addr - p[i - 1]->addr < p[i - 1]->length)
			return rdmamig_refuse(extack, -EINVAL,
					      "blocks '%.64s' and '%.64s': their ranges overlap",
					      p[i - 1]->name, p[i]->name);

	for (i = 0; i < ram->count; i++)
		p[i] = &ram->v[i];
	return 0;
}

/* Kernels from 6.5 on refuse long-term write pins of such mappings. */
static bool is_dirty_tracked(struct vm_area_struct *vma)
{
	return (vma->vm_flags & VM_SHARED) && vma->vm_file &&
	       !is_vm_hugetlb_page(vma) &&
	       mapping_can_writeback(vma->vm_file->f_mapping);
}

static const char *refuse_vma(struct vm_area_struct *vma,
			      enum rdmamig_role role)
{
	if (vma->vm_flags & (VM_IO | VM_PFNMAP))
		return "device memory cannot be pinned";
	if (vma_is_fsdax(vma))
		return "a file on a DAX file system cannot be pinned for long";
	if (!(vma->vm_flags & VM_READ))
		return "not readable";
	if (role == RDMAMIG_ROLE_SOURCE)
		return NULL;
	if (!(vma->vm_flags & VM_WRITE))
		return "not writable";
	if (is_dirty_tracked(vma))
		return "file mapping with dirty tracking: use anonymous memory, tmpfs or hugetlbfs";
	return NULL;
}

static int check_mapping(const struct rdmamig_block *b, struct mm_struct *mm,
			 enum rdmamig_role role,
			 struct netlink_ext_ack *extack)
{
	u64 at = b->addr, end = b->addr + b->length;
	struct vm_area_struct *vma;
	const char *why;

	while (at < end) {
		vma = find_vma(mm, at);
		why = !vma || vma->vm_start > at ? "not mapped" :
						   refuse_vma(vma, role);
		if (why)
			return rdmamig_refuse(extack, -EFAULT,
					      "block '%.64s' at 0x%llx: %s",
					      b->name, at, why);
		at = vma->vm_end;
	}
	return 0;
}

static int check_block(const struct rdmamig_block *b,
		       struct netlink_ext_ack *extack)
{
	const char *why = NULL;

	if (!b->length)
		why = "length is 0";
	else if (!IS_ALIGNED(b->addr, PAGE_SIZE))
		why = "address is not a multiple of the page size";
	else if (!IS_ALIGNED(b->length, PAGE_SIZE))
		why = "length is not a multiple of the page size";
	else if (b->addr + b->length < b->addr ||
		 b->addr + b->length > TASK_SIZE_MAX)
		why = "range is not user memory";
	if (!why)
		return 0;
	return rdmamig_refuse(extack, -EINVAL,
			      "block '%.64s': address 0x%llx, length %llu: %s",
			      b->name, b->addr, b->length, why);
}

/**
 * rdmamig_ramblocks_check() - refuse early what could not be moved
 * @ram: the table, filled with names, addresses and lengths
 * @mm: the owner's
 * @role: a target's memory must be writable and pinnable for writing
 * @extack: gets the name of the block and what is wrong with it
 *
 * Also sums up the lengths and gives the blocks of a target their cookies:
 * offsets one behind the other, and bases that tell a peer nothing of where the
 * memory really is.
 *
 * Context: process context; takes the mmap lock for reading.
 *
 * Return: 0 or a negative errno with @extack set: -EINVAL, -EEXIST, -EFAULT
 * for memory that is not mapped or cannot be pinned, -ESRCH without an owner.
 */
int rdmamig_ramblocks_check(struct rdmamig_ramblocks *ram,
			    struct mm_struct *mm, enum rdmamig_role role,
			    struct netlink_ext_ack *extack)
{
	u64 offset = 0;
	int err = 0;
	u32 i;

	ram->bytes = 0;
	for (i = 0; i < ram->count; i++) {
		struct rdmamig_block *b = &ram->v[i];

		err = check_block(b, extack);
		if (err)
			return err;
		if (role == RDMAMIG_ROLE_TARGET) {
			b->offset = offset;
			b->base = (1ull << 40) + offset;
			offset += round_up(b->length, 1ull << 30);
		}
		ram->bytes += b->length;
	}

	err = check_table(ram, extack);
	if (err)
		return err;

	if (!mmget_not_zero(mm))
		return rdmamig_refuse(extack, -ESRCH,
				      "the owner of the memory has exited");
	mmap_read_lock(mm);
	for (i = 0; i < ram->count && !err; i++)
		err = check_mapping(&ram->v[i], mm, role, extack);
	mmap_read_unlock(mm);
	mmput_async(mm);
	return err;
}

/* See the top of the file: note it and kick, nothing else. */
static bool block_invalidate(struct mmu_interval_notifier *watch,
			     const struct mmu_notifier_range *range,
			     unsigned long seq)
{
	struct rdmamig_block *b = container_of(watch, struct rdmamig_block,
					       watch);
	u64 first, last;

	/* The session has its own ear for this: see watch_owner(). */
	if (range->event == MMU_NOTIFY_RELEASE)
		return true;

	first = max_t(u64, range->start, b->addr) - b->addr;
	last = min_t(u64, range->end, b->addr + b->length) - b->addr - 1;
	first >>= RDMAMIG_CHUNK_SHIFT;
	last >>= RDMAMIG_CHUNK_SHIFT;

	spin_lock(&b->watch_lock);
	mmu_interval_set_seq(watch, seq);
	if (b->suspect) {
		b->suspect_first = min(b->suspect_first, first);
		b->suspect_last = max(b->suspect_last, last);
	} else {
		b->suspect_first = first;
		b->suspect_last = last;
		b->suspect = true;
	}
	spin_unlock(&b->watch_lock);
	rdmamig_session_kick(b->s);
	return true;
}

static const struct mmu_interval_notifier_ops watch_ops = {
	.invalidate = block_invalidate,
};

/**
 * rdmamig_ramblocks_watch() - be told when the owner's mappings change
 * @ram: the table
 * @s: its session, whose mm has a user
 *
 * Context: process context; sleeps; takes the mmap lock.
 *
 * Return: 0 or a negative errno; then nothing is watched.
 */
int rdmamig_ramblocks_watch(struct rdmamig_ramblocks *ram,
			    struct rdmamig_session *s)
{
	u32 i;
	int err;

	for (i = 0; i < ram->count; i++) {
		struct rdmamig_block *b = &ram->v[i];

		b->s = s;
		err = mmu_interval_notifier_insert(&b->watch, s->mm, b->addr,
						   b->length, &watch_ops);
		if (err) {
			rdmamig_ramblocks_unwatch(ram);
			return err;
		}
		b->watched = true;
	}
	return 0;
}

/**
 * rdmamig_ramblocks_unwatch() - the reverse; nobody looks at the memory any more
 * @ram: the table, watched or not
 *
 * Context: process context; waits for callbacks that run.
 */
void rdmamig_ramblocks_unwatch(struct rdmamig_ramblocks *ram)
{
	u32 i;

	for (i = 0; i < ram->count; i++) {
		if (!ram->v[i].watched)
			continue;
		mmu_interval_notifier_remove(&ram->v[i].watch);
		ram->v[i].watched = false;
		/* An open file would keep the owner's memory alive. */
		if (ram->v[i].seek)
			fput(ram->v[i].seek);
		ram->v[i].seek = NULL;
	}
}

/**
 * rdmamig_ramblock_suspect() - take the range whose pages may have gone
 * @b: a watched block
 * @first: chunk index
 * @last: chunk index
 *
 * Whoever takes it looks at it: it is told once.
 *
 * Context: the session's thread.
 *
 * Return: false when there is none.
 */
bool rdmamig_ramblock_suspect(struct rdmamig_block *b, u64 *first, u64 *last)
{
	bool suspect;

	if (!READ_ONCE(b->suspect))
		return false;
	spin_lock(&b->watch_lock);
	suspect = b->suspect;
	*first = b->suspect_first;
	*last = b->suspect_last;
	b->suspect = false;
	spin_unlock(&b->watch_lock);
	return suspect;
}

/**
 * rdmamig_ramblocks_find() - a block by its name
 * @ram: the table
 * @name: not terminated
 * @name_len: bytes
 *
 * Context: any.
 *
 * Return: the block or NULL.
 */
struct rdmamig_block *rdmamig_ramblocks_find(struct rdmamig_ramblocks *ram,
					     const char *name, u16 name_len)
{
	u32 i;

	for (i = 0; i < ram->count; i++)
		if (ram->v[i].name_len == name_len &&
		    !memcmp(ram->v[i].name, name, name_len))
			return &ram->v[i];
	return NULL;
}

/**
 * rdmamig_ramblocks_dirty() - bytes of a source that are still to be sent
 * @ram: the table
 *
 * Context: any.
 *
 * Return: bytes, the page being the unit.
 */
u64 rdmamig_ramblocks_dirty(const struct rdmamig_ramblocks *ram)
{
	u64 bytes = 0;
	u32 i;

	for (i = 0; i < ram->count; i++)
		bytes += rdmamig_dirty_bytes(&ram->v[i].dirty);
	return bytes;
}
