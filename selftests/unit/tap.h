/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Test Anything Protocol, as little of it as the unit tests need.  A program
 * calls ok() and its kin, one named case each, and returns tap_done().
 */
#ifndef UNIT_TAP_H
#define UNIT_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define unused __attribute__((unused))

static unsigned int tap_count, tap_failed;

#define ok(cond, ...)	tap_case(cond, __FILE__, __LINE__, #cond, __VA_ARGS__)

__attribute__((format(printf, 5, 6)))
static unused bool tap_case(bool good, const char *file, int line,
			    const char *cond, const char *fmt, ...)
{
	va_list args;

	printf("%sok %u - ", good ? "" : "not ", ++tap_count);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	putchar('\n');
	if (!good) {
		tap_failed++;
		printf("# %s:%d: %s\n", file, line, cond);
	}
	fflush(stdout);
	return good;
}

/* Two sentences, or NULL for none. */
static unused bool same(const char *got, const char *want)
{
	bool good = got && want ? !strcmp(got, want) : got == want;

	if (!good)
		printf("# got: %s\n# want: %s\n", got ? got : "(nothing)",
		       want ? want : "(nothing)");
	return good;
}

/*
 * A copy that ends where its memory ends, so that the sanitizer sees a read
 * past it, and that starts at an odd address.  To be freed with drop().
 */
static unused void *exact(const void *data, size_t len)
{
	unsigned char *p = malloc(len + 1);

	if (!p)
		abort();
	if (len)
		memcpy(p + 1, data, len);
	return p + 1;
}

static unused void drop(void *p)
{
	free((char *)p - 1);
}

/* Noise that is the same in every run. */
static unused unsigned int noise(void)
{
	static unsigned long long x = 88172645463325252ull;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return x >> 16;
}

static unused int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

/* Reads lower-case hex with white space in it; aborts on anything else. */
static unused size_t unhex(const char *hex, unsigned char *out, size_t room)
{
	size_t n = 0;

	for (; *hex; hex++) {
		if (strchr(" \t\n", *hex))
			continue;
		if (n == room || hex_digit(hex[0]) < 0 ||
		    hex_digit(hex[1]) < 0)
			abort();
		out[n++] = hex_digit(hex[0]) << 4 | hex_digit(hex[1]);
		hex++;
	}
	return n;
}

static unused int tap_done(void)
{
	printf("1..%u\n", tap_count);
	return tap_failed ? 1 : 0;
}

#endif /* UNIT_TAP_H */
