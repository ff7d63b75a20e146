// SPDX-License-Identifier: GPL-2.0
/*
 * The reader of QEMU's stream: on the start of a real one, on made ones of
 * every shape, on ones that break each rule, and on broken bytes.
 */
#include <time.h>

#include "kernel-shim.h"
#include "qmake.h"
#include "qstream.h"
#include "tap.h"

#define MIB	0x100000ull

/* What a bare PC of 32 MiB sends first, up to its first window. */
static const char real[] =
	"51 45 56 4d  00 00 00 03\n"
	"07  00 00 00 0d  70 63 2d 69 34 34 30 66 78 2d 37 2e 32\n"
	"01  00 00 00 02  03 72 61 6d  00 00 00 00  00 00 00 04\n"
	"00 00 00 00 02 08 20 04\n"
	"06  70 63 2e 72 61 6d  00 00 00 00 02 00 00 00\n"
	"14  2f 72 6f 6d 40 65 74 63 2f 61 63 70 69 2f 74 61 62 6c 65 73\n"
	"00 00 00 00 00 02 00 00\n"
	"07  70 63 2e 62 69 6f 73  00 00 00 00 00 04 00 00\n"
	"06  70 63 2e 72 6f 6d  00 00 00 00 00 02 00 00\n"
	"15  2f 72 6f 6d 40 65 74 63 2f 74 61 62 6c 65 2d 6c 6f 61 64 65 72\n"
	"00 00 00 00 00 00 10 00\n"
	"12  2f 72 6f 6d 40 65 74 63 2f 61 63 70 69 2f 72 73 64 70\n"
	"00 00 00 00 00 00 10 00\n"
	"00 00 00 00 00 00 00 80";

static const struct qstream_block real_blocks[] = {
	{ "pc.ram", 0x2000000 },
	{ "/rom@etc/acpi/tables", 0x20000 },
	{ "pc.bios", 0x40000 },
	{ "pc.rom", 0x20000 },
	{ "/rom@etc/table-loader", 0x1000 },
	{ "/rom@etc/acpi/rsdp", 0x1000 },
};

/* The refusals. */
#define NO_HOOK	"stream does not end with a HOOK record"
#define NO_RAM	"no RAM section before the first window"
#define NO_FIT	"block list does not end at the first window"

static const char *find(const u8 *data, size_t len,
			struct qstream_blocks *blocks)
{
	u8 *copy = exact(data, len);
	const char *why = qstream_find_blocks(copy, len, blocks);

	drop(copy);
	return why;
}

/* Does a list that was accepted keep its promises? */
static bool sound(const struct qstream_blocks *blocks)
{
	u64 total = 0;
	u32 i, j;

	if (!blocks->count || blocks->count > QSTREAM_BLOCKS_MAX)
		return false;
	for (i = 0; i < blocks->count; i++) {
		if (!blocks->block[i].length || !blocks->block[i].name[0])
			return false;
		total += blocks->block[i].length;
		for (j = 0; j < i && blocks->count < 100; j++)
			if (!strcmp(blocks->block[i].name,
				    blocks->block[j].name))
				return false;
	}
	return total == blocks->total;
}

static bool empty(const struct qstream_blocks *blocks)
{
	static const struct qstream_blocks none;

	return !memcmp(blocks, &none, sizeof(none));
}

static bool equal(const struct qstream_blocks *blocks,
		  const struct qstream_block *want, u32 count)
{
	u32 i;

	if (blocks->count != count)
		return false;
	for (i = 0; i < count; i++)
		if (strcmp(blocks->block[i].name, want[i].name) ||
		    blocks->block[i].length != want[i].length)
			return false;
	return true;
}

