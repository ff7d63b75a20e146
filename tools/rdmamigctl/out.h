/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _RDMAMIGCTL_OUT_H
#define _RDMAMIGCTL_OUT_H

#include "names.h"
#include "conn.h"
#include "rdmamigctl.h"

enum out_kind {
	OUT_NUMBER,
	OUT_BYTES,
	OUT_RATE,
	OUT_NS,
	OUT_MS,		/* milliseconds in the ABI, nanoseconds in JSON */
	OUT_BOOL,
	OUT_FLAG,	/* there or not */
	OUT_WORD,
	OUT_STRING,
	OUT_ADDR,	/* with its port */
	OUT_HOST,	/* without */
	OUT_HEX,	/* an address in memory */
};

/* Flags of a field; most are for text only: JSON has every field. */
#define OUT_COLUMN	BIT(0)	/* a column of the table */
#define OUT_DETAIL	BIT(1)	/* only with --details */
#define OUT_RIGHT	BIT(2)	/* column aligned to the right */
#define OUT_UNSET	BIT(3)	/* 0 and "" stand for not known; in JSON too */

/**
 * struct out_field - an attribute as it is printed
 * @attr: its number
 * @key: JSON key and text label: the ABI's name
 * @kind: how the value is written
 * @flags: OUT_*
 * @names: words of an OUT_WORD
 */
struct out_field {
	int attr;
	const char *key;
	enum out_kind kind;
	unsigned int flags;
	const struct names *names;
};

/**
 * struct out_table - how a kind of object is printed
 * @fields: its fields
 * @count: how many
 * @max: greatest attribute
 */
struct out_table {
	const struct out_field *fields;
	size_t count;
	int max;
};

extern const struct out_table session_table;
extern const struct out_table block_table;
extern const struct out_table stats_table;
extern const struct out_table device_table;

struct json_object;

/* One document: a JSON object, or text as it comes. */
struct out {
	struct json_object *doc;
};

void out_open(struct out *out);
void out_one(struct out *out, const char *key, const struct out_table *table,
	     const struct record *record);
void out_list(struct out *out, const char *key, const struct out_table *table,
	      const struct records *records, bool heading);
void out_value(struct out *out, const char *key, enum out_kind kind,
	       const uint64_t *value);
int out_close(struct out *out);

#define HUMAN_TEXT	40
const char *human_bytes(uint64_t bytes, char text[HUMAN_TEXT]);
const char *human_ns(uint64_t ns, char text[HUMAN_TEXT]);

#endif /* _RDMAMIGCTL_OUT_H */
