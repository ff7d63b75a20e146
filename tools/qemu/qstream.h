/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What must be understood of QEMU's migration stream to stand in for a QEMU:
 * the list of RAM blocks, the kind of each window, and the end.  The rest
 * belongs to QEMU's devices and stays opaque.  The stream is one range of
 * memory, be it a buffer that grows or a mapped file; nothing keeps a pointer
 * into it.  Every byte of it comes from a peer and is believed only as far as
 * it was checked.
 *
 * Functions that return a sentence return NULL on success.  A refusal is a
 * constant string without a newline.
 */
#ifndef QSTREAM_H
#define QSTREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QSTREAM_NAME_MAX	255
#define QSTREAM_BLOCKS_MAX	16383

/* Extra words after each block's length; a capability of the source each. */
enum qstream_layout {
	QSTREAM_PLAIN,		/* none */
	QSTREAM_ONE_EXTRA,	/* page size, or guest address */
	QSTREAM_TWO_EXTRA,	/* page size and guest address */
};

struct qstream_block {
	char name[QSTREAM_NAME_MAX + 1];	/* terminated, not escaped */
	uint64_t length;			/* bytes, never 0 */
};

struct qstream_blocks {
	struct qstream_block *block;	/* in the source's order */
	uint32_t count;
	uint32_t section;		/* id of the RAM section */
	uint64_t total;			/* sum of the lengths */
	size_t setup;			/* offset of the first window */
	enum qstream_layout layout;
};

enum qstream_window {
	QSTREAM_WINDOW_UNKNOWN,
	QSTREAM_WINDOW_SETUP,		/* the blocks are exchanged */
	QSTREAM_WINDOW_PART,		/* a round of pages */
	QSTREAM_WINDOW_END,		/* the last pages */
};

/* Does a stream begin here?  Puts the machine type, or "", into @machine. */
const char *qstream_check_start(const void *buf, size_t len,
				char machine[QSTREAM_NAME_MAX + 1]);

/*
 * Finds the block list in a stream of which @len bytes were there when
 * RAM_BLOCKS_REQUEST came.  On success free @blocks with
 * qstream_free_blocks(); on failure it is empty.
 */
const char *qstream_find_blocks(const void *buf, size_t len,
				struct qstream_blocks *blocks);
void qstream_free_blocks(struct qstream_blocks *blocks);

/* What window is opened by the HOOK that ends at @offset? */
enum qstream_window qstream_window_kind(const void *buf, size_t offset,
					const struct qstream_blocks *blocks);
const char *qstream_window_name(enum qstream_window kind);

/* Does the source close its sections with footers (machine types from 2.4)? */
bool qstream_has_footers(const void *buf, size_t len,
			 const struct qstream_blocks *blocks);

/*
 * Is the stream whole, by its JSON description?  Ask only after the window of
 * kind END was closed; then ask as often as you like: it is cheap unless the
 * stream ends in a closing brace.
 */
bool qstream_is_complete(const void *buf, size_t len,
			 const struct qstream_blocks *blocks);

/*
 * The weaker question, for sources told not to describe themselves: may the
 * stream be whole although it has no description?  Ask only once the source
 * has disconnected, without ERROR and after the END window was closed.
 */
bool qstream_may_be_complete(const void *buf, size_t len);

#endif /* QSTREAM_H */
