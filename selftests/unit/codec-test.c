// SPDX-License-Identifier: GPL-2.0
/*
 * Every rule of every decoder, once kept and once broken.  The sentences are
 * part of what is tested: users read them.
 */
#include "codec.h"
#include "tap.h"

#define PAGE	4096ull
#define MIB	0x100000ull
#define MAX	RDMAMIG_PAYLOAD_MAX

static const struct rdmamig_codec_block blocks[] = {
	{ 0x7f3a40000000, 0, 128 * MIB },
	{ 0x7f3a39e00000, 0x08000000, MIB / 4 },
	{ 0x1000, 0x1000000000, 3 * MIB + PAGE },
	{ 0, 0 - 2 * MIB, 2 * MIB },	/* up to the end of all addresses */
	{ 0x2000, 0x2000000000, 0 },
	{ 0, 0, U64_MAX },
};

static bool get_block(const void *ctx, u32 index,
		      struct rdmamig_codec_block *block)
{
	if (ctx != blocks || index >= ARRAY_SIZE(blocks))
		return false;
	*block = blocks[index];
	return true;
}

static const struct rdmamig_codec_table table = {
	.get = get_block, .ctx = blocks, .page_size = PAGE,
};

/* Fills in @msg for a payload as rdmamig_codec_header() would. */
static void message(struct rdmamig_codec_msg *msg, u32 type, u32 repeat,
		    const void *payload, u32 len)
{
	*msg = (struct rdmamig_codec_msg){
		.type = type, .repeat = repeat, .len = len, .payload = payload,
	};
}

/* Headers: the length field, the bytes received, and what comes of it. */

#define SHORT	"message: shorter than its header"
#define LONG	"message: length above the maximum"
#define DIFFERS	"message: length differs from the bytes received"
#define UNKNOWN	"message: unknown type"

