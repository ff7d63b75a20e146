// SPDX-License-Identifier: GPL-2.0
/*
 * Bytes of the wire to numbers; see Documentation/protocol.rst.  The way back is
 * in codec_put.c.
 *
 * What a peer sends is copied out of its buffer before it is looked at, and
 * every rule is checked on the copy, so that a peer which writes into a buffer
 * under our eyes changes nothing that was already judged.
 *
 * What can be checked without knowing the session (sizes, counts) is checked
 * by rdmamig_codec_header().  What needs the block table, or what we asked
 * for, is checked by the decoder of the message.  Whether a message may come
 * at this moment is the caller's question.
 */
#ifdef __KERNEL__
#include <asm/byteorder.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/string.h>
#endif

#include "codec.h"

/* How "repeat" and the payload's length belong together. */
enum count_rule {
	COUNT_FREE,		/* repeat says nothing */
	COUNT_ANY,		/* repeat says nothing, whole records */
	COUNT_EXACT,		/* repeat records, no byte more */
	COUNT_LEAST,		/* repeat records of at least that size */
	COUNT_RESULT,		/* exact, or one record as stock QEMU has it */
};

/* What is legal for a type by itself. */
struct shape {
	u32 type;
	const char *name;
	u32 min;		/* bytes of payload */
	u32 max;
	u32 record;		/* bytes of one record */
	u32 repeat_max;
	enum count_rule rule;
	const char *bad_len;
	const char *bad_repeat;
};

#define REGISTER_LEN	((u32)sizeof(struct rdmamig_wire_register))
#define RESULT_LEN	((u32)sizeof(struct rdmamig_wire_result))
#define COMPRESS_LEN	((u32)sizeof(struct rdmamig_wire_compress))
#define BLOCK_LEN	((u32)sizeof(struct rdmamig_wire_block))
#define END_LEN		((u32)sizeof(struct rdmamig_wire_end))
#define END_OK_LEN	((u32)sizeof(struct rdmamig_wire_end_ok))
#define NAME_LEN	((u32)sizeof(struct rdmamig_wire_block_name))
#define CAP_LEN		((u32)sizeof(struct rdmamig_wire_cap))
#define TAIL_LEN	((u32)sizeof(struct rdmamig_wire_tail))
#define PRIVATE_LEN	((u32)sizeof(struct rdmamig_wire_private))
#define REJECT_LEN	((u32)sizeof(struct rdmamig_wire_reject))
#define HEADER_LEN	((u32)sizeof(struct rdmamig_wire_header))

#define NAME_MAX_LEN	255u	/* QEMU counts a block's name in one byte */
#define CHUNK_SHIFT_MAX	30u
#define BATCH_SHIFT_MAX	12u

