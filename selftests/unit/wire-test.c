// SPDX-License-Identifier: GPL-2.0
/*
 * Whole messages.  First the worked examples of Documentation/protocol.rst,
 * byte for byte in both directions.  Then everything that may happen to a
 * message on its way from a peer that means harm: cut at each length, each bit
 * flipped, bytes replaced by noise.  Whatever the codec still accepts must
 * keep its promises, which judge() checks as the callers in the module rely on
 * them.
 */
#include "judge.h"

static u32 put(u8 *buf, u32 type, u32 repeat, u32 len)
{
	return rdmamig_codec_put_header(buf, type, repeat, len) + len;
}

/* Makers: write the payload, then the header, and return the bytes. */

static u32 make_ready(u8 *buf)
{
	return put(buf, RDMAMIG_MSG_READY, 1, 0);
}

static u32 make_error(u8 *buf)
{
	return put(buf, RDMAMIG_MSG_ERROR, 1, 0);
}

static u32 make_stream(u8 *buf)
{
	memcpy(buf + 16, "QEVM\0\0\0\3", 8);
	return put(buf, RDMAMIG_MSG_QEMU_FILE, 0, 8);
}

static u32 make_blocks_request(u8 *buf)
{
	return put(buf, RDMAMIG_MSG_RAM_BLOCKS_REQUEST, 1, 0);
}

static u32 make_blocks_result(u8 *buf)
{
	u32 len = 0;

	len += rdmamig_codec_put_block(buf + 16, 0, &blocks[0], 0);
	len += rdmamig_codec_put_block(buf + 16, 1, &blocks[1], 0);
	return put(buf, RDMAMIG_MSG_RAM_BLOCKS_RESULT, 1, len);
}

static u32 make_blocks_result_pinned(u8 *buf)
{
	u32 len = 0;

	len += rdmamig_codec_put_block(buf + 16, 0, &blocks[0], 0x1a2b);
	len += rdmamig_codec_put_block(buf + 16, 1, &blocks[1], 0x1a2c);
	return put(buf, RDMAMIG_MSG_RAM_BLOCKS_RESULT, 1, len);
}

static u32 make_compress(u8 *buf)
{
	u32 len = rdmamig_codec_put_compress(buf + 16, 0, 3 * MIB, MIB);

	return put(buf, RDMAMIG_MSG_COMPRESS, 1, len);
}

static u32 make_register(u8 *buf)
{
	u32 len = rdmamig_codec_put_register(buf + 16, 0, 0, 0x02503000, 0);

	return put(buf, RDMAMIG_MSG_REGISTER_REQUEST, 1, len);
}

static u32 make_register_result(u8 *buf)
{
	u32 len = rdmamig_codec_put_result(buf + 16, 0, 0x00182f3a,
					   0x7f3a40000000);

	return put(buf, RDMAMIG_MSG_REGISTER_RESULT, 1, len);
}

static u32 make_register_finished(u8 *buf)
{
	return put(buf, RDMAMIG_MSG_REGISTER_FINISHED, 1, 0);
}

static u32 make_unregister(u8 *buf)
{
	u32 len = rdmamig_codec_put_register(buf + 16, 0, 0, 0x25, 0);

	return put(buf, RDMAMIG_MSG_UNREGISTER_REQUEST, 1, len);
}

static u32 make_unregister_finished(u8 *buf)
{
	return put(buf, RDMAMIG_MSG_UNREGISTER_FINISHED, 1, 0);
}

static u32 make_end(u8 *buf)
{
	u32 len = rdmamig_codec_put_end(buf + 16, 98857, 0x08040000);

	return put(buf, RDMAMIG_MSG_END, 1, len);
}

static u32 make_end_ok(u8 *buf)
{
	u32 len = rdmamig_codec_put_end_ok(buf + 16, 28);

	return put(buf, RDMAMIG_MSG_END_OK, 1, len);
}

static u32 make_shut(u8 *buf)
{
	u32 len = rdmamig_codec_put_shut(buf + 16, 0);

	return put(buf, RDMAMIG_MSG_QEMU_FILE, 1, len);
}

