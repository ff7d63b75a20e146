/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _RDMAMIGCTL_WATCH_H
#define _RDMAMIGCTL_WATCH_H

#include <poll.h>
#include <time.h>

#include "conn.h"
#include "session.h"

/* What watch_poll() saw. */
#define WATCH_STATE	((int)BIT(0))/* the session was asked for */
#define WATCH_SIGNAL	((int)BIT(1))/* SIGINT, SIGTERM or SIGHUP came */
#define WATCH_FD	((int)BIT(2))/* the extra descriptor is ready */

/**
 * struct watch - waiting for a session
 * @rq: socket for requests
 * @ev: socket for events
 * @sigfd: descriptor of the signals that end a job, -1: they are not taken
 * @session: as last seen; @session.id is the one watched
 * @asked: when it was asked for
 */
struct watch {
	struct conn rq;
	struct conn ev;
	int sigfd;
	struct session session;
	uint64_t asked;
};

uint64_t monotonic_ms(void);

int watch_open(struct watch *watch, bool signals);
void watch_close(struct watch *watch);
int watch_get(struct watch *watch);
int watch_poll(struct watch *watch, struct pollfd *extra, int timeout_ms);
int watch_settle(struct watch *watch);
int watch_cancel(struct watch *watch, const char *why);

#define CANCEL_MS	10000	/* how long a cancelled session may take to end */

#endif /* _RDMAMIGCTL_WATCH_H */
