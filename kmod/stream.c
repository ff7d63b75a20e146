// SPDX-License-Identifier: GPL-2.0
/*
 * The byte stream beside the RAM: device state, or the stream of a QEMU.
 *
 * It is opaque to the module, but for one thing: in windows mode a window may
 * open only where the last eight bytes are the HOOK record.  A source's owner
 * says where its windows are (rdmamig_stream_mark()); no message ever carries
 * bytes from both sides of a mark.  A target notes where they were.
 *
 * A full ring is back-pressure: a writer sleeps; a target's thread stops giving
 * the peer its turn.
 */
#include <linux/anon_inodes.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "refuse.h"
#include "session.h"
#include "stream.h"

#define RING_SIZE	SZ_1M		/* a power of two */
#define WINDOWS_STEP	256
#define WINDOWS_MAX	1048576
#define READ_WAIT_MS	60000		/* for an owner that does not read */

/**
 * rdmamig_stream_init() - an empty stream
 * @st: to be filled
 *
 * Context: any.
 */
void rdmamig_stream_init(struct rdmamig_stream *st)
{
	mutex_init(&st->user_lock);
	init_waitqueue_head(&st->wait);
	spin_lock_init(&st->lock);
	INIT_LIST_HEAD(&st->marks);
}

/**
 * rdmamig_stream_destroy() - free what a stream holds
 * @st: the stream; nobody uses it any more
 *
 * Context: may sleep.
 */
void rdmamig_stream_destroy(struct rdmamig_stream *st)
{
	struct rdmamig_mark *mark, *next;

	list_for_each_entry_safe(mark, next, &st->marks, list)
		kfree(mark);
	kvfree(st->windows);
	kvfree(st->ring);
}

static u64 used(const struct rdmamig_stream *st)
{
	/* What was put in, or taken out, before the other side moved. */
	return smp_load_acquire(&st->head) - smp_load_acquire(&st->tail);
}

static int need_ring(struct rdmamig_stream *st)
{
	if (!st->ring)
		st->ring = kvmalloc(RING_SIZE, GFP_KERNEL);
	return st->ring ? 0 : -ENOMEM;
}

/* The piece of the ring from @pos on that does not wrap. */
static u32 straight(u64 pos, u64 bytes)
{
	return min_t(u64, bytes, RING_SIZE - pos % RING_SIZE);
}

/* Why nothing will move any more; 0 when it still may. */
static int ended(struct rdmamig_session *s)
{
	enum rdmamig_state state = READ_ONCE(s->state);

	if (!rdmamig_state_is_end(state))
		return 0;
	return READ_ONCE(s->error) ?: -EPIPE;
}

static ssize_t stream_read(struct file *file, char __user *to, size_t count,
			   loff_t *pos)
{
	struct rdmamig_session *s = file->private_data;
	struct rdmamig_stream *st = &s->stream;
	ssize_t done = 0;
	u32 n;
	int err;

	if (s->role != RDMAMIG_ROLE_TARGET)
		return -EBADF;
	if (mutex_lock_interruptible(&st->user_lock))
		return -ERESTARTSYS;
	while (!used(st)) {
		err = ended(s);
		if (READ_ONCE(st->closed) || !count || err == -EPIPE)
			goto out;
		if (!err && (file->f_flags & O_NONBLOCK))
			err = -EAGAIN;
		if (!err && wait_event_interruptible(st->wait, used(st) ||
						     READ_ONCE(st->closed) ||
						     ended(s)))
			err = -ERESTARTSYS;
		if (err) {
			done = err;
			goto out;
		}
	}
	while (count && used(st)) {
		n = straight(st->tail, min_t(u64, used(st), count));
		if (copy_to_user(to + done, st->ring + st->tail % RING_SIZE,
				 n)) {
			done = done ?: -EFAULT;
			break;
		}
		/* The copy is over before the room is free: used(). */
		smp_store_release(&st->tail, st->tail + n);
		done += n;
		count -= n;
	}
	rdmamig_session_kick(s);
out:
	mutex_unlock(&st->user_lock);
	return done;
}

