/*
 * reproduce: compares the reports of a series and of its repetition. Pure.
 */
#ifndef ABBA_JUDGE_REPRODUCE_H
#define ABBA_JUDGE_REPRODUCE_H

#include "model/reproduction.h"

struct arena;

/*
 * Reproduced: every metric that was judged has the same verdict again, and the bounds of its change
 * have a point in common with those of before (where there are too few pairs for bounds, the
 * verdict alone decides). A series that is incomplete, invalid or unfinished can show nothing.
 * Fills in all but `files` and `machine`. Both reports must outlive it.
 */
void reproduce(struct reproduction *r, const struct report *then, const struct report *now,
               struct arena *arena);

/* The outcome of a lab whose comparisons have theirs: what one of them does not show, it does not.
 */
void reproduce_lab(struct lab_reproduction *l);

#endif
