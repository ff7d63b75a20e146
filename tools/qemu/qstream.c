// SPDX-License-Identifier: GPL-2.0
/*
 * Reading QEMU's migration stream, see Documentation/protocol.rst.
 *
 * The stream has no lengths that would let one step from section to section:
 * what a device writes is known to that device only.  So nothing is parsed
 * from the front.  The block list is found from its end, which is where the
 * first window opens, and is believed only if it fits between the start of
 * the RAM section and that window to the byte.
 */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "qstream.h"

#define MAGIC			0x5145564du	/* "QEVM" */
#define VERSION			3
#define SECTION_EOF		0x00
#define SECTION_START		0x01
#define SECTION_PART		0x02
#define SECTION_END		0x03
#define SECTION_DESCRIPTION	0x06
#define SECTION_CONFIG		0x07
#define SECTION_FOOTER		0x7e

#define FLAG_MEM_SIZE		0x004u
#define FLAG_EOS		0x010u
#define FLAG_HOOK		0x080u
#define FLAGS			0x3ffu		/* pages have 1 KiB or more */

#define HOOK_LEN		8u
#define HEADER_LEN		5u		/* type, section id */
#define FOOTER_LEN		5u

/* Length-prefixed "ram", instance 0, version 4. */
static const uint8_t signature[12] = {
	3, 'r', 'a', 'm', 0, 0, 0, 0, 0, 0, 0, 4
};

/* The longest list: the farthest that a start can lie before the window. */
#define ENTRY_MAX	(1u + QSTREAM_NAME_MAX + 3u * 8u)
#define LIST_MAX	((size_t)QSTREAM_BLOCKS_MAX * ENTRY_MAX)
#define STARTS_MAX	256	/* bounds the time that a hostile stream takes */

static uint32_t get32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return be32toh(v);
}

static uint64_t get64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return be64toh(v);
}

/**
 * qstream_check_start() - see whether this is a migration stream
 * @buf: the stream from its first byte
 * @len: bytes there so far
 * @machine: the machine type, terminated; empty for machines before 2.4
 *
 * Return: NULL, or a sentence that says why not.
 */
const char *qstream_check_start(const void *buf, size_t len,
				char machine[QSTREAM_NAME_MAX + 1])
{
	const uint8_t *p = buf;
	uint32_t n;

	machine[0] = '\0';
	if (len < 8)
		return "stream is shorter than its magic and version";
	if (get32(p) != MAGIC)
		return "stream does not begin with QEMU's magic";
	if (get32(p + 4) != VERSION)
		return "stream is not of version 3";
	if (len < 9 || p[8] != SECTION_CONFIG)
		return NULL;
	if (len < 13)
		return "configuration of the stream is cut short";
	n = get32(p + 9);
	if (n > QSTREAM_NAME_MAX)
		return "machine type in the stream is too long";
	if (n > len - 13)
		return "configuration of the stream is cut short";
	memcpy(machine, p + 13, n);
	machine[n] = '\0';
	return NULL;
}

/*
 * Walks a list in one layout.  True if it adds up to @total exactly where
 * @end is.  Entries are stored if @block is not NULL.
 */
static bool walk_list(const uint8_t *p, const uint8_t *end, uint64_t total,
		      enum qstream_layout layout, struct qstream_block *block,
		      uint32_t *count)
{
	size_t tail = 8 + 8 * (size_t)layout;
	uint64_t sum = 0, length;
	uint32_t n = 0;
	uint8_t name_len;

	while (sum < total && p < end) {
		name_len = *p++;
		if ((size_t)(end - p) < name_len + tail)
			return false;
		length = get64(p + name_len);
		if (length > total - sum)
			return false;
		sum += length;
		if (block) {
			memcpy(block[n].name, p, name_len);
			block[n].name[name_len] = '\0';
			block[n].length = length;
			if (strlen(block[n].name) != name_len)
				block[n].name[0] = '\0';
		}
		p += name_len + tail;
		n++;
	}
	*count = n;
	return sum == total && p == end;
}