static const struct header_case {
	const char *name;
	u32 type, repeat, len, bytes;
	const char *why;
} header_cases[] = {
	{ "nothing received", 2, 1, 0, 0, SHORT },
	{ "one byte short of a header", 2, 1, 0, 15, SHORT },
	{ "length above the maximum", 3, 1, MAX + 1, 16 + MAX + 1, LONG },
	{ "length of all ones", 3, 1, U32_MAX, 16, LONG },
	{ "length that wraps around", 3, 1, 0xfffffff0, 16, LONG },
	{ "length one less than received", 3, 1, 7, 24, DIFFERS },
	{ "length one more than received", 3, 1, 9, 24, DIFFERS },
	{ "payload promised, none there", 3, 1, 8, 16, DIFFERS },
	{ "payload behind an empty message", 2, 1, 0, 17, DIFFERS },

	{ "type NONE", 0, 1, 0, 16, UNKNOWN },
	{ "type 12", 12, 1, 0, 16, UNKNOWN },
	{ "type 99", 99, 1, 0, 16, UNKNOWN },
	{ "type in the wrong byte order", 0x02000000, 1, 0, 16, UNKNOWN },
	{ "type with a high bit", 0x80000002, 1, 0, 16, UNKNOWN },
	{ "type CREDIT, not built", 0x100, 1, 0, 16, UNKNOWN },
	{ "type past END_OK", 0x142, 1, 8, 24, UNKNOWN },

	{ "ERROR", 1, 1, 0, 16, NULL },
	{ "ERROR with any repeat", 1, 77, 0, 16, NULL },
	{ "ERROR with a text", 1, 1, 40, 56, NULL },
	{ "ERROR with the longest text", 1, 0, 128, 144, NULL },
	{ "ERROR with a longer text", 1, 1, 129, 145, "ERROR: text too long" },

	{ "READY", 2, 1, 0, 16, NULL },
	{ "READY with repeat 0", 2, 0, 0, 16, NULL },
	{ "READY with a payload", 2, 1, 1, 17, "READY: payload not empty" },

	{ "QEMU_FILE of one byte", 3, 1, 1, 17, NULL },
	{ "QEMU_FILE of the greatest size", 3, 0, MAX, 16 + MAX, NULL },
	{ "QEMU_FILE with rubbish in repeat", 3, 0xdeadbeef, 5, 21, NULL },
	{ "QEMU_FILE without a byte", 3, 1, 0, 16, "QEMU_FILE: payload empty" },

	{ "RAM_BLOCKS_REQUEST", 4, 1, 0, 16, NULL },
	{ "RAM_BLOCKS_REQUEST with a payload", 4, 1, 32, 48,
	  "RAM_BLOCKS_REQUEST: payload not empty" },

	{ "RAM_BLOCKS_RESULT of one block", 5, 1, 32, 48, NULL },
	{ "RAM_BLOCKS_RESULT of 6 blocks, repeat 1", 5, 1, 192, 208, NULL },
	{ "RAM_BLOCKS_RESULT of 16383 blocks", 5, 1, 16383 * 32,
	  16 + 16383 * 32, NULL },
	{ "RAM_BLOCKS_RESULT without a block", 5, 1, 0, 16,
	  "RAM_BLOCKS_RESULT: not whole block records" },
	{ "RAM_BLOCKS_RESULT with a byte too many", 5, 1, 65, 81,
	  "RAM_BLOCKS_RESULT: not whole block records" },
	{ "RAM_BLOCKS_RESULT with a byte too few", 5, 1, 31, 47,
	  "RAM_BLOCKS_RESULT: not whole block records" },

	{ "COMPRESS", 6, 1, 24, 40, NULL },
	{ "COMPRESS with repeat 0", 6, 0, 24, 40, "COMPRESS: repeat is not 1" },
	{ "COMPRESS with two records", 6, 2, 48, 64,
	  "COMPRESS: repeat is not 1" },
	{ "COMPRESS with half a record", 6, 1, 12, 28,
	  "COMPRESS: payload is not one record" },
	{ "COMPRESS with a longer record", 6, 1, 48, 64,
	  "COMPRESS: payload is not one record" },

	{ "REGISTER_REQUEST of one record", 7, 1, 24, 40, NULL },
	{ "REGISTER_REQUEST of 4096 records", 7, 4096, 4096 * 24,
	  16 + 4096 * 24, NULL },
	{ "REGISTER_REQUEST of 4097 records", 7, 4097, 4097 * 24,
	  16 + 4097 * 24, "REGISTER_REQUEST: repeat out of range" },
	{ "REGISTER_REQUEST with repeat 0", 7, 0, 24, 40,
	  "REGISTER_REQUEST: repeat out of range" },
	{ "REGISTER_REQUEST with repeat 0 and nothing", 7, 0, 0, 16,
	  "REGISTER_REQUEST: repeat out of range" },
	{ "REGISTER_REQUEST whose repeat times 24 wraps", 7, 0x0aaaaaac, 32,
	  48, "REGISTER_REQUEST: repeat out of range" },
	{ "REGISTER_REQUEST with fewer records than repeat", 7, 3, 48, 64,
	  "REGISTER_REQUEST: length does not match repeat" },
	{ "REGISTER_REQUEST with more records than repeat", 7, 1, 48, 64,
	  "REGISTER_REQUEST: length does not match repeat" },
	{ "REGISTER_REQUEST without a payload", 7, 1, 0, 16,
	  "REGISTER_REQUEST: length does not match repeat" },

	{ "REGISTER_RESULT of one record", 8, 1, 16, 32, NULL },
	{ "REGISTER_RESULT of 4096 records", 8, 4096, 65536, 65552, NULL },
	{ "REGISTER_RESULT of a stock peer to two records", 8, 2, 16, 32,
	  NULL },
	{ "REGISTER_RESULT with repeat 0", 8, 0, 16, 32,
	  "REGISTER_RESULT: repeat out of range" },
	{ "REGISTER_RESULT with repeat 4097", 8, 4097, 4097 * 16,
	  16 + 4097 * 16, "REGISTER_RESULT: repeat out of range" },
	{ "REGISTER_RESULT with half a record", 8, 1, 8, 24,
	  "REGISTER_RESULT: length does not match repeat" },
	{ "REGISTER_RESULT with two of three records", 8, 3, 32, 48,
	  "REGISTER_RESULT: length does not match repeat" },
	{ "REGISTER_RESULT with a byte too many", 8, 1, 17, 33,
	  "REGISTER_RESULT: length does not match repeat" },
	{ "REGISTER_RESULT without a payload", 8, 1, 0, 16,
	  "REGISTER_RESULT: length does not match repeat" },

	{ "REGISTER_FINISHED", 9, 1, 0, 16, NULL },
	{ "REGISTER_FINISHED with a payload", 9, 1, 8, 24,
	  "REGISTER_FINISHED: payload not empty" },

	{ "UNREGISTER_REQUEST of 11 records", 10, 11, 264, 280, NULL },
	{ "UNREGISTER_REQUEST of 4097 records", 10, 4097, 4097 * 24,
	  16 + 4097 * 24, "UNREGISTER_REQUEST: repeat out of range" },
	{ "UNREGISTER_REQUEST with repeat 0", 10, 0, 24, 40,
	  "UNREGISTER_REQUEST: repeat out of range" },
	{ "UNREGISTER_REQUEST with fewer records than repeat", 10, 2, 24, 40,
	  "UNREGISTER_REQUEST: length does not match repeat" },

	{ "UNREGISTER_FINISHED with repeat 11", 11, 11, 0, 16, NULL },
	{ "UNREGISTER_FINISHED with a payload", 11, 1, 4, 20,
	  "UNREGISTER_FINISHED: payload not empty" },

	{ "END", 0x140, 1, 16, 32, NULL },
	{ "END too short", 0x140, 1, 15, 31, "END: payload is not 16 bytes" },
	{ "END too long", 0x140, 1, 24, 40, "END: payload is not 16 bytes" },
	{ "END_OK", 0x141, 1, 8, 24, NULL },
	{ "END_OK too short", 0x141, 1, 4, 20,
	  "END_OK: payload is not 8 bytes" },
	{ "END_OK too long", 0x141, 1, 9, 25,
	  "END_OK: payload is not 8 bytes" },

	{ "BLOCKS of the smallest size", 0x150, 1, 11, 27, NULL },
	{ "BLOCKS with long names", 0x150, 2, 200, 216, NULL },
	{ "BLOCKS of 16383 blocks", 0x150, 16383, 16383 * 11,
	  16 + 16383 * 11, NULL },
	{ "BLOCKS of 16384 blocks", 0x150, 16384, 16384 * 11,
	  16 + 16384 * 11, "BLOCKS: repeat out of range" },
	{ "BLOCKS with repeat 0", 0x150, 0, 11, 27,
	  "BLOCKS: repeat out of range" },
	{ "BLOCKS too short for one", 0x150, 1, 10, 26,
	  "BLOCKS: payload too short for repeat" },
	{ "BLOCKS too short for two", 0x150, 2, 21, 37,
	  "BLOCKS: payload too short for repeat" },
};

