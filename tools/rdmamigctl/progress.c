// SPDX-License-Identifier: GPL-2.0
/*
 * A progress bar on stderr, where that is a terminal.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "out.h"
#include "progress.h"
#include "watch.h"

#define BAR	24
#define CHUNK	1048576ULL

/**
 * progress_init() - get ready
 * @progress: it
 */
void progress_init(struct progress *progress)
{
	memset(progress, 0, sizeof(*progress));
	progress->on = !opt.quiet && isatty(STDERR_FILENO);
}

/* Smoothed over the last few drawings. */
static void update_rate(struct progress *progress, uint64_t done, uint64_t now)
{
	double rate;

	if (progress->then && now > progress->then) {
		rate = done > progress->last ? (double)(done - progress->last) : 0;
		rate = rate * 1000 / (double)(now - progress->then);
		progress->rate = progress->rate > 0 ? 0.7 * progress->rate + 0.3 * rate : rate;
	}
	progress->last = done;
	progress->then = now;
}

/**
 * progress_draw() - draw the bar, if it is time
 * @progress: it
 * @what: one word
 * @done: bytes
 * @total: bytes, 0: not known
 */
void progress_draw(struct progress *progress, const char *what, uint64_t done,
		   uint64_t total)
{
	char have[HUMAN_TEXT], all[HUMAN_TEXT], rate[HUMAN_TEXT], left[HUMAN_TEXT];
	uint64_t now = monotonic_ms();
	char bar[BAR + 1];
	unsigned int full;

	if (!progress->on || now < progress->next)
		return;
	progress->next = now + PROGRESS_MS;
	progress->drawn = true;
	update_rate(progress, done, now);

	if (!total) {
		fprintf(stderr, "\r\033[K%s", what);
		fflush(stderr);
		return;
	}
	if (done > total)
		done = total;
	full = (unsigned int)((double)done / (double)total * BAR);
	memset(bar, '.', BAR);
	memset(bar, '#', full);
	bar[BAR] = '\0';
	fprintf(stderr, "\r\033[K%s [%s] %3u%% %s of %s", what, bar,
		(unsigned int)((double)done * 100 / (double)total),
		human_bytes(done, have), human_bytes(total, all));
	if (done < total && progress->rate >= 1)
		fprintf(stderr, ", %s/s, %s left",
			human_bytes((uint64_t)progress->rate, rate),
			human_ns((uint64_t)((double)(total - done) / progress->rate * 1e9),
				 left));
	fflush(stderr);
}

/**
 * progress_session() - draw the bar of a session, if it is time
 * @progress: it
 * @conn: the socket
 * @session: it
 *
 * A source knows what is left.  A target does not see what is written into
 * it: there the chunks that were opened to the source stand for it.
 */
void progress_session(struct progress *progress, struct conn *conn,
		      const struct session *session)
{
	const char *what = name_of(&state_names, session->state);
	struct counters counters;
	uint64_t done;

	if (!progress->on || monotonic_ms() < progress->next)
		return;
	if (session->state < RDMAMIG_STATE_RUNNING ||
	    counters_get(conn, session->id, &counters)) {
		progress_draw(progress, what, 0, 0);
		return;
	}
	if (counters.remaining_known)
		done = counters.ram > counters.remaining ? counters.ram - counters.remaining : 0;
	else
		done = counters.zero + counters.registrations * CHUNK;
	if (session->pin_all && !counters.remaining_known)
		counters.ram = 0;
	progress_draw(progress, what, done, counters.ram);
}

/**
 * progress_end() - take the bar away
 * @progress: it
 */
void progress_end(struct progress *progress)
{
	if (progress->drawn)
		fputs("\r\033[K", stderr);
	progress->drawn = false;
}
