/*
 * programs: whether the files under test are still those that the plan names.
 *
 * A program that is rebuilt while a series runs would be measured under another's name. The
 * same goes for the file that --input names. Looking is one stat() a file; only a file that looks
 * changed is hashed again.
 */
#ifndef ABBA_SERIES_PROGRAMS_H
#define ABBA_SERIES_PROGRAMS_H

#include <stdbool.h>

#include "model/plan.h"

struct programs;

/* Looks at every variant's program and the input. ERR_CONFIG if one is not the plan's any more. */
int programs_new(struct programs **p, const struct plan *plan, struct err *err);
void programs_free(struct programs *p);

/*
 * Whether all are unchanged. If not, `text` gets one line that names the file and both digests;
 * it stays changed from then on.
 */
bool programs_same(struct programs *p, char *text, size_t size);

#endif
