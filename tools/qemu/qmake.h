/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Makes migration streams such as a QEMU would send, without any device in
 * them, for tests that need a peer.
 */
#ifndef QMAKE_H
#define QMAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "qstream.h"

struct qmake_plan {
	const char *machine;		/* NULL: no configuration section */
	const struct qstream_block *block;
	uint32_t count;
	uint32_t section;		/* id of the RAM section */
	enum qstream_layout layout;
	uint32_t parts;			/* PART windows */
	uint32_t devices;		/* FULL sections behind RAM */
	uint32_t device_bytes;		/* opaque bytes in each */
	bool footers;
	uint32_t description;		/* bytes of JSON, about; 0: none */
};

struct qmake_window {
	size_t offset;			/* where its HOOK ends */
	enum qstream_window kind;
};

struct qmake_stream {
	uint8_t *data;
	size_t len;
	struct qmake_window *window;
	uint32_t windows;		/* plan.parts + 2 */
};

/* 0, or -1 when memory is short; then @stream is empty. */
int qmake_stream(const struct qmake_plan *plan, struct qmake_stream *stream);
void qmake_free(struct qmake_stream *stream);

#endif /* QMAKE_H */