static void test_header(void)
{
	u8 *raw = calloc(1, RDMAMIG_MSG_MAX + 16);
	struct rdmamig_codec_msg msg;
	const struct header_case *c;
	const char *why;
	u8 *copy;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(header_cases); i++) {
		c = &header_cases[i];
		rdmamig_codec_put_header(raw, c->type, c->repeat, c->len);
		put_unaligned_be32(0x00000011, raw + 12);
		copy = exact(raw, c->bytes);
		why = rdmamig_codec_header(copy, c->bytes, &msg);
		ok(same(why, c->why), "header: %s", c->name);
		if (!why)
			ok(msg.type == c->type && msg.len == c->len &&
			   msg.repeat == c->repeat &&
			   msg.payload == copy + 16,
			   "header: %s: as sent", c->name);
		drop(copy);
	}
	free(raw);
}

/* Register and unregister records. */

static const struct register_case {
	const char *name;
	u32 block;
	u64 key, chunks, first, count;
	const char *why;
} register_cases[] = {
	{ "first byte", 0, 0, 0, 0, 1, NULL },
	{ "in the middle of a chunk", 0, 0x02503000, 0, 0x25, 1, NULL },
	{ "last byte", 0, 128 * MIB - 1, 0, 127, 1, NULL },
	{ "one byte beyond", 0, 128 * MIB, 0, 0, 0,
	  "register record: address beyond the block" },
	{ "whole block", 0, 0, 127, 0, 128, NULL },
	{ "one chunk more than the block", 0, 0, 128, 0, 0,
	  "register record: chunks beyond the block" },
	{ "up to the end", 0, 126 * MIB + 1, 1, 126, 2, NULL },
	{ "past the end", 0, 126 * MIB + 1, 2, 0, 0,
	  "register record: chunks beyond the block" },
	{ "chunks of all ones", 0, 5 * MIB, U64_MAX, 0, 0,
	  "register record: chunks beyond the block" },
	{ "chunks that wrap to 0", 0, 5 * MIB, 0 - 5ull, 0, 0,
	  "register record: chunks beyond the block" },
	{ "key is an address, not an offset", 1, 0x08000000, 0, 0, 1, NULL },
	{ "chunks count from the block's start", 1, 0x0803ffff, 0, 0, 1,
	  NULL },
	{ "below the block", 1, 0x07ffffff, 0, 0, 0,
	  "register record: address below the block" },
	{ "beyond a small block", 1, 0x08040000, 0, 0, 0,
	  "register record: address beyond the block" },
	{ "two chunks of a small block", 1, 0x08000000, 1, 0, 0,
	  "register record: chunks beyond the block" },
	{ "short last chunk", 2, 0x1000000000 + 3 * MIB, 0, 3, 1, NULL },
	{ "up to the short last chunk", 2, 0x1000000000, 3, 0, 4, NULL },
	{ "past the short last chunk", 2, 0x1000000000, 4, 0, 0,
	  "register record: chunks beyond the block" },
	{ "end of all addresses", 3, U64_MAX, 0, 1, 1, NULL },
	{ "block at the end, address 0", 3, 0, 0, 0, 0,
	  "register record: address below the block" },
	{ "block of length 0", 4, 0x2000000000, 0, 0, 0,
	  "register record: address beyond the block" },
	{ "greatest block, last chunk", 5, U64_MAX - 1, 0, U64_MAX >> 20, 1,
	  NULL },
	{ "greatest block, all chunks", 5, 0, U64_MAX >> 20, 0,
	  (U64_MAX >> 20) + 1, NULL },
	{ "block index one too high", 6, 0, 0, 0, 0,
	  "register record: block index out of range" },
	{ "block index of all ones", U32_MAX, 0, 0, 0, 0,
	  "register record: block index out of range" },
};

static const struct register_case unregister_cases[] = {
	{ "first chunk", 0, 0, 0, 0, 1, NULL },
	{ "key is an index", 0, 0x25, 0, 0x25, 1, NULL },
	{ "last chunk", 0, 127, 0, 127, 1, NULL },
	{ "one chunk beyond", 0, 128, 0, 0, 0,
	  "unregister record: chunk index out of range" },
	{ "an address for a key", 0, 0x02500000, 0, 0, 0,
	  "unregister record: chunk index out of range" },
	{ "index of all ones", 0, U64_MAX, 0, 0, 0,
	  "unregister record: chunk index out of range" },
	{ "index that wraps when shifted", 0, 1ull << 44, 0, 0, 0,
	  "unregister record: chunk index out of range" },
	{ "whole block", 0, 0, 127, 0, 128, NULL },
	{ "one chunk more than the block", 0, 0, 128, 0, 0,
	  "unregister record: chunks beyond the block" },
	{ "chunks that wrap to 0", 0, 5, 0 - 5ull, 0, 0,
	  "unregister record: chunks beyond the block" },
	{ "short last chunk", 2, 3, 0, 3, 1, NULL },
	{ "beyond the short last chunk", 2, 4, 0, 0, 0,
	  "unregister record: chunk index out of range" },
	{ "block of length 0", 4, 0, 0, 0, 0,
	  "unregister record: chunk index out of range" },
	{ "block index one too high", 6, 0, 0, 0, 0,
	  "unregister record: block index out of range" },
};

typedef const char *register_fn(const struct rdmamig_codec_msg *msg, u32 i,
				const struct rdmamig_codec_table *table,
				struct rdmamig_codec_range *range);

