/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RDMAMIG_REFUSE_H
#define RDMAMIG_REFUSE_H

#include <linux/compiler_attributes.h>

struct netlink_ext_ack;

__printf(3, 4)
int rdmamig_refuse(struct netlink_ext_ack *extack, int err,
		   const char *fmt, ...);

#endif /* RDMAMIG_REFUSE_H */
