// SPDX-License-Identifier: GPL-2.0
/*
 * The owner's pages: look at them, pin and map them for DMA, and the reverse
 * in the only legal order (no key and no write any more, then unmap, then
 * unpin).
 *
 * Absent pages are never made resident to be read.  FOLL_DUMP finds the holes of
 * anonymous and hugetlb memory; the holes of tmpfs and memfd memory are found
 * with SEEK_DATA on a private open file, since a lookup there would fill them.
 * A hole in a chunk that is sent is sent from the kernel's page of zeroes.
 *
 * A source pins with FOLL_WRITE where the mapping is private and writable: such a
 * page, pinned for reading alone, would be replaced by the owner's next store.
 *
 * Each batch takes a users reference of the owner's mm and drops it with
 * mmput_async(): the owner can exit at any time, and is seen to.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/highmem.h>
#include <linux/hugetlb_inline.h>
#include <linux/magic.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/string.h>

#include "chunk.h"
#include "compat/compat.h"
#include "conn.h"
#include "pin.h"
#include "session.h"
#include "trace.h"

#define LOOK_PAGES	16	/* pages looked at in one go */
#define PIN_TRIES	5	/* more, where a page would not move */

/* The owner's memory at one place: what kind it is, or a hole. */
struct place {
	u64 end;		/* of the mapping or the wanted range */
	bool hole;		/* absent up to @end */
	bool may_cow;		/* a store may replace the page */
	bool dumps;		/* FOLL_DUMP tells its holes */
};

/*
 * Opens the file behind a shared mapping once more, so that seeking in it
 * moves nobody's position.  Called with the mmap lock, which is dropped.
 */
static void open_seek(struct rdmamig_block *b, struct mm_struct *mm,
		      struct vm_area_struct *vma)
{
	struct file *file = get_file(vma->vm_file);

	mmap_read_unlock(mm);
	b->seek_tried = true;
	b->seek = dentry_open(&file->f_path, O_RDONLY | O_LARGEFILE,
			      current_cred());
	if (IS_ERR(b->seek))
		b->seek = NULL;
	fput(file);
}

/*
 * The extent of @b->seek at @pos.  For a hole, @next is where it ends; else it is
 * 0 and the extent of data is kept: the search for its end walks every page up
 * to there, so it is not done again for each chunk.  A page that is dropped from
 * it since is taken for data, which costs a page of zeroes, no more; a hole is
 * never kept, since it may be filled at any time.
 */
static void find_extent(struct rdmamig_block *b, loff_t pos, loff_t *next)
{
	loff_t data = vfs_llseek(b->seek, pos, SEEK_DATA), end;

	*next = 0;
	if (data == -ENXIO)
		*next = MAX_LFS_FILESIZE;
	else if (data >= pos + (loff_t)PAGE_SIZE)
		*next = round_down(data, PAGE_SIZE);
	if (*next)
		return;
	end = vfs_llseek(b->seek, pos, SEEK_HOLE);
	b->data_from = pos;
	b->data_to = max_t(loff_t, round_up(end, PAGE_SIZE), pos + PAGE_SIZE);
}

/*
 * What is at @addr.  Returns with the mmap lock held on 0.  For a shared file
 * mapping the extent of data or of the hole is asked of the file, without the
 * lock, since a file system takes its own locks outside of it.
 */