static void test_ranges(const char *noun, register_fn *decode, u32 type,
			u32 wrong, const struct register_case *cases,
			size_t count)
{
	struct rdmamig_codec_range range;
	struct rdmamig_codec_msg msg;
	char absent[64];
	const char *why;
	u8 raw[48], *copy;
	size_t i;

	for (i = 0; i < count; i++) {
		memset(raw, 0xff, sizeof(raw));
		rdmamig_codec_put_register(raw, 0, 0, 0, 0);
		rdmamig_codec_put_register(raw, 1, cases[i].block,
					   cases[i].key, cases[i].chunks);
		put_unaligned_be32(0x11, raw + 24 + 12);	/* padding */
		copy = exact(raw, sizeof(raw));
		message(&msg, type, 2, copy, sizeof(raw));
		why = decode(&msg, 1, &table, &range);
		ok(same(why, cases[i].why), "%s: %s", noun, cases[i].name);
		if (!why)
			ok(range.block == cases[i].block &&
			   range.first == cases[i].first &&
			   range.count == cases[i].count,
			   "%s: %s: range", noun, cases[i].name);
		drop(copy);
	}

	snprintf(absent, sizeof(absent), "%s record: not in this message",
		 noun);
	copy = exact(raw, 24);
	message(&msg, type, 1, copy, 24);
	ok(same(decode(&msg, 1, &table, &range), absent),
	   "%s: record past the message", noun);
	ok(same(decode(&msg, U32_MAX, &table, &range), absent),
	   "%s: record number of all ones", noun);
	message(&msg, wrong, 1, copy, 24);
	ok(same(decode(&msg, 0, &table, &range), absent),
	   "%s: message of another type", noun);
	drop(copy);
}

/* Compress records. */

static const struct compress_case {
	const char *name;
	u32 value, block;
	u64 addr, length, offset;
	const char *why;
} compress_cases[] = {
	{ "one page", 0, 0, 0, PAGE, 0, NULL },
	{ "one chunk", 0, 0, 3 * MIB, MIB, 3 * MIB, NULL },
	{ "across chunks", 0, 0, 3 * MIB + 0x5000, MIB, 3 * MIB + 0x5000,
	  NULL },
	{ "whole block", 0, 0, 0, 128 * MIB, 0, NULL },
	{ "last page", 0, 1, 0x0803f000, PAGE, 0x3f000, NULL },
	{ "end of all addresses", 0, 3, 0 - PAGE, PAGE, 2 * MIB - PAGE, NULL },
	{ "fill value 1", 1, 0, 0, PAGE, 0,
	  "compress record: fill value is not zero" },
	{ "fill value in the high byte", 0x01000000, 0, 0, PAGE, 0,
	  "compress record: fill value is not zero" },
	{ "block index one too high", 0, 6, 0, PAGE, 0,
	  "compress record: block index out of range" },
	{ "below the block", 0, 1, 0x07fff000, PAGE, 0,
	  "compress record: address below the block" },
	{ "beyond the block", 0, 1, 0x08040000, PAGE, 0,
	  "compress record: address beyond the block" },
	{ "block of length 0", 0, 4, 0x2000000000, PAGE, 0,
	  "compress record: address beyond the block" },
	{ "length 0", 0, 0, 0, 0, 0, "compress record: length is zero" },
	{ "one page past the end", 0, 1, 0x0803f000, 2 * PAGE, 0,
	  "compress record: range leaves the block" },
	{ "length of all ones", 0, 0, PAGE, U64_MAX, 0,
	  "compress record: range leaves the block" },
	{ "length that wraps to 0", 0, 0, PAGE, 0 - PAGE, 0,
	  "compress record: range leaves the block" },
	{ "address within a page", 0, 0, 512, PAGE, 0,
	  "compress record: address is not on a page boundary" },
	{ "address one byte off", 0, 0, MIB - 1, PAGE, 0,
	  "compress record: address is not on a page boundary" },
	{ "half a page", 0, 0, 0, PAGE / 2, 0,
	  "compress record: length is not whole pages" },
	{ "one byte", 0, 0, 0, 1, 0,
	  "compress record: length is not whole pages" },
};

static void test_compress(void)
{
	const struct compress_case *c;
	struct rdmamig_codec_zero zero;
	struct rdmamig_codec_msg msg;
	const char *why;
	u8 raw[24], *copy;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(compress_cases); i++) {
		c = &compress_cases[i];
		rdmamig_codec_put_compress(raw, c->block, c->addr, c->length);
		put_unaligned_be32(c->value, raw);
		copy = exact(raw, sizeof(raw));
		message(&msg, RDMAMIG_MSG_COMPRESS, 1, copy, sizeof(raw));
		why = rdmamig_codec_compress(&msg, &table, &zero);
		ok(same(why, c->why), "compress: %s", c->name);
		if (!why)
			ok(zero.block == c->block && zero.offset == c->offset &&
			   zero.length == c->length, "compress: %s: range",
			   c->name);
		drop(copy);
	}
	message(&msg, RDMAMIG_MSG_REGISTER_REQUEST, 1, raw, sizeof(raw));
	ok(same(rdmamig_codec_compress(&msg, &table, &zero),
		"compress record: not in this message"),
	   "compress: message of another type");
	message(&msg, RDMAMIG_MSG_COMPRESS, 1, raw, 23);
	ok(same(rdmamig_codec_compress(&msg, &table, &zero),
		"compress record: not in this message"),
	   "compress: record cut short");
}

/* RAM_BLOCKS_RESULT. */

