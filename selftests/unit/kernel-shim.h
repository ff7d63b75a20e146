/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the pure parts of the module need from kernel headers, said in terms of
 * the C library, so that they compile in user space unchanged.
 */
#ifndef RDMAMIG_KERNEL_SHIM_H
#define RDMAMIG_KERNEL_SHIM_H

#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s8 s8;
typedef __s16 s16;
typedef __s32 s32;
typedef __s64 s64;

#define U8_MAX		((u8)~0)
#define U16_MAX		((u16)~0)
#define U32_MAX		((u32)~0)
#define U64_MAX		((u64)~0ull)
#define S64_MAX		((s64)(U64_MAX >> 1))

/* The kernel's static_assert() takes an optional sentence. */
#undef static_assert
#define shim_assert(expr, msg, ...)	_Static_assert(expr, msg)
#define static_assert(expr, ...)	shim_assert(expr, ##__VA_ARGS__, #expr)

#define __packed	__attribute__((__packed__))
#define __must_check	__attribute__((__warn_unused_result__))
#define __maybe_unused	__attribute__((__unused__))
#define fallthrough	__attribute__((__fallthrough__))
#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define BIT(n)		(1ul << (n))

#define be16_to_cpu	be16toh
#define be32_to_cpu	be32toh
#define be64_to_cpu	be64toh
#define cpu_to_be16	htobe16
#define cpu_to_be32	htobe32
#define cpu_to_be64	htobe64

static inline __maybe_unused u16 get_unaligned_be16(const void *p)
{
	u16 v;

	memcpy(&v, p, sizeof(v));
	return be16toh(v);
}

static inline __maybe_unused u32 get_unaligned_be32(const void *p)
{
	u32 v;

	memcpy(&v, p, sizeof(v));
	return be32toh(v);
}

static inline __maybe_unused u64 get_unaligned_be64(const void *p)
{
	u64 v;

	memcpy(&v, p, sizeof(v));
	return be64toh(v);
}

static inline __maybe_unused void put_unaligned_be16(u16 v, void *p)
{
	v = htobe16(v);
	memcpy(p, &v, sizeof(v));
}

static inline __maybe_unused void put_unaligned_be32(u32 v, void *p)
{
	v = htobe32(v);
	memcpy(p, &v, sizeof(v));
}

static inline __maybe_unused void put_unaligned_be64(u64 v, void *p)
{
	v = htobe64(v);
	memcpy(p, &v, sizeof(v));
}

#endif /* RDMAMIG_KERNEL_SHIM_H */
