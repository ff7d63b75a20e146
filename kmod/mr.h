/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RDMAMIG_MR_H
#define RDMAMIG_MR_H

#include <linux/list.h>
#include <linux/types.h>

struct rdmamig_block;
struct rdmamig_buf;
struct rdmamig_chunk;
struct rdmamig_session;

int rdmamig_mr_register(struct rdmamig_session *s, struct list_head *chunks,
			struct rdmamig_buf *answer, u32 type, u32 repeat,
			u32 len);
int rdmamig_mr_invalidate(struct rdmamig_session *s, struct list_head *chunks);
int rdmamig_mr_prepare(struct rdmamig_session *s, struct rdmamig_chunk *chunk);
void rdmamig_mr_destroy_pool(struct rdmamig_session *s);
void rdmamig_mr_put(struct rdmamig_session *s, struct rdmamig_chunk *chunk);
int rdmamig_mr_register_block(struct rdmamig_session *s,
			      struct rdmamig_block *b);
void rdmamig_mr_release_block(struct rdmamig_block *b);

#endif /* RDMAMIG_MR_H */
