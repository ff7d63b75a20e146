/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _RDMAMIGCTL_ARGS_H
#define _RDMAMIGCTL_ARGS_H

#include <sys/socket.h>

#include "rdmamigctl.h"

const char *args_peek(struct args *args);
const char *args_next(struct args *args);
int args_value(struct args *args, const char *keyword, const char **value);
int args_options(struct args *args);
int args_end(struct args *args);

int parse_u64(const char *text, uint64_t *value);
int parse_size(const char *text, uint64_t *value);
int parse_rate(const char *text, uint64_t *value);
int parse_seconds(const char *text, uint64_t *ms);
int parse_id(struct args *args, uint32_t *id);
int parse_range(const char *text, uint64_t *address, uint64_t *length);

#endif /* _RDMAMIGCTL_ARGS_H */
