// SPDX-License-Identifier: GPL-2.0
/*
 * Numbers, ranges and addresses of the command line, value by value.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "addr.h"
#include "args.h"

struct options opt;

/* The options are main.c's. */
int option_word(const char *word, struct args *args)
{
	(void)args;
	return usage_error(word, "no such option");
}

static void say(bool good, const char *kind, const char *text)
{
	printf("%s - %s \"%s\"\n", good ? "ok" : "not ok", kind, text);
}

struct number {
	const char *text;
	int ret;
	uint64_t value;
};

static void numbers(const char *kind, int (*parse)(const char *, uint64_t *),
		    const struct number *v, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		uint64_t value = 0;
		int ret = parse(v[i].text, &value);
		bool good = ret == v[i].ret && (ret || value == v[i].value);

		say(good, kind, v[i].text);
		if (!good)
			printf("got %d, %" PRIu64 "\n", ret, value);
	}
}

static const struct number u64s[] = {
	{ "0", 0, 0 }, { "1", 0, 1 }, { "0x10", 0, 16 }, { "0XfF", 0, 255 },
	{ "18446744073709551615", 0, UINT64_MAX }, { "18446744073709551616", -ERANGE, 0 },
	{ "0xffffffffffffffff", 0, UINT64_MAX }, { "0x10000000000000000", -ERANGE, 0 },
	{ "", -EINVAL, 0 }, { "-1", -EINVAL, 0 }, { "+1", -EINVAL, 0 }, { " 1", -EINVAL, 0 },
	{ "1 ", -EINVAL, 0 }, { "0x", -EINVAL, 0 }, { "0x-1", -EINVAL, 0 },
	{ "10", 0, 10 }, { "010", 0, 10 }, { "1e3", -EINVAL, 0 },
};

static const struct number sizes[] = {
	{ "0", 0, 0 }, { "4096", 0, 4096 }, { "4K", 0, 4096 }, { "4k", 0, 4096 },
	{ "16M", 0, 16777216 }, { "16MiB", 0, 16777216 }, { "1G", 0, 1073741824 },
	{ "2T", 0, 2199023255552 }, { "0x1000", 0, 4096 }, { "0x1000K", -EINVAL, 0 },
	{ "16777215T", 0, 0xffffff0000000000 }, { "16777216T", -ERANGE, 0 },
	{ "1.5G", -EINVAL, 0 }, { "1P", -EINVAL, 0 }, { "M", -EINVAL, 0 }, { "", -EINVAL, 0 },
	{ "1MB", -EINVAL, 0 }, { "1KK", -EINVAL, 0 }, { "-1M", -EINVAL, 0 },
};

static const struct number rates[] = {
	{ "off", 0, 0 }, { "0", 0, 0 }, { "1M", 0, 1048576 }, { "1M/s", 0, 1048576 },
	{ "1GiB/s", 0, 1073741824 }, { "/s", -EINVAL, 0 }, { "1M/m", -EINVAL, 0 },
	{ "on", -EINVAL, 0 },
};

static const struct number seconds[] = {
	{ "0", 0, 0 }, { "1", 0, 1000 }, { "0.5", 0, 500 }, { "2.25", 0, 2250 },
	{ "0.001", 0, 1 }, { "1.", -EINVAL, 0 }, { ".5", -EINVAL, 0 },
	{ "0.0001", -EINVAL, 0 }, { "1s", -EINVAL, 0 }, { "4294967", 0, 4294967000 },
	{ "4294968", -ERANGE, 0 }, { "", -EINVAL, 0 },
};

static const struct {
	const char *text;
	int ret;
	uint64_t address;
	uint64_t length;
} ranges[] = {
	{ "0x7f0000000000+256M", 0, 0x7f0000000000, 268435456 },
	{ "4096+4096", 0, 4096, 4096 }, { "0+1", 0, 0, 1 },
	{ "0xfffffffffffff000+0x1000", 0, 0xfffffffffffff000, 4096 },
	{ "0xfffffffffffff000+0x1001", -ERANGE, 0, 0 },
	{ "1+0xffffffffffffffff", 0, 1, UINT64_MAX },
	{ "2+0xffffffffffffffff", -ERANGE, 0, 0 },
	{ "0x1000", -EINVAL, 0, 0 }, { "0x1000+", -EINVAL, 0, 0 }, { "+4K", -EINVAL, 0, 0 },
	{ "0x1000+0", -EINVAL, 0, 0 }, { "4K+4K", -EINVAL, 0, 0 }, { "1+2+3", -EINVAL, 0, 0 },
};

