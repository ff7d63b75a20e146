/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RDMAMIG_COMPAT_MEM_FD_H
#define RDMAMIG_COMPAT_MEM_FD_H

#include <linux/fs.h>

struct mm_struct;

struct mm_struct *rdmamig_mem_fd_get(int fd, fmode_t need);

#endif /* RDMAMIG_COMPAT_MEM_FD_H */