static const struct result_case {
	const char *name;
	u32 i, count, records;
	u64 ours;
	struct rdmamig_codec_block block;
	const char *why;
} result_cases[] = {
	{ "second of three", 1, 3, 3, MIB, { 0x7000, 0x8000, MIB }, NULL },
	{ "base and offset 0", 0, 1, 1, MIB, { 0, 0, MIB }, NULL },
	{ "end of all addresses", 0, 1, 1, MIB,
	  { U64_MAX - MIB, U64_MAX - MIB, MIB }, NULL },
	{ "past the last", 3, 3, 3, MIB, { 0, 0, MIB },
	  "block record: not in this message" },
	{ "one block too many", 0, 2, 3, MIB, { 0, 0, MIB },
	  "block record: number of blocks differs from ours" },
	{ "one block too few", 0, 4, 3, MIB, { 0, 0, MIB },
	  "block record: number of blocks differs from ours" },
	{ "count that wraps in 32 bits", 0, 0x08000002, 2, MIB, { 0, 0, MIB },
	  "block record: number of blocks differs from ours" },
	{ "longer than ours", 0, 1, 1, MIB, { 0, 0, MIB + PAGE },
	  "block record: length differs from ours" },
	{ "shorter than ours", 0, 1, 1, MIB, { 0, 0, MIB - PAGE },
	  "block record: length differs from ours" },
	{ "length 0", 0, 1, 1, MIB, { 0, 0, 0 },
	  "block record: length differs from ours" },
	{ "base overflows", 0, 1, 1, MIB, { U64_MAX - MIB + 1, 0, MIB },
	  "block record: base plus length overflows" },
	{ "offset overflows", 0, 1, 1, MIB, { 0, U64_MAX - MIB + 1, MIB },
	  "block record: offset plus length overflows" },
};

static void test_blocks_result(void)
{
	struct rdmamig_codec_block block;
	const struct result_case *c;
	struct rdmamig_codec_msg msg;
	u32 j, rkey, len;
	const char *why;
	u8 raw[128], *copy;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(result_cases); i++) {
		c = &result_cases[i];
		memset(raw, 0xff, sizeof(raw));
		for (j = 0; j < c->records; j++)
			if (j == c->i)
				rdmamig_codec_put_block(raw, j, &c->block,
							0x1a2b + j);
		len = c->records * 32;
		copy = exact(raw, len);
		message(&msg, RDMAMIG_MSG_RAM_BLOCKS_RESULT, 1, copy, len);
		why = rdmamig_codec_blocks_result(&msg, c->i, c->count,
						  c->ours, &block, &rkey);
		ok(same(why, c->why), "block result: %s", c->name);
		if (!why)
			ok(block.base == c->block.base &&
			   block.offset == c->block.offset &&
			   block.length == c->ours && rkey == 0x1a2b + c->i,
			   "block result: %s: as sent", c->name);
		drop(copy);
	}
	message(&msg, RDMAMIG_MSG_REGISTER_RESULT, 1, raw, 32);
	ok(same(rdmamig_codec_blocks_result(&msg, 0, 1, MIB, &block, &rkey),
		"block record: not in this message"),
	   "block result: message of another type");
}

/* REGISTER_RESULT. */

static const struct key_case {
	const char *name;
	u32 i, count, repeat, len, rkey;
	const char *why;
} key_cases[] = {
	{ "one of one", 0, 1, 1, 16, 0x182f3a, NULL },
	{ "third of three", 2, 3, 3, 48, 7, NULL },
	{ "key of all ones", 0, 1, 1, 16, U32_MAX, NULL },
	{ "rkey 0", 0, 1, 1, 16, 0, "register result: rkey 0" },
	{ "third has rkey 0", 2, 3, 3, 48, 0, "register result: rkey 0" },
	{ "past the last", 3, 3, 3, 48, 7,
	  "register result: not in this message" },
	{ "one result, two asked for", 0, 2, 1, 16, 7,
	  "register result: repeat differs from the request's" },
	{ "two results, one asked for", 0, 1, 2, 32, 7,
	  "register result: repeat differs from the request's" },
	{ "stock answer to two", 0, 2, 2, 16, 7,
	  "register result: fewer results than asked for" },
	{ "stock answer to two, second", 1, 2, 2, 16, 7,
	  "register result: not in this message" },
	{ "count that wraps in 32 bits", 0, 0x10000001, 0x10000001, 16, 7,
	  "register result: fewer results than asked for" },
};

static void test_register_result(void)
{
	struct rdmamig_codec_result result;
	struct rdmamig_codec_msg msg;
	const struct key_case *c;
	const char *why;
	u8 raw[64], *copy;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(key_cases); i++) {
		c = &key_cases[i];
		memset(raw, 0xff, sizeof(raw));
		rdmamig_codec_put_result(raw, c->i, c->rkey, 0x7f3a40000000);
		put_unaligned_be32(0x11, raw + c->i * 16 + 4);	/* padding */
		copy = exact(raw, c->len);
		message(&msg, RDMAMIG_MSG_REGISTER_RESULT, c->repeat, copy,
			c->len);
		why = rdmamig_codec_register_result(&msg, c->i, c->count,
						    &result);
		ok(same(why, c->why), "register result: %s", c->name);
		if (!why)
			ok(result.rkey == c->rkey &&
			   result.base == 0x7f3a40000000,
			   "register result: %s: as sent", c->name);
		drop(copy);
	}
	message(&msg, RDMAMIG_MSG_RAM_BLOCKS_RESULT, 1, raw, 16);
	ok(same(rdmamig_codec_register_result(&msg, 0, 1, &result),
		"register result: not in this message"),
	   "register result: message of another type");
}

