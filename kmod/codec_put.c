// SPDX-License-Identifier: GPL-2.0
/*
 * The other half of the codec: numbers to bytes of the wire.  What is written is
 * ours and so is not judged; the caller has room for it.
 */
#ifdef __KERNEL__
#include <asm/byteorder.h>
#include <linux/string.h>
#endif

#include "codec.h"

/**
 * rdmamig_codec_put_header() - write the header of a message
 * @buf: where the message starts
 * @type: of the message
 * @repeat: number of records, or 1
 * @len: bytes of payload
 *
 * Context: any.
 * Return: the bytes written, that is where the payload starts.
 */
u32 rdmamig_codec_put_header(void *buf, u32 type, u32 repeat, u32 len)
{
	struct rdmamig_wire_header header = {
		.len = cpu_to_be32(len),
		.type = cpu_to_be32(type),
		.repeat = cpu_to_be32(repeat),
	};

	memcpy(buf, &header, sizeof(header));
	return sizeof(header);
}

/**
 * rdmamig_codec_put_register() - write a record to ask for or return chunks
 * @payload: of a REGISTER_REQUEST or UNREGISTER_REQUEST
 * @i: which record, from 0
 * @block: index of the block
 * @key: to register, the target's offset of the block plus that in the block,
 *	in bytes; to unregister, the index of the chunk in its block
 * @chunks: how many chunks more than one
 *
 * Context: any.
 * Return: the bytes written.
 */
u32 rdmamig_codec_put_register(void *payload, u32 i, u32 block, u64 key,
			       u64 chunks)
{
	struct rdmamig_wire_register record = {
		.key = cpu_to_be64(key),
		.block = cpu_to_be32(block),
		.chunks = cpu_to_be64(chunks),
	};

	memcpy((u8 *)payload + (u64)i * sizeof(record), &record, sizeof(record));
	return sizeof(record);
}

/**
 * rdmamig_codec_put_compress() - write the record of a COMPRESS
 * @payload: of the message
 * @block: index of the block
 * @addr: the target's offset of the block plus that in the block, in bytes
 * @length: of the zeroes, in bytes
 *
 * Context: any.
 * Return: the bytes written.
 */
u32 rdmamig_codec_put_compress(void *payload, u32 block, u64 addr, u64 length)
{
	struct rdmamig_wire_compress record = {
		.block = cpu_to_be32(block),
		.addr = cpu_to_be64(addr),
		.length = cpu_to_be64(length),
	};

	memcpy(payload, &record, sizeof(record));
	return sizeof(record);
}

/**
 * rdmamig_codec_put_block() - write one record of a RAM_BLOCKS_RESULT
 * @payload: of the message
 * @i: which record, from 0
 * @block: where the block lies
 * @rkey: the key of the whole block with pin-all, else 0
 *
 * Context: any.
 * Return: the bytes written.
 */
u32 rdmamig_codec_put_block(void *payload, u32 i,
			    const struct rdmamig_codec_block *block, u32 rkey)
{
	struct rdmamig_wire_block record = {
		.base = cpu_to_be64(block->base),
		.offset = cpu_to_be64(block->offset),
		.length = cpu_to_be64(block->length),
		.rkey = cpu_to_be32(rkey),
	};

	memcpy((u8 *)payload + (u64)i * sizeof(record), &record, sizeof(record));
	return sizeof(record);
}

/**
 * rdmamig_codec_put_result() - write one record of a REGISTER_RESULT
 * @payload: of the message
 * @i: which record, from 0
 * @rkey: the key of the chunk, not 0, which a stock source takes for "none"
 * @base: of the block, the same in every answer
 *
 * Context: any.
 * Return: the bytes written.
 */
u32 rdmamig_codec_put_result(void *payload, u32 i, u32 rkey, u64 base)
{
	struct rdmamig_wire_result record = {
		.rkey = cpu_to_be32(rkey),
		.base = cpu_to_be64(base),
	};

	memcpy((u8 *)payload + (u64)i * sizeof(record), &record, sizeof(record));
	return sizeof(record);
}

/**
 * rdmamig_codec_put_end() - write the payload of END
 * @payload: of the message
 * @stream_bytes: how many bytes of stream were sent
 * @ram_bytes: how many bytes of RAM were sent
 *
 * Context: any.
 * Return: the bytes written.
 */
u32 rdmamig_codec_put_end(void *payload, u64 stream_bytes, u64 ram_bytes)
{
	struct rdmamig_wire_end record = {
		.stream_bytes = cpu_to_be64(stream_bytes),
		.ram_bytes = cpu_to_be64(ram_bytes),
	};

	memcpy(payload, &record, sizeof(record));
	return sizeof(record);
}

