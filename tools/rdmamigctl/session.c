// SPDX-License-Identifier: GPL-2.0
/*
 * A session as the kernel tells of it, and what its end means.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "out.h"
#include "session.h"

/**
 * session_read() - read what the tool needs of a session
 * @record: its attributes
 * @session: where to
 */
void session_read(const struct record *record, struct session *session)
{
	struct nlattr *tb[RDMAMIG_A_SESSION_MAX + 1];
	uint64_t value;

	record_parse(record, RDMAMIG_A_SESSION_MAX, tb);
	memset(session, 0, sizeof(*session));
	session->state = RDMAMIG_STATE_LISTENING;
	if (attr_u64(tb[RDMAMIG_A_SESSION_ID], &value))
		session->id = (uint32_t)value;
	if (attr_u64(tb[RDMAMIG_A_SESSION_ROLE], &value))
		session->role = (uint32_t)value;
	if (attr_u64(tb[RDMAMIG_A_SESSION_MODE], &value))
		session->mode = (uint32_t)value;
	if (attr_u64(tb[RDMAMIG_A_SESSION_STATE], &value))
		session->state = (uint32_t)value;
	if (attr_u64(tb[RDMAMIG_A_SESSION_PEER_RDMAMIG], &value)) {
		session->peer_known = true;
		session->peer_rdmamig = value != 0;
	}
	if (attr_u64(tb[RDMAMIG_A_SESSION_PIN_ALL], &value))
		session->pin_all = value != 0;
	attr_u64(tb[RDMAMIG_A_SESSION_RAM_BYTES], &session->ram_bytes);
	if (tb[RDMAMIG_A_SESSION_ERROR_TEXT])
		snprintf(session->error, sizeof(session->error), "%.*s",
			 nla_len(tb[RDMAMIG_A_SESSION_ERROR_TEXT]),
			 (const char *)nla_data(tb[RDMAMIG_A_SESSION_ERROR_TEXT]));
	if (tb[RDMAMIG_A_SESSION_REMOTE_ADDR])
		addr_text(nla_data(tb[RDMAMIG_A_SESSION_REMOTE_ADDR]),
			  (size_t)nla_len(tb[RDMAMIG_A_SESSION_REMOTE_ADDR]), true,
			  session->remote);
}

/**
 * session_get() - ask for a session
 * @conn: the socket
 * @id: the session
 * @session: where to
 *
 * Return: 0 or a negative errno.
 */
int session_get(struct conn *conn, uint32_t id, struct session *session)
{
	struct records reply = { 0 };
	int ret;

	ret = conn_get(conn, RDMAMIG_CMD_SESSION_GET, RDMAMIG_A_SESSION_ID, id, &reply);
	if (!ret && !reply.n)
		ret = -ENOENT;
	if (!ret)
		session_read(&reply.v[0], session);
	records_free(&reply);
	return ret;
}

/**
 * session_over() - whether a state is an end
 * @state: it
 *
 * Return: true if so.
 */
bool session_over(uint32_t state)
{
	return state >= RDMAMIG_STATE_COMPLETED;
}

/**
 * session_ended_well() - whether a state is a good end
 * @state: it
 *
 * Return: true if so.
 */
bool session_ended_well(uint32_t state)
{
	return state == RDMAMIG_STATE_COMPLETED || state == RDMAMIG_STATE_SENT;
}

/**
 * session_verdict() - say how a session ended, if it ended badly
 * @session: it; over
 *
 * Return: 0 or EXIT_ENDED.
 */
int session_verdict(const struct session *session)
{
	char what[32];

	snprintf(what, sizeof(what), "session %u", session->id);
	switch (session->state) {
	case RDMAMIG_STATE_COMPLETED:
	case RDMAMIG_STATE_SENT:
		return 0;
	case RDMAMIG_STATE_UNKNOWN:
		return fail(EXIT_ENDED, what,
			    "unknown whether the target has everything: %s; if it has not, here: rdmamigctl resume %u",
			    session->error[0] ? session->error : "ask it: rdmamigctl show ID",
			    session->id);
	case RDMAMIG_STATE_CANCELLED:
		if (!session->error[0] || !strcmp(session->error, "cancelled"))
			return fail(EXIT_ENDED, what, "cancelled");
		return fail(EXIT_ENDED, what, "cancelled: %s", session->error);
	default:
		return fail(EXIT_ENDED, what, "failed: %s",
			    session->error[0] ? session->error : "no reason given");
	}
}