static int find_place(struct rdmamig_block *b, struct mm_struct *mm, u64 addr,
		      u64 end, struct place *place)
{
	struct vm_area_struct *vma;
	loff_t pos, next;

again:
	mmap_read_lock(mm);
	vma = find_vma(mm, addr);
	if (!vma || vma->vm_start > addr || !(vma->vm_flags & VM_READ)) {
		mmap_read_unlock(mm);
		return -EFAULT;
	}
	place->end = min_t(u64, end, vma->vm_end);
	place->hole = false;
	place->dumps = vma_is_anonymous(vma) || is_vm_hugetlb_page(vma);
	place->may_cow = (vma->vm_flags & (VM_SHARED | VM_WRITE)) == VM_WRITE;
	/* Only tmpfs: other file systems may have to ask a server. */
	if (!(vma->vm_flags & VM_SHARED) || !vma->vm_file || place->dumps ||
	    file_inode(vma->vm_file)->i_sb->s_magic != TMPFS_MAGIC)
		return 0;
	if (!b->seek_tried) {
		open_seek(b, mm, vma);
		goto again;
	}
	/* A block of several files keeps to the first: the rest is data. */
	if (!b->seek || file_inode(b->seek) != file_inode(vma->vm_file))
		return 0;

	pos = addr - vma->vm_start + ((loff_t)vma->vm_pgoff << PAGE_SHIFT);
	if (pos < b->data_from || pos >= b->data_to) {
		mmap_read_unlock(mm);
		find_extent(b, pos, &next);
		mmap_read_lock(mm);
		if (next) {
			place->hole = true;
			place->end = min_t(u64, place->end, addr + next - pos);
			return 0;
		}
	}
	place->end = min_t(u64, place->end, addr + b->data_to - pos);
	return 0;
}

static bool page_is_zero(struct page *page)
{
	void *va = kmap_local_page(page);
	bool zero = !memchr_inv(va, 0, PAGE_SIZE);

	kunmap_local(va);
	return zero;
}

/*
 * Looks at up to LOOK_PAGES pages of @place at @addr, without filling anything.
 * Returns pages found, 0 when the first is absent, or an errno.
 */
static long look(struct mm_struct *mm, u64 addr, const struct place *place,
		 struct page **pages)
{
	long got = rdmamig_compat_get(mm, addr,
				      min_t(u64, LOOK_PAGES,
					    (place->end - addr) >> PAGE_SHIFT),
				      FOLL_DUMP, pages);

	return got == -EFAULT && place->dumps ? 0 : got;
}

/* What scan() looks for. */
enum find {
	FIND_DATA,	/* a page that is not zero */
	FIND_HOLE,	/* a page that is absent */
};

/* 1 when there is one in the range, 0 when not, or a negative errno. */
static int scan(struct rdmamig_session *s, struct rdmamig_block *b, u64 offset,
		u32 bytes, enum find find)
{
	u64 addr = b->addr + offset, end = addr + bytes;
	struct page *pages[LOOK_PAGES];
	struct place place;
	int found = 0;
	long got, i;

	if (!mmget_not_zero(s->mm))
		return -ESRCH;

	while (addr < end && !found) {
		found = find_place(b, s->mm, addr, end, &place);
		if (found)
			break;
		if (place.hole) {
			found = find == FIND_HOLE;
			addr = place.end;
		}
		while (addr < place.end && !found) {
			got = look(s->mm, addr, &place, pages);
			if (got < 0)
				found = got;
			else if (!got)
				found = find == FIND_HOLE;
			for (i = 0; i < got; i++) {
				if (find == FIND_DATA)
					found |= !page_is_zero(pages[i]);
				put_page(pages[i]);
			}
			addr += max(got, 1L) << PAGE_SHIFT;
		}
		mmap_read_unlock(s->mm);
	}
	mmput_async(s->mm);
	return found;
}

/**
 * rdmamig_pin_is_zero() - is a range of a source all zero or absent
 * @s: session
 * @b: its block
 * @offset: bytes into the block, page aligned
 * @bytes: of the range, page aligned
 *
 * Looks without pinning and without making anything resident.
 *
 * Context: the session's thread; sleeps, takes the mmap lock for reading.
 *
 * Return: 1 when it is, 0 when not, -EFAULT when it is not mapped any more,
 * -ESRCH when the owner is gone.
 */
int rdmamig_pin_is_zero(struct rdmamig_session *s, struct rdmamig_block *b,
			u64 offset, u32 bytes)
{
	int data = scan(s, b, offset, bytes, FIND_DATA);

	return data < 0 ? data : !data;
}

