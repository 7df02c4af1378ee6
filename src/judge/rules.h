/*
 * rules: from figures to verdicts.
 *
 * All changes here are turned so that worse is positive, as fractions; a threshold is how far the
 * median may go. Worse means strictly greater.
 */
#ifndef ABBA_JUDGE_RULES_H
#define ABBA_JUDGE_RULES_H

#include "judge/paired.h"
#include "model/report.h"
#include "model/thresholds.h"

struct judgement {
    enum verdict verdict;
    enum grade grade;
};

/* `interval` may be unknown (n < 5): then `bounded` is inconclusive and `median` unsure. */
struct judgement rules_judge(enum rule rule, double worse_median,
                             const struct paired_interval *worse, double threshold);

/* The same where a larger change was agreed to: what does not pass `threshold` is accepted if it
 * passes `accepted`, and else judged by that. */
struct judgement rules_judge_accepted(enum rule rule, double worse_median,
                                      const struct paired_interval *worse, double threshold,
                                      double accepted);

/* An improvement claimed beforehand: shown only if the whole interval is better than no change. */
bool rules_claim_shown(const struct paired_interval *worse);

enum control {
    CONTROL_OK,
    CONTROL_WARNING, /* |median| beyond the limit */
    CONTROL_INVALID, /* and the interval excludes no change */
};

/* A metric that the change cannot affect, with a two-sided limit. */
enum control rules_control(double median, const struct paired_interval *interval, double limit);

/* Whether the whole interval is beyond 1 %. */
enum mark rules_mark(const struct paired_interval *worse);

#endif
