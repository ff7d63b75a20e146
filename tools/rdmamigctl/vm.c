// SPDX-License-Identifier: GPL-2.0
/*
 * Whose memory moves: another process's, named by its pid and address
 * ranges, or files mapped here.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "args.h"
#include "vm.h"

/**
 * vm_init() - begin with nothing
 * @vm: it
 */
void vm_init(struct vm *vm)
{
	memset(vm, 0, sizeof(*vm));
	vm->mem_fd = -1;
}

static int set_name(struct vm_block *block, const char *name)
{
	size_t len = strlen(name);

	if (!len || len > RDMAMIG_BLOCK_NAME_MAX)
		return usage_error(name, "a block name has 1 to %d bytes",
				   RDMAMIG_BLOCK_NAME_MAX);
	memcpy(block->name, name, len + 1);
	return 0;
}

static struct vm_block *add_block(struct vm *vm, const char *path)
{
	struct vm_block *blocks;
	const char **paths;

	blocks = realloc(vm->blocks, (vm->count + 1) * sizeof(*blocks));
	if (!blocks)
		return NULL;
	vm->blocks = blocks;
	paths = realloc(vm->paths, (vm->count + 1) * sizeof(*paths));
	if (!paths)
		return NULL;
	vm->paths = paths;

	memset(&blocks[vm->count], 0, sizeof(*blocks));
	paths[vm->count] = path;
	return &blocks[vm->count++];
}

static int take_block(struct vm *vm, struct args *args)
{
	const char *name, *range;
	struct vm_block *block;
	int ret;

	ret = args_value(args, "block", &name);
	if (ret)
		return ret;
	range = args_next(args);
	if (!range)
		return usage_error(name, "ADDRESS+LENGTH must follow the block's name");
	block = add_block(vm, NULL);
	if (!block)
		return fail_memory();
	ret = set_name(block, name);
	if (ret)
		return ret;
	ret = parse_range(range, &block->address, &block->length);
	if (ret == -ERANGE)
		return usage_error(range, "too large for ADDRESS+LENGTH");
	if (ret)
		return usage_error(range, "not understood: ADDRESS+LENGTH, as 0x7f0000000000+256M");
	return 0;
}

static int take_file(struct vm *vm, struct args *args)
{
	const char *path, *base;
	struct vm_block *block;
	int ret;

	ret = args_value(args, "file", &path);
	if (ret)
		return ret;
	block = add_block(vm, path);
	if (!block)
		return fail_memory();
	vm->files++;

	base = strrchr(path, '/');
	base = base ? base + 1 : path;
	if (args_peek(args) && !strcmp(args_peek(args), "name")) {
		args->pos++;
		ret = args_value(args, "name", &base);
		if (ret)
			return ret;
	}
	return set_name(block, base);
}

static int take_pid(struct vm *vm, struct args *args)
{
	const char *word;
	uint64_t pid;
	int ret;

	ret = args_value(args, "pid", &word);
	if (ret)
		return ret;
	if (vm->pid)
		return usage_error("pid", "given twice");
	if (parse_u64(word, &pid) || !pid || pid > INT_MAX)
		return usage_error(word, "not a process id");
	vm->pid = (uint32_t)pid;
	return 0;
}

/**
 * vm_word() - take a word if it begins a part of VM, and its values
 * @vm: where to
 * @word: the word, already taken
 * @args: the rest of the command line
 * @taken: whether it did
 *
 * Return: 0 or an exit code.
 */
int vm_word(struct vm *vm, const char *word, struct args *args, bool *taken)
{
	*taken = true;
	if (!strcmp(word, "vm")) {
		const char *next = args_peek(args);

		if (!next || (strcmp(next, "pid") && strcmp(next, "file")))
			return usage_error(next ? next : "vm",
					   "'pid PID' or 'file PATH' must follow 'vm'");
		return 0;
	}
	if (!strcmp(word, "pid"))
		return take_pid(vm, args);
	if (!strcmp(word, "block"))
		return take_block(vm, args);
	if (!strcmp(word, "file"))
		return take_file(vm, args);
	*taken = false;
	return 0;
}

/**
 * vm_check() - whether what was given is one VM
 * @vm: it
 *
 * Return: 0 or EXIT_USAGE.
 */
int vm_check(const struct vm *vm)
{
	if (vm->files && (vm->pid || vm->files != vm->count))
		return usage_error("vm", "either 'pid' with 'block', or 'file', not both");
	if (!vm->files && !vm->pid)
		return usage_error("vm", "missing: 'vm pid PID block ...' or 'vm file PATH'");
	if (!vm->count)
		return usage_error("block", "missing: 'block NAME ADDRESS+LENGTH'");
	if (vm->count > RDMAMIG_BLOCKS_MAX)
		return usage_error("block", "%zu blocks, at most %d are allowed",
				   vm->count, RDMAMIG_BLOCKS_MAX);
	return 0;
}