static void test_real(void)
{
	char machine[QSTREAM_NAME_MAX + 1];
	struct qstream_blocks blocks;
	u8 data[256];
	bool good = true;
	size_t len, n;
	int bit;

	len = unhex(real, data, sizeof(data));
	ok(len == 191, "real start: 191 bytes");
	ok(same(qstream_check_start(data, len, machine), NULL) &&
	   same(machine, "pc-i440fx-7.2"), "real start: machine type");
	ok(same(find(data, len, &blocks), NULL), "real start: list found");
	ok(equal(&blocks, real_blocks, ARRAY_SIZE(real_blocks)),
	   "real start: six blocks in order");
	ok(blocks.section == 2 && blocks.layout == QSTREAM_PLAIN &&
	   blocks.total == 0x2082000 && blocks.setup == 191,
	   "real start: section, layout, total, window");
	ok(qstream_window_kind(data, len, &blocks) == QSTREAM_WINDOW_SETUP,
	   "real start: setup window");
	ok(!qstream_has_footers(data, len, &blocks),
	   "real start: no footer yet");
	qstream_free_blocks(&blocks);
	ok(empty(&blocks), "real start: freed");

	for (n = 0; n < len; n++) {
		good = good && find(data, n, &blocks) && empty(&blocks);
		qstream_free_blocks(&blocks);
	}
	ok(good, "real start: refused at each shorter length");

	good = true;
	for (n = 0; n < len; n++)
		for (bit = 0; bit < 8; bit++) {
			data[n] ^= 1 << bit;
			if (find(data, len, &blocks))
				good = good && empty(&blocks);
			else
				good = good && sound(&blocks);
			qstream_free_blocks(&blocks);
			data[n] ^= 1 << bit;
		}
	ok(good, "real start: each bit flipped");
}

static void test_start(void)
{
	char machine[QSTREAM_NAME_MAX + 1];
	u8 data[13 + 300], *copy;
	const char *why;
	bool good = true;
	size_t n;

	memset(data, 'm', sizeof(data));
	memcpy(data, "QEVM\0\0\0\3\7\0\0\0\5", 13);
	for (n = 0; n < 30; n++) {
		copy = exact(data, n);
		why = qstream_check_start(copy, n, machine);
		good = good && !why == (n == 8 || n >= 18);
		good = good && !strcmp(machine, n >= 18 ? "mmmmm" : "");
		drop(copy);
	}
	ok(good, "start: each length");
	data[12] = 0;
	copy = exact(data, 13);
	ok(!qstream_check_start(copy, 13, machine) && !machine[0],
	   "start: an empty machine type");
	drop(copy);
	data[12] = 255;
	ok(!qstream_check_start(data, sizeof(data), machine) &&
	   strlen(machine) == 255, "start: the longest machine type");
	data[11] = 1;
	data[12] = 0;
	ok(same(qstream_check_start(data, sizeof(data), machine),
		"machine type in the stream is too long"),
	   "start: a longer machine type");
	data[9] = 0xff;
	ok(same(qstream_check_start(data, sizeof(data), machine),
		"machine type in the stream is too long"),
	   "start: machine type of 4 GiB");
	data[8] = 1;
	ok(!qstream_check_start(data, sizeof(data), machine) && !machine[0],
	   "start: no configuration");
	data[7] = 4;
	ok(same(qstream_check_start(data, sizeof(data), machine),
		"stream is not of version 3"), "start: version 4");
	data[0] = 'q';
	ok(same(qstream_check_start(data, sizeof(data), machine),
		"stream does not begin with QEMU's magic"),
	   "start: another magic");
}

/* Made streams. */

