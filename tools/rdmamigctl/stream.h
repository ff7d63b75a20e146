/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _RDMAMIGCTL_STREAM_H
#define _RDMAMIGCTL_STREAM_H

#include "conn.h"
#include "rdmamigctl.h"

/**
 * struct stream - the byte stream of a target, as read so far
 * @fd: descriptor from the kernel, -1: none
 * @data: its bytes
 * @len: how many
 * @room: allocated
 * @most: no more than this many
 * @ended: nothing more will come
 */
struct stream {
	int fd;
	char *data;
	size_t len;
	size_t room;
	uint64_t most;
	bool ended;
};

int stream_open(struct conn *conn, uint32_t id, int *fd);
int stream_read(struct stream *stream);
void stream_close(struct stream *stream);

#endif /* _RDMAMIGCTL_STREAM_H */
