/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RDMAMIG_CTRL_H
#define RDMAMIG_CTRL_H

#include "conn.h"

void rdmamig_ctrl_init(struct rdmamig_conn *conn);
int rdmamig_ctrl_post_rx(struct rdmamig_buf *buf);
bool rdmamig_ctrl_pending(struct rdmamig_conn *conn);
struct rdmamig_buf *rdmamig_ctrl_next(struct rdmamig_session *s,
				      struct rdmamig_conn *conn,
				      struct rdmamig_codec_msg *msg);
bool rdmamig_ctrl_find_error(struct rdmamig_session *s,
			     struct rdmamig_conn *conn);
int rdmamig_ctrl_release(struct rdmamig_session *s, struct rdmamig_buf *buf);
struct rdmamig_buf *rdmamig_ctrl_buf(struct rdmamig_session *s,
				     struct rdmamig_conn *conn);
int rdmamig_ctrl_send(struct rdmamig_session *s, struct rdmamig_buf *buf,
		      u32 type, u32 repeat, u32 len);
int rdmamig_ctrl_send_behind(struct rdmamig_session *s, struct rdmamig_buf *buf,
			     u32 type, u32 repeat, u32 len,
			     struct ib_send_wr *first, struct ib_send_wr *last,
			     u32 slots);
int rdmamig_ctrl_ready(struct rdmamig_session *s, struct rdmamig_conn *conn);
int rdmamig_ctrl_flush(struct rdmamig_session *s, struct rdmamig_conn *conn);
void rdmamig_ctrl_error(struct rdmamig_session *s, const char *text);
int rdmamig_ctrl_protocol(struct rdmamig_session *s, const char *why);
int rdmamig_ctrl_unexpected(struct rdmamig_session *s,
			    const struct rdmamig_codec_msg *msg,
			    const char *when);

/* Where the payload of a message to be sent begins. */
static inline void *rdmamig_ctrl_payload(const struct rdmamig_buf *buf)
{
	return buf->va + sizeof(struct rdmamig_wire_header);
}

#endif /* RDMAMIG_CTRL_H */
