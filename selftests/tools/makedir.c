// SPDX-License-Identifier: GPL-2.0
/*
 * makedir: a directory such as "rdmamigctl receive" leaves behind, for tests.
 *
 *	makedir DIR SEED NAME=LENGTH[,zero|,sparse] ...
 *
 * The stream is made by tools/qemu/qmake.c, with three rounds and some noise
 * for devices.  Blocks hold random bytes that depend on SEED; of a sparse one
 * every 1024th page does.  LENGTH takes K and M.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "qmake.h"

#define BLOCKS_MAX	32
#define PAGE		4096
#define SPARSE_STEP	1024

enum fill { RANDOM, ZERO, SPARSE };

static struct qstream_block blocks[BLOCKS_MAX];
static enum fill fills[BLOCKS_MAX];

static void die(const char *what)
{
	fprintf(stderr, "makedir: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void parse(char *spec, unsigned int i)
{
	char *eq = strchr(spec, '='), *end;

	if (!eq) {
		fprintf(stderr, "makedir: %s: NAME=LENGTH is expected\n", spec);
		exit(2);
	}
	*eq = 0;
	snprintf(blocks[i].name, sizeof(blocks[i].name), "%s", spec);
	blocks[i].length = strtoull(eq + 1, &end, 0);
	if (*end == 'K' || *end == 'M')
		blocks[i].length <<= *end++ == 'K' ? 10 : 20;
	fills[i] = !strcmp(end, ",zero") ? ZERO :
		   !strcmp(end, ",sparse") ? SPARSE : RANDOM;
}

static FILE *create(const char *dir, const char *name)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "wx");
	if (!f)
		die(path);
	return f;
}

static void finish(FILE *f)
{
	if (ferror(f) || fclose(f))
		die("writing");
}

static uint64_t write_block(const char *dir, unsigned int i, uint64_t seed)
{
	uint64_t x = seed * 0x9e3779b97f4a7c15ULL + i + 1, page, resident = 0;
	uint64_t words[PAGE / 8];
	char name[32];
	size_t k;
	FILE *f;

	snprintf(name, sizeof(name), "ram.%u", i);
	f = create(dir, name);
	for (page = 0; page < blocks[i].length / PAGE; page++) {
		if (fills[i] == ZERO || (fills[i] == SPARSE && page % SPARSE_STEP))
			continue;
		for (k = 0; k < PAGE / 8; k++) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			words[k] = x;
		}
		fseeko(f, (off_t)(page * PAGE), SEEK_SET);
		fwrite(words, PAGE, 1, f);
		resident += PAGE;
	}
	if (fflush(f) || ftruncate(fileno(f), (off_t)blocks[i].length))
		die(name);
	finish(f);
	return resident;
}

int main(int argc, char **argv)
{
	struct qmake_plan plan = {
		.machine = "test-machine", .block = blocks, .section = 2,
		.parts = 3, .devices = 2, .device_bytes = 100000,
		.footers = true, .description = 20000,
	};
	struct qmake_stream stream;
	unsigned int i, n;
	uint64_t seed;
	FILE *f, *s;

	if (argc < 4 || argc - 3 > BLOCKS_MAX) {
		fprintf(stderr, "usage: makedir DIR SEED NAME=LENGTH[,FILL] ...\n");
		return 2;
	}
	seed = strtoull(argv[2], NULL, 0);
	n = argc - 3;
	plan.count = n;
	for (i = 0; i < n; i++)
		parse(argv[3 + i], i);
	if (mkdir(argv[1], 0700) && errno != EEXIST)
		die(argv[1]);
	if (qmake_stream(&plan, &stream))
		die("stream");
	s = create(argv[1], "stream");
	fwrite(stream.data, stream.len, 1, s);
	finish(s);

	f = create(argv[1], "manifest.json");
	fprintf(f, "{ \"format-version\": 1,\n"
		"  \"peer\": { \"address\": null, \"rdmamig\": false },\n"
		"  \"blocks\": [");
	for (i = 0; i < n; i++)
		fprintf(f, "%s\n    { \"index\": %u, \"name\": \"%s\", \"length\": %" PRIu64
			", \"file\": \"ram.%u\", \"resident-bytes\": %" PRIu64 " }",
			i ? "," : "", i, blocks[i].name, blocks[i].length, i,
			write_block(argv[1], i, seed));
	fprintf(f, " ],\n  \"windows\": [");
	for (i = 0; i < stream.windows; i++)
		fprintf(f, "%s\n    { \"offset\": %zu, \"kind\": \"%s\" }",
			i ? "," : "", stream.window[i].offset,
			qstream_window_name(stream.window[i].kind));
	fprintf(f, " ],\n  \"stream\": { \"file\": \"stream\", \"length\": %zu } }\n",
		stream.len);
	finish(f);
	qmake_free(&stream);
	return 0;
}
