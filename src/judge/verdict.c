#include "judge/verdict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "judge/exact.h"
#include "judge/label_swap.h"
#include "judge/paired.h"
#include "judge/power.h"
#include "judge/rules.h"

static double figure(struct paired_figure f)
{
    return f.known ? f.value : NAN;
}

/* ---- one column ---- */

/* Quantile by linear interpolation between order statistics (definition 7 of Hyndman and Fan). */
static double quantile(const double *sorted, size_t n, double p)
{
    double at = p * (double)(n - 1);
    size_t i = (size_t)at;

    return i + 1 < n ? sorted[i] + (at - (double)i) * (sorted[i + 1] - sorted[i]) : sorted[n - 1];
}

void summarize(const double *column, size_t n, double *median, double *spread, double *min,
               double *max)
{
    double *sorted = xreallocarray(NULL, n, sizeof(*sorted));

    memcpy(sorted, column, n * sizeof(*sorted));
    sort_ascending(sorted, n);
    *median = sorted_median(sorted, n);
    *spread = (quantile(sorted, n, 0.84) - quantile(sorted, n, 0.16)) / 2.0;
    *min = sorted[0];
    *max = sorted[n - 1];
    free(sorted);
}

static void no_figures(struct report_metric *m)
{
    m->baseline_median = m->candidate_median = m->baseline_spread = m->candidate_spread = NAN;
    m->baseline_min = m->baseline_max = m->candidate_min = m->candidate_max = NAN;
    m->median_change = m->median_difference = m->interval_low = m->interval_high = NAN;
    m->level = m->threshold = m->hodges_lehmann = m->hl_low = m->hl_high = m->hl_level = NAN;
    m->p = m->holm_p = m->sigma = m->sees = m->slot_effect = m->slot_p = NAN;
    m->balanced_median = m->false_alarm = m->pairing_gain = NAN;
}

void verdict_without_figures(struct report_metric *m)
{
    double threshold = m->threshold;

    no_figures(m);
    m->threshold = threshold;
    m->mark = MARK_NONE;
    m->grade = GRADE_NONE;
    m->zeros = 0;
    m->claim = m->claim ? "not_shown" : NULL;
}

/* ---- figures of the pairs ---- */

static void fill_change(struct report_metric *m, const struct paired *p)
{
    struct paired_interval interval = paired_interval(p);

    m->median_change = paired_median(p);
    m->median_difference = paired_median_difference(p);
    if (interval.known) {
        m->interval_low = interval.lo;
        m->interval_high = interval.hi;
        m->level = interval.level;
    }
    if (p->in.n % 2)
        m->balanced_median = figure(paired_balanced_median(p));
}

/* What is no change by definition is not found either, however quiet the figure. */
static double seen_above_floor(double sees, double floor, double baseline)
{
    if (isnan(sees) || floor <= 0.0 || baseline <= 0.0 || sees >= floor / baseline)
        return sees;
    return floor / baseline;
}

static void fill_shown(struct report_metric *m, const struct paired *p, double *p_worse)
{
    struct hodges_lehmann hl;
    struct signed_rank test;
    struct paired_slot slot;

    paired_hodges_lehmann(p, &hl);
    m->hodges_lehmann = hl.estimate;
    if (hl.has_interval) {
        m->hl_low = hl.lo;
        m->hl_high = hl.hi;
        m->hl_level = hl.level;
    }
    paired_signed_rank(p, &test);
    m->p = test.p;
    m->zeros = (int)test.zeros;
    *p_worse = test.p_greater;
    paired_slot_effect(p, &slot);
    if (slot.known) {
        m->slot_effect = slot.effect;
        m->slot_p = slot.testable ? slot.p : NAN;
    }
    m->sigma = figure(paired_sigma(p));
    m->pairing_gain = figure(paired_pairing_gain(p));
    if (!isnan(m->sigma) && !power_sees(p->in.n, m->sigma, m->better, &m->sees))
        m->sees = NAN;
    m->sees = seen_above_floor(m->sees, p->in.floor, m->baseline_median);
}

/* ---- verdict ---- */

/* A control that stayed within its limit says nothing about the change: the limit then judges. */
static bool judge_control(struct report_metric *m, const struct paired *p, const struct gate *gate,
                          struct arena *arena)
{
    struct paired_interval interval = paired_interval(p);
    enum control c = rules_control(m->median_change, &interval, gate->control_limit);

    m->verdict = c == CONTROL_INVALID ? VERDICT_INVALID : VERDICT_PASSED;
    if (c == CONTROL_INVALID)
        m->note = arena_strdup(arena, "a negative control has moved: the series is invalid");
    if (c == CONTROL_WARNING)
        m->note = arena_strdup(arena, "a negative control is beyond its limit; its interval "
                                      "does not exclude no change");
    return c == CONTROL_INVALID;
}

static void tell_accepted(struct report_metric *m, const struct accepted *a, struct arena *arena)
{
    m->accepted = arena_alloc(arena, sizeof(*m->accepted));
    m->accepted_count = 1;
    *m->accepted = (struct report_accepted){
        .name = a->name, .up_to = a->up_to, .reason = a->reason, .who = a->who, .until = a->until};
}

static void judge(struct report_metric *m, const struct paired *p, const struct gate *gate,
                  struct arena *arena)
{
    struct paired_interval worse = paired_worse_interval(p);
    struct judgement j;

