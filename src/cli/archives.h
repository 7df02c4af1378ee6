/*
 * archives: what the sub-commands that read an archive share.
 */
#ifndef ABBA_CLI_ARCHIVES_H
#define ABBA_CLI_ARCHIVES_H

#include "archive/reader.h"
#include "base/strings.h"

struct arena;

/*
 * Thresholds made of METRIC=PERCENT texts, with the rule of the archive's plan. A report made with
 * them is exploratory. ERR_USAGE.
 */
int archives_thresholds(const struct archive *a, const struct strings *asked, struct arena *arena,
                        struct thresholds *t, struct err *err);

#endif
