#include "judge/notes_gate.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/strings.h"

static void add(struct strings *list, struct arena *arena, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static void add(struct strings *list, struct arena *arena, const char *fmt, ...)
{
    struct buf text = BUF_INIT;
    va_list args;

    va_start(args, fmt);
    buf_vprintf(&text, fmt, args);
    va_end(args);
    strings_add(list, arena, arena_strdup(arena, text.data));
    buf_release(&text);
}

static const struct report_metric *row_of(const struct report_profile *p, const char *variant,
                                          const char *metric)
{
    for (size_t i = 0; i < p->metric_count; i++)
        if (strcmp(p->metrics[i].candidate, variant) == 0 &&
            strcmp(p->metrics[i].metric, metric) == 0)
            return &p->metrics[i];
    return NULL;
}

/* What another layout of the baseline's own source did to one judged figure. */
static void note_control(struct report_profile *out, const struct judging *j,
                         const struct report_metric *m, const struct report_metric *control)
{
    bool seen = control->interval_low > 0.0 || control->interval_high < 0.0;

    if (isnan(control->interval_low) || isnan(m->threshold) || m->control)
        return;
    add(&out->notes, j->arena,
        "control: the baseline's own source, built otherwise, changes %s by %+.3g %% (%+.3g to "
        "%+.3g %%): %s%s",
        m->metric, 100.0 * control->median_change, 100.0 * control->interval_low,
        100.0 * control->interval_high,
        seen ? "layout alone moves this figure by as much" : "no effect of layout is seen",
        m->verdict == VERDICT_REGRESSED && seen &&
                fabs(control->median_change) >= fabs(m->median_change)
            ? ", and the candidate's change is no larger"
            : "");
}

void notes_controls(struct report_profile *out, const struct judging *j)
{
    for (size_t v = 1; v < j->plan->variant_count; v++)
        for (size_t i = 0; j->plan->variants[v].control && i < out->metric_count; i++) {
            const struct report_metric *m = &out->metrics[i];
            const struct report_metric *control = row_of(out, j->plan->variants[v].name, m->metric);

            if (control && control != m)
                note_control(out, j, m, control);
        }
}

/* What became of a change that was agreed to. */
struct accepted_use {
    size_t judged, used, passed;
};

static struct accepted_use use_of(const struct accepted *a, const struct report *r,
                                  const struct judging *j)
{
    struct accepted_use use = {0};

    for (size_t i = 0; i < r->profile_count; i++)
        for (size_t m = 0; m < r->profiles[i].metric_count; m++) {
            const struct report_metric *row = &r->profiles[i].metrics[m];

            if (isnan(row->threshold) || !accepted_matches(a, &j->plan->profiles[i], row->metric))
                continue;
            use.judged++;
            use.passed += row->verdict == VERDICT_PASSED;
            use.used += row->accepted_count && strcmp(row->accepted->name, a->name) == 0;
        }
    return use;
}

/* Agreements that have ended, or that nobody needs any more, are to be removed. */
void notes_accepted(struct report *r, const struct judging *j)
{
    for (size_t i = 0; i < j->plan->accepted_count; i++) {
        const struct accepted *a = &j->plan->accepted[i];
        struct accepted_use use = use_of(a, r, j);

        if (accepted_expired(j->archive, a))
            add(&r->notes, j->arena,
                "warning: the accepted change '%s' (%s of %s) has expired on %s and was not "
                "applied",
                a->name, a->metric, a->profile, a->until);
        else if (use.judged == 0)
            add(&r->notes, j->arena,
                "warning: the accepted change '%s' is unused: no limit judges %s of %s", a->name,
                a->metric, a->profile);
        else if (use.passed == use.judged)
            add(&r->notes, j->arena,
                "warning: the accepted change '%s' is unused: %s of %s passes without it", a->name,
                a->metric, a->profile);
    }
}

/* Who measures again until it passes is told, and so is whoever reads the report. */
void notes_attempts(struct report *r, const struct judging *j)
{
    struct buf list = BUF_INIT;

    for (size_t i = 0; i < r->earlier_count; i++)
        buf_printf(&list, "%s%s (%.10s, '%s', digest %.16s)", i ? ", " : "", r->earlier[i].verdict,
                   r->earlier[i].started, r->earlier[i].archive,
                   r->earlier[i].digest[0] ? r->earlier[i].digest : "none");
    if (r->earlier_count)
        add(&r->notes, j->arena,
            "attempt %zu: the same plan with the same programs was run before: %s",
            r->earlier_count + 1, list.data);
    buf_release(&list);
}
