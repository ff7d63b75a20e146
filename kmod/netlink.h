/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RDMAMIG_NETLINK_H
#define RDMAMIG_NETLINK_H

#include <linux/socket.h>

struct genl_family;
struct genl_info;
struct netlink_callback;
struct netlink_ext_ack;
struct nlattr;
struct rdmamig_session;
struct sk_buff;

extern struct genl_family rdmamig_family;

int rdmamig_netlink_init(void);
void rdmamig_netlink_exit(void);
struct rdmamig_session *rdmamig_netlink_find(struct nlattr **attrs, int attr,
					     struct netlink_ext_ack *extack);

/* netlink_show.c */
void rdmamig_netlink_notify(struct rdmamig_session *s);
void rdmamig_netlink_mute(void);
int rdmamig_netlink_put_addr(struct sk_buff *skb, int attr,
			     const struct sockaddr_storage *addr);
int rdmamig_netlink_session_get(struct sk_buff *skb, struct genl_info *info);
int rdmamig_netlink_session_dump(struct sk_buff *skb,
				 struct netlink_callback *cb);
int rdmamig_netlink_block_dump(struct sk_buff *skb,
			       struct netlink_callback *cb);
int rdmamig_netlink_stats_get(struct sk_buff *skb, struct genl_info *info);
int rdmamig_netlink_stats_dump(struct sk_buff *skb,
			       struct netlink_callback *cb);
int rdmamig_netlink_device_dump(struct sk_buff *skb,
				struct netlink_callback *cb);
int rdmamig_netlink_window_dump(struct sk_buff *skb,
				struct netlink_callback *cb);

#endif /* RDMAMIG_NETLINK_H */
