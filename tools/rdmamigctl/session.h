/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _RDMAMIGCTL_SESSION_H
#define _RDMAMIGCTL_SESSION_H

#include "addr.h"
#include "conn.h"
#include "rdmamigctl.h"

/* What the tool itself needs to know of a session. */
struct session {
	uint32_t id;
	uint32_t role;
	uint32_t mode;
	uint32_t state;
	bool peer_known;
	bool peer_rdmamig;
	bool pin_all;
	uint64_t ram_bytes;
	char error[RDMAMIG_ERROR_TEXT_MAX + 1];
	char remote[ADDR_TEXT];	/* "" if not known */
};

void session_read(const struct record *record, struct session *session);
int session_get(struct conn *conn, uint32_t id, struct session *session);
bool session_over(uint32_t state);
bool session_ended_well(uint32_t state);
int session_verdict(const struct session *session);

/* Counters of a session; those that are not known are 0. */
struct counters {
	bool known;
	uint64_t ram;
	uint64_t data;
	uint64_t zero;
	uint64_t remaining;
	bool remaining_known;
	uint64_t stream;
	uint64_t pinned_peak;
	uint64_t registrations;
	uint64_t run_ns;
};

int counters_get(struct conn *conn, uint32_t id, struct counters *counters);

int session_report(struct conn *conn, const struct session *session);

#endif /* _RDMAMIGCTL_SESSION_H */
