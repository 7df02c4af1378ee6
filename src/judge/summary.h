/*
 * summary: figures of runs that are no pairs, each variant by itself. No changes, no verdicts.
 */
#ifndef ABBA_JUDGE_SUMMARY_H
#define ABBA_JUDGE_SUMMARY_H

#include "judge/collect.h"
#include "model/report.h"

struct arena;

/* Fills in out->summaries from the stage's runs that ended well. */
void summary_fill(struct report_profile *out, const struct stage *s, struct arena *arena);

#endif