static const struct shape shapes[] = {
	{
		.type = RDMAMIG_MSG_ERROR, .name = "ERROR",
		.max = RDMAMIG_WIRE_TEXT_MAX,
		.bad_len = "ERROR: text too long",
	}, {
		.type = RDMAMIG_MSG_READY, .name = "READY",
		.bad_len = "READY: payload not empty",
	}, {
		.type = RDMAMIG_MSG_QEMU_FILE, .name = "QEMU_FILE",
		.min = 1, .max = RDMAMIG_PAYLOAD_MAX,
		.bad_len = "QEMU_FILE: payload empty",
	}, {
		.type = RDMAMIG_MSG_RAM_BLOCKS_REQUEST,
		.name = "RAM_BLOCKS_REQUEST",
		.bad_len = "RAM_BLOCKS_REQUEST: payload not empty",
	}, {
		.type = RDMAMIG_MSG_RAM_BLOCKS_RESULT,
		.name = "RAM_BLOCKS_RESULT",
		.min = BLOCK_LEN, .max = RDMAMIG_PAYLOAD_MAX,
		.record = BLOCK_LEN, .rule = COUNT_ANY,
		.bad_len = "RAM_BLOCKS_RESULT: not whole block records",
	}, {
		.type = RDMAMIG_MSG_COMPRESS, .name = "COMPRESS",
		.min = COMPRESS_LEN, .max = COMPRESS_LEN,
		.record = COMPRESS_LEN, .repeat_max = 1, .rule = COUNT_EXACT,
		.bad_len = "COMPRESS: payload is not one record",
		.bad_repeat = "COMPRESS: repeat is not 1",
	}, {
		.type = RDMAMIG_MSG_REGISTER_REQUEST,
		.name = "REGISTER_REQUEST",
		.min = REGISTER_LEN, .max = RDMAMIG_PAYLOAD_MAX,
		.record = REGISTER_LEN, .repeat_max = RDMAMIG_REPEAT_MAX,
		.rule = COUNT_EXACT,
		.bad_len = "REGISTER_REQUEST: length does not match repeat",
		.bad_repeat = "REGISTER_REQUEST: repeat out of range",
	}, {
		.type = RDMAMIG_MSG_REGISTER_RESULT, .name = "REGISTER_RESULT",
		.min = RESULT_LEN, .max = RDMAMIG_PAYLOAD_MAX,
		.record = RESULT_LEN, .repeat_max = RDMAMIG_REPEAT_MAX,
		.rule = COUNT_RESULT,
		.bad_len = "REGISTER_RESULT: length does not match repeat",
		.bad_repeat = "REGISTER_RESULT: repeat out of range",
	}, {
		.type = RDMAMIG_MSG_REGISTER_FINISHED,
		.name = "REGISTER_FINISHED",
		.bad_len = "REGISTER_FINISHED: payload not empty",
	}, {
		.type = RDMAMIG_MSG_UNREGISTER_REQUEST,
		.name = "UNREGISTER_REQUEST",
		.min = REGISTER_LEN, .max = RDMAMIG_PAYLOAD_MAX,
		.record = REGISTER_LEN, .repeat_max = RDMAMIG_REPEAT_MAX,
		.rule = COUNT_EXACT,
		.bad_len = "UNREGISTER_REQUEST: length does not match repeat",
		.bad_repeat = "UNREGISTER_REQUEST: repeat out of range",
	}, {
		.type = RDMAMIG_MSG_UNREGISTER_FINISHED,
		.name = "UNREGISTER_FINISHED",
		.bad_len = "UNREGISTER_FINISHED: payload not empty",
	}, {
		.type = RDMAMIG_MSG_END, .name = "END",
		.min = END_LEN, .max = END_LEN,
		.bad_len = "END: payload is not 16 bytes",
	}, {
		.type = RDMAMIG_MSG_END_OK, .name = "END_OK",
		.min = END_OK_LEN, .max = END_OK_LEN,
		.bad_len = "END_OK: payload is not 8 bytes",
	}, {
		.type = RDMAMIG_MSG_BLOCKS, .name = "BLOCKS",
		.min = NAME_LEN + 1, .max = RDMAMIG_PAYLOAD_MAX,
		.record = NAME_LEN + 1, .repeat_max = RDMAMIG_WIRE_BLOCKS_MAX,
		.rule = COUNT_LEAST,
		.bad_len = "BLOCKS: payload too short for repeat",
		.bad_repeat = "BLOCKS: repeat out of range",
	},
};

static const struct shape *find_shape(u32 type)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(shapes); i++)
		if (shapes[i].type == type)
			return &shapes[i];
	return NULL;
}