static const struct qmake_plan plans[] = {
	{ .machine = "pc-q35-8.2", .block = real_blocks, .count = 6,
	  .section = 2, .parts = 3, .devices = 2, .device_bytes = 100,
	  .footers = true, .description = 500 },
	{ .machine = "pc-q35-8.2", .block = real_blocks, .count = 6,
	  .section = 2, .layout = QSTREAM_ONE_EXTRA, .parts = 1,
	  .devices = 1, .device_bytes = 10, .footers = true,
	  .description = 1 },
	{ .machine = "virt", .block = real_blocks, .count = 3,
	  .section = 0x01020304, .layout = QSTREAM_TWO_EXTRA, .parts = 0,
	  .devices = 5, .device_bytes = 1, .footers = true,
	  .description = 70000 },
	{ .block = real_blocks, .count = 1, .section = 0, .parts = 20,
	  .devices = 3, .device_bytes = 300, .description = 300 },
	{ .machine = "pc-q35-8.2", .block = real_blocks, .count = 6,
	  .section = 2, .parts = 2, .devices = 2, .device_bytes = 100,
	  .footers = true },
};

static const char *const plan_names[] = {
	"usual", "page sizes", "page sizes and addresses", "old machine",
	"no description",
};

static enum qstream_window kind_at(const struct qmake_stream *s, size_t at)
{
	u32 i;

	for (i = 0; i < s->windows; i++)
		if (s->window[i].offset == at)
			return s->window[i].kind;
	return QSTREAM_WINDOW_UNKNOWN;
}

static void test_made(size_t i)
{
	const struct qmake_plan *plan = &plans[i];
	const char *name = plan_names[i];
	struct qstream_blocks blocks;
	struct qmake_stream s;
	bool good = true, seen;
	u8 *copy;
	size_t n;

	if (qmake_stream(plan, &s))
		abort();
	ok(s.windows == plan->parts + 2, "made: %s: windows", name);
	ok(same(find(s.data, s.window[0].offset, &blocks), NULL) &&
	   equal(&blocks, plan->block, plan->count) && sound(&blocks),
	   "made: %s: list", name);
	ok(blocks.section == plan->section && blocks.layout == plan->layout &&
	   blocks.setup == s.window[0].offset,
	   "made: %s: section, layout, window", name);

	for (n = 0; n <= s.len; n++)
		good = good && qstream_window_kind(s.data, n, &blocks) ==
			       kind_at(&s, n);
	ok(good, "made: %s: kind of window at each offset", name);

	good = true;
	for (n = 0; n <= s.len; n++) {
		seen = n >= blocks.setup + 13;
		good = good && qstream_has_footers(s.data, n, &blocks) ==
			       (seen && plan->footers);
	}
	ok(good, "made: %s: footers", name);

	good = true;
	for (n = s.window[s.windows - 1].offset; n <= s.len; n++) {
		if (s.len - n > 1000 && n % 97)	/* long descriptions */
			continue;
		copy = exact(s.data, n);
		good = good && qstream_is_complete(copy, n, &blocks) ==
			       (n == s.len && plan->description);
		drop(copy);
	}
	ok(good, "made: %s: complete at its end only", name);
	ok(qstream_may_be_complete(s.data, s.len) ==
	   (plan->footers && !plan->description),
	   "made: %s: complete without a description", name);

	qstream_free_blocks(&blocks);
	qmake_free(&s);
	ok(!s.data && !s.len && !s.window, "made: %s: freed", name);
}

/* Lists that break a rule. */

struct list {
	u8 data[8192];
	size_t len;
};

static void add(struct list *l, const void *data, size_t len)
{
	if (len > sizeof(l->data) - l->len)
		abort();
	if (len)
		memcpy(l->data + l->len, data, len);
	l->len += len;
}

static void add64(struct list *l, u64 v)
{
	v = htobe64(v);
	add(l, &v, sizeof(v));
}

static void add_start(struct list *l, u64 word)
{
	add(l, "\1\0\0\0\2\3ram\0\0\0\0\0\0\0\4", 17);
	add64(l, word);
}

static void add_block(struct list *l, const char *name, size_t name_len,
		      u64 length)
{
	u8 n = name_len;

	add(l, &n, 1);
	add(l, name, name_len);
	add64(l, length);
}

