/*
 * earlier: what lies beside an archive and is of the same plan.
 */
#ifndef ABBA_ARCHIVE_EARLIER_H
#define ABBA_ARCHIVE_EARLIER_H

#include "base/err.h"
#include "model/earlier.h"

#include <stddef.h>

struct arena;

/*
 * Archives in the folder that `archive` lies in, itself left out, whose plan has that hash, the
 * oldest first; at most 100, the latest. What is no archive, or cannot be read, is passed over: it
 * is the neighbours' business. Everything belongs to the arena.
 */
void earlier_find(const char *archive, const char *plan_sha256, struct earlier **list,
                  size_t *count, struct arena *arena);

#endif
