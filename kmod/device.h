/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RDMAMIG_DEVICE_H
#define RDMAMIG_DEVICE_H

#include <linux/types.h>
#include <rdma/ib_verbs.h>

/* What netlink tells of a device. */
struct rdmamig_device_info {
	char name[IB_DEVICE_NAME_MAX];
	const char *unfit;		/* NULL: a session can use it */
	u32 mr_pages;
	u32 max_mr;
	u32 max_qp_wr;
	u32 max_send_sge;
	u32 ports;
	u32 active_ports;
};

bool rdmamig_device_next(u32 *index, struct rdmamig_device_info *info);
int rdmamig_devices_init(void);
void rdmamig_devices_exit(void);

#endif /* RDMAMIG_DEVICE_H */
