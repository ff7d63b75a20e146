// SPDX-License-Identifier: GPL-2.0
/*
 * The ABI's numbers as words.
 */
#include <stdio.h>
#include <string.h>

#include <linux/rdmamig.h>

#include "names.h"

static const char *const roles[] = { "source", "target" };
static const char *const modes[] = { "native", "windows" };
static const char *const states[] = {
	"listening", "connecting", "setup", "binding", "running", "sealed",
	"finishing", "completed", "sent", "unknown", "cancelled", "failed",
};

static const char *const unregs[] = { "lru", "eager", "off" };
static const char *const peer_chunks[] = { "1M", "unknown" };

/* In the ABI's order. */
const struct names role_names = { roles, ARRAY_SIZE(roles) };
const struct names mode_names = { modes, ARRAY_SIZE(modes) };
const struct names state_names = { states, ARRAY_SIZE(states) };
const struct names unreg_names = { unregs, ARRAY_SIZE(unregs) };
const struct names peer_chunk_names = { peer_chunks, ARRAY_SIZE(peer_chunks) };

/* The keyword, where the command line has one for the attribute. */
static const char *const session_attrs[RDMAMIG_A_SESSION_MAX + 1] = {
	[RDMAMIG_A_SESSION_ID]			= "id",
	[RDMAMIG_A_SESSION_ROLE]		= "role",
	[RDMAMIG_A_SESSION_MODE]		= "mode",
	[RDMAMIG_A_SESSION_STATE]		= "state",
	[RDMAMIG_A_SESSION_LOCAL_ADDR]		= "local-addr",
	[RDMAMIG_A_SESSION_REMOTE_ADDR]		= "remote-addr",
	[RDMAMIG_A_SESSION_FROM_ADDR]		= "from",
	[RDMAMIG_A_SESSION_FROM_PREFIX]		= "from",
	[RDMAMIG_A_SESSION_MEM_FD]		= "pid",
	[RDMAMIG_A_SESSION_BLOCK]		= "block",
	[RDMAMIG_A_SESSION_CONFIRM]		= "confirm",
	[RDMAMIG_A_SESSION_PIN_LIMIT]		= "pin-limit",
	[RDMAMIG_A_SESSION_PIN_ALL]		= "pin-all",
	[RDMAMIG_A_SESSION_MAX_MEMORY]		= "max-memory",
	[RDMAMIG_A_SESSION_RATE_LIMIT]		= "rate-limit",
	[RDMAMIG_A_SESSION_UNREG]		= "unreg",
	[RDMAMIG_A_SESSION_PEER_CHUNK]		= "peer-chunk",
	[RDMAMIG_A_SESSION_PEER_TIMEOUT]	= "peer-timeout",
	[RDMAMIG_A_SESSION_CONNECT_TIMEOUT]	= "connect-timeout",
	[RDMAMIG_A_SESSION_MAX_DOWNTIME]	= "max-downtime",
	[RDMAMIG_A_SESSION_AUTO_FINISH]		= "auto-finish",
	[RDMAMIG_A_SESSION_ERROR_TEXT]		= "error-text",
	[RDMAMIG_A_SESSION_WINDOW]		= "window",
};

static const char *const block_attrs[RDMAMIG_A_BLOCK_MAX + 1] = {
	[RDMAMIG_A_BLOCK_NAME]		= "name",
	[RDMAMIG_A_BLOCK_ADDRESS]	= "address",
	[RDMAMIG_A_BLOCK_LENGTH]	= "length",
	[RDMAMIG_A_BLOCK_INDEX]		= "index",
	[RDMAMIG_A_BLOCK_SESSION_ID]	= "session-id",
};

/**
 * name_of() - the word for a value
 * @names: the enum
 * @value: it
 *
 * Return: the word, NULL for a value that this tool does not know.
 */
const char *name_of(const struct names *names, uint64_t value)
{
	return value < names->n ? names->v[value] : NULL;
}

/**
 * name_value() - the value of a word
 * @names: the enum
 * @word: it
 *
 * Return: the value, -1 if there is none.
 */
int name_value(const struct names *names, const char *word)
{
	unsigned int i;

	for (i = 0; i < names->n; i++)
		if (!strcmp(names->v[i], word))
			return (int)i;
	return -1;
}

/**
 * attr_is_session() - whether a command's attributes are those of a session
 * @cmd: RDMAMIG_CMD_*
 *
 * Return: true if so.
 */
bool attr_is_session(int cmd)
{
	switch (cmd) {
	case RDMAMIG_CMD_BLOCK_GET:
	case RDMAMIG_CMD_STATS_GET:
	case RDMAMIG_CMD_DEVICE_GET:
	case RDMAMIG_CMD_WINDOW_GET:
	case RDMAMIG_CMD_DIRTY_ADD:
		return false;
	default:
		return true;
	}
}

/**
 * attr_name() - the name of an attribute of a request
 * @cmd: RDMAMIG_CMD_*
 * @attr: its number
 * @nested: inside a block
 *
 * Return: the name; never NULL.
 */
const char *attr_name(int cmd, int attr, bool nested)
{
	static char number[32];
	const char *name = NULL;

	if (nested) {
		if (attr >= 0 && attr <= RDMAMIG_A_BLOCK_MAX)
			name = block_attrs[attr];
	} else if (attr_is_session(cmd)) {
		if (attr >= 0 && attr <= RDMAMIG_A_SESSION_MAX)
			name = session_attrs[attr];
	}
	if (name)
		return name;
	snprintf(number, sizeof(number), "attribute %d", attr);
	return number;
}
