// SPDX-License-Identifier: GPL-2.0
/*
 * A job that stays with its session: start, listen, receive, send.
 */
#include "job.h"
#include "rdmamigctl.h"

/**
 * job_cancelled() - a signal came: cancel the session
 * @watch: it
 *
 * Return: an exit code: of the session's end, if there was one.
 */
int job_cancelled(struct watch *watch)
{
	int ret;

	fail(0, "interrupted", "cancelling session %u", watch->session.id);
	ret = watch_cancel(watch, "cancelled: interrupted by a signal");
	return ret ? ret : EXIT_ENDED;
}

/**
 * job_until() - wait until a session has got as far as a state, or is over
 * @watch: it; has asked for the session
 * @progress: bar, or NULL
 * @state: how far
 *
 * Return: 0, or an exit code, reported: the session was cancelled by a signal,
 * or cannot be asked for.
 */
int job_until(struct watch *watch, struct progress *progress, uint32_t state)
{
	while (watch->session.state < state && !session_over(watch->session.state)) {
		int seen;

		if (progress)
			progress_session(progress, &watch->rq, &watch->session);
		seen = watch_poll(watch, NULL, progress && progress->on ? PROGRESS_MS : -1);
		if (seen < 0 || (seen & WATCH_SIGNAL)) {
			if (progress)
				progress_end(progress);
			return seen < 0 ? -seen : job_cancelled(watch);
		}
	}
	if (progress)
		progress_end(progress);
	return 0;
}

/**
 * job_wait() - wait for the end and report it
 * @watch: it; has asked for the session
 * @progress: bar, or NULL
 *
 * Return: an exit code.
 */
int job_wait(struct watch *watch, struct progress *progress)
{
	int ret;

	ret = job_until(watch, progress, RDMAMIG_STATE_COMPLETED);
	if (ret && !session_over(watch->session.state))
		return ret;
	ret = session_report(&watch->rq, &watch->session);
	return ret;
}
