/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RDMAMIG_TARGET_H
#define RDMAMIG_TARGET_H

#include <linux/types.h>

struct rdmamig_codec_msg;
struct rdmamig_session;

/* What a target's thread works with. */
struct rdmamig_target {
	bool in_window;
	bool blocks_agreed;
	bool sealing;		/* keys are being ended over the connection */
	bool sealed;		/* no key is valid, nothing is pinned */
	bool second_ready;	/* the return path has a READY for us */
};

int rdmamig_target_run(struct rdmamig_session *s);
bool rdmamig_target_may_lose(const struct rdmamig_session *s);

/* target_command.c */
int rdmamig_target_command(struct rdmamig_session *s,
			   const struct rdmamig_codec_msg *msg);
int rdmamig_target_check(struct rdmamig_session *s);

#endif /* RDMAMIG_TARGET_H */
