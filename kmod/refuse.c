// SPDX-License-Identifier: GPL-2.0
/*
 * Formatted extended acks.  The kernel's own NL_SET_ERR_MSG_FMT() cuts at 80
 * bytes and logs when it does, and old kernels lack it.  An extended ack only
 * carries a pointer that is read when the command has returned, in the same
 * task; so the text is put into the next of a ring of buffers.  Were every
 * buffer of the ring filled by others in that short time, the user would read
 * somebody else's refusal: never freed memory.
 */
#include <linux/atomic.h>
#include <linux/kernel.h>
#include <linux/netlink.h>

#include "refuse.h"

#define REFUSE_TEXTS	64	/* a power of two */
#define REFUSE_SIZE	256	/* bytes */

static char refuse_text[REFUSE_TEXTS][REFUSE_SIZE];
static atomic_t refuse_next;

/**
 * rdmamig_refuse() - refuse a command, in words
 * @extack: of the command; may be NULL
 * @err: negative errno
 * @fmt: what was wrong and which knob helps, without a newline
 *
 * Context: any.
 *
 * Return: @err.
 */
int rdmamig_refuse(struct netlink_ext_ack *extack, int err,
		   const char *fmt, ...)
{
	unsigned int i;
	va_list args;

	if (!extack)
		return err;
	i = (unsigned int)atomic_inc_return(&refuse_next) % REFUSE_TEXTS;
	va_start(args, fmt);
	vscnprintf(refuse_text[i], REFUSE_SIZE, fmt, args);
	va_end(args);
	extack->_msg = refuse_text[i];
	return err;
}
