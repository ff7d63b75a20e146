// SPDX-License-Identifier: GPL-2.0
/*
 * Errors: one line on stderr, "rdmamigctl: COMMAND: what: why".
 *
 * Text may hold what a peer sent (block names), so nothing that a terminal
 * would obey is let through.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "rdmamigctl.h"

/* What was last said, for a peer that asks why. */
static char last[1024];

static void vdiag(const char *what, const char *fmt, va_list ap)
{
	char *text = last;
	char *p;

	vsnprintf(text, sizeof(last), fmt, ap);
	for (p = text; *p; p++)
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			*p = '?';

	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
	fputs("rdmamigctl: ", stderr);
	if (opt.command)
		fprintf(stderr, "%s: ", opt.command);
	if (what)
		fprintf(stderr, "%s: ", what);
	fprintf(stderr, "%s\n", text);
}

/**
 * fail() - say what went wrong
 * @code: exit code
 * @what: the thing that it is about, or NULL
 * @fmt: why, and which knob to turn
 *
 * Return: @code.
 */
int fail(int code, const char *what, const char *fmt, ...)
{
	va_list ap;

	fflush(stdout);
	va_start(ap, fmt);
	vdiag(what, fmt, ap);
	va_end(ap);
	return code;
}

/**
 * last_failure() - what fail() or usage_error() said last
 *
 * Return: the words, without what they were about; empty if nothing was said.
 */
const char *last_failure(void)
{
	return last;
}

/**
 * usage_error() - say what is wrong with the command line
 * @what: the word that it is about, or NULL
 * @fmt: why
 *
 * Return: EXIT_USAGE.
 */
int usage_error(const char *what, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vdiag(what, fmt, ap);
	va_end(ap);
	return EXIT_USAGE;
}

/**
 * fail_memory() - say that there is no memory left
 *
 * Return: EXIT_FAILED.
 */
int fail_memory(void)
{
	return fail(EXIT_FAILED, "memory", "%s", strerror(ENOMEM));
}
