/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RDMAMIG_NETLINK_H
#define RDMAMIG_NETLINK_H

struct rdmamig_session;

void rdmamig_netlink_notify(struct rdmamig_session *s);
int rdmamig_netlink_init(void);
void rdmamig_netlink_exit(void);

#endif /* RDMAMIG_NETLINK_H */
