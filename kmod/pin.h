/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RDMAMIG_PIN_H
#define RDMAMIG_PIN_H

#include <linux/types.h>

struct mm_struct;
struct rdmamig_block;
struct rdmamig_chunk;
struct rdmamig_session;
struct task_struct;

int rdmamig_pin_is_zero(struct rdmamig_session *s, struct rdmamig_block *b,
			u64 offset, u32 bytes);
int rdmamig_pin_has_hole(struct rdmamig_session *s, struct rdmamig_block *b,
			 u64 offset, u32 bytes);
bool rdmamig_pin_block_is_current(struct rdmamig_session *s,
				  struct rdmamig_block *b, u64 first, u64 last);
int rdmamig_pin_chunk(struct rdmamig_session *s, struct rdmamig_chunk *chunk);
int rdmamig_pin_renew(struct rdmamig_session *s, struct rdmamig_chunk *chunk);
void rdmamig_unpin_chunk(struct rdmamig_session *s,
			 struct rdmamig_chunk *chunk);
bool rdmamig_pin_is_current(struct rdmamig_session *s,
			    struct rdmamig_chunk *chunk);
int rdmamig_pin_zero(struct rdmamig_session *s, struct rdmamig_block *b,
		     u64 offset, u64 length);
int rdmamig_pin_charge(struct rdmamig_session *s, u64 bytes, u64 *allowed);
void rdmamig_pin_uncharge(struct rdmamig_session *s);

#endif /* RDMAMIG_PIN_H */
