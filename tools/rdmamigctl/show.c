// SPDX-License-Identifier: GPL-2.0
/*
 * list, show, stats, devices: to see.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "args.h"
#include "out.h"
#include "session.h"

#define CAP_IPC_LOCK	14
#define HEADING_ROWS	20	/* of a watch, between two headings */

static int dump(struct conn *conn, int cmd, struct records *records)
{
	struct nl_msg *msg = conn_request(conn, cmd, 0);

	return msg ? conn_dump(conn, msg, records) : -ENOMEM;
}

/**
 * cmd_list() - all sessions
 * @args: nothing
 *
 * Return: exit code.
 */
int cmd_list(struct args *args)
{
	struct records sessions = { 0 };
	struct conn conn;
	struct out out;
	int ret;

	ret = args_end(args);
	if (!ret)
		ret = conn_open(&conn);
	if (ret)
		return ret;
	ret = dump(&conn, RDMAMIG_CMD_SESSION_GET, &sessions);
	if (ret) {
		ret = conn_fail(&conn, ret, "sessions");
	} else {
		out_open(&out);
		out_list(&out, "sessions", &session_table, &sessions, true);
		ret = out_close(&out);
	}
	records_free(&sessions);
	conn_close(&conn);
	return ret;
}

/**
 * cmd_show() - one session and its blocks
 * @args: ID
 *
 * Return: exit code.
 */
int cmd_show(struct args *args)
{
	struct records session = { 0 };
	struct records blocks = { 0 };
	struct conn conn;
	struct out out;
	uint32_t id;
	int ret;

	ret = parse_id(args, &id);
	if (!ret)
		ret = args_end(args);
	if (!ret)
		ret = conn_open(&conn);
	if (ret)
		return ret;
	ret = conn_get(&conn, RDMAMIG_CMD_SESSION_GET, RDMAMIG_A_SESSION_ID, id, &session);
	if (!ret && !session.n)
		ret = -ENOENT;
	if (!ret)
		ret = conn_get(&conn, RDMAMIG_CMD_BLOCK_GET, RDMAMIG_A_BLOCK_SESSION_ID, id,
			       &blocks);
	if (ret) {
		ret = conn_fail_id(&conn, ret, id);
	} else {
		out_open(&out);
		out_one(&out, "session", &session_table, &session.v[0]);
		if (!opt.json && blocks.n)
			putchar('\n');
		out_list(&out, "blocks", &block_table, &blocks, true);
		ret = out_close(&out);
	}
	records_free(&session);
	records_free(&blocks);
	conn_close(&conn);
	return ret;
}

struct stats_plan {
	bool one;
	uint32_t id;
	bool watch;
	uint64_t ms;
};

static int parse_stats(struct args *args, struct stats_plan *plan)
{
	const char *word;
	int ret;

	ret = args_options(args);
	if (ret)
		return ret;
	word = args_peek(args);
	if (word && strcmp(word, "watch")) {
		ret = parse_id(args, &plan->id);
		if (ret)
			return ret;
		plan->one = true;
		ret = args_options(args);
		if (ret)
			return ret;
	}
	word = args_peek(args);
	if (word && !strcmp(word, "watch")) {
		args->pos++;
		plan->watch = true;
		plan->ms = 1000;
		word = args_peek(args);
		if (word && word[0] != '-') {
			args->pos++;
			if (parse_seconds(word, &plan->ms) || plan->ms < 10)
				return usage_error(word, "not understood: SEC, at least 0.01");
		}
	}
	return args_end(args);
}

static int get_stats(struct conn *conn, const struct stats_plan *plan,
		     struct records *stats)
{
	int ret;

	if (!plan->one) {
		ret = dump(conn, RDMAMIG_CMD_STATS_GET, stats);
		return ret ? conn_fail(conn, ret, "stats") : 0;
	}
	ret = conn_get(conn, RDMAMIG_CMD_STATS_GET, RDMAMIG_A_STATS_SESSION_ID, plan->id, stats);
	if (!ret && !stats->n)
		ret = -ENOENT;
	return ret ? conn_fail_id(conn, ret, plan->id) : 0;
}

