#include "report/lab_figures.h"

#include "base/buf.h"
#include "base/mem.h"
#include "report/figures.h"
#include "report/regimes_figures.h"

#include <math.h>
#include <string.h>

void lab_summary(const struct lab_report *r, struct buf *out)
{
    size_t same = 0;
    for (size_t i = 0; i < r->comparison_count; i++)
        same += r->comparisons[i].verdict == r->verdict;
    buf_printf(out, "%zu of %zu comparison%s; %llu of %llu runs", same, r->comparison_count,
               r->comparison_count == 1 ? "" : "s", (unsigned long long)r->runs_done,
               (unsigned long long)r->runs_planned);
    if (!r->finished)
        buf_addstr(out, "; unfinished");
}

void lab_alarms(const struct lab_report *r, struct buf *out)
{
    const struct report all = {
        .gating_verdicts = r->gating_verdicts,
        .expected_false_alarms = r->expected_false_alarms,
        .any_false_alarm = r->any_false_alarm,
    };
    report_alarms(&all, out);
    if (r->gating_verdicts > 0 && r->alarm_verdicts < r->gating_verdicts)
        buf_printf(out, "; the noise of %d of them is %sknown",
                   r->alarm_verdicts ? r->alarm_verdicts : r->gating_verdicts,
                   r->alarm_verdicts ? "" : "not ");
}

bool lab_worst_shown(const struct lab_report *r, const struct lab_worst *w, bool verbose)
{
    const struct report_metric like = {.metric = w->metric,
                                       .threshold = NAN,
                                       .median_change = w->median_change,
                                       .baseline_max = 1};
    if (verbose || w->judged)
        return true;
    for (size_t i = 0; i < r->worst_count; i++) {
        if (r->worst[i].judged)
            return false;
    }
    return metric_prominent(&like);
}

void lab_failed(const struct lab_variant *v, struct buf *out)
{
    if (v->failed)
        buf_printf(out, "%d of %d runs failed", v->failed, v->runs);
    else
        buf_printf(out, "none of %d runs failed", v->runs);
}

void lab_sides(const struct lab_result *c, struct buf *out)
{
    if (!c->report)
        return;
    for (size_t i = 0; i < c->report->variants.count; i++) {
        safe_text(out, c->report->variants.items[i], strlen(c->report->variants.items[i]));
        if (i + 1 < c->report->variants.count)
            buf_addstr(out, i ? ", " : " against ");
    }
}

void lab_flips(const struct lab_report *r, struct strings *lines, struct arena *arena)
{
    for (size_t i = 0; i < r->comparison_count; i++) {
        const struct report *one = r->comparisons[i].report;
        for (size_t k = 0; one && one->regimes && k < one->regimes->flip_count; k++) {
            struct buf text = BUF_INIT;
            regimes_flip(one, &one->regimes->flips[k], &text);
            strings_add(lines, arena,
                        arena_printf(arena, "%s: %s", r->comparisons[i].comparison, text.data));
            buf_release(&text);
        }
    }
}
