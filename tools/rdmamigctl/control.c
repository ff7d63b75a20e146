// SPDX-License-Identifier: GPL-2.0
/*
 * finish, cancel, resume, wait, set: commands to a session that lives.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "args.h"
#include "job.h"
#include "knobs.h"
#include "out.h"

static int only_id(struct args *args, uint32_t *id)
{
	int ret = parse_id(args, id);

	return ret ? ret : args_end(args);
}

static int simple(struct args *args, int cmd)
{
	struct conn conn;
	uint32_t id;
	int ret;

	ret = only_id(args, &id);
	if (ret)
		return ret;
	ret = conn_open(&conn);
	if (ret)
		return ret;
	ret = conn_simple(&conn, cmd, id);
	if (ret)
		ret = conn_fail_id(&conn, ret, id);
	conn_close(&conn);
	return ret;
}

/**
 * cmd_finish() - the owner stands still: send the rest and end
 * @args: ID
 *
 * Return: exit code.
 */
int cmd_finish(struct args *args)
{
	return simple(args, RDMAMIG_CMD_SESSION_FINISH);
}

/**
 * cmd_resume() - the operator says: the target has not got it
 * @args: ID
 *
 * Return: exit code.
 */
int cmd_resume(struct args *args)
{
	return simple(args, RDMAMIG_CMD_SESSION_RESUME);
}

/**
 * cmd_cancel() - cancel a session and wait until it is over
 * @args: ID
 *
 * Return: exit code.
 */
int cmd_cancel(struct args *args)
{
	struct watch watch;
	uint32_t id;
	int ret;

	ret = only_id(args, &id);
	if (ret)
		return ret;
	ret = watch_open(&watch, false);
	if (ret)
		return ret;
	watch.session.id = id;
	ret = watch_cancel(&watch, NULL);
	watch_close(&watch);
	return ret;
}

/* Whether a session that wait looks for has got there. */
static bool reached(uint32_t now, uint32_t wanted)
{
	if (now == wanted)
		return true;
	if (session_over(wanted))
		return false;
	return session_over(now) ? session_ended_well(now) : now > wanted;
}

static int parse_wait(struct args *args, uint32_t *id, int *state, int64_t *ms)
{
	const char *word, *value;
	uint64_t timeout;
	int ret;

	ret = parse_id(args, id);
	if (ret)
		return ret;
	while (!(ret = args_options(args)) && (word = args_next(args))) {
		if (!strcmp(word, "state")) {
			ret = args_value(args, word, &value);
			if (ret)
				return ret;
			*state = name_value(&state_names, value);
			if (*state < 0)
				return usage_error(value, "not a state");
		} else if (!strcmp(word, "timeout")) {
			ret = args_value(args, word, &value);
			if (ret)
				return ret;
			if (parse_seconds(value, &timeout))
				return usage_error(value, "not understood: timeout SEC");
			*ms = (int64_t)timeout;
		} else {
			return usage_error(word, "not understood here");
		}
	}
	return ret;
}

static int wait_for(struct watch *watch, int state, int64_t ms)
{
	uint64_t from = monotonic_ms();
	char what[32];
	int ret;

	ret = watch_get(watch);
	if (ret)
		return ret;
	snprintf(what, sizeof(what), "session %u", watch->session.id);
	for (;;) {
		uint32_t now = watch->session.state;
		int64_t left = -1;

		if (state >= 0 && reached(now, (uint32_t)state))
			return 0;
		if (session_over(now)) {
			ret = session_verdict(&watch->session);
			if (ret || state < 0)
				return ret;
			return fail(EXIT_ENDED, what, "ended as %s, never was %s",
				    name_of(&state_names, now),
				    name_of(&state_names, (uint64_t)state));
		}
		if (ms >= 0) {
			left = ms - (int64_t)(monotonic_ms() - from);
			if (left <= 0)
				return fail(EXIT_TIMEOUT, what, "still %s after %.3g s",
					    name_of(&state_names, now), (double)ms / 1000);
		}
		ret = watch_poll(watch, NULL, left > 1000 ? 1000 : (int)left);
		if (ret < 0)
			return -ret;
	}
}

/**
 * cmd_wait() - wait for a session's end, or for a state
 * @args: ID [state S] [timeout SEC]
 *
 * Return: exit code.
 */
int cmd_wait(struct args *args)
{
	struct watch watch;
	int64_t ms = -1;
	int state = -1;
	uint32_t id;
	int ret;

	ret = parse_wait(args, &id, &state, &ms);
	if (ret)
		return ret;
	ret = watch_open(&watch, false);
	if (ret)
		return ret;
	watch.session.id = id;
	ret = wait_for(&watch, state, ms);
	watch_close(&watch);
	return ret;
}

/**
 * cmd_set() - tune a session that lives
 * @args: ID TUNABLES
 *
 * Return: exit code.
 */
int cmd_set(struct args *args)
{
	struct knobs knobs = { 0 };
	struct conn conn;
	struct nl_msg *msg;
	const char *word;
	uint32_t id;
	bool taken;
	int ret;

	ret = parse_id(args, &id);
	if (ret)
		return ret;
	while (!(ret = args_options(args)) && (word = args_next(args))) {
		ret = knobs_word(&knobs, FOR_SET, word, args, &taken);
		if (ret)
			return ret;
		if (!taken)
			return usage_error(word, "not a tunable of a live session");
	}
	if (ret)
		return ret;
	if (!knobs_any(&knobs))
		return usage_error("TUNABLES", "missing: nothing to set");

	ret = conn_open(&conn);
	if (ret)
		return ret;
	msg = conn_request(&conn, RDMAMIG_CMD_SESSION_SET, 0);
	if (!msg) {
		conn_close(&conn);
		return EXIT_FAILED;
	}
	nla_put_u32(msg, RDMAMIG_A_SESSION_ID, id);
	knobs_put(&knobs, msg);
	ret = conn_do(&conn, msg, NULL);
	if (ret)
		ret = conn_fail_id(&conn, ret, id);
	conn_close(&conn);
	return ret;
}
