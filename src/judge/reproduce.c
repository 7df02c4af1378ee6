#include "judge/reproduce.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"

static const struct report_metric *find(const struct report *r, const char *profile,
                                        const struct report_metric *like)
{
    for (size_t p = 0; p < r->profile_count; p++)
        for (size_t m = 0; m < r->profiles[p].metric_count; m++) {
            const struct report_metric *x = &r->profiles[p].metrics[m];

            if (strcmp(r->profiles[p].profile, profile) == 0 &&
                strcmp(x->candidate, like->candidate) == 0 && strcmp(x->metric, like->metric) == 0)
                return x;
        }
    return NULL;
}

static enum overlap overlap(const struct report_metric *a, const struct report_metric *b)
{
    if (isnan(a->interval_low) || isnan(a->interval_high) || isnan(b->interval_low) ||
        isnan(b->interval_high))
        return OVERLAP_UNKNOWN;
    return a->interval_low <= b->interval_high && b->interval_low <= a->interval_high ? OVERLAP_YES
                                                                                      : OVERLAP_NO;
}

static void add_metric(struct reproduction *r, const char *profile,
                       const struct report_metric *then)
{
    struct reproduced_metric *x = &r->metrics[r->metric_count++];

    *x = (struct reproduced_metric){
        .profile = profile, .then = then, .now = find(r->now, profile, then)};
    x->agrees = x->now && x->now->verdict == then->verdict;
    x->overlap = x->now ? overlap(then, x->now) : OVERLAP_UNKNOWN;
    r->agreeing += x->agrees ? 1 : 0;
    r->apart += x->overlap == OVERLAP_NO ? 1 : 0;
}

static bool shows_nothing(const struct report *r)
{
    return !r->finished || r->verdict == VERDICT_INCOMPLETE || r->verdict == VERDICT_INVALID;
}

static enum reproduced outcome(const struct reproduction *r)
{
    if (shows_nothing(r->then) || shows_nothing(r->now))
        return CANNOT_TELL;
    if (r->then->verdict == VERDICT_IDENTICAL || r->now->verdict == VERDICT_IDENTICAL)
        return r->then->verdict == r->now->verdict ? REPRODUCED : NOT_REPRODUCED;
    if (r->metric_count == 0)
        return NOTHING_JUDGED;
    return r->agreeing == r->metric_count && r->apart == 0 ? REPRODUCED : NOT_REPRODUCED;
}

void reproduce(struct reproduction *r, const struct report *then, const struct report *now,
               struct arena *arena)
{
    size_t rows = 0;

    *r = (struct reproduction){.then = then, .now = now};
    for (size_t p = 0; p < then->profile_count; p++)
        rows += then->profiles[p].metric_count;
    r->metrics = arena_array(arena, rows, sizeof *r->metrics);
    for (size_t p = 0; p < then->profile_count; p++)
        for (size_t m = 0; m < then->profiles[p].metric_count; m++) {
            const struct report_metric *x = &then->profiles[p].metrics[m];

            if (!isnan(x->threshold) && x->verdict != VERDICT_NOT_JUDGED)
                add_metric(r, then->profiles[p].profile, x);
        }
    r->outcome = outcome(r);
}

void reproduce_lab(struct lab_reproduction *l)
{
    static const enum reproduced order[] = {NOT_REPRODUCED, CANNOT_TELL, REPRODUCED};

    l->outcome = NOTHING_JUDGED;
    for (size_t k = sizeof order / sizeof *order; k-- > 0;)
        for (size_t i = 0; i < l->comparison_count; i++)
            if (l->comparisons[i].r.outcome == order[k])
                l->outcome = order[k];
}
