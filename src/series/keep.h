/*
 * keep: copies of the files that ran, in the archive, and their use where those at hand are gone.
 */
#ifndef ABBA_SERIES_KEEP_H
#define ABBA_SERIES_KEEP_H

#include "archive/reader.h"
#include "archive/writer.h"
#include "base/err.h"
#include "model/loaded.h"
#include "model/plan.h"

/*
 * Keeps the variants' programs, the input, every file that was seen to run, and abba itself. A file
 * that cannot be copied or has changed is left out, and `note` is told. -1: the archive cannot be
 * written.
 */
int keep_all(struct archive_writer *w, const struct plan *plan, const struct loaded *loaded,
             void (*note)(void *user, const char *text), void *user, struct err *err);

/* Where an archive keeps a file of that content, or NULL: not at all. */
const char *keep_find(const struct archive *a, const char *sha256, struct arena *arena);

/*
 * Puts a kept file at `folder`/`name`, executable. ERR_ARCHIVE if it is not kept or damaged,
 * ERR_SYSTEM if it cannot be copied.
 */
int keep_take_out(const struct archive *a, const char *sha256, const char *folder, const char *name,
                  struct err *err);

#endif
