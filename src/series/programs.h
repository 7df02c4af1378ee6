/*
 * programs: whether the files under test are still those that the plan names.
 *
 * A program that is rebuilt while a series runs would be measured under another's name. The
 * same goes for the file that --input names. Looking is one stat() a file; only a file that looks
 * changed is hashed again. Libraries and other programs that were seen to run join later.
 */
#ifndef ABBA_SERIES_PROGRAMS_H
#define ABBA_SERIES_PROGRAMS_H

#include <stdbool.h>

#include "model/plan.h"

struct stat;

struct programs;

/* Looks at every variant's program and the input. ERR_CONFIG if one is not the plan's any more. */
int programs_new(struct programs **p, const struct plan *plan, struct err *err);
void programs_free(struct programs *p);

/* The checksum of a file that is watched and looks like this; NULL: none does. */
const char *programs_sha256(const struct programs *p, const struct stat *file);

/* From now on this file, too, must stay as it was when `seen`. All texts are borrowed. */
void programs_watch(struct programs *p, const char *what, const char *path, const char *sha256,
                    const struct stat *seen);

/* One was seen to change otherwise; `text` is the line that says so. */
void programs_changed(struct programs *p, const char *text);

/*
 * Whether all are unchanged. If not, `text` gets one line that names the file and both digests;
 * it stays changed from then on.
 */
bool programs_same(struct programs *p, char *text, size_t size);

#endif
