/*
 * rules: from figures to verdicts.
 *
 * All changes here are turned so that worse is positive, as fractions; a threshold is how far the
 * median may go. Worse means strictly greater.
 */
#ifndef ABBA_JUDGE_RULES_H
#define ABBA_JUDGE_RULES_H

#include <stddef.h>

#include "judge/paired.h"

enum rule {
    RULE_MEDIAN,  /* regressed if the median is beyond the threshold, else passed */
    RULE_BOUNDED, /* may also say inconclusive */
};

/* In the order of precedence: of several, the first stands for the whole. */
enum verdict {
    VERDICT_INVALID,
    VERDICT_REGRESSED,
    VERDICT_INCOMPLETE,
    VERDICT_INCONCLUSIVE,
    VERDICT_PASSED,
    VERDICT_NOT_JUDGED,
    VERDICT_IDENTICAL,
};

enum grade {
    GRADE_NONE, /* the verdict has none */
    GRADE_CONFIRMED,
    GRADE_LIKELY,
    GRADE_UNSURE,
};

struct judgement {
    enum verdict verdict;
    enum grade grade;
};

/* `interval` may be unknown (n < 5): then `bounded` is inconclusive and `median` unsure. */
struct judgement rules_judge(enum rule rule, double worse_median,
                             const struct paired_interval *worse, double threshold);

/* An improvement claimed beforehand: shown only if the whole interval is better than no change. */
bool rules_claim_shown(const struct paired_interval *worse);

enum control {
    CONTROL_OK,
    CONTROL_WARNING, /* |median| beyond the limit */
    CONTROL_INVALID, /* and the interval excludes no change */
};

/* A metric that the change cannot affect, with a two-sided limit. */
enum control rules_control(double median, const struct paired_interval *interval, double limit);

/* The verdict that stands for n of them; not judged when nothing was judged. */
enum verdict rules_combine(const enum verdict *verdicts, size_t n);

/* Mark in the table: +1 when the whole interval is worse by over 1 %, -1 better by over 1 %. */
int rules_mark(const struct paired_interval *worse);

#endif