static ssize_t stream_write(struct file *file, const char __user *from,
			    size_t count, loff_t *pos)
{
	struct rdmamig_session *s = file->private_data;
	struct rdmamig_stream *st = &s->stream;
	ssize_t done = 0;
	int err = 0;
	u32 n;

	if (s->role != RDMAMIG_ROLE_SOURCE)
		return -EBADF;
	if (mutex_lock_interruptible(&st->user_lock))
		return -ERESTARTSYS;
	while (count) {
		err = need_ring(st) ?: ended(s);
		if (!err && READ_ONCE(st->closed))
			err = -EPIPE;
		if (err)
			break;
		n = straight(st->head, min_t(u64, RING_SIZE - used(st), count));
		if (!n) {
			if (file->f_flags & O_NONBLOCK)
				err = -EAGAIN;
			else if (wait_event_interruptible(st->wait,
							  used(st) < RING_SIZE ||
							  READ_ONCE(st->closed) ||
							  ended(s)))
				err = -ERESTARTSYS;
			if (err)
				break;
			continue;
		}
		if (copy_from_user(st->ring + st->head % RING_SIZE, from + done,
				   n)) {
			err = -EFAULT;
			break;
		}
		/* What is taken is sent: not behind the end of the stream. */
		spin_lock(&st->lock);
		if (st->closed)
			err = -EPIPE;
		else	/* the bytes before the count of them: used() */
			smp_store_release(&st->head, st->head + n);
		spin_unlock(&st->lock);
		if (err)
			break;
		done += n;
		count -= n;
		rdmamig_session_kick(s);
	}
	mutex_unlock(&st->user_lock);
	return done ?: err;
}

static __poll_t stream_poll(struct file *file, poll_table *table)
{
	struct rdmamig_session *s = file->private_data;
	struct rdmamig_stream *st = &s->stream;
	__poll_t mask = 0;

	poll_wait(file, &st->wait, table);
	if (s->role == RDMAMIG_ROLE_SOURCE) {
		if (used(st) < RING_SIZE)
			mask |= EPOLLOUT | EPOLLWRNORM;
	} else {
		if (used(st) || READ_ONCE(st->closed))
			mask |= EPOLLIN | EPOLLRDNORM;
	}
	if (ended(s))
		mask |= EPOLLHUP | EPOLLIN | EPOLLOUT;
	return mask;
}

static int stream_release(struct inode *inode, struct file *file)
{
	struct rdmamig_session *s = file->private_data;

	clear_bit_unlock(0, &s->stream.open);
	rdmamig_session_put(s);
	return 0;
}

static const struct file_operations stream_fops = {
	.owner		= THIS_MODULE,
	.read		= stream_read,
	.write		= stream_write,
	.poll		= stream_poll,
	.release	= stream_release,
	.llseek		= noop_llseek,
};

/**
 * rdmamig_stream_open() - a file that reads or writes a session's stream
 * @s: session; the file takes a reference
 * @extack: says why not
 *
 * Context: process context; sleeps.
 *
 * Return: the file or ERR_PTR: -EBUSY when one is open already, -EPIPE when
 * the session is over.
 */
struct file *rdmamig_stream_open(struct rdmamig_session *s,
				 struct netlink_ext_ack *extack)
{
	struct rdmamig_stream *st = &s->stream;
	struct file *file;

	if (s->role == RDMAMIG_ROLE_SOURCE && ended(s)) {
		rdmamig_refuse(extack, -EPIPE, "session %u is over", s->id);
		return ERR_PTR(-EPIPE);
	}
	if (test_and_set_bit_lock(0, &st->open)) {
		rdmamig_refuse(extack, -EBUSY,
			       "the stream of session %u is open already",
			       s->id);
		return ERR_PTR(-EBUSY);
	}
	kref_get(&s->ref);
	file = anon_inode_getfile("[rdmamig-stream]", &stream_fops, s,
				  s->role == RDMAMIG_ROLE_SOURCE ? O_WRONLY :
								   O_RDONLY);
	if (IS_ERR(file)) {
		clear_bit_unlock(0, &st->open);
		rdmamig_session_put(s);
	}
	return file;
}

