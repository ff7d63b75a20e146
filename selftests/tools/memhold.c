// SPDX-License-Identifier: GPL-2.0
/*
 * memhold: a process with RAM blocks, for the tests.
 *
 *	memhold [-s SEED] NAME=LENGTH[,FILL][,shm] ...
 *
 * FILL is what a block holds at first:
 *	random	every page has content that depends on SEED, NAME and the page
 *	zero	nothing was ever touched
 *	sparse	one page in 1024 is random, the rest untouched
 *	junk	every byte is 0x5a (a target whose zeroes must be made)
 * shm maps it shared (a memfd).  LENGTH takes K, M and G.
 *
 * Prints "pid N", "block NAME 0xADDRESS+LENGTH" for each, "vm ..." (words for
 * rdmamigctl) and "ready"; then obeys lines on standard input:
 *	hash		"hash NAME HEX" for each block, then "done"
 *	fill SEED	fill every block anew with random content
 *	touch NAME N	change the first byte of page N
 *	drop NAME N M	MADV_DONTNEED pages N to M-1
 *	unmap NAME	munmap
 *	rss		"rss BYTES" resident in the blocks, by mincore
 *	quit
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_BLOCKS	64
#define SPARSE_STEP	1024

struct block {
	char name[256];
	uint8_t *va;
	size_t length;
	char fill[16];
	bool shared;
};

static struct block blocks[MAX_BLOCKS];
static int nr_blocks;
static size_t page_size;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static uint64_t mix(uint64_t x)
{
	x ^= x >> 33;
	x *= 0xff51afd7ed558ccdULL;
	x ^= x >> 33;
	x *= 0xc4ceb9fe1a85ec53ULL;
	return x ^ x >> 33;
}

static uint64_t hash_bytes(uint64_t h, const void *p, size_t n)
{
	const uint64_t *w = p;
	size_t i;

	for (i = 0; i < n / 8; i++)
		h = (h ^ w[i]) * 0x9e3779b97f4a7c15ULL + (h >> 29);
	return h;
}

static void fill_page(struct block *b, size_t page, uint64_t seed)
{
	uint64_t *w = (uint64_t *)(b->va + page * page_size);
	uint64_t x = mix(seed + page);
	size_t i;

	for (i = 0; b->name[i]; i++)
		x = mix(x + (unsigned char)b->name[i]);
	for (i = 0; i < page_size / 8; i++) {
		x = x * 6364136223846793005ULL + 1442695040888963407ULL;
		w[i] = x;
	}
}

static void fill(struct block *b, uint64_t seed)
{
	size_t step = strcmp(b->fill, "sparse") ? 1 : SPARSE_STEP, page;

	if (!strcmp(b->fill, "zero"))
		return;
	if (!strcmp(b->fill, "junk")) {
		memset(b->va, 0x5a, b->length);
		return;
	}
	for (page = 0; page < b->length / page_size; page += step)
		fill_page(b, page, seed);
}

static size_t parse_size(const char *s)
{
	char *end;
	size_t v = strtoull(s, &end, 0);

	if (*end == 'K')
		v <<= 10;
	else if (*end == 'M')
		v <<= 20;
	else if (*end == 'G')
		v <<= 30;
	return v;
}

static void add_block(char *spec, uint64_t seed)
{
	struct block *b = &blocks[nr_blocks++];
	char *eq = strchr(spec, '='), *word;
	int fd = -1;

	if (!eq || nr_blocks > MAX_BLOCKS) {
		fprintf(stderr, "memhold: %s: NAME=LENGTH is expected\n", spec);
		exit(2);
	}
	*eq = 0;
	snprintf(b->name, sizeof(b->name), "%s", spec);
	strcpy(b->fill, "random");
	word = strtok(eq + 1, ",");
	b->length = parse_size(word);
	while ((word = strtok(NULL, ","))) {
		if (!strcmp(word, "shm"))
			b->shared = true;
		else
			snprintf(b->fill, sizeof(b->fill), "%s", word);
	}
	if (b->shared) {
		fd = memfd_create(b->name, 0);
		if (fd < 0 || ftruncate(fd, b->length))
			die("memfd");
	}
	b->va = mmap(NULL, b->length, PROT_READ | PROT_WRITE,
		     b->shared ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS |
					      MAP_NORESERVE, fd, 0);
	if (b->va == MAP_FAILED)
		die("mmap");
	fill(b, seed);
}

static struct block *find(const char *name)
{
	int i;

	for (i = 0; i < nr_blocks; i++)
		if (!strcmp(blocks[i].name, name))
			return &blocks[i];
	fprintf(stderr, "memhold: no block %s\n", name);
	exit(2);
}

static void print_hashes(void)
{
	int i;

	for (i = 0; i < nr_blocks; i++)
		printf("hash %s %016" PRIx64 "\n", blocks[i].name,
		       hash_bytes(1, blocks[i].va, blocks[i].length));
	printf("done\n");
}

static void print_rss(void)
{
	size_t total = 0, pages, k;
	unsigned char *vec;
	int i;

	for (i = 0; i < nr_blocks; i++) {
		pages = blocks[i].length / page_size;
		vec = calloc(pages, 1);
		if (!vec || mincore(blocks[i].va, blocks[i].length, vec))
			die("mincore");
		for (k = 0; k < pages; k++)
			total += (vec[k] & 1) * page_size;
		free(vec);
	}
	printf("rss %zu\n", total);
}

static void obey(char *line)
{
	char *verb = strtok(line, "\n "), *name;
	struct block *b;
	size_t n, m;
	int i;

	if (!verb)
		return;
	if (!strcmp(verb, "quit")) {
		exit(0);
	} else if (!strcmp(verb, "hash")) {
		print_hashes();
		return;
	} else if (!strcmp(verb, "rss")) {
		print_rss();
	} else if (!strcmp(verb, "fill")) {
		n = strtoull(strtok(NULL, "\n "), NULL, 0);
		for (i = 0; i < nr_blocks; i++)
			fill(&blocks[i], n);
	} else {
		name = strtok(NULL, "\n ");
		b = find(name ? name : "");
		if (!strcmp(verb, "unmap")) {
			munmap(b->va, b->length);
		} else if (!strcmp(verb, "touch")) {
			n = strtoull(strtok(NULL, "\n "), NULL, 0);
			b->va[n * page_size]++;
		} else if (!strcmp(verb, "drop")) {
			n = strtoull(strtok(NULL, "\n "), NULL, 0);
			m = strtoull(strtok(NULL, "\n "), NULL, 0);
			if (madvise(b->va + n * page_size, (m - n) * page_size,
				    MADV_DONTNEED))
				die("madvise");
		}
	}
	printf("done\n");
}

int main(int argc, char **argv)
{
	uint64_t seed = 1;
	char line[512];
	int i, first = 1;

	page_size = sysconf(_SC_PAGESIZE);
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc > 2 && !strcmp(argv[1], "-s")) {
		seed = strtoull(argv[2], NULL, 0);
		first = 3;
	}
	for (i = first; i < argc; i++)
		add_block(argv[i], seed);
	printf("pid %d\n", getpid());
	for (i = 0; i < nr_blocks; i++)
		printf("block %s 0x%" PRIxPTR "+%zu\n", blocks[i].name,
		       (uintptr_t)blocks[i].va, blocks[i].length);
	printf("vm pid %d", getpid());
	for (i = 0; i < nr_blocks; i++)
		printf(" block %s 0x%" PRIxPTR "+%zu", blocks[i].name,
		       (uintptr_t)blocks[i].va, blocks[i].length);
	printf("\nready\n");
	while (fgets(line, sizeof(line), stdin))
		obey(line);
	return 0;
}
