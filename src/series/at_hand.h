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

/*
 * Adds a text for every file that is missing or another one ("library '/lib/libz.so.1' ..."), in
 * the arena. Files without a checksum are not looked at. Each file is read once.
 */
void at_hand_differences(const struct loaded *l, struct strings *out, struct arena *arena);

#endif
