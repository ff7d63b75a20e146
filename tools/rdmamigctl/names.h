/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _RDMAMIGCTL_NAMES_H
#define _RDMAMIGCTL_NAMES_H

#include "rdmamigctl.h"

/* Words for the values of an enum of the ABI, in its order. */
struct names {
	const char *const *v;
	unsigned int n;
};

extern const struct names role_names;
extern const struct names mode_names;
extern const struct names state_names;
extern const struct names unreg_names;
extern const struct names peer_chunk_names;

const char *name_of(const struct names *names, uint64_t value);
int name_value(const struct names *names, const char *word);
const char *attr_name(int cmd, int attr, bool nested);
bool attr_is_session(int cmd);

#endif /* _RDMAMIGCTL_NAMES_H */
