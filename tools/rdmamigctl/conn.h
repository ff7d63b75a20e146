/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _RDMAMIGCTL_CONN_H
#define _RDMAMIGCTL_CONN_H

#include <netlink/attr.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>

#include <linux/rdmamig.h>

#include "rdmamigctl.h"

/**
 * struct conn - a socket to the module
 * @sock: the socket
 * @family: id of the generic netlink family
 * @text: the kernel's words about the last failed request, or ""
 * @attr: name of the attribute that they are about, or ""
 */
struct conn {
	struct nl_sock *sock;
	int family;
	char text[512];
	char attr[48];
};

/* Attributes of one object, copied out of a message. */
struct record {
	struct nlattr *attrs;
	int len;
};

struct records {
	struct record *v;
	size_t n;
};

int conn_open(struct conn *conn);
int conn_open_events(struct conn *conn);
void conn_close(struct conn *conn);
int conn_drain(struct conn *conn);

struct nl_msg *conn_request(struct conn *conn, int cmd, size_t room);
int conn_do(struct conn *conn, struct nl_msg *msg, struct records *reply);
int conn_dump(struct conn *conn, struct nl_msg *msg, struct records *reply);
int conn_cancel(struct conn *conn, uint32_t id, const char *why);
int conn_simple(struct conn *conn, int cmd, uint32_t id);
int conn_get(struct conn *conn, int cmd, int id_attr, uint32_t id,
	     struct records *reply);

void records_free(struct records *records);
void record_parse(const struct record *record, int max, struct nlattr **tb);
bool attr_u64(struct nlattr *attr, uint64_t *value);

int conn_fail(struct conn *conn, int err, const char *what);
int conn_fail_id(struct conn *conn, int err, uint32_t id);

#endif /* _RDMAMIGCTL_CONN_H */