/**
 * rdmamig_stream_wake() - the descriptor's sleeper should look again
 * @s: session
 *
 * Context: any.
 */
void rdmamig_stream_wake(struct rdmamig_session *s)
{
	wake_up_all(&s->stream.wait);
}

/**
 * rdmamig_stream_close() - nothing will be put in any more
 * @s: session
 *
 * A source's writers get EPIPE from now on, a target's reader the rest and then
 * the end of the file.
 *
 * Context: any.
 */
void rdmamig_stream_close(struct rdmamig_session *s)
{
	spin_lock(&s->stream.lock);
	WRITE_ONCE(s->stream.closed, true);
	spin_unlock(&s->stream.lock);
	rdmamig_stream_wake(s);
}

/**
 * rdmamig_stream_mark() - a source's owner wants a window here
 * @s: source session in windows mode
 * @kind: what to do in it
 * @extack: says why not
 *
 * The window opens behind the bytes written so far.
 *
 * Context: process context; sleeps.
 *
 * Return: 0; -EINVAL when no byte was written since the last window, -EPIPE
 * when the stream is closed, -ENOMEM.
 */
int rdmamig_stream_mark(struct rdmamig_session *s, enum rdmamig_window kind,
			struct netlink_ext_ack *extack)
{
	struct rdmamig_stream *st = &s->stream;
	struct rdmamig_mark *mark;
	int err = 0;

	mark = kzalloc(sizeof(*mark), GFP_KERNEL);
	if (!mark)
		return -ENOMEM;
	spin_lock(&st->lock);
	mark->offset = st->head;
	mark->kind = kind;
	if (st->closed || ended(s))
		err = -EPIPE;
	else if (st->head == st->last_mark)
		err = -EINVAL;
	else
		list_add_tail(&mark->list, &st->marks);
	if (!err)
		st->last_mark = st->head;
	spin_unlock(&st->lock);
	if (err)
		kfree(mark);
	if (err == -EPIPE)
		return rdmamig_refuse(extack, err, "session %u takes no stream any more",
				      s->id);
	if (err)
		return rdmamig_refuse(extack, err, "a window without stream bytes before it");
	rdmamig_session_kick(s);
	return 0;
}

static struct rdmamig_mark *first_mark(struct rdmamig_stream *st)
{
	struct rdmamig_mark *mark;

	spin_lock(&st->lock);
	mark = list_first_entry_or_null(&st->marks, struct rdmamig_mark, list);
	spin_unlock(&st->lock);
	return mark;
}

/**
 * rdmamig_stream_avail() - bytes that a source may send now
 * @s: source session
 *
 * Context: the session's thread.
 *
 * Return: bytes up to the next mark; they do not wrap.
 */
u32 rdmamig_stream_avail(struct rdmamig_session *s)
{
	struct rdmamig_stream *st = &s->stream;
	struct rdmamig_mark *mark;
	u64 bytes = used(st);

	mark = first_mark(st);
	if (mark)
		bytes = min(bytes, mark->offset - st->tail);
	return straight(st->tail, bytes);
}

/**
 * rdmamig_stream_at_mark() - is it time for a window
 * @s: source session
 * @kind: what to do in it
 *
 * Context: the session's thread.
 *
 * Return: true when every byte before the next mark was taken.
 */
bool rdmamig_stream_at_mark(struct rdmamig_session *s,
			    enum rdmamig_window *kind)
{
	struct rdmamig_mark *mark = first_mark(&s->stream);

	if (!mark || mark->offset != s->stream.tail)
		return false;
	*kind = mark->kind;
	return true;
}

/**
 * rdmamig_stream_pass_mark() - the window at this mark is over
 * @s: source session at a mark
 *
 * Context: the session's thread.
 */
void rdmamig_stream_pass_mark(struct rdmamig_session *s)
{
	struct rdmamig_mark *mark = first_mark(&s->stream);

	spin_lock(&s->stream.lock);
	list_del(&mark->list);
	spin_unlock(&s->stream.lock);
	kfree(mark);
}

