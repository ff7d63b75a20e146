// SPDX-License-Identifier: GPL-2.0
/*
 * The tunables.  The kernel judges their values: it has the ranges, and its
 * answer names the attribute; here they only have to be numbers.
 */
#include <errno.h>
#include <string.h>

#include "args.h"
#include "knobs.h"
#include "conn.h"

#define FOR_NEW		(FOR_LISTEN | FOR_START | FOR_RECEIVE | FOR_SEND)
#define FOR_ALL		(FOR_NEW | FOR_SET)

const struct knob knob_table[KNOB_COUNT] = {
	[KNOB_PIN_LIMIT] = {
		.name = "pin-limit", .value = "SIZE",
		.attr = RDMAMIG_A_SESSION_PIN_LIMIT, .kind = KNOB_SIZE,
		.commands = FOR_ALL,
		.min = RDMAMIG_PIN_WINDOW, .max = INT64_MAX, .unit = "bytes",
	},
	[KNOB_PIN_ALL] = {
		.name = "pin-all", .value = "on|off",
		.attr = RDMAMIG_A_SESSION_PIN_ALL, .kind = KNOB_ONOFF,
		.commands = FOR_ALL,
	},
	[KNOB_MAX_MEMORY] = {
		.name = "max-memory", .value = "SIZE",
		.attr = RDMAMIG_A_SESSION_MAX_MEMORY, .kind = KNOB_SIZE,
		.commands = FOR_ALL,
		.min = 1, .max = INT64_MAX, .unit = "bytes",
	},
	[KNOB_RATE_LIMIT] = {
		.name = "rate-limit", .value = "RATE",
		.attr = RDMAMIG_A_SESSION_RATE_LIMIT, .kind = KNOB_RATE,
		.commands = FOR_ALL,
		.min = RDMAMIG_RATE_LIMIT_MIN, .max = INT64_MAX, .unit = "bytes a second",
	},
	[KNOB_UNREG] = {
		.name = "unreg", .value = "lru|eager|off",
		.attr = RDMAMIG_A_SESSION_UNREG, .kind = KNOB_WORD,
		.names = &unreg_names, .commands = FOR_ALL,
	},
	[KNOB_PEER_CHUNK] = {
		.name = "peer-chunk", .value = "1M|unknown",
		.attr = RDMAMIG_A_SESSION_PEER_CHUNK, .kind = KNOB_WORD,
		.names = &peer_chunk_names, .commands = FOR_ALL,
	},
	[KNOB_PEER_TIMEOUT] = {
		.name = "peer-timeout", .value = "SEC",
		.attr = RDMAMIG_A_SESSION_PEER_TIMEOUT, .kind = KNOB_SECONDS,
		.commands = FOR_ALL,
		.min = RDMAMIG_PEER_TIMEOUT_MIN, .max = RDMAMIG_PEER_TIMEOUT_MAX,
		.unit = "ms",
	},
	[KNOB_CONNECT_TIMEOUT] = {
		.name = "connect-timeout", .value = "SEC",
		.attr = RDMAMIG_A_SESSION_CONNECT_TIMEOUT, .kind = KNOB_SECONDS,
		.commands = FOR_ALL,
		.min = RDMAMIG_CONNECT_TIMEOUT_MIN,
		.max = RDMAMIG_CONNECT_TIMEOUT_MAX, .unit = "ms",
	},
	[KNOB_MAX_DOWNTIME] = {
		.name = "max-downtime", .value = "MS",
		.attr = RDMAMIG_A_SESSION_MAX_DOWNTIME, .kind = KNOB_MS,
		.commands = FOR_ALL,
		.min = 0, .max = RDMAMIG_MAX_DOWNTIME_MAX, .unit = "ms",
	},
	[KNOB_AUTO_FINISH] = {
		.name = "auto-finish", .value = "on|off",
		.attr = RDMAMIG_A_SESSION_AUTO_FINISH, .kind = KNOB_ONOFF,
		.commands = FOR_ALL,
	},
};

