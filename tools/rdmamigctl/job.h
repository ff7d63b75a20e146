/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _RDMAMIGCTL_JOB_H
#define _RDMAMIGCTL_JOB_H

#include "progress.h"
#include "watch.h"

int job_until(struct watch *watch, struct progress *progress, uint32_t state);
int job_wait(struct watch *watch, struct progress *progress);
int job_cancelled(struct watch *watch);

#endif /* _RDMAMIGCTL_JOB_H */