static int map_file(struct vm_block *block, const char *path, bool target)
{
	int prot = target ? PROT_READ | PROT_WRITE : PROT_READ;
	struct stat st;
	void *at;
	int err;
	int fd;

	fd = open(path, (target ? O_RDWR : O_RDONLY) | O_CLOEXEC);
	if (fd < 0)
		return fail(errno == EACCES || errno == EPERM ? EXIT_PERM : EXIT_FAILED,
			    path, "%s", strerror(errno));
	if (fstat(fd, &st)) {
		err = errno;
		goto err;
	}
	if (!S_ISREG(st.st_mode) || !st.st_size) {
		close(fd);
		return fail(EXIT_FAILED, path, "%s",
			    S_ISREG(st.st_mode) ? "the file is empty: its length is the block's"
						: "not a regular file");
	}
	at = mmap(NULL, (size_t)st.st_size, prot, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED) {
		err = errno;
		goto err;
	}
	close(fd);
	block->address = (uint64_t)(uintptr_t)at;
	block->length = (uint64_t)st.st_size;
	return 0;

err:
	close(fd);
	return fail(EXIT_FAILED, path, "cannot be mapped: %s", strerror(err));
}

/**
 * vm_open() - open the memory
 * @vm: it
 * @target: for writing too
 *
 * Return: 0 or an exit code.
 */
int vm_open(struct vm *vm, bool target)
{
	char path[32], what[32];
	size_t i;
	int ret;

	for (i = 0; i < vm->count; i++) {
		if (!vm->paths[i])
			continue;
		ret = map_file(&vm->blocks[i], vm->paths[i], target);
		if (ret)
			return ret;
	}
	if (!vm->pid)
		return 0;

	snprintf(path, sizeof(path), "/proc/%u/mem", vm->pid);
	snprintf(what, sizeof(what), "pid %u", vm->pid);
	vm->mem_fd = open(path, (target ? O_RDWR : O_RDONLY) | O_CLOEXEC);
	if (vm->mem_fd >= 0)
		return 0;
	switch (errno) {
	case ENOENT:
	case ESRCH:
		return fail(EXIT_FAILED, what, "no such process");
	case EACCES:
	case EPERM:
		return fail(EXIT_PERM, what,
			    "its memory may not be opened: CAP_SYS_PTRACE is needed");
	default:
		return fail(EXIT_FAILED, what, "%s: %s", path, strerror(errno));
	}
}

/**
 * vm_close() - let go of the memory
 * @vm: it
 */
void vm_close(struct vm *vm)
{
	size_t i;

	for (i = 0; i < vm->count; i++)
		if (vm->paths[i] && vm->blocks[i].address)
			munmap((void *)(uintptr_t)vm->blocks[i].address,
			       (size_t)vm->blocks[i].length);
	if (vm->mem_fd >= 0)
		close(vm->mem_fd);
	free(vm->blocks);
	free(vm->paths);
	vm_init(vm);
}

/**
 * blocks_room() - bytes that blocks take in a request
 * @count: how many
 *
 * Return: bytes.
 */
size_t blocks_room(size_t count)
{
	return count * (RDMAMIG_BLOCK_NAME_MAX + 1 + 48);
}

/**
 * blocks_put() - put blocks into a request
 * @msg: the request
 * @blocks: them
 * @count: how many
 */
void blocks_put(struct nl_msg *msg, const struct vm_block *blocks, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		struct nlattr *nest = nla_nest_start(msg, NLA_F_NESTED |
						     RDMAMIG_A_SESSION_BLOCK);

		nla_put_string(msg, RDMAMIG_A_BLOCK_NAME, blocks[i].name);
		nla_put_u64(msg, RDMAMIG_A_BLOCK_ADDRESS, blocks[i].address);
		nla_put_u64(msg, RDMAMIG_A_BLOCK_LENGTH, blocks[i].length);
		nla_nest_end(msg, nest);
	}
}

/**
 * new_session() - make a session
 * @conn: the socket
 * @new: what it is made of
 * @what: for the message, when the kernel points at nothing
 * @id: its number
 *
 * Return: 0 or an exit code, reported.
 */
int new_session(struct conn *conn, const struct new_session *new,
		const char *what, uint32_t *id)
{
	bool target = new->role == RDMAMIG_ROLE_TARGET;
	struct nlattr *tb[RDMAMIG_A_SESSION_MAX + 1];
	struct records reply = { 0 };
	struct nl_msg *msg;
	int ret;

	msg = conn_request(conn, RDMAMIG_CMD_SESSION_NEW, blocks_room(new->count));
	if (!msg)
		return EXIT_FAILED;
	nla_put_u32(msg, RDMAMIG_A_SESSION_ROLE, new->role);
	nla_put_u32(msg, RDMAMIG_A_SESSION_MODE, new->mode);
	nla_put(msg, target ? RDMAMIG_A_SESSION_LOCAL_ADDR : RDMAMIG_A_SESSION_REMOTE_ADDR,
		(int)addr_size(new->addr), new->addr);
	if (new->mem_fd >= 0)
		nla_put_u32(msg, RDMAMIG_A_SESSION_MEM_FD, (uint32_t)new->mem_fd);
	if (new->confirm)
		nla_put_flag(msg, RDMAMIG_A_SESSION_CONFIRM);
	knobs_put(new->knobs, msg);
	blocks_put(msg, new->blocks, new->count);

	ret = conn_do(conn, msg, &reply);
	if (ret) {
		records_free(&reply);
		return conn_fail(conn, ret, what);
	}
	memset(tb, 0, sizeof(tb));
	if (reply.n)
		record_parse(&reply.v[0], RDMAMIG_A_SESSION_MAX, tb);
	ret = 0;
	if (tb[RDMAMIG_A_SESSION_ID])
		*id = nla_get_u32(tb[RDMAMIG_A_SESSION_ID]);
	else
		ret = fail(EXIT_FAILED, what, "the kernel's answer names no session");
	records_free(&reply);
	return ret;
}
