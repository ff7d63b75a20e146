/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a session does with a message of a peer, up to the point where it
 * believes it; and whether what it then believes is true of the example
 * machine of Documentation/protocol.rst.
 */
#ifndef UNIT_JUDGE_H
#define UNIT_JUDGE_H

#include "codec.h"
#include "tap.h"

#define PAGE	4096ull
#define MIB	0x100000ull

/* The example machine: pc.ram and pc.bios, as the target has them. */
static const struct rdmamig_codec_block blocks[] = {
	{ 0x7f3a40000000, 0, 128 * MIB },
	{ 0x7f3a39e00000, 0x08000000, MIB / 4 },
};

static inline bool get_block(const void *ctx, u32 index,
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

static inline u64 chunks_of(u32 block)
{
	return (blocks[block].length + MIB - 1) / MIB;
}

static inline const char *judge_ranges(const struct rdmamig_codec_msg *msg,
				       bool *broken)
{
	struct rdmamig_codec_range range;
	const char *why = NULL;
	u32 i;

	for (i = 0; i < msg->repeat && !why; i++) {
		why = msg->type == RDMAMIG_MSG_REGISTER_REQUEST ?
		      rdmamig_codec_register(msg, i, &table, &range) :
		      rdmamig_codec_unregister(msg, i, &table, &range);
		if (why)
			break;
		if (range.block >= ARRAY_SIZE(blocks) || !range.count ||
		    range.first >= chunks_of(range.block) ||
		    range.count > chunks_of(range.block) - range.first)
			*broken = true;
	}
	return why;
}

static inline const char *judge_compress(const struct rdmamig_codec_msg *msg,
					 bool *broken)
{
	struct rdmamig_codec_zero zero;
	const char *why = rdmamig_codec_compress(msg, &table, &zero);

	if (!why && (zero.block >= ARRAY_SIZE(blocks) || !zero.length ||
		     zero.offset % PAGE || zero.length % PAGE ||
		     zero.offset >= blocks[zero.block].length ||
		     zero.length > blocks[zero.block].length - zero.offset))
		*broken = true;
	return why;
}

static inline const char *judge_blocks_result(const struct rdmamig_codec_msg *msg,
					      bool *broken)
{
	struct rdmamig_codec_block block;
	const char *why = NULL;
	u32 i, rkey;

	for (i = 0; i < ARRAY_SIZE(blocks) && !why; i++) {
		why = rdmamig_codec_blocks_result(msg, i, ARRAY_SIZE(blocks),
						  blocks[i].length, &block,
						  &rkey);
		if (!why && (block.length != blocks[i].length ||
			     block.base + block.length < block.base ||
			     block.offset + block.length < block.offset))
			*broken = true;
	}
	return why;
}

static inline const char *judge_results(const struct rdmamig_codec_msg *msg,
					u32 asked, bool *broken)
{
	struct rdmamig_codec_result result;
	const char *why = NULL;
	u32 i;

	for (i = 0; i < asked && !why; i++) {
		why = rdmamig_codec_register_result(msg, i, asked, &result);
		if (!why && !result.rkey)
			*broken = true;
	}
	return why;
}

static inline const char *judge_blocks(const struct rdmamig_codec_msg *msg,
				       bool *broken)
{
	const char *start = msg->payload, *why;
	struct rdmamig_codec_name name;
	u32 i, pos = 0;

	for (i = 0; i < msg->repeat; i++) {
		why = rdmamig_codec_blocks(msg, &pos, &name);
		if (why)
			return why;
		if (pos > msg->len || !name.length || !name.name_len ||
		    name.name_len > 255 || name.name < start ||
		    name.name + name.name_len > start + msg->len ||
		    memchr(name.name, 0, name.name_len))
			*broken = true;
	}
	return pos == msg->len ? NULL : "bytes behind the last block";
}

/*
 * What a session does with a message: first the header, then the decoder.
 * @asked is how many records our own request had.  @broken is set if something
 * was accepted that must not be.
 */
static inline const char *judge(const u8 *buf, u32 bytes, u32 asked, bool *broken)
{
	struct rdmamig_codec_msg msg;
	struct rdmamig_codec_end end;
	char text[RDMAMIG_WIRE_TEXT_MAX + 1];
	const char *why;
	u32 status, len;

	why = rdmamig_codec_header(buf, bytes, &msg);
	if (why)
		return why;
	if (msg.len != bytes - 16 || msg.payload != buf + 16 ||
	    !strcmp(rdmamig_codec_type_name(msg.type), "unknown"))
		*broken = true;

	switch (msg.type) {
	case RDMAMIG_MSG_ERROR:
		len = rdmamig_codec_text(msg.payload, msg.len, text,
					 sizeof(text));
		if (strlen(text) != len)
			*broken = true;
		return NULL;
	case RDMAMIG_MSG_QEMU_FILE:
		if (!msg.len)
			*broken = true;
		return NULL;
	case RDMAMIG_MSG_REGISTER_REQUEST:
	case RDMAMIG_MSG_UNREGISTER_REQUEST:
		return judge_ranges(&msg, broken);
	case RDMAMIG_MSG_COMPRESS:
		return judge_compress(&msg, broken);
	case RDMAMIG_MSG_RAM_BLOCKS_RESULT:
		return judge_blocks_result(&msg, broken);
	case RDMAMIG_MSG_REGISTER_RESULT:
		return judge_results(&msg, asked, broken);
	case RDMAMIG_MSG_UNREGISTER_FINISHED:
		return rdmamig_codec_unregister_finished(&msg, asked);
	case RDMAMIG_MSG_END:
		return rdmamig_codec_end(&msg, &end);
	case RDMAMIG_MSG_END_OK:
		return rdmamig_codec_end_ok(&msg, &status);
	case RDMAMIG_MSG_BLOCKS:
		return judge_blocks(&msg, broken);
	}
	if (msg.len)
		*broken = true;
	return NULL;
}

/* The same on a copy that ends where its memory ends. */
static inline const char *judge_copy(const u8 *buf, u32 bytes, u32 asked,
				     bool *broken)
{
	u8 *copy = exact(buf, bytes);
	const char *why = judge(copy, bytes, asked, broken);

	drop(copy);
	return why;
}

#endif /* UNIT_JUDGE_H */
