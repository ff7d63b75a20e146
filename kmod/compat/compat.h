/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The only place that knows that kernels differ.  Each RDMAMIG_HAVE_ macro is
 * set by a probe in Kbuild, which looks at the headers and never at a version,
 * because distributions backport.
 */
#ifndef RDMAMIG_COMPAT_H
#define RDMAMIG_COMPAT_H

#include <linux/mm.h>
#include <net/genetlink.h>

/**
 * rdmamig_compat_pin() - pin_user_pages_remote() of every kernel
 * @mm: whose memory; its users reference and its mmap_lock (read) are held
 * @start: user address, page aligned
 * @nr: pages
 * @flags: FOLL_ flags
 * @pages: room for @nr
 *
 * Return: pages pinned, at least 1, or a negative errno.
 */
static inline long rdmamig_compat_pin(struct mm_struct *mm,
				      unsigned long start, unsigned long nr,
				      unsigned int flags, struct page **pages)
{
#ifdef RDMAMIG_HAVE_GUP_VMAS
	return pin_user_pages_remote(mm, start, nr, flags, pages, NULL, NULL);
#else
	return pin_user_pages_remote(mm, start, nr, flags, pages, NULL);
#endif
}

/* As rdmamig_compat_pin(), but a plain reference, for a look at the page. */
static inline long rdmamig_compat_get(struct mm_struct *mm,
				      unsigned long start, unsigned long nr,
				      unsigned int flags, struct page **pages)
{
#ifdef RDMAMIG_HAVE_GUP_VMAS
	return get_user_pages_remote(mm, start, nr, flags, pages, NULL, NULL);
#else
	return get_user_pages_remote(mm, start, nr, flags, pages, NULL);
#endif
}

/* The attributes of the request that a dump answers. */
static inline struct nlattr **
rdmamig_compat_dump_attrs(struct netlink_callback *cb)
{
#ifdef RDMAMIG_HAVE_DUMPIT_GENL_INFO
	return genl_dumpit_info(cb)->info.attrs;
#else
	return genl_dumpit_info(cb)->attrs;
#endif
}

#endif /* RDMAMIG_COMPAT_H */
