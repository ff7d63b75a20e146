// SPDX-License-Identifier: GPL-2.0
/*
 * A mem-fd is an open /proc/PID/mem: the ptrace and LSM checks were made when
 * it was opened, and no process id can be reused behind it.  procfs exports
 * nothing to recognise one, so it is compared with a /proc/self/mem that is
 * opened here: the same file operations, both on procfs.  Its private data is
 * the mm of the process, held by mmgrab.
 */
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <linux/sched/mm.h>

#include "mem_fd.h"

static bool on_procfs(const struct file *file)
{
	return file_inode(file)->i_sb->s_magic == PROC_SUPER_MAGIC;
}

/**
 * rdmamig_mem_fd_get() - the mm behind an open /proc/PID/mem
 * @fd: file descriptor of the caller
 * @need: FMODE_READ, FMODE_WRITE or both: how it must have been opened
 *
 * Context: process context of the one who passed @fd; sleeps.
 *
 * Return: the mm with a reference that mmdrop() gives back, or ERR_PTR:
 * -EBADF no such descriptor, -EACCES not opened as @need asks, -EINVAL not a
 * mem-fd, -ESRCH its process is gone, or why /proc/self/mem cannot be opened.
 */
struct mm_struct *rdmamig_mem_fd_get(int fd, fmode_t need)
{
	struct mm_struct *mm = ERR_PTR(-EINVAL);
	struct file *file, *own;

	file = fget(fd);
	if (!file)
		return ERR_PTR(-EBADF);

	own = filp_open("/proc/self/mem", O_RDONLY, 0);
	if (IS_ERR(own)) {
		mm = ERR_CAST(own);
		goto put_file;
	}

	if (!on_procfs(own) || !on_procfs(file) || own->f_op != file->f_op)
		goto put_own;

	if ((file->f_mode & need) != need) {
		mm = ERR_PTR(-EACCES);
		goto put_own;
	}

	mm = file->private_data;
	if (!mm || !mmget_not_zero(mm)) {
		mm = ERR_PTR(-ESRCH);
		goto put_own;
	}
	mmgrab(mm);
	mmput_async(mm);

put_own:
	filp_close(own, NULL);
put_file:
	fput(file);
	return mm;
}