static void refuse(struct list *l, const char *why, const char *name)
{
	struct qstream_blocks blocks;
	const char *got = find(l->data, l->len, &blocks);

	ok(same(got, why) && (got ? empty(&blocks) : sound(&blocks)),
	   "list: %s", name);
	qstream_free_blocks(&blocks);
	l->len = 0;
}

static void test_lists(void)
{
	static struct list l;
	u8 fake[29];

	refuse(&l, NO_HOOK, "no stream");
	add(&l, "\0\0\0\0\0\0\200", 7);
	refuse(&l, NO_HOOK, "seven bytes");
	add64(&l, 0x80);
	refuse(&l, NO_RAM, "a HOOK alone");
	add64(&l, 0x10);
	refuse(&l, NO_HOOK, "another record");

	add_start(&l, MIB | 4);
	add_block(&l, "pc.ram", 6, MIB);
	add64(&l, 0x80);
	refuse(&l, NULL, "one block and nothing before it");

	add_start(&l, MIB | 4);
	add_block(&l, "pc.ram", 6, MIB);
	add64(&l, 0x80);
	l.data[0] = 4;
	refuse(&l, NO_RAM, "RAM in a FULL section");
	add_start(&l, MIB | 4);
	add_block(&l, "pc.ram", 6, MIB);
	add64(&l, 0x80);
	l.data[16] = 3;
	refuse(&l, NO_RAM, "version 3");
	add_start(&l, MIB | 4);
	add_block(&l, "pc.ram", 6, MIB);
	add64(&l, 0x80);
	l.data[12] = 1;
	refuse(&l, NO_RAM, "instance 1");

	add(&l, "\1\0\0\0\2\3ram\0\0\0\0\0\0\0\4", 17);
	add64(&l, 0x80);
	refuse(&l, "RAM section is cut short before its block list",
	       "HOOK in the place of the size");
	add_start(&l, MIB);
	add_block(&l, "pc.ram", 6, MIB);
	add64(&l, 0x80);
	refuse(&l, "RAM section does not begin with its size", "no flag");
	add_start(&l, MIB | 4 | 0x200);
	add_block(&l, "pc.ram", 6, MIB);
	add64(&l, 0x80);
	refuse(&l, "RAM section does not begin with its size",
	       "another flag too");
	add_start(&l, 4);
	add64(&l, 0x80);
	refuse(&l, "block list is empty", "no block");

	add_start(&l, 2 * MIB | 4);
	add_block(&l, "pc.ram", 6, MIB);
	add64(&l, 0x80);
	refuse(&l, NO_FIT, "less than the total");
	add_start(&l, MIB | 4);
	add_block(&l, "pc.ram", 6, 2 * MIB);
	add64(&l, 0x80);
	refuse(&l, NO_FIT, "more than the total");
	add_start(&l, MIB | 4);
	add_block(&l, "pc.ram", 6, MIB);
	add_block(&l, "pc.rom", 6, MIB);
	add64(&l, 0x80);
	refuse(&l, NO_FIT, "a block behind the total");
	add_start(&l, MIB | 4);
	add_block(&l, "a", 1, 0 - MIB);
	add_block(&l, "b", 1, 2 * MIB);
	add64(&l, 0x80);
	refuse(&l, NO_FIT, "lengths that overflow to the total");
	add_start(&l, MIB | 4);
	add_block(&l, "pc.ram", 6, MIB);
	add(&l, "x", 1);
	add64(&l, 0x80);
	refuse(&l, NO_FIT, "a byte behind the list");
	add_start(&l, MIB | 4);
	add_block(&l, "pc.ram", 6, MIB);
	l.len--;
	add64(&l, 0x80);
	refuse(&l, NO_FIT, "the last length cut short");
	add_start(&l, MIB | 4);
	add(&l, "\377pc.ram", 7);
	add64(&l, MIB);
	add64(&l, 0x80);
	refuse(&l, NO_FIT, "a name that runs past the end");

	add_start(&l, MIB | 4);
	add_block(&l, "a", 1, 0);
	add_block(&l, "b", 1, MIB);
	add64(&l, 0x80);
	refuse(&l, "block list has a block of length 0", "length 0");
	add_start(&l, 2 * MIB | 4);
	add_block(&l, "", 0, MIB);
	add_block(&l, "b", 1, MIB);
	add64(&l, 0x80);
	refuse(&l, "block list has a block without a proper name", "no name");
	add_start(&l, 2 * MIB | 4);
	add_block(&l, "a", 1, MIB);
	add_block(&l, "b\0b", 3, MIB);
	add64(&l, 0x80);
	refuse(&l, "block list has a block without a proper name",
	       "NUL in a name");
	add_start(&l, 3 * MIB | 4);
	add_block(&l, "a", 1, MIB);
	add_block(&l, "b", 1, MIB);
	add_block(&l, "a", 1, MIB);
	add64(&l, 0x80);
	refuse(&l, "block list names a block twice", "a name twice");

	/* A device's bytes look like a start, in front of the real one. */
	add_start(&l, 5 * MIB | 4);
	add_block(&l, "fake", 4, MIB);
	add_start(&l, MIB | 4);
	add_block(&l, "pc.ram", 6, MIB);
	add64(&l, 0x80);
	refuse(&l, NULL, "a start that fits not, before the real one");
	/* The last one does not fit; the search must go on to the first. */
	l.len = 0;
	add_start(&l, 7 * MIB | 4);
	memcpy(fake, l.data, 25);
	l.len = 0;
	add_start(&l, MIB | 4);
	add_block(&l, (char *)fake, 25, MIB);
	add64(&l, 0x80);
	refuse(&l, "block list has a block without a proper name",
	       "a start within a name, behind the real one");
}

