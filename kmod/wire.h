/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The wire: QEMU's RDMA migration protocol, version 1, and the tail of private
 * data by which two rdmamig know each other.  Everything is big-endian.  Only
 * the codec reads or writes these structures; Documentation/protocol.rst tells
 * what they mean and where each fact comes from.
 */
#ifndef RDMAMIG_WIRE_H
#define RDMAMIG_WIRE_H

#ifdef __KERNEL__
#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/types.h>
#else
#include "kernel-shim.h"	/* user space: unit tests and fuzzing */
#endif

#define RDMAMIG_WIRE_VERSION		1
#define RDMAMIG_WIRE_F_PIN_ALL		0x00000001u
#define RDMAMIG_WIRE_F_TAIL		0x80000000u

#define RDMAMIG_CHUNK_SHIFT		20
#define RDMAMIG_CHUNK_SIZE		BIT(RDMAMIG_CHUNK_SHIFT)

#define RDMAMIG_MSG_MAX			524288u	/* header included */
#define RDMAMIG_REPEAT_MAX		4096u
#define RDMAMIG_WIRE_BLOCKS_MAX		16383u	/* what one RAM_BLOCKS_RESULT holds */
#define RDMAMIG_WIRE_TEXT_MAX		128u	/* reason in ERROR or a reject */

/* The first thing of every message. */
struct rdmamig_wire_header {
	__be32 len;
	__be32 type;
	__be32 repeat;
	__be32 padding;
};

static_assert(sizeof(struct rdmamig_wire_header) == 16);

#define RDMAMIG_PAYLOAD_MAX \
	(RDMAMIG_MSG_MAX - (u32)sizeof(struct rdmamig_wire_header))

enum rdmamig_wire_type {
	RDMAMIG_MSG_NONE		= 0,
	RDMAMIG_MSG_ERROR		= 1,
	RDMAMIG_MSG_READY		= 2,
	RDMAMIG_MSG_QEMU_FILE		= 3,
	RDMAMIG_MSG_RAM_BLOCKS_REQUEST	= 4,
	RDMAMIG_MSG_RAM_BLOCKS_RESULT	= 5,
	RDMAMIG_MSG_COMPRESS		= 6,
	RDMAMIG_MSG_REGISTER_REQUEST	= 7,
	RDMAMIG_MSG_REGISTER_RESULT	= 8,
	RDMAMIG_MSG_REGISTER_FINISHED	= 9,
	RDMAMIG_MSG_UNREGISTER_REQUEST	= 10,
	RDMAMIG_MSG_UNREGISTER_FINISHED	= 11,
	/* Between two rdmamig only, as the agreed features allow. */
	RDMAMIG_MSG_END			= 0x140,
	RDMAMIG_MSG_END_OK		= 0x141,
	RDMAMIG_MSG_BLOCKS		= 0x150,
};

struct rdmamig_wire_block {		/* RAM_BLOCKS_RESULT */
	__be64 base;
	__be64 offset;
	__be64 length;
	__be32 rkey;
	__be32 padding;
};

static_assert(sizeof(struct rdmamig_wire_block) == 32);

struct rdmamig_wire_register {		/* REGISTER_ and UNREGISTER_REQUEST */
	__be64 key;
	__be32 block;
	__be32 padding;
	__be64 chunks;
};

static_assert(sizeof(struct rdmamig_wire_register) == 24);

struct rdmamig_wire_result {		/* REGISTER_RESULT */
	__be32 rkey;
	__be32 padding;
	__be64 base;
};

static_assert(sizeof(struct rdmamig_wire_result) == 16);

struct rdmamig_wire_compress {
	__be32 value;
	__be32 block;
	__be64 addr;
	__be64 length;
};

static_assert(sizeof(struct rdmamig_wire_compress) == 24);

struct rdmamig_wire_end {
	__be64 stream_bytes;
	__be64 ram_bytes;
};

static_assert(sizeof(struct rdmamig_wire_end) == 16);

struct rdmamig_wire_end_ok {
	__be32 status;			/* 0, or a positive errno */
	__be32 padding;
};

static_assert(sizeof(struct rdmamig_wire_end_ok) == 8);

/* Payload of a QEMU_FILE on the return path: the end, and its status. */
struct rdmamig_wire_shut {
	__be16 type;
	__be16 len;			/* of what follows */
	__be32 status;			/* 0 is success */
};

static_assert(sizeof(struct rdmamig_wire_shut) == 8);

#define RDMAMIG_SHUT_TYPE		1

struct rdmamig_wire_block_name {	/* BLOCKS: then name_len bytes */
	__be64 length;
	__be16 name_len;
} __packed;

static_assert(sizeof(struct rdmamig_wire_block_name) == 10);

/* Private data of the connection request and its reply. */
struct rdmamig_wire_cap {
	__be32 version;
	__be32 flags;
};

static_assert(sizeof(struct rdmamig_wire_cap) == 8);

#define RDMAMIG_TAIL_MAGIC		0x524d4947u	/* "RMIG" */
#define RDMAMIG_TAIL_VERSION		1

#define RDMAMIG_FEATURE_CREDITS		0x01u
#define RDMAMIG_FEATURE_ASYNC_REG	0x02u
#define RDMAMIG_FEATURE_BATCH		0x04u
#define RDMAMIG_FEATURE_DST_UNREG	0x08u
#define RDMAMIG_FEATURE_MULTI_QP	0x10u
#define RDMAMIG_FEATURE_SEND_INV	0x20u
#define RDMAMIG_FEATURE_END_ACK		0x40u
#define RDMAMIG_FEATURE_NATIVE		0x80u

struct rdmamig_wire_tail {
	__be32 magic;
	__be16 version;
	__be16 length;			/* of the tail */
	__be32 features;
	__be16 credits;
	u8 chunk_shift;
	u8 batch_shift;
	__be16 lanes;
	__be16 max_reg;
	__be64 token;
	__be32 lane;
	__be64 pin_limit;
} __packed;

static_assert(sizeof(struct rdmamig_wire_tail) == 40);

struct rdmamig_wire_private {
	struct rdmamig_wire_cap cap;
	struct rdmamig_wire_tail tail;
} __packed;

static_assert(sizeof(struct rdmamig_wire_private) == 48);

/* Private data of a reject: a reason in words. */
struct rdmamig_wire_reject {
	__be32 magic;
	__be16 version;
	__be16 text_len;
	/* then text_len bytes */
};

static_assert(sizeof(struct rdmamig_wire_reject) == 8);

#endif /* RDMAMIG_WIRE_H */
