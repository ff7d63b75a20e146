// SPDX-License-Identifier: GPL-2.0
/*
 * Words of the command line, and numbers in them.
 *
 * A word that stands where a keyword may stand and begins with '-' is an
 * option; a word behind a keyword is its value, whatever it looks like.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "args.h"

/**
 * args_peek() - look at the next word
 * @args: the command line
 *
 * Return: the word, NULL at the end.
 */
const char *args_peek(struct args *args)
{
	return args->pos < args->argc ? args->argv[args->pos] : NULL;
}

/**
 * args_next() - take the next word
 * @args: the command line
 *
 * Return: the word, NULL at the end.
 */
const char *args_next(struct args *args)
{
	return args->pos < args->argc ? args->argv[args->pos++] : NULL;
}

/**
 * args_value() - take the value behind a keyword
 * @args: the command line
 * @keyword: for the message
 * @value: where to put it
 *
 * Return: 0 or EXIT_USAGE.
 */
int args_value(struct args *args, const char *keyword, const char **value)
{
	*value = args_next(args);
	if (!*value)
		return usage_error(keyword, "needs a value");
	return 0;
}

/**
 * args_options() - take the options that stand here
 * @args: the command line
 *
 * Return: 0 or EXIT_USAGE.
 */
int args_options(struct args *args)
{
	const char *word;

	while ((word = args_peek(args)) && word[0] == '-' && word[1]) {
		int ret;

		args->pos++;
		ret = option_word(word, args);
		if (ret)
			return ret;
	}
	return 0;
}

/**
 * args_end() - nothing but options may follow
 * @args: the command line
 *
 * Return: 0 or EXIT_USAGE.
 */
int args_end(struct args *args)
{
	int ret = args_options(args);

	if (ret)
		return ret;
	if (args_peek(args))
		return usage_error(args_peek(args), "not understood here");
	return 0;
}

/**
 * parse_u64() - read a number, decimal or 0x hexadecimal
 * @text: the word
 * @value: where to put it
 *
 * Return: 0, -EINVAL, -ERANGE.
 */
int parse_u64(const char *text, uint64_t *value)
{
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return -EINVAL;
	errno = 0;
	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
		if (!isxdigit((unsigned char)text[2]))
			return -EINVAL;
		*value = strtoull(text + 2, &end, 16);
	} else {
		*value = strtoull(text, &end, 10);
	}
	if (*end)
		return -EINVAL;
	return errno ? -ERANGE : 0;
}

/* The shift of a binary suffix: K, M, G, T, with "iB" or without; -1: none. */
static int suffix_shift(const char *suffix)
{
	static const char letters[] = "KMGT";
	const char *at;

	if (!*suffix)
		return 0;
	at = strchr(letters, toupper((unsigned char)*suffix));
	if (!at)
		return -1;
	if (suffix[1] && strcasecmp(suffix + 1, "iB"))
		return -1;
	return 10 * (int)(at - letters + 1);
}

/**
 * parse_size() - read a number of bytes
 * @text: number with an optional binary suffix
 * @value: where to put it
 *
 * Return: 0, -EINVAL, -ERANGE.
 */
int parse_size(const char *text, uint64_t *value)
{
	char number[32];
	size_t digits;
	int shift;
	int ret;

	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
		return parse_u64(text, value);

	digits = strspn(text, "0123456789");
	if (!digits || digits >= sizeof(number))
		return -EINVAL;
	memcpy(number, text, digits);
	number[digits] = '\0';

	shift = suffix_shift(text + digits);
	if (shift < 0)
		return -EINVAL;
	ret = parse_u64(number, value);
	if (ret)
		return ret;
	if (shift && *value >> (64 - shift))
		return -ERANGE;
	*value <<= shift;
	return 0;
}

/**
 * parse_rate() - read bytes a second
 * @text: a size, with an optional "/s"; "off" is 0
 * @value: where to put it
 *
 * Return: 0, -EINVAL, -ERANGE.
 */
int parse_rate(const char *text, uint64_t *value)
{
	size_t len = strlen(text);
	char word[32];

	if (!strcmp(text, "off")) {
		*value = 0;
		return 0;
	}
	if (len >= sizeof(word))
		return -EINVAL;
	memcpy(word, text, len + 1);
	if (len > 2 && !strcmp(word + len - 2, "/s"))
		word[len - 2] = '\0';
	return parse_size(word, value);
}

/**
 * parse_seconds() - read seconds, with up to three decimals
 * @text: the word
 * @ms: milliseconds
 *
 * Return: 0, -EINVAL, -ERANGE.
 */
int parse_seconds(const char *text, uint64_t *ms)
{
	size_t digits = strspn(text, "0123456789");
	uint64_t unit = 100;
	char number[32];
	const char *p;
	int ret;

	if (!digits || digits >= sizeof(number))
		return -EINVAL;
	memcpy(number, text, digits);
	number[digits] = '\0';
	ret = parse_u64(number, ms);
	if (ret)
		return ret;
	if (*ms > UINT32_MAX / 1000)
		return -ERANGE;
	*ms *= 1000;

	p = text + digits;
	if (!*p)
		return 0;
	if (*p++ != '.' || !*p)
		return -EINVAL;
	for (; *p; p++, unit /= 10) {
		if (!isdigit((unsigned char)*p) || !unit)
			return -EINVAL;
		*ms += unit * (uint64_t)(*p - '0');
	}
	return 0;
}

/**
 * parse_id() - take the number of a session
 * @args: the command line
 * @id: where to put it
 *
 * Return: 0 or EXIT_USAGE.
 */
int parse_id(struct args *args, uint32_t *id)
{
	const char *word;
	uint64_t value;
	int ret;

	ret = args_options(args);
	if (ret)
		return ret;
	word = args_next(args);
	if (!word)
		return usage_error("ID", "missing: the number that 'rdmamigctl list' shows");
	if (parse_u64(word, &value) || value > UINT32_MAX)
		return usage_error(word, "not a session number");
	*id = (uint32_t)value;
	return 0;
}

/**
 * parse_range() - read ADDRESS+LENGTH
 * @text: the word
 * @address: where the range begins
 * @length: its bytes
 *
 * Return: 0, -EINVAL, -ERANGE.
 */
int parse_range(const char *text, uint64_t *address, uint64_t *length)
{
	const char *plus = strchr(text, '+');
	char word[32];
	int ret;

	if (!plus || (size_t)(plus - text) >= sizeof(word))
		return -EINVAL;
	memcpy(word, text, plus - text);
	word[plus - text] = '\0';

	ret = parse_u64(word, address);
	if (ret)
		return ret;
	ret = parse_size(plus + 1, length);
	if (ret)
		return ret;
	if (!*length)
		return -EINVAL;
	if (*address + (*length - 1) < *address)
		return -ERANGE;
	return 0;
}
