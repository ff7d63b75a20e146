// SPDX-License-Identifier: GPL-2.0
/*
 * Streams for tests: complete, in the order in which QEMU writes them, and of
 * the sizes asked for; the state of their devices is noise.
 */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "qmake.h"

struct writer {
	struct qmake_stream *stream;
	size_t room;
	bool failed;
};

static void put(struct writer *w, const void *data, size_t len)
{
	struct qmake_stream *s = w->stream;
	size_t room = w->room;
	uint8_t *grown;

	if (w->failed)
		return;
	if (len > room - s->len) {
		room = 2 * (s->len + len);
		grown = realloc(s->data, room);
		if (!grown) {
			w->failed = true;
			return;
		}
		s->data = grown;
		w->room = room;
	}
	if (len)
		memcpy(s->data + s->len, data, len);
	s->len += len;
}

static void put8(struct writer *w, uint8_t v)
{
	put(w, &v, sizeof(v));
}

static void put32(struct writer *w, uint32_t v)
{
	v = htobe32(v);
	put(w, &v, sizeof(v));
}

static void put64(struct writer *w, uint64_t v)
{
	v = htobe64(v);
	put(w, &v, sizeof(v));
}

static void put_name(struct writer *w, const char *name)
{
	put8(w, strlen(name));
	put(w, name, strlen(name));
}

static void put_footer(struct writer *w, const struct qmake_plan *plan,
		       uint32_t section)
{
	if (!plan->footers)
		return;
	put8(w, 0x7e);
	put32(w, section);
}

/* HOOK, a window, end of the payload, footer. */
static void put_window(struct writer *w, const struct qmake_plan *plan,
		       enum qstream_window kind)
{
	struct qmake_stream *s = w->stream;

	put64(w, 0x80);
	if (!w->failed) {
		s->window[s->windows].offset = s->len;
		s->window[s->windows].kind = kind;
		s->windows++;
	}
	put64(w, 0x10);
	put_footer(w, plan, plan->section);
}

static void put_start(struct writer *w, const struct qmake_plan *plan)
{
	uint64_t total = 0;
	uint32_t i;

	put8(w, 0x01);
	put32(w, plan->section);
	put_name(w, "ram");
	put32(w, 0);
	put32(w, 4);
	for (i = 0; i < plan->count; i++)
		total += plan->block[i].length;
	put64(w, total | 0x04);
	for (i = 0; i < plan->count; i++) {
		put_name(w, plan->block[i].name);
		put64(w, plan->block[i].length);
		if (plan->layout != QSTREAM_PLAIN)
			put64(w, 0x200000);
		if (plan->layout == QSTREAM_TWO_EXTRA)
			put64(w, 0x100000000ull + i);
	}
	put_window(w, plan, QSTREAM_WINDOW_SETUP);
}

static void put_device(struct writer *w, const struct qmake_plan *plan,
		       uint32_t i)
{
	static const char name[] = "0000:00:03.0/test-device";
	uint32_t section = plan->section + 1 + i, j, x = i + 1;

	put8(w, 0x04);
	put32(w, section);
	put_name(w, name);
	put32(w, i);
	put32(w, 1);
	for (j = 0; j < plan->device_bytes; j++) {
		x = x * 1664525 + 1013904223;
		put8(w, x >> 24);
	}
	put_footer(w, plan, section);
}

static void put_description(struct writer *w, uint32_t bytes)
{
	static const char head[] = "{\"page_size\": 4096, \"devices\": [";
	static const char item[] = "{\"name\": \"test\", \"fields\": []}, ";
	static const char tail[] = "{}]}";
	uint32_t items = bytes / (sizeof(item) - 1), i;

	put8(w, 0x06);
	put32(w, sizeof(head) - 1 + items * (sizeof(item) - 1) +
		 sizeof(tail) - 1);
	put(w, head, sizeof(head) - 1);
	for (i = 0; i < items; i++)
		put(w, item, sizeof(item) - 1);
	put(w, tail, sizeof(tail) - 1);
}

/**
 * qmake_stream() - make a whole stream
 * @plan: what shall be in it
 * @stream: the stream and its windows; to be given to qmake_free()
 *
 * Return: 0, or -1 when memory is short.
 */
int qmake_stream(const struct qmake_plan *plan, struct qmake_stream *stream)
{
	struct writer w = { .stream = stream };
	uint32_t i;

	memset(stream, 0, sizeof(*stream));
	stream->window = calloc((size_t)plan->parts + 2,
				sizeof(*stream->window));
	if (!stream->window)
		return -1;

	put32(&w, 0x5145564d);
	put32(&w, 3);
	if (plan->machine) {
		put8(&w, 0x07);
		put32(&w, strlen(plan->machine));
		put(&w, plan->machine, strlen(plan->machine));
	}
	put_start(&w, plan);
	for (i = 0; i <= plan->parts; i++) {
		put8(&w, i < plan->parts ? 0x02 : 0x03);
		put32(&w, plan->section);
		put_window(&w, plan, i < plan->parts ? QSTREAM_WINDOW_PART :
			   QSTREAM_WINDOW_END);
	}
	for (i = 0; i < plan->devices; i++)
		put_device(&w, plan, i);
	put8(&w, 0x00);
	if (plan->description)
		put_description(&w, plan->description);

	if (!w.failed)
		return 0;
	qmake_free(stream);
	return -1;
}

/**
 * qmake_free() - give back what qmake_stream() made
 * @stream: empty afterwards
 */
void qmake_free(struct qmake_stream *stream)
{
	free(stream->data);
	free(stream->window);
	memset(stream, 0, sizeof(*stream));
}