/**
 * rdmamig_stream_take() - take bytes out, to be sent
 * @s: source session
 * @dst: room for @bytes
 * @bytes: at most rdmamig_stream_avail()
 *
 * Context: the session's thread.
 */
void rdmamig_stream_take(struct rdmamig_session *s, void *dst, u32 bytes)
{
	struct rdmamig_stream *st = &s->stream;

	memcpy(dst, st->ring + st->tail % RING_SIZE, bytes);
	/* The copy is over before the room is free: used(). */
	smp_store_release(&st->tail, st->tail + bytes);
	s->stats.stream_bytes += bytes;
	rdmamig_stream_wake(s);
}

/**
 * rdmamig_stream_put() - put received bytes in
 * @s: target session
 * @src: the bytes
 * @bytes: how many
 *
 * Context: the session's thread; waits for the reader.
 *
 * Return: 0, or the recorded negative errno.
 */
int rdmamig_stream_put(struct rdmamig_session *s, const void *src, u32 bytes)
{
	struct rdmamig_stream *st = &s->stream;
	u32 n, i;
	int err;

	if (need_ring(st))
		return rdmamig_session_fail(s, -ENOMEM, "no memory for the stream");
	for (i = bytes > 8 ? bytes - 8 : 0; i < bytes; i++)
		st->last8 = st->last8 << 8 | ((const u8 *)src)[i];
	while (bytes) {
		err = rdmamig_wait(s, used(st) < RING_SIZE, READ_WAIT_MS);
		if (err)
			return rdmamig_session_fail(s, err,
						    "the owner does not read the stream");
		n = straight(st->head, min_t(u64, RING_SIZE - used(st), bytes));
		memcpy(st->ring + st->head % RING_SIZE, src, n);
		/* The bytes before the count of them: used(). */
		smp_store_release(&st->head, st->head + n);
		s->stats.stream_bytes += n;
		src += n;
		bytes -= n;
		rdmamig_stream_wake(s);
	}
	return 0;
}

/**
 * rdmamig_stream_window() - note that a window was here
 * @s: target session
 *
 * Context: the session's thread; sleeps for memory.
 *
 * Return: 0, or the recorded negative errno.
 */
int rdmamig_stream_window(struct rdmamig_session *s)
{
	struct rdmamig_stream *st = &s->stream;
	u64 *more, *old;
	u32 max;

	s->stats.windows++;
	if (st->nr_windows == st->max_windows) {
		max = st->max_windows ? st->max_windows * 2 : WINDOWS_STEP;
		if (max > WINDOWS_MAX)
			return rdmamig_session_fail(s, -E2BIG,
						    "protocol: more than %u windows",
						    WINDOWS_MAX);
		more = kvcalloc(max, sizeof(*more), GFP_KERNEL);
		if (!more)
			return rdmamig_session_fail(s, -ENOMEM,
						    "no memory for the windows");
		spin_lock(&st->lock);
		if (st->windows)
			memcpy(more, st->windows, st->nr_windows * sizeof(*more));
		old = st->windows;
		st->windows = more;
		st->max_windows = max;
		spin_unlock(&st->lock);
		kvfree(old);
	}
	spin_lock(&st->lock);
	st->windows[st->nr_windows++] = st->head;
	spin_unlock(&st->lock);
	return 0;
}

/**
 * rdmamig_stream_get_window() - where a window was
 * @s: target session
 * @index: its number
 * @offset: stream bytes before it
 *
 * Context: any that may take a spinlock.
 *
 * Return: false when there is no such window (yet).
 */
bool rdmamig_stream_get_window(struct rdmamig_session *s, u32 index,
			       u64 *offset)
{
	struct rdmamig_stream *st = &s->stream;
	bool have;

	spin_lock(&st->lock);
	have = index < st->nr_windows;
	if (have)
		*offset = st->windows[index];
	spin_unlock(&st->lock);
	return have;
}
