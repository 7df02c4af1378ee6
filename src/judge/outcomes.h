/*
 * outcomes: pass or fail of each variant under a profile that one of them failed.
 *
 * A variant fails a profile where fewer than half of its runs ended well, and fewer than must be
 * complete. The pairs that are left of it are a selection of its better runs, so nothing is
 * compared then: its changes are taken out of the report, and each variant's own figures stand
 * there instead.
 */
#ifndef ABBA_JUDGE_OUTCOMES_H
#define ABBA_JUDGE_OUTCOMES_H

#include "judge/assess.h"

/* Fills out->outcomes where a variant failed, and withdraws what compares with it. */
void outcomes_fill(struct report_profile *out, struct assessment *x, const struct judging *j);

#endif
