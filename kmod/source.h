/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RDMAMIG_SOURCE_H
#define RDMAMIG_SOURCE_H

#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/llist.h>

struct rdmamig_chunk;
struct rdmamig_session;

#define RDMAMIG_BATCH_SHIFT	5	/* log2 of the records we batch at most */

/* A command that waits for its answer. */
enum rdmamig_asking {
	RDMAMIG_ASKING_NOTHING,
	RDMAMIG_ASKING_BLOCKS,
	RDMAMIG_ASKING_REGISTER,
	RDMAMIG_ASKING_UNREGISTER,
	RDMAMIG_ASKING_END,
};

/* What a source's thread works with. */
struct rdmamig_source {
	bool turn;			/* a READY is in hand */
	enum rdmamig_asking asking;
	u32 asked;			/* records of the command */
	unsigned long turn_since;	/* jiffies: the peer owes us something */
	bool need_room;			/* a chunk waits for room under the limit */
	bool was_clean;
	bool end_posted;
	bool end_ok;
	u32 end_status;
	u32 batch;			/* chunks */
	u32 in_flight;			/* chunks */
	u64 in_flight_bytes;
	u64 queued_bytes;		/* dirty pages of chunks, on the wire too */
	ktime_t wait_since;		/* for room; 0 when not waiting */
	ktime_t next_write;		/* rate-limit */

	/* Queues of chunks, in the order of their life. */
	struct list_head need_key;	/* PINNED */
	struct list_head asked_key;	/* PINNED, in a REGISTER_REQUEST */
	struct list_head to_write;	/* REGISTERED, with dirty pages */
	struct list_head lru;		/* REGISTERED, idle; oldest first */
	struct list_head leaving;	/* INVALIDATING, in an UNREGISTER_REQUEST */
	struct llist_head done;		/* IN_FLIGHT, completed */
	u32 nr_need_key;
	u32 nr_lru;

	/* The scan for dirty chunks. */
	u32 block;
	u64 chunk;

	/* A zero range that waits for a turn. */
	struct rdmamig_block *zero_block;
	u64 zero_offset;
	u64 zero_length;
};

void rdmamig_source_init(struct rdmamig_session *s);
int rdmamig_source_run(struct rdmamig_session *s);
u64 rdmamig_source_remaining(const struct rdmamig_session *s);

/* source_write.c */
int rdmamig_source_write(struct rdmamig_session *s, bool *work);
int rdmamig_source_reap(struct rdmamig_session *s, bool *work);
bool rdmamig_source_rate_allows(struct rdmamig_session *s);

/* source_fill.c */
int rdmamig_source_fill(struct rdmamig_session *s, bool *work);
int rdmamig_source_check(struct rdmamig_session *s, bool *work);
int rdmamig_source_renew(struct rdmamig_session *s,
			 struct rdmamig_chunk *chunk);

#endif /* RDMAMIG_SOURCE_H */
