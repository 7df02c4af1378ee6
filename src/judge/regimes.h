/*
 * regimes: what was shown where, and changes that win in one regime and lose in another.
 *
 * A sign rests on bounds and verdicts that were found already, never on medians alone.
 */
#ifndef ABBA_JUDGE_REGIMES_H
#define ABBA_JUDGE_REGIMES_H

#include "judge/assess.h"

/* Fills r->regimes where the series has several. Profiles and assessments go together. */
void regimes_fill(struct report *r, const struct assessment *x, const struct judging *j);

#endif
