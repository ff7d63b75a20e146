// SPDX-License-Identifier: GPL-2.0
/*
 * rdmamigctl: drives the rdmamig kernel module.
 *
 * The verb comes first, in full; options may stand before it or wherever a
 * keyword may stand.  Help goes to stdout and needs no module.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "args.h"
#include "knobs.h"
#include "rdmamigctl.h"

#ifndef RDMAMIG_VERSION
#define RDMAMIG_VERSION "unknown"
#endif

struct options opt;

#define VM	"vm VM"
#define KNOBS	"[TUNABLES]"

static const struct command commands[] = {
	{ "listen", cmd_listen, "ADDR " VM " " KNOBS " [wait]",
	  "wait for a source; prints the session's ID" },
	{ "start", cmd_start, "ADDR " VM " " KNOBS " [wait]",
	  "move memory to a target; prints the session's ID" },
	{ "finish", cmd_finish, "ID",
	  "the VM stands still: send the rest and end" },
	{ "cancel", cmd_cancel, "ID",
	  "cancel a session and wait until it is over" },
	{ "resume", cmd_resume, "ID",
	  "end an unknown session: the target has not got it" },
	{ "wait", cmd_wait, "ID [state S] [timeout SEC]",
	  "wait for the end, or for a state" },
	{ "list", cmd_list, "",
	  "all sessions" },
	{ "show", cmd_show, "ID",
	  "one session and its blocks" },
	{ "stats", cmd_stats, "[ID] [watch [SEC]]",
	  "counters" },
	{ "devices", cmd_devices, "",
	  "RDMA devices, and what may be pinned" },
	{ "set", cmd_set, "ID TUNABLES",
	  "tune a session that lives" },
	{ "receive", cmd_receive, "ADDR dir DIR " KNOBS,
	  "accept a migration, a stock QEMU's too, into DIR" },
	{ "send", cmd_send, "ADDR dir DIR " KNOBS,
	  "send what DIR holds, to a stock QEMU too" },
};

static const struct command *find_command(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	return NULL;
}

static void print_tunables(unsigned int which)
{
	size_t i;

	fputs("\nTUNABLES:", stdout);
	for (i = 0; i < KNOB_COUNT; i++)
		if (knob_table[i].commands & which)
			printf(" [%s %s]", knob_table[i].name, knob_table[i].value);
	if (which & (FOR_LISTEN | FOR_RECEIVE))
		fputs(" [from ADDR[/LEN]]", stdout);
	putchar('\n');
}

static void print_help(void)
{
	size_t i;

	puts("usage: rdmamigctl [OPTIONS] COMMAND ...\n");
	for (i = 0; i < ARRAY_SIZE(commands); i++)
		printf("  %-9s%-34s %s\n", commands[i].name, commands[i].synopsis,
		       commands[i].help);
	puts("  help     [COMMAND]                          this text, or more on a command\n"
	     "\n"
	     "ADDR      IPv4:PORT, [IPv6%DEV]:PORT or NAME:PORT\n"
	     "VM        pid PID block NAME ADDRESS+LENGTH [block ...], or\n"
	     "          file PATH [name NAME] [file ...]  (stays until the end, as with wait)\n"
	     "SIZE      bytes, with K, M, G or T for powers of 1024\n"
	     "\n"
	     "  -j, --json         print JSON: the stable output\n"
	     "  -d, --details      print exact numbers and more of them\n"
	     "  -t, --timestamp    print the time too\n"
	     "  -q, --quiet        no progress bar, no last line\n"
	     "      --color WHEN   auto, always or never\n"
	     "  -V, --version      print the version\n"
	     "  -h, --help         print this text");
	print_tunables(~0U);
}

/**
 * command_help() - print the help of a command
 * @name: it
 *
 * Return: exit code.
 */
int command_help(const char *name)
{
	static const struct {
		const char *name;
		unsigned int which;
	} tunable[] = {
		{ "listen", FOR_LISTEN }, { "start", FOR_START },
		{ "receive", FOR_RECEIVE }, { "send", FOR_SEND }, { "set", FOR_SET },
	};
	const struct command *command = find_command(name);
	size_t i;

	if (!command)
		return usage_error(name, "no such command");
	printf("usage: rdmamigctl %s%s%s\n\n%s\n", command->name,
	       *command->synopsis ? " " : "", command->synopsis, command->help);
	for (i = 0; i < ARRAY_SIZE(tunable); i++)
		if (!strcmp(tunable[i].name, name))
			print_tunables(tunable[i].which);
	return 0;
}

static int set_color(const char *when)
{
	if (!when)
		return usage_error("--color", "needs auto, always or never");
	if (!strcmp(when, "always"))
		opt.color = true;
	else if (!strcmp(when, "never"))
		opt.color = false;
	else if (!strcmp(when, "auto"))
		opt.color = isatty(STDOUT_FILENO) && !getenv("NO_COLOR");
	else
		return usage_error(when, "not understood: --color auto|always|never");
	return 0;
}

/* Exits for those that end the run: help and version. */
static int letter(char c, const char *word)
{
	switch (c) {
	case 'j':
		opt.json = true;
		return 0;
	case 'd':
		opt.details = true;
		return 0;
	case 't':
		opt.timestamp = true;
		return 0;
	case 'q':
		opt.quiet = true;
		return 0;
	case 'V':
		puts("rdmamigctl " RDMAMIG_VERSION);
		exit(EXIT_DONE);
	case 'h':
		if (opt.command)
			exit(command_help(opt.command));
		print_help();
		exit(EXIT_DONE);
	default:
		return usage_error(word, "no such option");
	}
}

/**
 * option_word() - obey an option
 * @word: it, already taken
 * @args: the rest of the command line, for an option's value
 *
 * Return: 0 or EXIT_USAGE.
 */
int option_word(const char *word, struct args *args)
{
	static const struct {
		const char *name;
		char letter;
	} names[] = {
		{ "--json", 'j' }, { "--details", 'd' }, { "--timestamp", 't' },
		{ "--quiet", 'q' }, { "--version", 'V' }, { "--help", 'h' },
	};
	const char *c;
	size_t i;
	int ret;

	if (!strcmp(word, "--color"))
		return set_color(args_next(args));
	if (!strncmp(word, "--color=", 8))
		return set_color(word + 8);
	if (word[1] == '-') {
		for (i = 0; i < ARRAY_SIZE(names); i++)
			if (!strcmp(names[i].name, word))
				return letter(names[i].letter, word);
		return usage_error(word, "no such option");
	}
	for (c = word + 1; *c; c++) {
		ret = letter(*c, word);
		if (ret)
			return ret;
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct args args = { .argc = argc, .argv = argv, .pos = 1 };
	const struct command *command;
	const char *verb;
	int ret;

	set_color("auto");
	ret = args_options(&args);
	if (ret)
		return ret;
	verb = args_next(&args);
	if (!verb)
		return usage_error("COMMAND", "missing: 'rdmamigctl help' lists them");
	if (!strcmp(verb, "help")) {
		verb = args_next(&args);
		if (verb)
			return command_help(verb);
		print_help();
		return EXIT_DONE;
	}
	command = find_command(verb);
	if (!command)
		return usage_error(verb, "no such command: 'rdmamigctl help' lists them");
	opt.command = command->name;
	return command->run(&args);
}