    m->mark = rules_mark(&worse);
    if (gate->claimed)
        m->claim = rules_claim_shown(&worse) ? "shown" : "not_shown";
    if (gate->control && judge_control(m, p, gate, arena))
        return;
    if (gate->judged && gate->accepted) {
        j = rules_judge_accepted(gate->rule, paired_worse_median(p), &worse, gate->threshold,
                                 gate->accepted->up_to);
        m->verdict = j.verdict;
        m->grade = j.grade;
        if (m->verdict != VERDICT_PASSED)
            tell_accepted(m, gate->accepted, arena);
    } else if (gate->judged) {
        j = rules_judge(gate->rule, paired_worse_median(p), &worse, gate->threshold);
        m->verdict = j.verdict;
        m->grade = j.grade;
    }
    if (m->grade != GRADE_NONE && sign_k(p->in.n) == 0)
        m->grade = GRADE_UNSURE; /* a range is no bound of 95 % */
}

/* ---- notes ---- */

static void add_note(struct report_metric *m, const char *text, struct arena *arena)
{
    m->note = m->note ? arena_printf(arena, "%s; %s", m->note, text) : text;
}

static void note_zeros(struct report_metric *m, const struct columns *c, struct arena *arena)
{
    size_t from_zero = 0;
    double low = INFINITY, high = -INFINITY;
    const char *unit = strcmp(m->unit, "count") == 0 ? "" : m->unit;

    for (size_t i = 0; i < c->n; i++) {
        if (isinf(paired_change(c->baseline[i], c->candidate[i], c->floor))) {
            from_zero++;
            low = c->candidate[i] < low ? c->candidate[i] : low;
            high = c->candidate[i] > high ? c->candidate[i] : high;
        }
    }
    if (!from_zero)
        return;
    const char *to = low < high ? arena_printf(arena, "%.4g ... %.4g", low, high)
                                : arena_printf(arena, "%.4g", high);
    add_note(m,
             arena_printf(arena, "from 0 to %s%s%s in %zu of %zu pairs", to, *unit ? " " : "", unit,
                          from_zero, c->n),
             arena);
}

/* A figure that is coarser than its threshold lets worse changes than that pass. */
static void note_resolution(struct report_metric *m, const struct columns *c,
                            const struct gate *gate, struct arena *arena)
{
    if (!gate->judged || !(m->baseline_median > 0.0) ||
        c->floor / m->baseline_median <= gate->threshold)
        return;
    add_note(m,
             arena_printf(arena,
                          "changes up to %.3g %% are within the resolution of the figure and pass, "
                          "also those beyond %s",
                          100.0 * c->floor / m->baseline_median, gate->threshold_text),
             arena);
}

static void note_completeness(struct report_metric *m, const struct columns *c,
                              const struct gate *gate, struct arena *arena)
{
    if (c->n == gate->pairs)
        return;
    add_note(m, arena_printf(arena, "%zu of %zu pairs are complete", c->n, gate->pairs), arena);
}

/* ---- one metric ---- */

static struct paired_input input_of(const struct columns *c, enum metric_better better, bool range)
{
    return (struct paired_input){
        .n = c->n,
        .baseline = c->baseline,
        .candidate = c->candidate,
        .reversed = c->reversed,
        .better = better,
        .floor = c->floor,
        .range = range,
    };
}

void verdict_of_metric(struct report_metric *m, const struct columns *c, const struct gate *gate,
                       double *p_worse, struct arena *arena)
{
    const struct paired_input in = input_of(c, m->better, gate->range);
    struct paired p;

    no_figures(m);
    *p_worse = NAN;
    m->complete_pairs = (int)c->n;
    m->missing = c->missing;
    m->control = gate->control;
    if (gate->judged || gate->control)
        m->threshold = gate->control ? gate->control_limit : gate->threshold;
    if (c->n > 0) {
        paired_init(&p, &in);
        summarize(c->baseline, c->n, &m->baseline_median, &m->baseline_spread, &m->baseline_min,
                  &m->baseline_max);
        summarize(c->candidate, c->n, &m->candidate_median, &m->candidate_spread, &m->candidate_min,
                  &m->candidate_max);
        fill_change(m, &p);
        fill_shown(m, &p, p_worse);
        judge(m, &p, gate, arena);
        paired_release(&p);
    } else if (gate->claimed) {
        m->claim = "not_shown";
    }
    if (c->n < gate->min_complete && (gate->judged || gate->control)) {
        m->verdict = VERDICT_INCOMPLETE;
        m->grade = GRADE_NONE;
        m->claim = gate->claimed ? "not_shown" : NULL;
    }
    note_zeros(m, c, arena);
    note_resolution(m, c, gate, arena);
    note_completeness(m, c, gate, arena);
}

void verdict_of_aa(struct report_aa *aa, const char *metric, enum metric_better better,
                   const struct columns *c, const struct gate *gate, uint64_t seed)
{
    const struct paired_input in = input_of(c, better, gate->range);
    struct paired_slot slot;
    struct label_swap swap;
    struct paired p;

    paired_init(&p, &in);
    paired_slot_effect(&p, &slot);
    *aa = (struct report_aa){
        .metric = metric,
        .sigma = figure(paired_sigma(&p)),
        .sigma_mad = figure(paired_sigma_mad(&p)),
        .slot_effect = slot.known ? slot.effect : NAN,
        .lag1 = figure(paired_lag1(&p)),
        .swap_rate = NAN,
    };
    if (gate->judged && c->n > 0) {
        label_swap(&p, gate->threshold, seed, &swap);
        aa->swap_rate = (double)(gate->rule == RULE_MEDIAN ? swap.median : swap.bounded) /
                        (double)swap.relabelled;
    }
    paired_release(&p);
}
