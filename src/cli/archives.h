/*
 * archives: what the sub-commands that write or read an archive share.
 */
#ifndef ABBA_CLI_ARCHIVES_H
#define ABBA_CLI_ARCHIVES_H

#include "archive/reader.h"
#include "base/strings.h"

struct arena;

/* The folder of archives that get no other name. */
#define ARCHIVES "archive"

/*
 * "archive/20240506T070809Z-WHAT-1a2b3c4d": now, what is run (its first 60 characters, those that
 * are not fit for a name as '-') and the plan's hash; of several that begin within a second, the
 * others with a number before the hash. Nothing is made.
 */
const char *archives_dated(const char *what, const char *sha256, struct arena *arena);

/*
 * Thresholds made of METRIC=PERCENT texts, with the rule of the archive's plan. A report made with
 * them is exploratory. ERR_USAGE.
 */
int archives_thresholds(const struct archive *a, const struct strings *asked, struct arena *arena,
                        struct thresholds *t, struct err *err);

#endif