static const struct {
	const char *text;
	int ret;
	const char *back;
} addresses[] = {
	{ "192.0.2.1:4444", 0, "192.0.2.1:4444" },
	{ "192.0.2.1:65535", 0, "192.0.2.1:65535" },
	{ "[::1]:1", 0, "[::1]:1" },
	{ "[2001:db8::7]:4444", 0, "[2001:db8::7]:4444" },
	{ "[fe80::1%lo]:4444", 0, "[fe80::1%lo]:4444" },
	{ "[192.0.2.1]:4444", 0, "192.0.2.1:4444" },
	{ "192.0.2.1", EXIT_USAGE, NULL }, { "192.0.2.1:", EXIT_USAGE, NULL },
	{ "192.0.2.1:0", EXIT_USAGE, NULL }, { "192.0.2.1:65536", EXIT_USAGE, NULL },
	{ "192.0.2.1:-1", EXIT_USAGE, NULL }, { "192.0.2.1:http", EXIT_USAGE, NULL },
	{ ":4444", EXIT_USAGE, NULL }, { "[]:4444", EXIT_USAGE, NULL },
	{ "[::1]", EXIT_USAGE, NULL }, { "[::1]4444", EXIT_USAGE, NULL },
	{ "[::1:4444", EXIT_USAGE, NULL }, { "::1:4444", EXIT_USAGE, NULL },
	{ "", EXIT_USAGE, NULL },
};

static const struct {
	const char *text;
	int ret;
	const char *back;
	unsigned int prefix;
} froms[] = {
	{ "192.0.2.0/24", 0, "192.0.2.0", 24 }, { "192.0.2.1", 0, "192.0.2.1", 32 },
	{ "0.0.0.0/0", 0, "0.0.0.0", 0 }, { "2001:db8::/32", 0, "2001:db8::", 32 },
	{ "[2001:db8::1]", 0, "2001:db8::1", 128 }, { "::/128", 0, "::", 128 },
	{ "192.0.2.0/33", EXIT_USAGE, NULL, 0 }, { "::/129", EXIT_USAGE, NULL, 0 },
	{ "192.0.2.0/", EXIT_USAGE, NULL, 0 }, { "/24", EXIT_USAGE, NULL, 0 },
	{ "", EXIT_USAGE, NULL, 0 },
};

int main(void)
{
	char back[ADDR_TEXT];
	union addr addr;
	uint8_t prefix;
	size_t i;

	numbers("number", parse_u64, u64s, ARRAY_SIZE(u64s));
	numbers("size", parse_size, sizes, ARRAY_SIZE(sizes));
	numbers("rate", parse_rate, rates, ARRAY_SIZE(rates));
	numbers("seconds", parse_seconds, seconds, ARRAY_SIZE(seconds));

	for (i = 0; i < ARRAY_SIZE(ranges); i++) {
		uint64_t address = 0, length = 0;
		int ret = parse_range(ranges[i].text, &address, &length);

		say(ret == ranges[i].ret && (ret || (address == ranges[i].address &&
						     length == ranges[i].length)),
		    "range", ranges[i].text);
	}
	for (i = 0; i < ARRAY_SIZE(addresses); i++) {
		int ret = addr_parse(addresses[i].text, &addr);

		say(ret == addresses[i].ret &&
		    (ret || (addr_text(&addr, addr_size(&addr), true, back) &&
			     !strcmp(back, addresses[i].back))),
		    "address", addresses[i].text);
	}
	for (i = 0; i < ARRAY_SIZE(froms); i++) {
		int ret = addr_parse_from(froms[i].text, &addr, &prefix);

		say(ret == froms[i].ret &&
		    (ret || (addr_text(&addr, addr_size(&addr), false, back) &&
			     !strcmp(back, froms[i].back) && prefix == froms[i].prefix)),
		    "from", froms[i].text);
	}
	say(!addr_text("\2", 1, true, back), "sockaddr", "cut short");
	return 0;
}
