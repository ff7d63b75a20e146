// SPDX-License-Identifier: GPL-2.0
/*
 * Messages that are worth keeping: what a stock peer sends, what would have
 * broken one, and whatever the fuzzer has found.  A file a message:
 *
 *	# expect: accepted			or the sentence of the refusal
 *	# asked: 2				records of our request; 1 if absent
 *	00 00 00 00 ...				any comment behind a '#'
 *
 * With a folder as argument writes them there as bytes, for the fuzzer.
 */
#include <dirent.h>

#include "judge.h"

#define FOLDER "corpus"

struct entry {
	char expect[128];
	u32 asked;
	u8 data[4096];
	size_t len;
};

static bool read_entry(const char *name, struct entry *e)
{
	char path[512], line[512], *comment;
	FILE *f;

	memset(e, 0, sizeof(*e));
	e->asked = 1;
	snprintf(path, sizeof(path), FOLDER "/%s", name);
	f = fopen(path, "r");
	if (!f)
		return false;
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "# expect: %127[^\n]", e->expect) == 1 ||
		    sscanf(line, "# asked: %u", &e->asked) == 1)
			continue;
		comment = strchr(line, '#');
		if (comment)
			*comment = '\0';
		e->len += unhex(line, e->data + e->len,
				sizeof(e->data) - e->len);
	}
	fclose(f);
	return e->expect[0];
}

static void try_entry(const char *name)
{
	bool broken = false;
	const char *why;
	struct entry e;

	if (!read_entry(name, &e)) {
		ok(false, "%s: can be read and says what to expect", name);
		return;
	}
	why = judge_copy(e.data, e.len, e.asked, &broken);
	ok(same(why ? why : "accepted", e.expect) && !broken, "%s", name);
}

static void write_entry(const char *name, const char *folder)
{
	char path[512];
	struct entry e;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = read_entry(name, &e) ? fopen(path, "w") : NULL;
	if (!f || fwrite(e.data, 1, e.len, f) != e.len || fclose(f))
		abort();
}

static int messages(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name);

	return len > 4 && !strcmp(entry->d_name + len - 4, ".msg");
}

int main(int argc, char **argv)
{
	struct dirent **names;
	int n, i;

	n = scandir(FOLDER, &names, messages, alphasort);
	if (n <= 0) {
		ok(false, "there is a corpus");
		return tap_done();
	}
	for (i = 0; i < n; i++) {
		if (argc > 1)
			write_entry(names[i]->d_name, argv[1]);
		else
			try_entry(names[i]->d_name);
		free(names[i]);
	}
	free(names);
	return argc > 1 ? 0 : tap_done();
}