/* The largest legal product is below 2^19, so nothing overflows in 64 bits. */
static const char *check_shape(const struct shape *shape, u32 len, u32 repeat)
{
	u64 want = (u64)shape->record * repeat;

	if (shape->repeat_max && (!repeat || repeat > shape->repeat_max))
		return shape->bad_repeat;
	if (len < shape->min || len > shape->max)
		return shape->bad_len;

	switch (shape->rule) {
	case COUNT_FREE:
		return NULL;
	case COUNT_ANY:
		return len % shape->record ? shape->bad_len : NULL;
	case COUNT_EXACT:
		return len != want ? shape->bad_len : NULL;
	case COUNT_LEAST:
		return len < want ? shape->bad_len : NULL;
	case COUNT_RESULT:
		return len != want && len != shape->record ?
		       shape->bad_len : NULL;
	}
	return shape->bad_len;
}

/**
 * rdmamig_codec_header() - judge a received message as a whole
 * @buf: what was received, from the header on
 * @bytes: how many bytes the receive completion counted
 * @msg: filled in on success; its payload points into @buf
 *
 * Checks what holds for a type at any time: a known type, a length that agrees
 * with the completion to the byte, and a repeat that agrees with the length.
 * The header's padding is never looked at (stock QEMU leaves stack bytes in
 * it), nor is the repeat of types where stock QEMU sends rubbish.
 *
 * Context: any.
 * Return: NULL, or a sentence that names the broken rule.
 */
const char *rdmamig_codec_header(const void *buf, u32 bytes,
				 struct rdmamig_codec_msg *msg)
{
	struct rdmamig_wire_header header;
	const struct shape *shape;

	if (bytes < HEADER_LEN)
		return "message: shorter than its header";
	memcpy(&header, buf, HEADER_LEN);
	msg->len = be32_to_cpu(header.len);
	msg->type = be32_to_cpu(header.type);
	msg->repeat = be32_to_cpu(header.repeat);
	msg->payload = (const u8 *)buf + HEADER_LEN;

	if (msg->len > RDMAMIG_PAYLOAD_MAX)
		return "message: length above the maximum";
	if (msg->len != bytes - HEADER_LEN)
		return "message: length differs from the bytes received";

	shape = find_shape(msg->type);
	if (!shape)
		return "message: unknown type";
	return check_shape(shape, msg->len, msg->repeat);
}

/* Copies record @i of @size bytes, or says that the message has none. */
static bool take_record(const struct rdmamig_codec_msg *msg, u32 type, u32 i,
			void *record, u32 size)
{
	if (msg->type != type || i >= msg->len / size)
		return false;
	memcpy(record, (const u8 *)msg->payload + (u64)i * size, size);
	return true;
}

/* The index of the last chunk of a block that is not empty. */
static u64 last_chunk(const struct rdmamig_codec_block *block)
{
	return (block->length - 1) >> RDMAMIG_CHUNK_SHIFT;
}

/**
 * rdmamig_codec_register() - decode one record of a REGISTER_REQUEST
 * @msg: a message that rdmamig_codec_header() has accepted
 * @i: which record, from 0
 * @table: the blocks of this target, in the order of RAM_BLOCKS_RESULT
 * @range: the chunks that are asked for, on success
 *
 * The key of the record is an address in the target's ram_addr space: the
 * block's offset plus that of the first byte to be written, which need not lie
 * on a chunk boundary.  Its chunk count is of those after the first.  A range
 * that leaves its block is refused, never cut.
 *
 * Context: any that @table->get allows.
 * Return: NULL, or a sentence that names the broken rule.
 */
const char *rdmamig_codec_register(const struct rdmamig_codec_msg *msg, u32 i,
				   const struct rdmamig_codec_table *table,
				   struct rdmamig_codec_range *range)
{
	struct rdmamig_wire_register record;
	struct rdmamig_codec_block block;
	u64 key, more;

	if (!take_record(msg, RDMAMIG_MSG_REGISTER_REQUEST, i, &record,
			 REGISTER_LEN))
		return "register record: not in this message";
	key = be64_to_cpu(record.key);
	more = be64_to_cpu(record.chunks);
	range->block = be32_to_cpu(record.block);