/**
 * rdmamig_codec_put_end_ok() - write the payload of END_OK
 * @payload: of the message
 * @status: 0, or a positive errno
 *
 * Context: any.
 * Return: the bytes written.
 */
u32 rdmamig_codec_put_end_ok(void *payload, u32 status)
{
	struct rdmamig_wire_end_ok record = {
		.status = cpu_to_be32(status),
	};

	memcpy(payload, &record, sizeof(record));
	return sizeof(record);
}

/**
 * rdmamig_codec_put_shut() - write the end message of a return path
 * @payload: room for it
 * @status: 0, or a positive number for failure
 *
 * The return path carries be16 type, be16 length, payload; SHUT is type 1 with a
 * status (QEMU 7.2's migration.c; seen on the wire).
 *
 * Context: any; pure.
 *
 * Return: bytes written.
 */
u32 rdmamig_codec_put_shut(void *payload, u32 status)
{
	struct rdmamig_wire_shut shut = {
		.type	= cpu_to_be16(RDMAMIG_SHUT_TYPE),
		.len	= cpu_to_be16(sizeof(shut.status)),
		.status	= cpu_to_be32(status),
	};

	memcpy(payload, &shut, sizeof(shut));
	return sizeof(shut);
}

/**
 * rdmamig_codec_put_name() - write one block of a BLOCKS message
 * @payload: of the message
 * @pos: where in the payload, in bytes
 * @length: of the block, in bytes, not 0
 * @name: of the block, without NUL
 * @name_len: length of @name, 1 to 255
 *
 * Context: any.
 * Return: the bytes written, to be added to @pos.
 */
u32 rdmamig_codec_put_name(void *payload, u32 pos, u64 length,
			   const char *name, u16 name_len)
{
	struct rdmamig_wire_block_name record = {
		.length = cpu_to_be64(length),
		.name_len = cpu_to_be16(name_len),
	};
	u8 *out = (u8 *)payload + pos;

	memcpy(out, &record, sizeof(record));
	memcpy(out + sizeof(record), name, name_len);
	return sizeof(record) + name_len;
}

/**
 * rdmamig_codec_put_private() - write the private data of a request or reply
 * @data: room for sizeof(struct rdmamig_wire_private)
 * @priv: what to say
 *
 * Context: any.
 * Return: the bytes written: 8, or 48 with a tail.
 */
u32 rdmamig_codec_put_private(void *data,
			      const struct rdmamig_codec_private *priv)
{
	const struct rdmamig_codec_tail *tail = &priv->tail;
	struct rdmamig_wire_private wire = {
		.cap.version = cpu_to_be32(priv->version),
		.cap.flags = cpu_to_be32((priv->pin_all ?
					  RDMAMIG_WIRE_F_PIN_ALL : 0) |
					 (priv->has_tail ?
					  RDMAMIG_WIRE_F_TAIL : 0)),
		.tail.magic = cpu_to_be32(RDMAMIG_TAIL_MAGIC),
		.tail.version = cpu_to_be16(RDMAMIG_TAIL_VERSION),
		.tail.length = cpu_to_be16(sizeof(wire.tail)),
		.tail.features = cpu_to_be32(tail->features),
		.tail.credits = cpu_to_be16(tail->credits),
		.tail.chunk_shift = tail->chunk_shift,
		.tail.batch_shift = tail->batch_shift,
		.tail.lanes = cpu_to_be16(tail->lanes),
		.tail.max_reg = cpu_to_be16(tail->max_reg),
		.tail.token = cpu_to_be64(tail->token),
		.tail.lane = cpu_to_be32(tail->lane),
		.tail.pin_limit = cpu_to_be64(tail->pin_limit),
	};
	u32 bytes = priv->has_tail ? sizeof(wire) : sizeof(wire.cap);

	memcpy(data, &wire, bytes);
	return bytes;
}

/**
 * rdmamig_codec_put_reject() - write the private data of a reject
 * @data: room for RDMAMIG_WIRE_TEXT_MAX bytes more than
 *	sizeof(struct rdmamig_wire_reject)
 * @text: the reason; what is longer than RDMAMIG_WIRE_TEXT_MAX is cut
 *
 * Context: any.
 * Return: the bytes written.
 */
u32 rdmamig_codec_put_reject(void *data, const char *text)
{
	struct rdmamig_wire_reject record = {
		.magic = cpu_to_be32(RDMAMIG_TAIL_MAGIC),
		.version = cpu_to_be16(RDMAMIG_TAIL_VERSION),
	};
	u32 len = strnlen(text, RDMAMIG_WIRE_TEXT_MAX);

	record.text_len = cpu_to_be16(len);
	memcpy(data, &record, sizeof(record));
	memcpy((u8 *)data + sizeof(record), text, len);
	return sizeof(record) + len;
}