/**
 * counters_get() - ask for the counters of a session
 * @conn: the socket
 * @id: the session
 * @counters: where to
 *
 * Return: 0 or a negative errno.
 */
int counters_get(struct conn *conn, uint32_t id, struct counters *counters)
{
	struct nlattr *tb[RDMAMIG_A_STATS_MAX + 1];
	struct records reply = { 0 };
	int ret;

	memset(counters, 0, sizeof(*counters));
	ret = conn_get(conn, RDMAMIG_CMD_STATS_GET, RDMAMIG_A_STATS_SESSION_ID, id, &reply);
	if (ret || !reply.n) {
		records_free(&reply);
		return ret ? ret : -ENOENT;
	}
	record_parse(&reply.v[0], RDMAMIG_A_STATS_MAX, tb);
	counters->known = true;
	attr_u64(tb[RDMAMIG_A_STATS_RAM_BYTES], &counters->ram);
	attr_u64(tb[RDMAMIG_A_STATS_DATA_BYTES], &counters->data);
	attr_u64(tb[RDMAMIG_A_STATS_ZERO_BYTES], &counters->zero);
	counters->remaining_known = attr_u64(tb[RDMAMIG_A_STATS_REMAINING_BYTES],
					     &counters->remaining);
	attr_u64(tb[RDMAMIG_A_STATS_STREAM_BYTES], &counters->stream);
	attr_u64(tb[RDMAMIG_A_STATS_PINNED_PEAK_BYTES], &counters->pinned_peak);
	attr_u64(tb[RDMAMIG_A_STATS_REGISTRATIONS], &counters->registrations);
	attr_u64(tb[RDMAMIG_A_STATS_RUN_NS], &counters->run_ns);
	records_free(&reply);
	return 0;
}

static void report_text(const struct session *session, const struct counters *counters)
{
	char total[HUMAN_TEXT], time[HUMAN_TEXT], rate[HUMAN_TEXT], peak[HUMAN_TEXT];
	uint64_t bytes = counters->ram ? counters->ram : session->ram_bytes;
	double seconds = (double)counters->run_ns / 1e9;

	if (!counters->known)
		return;
	/* what a live source rewrote was moved more than once */
	if (session->role == RDMAMIG_ROLE_SOURCE && counters->data + counters->zero)
		bytes = counters->data + counters->zero;
	human_bytes(seconds > 0 ? (uint64_t)((double)bytes / seconds) : 0, rate);
	printf("session %u: %s: %s in %s, %s/s, peak pinned %s\n", session->id,
	       name_of(&state_names, session->state), human_bytes(bytes, total),
	       human_ns(counters->run_ns, time), rate,
	       human_bytes(counters->pinned_peak, peak));
}

/**
 * session_report() - the last line of a job: how its session ended
 * @conn: the socket
 * @session: it; over
 *
 * A good end is told on stdout, a bad one on stderr; JSON has both.
 *
 * Return: 0 or an exit code.
 */
int session_report(struct conn *conn, const struct session *session)
{
	struct records sessions = { 0 };
	struct records stats = { 0 };
	struct counters counters;
	struct out out;
	int ret = 0;

	if (!opt.json) {
		if (!opt.quiet && session_ended_well(session->state) &&
		    !counters_get(conn, session->id, &counters))
			report_text(session, &counters);
		fflush(stdout);
		return session_verdict(session);
	}

	if (!conn_get(conn, RDMAMIG_CMD_SESSION_GET, RDMAMIG_A_SESSION_ID, session->id,
		      &sessions) && sessions.n) {
		out_open(&out);
		out_one(&out, "session", &session_table, &sessions.v[0]);
		if (!conn_get(conn, RDMAMIG_CMD_STATS_GET, RDMAMIG_A_STATS_SESSION_ID,
			      session->id, &stats) && stats.n)
			out_one(&out, "stats", &stats_table, &stats.v[0]);
		ret = out_close(&out);
	}
	records_free(&sessions);
	records_free(&stats);
	return session_verdict(session) ?: ret;
}
