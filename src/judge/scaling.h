/*
 * scaling: profiles that a matrix over CPU sets made of one, side by side.
 *
 * A speed-up is the ratio of a variant's own medians under two profiles. Their runs are no pairs:
 * there are no bounds to give.
 */
#ifndef ABBA_JUDGE_SCALING_H
#define ABBA_JUDGE_SCALING_H

#include "judge/assess.h"

/* Fills r->scalings. Profiles and assessments go together. */
void scaling_fill(struct report *r, const struct assessment *x, const struct judging *j);

#endif