static u32 make_blocks(u8 *buf)
{
	u32 len = 0;

	len += rdmamig_codec_put_name(buf + 16, len, 128 * MIB, "pc.ram", 6);
	len += rdmamig_codec_put_name(buf + 16, len, MIB / 4, "pc.bios", 7);
	return put(buf, RDMAMIG_MSG_BLOCKS, 2, len);
}

/* Batches have no worked example; they are cut and flipped all the same. */

static u32 make_register_batch(u8 *buf)
{
	u32 len = 0;

	len += rdmamig_codec_put_register(buf + 16, 0, 0, 5 * MIB, 3);
	len += rdmamig_codec_put_register(buf + 16, 1, 1, 0x08000000, 0);
	len += rdmamig_codec_put_register(buf + 16, 2, 0, 0x07fff000, 0);
	return put(buf, RDMAMIG_MSG_REGISTER_REQUEST, 3, len);
}

static u32 make_result_batch(u8 *buf)
{
	u32 len = 0, i;

	for (i = 0; i < 3; i++)
		len += rdmamig_codec_put_result(buf + 16, i, 7 + i,
						0x7f3a40000000);
	return put(buf, RDMAMIG_MSG_REGISTER_RESULT, 3, len);
}

static u32 make_unregister_batch(u8 *buf)
{
	u32 len = 0;

	len += rdmamig_codec_put_register(buf + 16, 0, 0, 5, 3);
	len += rdmamig_codec_put_register(buf + 16, 1, 1, 0, 0);
	return put(buf, RDMAMIG_MSG_UNREGISTER_REQUEST, 2, len);
}

static u32 make_error_text(u8 *buf)
{
	memcpy(buf + 16, "pin limit too small", 19);
	return put(buf, RDMAMIG_MSG_ERROR, 1, 19);
}

static const struct example {
	const char *name;
	u32 (*make)(u8 *buf);
	const char *hex;	/* NULL if it is in no document */
} examples[] = {
	{ "READY", make_ready,
	  "00 00 00 00  00 00 00 02  00 00 00 01  00 00 00 00" },
	{ "ERROR", make_error,
	  "00 00 00 00  00 00 00 01  00 00 00 01  00 00 00 00" },
	{ "QEMU_FILE", make_stream,
	  "00 00 00 08  00 00 00 03  00 00 00 00  00 00 00 00\n"
	  "51 45 56 4d  00 00 00 03" },
	{ "RAM_BLOCKS_REQUEST", make_blocks_request,
	  "00 00 00 00  00 00 00 04  00 00 00 01  00 00 00 00" },
	{ "RAM_BLOCKS_RESULT", make_blocks_result,
	  "00 00 00 40  00 00 00 05  00 00 00 01  00 00 00 00\n"
	  "00 00 7f 3a 40 00 00 00  00 00 00 00 00 00 00 00\n"
	  "00 00 00 00 08 00 00 00  00 00 00 00 00 00 00 00\n"
	  "00 00 7f 3a 39 e0 00 00  00 00 00 00 08 00 00 00\n"
	  "00 00 00 00 00 04 00 00  00 00 00 00 00 00 00 00" },
	{ "RAM_BLOCKS_RESULT, pin-all", make_blocks_result_pinned,
	  "00 00 00 40  00 00 00 05  00 00 00 01  00 00 00 00\n"
	  "00 00 7f 3a 40 00 00 00  00 00 00 00 00 00 00 00\n"
	  "00 00 00 00 08 00 00 00  00 00 1a 2b 00 00 00 00\n"
	  "00 00 7f 3a 39 e0 00 00  00 00 00 00 08 00 00 00\n"
	  "00 00 00 00 00 04 00 00  00 00 1a 2c 00 00 00 00" },
	{ "COMPRESS", make_compress,
	  "00 00 00 18  00 00 00 06  00 00 00 01  00 00 00 00\n"
	  "00 00 00 00  00 00 00 00\n"
	  "00 00 00 00 00 30 00 00  00 00 00 00 00 10 00 00" },
	{ "REGISTER_REQUEST", make_register,
	  "00 00 00 18  00 00 00 07  00 00 00 01  00 00 00 00\n"
	  "00 00 00 00 02 50 30 00  00 00 00 00  00 00 00 00\n"
	  "00 00 00 00 00 00 00 00" },
	{ "REGISTER_RESULT", make_register_result,
	  "00 00 00 10  00 00 00 08  00 00 00 01  00 00 00 00\n"
	  "00 18 2f 3a  00 00 00 00  00 00 7f 3a 40 00 00 00" },
	{ "REGISTER_FINISHED", make_register_finished,
	  "00 00 00 00  00 00 00 09  00 00 00 01  00 00 00 00" },
	{ "UNREGISTER_REQUEST", make_unregister,
	  "00 00 00 18  00 00 00 0a  00 00 00 01  00 00 00 00\n"
	  "00 00 00 00 00 00 00 25  00 00 00 00  00 00 00 00\n"
	  "00 00 00 00 00 00 00 00" },
	{ "UNREGISTER_FINISHED", make_unregister_finished,
	  "00 00 00 00  00 00 00 0b  00 00 00 01  00 00 00 00" },
	{ "END", make_end,
	  "00 00 00 10  00 00 01 40  00 00 00 01  00 00 00 00\n"
	  "00 00 00 00 00 01 82 29  00 00 00 00 08 04 00 00" },
	{ "END_OK", make_end_ok,
	  "00 00 00 08  00 00 01 41  00 00 00 01  00 00 00 00\n"
	  "00 00 00 1c  00 00 00 00" },
	{ "QEMU_FILE with SHUT", make_shut,
	  "00 00 00 08  00 00 00 03  00 00 00 01  00 00 00 00\n"
	  "00 01 00 04  00 00 00 00" },
	{ "BLOCKS", make_blocks,
	  "00 00 00 21  00 00 01 50  00 00 00 02  00 00 00 00\n"
	  "00 00 00 00 08 00 00 00  00 06  70 63 2e 72 61 6d\n"
	  "00 00 00 00 00 04 00 00  00 07  70 63 2e 62 69 6f 73" },
	{ "REGISTER_REQUEST of 3", make_register_batch, NULL },
	{ "REGISTER_RESULT of 3", make_result_batch, NULL },
	{ "UNREGISTER_REQUEST of 2", make_unregister_batch, NULL },
	{ "ERROR with a text", make_error_text, NULL },
};

