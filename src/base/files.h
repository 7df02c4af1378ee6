/*
 * files: reading, writing and finding files.
 *
 * Errors are ERR_SYSTEM with errno and name the path in quotes; a caller for whom the file is a
 * configuration changes the code.
 */
#ifndef ABBA_BASE_FILES_H
#define ABBA_BASE_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"

/* Adds the whole of a file to `out`. A file of more than `max` bytes is an error. */
int files_read(const char *path, size_t max, struct buf *out, struct err *err);

/* A new file with these bytes at `path`: written beside it, fsynced, renamed over it, and the
 * folder fsynced. Whoever opens the path sees the old or the new file. Mode 0666 less the umask.
 * A device or a pipe is never replaced but written to; of a link, the file it names is replaced. */
int files_write_atomic(const char *path, const void *data, size_t len, struct err *err);

/* The same for what is written piece by piece. */
struct files_draft {
    int fd; /* -1: none */
    char *path;
    char *temp; /* beside it; NULL: a device or a pipe, which is written to */
};

/* -1 leaves nothing; after 0, one of place and drop is due. */
int files_draft_open(struct files_draft *d, const char *path, struct err *err);
int files_draft_write(struct files_draft *d, const void *data, size_t len, struct err *err);
int files_draft_place(struct files_draft *d, struct err *err); /* drops it on an error */
void files_draft_drop(struct files_draft *d);

/* Of what exists and is neither file nor folder: a device, a pipe, a terminal. */
bool files_is_special(const char *path);

/* Whether files_write_atomic() has a chance: to be asked before work whose result goes there. */
int files_check_writable(const char *path, struct err *err);

/* Writes all of it to a descriptor, through short writes and EINTR. Returns -1 with errno set. */
int files_write_all(int fd, const void *data, size_t len);

/* Makes the folder and those above it, mode 0777 less the umask. One that is there is fine. */
int files_mkdirs(const char *path, struct err *err);

bool files_exists(const char *path); /* of any kind; a dangling link does not exist */
bool files_is_dir(const char *path);

/* "dir/name" in the arena, with one slash between; `name` if it is absolute or dir is empty. */
char *files_join(struct arena *arena, const char *dir, const char *name);

/* The part after the last slash, borrowed. */
const char *files_basename(const char *path);

/* The part before the last slash, "." if there is none, "/" for the root. */
char *files_dirname(struct arena *arena, const char *path);

/*
 * Small files of /proc and /sys: read into a caller's buffer, NUL-terminated, cut to `size`, the
 * newline at the end left out. Returns the length, or -1 with errno set. Allocates nothing.
 */
int files_read_small(const char *path, char *out, size_t size);

/*
 * The absolute path of the program that execvp would start: a name with a slash as it is, another
 * one looked up in `search` (as $PATH; NULL: "/usr/local/bin:/usr/bin:/bin"). Links are kept.
 * Errors (ERR_CONFIG): not found, a folder, not executable.
 */
int files_resolve_program(const char *name, const char *search, struct arena *arena, char **out,
                          struct err *err);

/* Opens a file below an open folder to be read, step by step, through no link. The steps of the
 * path are names of at most 255 bytes. -1 with errno. */
int files_open_below(int folder, const char *path, int flags);

/* Gives a new file or folder its name, unless that is taken (EEXIST). -1 with errno. */
int files_take_name(const char *from, const char *to);

/* Removes a folder and all below it, following no link and leaving other file systems alone. What
 * is not there is fine. */
int files_remove_tree(const char *path, struct err *err);

/* Where large files that nobody keeps are made: $TMPDIR, if that is an absolute path, or /var/tmp.
 */
const char *files_large_folder(void);

/* A new file without a name in that folder, to be read and written; nothing leaves it behind. -1
 * with errno. */
int files_open_nameless(const char *folder);

#endif
