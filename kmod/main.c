// SPDX-License-Identifier: GPL-2.0
/*
 * rdmamig: moves a virtual machine's memory between hosts over RDMA.
 *
 * The init ladder: what stands on what.
 */
#include <linux/module.h>
#include <net/genetlink.h>

#include "device.h"
#include "netlink.h"
#include "session.h"

static int __init rdmamig_init(void)
{
	int err;

	err = rdmamig_devices_init();
	if (err)
		return err;
	err = rdmamig_netlink_init();
	if (err)
		goto devices;
	return 0;

devices:
	rdmamig_devices_exit();
	return err;
}

/*
 * The family goes first, so that no command runs or comes any more; then each
 * session is cancelled and its thread waited for.  An open stream descriptor
 * holds a reference to the module, so none is left here.
 */
static void __exit rdmamig_exit(void)
{
	rdmamig_netlink_exit();
	rdmamig_sessions_exit();
	rdmamig_devices_exit();
}

module_init(rdmamig_init);
module_exit(rdmamig_exit);

MODULE_DESCRIPTION("Live migration of memory over RDMA");
MODULE_LICENSE("GPL");
MODULE_ALIAS_GENL_FAMILY("rdmamig");