/**
 * rdmamig_pin_has_hole() - is a page of a range absent
 * @s: session
 * @b: its block
 * @offset: bytes into the block, page aligned
 * @bytes: of the range, page aligned
 *
 * Context: the session's thread; sleeps, takes the mmap lock for reading.
 *
 * Return: 1 or 0, or as rdmamig_pin_is_zero().
 */
int rdmamig_pin_has_hole(struct rdmamig_session *s, struct rdmamig_block *b,
			 u64 offset, u32 bytes)
{
	return scan(s, b, offset, bytes, FIND_HOLE);
}

/* Pins what is there of a source's chunk; the zero page stands for holes. */
static long pin_source(struct rdmamig_session *s, struct rdmamig_block *b,
		       u64 addr, u64 end, struct page **pages)
{
	unsigned int flags = FOLL_LONGTERM | FOLL_DUMP;
	struct place place;
	long got;

	got = find_place(b, s->mm, addr, end, &place);
	if (got)
		return got;
	if (place.hole) {
		got = (place.end - addr) >> PAGE_SHIFT;
		memset_p((void **)pages, ZERO_PAGE(0), got);
	} else {
		if (place.may_cow)
			flags |= FOLL_WRITE;
		got = rdmamig_compat_pin(s->mm, addr,
					 (place.end - addr) >> PAGE_SHIFT,
					 flags, pages);
		if (got == -EFAULT && place.dumps) {
			pages[0] = ZERO_PAGE(0);
			got = 1;
		}
	}
	mmap_read_unlock(s->mm);
	return got;
}

static long pin_target(struct rdmamig_session *s, u64 addr, u64 end,
		       struct page **pages)
{
	long got;

	mmap_read_lock(s->mm);
	got = rdmamig_compat_pin(s->mm, addr, (end - addr) >> PAGE_SHIFT,
				 FOLL_WRITE | FOLL_LONGTERM, pages);
	mmap_read_unlock(s->mm);
	return got;
}

static void unpin_pages(struct page **pages, u32 nr)
{
	u32 i;

	for (i = 0; i < nr; i++)
		if (pages[i] != ZERO_PAGE(0))
			unpin_user_page(pages[i]);
}

static void account(struct rdmamig_session *s, struct rdmamig_block *b,
		    s64 bytes)
{
	u64 now = s->stats.pinned_bytes + bytes;

	WRITE_ONCE(s->stats.pinned_bytes, now);
	WRITE_ONCE(b->pinned, b->pinned + bytes);
	if (now > s->stats.pinned_peak)
		WRITE_ONCE(s->stats.pinned_peak, now);
}

static enum dma_data_direction dma_dir(const struct rdmamig_session *s)
{
	/* A peer writes parts of a target's chunk: the rest must survive. */
	return s->role == RDMAMIG_ROLE_SOURCE ? DMA_TO_DEVICE :
						DMA_BIDIRECTIONAL;
}

/* Pins and maps; on failure nothing is held. */
static int pin_and_map(struct rdmamig_session *s, struct rdmamig_chunk *chunk)
{
	u64 addr = chunk->block->addr + rdmamig_chunk_offset(chunk);
	struct ib_device *dev = s->conn->id->device;
	struct page **pages = s->conn->pages;
	u32 nr = chunk->bytes >> PAGE_SHIFT;
	u64 end = addr + chunk->bytes;
	u32 done = 0, tries = 0, i;
	long got = 0;
	int err;

	if (!mmget_not_zero(s->mm))
		return -ESRCH;
	/*
	 * A change of the mapping that is under way may still find the old page
	 * here: let it end.  One that begins later makes the chunk suspect.
	 */
	mmu_interval_read_begin(&chunk->block->watch);
	while (done < nr) {
		u64 at = addr + ((u64)done << PAGE_SHIFT);

		if (s->role == RDMAMIG_ROLE_SOURCE)
			got = pin_source(s, chunk->block, at, end,
					 pages + done);
		else
			got = pin_target(s, at, end, pages + done);
		/* A page that had to move first may not have been able to. */
		if ((got == -EAGAIN || got == -EBUSY || got == -ENOMEM) &&
		    tries++ < PIN_TRIES) {
			cond_resched();
			continue;
		}
		if (got <= 0)
			break;
		done += got;
	}
	mmput_async(s->mm);
	err = got < 0 ? got : done < nr ? -EFAULT : 0;
	if (err)
		goto unpin;
	chunk->holes = false;
	for (i = 0; i < nr; i++)
		chunk->holes |= pages[i] == ZERO_PAGE(0);

	err = sg_alloc_table_from_pages_segment(&chunk->sgt, pages, nr, 0,
						chunk->bytes,
						ib_dma_max_seg_size(dev),
						GFP_KERNEL);
	if (err)
		goto unpin;
	err = ib_dma_map_sgtable_attrs(dev, &chunk->sgt, dma_dir(s), 0);
	if (!err)
		return 0;

	sg_free_table(&chunk->sgt);
unpin:
	unpin_pages(pages, done);
	memset(&chunk->sgt, 0, sizeof(chunk->sgt));
	return err;
}