/* The most blocks there may be, and one more. */
static void test_many(void)
{
	struct qmake_plan plan = plans[0];
	struct qstream_blocks blocks;
	struct qstream_block *many;
	struct qmake_stream s;
	u32 i;

	many = calloc(QSTREAM_BLOCKS_MAX + 1, sizeof(*many));
	if (!many)
		abort();
	for (i = 0; i <= QSTREAM_BLOCKS_MAX; i++) {
		snprintf(many[i].name, sizeof(many[i].name), "block%0*u",
			 250, i);
		many[i].length = 4096;
	}
	plan.block = many;
	plan.count = QSTREAM_BLOCKS_MAX;
	plan.layout = QSTREAM_TWO_EXTRA;
	if (qmake_stream(&plan, &s))
		abort();
	ok(same(find(s.data, s.window[0].offset, &blocks), NULL) &&
	   equal(&blocks, many, QSTREAM_BLOCKS_MAX),
	   "many: 16383 blocks with the longest names");
	qstream_free_blocks(&blocks);
	qmake_free(&s);

	for (i = 0; i <= QSTREAM_BLOCKS_MAX; i++)
		snprintf(many[i].name, sizeof(many[i].name), "b%u", i);
	plan.count = QSTREAM_BLOCKS_MAX + 1;
	plan.layout = QSTREAM_PLAIN;
	if (qmake_stream(&plan, &s))
		abort();
	ok(same(find(s.data, s.window[0].offset, &blocks),
		"block list has more than 16383 blocks") && empty(&blocks),
	   "many: 16384 blocks");
	qmake_free(&s);
	free(many);
}

