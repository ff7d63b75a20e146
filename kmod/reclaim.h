/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RDMAMIG_RECLAIM_H
#define RDMAMIG_RECLAIM_H

#include <linux/list.h>
#include <linux/types.h>

struct rdmamig_session;

bool rdmamig_reclaim_has_room(const struct rdmamig_session *s, u64 bytes);
u32 rdmamig_reclaim_pick(struct rdmamig_session *s, u32 max,
			 struct list_head *victims);
int rdmamig_reclaim_target(struct rdmamig_session *s,
			   struct list_head *chunks);
void rdmamig_reclaim_all(struct rdmamig_session *s);

#endif /* RDMAMIG_RECLAIM_H */