static void test_small(void)
{
	struct rdmamig_codec_end end;
	struct rdmamig_codec_msg msg;
	u8 raw[16], *copy;
	u32 status;

	message(&msg, RDMAMIG_MSG_UNREGISTER_FINISHED, 11, NULL, 0);
	ok(same(rdmamig_codec_unregister_finished(&msg, 11), NULL),
	   "unregister answer: as many as asked for");
	ok(same(rdmamig_codec_unregister_finished(&msg, 12),
		"unregister answer: repeat differs from the request's"),
	   "unregister answer: fewer than asked for");
	msg.type = RDMAMIG_MSG_REGISTER_FINISHED;
	ok(same(rdmamig_codec_unregister_finished(&msg, 11),
		"unregister answer: not in this message"),
	   "unregister answer: message of another type");

	rdmamig_codec_put_end(raw, 0x123456789abcdef0, 0xfedcba9876543210);
	copy = exact(raw, 16);
	message(&msg, RDMAMIG_MSG_END, 1, copy, 16);
	ok(!rdmamig_codec_end(&msg, &end) &&
	   end.stream_bytes == 0x123456789abcdef0 &&
	   end.ram_bytes == 0xfedcba9876543210, "end: as sent");
	msg.type = RDMAMIG_MSG_END_OK;
	ok(same(rdmamig_codec_end(&msg, &end), "end: not in this message"),
	   "end: message of another type");
	drop(copy);

	rdmamig_codec_put_end_ok(raw, ENOSPC);
	copy = exact(raw, 8);
	message(&msg, RDMAMIG_MSG_END_OK, 1, copy, 8);
	ok(!rdmamig_codec_end_ok(&msg, &status) && status == ENOSPC,
	   "end answer: as sent");
	msg.type = RDMAMIG_MSG_END;
	ok(same(rdmamig_codec_end_ok(&msg, &status),
		"end answer: not in this message"),
	   "end answer: message of another type");
	drop(copy);
}

/* BLOCKS, the native list. */

static const struct name_case {
	const char *name;
	u32 skip;		/* bytes before the record */
	u64 length;
	u16 name_len;		/* as the record says */
	u16 there;		/* bytes of name that follow */
	u16 nul;		/* which of them is NUL, from 1; 0 for none */
	const char *why;
} name_cases[] = {
	{ "one byte", 0, MIB, 1, 1, 0, NULL },
	{ "the longest name", 0, MIB, 255, 255, 0, NULL },
	{ "more behind it", 0, MIB, 6, 100, 0, NULL },
	{ "behind another", 17, MIB, 6, 6, 0, NULL },
	{ "length 0", 0, 0, 6, 6, 0,
	  "block name record: length of the block is zero" },
	{ "no name", 0, MIB, 0, 6, 0, "block name record: name is empty" },
	{ "name of 256 bytes", 0, MIB, 256, 300, 0,
	  "block name record: name too long" },
	{ "name length of all ones", 0, MIB, 0xffff, 300, 0,
	  "block name record: name too long" },
	{ "name longer than the message", 0, MIB, 7, 6, 0,
	  "block name record: name leaves the message" },
	{ "no byte of the name there", 0, MIB, 255, 0, 0,
	  "block name record: name leaves the message" },
	{ "NUL first", 0, MIB, 6, 6, 1, "block name record: NUL in the name" },
	{ "NUL last", 0, MIB, 6, 6, 6, "block name record: NUL in the name" },
	{ "NUL behind the name", 0, MIB, 6, 7, 7, NULL },
};

static void test_names(void)
{
	struct rdmamig_codec_name name;
	const struct name_case *c;
	struct rdmamig_codec_msg msg;
	u8 raw[512], *copy;
	const char *why;
	u32 pos, len;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(name_cases); i++) {
		c = &name_cases[i];
		memset(raw, 'n', sizeof(raw));
		rdmamig_codec_put_name(raw, c->skip, c->length, "n", 1);
		put_unaligned_be16(c->name_len, raw + c->skip + 8);
		if (c->nul)
			raw[c->skip + 10 + c->nul - 1] = 0;
		len = c->skip + 10 + c->there;
		copy = exact(raw, len);
		message(&msg, RDMAMIG_MSG_BLOCKS, 1, copy, len);
		pos = c->skip;
		why = rdmamig_codec_blocks(&msg, &pos, &name);
		ok(same(why, c->why), "block name: %s", c->name);
		if (why)
			ok(pos == c->skip, "block name: %s: stays", c->name);
		else
			ok(name.length == c->length &&
			   name.name_len == c->name_len &&
			   name.name == (char *)copy + c->skip + 10 &&
			   pos == c->skip + 10 + c->name_len,
			   "block name: %s: as sent", c->name);
		drop(copy);
	}

	len = rdmamig_codec_put_name(raw, 0, MIB, "pc.ram", 6);
	len += rdmamig_codec_put_name(raw, len, PAGE, "x", 1);
	copy = exact(raw, len);
	message(&msg, RDMAMIG_MSG_BLOCKS, 2, copy, len);
	pos = 0;
	ok(!rdmamig_codec_blocks(&msg, &pos, &name) && name.length == MIB &&
	   name.name_len == 6 && !memcmp(name.name, "pc.ram", 6),
	   "block name: first of two");
	ok(!rdmamig_codec_blocks(&msg, &pos, &name) && name.length == PAGE &&
	   name.name_len == 1 && name.name[0] == 'x' && pos == len,
	   "block name: second of two");
	ok(same(rdmamig_codec_blocks(&msg, &pos, &name),
		"block name record: not in this message"),
	   "block name: third of two");
	pos = len - 9;
	ok(same(rdmamig_codec_blocks(&msg, &pos, &name),
		"block name record: not in this message"),
	   "block name: record cut short");
	pos = U32_MAX;
	ok(same(rdmamig_codec_blocks(&msg, &pos, &name),
		"block name record: not in this message"),
	   "block name: position of all ones");
	pos = 0;
	msg.type = RDMAMIG_MSG_QEMU_FILE;
	ok(same(rdmamig_codec_blocks(&msg, &pos, &name),
		"block name record: not in this message"),
	   "block name: message of another type");
	drop(copy);
}

