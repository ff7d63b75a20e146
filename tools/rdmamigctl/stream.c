// SPDX-License-Identifier: GPL-2.0
/*
 * The byte stream beside the RAM.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stream.h"

#define READ_BYTES	1048576UL

/**
 * stream_open() - get the descriptor of a session's stream
 * @conn: the socket
 * @id: the session
 * @fd: where to put it
 *
 * Return: 0 or an exit code.
 */
int stream_open(struct conn *conn, uint32_t id, int *fd)
{
	struct nlattr *tb[RDMAMIG_A_SESSION_MAX + 1];
	struct records reply = { 0 };
	uint64_t value;
	int ret;

	ret = conn_get(conn, RDMAMIG_CMD_STREAM_OPEN, RDMAMIG_A_SESSION_ID, id, &reply);
	if (ret) {
		records_free(&reply);
		return conn_fail_id(conn, ret, id);
	}
	memset(tb, 0, sizeof(tb));
	if (reply.n)
		record_parse(&reply.v[0], RDMAMIG_A_SESSION_MAX, tb);
	ret = 0;
	if (attr_u64(tb[RDMAMIG_A_SESSION_STREAM_FD], &value))
		*fd = (int)value;
	else
		ret = fail(EXIT_FAILED, "stream", "the kernel's answer has no descriptor");
	records_free(&reply);
	return ret;
}

static int grow(struct stream *stream)
{
	size_t room = stream->room ? 2 * stream->room : 4 * READ_BYTES;
	char *data;

	if (stream->room - stream->len >= READ_BYTES)
		return 0;
	data = realloc(stream->data, room);
	if (!data)
		return fail_memory();
	stream->data = data;
	stream->room = room;
	return 0;
}

/**
 * stream_read() - read all that is there now
 * @stream: it
 *
 * Return: 0; -EIO: the session has failed, its state says why; or an exit
 * code, reported.
 */
int stream_read(struct stream *stream)
{
	struct pollfd poll_fd = { .fd = stream->fd, .events = POLLIN };
	ssize_t n;
	int ret;

	while (!stream->ended) {
		ret = poll(&poll_fd, 1, 0);
		if (ret < 0 && errno != EINTR)
			return fail(EXIT_FAILED, "stream", "%s", strerror(errno));
		if (ret <= 0)
			return 0;
		ret = grow(stream);
		if (ret)
			return ret;
		n = read(stream->fd, stream->data + stream->len, READ_BYTES);
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n < 0)
			return -EIO;
		stream->ended = !n;
		stream->len += (size_t)n;
		if (stream->len > stream->most)
			return fail(EXIT_FAILED, "max-memory",
				    "the stream alone has more than %" PRIu64 " bytes",
				    stream->most);
	}
	return 0;
}

/**
 * stream_close() - let go of a stream
 * @stream: it
 */
void stream_close(struct stream *stream)
{
	if (stream->fd >= 0)
		close(stream->fd);
	free(stream->data);
	memset(stream, 0, sizeof(*stream));
	stream->fd = -1;
}
