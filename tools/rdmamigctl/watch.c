// SPDX-License-Identifier: GPL-2.0
/*
 * Waiting for a session: events, a question each second in case an event was
 * lost, the signals that end a job, and one more descriptor.
 *
 * An event only wakes: the session's state is always asked for, so that lost,
 * late and foreign events are all harmless.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "watch.h"

#define ASK_MS	1000
#define SETTLE_MS	1000

/**
 * monotonic_ms() - a clock that only goes forward
 *
 * Return: milliseconds.
 */
uint64_t monotonic_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

/**
 * watch_open() - get ready, before the session is made
 * @watch: it
 * @signals: take the signals that end a job
 *
 * Return: 0 or an exit code.
 */
int watch_open(struct watch *watch, bool signals)
{
	sigset_t set;
	int ret;

	memset(watch, 0, sizeof(*watch));
	watch->sigfd = -1;
	ret = conn_open(&watch->rq);
	if (ret)
		return ret;
	ret = conn_open_events(&watch->ev);
	if (ret)
		goto close_rq;
	if (!signals)
		return 0;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	watch->sigfd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (watch->sigfd >= 0)
		return 0;

	ret = fail(EXIT_FAILED, "signals", "%s", strerror(errno));
	conn_close(&watch->ev);
close_rq:
	conn_close(&watch->rq);
	return ret;
}

/**
 * watch_close() - let go
 * @watch: it
 */
void watch_close(struct watch *watch)
{
	if (watch->sigfd >= 0)
		close(watch->sigfd);
	conn_close(&watch->ev);
	conn_close(&watch->rq);
}

/**
 * watch_get() - ask for the session now
 * @watch: it
 *
 * Return: 0 or an exit code, reported.
 */
int watch_get(struct watch *watch)
{
	uint32_t id = watch->session.id;
	int ret;

	watch->asked = monotonic_ms();
	ret = session_get(&watch->rq, id, &watch->session);
	if (ret) {
		watch->session.id = id;
		return conn_fail_id(&watch->rq, ret, id);
	}
	return 0;
}

static bool take_signal(struct watch *watch)
{
	struct signalfd_siginfo info;
	bool seen = false;

	while (read(watch->sigfd, &info, sizeof(info)) == sizeof(info))
		seen = true;
	return seen;
}

/**
 * watch_poll() - wait for something to happen
 * @watch: it
 * @extra: one more descriptor to wait for, or NULL
 * @timeout_ms: longest wait; -1: until something happens
 *
 * Return: WATCH_* bits, 0 when the time is over, or a negative exit code: the
 * session could not be asked for, which has been reported.
 */
int watch_poll(struct watch *watch, struct pollfd *extra, int timeout_ms)
{
	struct pollfd fds[3] = {
		{ .fd = nl_socket_get_fd(watch->ev.sock), .events = POLLIN },
		{ .fd = watch->sigfd, .events = POLLIN },
		{ .fd = -1 },
	};
	uint64_t from = monotonic_ms();

	if (extra)
		fds[2] = *extra;
	for (;;) {
		uint64_t now = monotonic_ms();
		int left = timeout_ms < 0 ? -1 : (int)(timeout_ms - (int64_t)(now - from));
		int ask = (int)(ASK_MS - (int64_t)(now - watch->asked));
		int seen = 0;
		int ret;

		if (timeout_ms >= 0 && left < 0)
			left = 0;
		if (ask < 0)
			ask = 0;
		fds[0].revents = 0;
		fds[1].revents = 0;
		fds[2].revents = 0;
		if (poll(fds, 3, left < 0 || ask < left ? ask : left) < 0 && errno != EINTR)
			return -fail(EXIT_FAILED, "poll", "%s", strerror(errno));
		if (fds[1].revents && take_signal(watch))
			seen |= WATCH_SIGNAL;
		if (fds[0].revents)
			conn_drain(&watch->ev);
		if (fds[0].revents || monotonic_ms() - watch->asked >= ASK_MS) {
			ret = watch_get(watch);
			if (ret)
				return -ret;
			seen |= WATCH_STATE;
		}
		if (extra && fds[2].revents) {
			extra->revents = fds[2].revents;
			seen |= WATCH_FD;
		}
		if (seen || (timeout_ms >= 0 &&
			     monotonic_ms() - from >= (uint64_t)timeout_ms))
			return seen;
	}
}

/**
 * watch_settle() - give a session that fails a moment to say so
 * @watch: it
 *
 * A call can fail a little before the session's state tells why.
 *
 * Return: 0 or an exit code, reported: it cannot be asked for.
 */
int watch_settle(struct watch *watch)
{
	uint64_t until = monotonic_ms() + SETTLE_MS;
	int ret;

	ret = watch_get(watch);
	while (!ret && !session_over(watch->session.state) && monotonic_ms() < until) {
		ret = watch_poll(watch, NULL, SETTLE_MS / 4);
		ret = ret < 0 ? -ret : 0;
	}
	return ret;
}

/**
 * watch_cancel() - cancel the session and wait for its end
 * @watch: it
 * @why: for its record and its peer; NULL for a plain cancel
 *
 * Return: 0 when it is over, or an exit code, reported.
 */
int watch_cancel(struct watch *watch, const char *why)
{
	uint64_t until = monotonic_ms() + CANCEL_MS;
	int ret;

	ret = conn_cancel(&watch->rq, watch->session.id, why);
	if (ret == -ENOENT)
		return conn_fail_id(&watch->rq, ret, watch->session.id);
	if (ret) {
		struct conn said = watch->rq;	/* the words, not the socket */
		int err = ret;

		/* one that is over cannot be cancelled: no failure */
		ret = watch_get(watch);
		if (ret || session_over(watch->session.state))
			return ret;
		return conn_fail_id(&said, err, watch->session.id);
	}

	ret = watch_get(watch);
	while (!ret && !session_over(watch->session.state)) {
		int64_t left = (int64_t)(until - monotonic_ms());

		if (left <= 0)
			return fail(EXIT_TIMEOUT, "cancel",
				    "session %u is not over after %d s: the kernel goes on with it",
				    watch->session.id, CANCEL_MS / 1000);
		ret = watch_poll(watch, NULL, (int)left);
		if (ret < 0)
			return -ret;
		ret = 0;
	}
	return ret;
}
