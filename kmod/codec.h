/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RDMAMIG_CODEC_H
#define RDMAMIG_CODEC_H

#include "wire.h"

/*
 * Pure: no allocation, no lock, no kernel call.  What comes from a peer enters
 * through rdmamig_codec_header() and the decoder of its type, and is trusted
 * only after those have returned NULL.
 *
 * A decoder that refuses returns a constant sentence that names the broken
 * rule ("register record: block index out of range"); NULL is success.
 */

/* What the receiver knows of a RAM block; decoders check against it. */
struct rdmamig_codec_block {
	u64 base;	/* where the peer writes to: base + offset in block */
	u64 offset;	/* start in the target's ram_addr space */
	u64 length;	/* bytes */
};

/* Gives block @index of the table @ctx, or false past its end. */
typedef bool (*rdmamig_codec_block_fn)(const void *ctx, u32 index,
				       struct rdmamig_codec_block *block);

struct rdmamig_codec_table {
	rdmamig_codec_block_fn get;
	const void *ctx;
	u32 page_size;	/* bytes, a power of two */
};

struct rdmamig_codec_msg {
	u32 type;
	u32 len;	/* bytes of payload */
	u32 repeat;
	const void *payload;
};

/* A run of chunks of one block. */
struct rdmamig_codec_range {
	u32 block;
	u64 first;	/* chunk index */
	u64 count;	/* chunks, at least 1 */
};

struct rdmamig_codec_zero {
	u32 block;
	u64 offset;	/* in the block, bytes */
	u64 length;	/* bytes, at least 1 */
};

struct rdmamig_codec_result {
	u32 rkey;
	u64 base;
};

struct rdmamig_codec_end {
	u64 stream_bytes;
	u64 ram_bytes;
};

struct rdmamig_codec_name {
	u64 length;
	u16 name_len;
	const char *name;	/* not terminated */
};

struct rdmamig_codec_tail {
	u32 features;
	u16 credits;
	u8 chunk_shift;
	u8 batch_shift;
	u16 lanes;
	u16 max_reg;
	u64 token;
	u32 lane;
	u64 pin_limit;
};

/* Private data: version, flags without the tail's bit, and perhaps a tail. */
struct rdmamig_codec_private {
	u32 version;
	bool pin_all;
	bool has_tail;
	struct rdmamig_codec_tail tail;
};

/* Decoding. */
const char *rdmamig_codec_header(const void *buf, u32 bytes,
				 struct rdmamig_codec_msg *msg);
const char *rdmamig_codec_register(const struct rdmamig_codec_msg *msg, u32 i,
				   const struct rdmamig_codec_table *table,
				   struct rdmamig_codec_range *range);
const char *rdmamig_codec_unregister(const struct rdmamig_codec_msg *msg,
				     u32 i,
				     const struct rdmamig_codec_table *table,
				     struct rdmamig_codec_range *range);
const char *rdmamig_codec_compress(const struct rdmamig_codec_msg *msg,
				   const struct rdmamig_codec_table *table,
				   struct rdmamig_codec_zero *zero);
const char *rdmamig_codec_blocks_result(const struct rdmamig_codec_msg *msg,
					u32 i, u32 count, u64 length,
					struct rdmamig_codec_block *block,
					u32 *rkey);
const char *rdmamig_codec_register_result(const struct rdmamig_codec_msg *msg,
					  u32 i, u32 count,
					  struct rdmamig_codec_result *result);
const char *rdmamig_codec_unregister_finished(const struct rdmamig_codec_msg *msg,
					      u32 count);
const char *rdmamig_codec_end(const struct rdmamig_codec_msg *msg,
			      struct rdmamig_codec_end *end);
const char *rdmamig_codec_end_ok(const struct rdmamig_codec_msg *msg,
				 u32 *status);
const char *rdmamig_codec_blocks(const struct rdmamig_codec_msg *msg, u32 *pos,
				 struct rdmamig_codec_name *name);
const char *rdmamig_codec_private(const void *data, u32 bytes,
				  struct rdmamig_codec_private *priv);
u32 rdmamig_codec_text(const void *data, u32 bytes, char *text, u32 size);
u32 rdmamig_codec_reject(const void *data, u32 bytes, char *text, u32 size);
const char *rdmamig_codec_type_name(u32 type);

/* codec_put.c: encoding; each returns the bytes written. */
u32 rdmamig_codec_put_header(void *buf, u32 type, u32 repeat, u32 len);
u32 rdmamig_codec_put_register(void *payload, u32 i, u32 block, u64 key,
			       u64 chunks);
u32 rdmamig_codec_put_compress(void *payload, u32 block, u64 addr, u64 length);
u32 rdmamig_codec_put_block(void *payload, u32 i,
			    const struct rdmamig_codec_block *block, u32 rkey);
u32 rdmamig_codec_put_result(void *payload, u32 i, u32 rkey, u64 base);
u32 rdmamig_codec_put_end(void *payload, u64 stream_bytes, u64 ram_bytes);
u32 rdmamig_codec_put_end_ok(void *payload, u32 status);
u32 rdmamig_codec_put_shut(void *payload, u32 status);
u32 rdmamig_codec_put_name(void *payload, u32 pos, u64 length,
			   const char *name, u16 name_len);
u32 rdmamig_codec_put_private(void *data,
			      const struct rdmamig_codec_private *priv);
u32 rdmamig_codec_put_reject(void *data, const char *text);

#endif /* RDMAMIG_CODEC_H */