	if (!table->get(table->ctx, range->block, &block))
		return "register record: block index out of range";
	if (key < block.offset)
		return "register record: address below the block";
	if (key - block.offset >= block.length)
		return "register record: address beyond the block";
	range->first = (key - block.offset) >> RDMAMIG_CHUNK_SHIFT;
	if (more > last_chunk(&block) - range->first)
		return "register record: chunks beyond the block";
	range->count = more + 1;
	return NULL;
}

/**
 * rdmamig_codec_unregister() - decode one record of an UNREGISTER_REQUEST
 * @msg: a message that rdmamig_codec_header() has accepted
 * @i: which record, from 0
 * @table: the blocks of this target, in the order of RAM_BLOCKS_RESULT
 * @range: the chunks that are given back, on success
 *
 * Unlike in a REGISTER_REQUEST the key is the plain index of a chunk in its
 * block.  Whether the chunks have a key at all is for the caller to check.
 *
 * Context: any that @table->get allows.
 * Return: NULL, or a sentence that names the broken rule.
 */
const char *rdmamig_codec_unregister(const struct rdmamig_codec_msg *msg,
				     u32 i,
				     const struct rdmamig_codec_table *table,
				     struct rdmamig_codec_range *range)
{
	struct rdmamig_wire_register record;
	struct rdmamig_codec_block block;
	u64 more;

	if (!take_record(msg, RDMAMIG_MSG_UNREGISTER_REQUEST, i, &record,
			 REGISTER_LEN))
		return "unregister record: not in this message";
	more = be64_to_cpu(record.chunks);
	range->block = be32_to_cpu(record.block);
	range->first = be64_to_cpu(record.key);

	if (!table->get(table->ctx, range->block, &block))
		return "unregister record: block index out of range";
	if (!block.length || range->first > last_chunk(&block))
		return "unregister record: chunk index out of range";
	if (more > last_chunk(&block) - range->first)
		return "unregister record: chunks beyond the block";
	range->count = more + 1;
	return NULL;
}

/**
 * rdmamig_codec_compress() - decode the record of a COMPRESS
 * @msg: a message that rdmamig_codec_header() has accepted
 * @table: the blocks of this target, in the order of RAM_BLOCKS_RESULT
 * @zero: the bytes that shall read as zero, on success
 *
 * The range may start at any page and need not respect chunks; it lies in one
 * block and is made of whole pages of @table->page_size.
 *
 * Context: any that @table->get allows.
 * Return: NULL, or a sentence that names the broken rule.
 */
const char *rdmamig_codec_compress(const struct rdmamig_codec_msg *msg,
				   const struct rdmamig_codec_table *table,
				   struct rdmamig_codec_zero *zero)
{
	struct rdmamig_wire_compress record;
	struct rdmamig_codec_block block;
	u64 addr, mask = table->page_size - 1;

	if (!take_record(msg, RDMAMIG_MSG_COMPRESS, 0, &record, COMPRESS_LEN))
		return "compress record: not in this message";
	addr = be64_to_cpu(record.addr);
	zero->block = be32_to_cpu(record.block);
	zero->length = be64_to_cpu(record.length);

	if (record.value)
		return "compress record: fill value is not zero";
	if (!table->get(table->ctx, zero->block, &block))
		return "compress record: block index out of range";
	if (addr < block.offset)
		return "compress record: address below the block";
	zero->offset = addr - block.offset;
	if (zero->offset >= block.length)
		return "compress record: address beyond the block";
	if (!zero->length)
		return "compress record: length is zero";
	if (zero->length > block.length - zero->offset)
		return "compress record: range leaves the block";
	if (zero->offset & mask)
		return "compress record: address is not on a page boundary";
	if (zero->length & mask)
		return "compress record: length is not whole pages";
	return NULL;
}

