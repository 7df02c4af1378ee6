#include "judge/summary.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/strings.h"
#include "judge/verdict.h"

static void add_missing(struct report_summary *x, const struct sample_metric *m,
                        struct arena *arena)
{
    const char *text =
        arena_printf(arena, "%s: %s", m ? value_status_name(m->value.status) : "missing",
                     m && m->value.reason ? m->value.reason
                                          : "the run has no such "
                                            "figure");

    strings_add_new(&x->missing, arena, text);
}

/* One metric of one variant. Sums are made in the order of the runs. */
static void fill_one(struct report_summary *x, const struct stage *s, size_t metric, size_t variant,
                     double *room, struct arena *arena)
{
    double sum = 0;
    size_t n = 0;

    for (size_t b = 0; b < s->blocks; b++) {
        struct archive_run run;
        struct sample_metric m;

        if (!stage_run(s, b, variant, &run))
            continue;
        bool has = stage_metric(s, b, variant, x->metric, metric, &m);

        x->of++;
        if (has)
            x->unit = m.unit;
        if (run.status == SAMPLE_OK && has && value_usable(&m.value)) {
            sum += m.value.number;
            room[n++] = m.value.number;
        } else if (run.status == SAMPLE_OK) {
            add_missing(x, has ? &m : NULL, arena);
        }
    }
    x->runs = (int)n;
    x->mean = x->median = x->spread = x->min = x->max = NAN;
    if (n == 0)
        return;
    x->mean = sum / (double)n;
    summarize(room, n, &x->median, &x->spread, &x->min, &x->max);
}

void summary_fill(struct report_profile *out, const struct stage *s, struct arena *arena)
{
    double *room = arena_array(arena, s->blocks, sizeof(*room));

    out->summaries = arena_array(arena, s->variants * s->metric_count, sizeof(*out->summaries));
    for (size_t v = 0; v < s->variants; v++) {
        for (size_t m = 0; m < s->metric_count; m++) {
            struct report_summary *x = &out->summaries[out->summary_count];

            x->variant = s->plan->variants[v].name;
            x->metric = s->metrics[m];
            plan_metric(s->plan, x->metric, &x->unit, &x->better);
            fill_one(x, s, m, v, room, arena);
            if (x->of > 0)
                out->summary_count++;
            else
                memset(x, 0, sizeof(*x));
        }
    }
}
