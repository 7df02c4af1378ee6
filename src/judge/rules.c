#include "judge/rules.h"

#include <math.h>

#define MARK 0.01

static struct judgement regressed(const struct paired_interval *worse, double threshold)
{
    if (worse->known && worse->lo > threshold)
        return (struct judgement){VERDICT_REGRESSED, GRADE_CONFIRMED};
    if (worse->known && worse->lo > 0.0)
        return (struct judgement){VERDICT_REGRESSED, GRADE_LIKELY};
    return (struct judgement){VERDICT_REGRESSED, GRADE_UNSURE};
}

struct judgement rules_judge(enum rule rule, double worse_median,
                             const struct paired_interval *worse, double threshold)
{
    bool excluded = worse->known && worse->hi <= threshold;
    bool seen = worse->known && worse->lo > 0.0;

    if (worse_median > threshold && (rule == RULE_MEDIAN || seen))
        return regressed(worse, threshold);
    if (excluded)
        return (struct judgement){VERDICT_PASSED, GRADE_CONFIRMED};
    if (rule == RULE_MEDIAN)
        return (struct judgement){VERDICT_PASSED, GRADE_UNSURE};
    return (struct judgement){VERDICT_INCONCLUSIVE, GRADE_NONE};
}

struct judgement rules_judge_accepted(enum rule rule, double worse_median,
                                      const struct paired_interval *worse, double threshold,
                                      double accepted)
{
    struct judgement own = rules_judge(rule, worse_median, worse, threshold);
    struct judgement agreed = rules_judge(rule, worse_median, worse, accepted);

    if (own.verdict == VERDICT_PASSED)
        return own;
    if (agreed.verdict == VERDICT_PASSED)
        agreed.verdict = VERDICT_ACCEPTED;
    return agreed;
}

bool rules_claim_shown(const struct paired_interval *worse)
{
    return worse->known && worse->hi < 0.0;
}

enum control rules_control(double median, const struct paired_interval *interval, double limit)
{
    if (!(fabs(median) > limit))
        return CONTROL_OK;
    if (interval->known && (interval->lo > 0.0 || interval->hi < 0.0))
        return CONTROL_INVALID;
    return CONTROL_WARNING;
}

enum mark rules_mark(const struct paired_interval *worse)
{
    if (worse->known && worse->lo > MARK)
        return MARK_WORSE;
    return worse->known && worse->hi < -MARK ? MARK_BETTER : MARK_NONE;
}
