/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _RDMAMIGCTL_DIR_H
#define _RDMAMIGCTL_DIR_H

#include "manifest.h"
#include "rdmamigctl.h"

/**
 * struct dir - a directory that a migration is received into
 * @path: as written
 * @fd: it, -1: not open
 * @made: it was not there before
 * @files: ram.0 to ram.(@files - 1) may exist
 * @stream: the stream's file may exist
 */
struct dir {
	const char *path;
	int fd;
	bool made;
	size_t files;
	bool stream;
};

/* Asked between big writes; an exit code stops them. */
typedef int (*dir_pause_fn)(void *arg, uint64_t written);

int dir_create(struct dir *dir, const char *path);
int dir_write_block(struct dir *dir, struct manifest_block *block, size_t index,
		    const void *memory, dir_pause_fn pause, void *arg);
int dir_write_stream(struct dir *dir, const void *data, size_t len);
void dir_close(struct dir *dir, bool keep);

/* Memory that holds a file of a directory. */
struct mapping {
	void *at;
	size_t length;
};

int dir_open(struct dir *dir, const char *path);
int dir_map(const struct dir *dir, const char *file, uint64_t length, const char *field,
	    struct mapping *mapping);
void mapping_free(struct mapping *mapping);

#endif /* _RDMAMIGCTL_DIR_H */
