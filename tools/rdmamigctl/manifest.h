/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _RDMAMIGCTL_MANIFEST_H
#define _RDMAMIGCTL_MANIFEST_H

#include "addr.h"
#include "qstream.h"
#include "rdmamigctl.h"

#define MANIFEST_NAME	"manifest.json"
#define STREAM_NAME	"stream"
#define FILE_NAME_MAX	255

struct manifest_block {
	char name[QSTREAM_NAME_MAX + 1];
	char file[FILE_NAME_MAX + 1];
	uint64_t length;
	uint64_t resident;	/* bytes of pages that are not all zero */
};

struct manifest_window {
	uint64_t offset;	/* stream bytes before it */
	enum qstream_window kind;
};

/**
 * struct manifest - what a received directory holds
 * @peer: address it came from, "" if not known
 * @peer_rdmamig: from an rdmamig
 * @blocks: RAM blocks in the source's order
 * @block_count: how many
 * @windows: windows of the stream
 * @window_count: how many
 * @stream_file: name of the file that holds the stream
 * @stream_length: its bytes
 */
struct manifest {
	char peer[ADDR_TEXT];
	bool peer_rdmamig;
	struct manifest_block *blocks;
	size_t block_count;
	struct manifest_window *windows;
	size_t window_count;
	char stream_file[FILE_NAME_MAX + 1];
	uint64_t stream_length;
};

int manifest_write(int dirfd, const char *dir, const struct manifest *manifest);
int manifest_read(int dirfd, const char *dir, struct manifest *manifest);
void manifest_free(struct manifest *manifest);
bool utf8_ok(const char *text);

#endif /* _RDMAMIGCTL_MANIFEST_H */