/* Private data. */

static const struct rdmamig_codec_private native = {
	.version = 1,
	.pin_all = true,
	.has_tail = true,
	.tail = {
		.features = 0xc5, .credits = 64, .chunk_shift = 20,
		.batch_shift = 12, .lanes = 3, .max_reg = 9,
		.token = 0x0123456789abcdef, .lane = 2,
		.pin_limit = 0x40000000,
	},
};

static const struct tail_case {
	const char *name;
	u32 at, size, value;	/* what is changed in the good data */
	u32 bytes;		/* of the area */
	bool has_tail;
} tail_cases[] = {
	{ "of a request", 0, 4, 1, 56, true },
	{ "of a reply", 0, 4, 1, 196, true },
	{ "of 48 bytes", 0, 4, 1, 48, true },
	{ "area too small for it", 0, 4, 1, 47, false },
	{ "no bit in the flags", 4, 4, 1, 56, false },
	{ "other bits in the flags", 4, 4, 0x40000001, 56, false },
	{ "all bits in the flags", 4, 4, 0xffffffff, 56, true },
	{ "another magic", 8, 4, 0x524d4948, 56, false },
	{ "nothing behind the bit", 8, 4, 0, 56, false },
	{ "version 0", 12, 2, 0, 56, false },
	{ "version 2", 12, 2, 2, 56, true },
	{ "length 39", 14, 2, 39, 56, false },
	{ "length 48 of 48", 14, 2, 48, 56, true },
	{ "length 49 of 48", 14, 2, 49, 56, false },
	{ "length of all ones", 14, 2, 0xffff, 196, false },
	{ "chunk shift 19", 22, 1, 19, 56, false },
	{ "chunk shift 30", 22, 1, 30, 56, true },
	{ "chunk shift 31", 22, 1, 31, 56, false },
	{ "chunk shift 255", 22, 1, 255, 56, false },
	{ "batch shift 0", 23, 1, 0, 56, true },
	{ "batch shift 13", 23, 1, 13, 56, false },
};

static bool same_tail(const struct rdmamig_codec_tail *a,
		      const struct rdmamig_codec_tail *b)
{
	return a->features == b->features && a->credits == b->credits &&
	       a->chunk_shift == b->chunk_shift &&
	       a->batch_shift == b->batch_shift && a->lanes == b->lanes &&
	       a->max_reg == b->max_reg && a->token == b->token &&
	       a->lane == b->lane && a->pin_limit == b->pin_limit;
}

static void test_private(void)
{
	static const struct rdmamig_codec_tail none;
	struct rdmamig_codec_private priv;
	const struct tail_case *c;
	u8 raw[196], *copy;
	u64 value;
	size_t i;

	memset(raw, 0, sizeof(raw));
	ok(rdmamig_codec_put_private(raw, &native) == 48,
	   "private data: 48 bytes with a tail");
	copy = exact(raw, 56);
	ok(!rdmamig_codec_private(copy, 56, &priv) && priv.version == 1 &&
	   priv.pin_all && priv.has_tail &&
	   same_tail(&priv.tail, &native.tail), "private data: as sent");
	drop(copy);

	for (i = 0; i < ARRAY_SIZE(tail_cases); i++) {
		c = &tail_cases[i];
		memset(raw, 0, sizeof(raw));
		rdmamig_codec_put_private(raw, &native);
		value = htobe64((u64)c->value << (64 - 8 * c->size));
		memcpy(raw + c->at, &value, c->size);
		copy = exact(raw, c->bytes);
		ok(!rdmamig_codec_private(copy, c->bytes, &priv) &&
		   priv.has_tail == c->has_tail &&
		   (c->has_tail || same_tail(&priv.tail, &none)) &&
		   priv.version == 1 && priv.pin_all,
		   "private data: tail: %s", c->name);
		drop(copy);
	}

	for (i = 0; i < 8; i++) {
		copy = exact(raw, i);
		ok(same(rdmamig_codec_private(copy, i, &priv),
			"private data: too short"), "private data: %zu bytes",
		   i);
		drop(copy);
	}
	ok(same(rdmamig_codec_private(NULL, 8, &priv),
		"private data: too short"), "private data: none");

	priv = (struct rdmamig_codec_private){ .version = 0xfffffffe };
	ok(rdmamig_codec_put_private(raw, &priv) == 8,
	   "private data: 8 bytes without a tail");
	copy = exact(raw, 8);
	memset(&priv, 0xff, sizeof(priv));
	ok(!rdmamig_codec_private(copy, 8, &priv) &&
	   priv.version == 0xfffffffe && !priv.pin_all && !priv.has_tail,
	   "private data: any version is handed up");
	drop(copy);
}

/* Words of a peer. */