static void unmap_and_unpin(struct rdmamig_session *s,
			    struct rdmamig_chunk *chunk)
{
	bool dirty = s->role == RDMAMIG_ROLE_TARGET;
	struct scatterlist *sg;
	unsigned int i;

	if (!chunk->sgt.sgl)
		return;
	ib_dma_unmap_sgtable_attrs(s->conn->id->device, &chunk->sgt,
				   dma_dir(s), 0);
	for_each_sgtable_sg(&chunk->sgt, sg, i)
		if (sg_page(sg) != ZERO_PAGE(0))
			unpin_user_page_range_dirty_lock(sg_page(sg),
							 sg->length >> PAGE_SHIFT,
							 dirty);
	sg_free_table(&chunk->sgt);
	memset(&chunk->sgt, 0, sizeof(chunk->sgt));
}

/**
 * rdmamig_pin_chunk() - pin and map a chunk
 * @s: session, connected
 * @chunk: IDLE
 *
 * On success the chunk is PINNED, @chunk->sgt is mapped, and the chunk's whole
 * length counts as pinned, holes included.
 *
 * Context: the session's thread; sleeps, takes the mmap lock for reading.
 *
 * Return: 0, -ESRCH when the owner is gone, -EFAULT when the range is not
 * mapped (or not as it has to be), or another errno of pinning or mapping;
 * then nothing is held.
 */
int rdmamig_pin_chunk(struct rdmamig_session *s, struct rdmamig_chunk *chunk)
{
	int err = pin_and_map(s, chunk);

	if (err)
		return err;
	rdmamig_chunk_move(chunk, RDMAMIG_CHUNK_PINNED);
	account(s, chunk->block, chunk->bytes);
	return 0;
}

/**
 * rdmamig_pin_renew() - let a chunk's pages go and pin what is there now
 * @s: source session
 * @chunk: pinned, no write of it under way; its state and count stay
 *
 * Context: the session's thread; sleeps, takes the mmap lock for reading.
 *
 * Return: as rdmamig_pin_chunk(); after an error the chunk holds no page and
 * can only be given back.
 */
int rdmamig_pin_renew(struct rdmamig_session *s, struct rdmamig_chunk *chunk)
{
	unmap_and_unpin(s, chunk);
	return pin_and_map(s, chunk);
}

/**
 * rdmamig_unpin_chunk() - unmap and unpin a chunk, and end its life
 * @s: session
 * @chunk: UNPIN: no key is valid and no write under way
 *
 * Context: the session's thread; sleeps.
 */
void rdmamig_unpin_chunk(struct rdmamig_session *s,
			 struct rdmamig_chunk *chunk)
{
	unmap_and_unpin(s, chunk);
	account(s, chunk->block, -(s64)chunk->bytes);
	rdmamig_chunk_move(chunk, RDMAMIG_CHUNK_IDLE);
	rdmamig_chunk_free(chunk);
}