static void test_examples(void)
{
	const struct example *e;
	u8 made[256], want[256];
	bool broken = false;
	size_t i, len;
	u32 bytes;

	for (i = 0; i < ARRAY_SIZE(examples); i++) {
		e = &examples[i];
		memset(made, 0xff, sizeof(made));
		bytes = e->make(made);
		if (e->hex) {
			len = unhex(e->hex, want, sizeof(want));
			ok(bytes == len && !memcmp(made, want, len),
			   "example: %s: written", e->name);
		}
		ok(same(judge_copy(made, bytes,
				   get_unaligned_be32(made + 8), &broken),
			NULL) && !broken, "example: %s: read", e->name);
	}
}

/* Values, for the examples that have some. */
static void test_values(void)
{
	struct rdmamig_codec_msg msg;
	struct rdmamig_codec_block block;
	struct rdmamig_codec_range range;
	struct rdmamig_codec_result result;
	struct rdmamig_codec_zero zero;
	u32 bytes, rkey;
	u8 buf[256];

	bytes = make_blocks_result_pinned(buf);
	ok(!rdmamig_codec_header(buf, bytes, &msg) &&
	   !rdmamig_codec_blocks_result(&msg, 1, 2, MIB / 4, &block, &rkey) &&
	   block.base == 0x7f3a39e00000 && block.offset == 0x08000000 &&
	   block.length == MIB / 4 && rkey == 0x1a2c,
	   "value: pc.bios, where it lies and its key");
	bytes = make_compress(buf);
	ok(!rdmamig_codec_header(buf, bytes, &msg) &&
	   !rdmamig_codec_compress(&msg, &table, &zero) && !zero.block &&
	   zero.offset == 3 * MIB && zero.length == MIB,
	   "value: zeroes, 1 MiB at 3 MiB");
	bytes = make_register(buf);
	ok(!rdmamig_codec_header(buf, bytes, &msg) &&
	   !rdmamig_codec_register(&msg, 0, &table, &range) && !range.block &&
	   range.first == 0x25 && range.count == 1,
	   "value: page 0x02503000 is in chunk 0x25");
	bytes = make_register_result(buf);
	ok(!rdmamig_codec_header(buf, bytes, &msg) &&
	   !rdmamig_codec_register_result(&msg, 0, 1, &result) &&
	   result.rkey == 0x00182f3a && result.base == 0x7f3a40000000,
	   "value: key and base");
	bytes = make_unregister(buf);
	ok(!rdmamig_codec_header(buf, bytes, &msg) &&
	   !rdmamig_codec_unregister(&msg, 0, &table, &range) &&
	   !range.block && range.first == 0x25 && range.count == 1,
	   "value: chunk 0x25 is given back");
}