/* A peer that makes us look at as many starts as it can. */
static void test_slow(void)
{
	struct qstream_blocks blocks;
	size_t room = 6 << 20, len = 0, i;
	u8 *data = malloc(room);
	struct timespec a, b;
	double seconds;
	struct list l;

	if (!data)
		abort();
	l.len = 0;
	add_start(&l, ((u64)1 << 60) | 4);
	for (i = 0; i < 8; i++)
		add_block(&l, "", 0, 0);
	while (len + l.len + 8 <= room) {
		memcpy(data + len, l.data, l.len);
		len += l.len;
	}
	l.len = 0;
	add64(&l, 0x80);
	memcpy(data + len, l.data, 8);
	clock_gettime(CLOCK_MONOTONIC, &a);
	ok(qstream_find_blocks(data, len + 8, &blocks) && empty(&blocks),
	   "slow: a stream full of starts is refused");
	clock_gettime(CLOCK_MONOTONIC, &b);
	seconds = b.tv_sec - a.tv_sec + (b.tv_nsec - a.tv_nsec) / 1e9;
	ok(seconds < 5, "slow: in a bounded time");
	free(data);
}

/* The end test on ends that are none. */

static const struct end_case {
	const char *name;
	const char *tail;	/* hex, behind opaque bytes */
	bool complete;		/* with footers in use */
	bool old;		/* without */
	bool bare;		/* no description at all */
} end_cases[] = {
	{ "least description",
	  "7e 00 00 00 09  00 06 00 00 00 02 7b 7d", true, true, false },
	{ "no footer",
	  "00 00 00 00 09  00 06 00 00 00 02 7b 7d", false, true, false },
	{ "footer one byte early",
	  "7e 00 00 00 09 09  00 06 00 00 00 02 7b 7d", false, true, false },
	{ "no end mark",
	  "7e 00 00 00 09  01 06 00 00 00 02 7b 7d", false, false, false },
	{ "no description mark",
	  "7e 00 00 00 09  00 05 00 00 00 02 7b 7d", false, false, false },
	{ "length one less",
	  "7e 00 00 00 09  00 06 00 00 00 02 7b 7b 7d", false, false, false },
	{ "length one more",
	  "7e 00 00 00 09  00 06 00 00 00 04 7b 7b 7d", false, false, false },
	{ "no opening brace",
	  "7e 00 00 00 09  00 06 00 00 00 03 5b 7b 7d", false, false, false },
	{ "no closing brace",
	  "7e 00 00 00 09  00 06 00 00 00 03 7b 7d 20", false, false, false },
	{ "NUL in the text",
	  "7e 00 00 00 09  00 06 00 00 00 04 7b 00 20 7d", false, false,
	  false },
	{ "braces within braces",
	  "7e 00 00 00 09  00 06 00 00 00 06 7b 7b 7d 2c 7b 7d", true, true,
	  false },
	{ "a description within the text",
	  "7e 00 00 00 09  00 06 00 00 00 08 7b 06 7d 20 20 20 7b 7d", true,
	  true, false },
	{ "byte behind it",
	  "7e 00 00 00 09  00 06 00 00 00 02 7b 7d 7d", false, false, false },
	{ "braces only", "7b 7d", false, false, false },
	{ "footer and end mark", "7e 00 00 00 09 00", false, false, true },
	{ "footer without an end mark", "7e 00 00 00 09", false, false,
	  false },
	{ "end mark without a footer", "7f 00 00 00 09 00", false, false,
	  false },
};