static bool same_pages(struct mm_struct *mm, u64 addr,
		       struct rdmamig_chunk *chunk)
{
	struct sg_page_iter iter;
	struct page *page;
	bool same = true;
	long got;

	for_each_sgtable_page(&chunk->sgt, &iter, 0) {
		if (sg_page_iter_page(&iter) != ZERO_PAGE(0)) {
			/* FORCE: a page that the owner may not touch is there. */
			got = rdmamig_compat_get(mm, addr, 1,
						 FOLL_DUMP | FOLL_FORCE, &page);
			if (got != 1)
				return false;
			same = page == sg_page_iter_page(&iter);
			put_page(page);
		}
		if (!same)
			return false;
		addr += PAGE_SIZE;
	}
	return true;
}

/**
 * rdmamig_pin_is_current() - are the pinned pages still the owner's
 * @s: session, its block watched
 * @chunk: pinned
 *
 * Waits for a change of the mapping that is under way, by the sequence of the
 * interval notifier, so that a page about to go is not taken for one that
 * stays.
 *
 * Context: the session's thread; sleeps, takes the mmap lock for reading.
 *
 * Return: false when at least one page is another one, or absent.
 */
bool rdmamig_pin_is_current(struct rdmamig_session *s,
			    struct rdmamig_chunk *chunk)
{
	u64 addr = chunk->block->addr + rdmamig_chunk_offset(chunk);
	struct mmu_interval_notifier *watch = &chunk->block->watch;
	unsigned long seq;
	bool same;

	if (!mmget_not_zero(s->mm))
		return false;
	do {
		seq = mmu_interval_read_begin(watch);
		mmap_read_lock(s->mm);
		same = same_pages(s->mm, addr, chunk);
		mmap_read_unlock(s->mm);
	} while (mmu_interval_read_retry(watch, seq));
	mmput_async(s->mm);
	return same;
}

/**
 * rdmamig_pin_block_is_current() - the same for a block with one region
 * @s: target session
 * @b: its block, registered whole
 * @first: chunk index
 * @last: chunk index
 *
 * The region holds the pages and does not tell which; but a page that came
 * after it was registered is not pinned.
 *
 * Context: the session's thread; sleeps, takes the mmap lock for reading.
 *
 * Return: false when a page is absent or not a pinned one.
 */
bool rdmamig_pin_block_is_current(struct rdmamig_session *s,
				  struct rdmamig_block *b, u64 first, u64 last)
{
	u64 addr = b->addr + (first << RDMAMIG_CHUNK_SHIFT);
	u64 end = b->addr + min(b->length, (last + 1) << RDMAMIG_CHUNK_SHIFT);
	struct page *page;
	bool same = true;

	if (!mmget_not_zero(s->mm))
		return false;
	mmu_interval_read_begin(&b->watch);
	for (; addr < end && same; addr += PAGE_SIZE) {
		mmap_read_lock(s->mm);
		same = rdmamig_compat_get(s->mm, addr, 1,
					  FOLL_DUMP | FOLL_FORCE, &page) == 1;
		if (same) {
			same = folio_maybe_dma_pinned(page_folio(page));
			put_page(page);
		}
		mmap_read_unlock(s->mm);
	}
	mmput_async(s->mm);
	return same;
}

/* Zeroes one page that is there and not zero. */
static long zero_page(struct mm_struct *mm, u64 addr)
{
	struct page *page;
	long got = rdmamig_compat_get(mm, addr, 1, FOLL_WRITE, &page);

	if (got != 1)
		return got < 0 ? got : -EFAULT;
	clear_highpage(page);
	set_page_dirty_lock(page);
	put_page(page);
	return 0;
}

/**
 * rdmamig_pin_zero() - zero a range of a target
 * @s: session
 * @b: its block
 * @offset: bytes into the block, page aligned
 * @length: bytes, page aligned
 *
 * Zeroes what is resident and not zero yet; what is absent stays absent.
 *
 * Context: the session's thread; sleeps, takes the mmap lock for reading.
 *
 * Return: 0, -ESRCH when the owner is gone, -EINTR when the session was asked
 * to end, -EFAULT when the range is not mapped for writing.
 */
