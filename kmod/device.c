// SPDX-License-Identifier: GPL-2.0
/*
 * The list of RDMA devices, for "rdmamigctl devices".  Sessions find theirs by
 * address through rdma_cm, which also tells them when it goes away.
 */
#include <linux/mutex.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>

#include "conn.h"
#include "device.h"

static DEFINE_XARRAY_ALLOC(devices);
static DEFINE_MUTEX(devices_lock);	/* guards the list against removal */

static int add_device(struct ib_device *dev)
{
	u32 index;
	int err;

	mutex_lock(&devices_lock);
	err = xa_alloc(&devices, &index, dev, xa_limit_32b, GFP_KERNEL);
	mutex_unlock(&devices_lock);
	return err;
}

static void remove_device(struct ib_device *dev, void *data)
{
	struct ib_device *other;
	unsigned long index;

	mutex_lock(&devices_lock);
	xa_for_each(&devices, index, other)
		if (other == dev)
			xa_erase(&devices, index);
	mutex_unlock(&devices_lock);
}

static struct ib_client client = {
	.name	= "rdmamig",
	.add	= add_device,
	.remove	= remove_device,
};

static u32 count_active(struct ib_device *dev)
{
	struct ib_port_attr attr;
	u32 port, active = 0;

	rdma_for_each_port(dev, port)
		if (!ib_query_port(dev, port, &attr) &&
		    attr.state == IB_PORT_ACTIVE)
			active++;
	return active;
}

/**
 * rdmamig_device_next() - tell of one device
 * @index: where to begin; moved behind the device told of
 * @info: gets what is known
 *
 * Context: process context; sleeps.
 *
 * Return: false when there is none left.
 */
bool rdmamig_device_next(u32 *index, struct rdmamig_device_info *info)
{
	unsigned long at = *index;
	struct ib_device *dev;

	mutex_lock(&devices_lock);
	dev = xa_find(&devices, &at, ULONG_MAX, XA_PRESENT);
	if (dev) {
		*info = (struct rdmamig_device_info) {
			.unfit		= rdmamig_conn_device_unfit(dev),
			.mr_pages	= dev->attrs.max_fast_reg_page_list_len,
			.max_mr		= dev->attrs.max_mr,
			.max_qp_wr	= dev->attrs.max_qp_wr,
			.max_send_sge	= dev->attrs.max_send_sge,
			.ports		= dev->phys_port_cnt,
			.active_ports	= count_active(dev),
		};
		strscpy(info->name, dev_name(&dev->dev), sizeof(info->name));
		*index = at + 1;
	}
	mutex_unlock(&devices_lock);
	return dev;
}

/**
 * rdmamig_devices_init() - begin to follow devices
 *
 * Context: process context.
 *
 * Return: 0 or a negative errno.
 */
int rdmamig_devices_init(void)
{
	return ib_register_client(&client);
}

/**
 * rdmamig_devices_exit() - stop
 *
 * Context: process context.
 */
void rdmamig_devices_exit(void)
{
	ib_unregister_client(&client);
	xa_destroy(&devices);
}
