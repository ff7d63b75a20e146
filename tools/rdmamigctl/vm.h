/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _RDMAMIGCTL_VM_H
#define _RDMAMIGCTL_VM_H

#include "addr.h"
#include "knobs.h"
#include "conn.h"
#include "rdmamigctl.h"

struct vm_block {
	char name[RDMAMIG_BLOCK_NAME_MAX + 1];
	uint64_t address;
	uint64_t length;
};

/**
 * struct vm - whose memory moves
 * @pid: its process, 0: this one
 * @mem_fd: /proc/PID/mem, -1: this one's memory
 * @blocks: RAM blocks
 * @paths: of blocks that are files to be mapped; NULL entries else
 * @count: blocks
 * @files: how many of them are files
 */
struct vm {
	uint32_t pid;
	int mem_fd;
	struct vm_block *blocks;
	const char **paths;
	size_t count;
	size_t files;
};

void vm_init(struct vm *vm);
int vm_word(struct vm *vm, const char *word, struct args *args, bool *taken);
int vm_check(const struct vm *vm);
int vm_open(struct vm *vm, bool target);
void vm_close(struct vm *vm);

/**
 * struct new_session - what a session is made of
 * @role: enum rdmamig_role
 * @mode: enum rdmamig_mode
 * @addr: target: to listen on; source: to connect to
 * @knobs: tunables
 * @mem_fd: /proc/PID/mem, -1: this process's memory
 * @blocks: RAM blocks
 * @count: how many
 * @confirm: the target stops in SEALED
 */
struct new_session {
	uint32_t role;
	uint32_t mode;
	const union addr *addr;
	const struct knobs *knobs;
	int mem_fd;
	const struct vm_block *blocks;
	size_t count;
	bool confirm;
};

size_t blocks_room(size_t count);
void blocks_put(struct nl_msg *msg, const struct vm_block *blocks, size_t count);
int new_session(struct conn *conn, const struct new_session *new,
		const char *what, uint32_t *id);

#endif /* _RDMAMIGCTL_VM_H */