int rdmamig_pin_zero(struct rdmamig_session *s, struct rdmamig_block *b,
		     u64 offset, u64 length)
{
	u64 addr = b->addr + offset, end = addr + length;
	struct page *pages[LOOK_PAGES];
	struct place place;
	long got, i, err = 0;

	while (addr < end && !err) {
		/* A piece at a time, so that the owner can exit. */
		if (!mmget_not_zero(s->mm))
			return -ESRCH;
		err = find_place(b, s->mm, addr,
				 min_t(u64, end, addr + RDMAMIG_CHUNK_SIZE),
				 &place);
		if (err) {
			mmput_async(s->mm);
			break;
		}
		while (!place.hole && addr < place.end && !err) {
			got = look(s->mm, addr, &place, pages);
			for (i = 0; i < got; i++) {
				if (!err && !page_is_zero(pages[i]))
					err = zero_page(s->mm, addr +
							(i << PAGE_SHIFT));
				put_page(pages[i]);
			}
			if (got < 0)
				err = got;
			addr += max(got, 1L) << PAGE_SHIFT;
		}
		if (place.hole)
			addr = place.end;
		mmap_read_unlock(s->mm);
		mmput_async(s->mm);
		if (rdmamig_asked(s, RDMAMIG_ASK_CANCEL))
			err = -EINTR;
	}
	return err;
}

/* The task whose limit is charged: the owner of the mm, referenced. */
static struct task_struct *owner_task(struct mm_struct *mm)
{
	struct task_struct *task;

	rcu_read_lock();
	task = rcu_dereference(mm->owner);
	if (task)
		get_task_struct(task);
	rcu_read_unlock();
	return task;
}

static bool may_lock_any(struct task_struct *task)
{
	const struct cred *cred = get_task_cred(task);
	bool may = cred->user_ns == &init_user_ns &&
		   cap_raised(cred->cap_effective, CAP_IPC_LOCK);

	put_cred(cred);
	return may;
}

/**
 * rdmamig_pin_charge() - charge a limit to the owner's locked memory
 * @s: session that charged nothing yet
 * @bytes: the limit
 * @allowed: on -ENOMEM: the owner's RLIMIT_MEMLOCK, bytes
 *
 * The whole limit is charged once, not each chunk: so a session that began can
 * go on.
 *
 * Context: process context; takes the mmap lock for writing.
 *
 * Return: 0, -ENOMEM when the owner's limit is too small, -ESRCH when the owner
 * is gone.
 */
int rdmamig_pin_charge(struct rdmamig_session *s, u64 bytes, u64 *allowed)
{
	unsigned long pages = DIV_ROUND_UP_ULL(bytes, PAGE_SIZE);
	struct task_struct *task;
	int err = -ESRCH;

	*allowed = 0;
	if (!mmget_not_zero(s->mm))
		return -ESRCH;
	task = owner_task(s->mm);
	if (!task)
		goto put_mm;

	*allowed = task_rlimit(task, RLIMIT_MEMLOCK);
	mmap_write_lock(s->mm);
	err = __account_locked_vm(s->mm, pages, true, task, may_lock_any(task));
	mmap_write_unlock(s->mm);
	if (!err)
		s->locked_pages = pages;
	put_task_struct(task);
put_mm:
	mmput_async(s->mm);
	return err;
}

/**
 * rdmamig_pin_uncharge() - give back what rdmamig_pin_charge() took
 * @s: session; one that charged nothing is fine
 *
 * Context: process context; takes the mmap lock for writing.
 */
void rdmamig_pin_uncharge(struct rdmamig_session *s)
{
	if (!s->locked_pages)
		return;
	if (mmget_not_zero(s->mm)) {
		mmap_write_lock(s->mm);
		__account_locked_vm(s->mm, s->locked_pages, false, current,
				    true);
		mmap_write_unlock(s->mm);
		mmput_async(s->mm);
	}
	s->locked_pages = 0;
}
