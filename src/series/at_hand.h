/*
 * at_hand: whether the files that ran are here, and still the same.
 */
#ifndef ABBA_SERIES_AT_HAND_H
#define ABBA_SERIES_AT_HAND_H

#include "model/loaded.h"

struct arena;

/*
 * Where a file of the record is to be looked for: its path, with the home folder in the place of
 * its placeholder. NULL: another name was taken out of the path, so it is not known.
 */
const char *at_hand_path(const struct loaded_file *f, struct arena *arena);

/* NULL if the file is here and the same, or is not known well enough to say; else a text that tells
 * what is the matter ("library '/lib/libz.so.1' is missing"), in the arena. The file is read. */
const char *at_hand_fault(const struct loaded_file *f, struct arena *arena);

/*
 * Adds such a text for every file that has one.
 */
void at_hand_differences(const struct loaded *l, struct strings *out, struct arena *arena);

#endif