/**
 * rdmamig_codec_blocks_result() - decode one record of a RAM_BLOCKS_RESULT
 * @msg: a message that rdmamig_codec_header() has accepted
 * @i: which record, from 0
 * @count: how many blocks this source has
 * @length: the length of block @i at this source, in bytes
 * @block: where the block lies at the target, on success
 * @rkey: the key of the whole block; has a meaning with pin-all only
 *
 * A record says where to write to, not what block it is of: that is decided by
 * its place.
 *
 * Context: any.
 * Return: NULL, or a sentence that names the broken rule.
 */
const char *rdmamig_codec_blocks_result(const struct rdmamig_codec_msg *msg,
					u32 i, u32 count, u64 length,
					struct rdmamig_codec_block *block,
					u32 *rkey)
{
	struct rdmamig_wire_block record;

	if (!take_record(msg, RDMAMIG_MSG_RAM_BLOCKS_RESULT, i, &record,
			 BLOCK_LEN))
		return "block record: not in this message";
	if (msg->len != (u64)count * BLOCK_LEN)
		return "block record: number of blocks differs from ours";

	block->base = be64_to_cpu(record.base);
	block->offset = be64_to_cpu(record.offset);
	block->length = be64_to_cpu(record.length);
	*rkey = be32_to_cpu(record.rkey);

	if (block->length != length)
		return "block record: length differs from ours";
	if (block->base > U64_MAX - length)
		return "block record: base plus length overflows";
	if (block->offset > U64_MAX - length)
		return "block record: offset plus length overflows";
	return NULL;
}

/**
 * rdmamig_codec_register_result() - decode one record of a REGISTER_RESULT
 * @msg: a message that rdmamig_codec_header() has accepted
 * @i: which record, from 0
 * @count: how many chunks were asked for; 1 of a stock peer, which registers
 *	all that a request names and then returns the first key only
 * @result: the key and the base of the block, on success
 *
 * The base is that of the block, not of the chunk, and must be the one that
 * RAM_BLOCKS_RESULT gave: the caller compares.
 *
 * Context: any.
 * Return: NULL, or a sentence that names the broken rule.
 */
const char *rdmamig_codec_register_result(const struct rdmamig_codec_msg *msg,
					  u32 i, u32 count,
					  struct rdmamig_codec_result *result)
{
	struct rdmamig_wire_result record;

	if (!take_record(msg, RDMAMIG_MSG_REGISTER_RESULT, i, &record,
			 RESULT_LEN))
		return "register result: not in this message";
	if (msg->repeat != count)
		return "register result: repeat differs from the request's";
	if (msg->len != (u64)count * RESULT_LEN)
		return "register result: fewer results than asked for";

	result->rkey = be32_to_cpu(record.rkey);
	result->base = be64_to_cpu(record.base);
	if (!result->rkey)
		return "register result: rkey 0";
	return NULL;
}

/**
 * rdmamig_codec_unregister_finished() - judge the answer to UNREGISTER_REQUEST
 * @msg: a message that rdmamig_codec_header() has accepted
 * @count: how many records the request had
 *
 * Context: any.
 * Return: NULL, or a sentence that names the broken rule.
 */
const char *rdmamig_codec_unregister_finished(const struct rdmamig_codec_msg *msg,
					      u32 count)
{
	if (msg->type != RDMAMIG_MSG_UNREGISTER_FINISHED)
		return "unregister answer: not in this message";
	if (msg->repeat != count)
		return "unregister answer: repeat differs from the request's";
	return NULL;
}

/**
 * rdmamig_codec_end() - decode END
 * @msg: a message that rdmamig_codec_header() has accepted
 * @end: how many bytes of stream and of RAM the source says it has sent
 *
 * Context: any.
 * Return: NULL, or a sentence that names the broken rule.
 */
const char *rdmamig_codec_end(const struct rdmamig_codec_msg *msg,
			      struct rdmamig_codec_end *end)
{
	struct rdmamig_wire_end record;