static void test_text(void)
{
	char all[256], text[256], want[2];
	u32 bytes = RDMAMIG_WIRE_TEXT_MAX, i, len;
	bool good = true;
	u8 *copy;

	copy = exact("no\0pin\n", 7);
	ok(rdmamig_codec_text(copy, 7, text, sizeof(text)) == 7 &&
	   same(text, "no?pin?"), "text: NUL and newline");
	ok(rdmamig_codec_text(copy, 7, text, 4) == 3 && same(text, "no?"),
	   "text: cut to the room there is");
	ok(rdmamig_codec_text(copy, 7, text, 1) == 0 && same(text, ""),
	   "text: room for the end only");
	text[0] = 'x';
	ok(rdmamig_codec_text(copy, 7, text, 0) == 0 && text[0] == 'x',
	   "text: no room at all");
	ok(rdmamig_codec_text(copy, 0, text, sizeof(text)) == 0 &&
	   same(text, ""), "text: no bytes");
	drop(copy);
	ok(rdmamig_codec_text(NULL, 0, text, sizeof(text)) == 0,
	   "text: no bytes and no pointer");

	for (i = 0; i < sizeof(all); i++)
		all[i] = i;
	for (i = 0; i < sizeof(all); i++) {
		want[0] = i >= ' ' && i <= '~' ? i : '?';
		rdmamig_codec_text(all + i, 1, text, sizeof(text));
		good = good && text[0] == want[0] && !text[1];
	}
	ok(good, "text: every byte, printable or a question mark");
	copy = exact(all, sizeof(all));
	len = rdmamig_codec_text(copy, sizeof(all), text, sizeof(text));
	ok(len == bytes && strlen(text) == bytes,
	   "text: no more than the maximum");
	drop(copy);
	good = true;
	for (i = 0; i <= bytes; i++) {
		char *small = malloc(i + 1);

		len = rdmamig_codec_text(&all['A'], bytes, small, i + 1);
		good = good && len == i && strlen(small) == i;
		free(small);
	}
	ok(good, "text: every size of room");
}

static const struct reject_case {
	const char *name;
	u32 at, size, value, bytes;
	const char *text;
} reject_cases[] = {
	{ "as sent", 0, 0, 0, 148, "pin limit too small" },
	{ "area of just its size", 0, 0, 0, 27, "pin limit too small" },
	{ "area a byte too small", 0, 0, 0, 26, "" },
	{ "area without the text", 0, 0, 0, 8, "" },
	{ "area smaller than its head", 0, 0, 0, 7, "" },
	{ "no area", 0, 0, 0, 0, "" },
	{ "another magic", 0, 4, 0, 148, "" },
	{ "version 0", 4, 2, 0, 148, "" },
	{ "version 2", 4, 2, 2, 148, "pin limit too small" },
	{ "length 3", 6, 2, 3, 148, "pin" },
	{ "length 0", 6, 2, 0, 148, "" },
	{ "length one too many for the area", 6, 2, 141, 148, "" },
	{ "length of all ones", 6, 2, 0xffff, 148, "" },
	{ "text not printable", 8, 4, 0x1b5b324a, 27, "?[2Jlimit too small" },
};

static void test_reject(void)
{
	char text[RDMAMIG_WIRE_TEXT_MAX + 1], big[300];
	const struct reject_case *c;
	u8 raw[148], *copy;
	u64 value;
	u32 len;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(reject_cases); i++) {
		c = &reject_cases[i];
		memset(raw, 0, sizeof(raw));
		rdmamig_codec_put_reject(raw, "pin limit too small");
		value = c->size ?
			htobe64((u64)c->value << (64 - 8 * c->size)) : 0;
		memcpy(raw + c->at, &value, c->size);
		copy = exact(raw, c->bytes);
		len = rdmamig_codec_reject(copy, c->bytes, text, sizeof(text));
		ok(same(text, c->text) && len == strlen(text), "reject: %s",
		   c->name);
		drop(copy);
	}
	ok(!rdmamig_codec_reject(NULL, 148, text, sizeof(text)) && !text[0],
	   "reject: no data");

	memset(big, 'b', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	copy = malloc(8 + RDMAMIG_WIRE_TEXT_MAX);
	len = rdmamig_codec_put_reject(copy, big);
	ok(len == 8 + RDMAMIG_WIRE_TEXT_MAX, "reject: a long reason is cut");
	ok(rdmamig_codec_reject(copy, len, text, sizeof(text)) ==
	   RDMAMIG_WIRE_TEXT_MAX, "reject: and read again");
	free(copy);
}

static void test_type_names(void)
{
	static const struct {
		u32 type;
		const char *name;
	} names[] = {
		{ 1, "ERROR" }, { 2, "READY" }, { 3, "QEMU_FILE" },
		{ 4, "RAM_BLOCKS_REQUEST" }, { 5, "RAM_BLOCKS_RESULT" },
		{ 6, "COMPRESS" }, { 7, "REGISTER_REQUEST" },
		{ 8, "REGISTER_RESULT" }, { 9, "REGISTER_FINISHED" },
		{ 10, "UNREGISTER_REQUEST" }, { 11, "UNREGISTER_FINISHED" },
		{ 0x140, "END" }, { 0x141, "END_OK" }, { 0x150, "BLOCKS" },
		{ 0, "unknown" }, { 12, "unknown" }, { U32_MAX, "unknown" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		ok(same(rdmamig_codec_type_name(names[i].type), names[i].name),
		   "type name: 0x%x is %s", names[i].type, names[i].name);
}

int main(void)
{
	test_header();
	test_ranges("register", rdmamig_codec_register,
		    RDMAMIG_MSG_REGISTER_REQUEST,
		    RDMAMIG_MSG_UNREGISTER_REQUEST, register_cases,
		    ARRAY_SIZE(register_cases));
	test_ranges("unregister", rdmamig_codec_unregister,
		    RDMAMIG_MSG_UNREGISTER_REQUEST,
		    RDMAMIG_MSG_REGISTER_REQUEST, unregister_cases,
		    ARRAY_SIZE(unregister_cases));
	test_compress();
	test_blocks_result();
	test_register_result();
	test_small();
	test_names();
	test_private();
	test_text();
	test_reject();
	test_type_names();
	return tap_done();
}
