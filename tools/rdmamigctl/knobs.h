/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _RDMAMIGCTL_KNOBS_H
#define _RDMAMIGCTL_KNOBS_H

#include "addr.h"
#include "names.h"
#include "rdmamigctl.h"

struct nl_msg;

enum knob_kind {
	KNOB_SIZE,
	KNOB_RATE,
	KNOB_SECONDS,	/* milliseconds in the ABI */
	KNOB_MS,
	KNOB_ONOFF,
	KNOB_WORD,
};

/**
 * struct knob - a tunable
 * @name: keyword
 * @value: what follows, for help
 * @attr: RDMAMIG_A_SESSION_*
 * @kind: how the value is read
 * @commands: FOR_*
 * @names: words of a KNOB_WORD
 * @min: least value, in @unit
 * @max: greatest; 0: the kernel's message says all there is
 * @unit: for messages
 */
struct knob {
	const char *name;
	const char *value;
	int attr;
	enum knob_kind kind;
	unsigned int commands;
	const struct names *names;
	uint64_t min;
	uint64_t max;
	const char *unit;
};

enum knob_index {
	KNOB_PIN_LIMIT,
	KNOB_PIN_ALL,
	KNOB_MAX_MEMORY,
	KNOB_RATE_LIMIT,
	KNOB_UNREG,
	KNOB_PEER_CHUNK,
	KNOB_PEER_TIMEOUT,
	KNOB_CONNECT_TIMEOUT,
	KNOB_MAX_DOWNTIME,
	KNOB_AUTO_FINISH,
	KNOB_COUNT,
};

/* The tunables of one command line. */
struct knobs {
	bool given[KNOB_COUNT];
	uint64_t value[KNOB_COUNT];
	bool from_given;
	union addr from;
	uint8_t from_prefix;
};

extern const struct knob knob_table[KNOB_COUNT];

const struct knob *knob_find(const char *name);
int knobs_word(struct knobs *knobs, unsigned int command, const char *word,
	       struct args *args, bool *taken);
void knobs_put(const struct knobs *knobs, struct nl_msg *msg);
bool knobs_any(const struct knobs *knobs);

#endif /* _RDMAMIGCTL_KNOBS_H */
