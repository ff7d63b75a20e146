/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _RDMAMIGCTL_PROGRESS_H
#define _RDMAMIGCTL_PROGRESS_H

#include "conn.h"
#include "session.h"

#define PROGRESS_MS	250	/* between two drawings */

/**
 * struct progress - a bar on a terminal
 * @on: there is a terminal, and nobody asked for quiet
 * @drawn: something stands on the line
 * @next: when to draw again
 * @last: bytes at the last drawing
 * @then: when that was
 * @rate: smoothed bytes a second
 */
struct progress {
	bool on;
	bool drawn;
	uint64_t next;
	uint64_t last;
	uint64_t then;
	double rate;
};

void progress_init(struct progress *progress);
void progress_session(struct progress *progress, struct conn *conn,
		      const struct session *session);
void progress_draw(struct progress *progress, const char *what, uint64_t done,
		   uint64_t total);
void progress_end(struct progress *progress);

#endif /* _RDMAMIGCTL_PROGRESS_H */
