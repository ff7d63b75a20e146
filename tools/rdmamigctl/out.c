// SPDX-License-Identifier: GPL-2.0
/*
 * Output: the same call prints text for people or JSON for programs.
 *
 * JSON: one document a line, "format-version": 1, every key always there,
 * null where the value is not known, bytes and nanoseconds.
 * Text: units a person reads, exact numbers with --details, and nothing of
 * what is not known.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <json-c/json.h>

#include "addr.h"
#include "out.h"

#define VALUE_TEXT	320

/**
 * human_bytes() - write bytes with a binary unit
 * @bytes: them
 * @text: where to
 *
 * Return: @text.
 */
const char *human_bytes(uint64_t bytes, char text[HUMAN_TEXT])
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	double value = (double)bytes;
	size_t i = 0;

	while (value >= 1024 && i + 1 < ARRAY_SIZE(units)) {
		value /= 1024;
		i++;
	}
	snprintf(text, HUMAN_TEXT, i ? "%.1f %s" : "%.0f %s", value, units[i]);
	return text;
}

/**
 * human_ns() - write a time with a unit
 * @ns: nanoseconds
 * @text: where to
 *
 * Return: @text.
 */
const char *human_ns(uint64_t ns, char text[HUMAN_TEXT])
{
	if (ns < 1000000)
		snprintf(text, HUMAN_TEXT, "%.1f us", (double)ns / 1e3);
	else if (ns < 1000000000)
		snprintf(text, HUMAN_TEXT, "%.1f ms", (double)ns / 1e6);
	else
		snprintf(text, HUMAN_TEXT, "%.2f s", (double)ns / 1e9);
	return text;
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* Text that a peer may have chosen: nothing that a terminal obeys. */
static void put_clean(char *to, size_t size, const char *from, size_t len)
{
	size_t i;

	for (i = 0; i < len && from[i] && i + 1 < size; i++)
		to[i] = iscntrl((unsigned char)from[i]) ? '?' : from[i];
	to[i] = '\0';
}

/* A number, as the field's kind writes it. */
static void number_text(enum out_kind kind, uint64_t value, char *text, size_t size)
{
	char human[HUMAN_TEXT];

	switch (kind) {
	case OUT_BYTES:
		human_bytes(value, human);
		if (opt.details && value >= 1024)
			snprintf(text, size, "%" PRIu64 " (%s)", value, human);
		else
			snprintf(text, size, "%s", human);
		break;
	case OUT_RATE:
		if (!value)
			snprintf(text, size, "off");
		else
			snprintf(text, size, "%s/s", human_bytes(value, human));
		break;
	case OUT_NS:
		human_ns(value, human);
		if (opt.details)
			snprintf(text, size, "%" PRIu64 " ns (%s)", value, human);
		else
			snprintf(text, size, "%s", human);
		break;
	case OUT_MS:
		snprintf(text, size, "%" PRIu64 " ms", value);
		break;
	case OUT_BOOL:
	case OUT_FLAG:
		snprintf(text, size, "%s", value ? "yes" : "no");
		break;
	case OUT_HEX:
		snprintf(text, size, "0x%" PRIx64, value);
		break;
	default:
		snprintf(text, size, "%" PRIu64, value);
		break;
	}
}

static json_object *number_json(enum out_kind kind, uint64_t value)
{
	switch (kind) {
	case OUT_BOOL:
	case OUT_FLAG:
		return json_object_new_boolean(value != 0);
	case OUT_MS:
		return json_object_new_uint64(value * 1000000);
	default:
		return json_object_new_uint64(value);
	}
}

/*
 * The value of a field: as text, and as JSON where @json is given.  A flag
 * that is absent is no; any other absent attribute is unknown.
 *
 * Return: false if it is not known.
 */
static bool field_value(const struct out_field *field, struct nlattr *attr,
			char *text, json_object **json)
{
	const char *word = NULL;
	char addr[ADDR_TEXT];
	uint64_t value;

	*text = '\0';
	if (field->kind == OUT_FLAG) {
		value = !!attr;
		goto number;
	}
	if (!attr)
		return false;

	switch (field->kind) {
	case OUT_STRING:
		if ((field->flags & OUT_UNSET) && !*(const char *)nla_data(attr))
			return false;
		put_clean(text, VALUE_TEXT, nla_data(attr), (size_t)nla_len(attr));
		if (json)
			*json = json_object_new_string_len(nla_data(attr),
							   (int)strnlen(nla_data(attr),
									(size_t)nla_len(attr)));
		return true;
	case OUT_ADDR:
	case OUT_HOST:
		if (!addr_text(nla_data(attr), (size_t)nla_len(attr),
			       field->kind == OUT_ADDR, addr))
			return false;
		snprintf(text, VALUE_TEXT, "%s", addr);
		if (json)
			*json = json_object_new_string(addr);
		return true;
	case OUT_WORD:
		if (!attr_u64(attr, &value))
			return false;
		word = name_of(field->names, value);
		if (!word)
			goto number;
		snprintf(text, VALUE_TEXT, "%s", word);
		if (json)
			*json = json_object_new_string(word);
		return true;
	default:
		if (!attr_u64(attr, &value))
			return false;
	}
number:
	if ((field->flags & OUT_UNSET) && !value)
		return false;
	number_text(field->kind, value, text, VALUE_TEXT);
	if (json)
		*json = number_json(field->kind, value);
	return true;
}

static const char *color_of(const struct out_field *field, const char *text)
{
	if (!opt.color || field->names != &state_names)
		return "";
	if (!strcmp(text, "completed") || !strcmp(text, "sent") || !strcmp(text, "running"))
		return "\033[32m";
	if (!strcmp(text, "failed") || !strcmp(text, "unknown"))
		return "\033[31m";
	return "\033[33m";
}

static const char *color_end(const char *color)
{
	return *color ? "\033[0m" : "";
}

/**
 * out_open() - begin a document
 * @out: it
 */
void out_open(struct out *out)
{
	out->doc = NULL;
	if (!opt.json)
		return;
	out->doc = json_object_new_object();
	json_object_object_add(out->doc, "format-version", json_object_new_int(1));
	if (opt.timestamp)
		json_object_object_add(out->doc, "time", json_object_new_uint64(now_ns()));
}

static void print_time(void)
{
	uint64_t now = now_ns();
	time_t seconds = (time_t)(now / 1000000000);
	struct tm tm;
	char text[40];

	if (!opt.timestamp)
		return;
	localtime_r(&seconds, &tm);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
	printf("%s.%03u ", text, (unsigned int)(now / 1000000 % 1000));
}

static json_object *record_json(const struct out_table *table,
				const struct record *record)
{
	struct nlattr *tb[table->max + 1];
	json_object *json = json_object_new_object();
	char text[VALUE_TEXT];
	size_t i;

	record_parse(record, table->max, tb);
	for (i = 0; i < table->count; i++) {
		const struct out_field *field = &table->fields[i];
		json_object *value = NULL;

		field_value(field, tb[field->attr], text, &value);
		json_object_object_add(json, field->key, value);
	}
	return json;
}

/**
 * out_one() - print one object
 * @out: the document
 * @key: of the document
 * @table: how
 * @record: its attributes
 */
void out_one(struct out *out, const char *key, const struct out_table *table,
	     const struct record *record)
{
	struct nlattr *tb[table->max + 1];
	char text[VALUE_TEXT];
	size_t i;

	if (out->doc) {
		json_object_object_add(out->doc, key, record_json(table, record));
		return;
	}
	record_parse(record, table->max, tb);
	for (i = 0; i < table->count; i++) {
		const struct out_field *field = &table->fields[i];
		const char *color;

		if ((field->flags & OUT_DETAIL) && !opt.details)
			continue;
		if (!field_value(field, tb[field->attr], text, NULL))
			continue;
		color = color_of(field, text);
		print_time();
		printf("%-18s %s%s%s\n", field->key, color, text, color_end(color));
	}
}

/* One line of a table; record NULL: the heading. */
static void print_row(const struct out_table *table, const struct record *record,
		      const size_t *width, size_t last)
{
	struct nlattr *tb[table->max + 1];
	char text[VALUE_TEXT];
	size_t i;

	if (record)
		record_parse(record, table->max, tb);
	print_time();
	for (i = 0; i < table->count; i++) {
		const struct out_field *field = &table->fields[i];
		const char *color = "";
		const char *cell = text;

		if (!width[i])
			continue;
		if (!record)
			cell = field->key;
		else if (!field_value(field, tb[field->attr], text, NULL))
			cell = "-";
		else
			color = color_of(field, text);
		if (field->flags & OUT_RIGHT)
			printf("%*s", (int)width[i], cell);
		else
			printf("%s%-*s%s", color, i == last ? 0 : (int)width[i], cell,
			       color_end(color));
		fputs(i == last ? "\n" : "  ", stdout);
	}
}

/* A column that no row has a value for is left out. */
static void print_table(const struct out_table *table, const struct records *records,
			bool heading)
{
	struct nlattr *tb[table->max + 1];
	size_t width[table->count];
	char text[VALUE_TEXT];
	size_t last = 0;
	size_t i, r;

	memset(width, 0, sizeof(width));
	for (r = 0; r < records->n; r++) {
		record_parse(&records->v[r], table->max, tb);
		for (i = 0; i < table->count; i++) {
			const struct out_field *field = &table->fields[i];
			size_t len;

			if (!(field->flags & OUT_COLUMN) ||
			    !field_value(field, tb[field->attr], text, NULL))
				continue;
			len = strlen(text);
			if (len < strlen(field->key))
				len = strlen(field->key);
			if (len > width[i])
				width[i] = len;
		}
	}
	for (i = 0; i < table->count; i++)
		if (width[i])
			last = i;

	if (heading)
		print_row(table, NULL, width, last);
	for (r = 0; r < records->n; r++)
		print_row(table, &records->v[r], width, last);
}

/**
 * out_list() - print objects
 * @out: the document
 * @key: of the document
 * @table: how
 * @records: their attributes
 * @heading: text: with a line of column names
 */
void out_list(struct out *out, const char *key, const struct out_table *table,
	      const struct records *records, bool heading)
{
	json_object *list;
	size_t i;

	if (!out->doc) {
		if (records->n)
			print_table(table, records, heading);
		return;
	}
	list = json_object_new_array();
	for (i = 0; i < records->n; i++)
		json_object_array_add(list, record_json(table, &records->v[i]));
	json_object_object_add(out->doc, key, list);
}

/**
 * out_value() - print one number
 * @out: the document
 * @key: its name
 * @kind: how
 * @value: it; NULL: not known
 */
void out_value(struct out *out, const char *key, enum out_kind kind,
	       const uint64_t *value)
{
	char text[VALUE_TEXT];

	if (out->doc) {
		json_object_object_add(out->doc, key,
				       value ? number_json(kind, *value) : NULL);
		return;
	}
	if (!value)
		return;
	number_text(kind, *value, text, sizeof(text));
	printf("%-18s %s\n", key, text);
}

/**
 * out_close() - end a document
 * @out: it
 *
 * Return: 0, or EXIT_FAILED if it could not be written.
 */
int out_close(struct out *out)
{
	if (out->doc) {
		puts(json_object_to_json_string_ext(out->doc,
						    JSON_C_TO_STRING_PLAIN |
						    JSON_C_TO_STRING_NOSLASHESCAPE));
		json_object_put(out->doc);
		out->doc = NULL;
	}
	if (fflush(stdout) || ferror(stdout))
		return fail(EXIT_FAILED, "output", "cannot be written");
	return 0;
}