static void test_ends(void)
{
	struct qmake_plan plan = plans[0], old_plan = plans[3];
	u8 data[1024], *copy;
	struct qstream_blocks blocks;
	const struct end_case *c;
	struct qmake_stream s;
	bool old, want;
	size_t i, len;
	int pass;

	for (pass = 0; pass < 2; pass++) {
		old = pass;
		if (qmake_stream(old ? &old_plan : &plan, &s) ||
		    find(s.data, s.window[0].offset, &blocks))
			abort();
		for (i = 0; i < ARRAY_SIZE(end_cases); i++) {
			c = &end_cases[i];
			len = blocks.setup + 40;
			memcpy(data, s.data, len);
			len += unhex(c->tail, data + len, 100);
			want = old ? c->old : c->complete;
			copy = exact(data, len);
			ok(qstream_is_complete(copy, len, &blocks) == want,
			   "end: %s%s", c->name, old ? ", old machine" : "");
			if (!old)
				ok(qstream_may_be_complete(copy, len) ==
				   c->bare, "end: %s, disconnected", c->name);
			drop(copy);
		}
		qstream_free_blocks(&blocks);
		qmake_free(&s);
	}

	memset(&blocks, 0, sizeof(blocks));
	blocks.setup = 1000;
	memset(data, '}', sizeof(data));
	want = false;
	for (i = 0; i < 64; i++) {
		copy = exact(data, i);
		want = want || qstream_is_complete(copy, i, &blocks) ||
		       qstream_may_be_complete(copy, i) ||
		       qstream_has_footers(copy, i, &blocks);
		drop(copy);
	}
	ok(!want, "end: streams shorter than any end");
	len = unhex("00 06 00 00 00 02 7b 7d", data, sizeof(data));
	copy = exact(data, len);
	ok(qstream_is_complete(copy, len, &blocks),
	   "end: a description and nothing else");
	drop(copy);
	len = unhex("7e 00 00 00 09 00", data, sizeof(data));
	copy = exact(data, len);
	ok(qstream_may_be_complete(copy, len),
	   "end: a footer, the end mark and nothing else");
	drop(copy);
}

/* The description is long and its length has no NUL in its low bytes. */
static void test_long_end(void)
{
	struct qmake_plan plan = plans[0];
	struct qstream_blocks blocks;
	struct qmake_stream s;
	u32 bytes;
	bool good = true;

	for (bytes = 100; bytes < 3000000; bytes = bytes * 3 + 7) {
		plan.description = bytes;
		if (qmake_stream(&plan, &s) ||
		    find(s.data, s.window[0].offset, &blocks))
			abort();
		good = good && qstream_is_complete(s.data, s.len, &blocks);
		good = good && !qstream_is_complete(s.data, s.len - 1,
						    &blocks);
		qstream_free_blocks(&blocks);
		qmake_free(&s);
	}
	ok(good, "end: descriptions up to some megabytes");
}

/* Everything there is to ask, of a stream that may be anything. */
static bool ask_all(const u8 *data, size_t len, size_t setup)
{
	char machine[QSTREAM_NAME_MAX + 1];
	struct qstream_blocks blocks;
	bool good = true;
	size_t n;

	qstream_check_start(data, len, machine);
	if (find(data, setup, &blocks))
		good = empty(&blocks);
	else
		good = sound(&blocks) && blocks.setup == setup;
	for (n = setup; n <= len; n++)
		qstream_window_name(qstream_window_kind(data, n, &blocks));
	qstream_has_footers(data, len, &blocks);
	qstream_is_complete(data, len, &blocks);
	qstream_may_be_complete(data, len);
	qstream_free_blocks(&blocks);
	return good;
}

static void test_broken(size_t plan)
{
	struct qmake_plan small = plans[plan];
	struct qmake_stream s;
	u8 *copy;
	bool good = true;
	size_t n, i;
	int bit;

	if (small.description > 100)
		small.description = 100;
	small.device_bytes = 20;
	if (qmake_stream(&small, &s))
		abort();
	copy = exact(s.data, s.len);
	for (n = 0; n < s.len; n++)
		for (bit = 0; bit < 8; bit++) {
			copy[n] ^= 1 << bit;
			good = good && ask_all(copy, s.len,
					       s.window[0].offset);
			copy[n] ^= 1 << bit;
		}
	ok(good, "broken: %s: each bit flipped", plan_names[plan]);

	good = true;
	for (n = 0; n < s.len; n++)
		for (bit = 0; bit < 256; bit += 51) {
			copy[n] = bit;
			good = good && ask_all(copy, s.len,
					       s.window[0].offset);
			copy[n] = s.data[n];
		}
	ok(good, "broken: %s: each byte replaced", plan_names[plan]);

	good = true;
	for (i = 0; i < 2000; i++) {
		memcpy(copy, s.data, s.len);
		for (n = noise() % 6 + 1; n; n--)
			copy[noise() % s.len] = noise();
		good = good && ask_all(copy, s.len, s.window[0].offset);
	}
	ok(good, "broken: %s: noise", plan_names[plan]);
	drop(copy);
	qmake_free(&s);
}