	if (!take_record(msg, RDMAMIG_MSG_END, 0, &record, END_LEN))
		return "end: not in this message";
	end->stream_bytes = be64_to_cpu(record.stream_bytes);
	end->ram_bytes = be64_to_cpu(record.ram_bytes);
	return NULL;
}

/**
 * rdmamig_codec_end_ok() - decode END_OK
 * @msg: a message that rdmamig_codec_header() has accepted
 * @status: 0 if the target has everything, else its errno, positive
 *
 * Context: any.
 * Return: NULL, or a sentence that names the broken rule.
 */
const char *rdmamig_codec_end_ok(const struct rdmamig_codec_msg *msg,
				 u32 *status)
{
	struct rdmamig_wire_end_ok record;

	if (!take_record(msg, RDMAMIG_MSG_END_OK, 0, &record, END_OK_LEN))
		return "end answer: not in this message";
	*status = be32_to_cpu(record.status);
	return NULL;
}

/**
 * rdmamig_codec_blocks() - decode the next block of a BLOCKS message
 * @msg: a message that rdmamig_codec_header() has accepted
 * @pos: where to read, in bytes of the payload; 0 at first, moved on success
 * @name: the block's length in bytes, and its name, which points into the
 *	payload and is not terminated
 *
 * To be called msg->repeat times; then the caller checks that @pos has reached
 * msg->len.  A name has 1 to 255 bytes, none of them NUL, and may hold
 * anything else: quote it before it is printed.
 *
 * Context: any.
 * Return: NULL, or a sentence that names the broken rule.
 */
const char *rdmamig_codec_blocks(const struct rdmamig_codec_msg *msg, u32 *pos,
				 struct rdmamig_codec_name *name)
{
	struct rdmamig_wire_block_name record;
	const u8 *payload = msg->payload;
	u32 at = *pos;

	if (msg->type != RDMAMIG_MSG_BLOCKS || at > msg->len ||
	    msg->len - at < NAME_LEN)
		return "block name record: not in this message";
	memcpy(&record, payload + at, NAME_LEN);
	at += NAME_LEN;
	name->length = be64_to_cpu(record.length);
	name->name_len = be16_to_cpu(record.name_len);
	name->name = (const char *)payload + at;

	if (!name->length)
		return "block name record: length of the block is zero";
	if (!name->name_len)
		return "block name record: name is empty";
	if (name->name_len > NAME_MAX_LEN)
		return "block name record: name too long";
	if (name->name_len > msg->len - at)
		return "block name record: name leaves the message";
	if (memchr(name->name, '\0', name->name_len))
		return "block name record: NUL in the name";
	*pos = at + name->name_len;
	return NULL;
}

/* A tail that breaks any rule is no tail: the peer is then a stock QEMU. */
static bool take_tail(const u8 *data, u32 bytes,
		      struct rdmamig_codec_tail *tail)
{
	struct rdmamig_wire_tail wire;
	u32 length;

	if (bytes < PRIVATE_LEN)
		return false;
	memcpy(&wire, data + CAP_LEN, TAIL_LEN);
	length = be16_to_cpu(wire.length);
	if (be32_to_cpu(wire.magic) != RDMAMIG_TAIL_MAGIC ||
	    be16_to_cpu(wire.version) < RDMAMIG_TAIL_VERSION ||
	    length < TAIL_LEN || length > bytes - CAP_LEN ||
	    wire.chunk_shift < RDMAMIG_CHUNK_SHIFT ||
	    wire.chunk_shift > CHUNK_SHIFT_MAX ||
	    wire.batch_shift > BATCH_SHIFT_MAX)
		return false;

	tail->features = be32_to_cpu(wire.features);
	tail->credits = be16_to_cpu(wire.credits);
	tail->chunk_shift = wire.chunk_shift;
	tail->batch_shift = wire.batch_shift;
	tail->lanes = be16_to_cpu(wire.lanes);
	tail->max_reg = be16_to_cpu(wire.max_reg);
	tail->token = be64_to_cpu(wire.token);
	tail->lane = be32_to_cpu(wire.lane);
	tail->pin_limit = be64_to_cpu(wire.pin_limit);
	return true;
}

