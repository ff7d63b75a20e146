/* SPDX-License-Identifier: GPL-2.0 */
/*
 * rdmamigctl: what every file of the tool shares.
 */
#ifndef _RDMAMIGCTL_H
#define _RDMAMIGCTL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define BIT(n)		(1U << (n))
#define __printf(a, b)	__attribute__((__format__(printf, a, b)))

/* Exit codes: part of the interface, see the man page. */
enum {
	EXIT_DONE	= 0,
	EXIT_FAILED	= 1,	/* the kernel refused, or a run-time failure */
	EXIT_USAGE	= 2,
	EXIT_NO_MODULE	= 3,
	EXIT_NO_SESSION	= 4,
	EXIT_ENDED	= 5,	/* the session ended in failure */
	EXIT_TIMEOUT	= 6,
	EXIT_PERM	= 7,
};

/* Which commands take a knob, and what args_options() accepts. */
enum {
	FOR_LISTEN	= BIT(0),
	FOR_START	= BIT(1),
	FOR_RECEIVE	= BIT(2),
	FOR_SEND	= BIT(3),
	FOR_SET		= BIT(4),
};

struct args {
	int argc;
	char **argv;
	int pos;
};

struct options {
	const char *command;	/* for messages */
	bool json;
	bool details;
	bool timestamp;
	bool quiet;
	bool color;
};

extern struct options opt;

/**
 * struct command - a row of the dispatch table
 * @name: the verb
 * @run: does it; returns the exit code
 * @synopsis: what follows the verb
 * @help: one line
 */
struct command {
	const char *name;
	int (*run)(struct args *args);
	const char *synopsis;
	const char *help;
};

int cmd_listen(struct args *args);
int cmd_start(struct args *args);
int cmd_finish(struct args *args);
int cmd_cancel(struct args *args);
int cmd_resume(struct args *args);
int cmd_wait(struct args *args);
int cmd_list(struct args *args);
int cmd_show(struct args *args);
int cmd_stats(struct args *args);
int cmd_devices(struct args *args);
int cmd_set(struct args *args);
int cmd_receive(struct args *args);
int cmd_send(struct args *args);

/* diag.c */
int fail(int code, const char *what, const char *fmt, ...) __printf(3, 4);
const char *last_failure(void);
int usage_error(const char *what, const char *fmt, ...) __printf(2, 3);
int fail_memory(void);

/* main.c */
int option_word(const char *word, struct args *args);
int command_help(const char *name);

#endif /* _RDMAMIGCTL_H */