/* The list stands behind whatever came before. */
static void test_early(void)
{
	struct qstream_blocks blocks;
	struct qmake_stream s;
	u8 *data, *copy;
	bool good = true;
	size_t n, i, len;

	if (qmake_stream(&plans[1], &s))
		abort();
	len = s.window[0].offset;
	for (i = 0; i < 200; i++) {
		n = noise() % 5000;
		data = malloc(n + len);
		if (!data)
			abort();
		for (size_t j = 0; j < n; j++)
			data[j] = noise();
		memcpy(data + n, s.data, len);
		copy = exact(data, n + len);
		good = good && !qstream_find_blocks(copy, n + len, &blocks) &&
		       equal(&blocks, plans[1].block, plans[1].count) &&
		       blocks.setup == n + len;
		qstream_free_blocks(&blocks);
		drop(copy);
		free(data);
	}
	ok(good, "early: noise before the RAM section");

	/* Farther from the window than the longest list. */
	n = 8 << 20;
	data = calloc(1, n);
	if (!data)
		abort();
	memcpy(data, s.data, len - 8);
	data[n - 1] = 0x80;
	ok(same(qstream_find_blocks(data, n, &blocks), NO_RAM),
	   "early: a start too far away to be the one");
	memcpy(data + n - len, s.data, len);
	ok(same(qstream_find_blocks(data, n, &blocks), NULL),
	   "early: 8 MiB before the RAM section");
	qstream_free_blocks(&blocks);
	free(data);
	qmake_free(&s);
}

static void test_windows(void)
{
	struct qstream_blocks blocks = { .section = 9, .setup = 1000 };
	u8 data[13], *copy;

	unhex("02 00 00 00 09  00 00 00 00 00 00 00 80", data, 13);
	copy = exact(data, 13);
	ok(qstream_window_kind(copy, 13, &blocks) == QSTREAM_WINDOW_PART,
	   "window: part, nothing before it");
	copy[0] = 3;
	ok(qstream_window_kind(copy, 13, &blocks) == QSTREAM_WINDOW_END,
	   "window: end");
	copy[0] = 4;
	ok(qstream_window_kind(copy, 13, &blocks) == QSTREAM_WINDOW_UNKNOWN,
	   "window: a section of another type");
	copy[0] = 2;
	copy[4] = 8;
	ok(qstream_window_kind(copy, 13, &blocks) == QSTREAM_WINDOW_UNKNOWN,
	   "window: another section");
	copy[4] = 9;
	copy[12] = 0x10;
	ok(qstream_window_kind(copy, 13, &blocks) == QSTREAM_WINDOW_UNKNOWN,
	   "window: another record");
	drop(copy);

	ok(same(qstream_window_name(QSTREAM_WINDOW_SETUP), "setup") &&
	   same(qstream_window_name(QSTREAM_WINDOW_PART), "part") &&
	   same(qstream_window_name(QSTREAM_WINDOW_END), "end") &&
	   same(qstream_window_name(QSTREAM_WINDOW_UNKNOWN), "unknown"),
	   "window names");
}

int main(void)
{
	size_t i;

	test_real();
	test_start();
	for (i = 0; i < ARRAY_SIZE(plans); i++)
		test_made(i);
	test_lists();
	test_many();
	test_slow();
	test_ends();
	test_long_end();
	test_early();
	for (i = 0; i < ARRAY_SIZE(plans); i++)
		test_broken(i);
	test_windows();
	return tap_done();
}
