#include "judge/outcomes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "judge/exact.h"

/* Counts the runs of a variant. */
static void count_runs(struct report_outcome *o, const struct stage *s, size_t variant)
{
    for (size_t b = 0; b < s->blocks; b++) {
        struct archive_run run;

        if (!stage_run(s, b, variant, &run) || run.status == SAMPLE_INTERRUPTED)
            continue;
        o->runs++;
        o->ended_well += run.status == SAMPLE_OK;
    }
    o->failed = o->ended_well * 2 < o->runs && (size_t)o->ended_well < s->min_complete;
}

/* The value of a metric in a run, where it has one that may be used. */
static bool value_in(const struct stage *s, size_t block, size_t variant, size_t metric,
                     struct report_figure *f, double *value)
{
    struct sample_metric m;

    if (!stage_metric(s, block, variant, f->metric, metric, &m) || m.value.status != VALUE_OK)
        return false;
    f->unit = m.unit;
    *value = m.value.number;
    return true;
}

/* False where no run has it. */
static bool fill_figure(struct report_figure *f, const struct stage *s, size_t metric,
                        size_t variant, const struct report_outcome *o, double *values)
{
    size_t n = 0;

    for (size_t b = 0; b < s->blocks; b++) {
        struct archive_run run;

        if (stage_run(s, b, variant, &run) &&
            (run.status == SAMPLE_OK || (o->failed && run.status != SAMPLE_INTERRUPTED)) &&
            value_in(s, b, variant, metric, f, &values[n]))
            n++;
    }
    if (n == 0)
        return false;
    sort_ascending(values, n);
    f->runs = (int)n;
    f->median = sorted_median(values, n);
    f->low = values[0];
    f->high = values[n - 1];
    return true;
}

static void fill_figures(struct report_outcome *o, const struct stage *s, size_t variant,
                         struct arena *arena)
{
    double *values = arena_array(arena, s->blocks, sizeof(*values));

    o->figures = arena_array(arena, s->metric_count, sizeof(*o->figures));
    for (size_t m = 0; m < s->metric_count; m++) {
        struct report_figure *f = &o->figures[o->figure_count];

        f->metric = s->metrics[m];
        if (fill_figure(f, s, m, variant, o, values))
            o->figure_count++;
    }
}

/* Whatever compares with a variant that failed. */
static void withdraw(struct report_profile *out, struct assessment *x, const struct judging *j)
{
    for (size_t i = 0; i < out->metric_count; i++) {
        struct report_metric *m = &out->metrics[i];
        const struct report_outcome *failed = NULL;

        for (size_t v = 0; v < out->outcome_count && !failed; v++)
            if (out->outcomes[v].failed &&
                (v == 0 || strcmp(out->outcomes[v].variant, m->candidate) == 0))
                failed = &out->outcomes[v];
        if (!failed)
            continue;
        verdict_without_figures(m);
        x->decided.p_worse[i] = NAN;
        if (x->decided.gates[i].judged)
            m->note = arena_printf(j->arena, "'%s' failed: nothing is compared", failed->variant);
    }
}

void outcomes_fill(struct report_profile *out, struct assessment *x, const struct judging *j)
{
    const struct stage *s = &x->decided.stage;
    struct report_outcome *all = arena_array(j->arena, s->variants, sizeof(*all));
    bool any = false;

    for (size_t v = 0; v < s->variants; v++) {
        all[v].variant = j->plan->variants[v].name;
        count_runs(&all[v], s, v);
        any = any || all[v].failed;
    }
    if (!any)
        return;
    for (size_t v = 0; v < s->variants; v++)
        fill_figures(&all[v], s, v, j->arena);
    out->outcomes = all;
    out->outcome_count = s->variants;
    withdraw(out, x, j);
}
