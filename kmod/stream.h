/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RDMAMIG_STREAM_H
#define RDMAMIG_STREAM_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <uapi/linux/rdmamig.h>

struct file;
struct netlink_ext_ack;
struct rdmamig_session;

/* A window that a source has to open behind @offset stream bytes. */
struct rdmamig_mark {
	struct list_head list;
	u64 offset;
	enum rdmamig_window kind;
};

/*
 * The byte stream of a session: a ring between the session's thread and the
 * reader or writer of the stream descriptor.  One side moves @head, the other
 * @tail; both only grow.
 */
struct rdmamig_stream {
	u8 *ring;		/* appears with the first use */
	u64 head;		/* bytes put in */
	u64 tail;		/* bytes taken out */
	bool closed;		/* nothing will be put in any more */
	unsigned long open;	/* bit 0: a descriptor exists */
	struct mutex user_lock;	/* readers, or writers, one at a time */
	wait_queue_head_t wait;	/* of the descriptor */

	spinlock_t lock;	/* guards marks, windows, @closed against @head */
	struct list_head marks;	/* source */
	u64 last_mark;		/* where the newest one was put */
	u64 *windows;		/* target: offsets */
	u32 nr_windows;
	u32 max_windows;
	u64 last8;		/* target: the last 8 bytes, big-endian */
};

void rdmamig_stream_init(struct rdmamig_stream *st);
void rdmamig_stream_destroy(struct rdmamig_stream *st);
struct file *rdmamig_stream_open(struct rdmamig_session *s,
				 struct netlink_ext_ack *extack);
void rdmamig_stream_close(struct rdmamig_session *s);
void rdmamig_stream_wake(struct rdmamig_session *s);
int rdmamig_stream_mark(struct rdmamig_session *s, enum rdmamig_window kind,
			struct netlink_ext_ack *extack);
u32 rdmamig_stream_avail(struct rdmamig_session *s);
bool rdmamig_stream_at_mark(struct rdmamig_session *s,
			    enum rdmamig_window *kind);
void rdmamig_stream_pass_mark(struct rdmamig_session *s);
void rdmamig_stream_take(struct rdmamig_session *s, void *dst, u32 bytes);
int rdmamig_stream_put(struct rdmamig_session *s, const void *src, u32 bytes);
int rdmamig_stream_window(struct rdmamig_session *s);
bool rdmamig_stream_get_window(struct rdmamig_session *s, u32 index,
			       u64 *offset);

#endif /* RDMAMIG_STREAM_H */