static void test_private_examples(void)
{
	static const struct {
		const char *name, *hex;
		bool pin_all, has_tail;
	} cases[] = {
		{ "dynamic", "00 00 00 01 00 00 00 00", false, false },
		{ "pin-all", "00 00 00 01 00 00 00 01", true, false },
		{ "with a tail",
		  "00 00 00 01  80 00 00 01  52 4d 49 47  00 01  00 28\n"
		  "00 00 00 c0  00 40  14  0c  00 03  00 09\n"
		  "01 23 45 67 89 ab cd ef  00 00 00 02\n"
		  "00 00 00 00 40 00 00 00", true, true },
	};
	struct rdmamig_codec_private priv;
	u8 want[48], made[48], *copy;
	size_t i, len;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		len = unhex(cases[i].hex, want, sizeof(want));
		copy = exact(want, len);
		ok(!rdmamig_codec_private(copy, len, &priv) &&
		   priv.version == 1 && priv.pin_all == cases[i].pin_all &&
		   priv.has_tail == cases[i].has_tail,
		   "private data: %s: read", cases[i].name);
		drop(copy);
		ok(rdmamig_codec_put_private(made, &priv) == len &&
		   !memcmp(made, want, len), "private data: %s: written",
		   cases[i].name);
	}
	ok(priv.tail.features == 0xc0 && priv.tail.credits == 64 &&
	   priv.tail.chunk_shift == 20 && priv.tail.batch_shift == 12 &&
	   priv.tail.lanes == 3 && priv.tail.max_reg == 9 &&
	   priv.tail.token == 0x0123456789abcdef && priv.tail.lane == 2 &&
	   priv.tail.pin_limit == 0x40000000, "private data: tail: values");
}

/* As received, and with a length that admits to the cut. */
static void test_cut(const struct example *e)
{
	bool broken = false, refused = true, fits;
	u8 buf[256];
	u32 bytes, n, type, asked;

	bytes = e->make(buf);
	type = get_unaligned_be32(buf + 4);
	asked = get_unaligned_be32(buf + 8);
	for (n = 0; n < bytes; n++)
		if (!judge_copy(buf, n, asked, &broken))
			refused = false;
	ok(refused && !broken, "cut: %s: refused at each length", e->name);

	/* Stream and text are whole at any length but an empty stream. */
	refused = true;
	for (n = 16; n < bytes; n++) {
		put_unaligned_be32(n - 16, buf);
		fits = type == RDMAMIG_MSG_ERROR ||
		       (type == RDMAMIG_MSG_QEMU_FILE && n > 16);
		if (!judge_copy(buf, n, asked, &broken) != fits)
			refused = false;
	}
	ok(refused && !broken, "cut: %s: refused with an honest length",
	   e->name);
}

static void test_flips(const struct example *e)
{
	bool broken = false;
	u32 bytes, asked, i, j;
	u8 buf[256];

	bytes = e->make(buf);
	asked = get_unaligned_be32(buf + 8);
	for (i = 0; i < bytes * 8; i++) {
		buf[i / 8] ^= 1 << i % 8;
		judge_copy(buf, bytes, asked, &broken);
		for (j = 0; j < i; j++) {
			buf[j / 8] ^= 1 << j % 8;
			judge(buf, bytes, asked, &broken);
			buf[j / 8] ^= 1 << j % 8;
		}
		buf[i / 8] ^= 1 << i % 8;
	}
	ok(!broken, "flip: %s: each bit, each pair of bits", e->name);
}

/* A place in a message, in the payload rather than in the header. */
static u32 somewhere(u32 bytes)
{
	if (bytes > 16 && noise() % 8)
		return 16 + noise() % (bytes - 16);
	return noise() % bytes;
}