static int by_name(const void *a, const void *b)
{
	const struct qstream_block *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

static const char *check_names(const struct qstream_block *block,
			       uint32_t count)
{
	const struct qstream_block **sorted;
	const char *why = NULL;
	uint32_t i;

	sorted = calloc(count, sizeof(*sorted));
	if (!sorted)
		return "out of memory for the block list";
	for (i = 0; i < count; i++)
		sorted[i] = &block[i];
	qsort(sorted, count, sizeof(*sorted), by_name);
	for (i = 1; i < count && !why; i++)
		if (!by_name(&sorted[i - 1], &sorted[i]))
			why = "block list names a block twice";
	free(sorted);
	return why;
}

/* The list fits; now may it be what it says? */
static const char *take_list(const uint8_t *list, const uint8_t *end,
			     uint32_t count, struct qstream_blocks *blocks)
{
	const char *why = NULL;
	uint32_t i;

	if (!count)
		return "block list is empty";
	if (count > QSTREAM_BLOCKS_MAX)
		return "block list has more than 16383 blocks";
	blocks->block = calloc(count, sizeof(*blocks->block));
	if (!blocks->block)
		return "out of memory for the block list";
	walk_list(list, end, blocks->total, blocks->layout, blocks->block,
		  &blocks->count);

	for (i = 0; i < count && !why; i++) {
		if (!blocks->block[i].name[0])
			why = "block list has a block without a proper name";
		else if (!blocks->block[i].length)
			why = "block list has a block of length 0";
	}
	return why ? why : check_names(blocks->block, count);
}

/*
 * Tries what follows a signature at @p, up to the HOOK at @end.  @fits says
 * whether this is the list, for good or ill.
 */
static const char *try_start(const uint8_t *p, const uint8_t *end,
			     struct qstream_blocks *blocks, bool *fits)
{
	const uint8_t *list = p + sizeof(signature) + 8;
	uint64_t word;
	uint32_t count;
	int layout;

	*fits = false;
	if ((size_t)(end - p) < sizeof(signature) + 8)
		return "RAM section is cut short before its block list";
	word = get64(p + sizeof(signature));
	if ((word & FLAGS) != FLAG_MEM_SIZE)
		return "RAM section does not begin with its size";

	for (layout = QSTREAM_PLAIN; layout <= QSTREAM_TWO_EXTRA; layout++) {
		if (!walk_list(list, end, word & ~(uint64_t)FLAGS, layout,
			       NULL, &count))
			continue;
		*fits = true;
		blocks->total = word & ~(uint64_t)FLAGS;
		blocks->layout = layout;
		blocks->section = get32(p - 4);
		return take_list(list, end, count, blocks);
	}
	return "block list does not end at the first window";
}

/**
 * qstream_find_blocks() - find the list of RAM blocks
 * @buf: the stream from its first byte
 * @len: bytes there when RAM_BLOCKS_REQUEST came, which is where a HOOK ends
 * @blocks: the list, on success
 *
 * What looks like the start of a RAM section may be bytes of a device, or part
 * of a block's name.  The start is the last one whose list fits to the byte;
 * that list must then also be a sound one.
 *
 * Return: NULL, or a sentence about the list, or about the last start if the
 * list of none fits.
 */
const char *qstream_find_blocks(const void *buf, size_t len,
				struct qstream_blocks *blocks)
{
	const char *why, *last = "no RAM section before the first window";
	const size_t least = HEADER_LEN + sizeof(signature);
	const uint8_t *stream = buf, *end;
	size_t at, stop = HEADER_LEN;
	unsigned int starts = 0;
	bool fits;

	memset(blocks, 0, sizeof(*blocks));
	if (len < HOOK_LEN || get64(stream + len - HOOK_LEN) != FLAG_HOOK)
		return "stream does not end with a HOOK record";
	len -= HOOK_LEN;
	end = stream + len;
	if (len < least)
		return last;
	if (len > LIST_MAX + 8 + least)
		stop = len - LIST_MAX - 8 - sizeof(signature);

	for (at = len - sizeof(signature); at >= stop; at--) {
		if (stream[at] != signature[0] ||
		    stream[at - HEADER_LEN] != SECTION_START ||
		    memcmp(stream + at, signature, sizeof(signature)))
			continue;
		why = try_start(stream + at, end, blocks, &fits);
		if (!why) {
			blocks->setup = len + HOOK_LEN;
			return NULL;
		}
		if (fits) {
			qstream_free_blocks(blocks);
			return why;
		}
		if (!starts++)
			last = why;
		if (starts == STARTS_MAX)
			break;
	}
	return last;
}

/**
 * qstream_free_blocks() - give back what qstream_find_blocks() made
 * @blocks: the list; empty afterwards, and may be empty before
 */
void qstream_free_blocks(struct qstream_blocks *blocks)
{
	free(blocks->block);
	memset(blocks, 0, sizeof(*blocks));
}

/**
 * qstream_window_kind() - tell what a window is for
 * @buf: the stream from its first byte
 * @offset: where the window's HOOK ends; at least so many bytes are there
 * @blocks: what qstream_find_blocks() found
 *
 * Return: the kind; UNKNOWN if no HOOK of the RAM section ends there.
 */
enum qstream_window qstream_window_kind(const void *buf, size_t offset,
					const struct qstream_blocks *blocks)
{
	const uint8_t *p = buf;

	if (offset == blocks->setup)
		return QSTREAM_WINDOW_SETUP;
	if (offset < HEADER_LEN + HOOK_LEN)
		return QSTREAM_WINDOW_UNKNOWN;
	p += offset - HOOK_LEN;
	if (get64(p) != FLAG_HOOK || get32(p - 4) != blocks->section)
		return QSTREAM_WINDOW_UNKNOWN;
	switch (p[-5]) {
	case SECTION_PART:
		return QSTREAM_WINDOW_PART;
	case SECTION_END:
		return QSTREAM_WINDOW_END;
	}
	return QSTREAM_WINDOW_UNKNOWN;
}

/**
 * qstream_window_name() - the name of a kind of window
 * @kind: the kind
 *
 * Return: a constant word.
 */
const char *qstream_window_name(enum qstream_window kind)
{
	switch (kind) {
	case QSTREAM_WINDOW_SETUP:
		return "setup";
	case QSTREAM_WINDOW_PART:
		return "part";
	case QSTREAM_WINDOW_END:
		return "end";
	case QSTREAM_WINDOW_UNKNOWN:
		break;
	}
	return "unknown";
}

/**
 * qstream_has_footers() - tell whether sections end with a footer
 * @buf: the stream from its first byte
 * @len: bytes there so far
 * @blocks: what qstream_find_blocks() found
 *
 * Looks at what follows the setup window: the end of the RAM section's first
 * payload, then the footer that names the section.
 *
 * Return: true if there is one; false also if the stream is not yet so long.
 */
bool qstream_has_footers(const void *buf, size_t len,
			 const struct qstream_blocks *blocks)
{
	const uint8_t *p = (const uint8_t *)buf + blocks->setup;

	return len >= blocks->setup && len - blocks->setup >= 8 + FOOTER_LEN &&
	       get64(p) == FLAG_EOS && p[8] == SECTION_FOOTER &&
	       get32(p + 9) == blocks->section;
}

/**
 * qstream_is_complete() - tell whether the stream has ended with a description
 * @buf: the stream from its first byte
 * @len: bytes there so far
 * @blocks: what qstream_find_blocks() found
 *
 * The description is JSON text with its length before it, and ends where the
 * stream ends.  JSON has no NUL, so the search ends at the first one; this
 * also bounds it to the text and the bytes of its length.
 *
 * Return: true if the stream ends with the end mark and a description, and
 * with a footer before them if the stream uses footers.
 */
bool qstream_is_complete(const void *buf, size_t len,
			 const struct qstream_blocks *blocks)
{
	const size_t before = 1 + HEADER_LEN;	/* end mark, type, length */
	const uint8_t *stream = buf, *p;
	bool footers;
	size_t n;

	if (len < before + 2 || stream[len - 1] != '}')
		return false;
	footers = qstream_has_footers(buf, len, blocks);
	for (n = 2; n <= len - before; n++) {
		p = stream + len - n;
		if (!*p)
			break;
		if (*p != '{' || get32(p - 4) != n ||
		    p[-5] != SECTION_DESCRIPTION || p[-6] != SECTION_EOF)
			continue;
		if (!footers)
			return true;
		if (len - n >= before + FOOTER_LEN &&
		    p[-11] == SECTION_FOOTER)
			return true;
	}
	return false;
}

/**
 * qstream_may_be_complete() - tell whether the stream may have ended without
 * a description
 * @buf: the stream from its first byte
 * @len: bytes there in the end
 *
 * Return: true if the stream ends with a footer and the end mark.
 */
bool qstream_may_be_complete(const void *buf, size_t len)
{
	const uint8_t *p = buf;

	return len >= FOOTER_LEN + 1 && p[len - 1] == SECTION_EOF &&
	       p[len - 1 - FOOTER_LEN] == SECTION_FOOTER;
}
