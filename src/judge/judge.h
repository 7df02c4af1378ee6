/*
 * judge: verdicts from an archive. A pure function of what the archive holds.
 */
#ifndef ABBA_JUDGE_JUDGE_H
#define ABBA_JUDGE_JUDGE_H

#include "archive/reader.h"
#include "model/report.h"

/* Everything in the report belongs to the arena or to the archive, which must outlive it. */
int judge_archive(const struct archive *a, struct report *r, struct arena *arena, struct err *err);

/*
 * The same with other thresholds than the plan's; marked exploratory. Used by `abba report
 * --threshold`.
 */
int judge_archive_with(const struct archive *a, const struct thresholds *t, struct report *r,
                       struct arena *arena, struct err *err);

/*
 * Whether the main stage of `profile` ended regressed or inconclusive, so that its confirming
 * stage, if planned, must run. Failed or missing runs do not call for one: they stay incomplete.
 */
bool judge_needs_confirm(const struct archive *a, const char *profile);

/* What a plan can see beforehand, for --plan: factor of sigma and chance of a false alarm. */
double judge_sees_factor(int pairs);

#endif