static int print_stats(const struct stats_plan *plan, const struct records *stats,
		       unsigned int row)
{
	struct out out;
	size_t i;

	out_open(&out);
	if (opt.json || plan->watch) {
		out_list(&out, "stats", &stats_table, stats,
			 !plan->one || row % HEADING_ROWS == 0);
	} else {
		for (i = 0; i < stats->n; i++) {
			if (i)
				putchar('\n');
			out_one(&out, "stats", &stats_table, &stats->v[i]);
		}
	}
	return out_close(&out);
}

/* Until the session is over, or for ever where none is named. */
static int watch_stats(struct conn *conn, const struct stats_plan *plan)
{
	struct timespec pause = {
		.tv_sec = (time_t)(plan->ms / 1000),
		.tv_nsec = (long)(plan->ms % 1000) * 1000000,
	};
	unsigned int row;
	int ret;

	for (row = 0; ; row++) {
		struct session session = { .state = RDMAMIG_STATE_RUNNING };
		struct records stats = { 0 };

		if (plan->one) {
			ret = session_get(conn, plan->id, &session);
			if (ret)
				return conn_fail_id(conn, ret, plan->id);
		}
		ret = get_stats(conn, plan, &stats);
		if (!ret)
			ret = print_stats(plan, &stats, row);
		records_free(&stats);
		if (ret || session_over(session.state))
			return ret;
		nanosleep(&pause, NULL);
	}
}

/**
 * cmd_stats() - counters of one session or all
 * @args: [ID] [watch [SEC]]
 *
 * Return: exit code.
 */
int cmd_stats(struct args *args)
{
	struct stats_plan plan = { 0 };
	struct records stats = { 0 };
	struct conn conn;
	int ret;

	ret = parse_stats(args, &plan);
	if (!ret)
		ret = conn_open(&conn);
	if (ret)
		return ret;
	if (plan.watch) {
		ret = watch_stats(&conn, &plan);
	} else {
		ret = get_stats(&conn, &plan, &stats);
		if (!ret)
			ret = print_stats(&plan, &stats, 0);
		records_free(&stats);
	}
	conn_close(&conn);
	return ret;
}

/* Whether this process may lock without limit. */
static bool can_lock(void)
{
	unsigned long long caps = 0;
	char line[128];
	FILE *f;

	f = fopen("/proc/self/status", "re");
	if (!f)
		return false;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "CapEff: %llx", &caps) == 1)
			break;
	fclose(f);
	return caps >> CAP_IPC_LOCK & 1;
}

/*
 * What this process may pin; a session charges its owner, whose limit may be
 * another one.
 */
static void print_memlock(struct out *out)
{
	struct rlimit limit = { RLIM_INFINITY, RLIM_INFINITY };
	bool capable = can_lock();
	uint64_t unlimited;
	uint64_t bytes;

	getrlimit(RLIMIT_MEMLOCK, &limit);
	bytes = limit.rlim_cur;
	unlimited = capable || limit.rlim_cur == RLIM_INFINITY;
	if (opt.json) {
		out_value(out, "memlock-limit", OUT_BYTES, unlimited ? NULL : &bytes);
		out_value(out, "memlock-unlimited", OUT_BOOL, &unlimited);
		return;
	}
	if (capable)
		printf("memlock-limit      none (CAP_IPC_LOCK)\n");
	else if (unlimited)
		printf("memlock-limit      none\n");
	else
		out_value(out, "memlock-limit", OUT_BYTES, &bytes);
}

/**
 * cmd_devices() - RDMA devices, and what this process may pin
 * @args: nothing
 *
 * Return: exit code.
 */
int cmd_devices(struct args *args)
{
	struct records devices = { 0 };
	struct conn conn;
	struct out out;
	int ret;

	ret = args_end(args);
	if (!ret)
		ret = conn_open(&conn);
	if (ret)
		return ret;
	ret = dump(&conn, RDMAMIG_CMD_DEVICE_GET, &devices);
	if (ret) {
		ret = conn_fail(&conn, ret, "devices");
	} else {
		out_open(&out);
		out_list(&out, "devices", &device_table, &devices, true);
		if (!opt.json && devices.n)
			putchar('\n');
		if (!opt.json && !devices.n)
			puts("no RDMA device");
		print_memlock(&out);
		ret = out_close(&out);
	}
	records_free(&devices);
	conn_close(&conn);
	return ret;
}
