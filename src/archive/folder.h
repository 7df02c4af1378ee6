/*
 * folder: the files of one archive, by names relative to it, never through a link.
 *
 * Names are "series.json", "raw/NAME" or "programs/NAME". Everything is opened relative to the
 * descriptors of the folder and of those two, so a folder that is renamed meanwhile, or a link that
 * somebody put in, leads nowhere else. Only regular files are read. The holder releases it.
 */
#ifndef ABBA_ARCHIVE_FOLDER_H
#define ABBA_ARCHIVE_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

struct folder {
    char *path; /* as given, for messages; owned */
    int fd;
    int raw_fd;   /* -1: there is no raw/ */
    int kept_fd;  /* -1: there is no programs/ */
    bool passing; /* will be removed soon: nothing waits for the disk */
};

#define FOLDER_NONE                                                                                \
    {                                                                                              \
        NULL, -1, -1, -1, false                                                                    \
    }

/* Makes the folder and raw/ in it, and missing folders above. ERR_USAGE if it exists. */
int folder_make(struct folder *f, const char *path, struct err *err);

/* Opens an existing one. ERR_ARCHIVE if it is no folder, or its raw/ is none. */
int folder_open(struct folder *f, const char *path, struct err *err);

void folder_release(struct folder *f);

/*
 * One writer at a time: holds the folder (flock) until it is released. Waits for `wait_ms`, for
 * what is left of a writer that was just killed; then ERR_USAGE. A file system that knows no such
 * locks has none.
 */
int folder_hold(const struct folder *f, int wait_ms, struct err *err);

/* Calls `each` for every entry but "." and ".." of the folder (`in` is ""), of "raw/" or
 * "programs/", until it returns other than 0, which is returned; names are without `in`.
 * ERR_ARCHIVE if it cannot be read; one that is not there has none. */
int folder_each(const struct folder *f, const char *in,
                int (*each)(void *user, const char *entry, struct err *err), void *user,
                struct err *err);

/* Makes programs/ in it. ERR_SYSTEM. */
int folder_make_kept(struct folder *f, struct err *err);

/* Whether something of that name is there. */
bool folder_has(const struct folder *f, const char *name);

/* A descriptor to read a regular file, and its size (`size` may be NULL). ERR_ARCHIVE; sys_errno is
 * ENOENT where there is none. */
int folder_file(const struct folder *f, const char *name, uint64_t *size, struct err *err);

/* Adds the whole of a file to `out`. ERR_ARCHIVE, also if it has more than `max` bytes. */
int folder_read(const struct folder *f, const char *name, size_t max, struct buf *out,
                struct err *err);

/* A descriptor to append to a file that must be new. ERR_SYSTEM. */
int folder_create(const struct folder *f, const char *name, struct err *err);

/* Bytes that stand in several places and make one file. */
struct folder_part {
    const void *data;
    size_t len;
};

/* Makes a new file of these parts. On an error (ERR_SYSTEM) nothing is left of it. */
int folder_write(const struct folder *f, const char *name, const struct folder_part *parts,
                 size_t count, struct err *err);

/* A descriptor to append to a file that is there. ERR_SYSTEM. */
int folder_append(const struct folder *f, const char *name, struct err *err);

/* Gives a file of raw/ another name there, which must be free. ERR_SYSTEM. */
int folder_rename_raw(const struct folder *f, const char *from, const char *to, struct err *err);

/* Names that were given, taken or removed reach the disk (unless passing). ERR_SYSTEM. */
int folder_sync(const struct folder *f, struct err *err);

/* Puts a file in place by rename, after it has reached the disk (unless passing). ERR_SYSTEM. */
int folder_replace(const struct folder *f, const char *name, const void *data, size_t len,
                   struct err *err);

/*
 * The same for a file that is written piece by piece: a descriptor of what will take the place, and
 * the taking of it, which closes the descriptor; `rc` is -1, with errno, where writing failed.
 */
int folder_draft(const struct folder *f, const char *name, struct err *err);
int folder_place(const struct folder *f, const char *name, int fd, int rc, struct err *err);

/* Removes a file; one that is not there is fine. */
void folder_remove(const struct folder *f, const char *name);

#endif