/**
 * rdmamig_codec_private() - decode the private data of a request or its reply
 * @data: as the connection manager has it; may be NULL
 * @bytes: its size, which on InfiniBand and RoCE is that of the whole area,
 *	filled up with zeroes, and tells nothing of what was sent
 * @priv: filled in on success
 *
 * The version is given as it is, and the caller judges it.  Unknown flags are
 * ignored, as stock QEMU does.
 *
 * Context: any.
 * Return: NULL, or a sentence that names the broken rule.
 */
const char *rdmamig_codec_private(const void *data, u32 bytes,
				  struct rdmamig_codec_private *priv)
{
	struct rdmamig_wire_cap cap;
	u32 flags;

	memset(priv, 0, sizeof(*priv));
	if (!data || bytes < CAP_LEN)
		return "private data: too short";
	memcpy(&cap, data, CAP_LEN);
	flags = be32_to_cpu(cap.flags);
	priv->version = be32_to_cpu(cap.version);
	priv->pin_all = flags & RDMAMIG_WIRE_F_PIN_ALL;
	if (flags & RDMAMIG_WIRE_F_TAIL)
		priv->has_tail = take_tail(data, bytes, &priv->tail);
	return NULL;
}

/**
 * rdmamig_codec_text() - make a peer's words safe to print
 * @data: the words, which nothing terminates
 * @bytes: how many bytes there are
 * @text: where to put them, terminated
 * @size: of @text, in bytes
 *
 * Takes at most RDMAMIG_WIRE_TEXT_MAX bytes; what is not printable ASCII
 * becomes a question mark.
 *
 * Context: any.
 * Return: the length of @text.
 */
u32 rdmamig_codec_text(const void *data, u32 bytes, char *text, u32 size)
{
	const u8 *in = data;
	u32 i;

	if (!size)
		return 0;
	if (bytes > RDMAMIG_WIRE_TEXT_MAX)
		bytes = RDMAMIG_WIRE_TEXT_MAX;
	if (bytes > size - 1)
		bytes = size - 1;
	for (i = 0; i < bytes; i++)
		text[i] = in[i] >= 0x20 && in[i] <= 0x7e ? in[i] : '?';
	text[bytes] = '\0';
	return bytes;
}

/**
 * rdmamig_codec_reject() - read the reason in the private data of a reject
 * @data: as the connection manager has it; may be NULL
 * @bytes: its size
 * @text: the reason, made safe by rdmamig_codec_text(); empty if there is none
 * @size: of @text, in bytes
 *
 * Context: any.
 * Return: the length of @text; 0 if the peer gave no reason.
 */
u32 rdmamig_codec_reject(const void *data, u32 bytes, char *text, u32 size)
{
	struct rdmamig_wire_reject record;
	u32 len;

	if (size)
		text[0] = '\0';
	if (!data || bytes < REJECT_LEN)
		return 0;
	memcpy(&record, data, REJECT_LEN);
	len = be16_to_cpu(record.text_len);
	if (be32_to_cpu(record.magic) != RDMAMIG_TAIL_MAGIC ||
	    be16_to_cpu(record.version) < RDMAMIG_TAIL_VERSION ||
	    len > bytes - REJECT_LEN)
		return 0;
	return rdmamig_codec_text((const u8 *)data + REJECT_LEN, len, text,
				  size);
}

/**
 * rdmamig_codec_type_name() - the name of a message type
 * @type: as in the header
 *
 * Context: any.
 * Return: a constant string, "unknown" for what is not in the protocol.
 */
const char *rdmamig_codec_type_name(u32 type)
{
	const struct shape *shape = find_shape(type);

	return shape ? shape->name : "unknown";
}
