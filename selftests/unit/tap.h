/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Test Anything Protocol, as little of it as the unit tests need.  A program
 * calls ok() and its kin, one named case each, and returns tap_done().
 */
#ifndef UNIT_TAP_H
#define UNIT_TAP_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned int tap_count, tap_failed;

/* One case: whether it is good, and its name as printf() takes it. */
#define ok(cond, ...)							\
do {									\
	bool ok_good = (cond);						\
									\
	printf("%sok %u - ", ok_good ? "" : "not ", ++tap_count);	\
	printf(__VA_ARGS__);						\
	putchar('\n');							\
	if (!ok_good)							\
		tap_why(__FILE__, __LINE__, #cond);			\
	fflush(stdout);							\
} while (0)

static inline void tap_why(const char *file, int line, const char *cond)
{
	tap_failed++;
	printf("# %s:%d: %s\n", file, line, cond);
}

/* Two sentences, or NULL for none. */
static inline bool same(const char *got, const char *want)
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
static inline void *exact(const void *data, size_t len)
{
	unsigned char *p = malloc(len + 1);

	if (!p)
		abort();
	if (len)
		memcpy(p + 1, data, len);
	return p + 1;
}

static inline void drop(void *p)
{
	free((char *)p - 1);
}

/* Noise that is the same in every run. */
static inline unsigned int noise(void)
{
	static unsigned long long x = 88172645463325252ull;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return x >> 16;
}

static inline int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

/* Reads lower-case hex with white space in it; aborts on anything else. */
static inline size_t unhex(const char *hex, unsigned char *out, size_t room)
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

static inline int tap_done(void)
{
	printf("1..%u\n", tap_count);
	return tap_failed ? 1 : 0;
}

#endif /* UNIT_TAP_H */