/* Interesting values at each place, and noise behind a header that fits. */
static void test_noise(const struct example *e)
{
	static const u64 values[] = {
		0, 1, 0x7f, 0xff, 0xffff, 0x7fffffff, 0x80000000, U32_MAX,
		0x100000000, (u64)S64_MAX, (u64)S64_MAX + 1, U64_MAX,
		0 - PAGE, 0 - MIB, 128 * MIB, 128 * MIB - 1, 127, 128,
	};
	bool broken = false;
	u32 bytes, asked, i;
	u8 buf[256], copy[256];
	size_t j;

	bytes = e->make(buf);
	asked = get_unaligned_be32(buf + 8);
	for (i = 0; i + 4 <= bytes; i++)
		for (j = 0; j < ARRAY_SIZE(values); j++) {
			memcpy(copy, buf, bytes);
			put_unaligned_be32(values[j], copy + i);
			judge_copy(copy, bytes, asked, &broken);
			if (i + 8 > bytes)
				continue;
			put_unaligned_be64(values[j], copy + i);
			judge_copy(copy, bytes, asked, &broken);
		}
	for (i = 0; i < 20000; i++) {
		memcpy(copy, buf, bytes);
		for (j = noise() % 8 + 1; j; j--)
			copy[somewhere(bytes)] = noise();
		judge_copy(copy, bytes, asked, &broken);
	}
	ok(!broken, "noise: %s", e->name);
}

/* Any type over any payload: what one type allows another must not trust. */
static void test_cross(void)
{
	bool broken = false;
	u8 buf[256];
	u32 bytes, type, repeat;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(examples); i++) {
		bytes = examples[i].make(buf);
		for (type = 0; type < 0x160; type++)
			for (repeat = 0; repeat < 4; repeat++) {
				rdmamig_codec_put_header(buf, type, repeat,
							 bytes - 16);
				judge_copy(buf, bytes, repeat, &broken);
			}
	}
	ok(!broken, "cross: every type over every payload");
}

static void test_private_noise(void)
{
	struct rdmamig_codec_private priv;
	char text[RDMAMIG_WIRE_TEXT_MAX + 1];
	u8 buf[56], reject[148], *copy;
	bool good = true;
	u32 i, n, len;

	memset(&priv, 0, sizeof(priv));
	priv.version = 1;
	priv.has_tail = true;
	priv.tail.chunk_shift = 20;
	for (i = 0; i < 48 * 8; i++)
		for (n = 0; n <= 56; n++) {
			struct rdmamig_codec_private got;

			memset(buf, 0, sizeof(buf));
			rdmamig_codec_put_private(buf, &priv);
			buf[i / 8] ^= 1 << i % 8;
			copy = exact(buf, n);
			if (rdmamig_codec_private(copy, n, &got))
				good = good && n < 8;
			else
				good = good && n >= 8 &&
				       (!got.has_tail ||
					(n >= 48 &&
					 got.tail.chunk_shift >= 20 &&
					 got.tail.chunk_shift <= 30 &&
					 got.tail.batch_shift <= 12));
			drop(copy);
		}
	ok(good, "private data: each bit flipped, at each length");

	good = true;
	for (i = 0; i < 27 * 8; i++)
		for (n = 0; n <= 40; n++) {
			memset(reject, 0, sizeof(reject));
			rdmamig_codec_put_reject(reject,
						 "pin limit too small");
			reject[i / 8] ^= 1 << i % 8;
			copy = exact(reject, n);
			len = rdmamig_codec_reject(copy, n, text,
						   sizeof(text));
			good = good && strlen(text) == len &&
			       (!len || len + 8 <= n);
			drop(copy);
		}
	ok(good, "reject: each bit flipped, at each length");
}

int main(void)
{
	size_t i;

	test_examples();
	test_values();
	test_private_examples();
	for (i = 0; i < ARRAY_SIZE(examples); i++)
		test_cut(&examples[i]);
	for (i = 0; i < ARRAY_SIZE(examples); i++)
		test_flips(&examples[i]);
	for (i = 0; i < ARRAY_SIZE(examples); i++)
		test_noise(&examples[i]);
	test_cross();
	test_private_noise();
	return tap_done();
}