/**
 * knob_find() - look a tunable up
 * @name: keyword
 *
 * Return: its row, NULL if there is none.
 */
const struct knob *knob_find(const char *name)
{
	size_t i;

	for (i = 0; i < KNOB_COUNT; i++)
		if (!strcmp(knob_table[i].name, name))
			return &knob_table[i];
	return NULL;
}

static int parse_value(const struct knob *knob, const char *word, uint64_t *value)
{
	int ret = 0;

	switch (knob->kind) {
	case KNOB_SIZE:
		ret = parse_size(word, value);
		break;
	case KNOB_RATE:
		ret = parse_rate(word, value);
		break;
	case KNOB_SECONDS:
		ret = parse_seconds(word, value);
		break;
	case KNOB_MS:
		ret = parse_u64(word, value);
		if (!ret && *value > UINT32_MAX)
			ret = -ERANGE;
		break;
	case KNOB_ONOFF:
		*value = !strcmp(word, "on");
		if (!*value && strcmp(word, "off"))
			ret = -EINVAL;
		break;
	case KNOB_WORD:
		ret = name_value(knob->names, word);
		if (ret >= 0) {
			*value = (uint64_t)ret;
			ret = 0;
		}
		break;
	}
	if (ret == -ERANGE)
		return usage_error(word, "too large for %s %s", knob->name, knob->value);
	if (ret)
		return usage_error(word, "not understood: %s %s", knob->name, knob->value);
	return 0;
}

/**
 * knobs_word() - take a word if it is a tunable's keyword, and its value
 * @knobs: where values go
 * @command: FOR_*
 * @word: the word, already taken
 * @args: the rest of the command line
 * @taken: whether it was one
 *
 * Return: 0 or an exit code.
 */
int knobs_word(struct knobs *knobs, unsigned int command, const char *word,
	       struct args *args, bool *taken)
{
	const struct knob *knob = knob_find(word);
	const char *value;
	size_t i;
	int ret;

	*taken = true;
	if (!strcmp(word, "from") && (command & (FOR_LISTEN | FOR_RECEIVE))) {
		ret = args_value(args, word, &value);
		if (ret)
			return ret;
		if (knobs->from_given)
			return usage_error(word, "given twice");
		knobs->from_given = true;
		return addr_parse_from(value, &knobs->from, &knobs->from_prefix);
	}
	if (!knob || !(knob->commands & command)) {
		*taken = false;
		return 0;
	}

	i = (size_t)(knob - knob_table);
	if (knobs->given[i])
		return usage_error(word, "given twice");
	ret = args_value(args, word, &value);
	if (ret)
		return ret;
	knobs->given[i] = true;
	return parse_value(knob, value, &knobs->value[i]);
}

/**
 * knobs_put() - put the given tunables into a request
 * @knobs: them
 * @msg: the request
 */
void knobs_put(const struct knobs *knobs, struct nl_msg *msg)
{
	size_t i;

	for (i = 0; i < KNOB_COUNT; i++) {
		const struct knob *knob = &knob_table[i];
		uint64_t value = knobs->value[i];

		if (!knobs->given[i])
			continue;
		if (knob->kind == KNOB_SIZE || knob->kind == KNOB_RATE)
			nla_put_u64(msg, knob->attr, value);
		else if (knob->kind == KNOB_ONOFF)
			nla_put_u8(msg, knob->attr, (uint8_t)value);
		else
			nla_put_u32(msg, knob->attr, (uint32_t)value);
	}
	if (knobs->from_given) {
		nla_put(msg, RDMAMIG_A_SESSION_FROM_ADDR,
			(int)addr_size(&knobs->from), &knobs->from);
		nla_put_u8(msg, RDMAMIG_A_SESSION_FROM_PREFIX, knobs->from_prefix);
	}
}

/**
 * knobs_any() - whether any tunable was given
 * @knobs: them
 *
 * Return: true if so.
 */
bool knobs_any(const struct knobs *knobs)
{
	size_t i;

	for (i = 0; i < KNOB_COUNT; i++)
		if (knobs->given[i])
			return true;
	return false;
}
