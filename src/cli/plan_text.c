#include "cli/plan_text.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/units.h"
#include "judge/judge.h"
#include "judge/power.h"
#include "model/network_text.h"
#include "plan/lab.h"
#include "report/figures.h"
#include "report/table.h"

#include <math.h>
#include <string.h>

void plan_time_text(uint64_t ns, struct buf *out)
{
    unsigned long long s = (ns + 500000000ULL) / 1000000000ULL;
    if (s >= 3600)
        buf_printf(out, "%llu h %02llu min", s / 3600, s / 60 % 60);
    else if (s >= 60)
        buf_printf(out, "%llu min %02llu s", s / 60, s % 60);
    else
        buf_printf(out, "%llu s", s);
}

static void line(const struct report_style *style, const char *label, const char *text,
                 struct buf *out)
{
    tone_text(out, style->color, TONE_HEAD, label);
    size_t len = strlen(label);
    size_t fill = len < 12 ? 12 - len : 1;
    struct buf safe = BUF_INIT;
    safe_text(&safe, text, strlen(text));
    buf_fill(out, ' ', fill);
    text_wrap(out, safe.data, len + fill, 12, (size_t)style->columns);
    buf_addch(out, '\n');
    buf_release(&safe);
}

static void variants(const struct plan *plan, const struct report_style *style, struct buf *out)
{
    for (size_t i = 0; i < plan->variant_count; i++) {
        const struct variant *v = &plan->variants[i];
        struct buf text = BUF_INIT;
        buf_addstr(&text, v->display ? v->display : v->program ? v->program : "(runner's own)");
        if (v->sha256[0])
            buf_printf(&text, "  (program %.12s...)", v->sha256);
        line(style, v->name, text.data, out);
        buf_release(&text);
    }
}

/* "8 pairs, then 16 to confirm where it does not pass; 1 warm-up run each; pause 1s; ..." */
static void repeats(const struct plan *plan, const struct profile *p, int64_t duration_ms,
                    struct buf *out)
{
    char pause[UNITS_TEXT], timeout[UNITS_TEXT];
    units_canonical_time(p->pause_ns, pause);
    units_canonical_time(p->timeout_ns, timeout);
    int pairs = plan_pairs(plan, p), confirm = plan_confirm(plan, p);
    if (plan->sha256[0] == '\0' && p == plan->profiles)
        buf_printf(out, "as many pairs as fit %lld ms a variant", (long long)duration_ms);
    else
        buf_printf(out, "%d pair%s", pairs, pairs == 1 ? "" : "s");
    if (confirm > 0)
        buf_printf(out, ", and %d fresh ones if they do not pass", confirm);
    if (plan_min_complete(plan, p) < pairs)
        buf_printf(out, "; %d must be complete", plan_min_complete(plan, p));
    if (p->warmup > 0)
        buf_printf(out, "; %d warm-up run%s a variant", p->warmup, p->warmup == 1 ? "" : "s");
    buf_printf(out, "; pause %s; time-out %s", pause, timeout);
}

/* One gating limit: how far, and how often it cries wolf when the noise is as large as it. */
static void limit_text(const struct plan *plan, const struct profile *p, const char *metric,
                       enum metric_better better, struct buf *out)
{
    const struct limit *limit = thresholds_limit(&plan->thresholds, p->name, metric);
    int pairs = plan_pairs(plan, p);
    if (!limit || !limit->worse_text || !plan_yields(plan, p, metric))
        return;
    struct power_gate gate = {
        .rule = plan->thresholds.rule,
        .pairs = (size_t)pairs,
        .confirm = (size_t)plan_confirm(plan, p),
        .threshold = limit->worse,
        .better = better,
    };
    buf_printf(out, "%s%s %s worse", out->len ? "; " : "", metric, limit->worse_text);
    if (pairs >= 5)
        buf_printf(out, " (%.2g%% false alarms where sigma is as large)",
                   100 * power_false_alarm(&gate, limit->worse));
}

static void limits(const struct plan *plan, const struct profile *p, struct buf *out)
{
    size_t count;
    const struct metric_def *table = metric_table(&count);
    const struct runner *runner = plan_find_runner(plan, p->runner);
    for (size_t i = 0; i < count; i++)
        limit_text(plan, p, table[i].name, table[i].better, out);
    for (size_t i = 0; runner && i < runner->metric_count; i++) {
        if (!metric_find(runner->metrics[i].name))
            limit_text(plan, p, runner->metrics[i].name, runner->metrics[i].better, out);
    }
}

static void network(const struct plan *plan, const struct profile *p,
                    const struct report_style *style, struct buf *out)
{
    const struct runner *r = plan_find_runner(plan, p->runner);
    bool pair = p->network.topology == NET_PAIR && r && r->role_count == NET_PAIR_ROLES;
    struct buf text = BUF_INIT;

    if (p->network.topology == NET_HOST)
        return;
    network_say(&p->network, pair ? r->roles[0].name : NULL, pair ? r->roles[1].name : NULL, &text);
    line(style, "  network", text.data, out);
    buf_release(&text);
}

static void profile_text(const struct plan *plan, const struct profile *p, int64_t duration_ms,
                         const struct report_style *style, struct buf *out)
{
    struct buf text = BUF_INIT;
    buf_addch(out, '\n');
    tone_text(out, style->color, TONE_BOLD, p->name);
    buf_addch(out, '\n');
    repeats(plan, p, duration_ms, &text);
    line(style, "  runs", text.data, out);
    buf_clear(&text);
    if (p->pass == PASS_MEMORY)
        line(style, "  counts", "what programs ask their heaps for; these runs give no times", out);
    for (size_t i = 0; i < p->load_count; i++)
        buf_printf(&text, "%s%s=%s", i ? " " : "", p->load[i].name, p->load[i].text);
    if (text.len)
        line(style, "  load", text.data, out);
    buf_clear(&text);
    network(plan, p, style, out);
    limits(plan, p, &text);
    line(style, "  limits", text.len ? text.data : "none: nothing is judged", out);
    buf_clear(&text);
    double factor = judge_sees_factor(plan_pairs(plan, p));
    if (text.len == 0 && isfinite(factor) && plan_pairs(plan, p) > 0) {
        buf_printf(&text,
                   "a change of %.3g times the noise (sigma of the paired change), 8 times "
                   "in 10",
                   factor);
        line(style, "  sees", text.data, out);
    }
    buf_release(&text);
}

static void accepted_text(const struct accepted *a, const struct report_style *style,
                          struct buf *out)
{
    struct buf text = BUF_INIT, safe = BUF_INIT;

    buf_printf(&text, "%s: %s of %s up to %s until %s, by %s: %s", a->name, a->metric, a->profile,
               a->up_to_text, a->until, a->who, a->reason);
    safe_text(&safe, text.data, text.len);
    line(style, "accepted", safe.data, out);
    buf_release(&safe);
    buf_release(&text);
}

void plan_text(const struct plan *plan, int64_t duration_ms, const struct report_style *style,
               struct buf *out)
{
    struct buf text = BUF_INIT;
    bool sealed = plan->sha256[0] != '\0';
    line(style, "plan", sealed ? plan->sha256 : "hashed when the warm-up runs have fixed the pairs",
         out);
    variants(plan, style, out);
    uint64_t ns = plan_expected_ns(plan);
    if (sealed)
        buf_printf(&text, "%llu, one after the other", (unsigned long long)plan_run_count(plan));
    else
        buf_addstr(&text, "fixed by the warm-up runs");
    line(style, "runs", text.data, out);
    buf_clear(&text);
    if (sealed && ns > 0)
        plan_time_text(ns, &text);
    else if (!sealed)
        plan_time_text((uint64_t)duration_ms * plan->variant_count * 1000000ULL, &text);
    else
        buf_addstr(&text, "unknown: it depends on the programs");
    line(style, "time", text.data, out);
    line(style, "isolation", plan->isolation ? plan->isolation : "-", out);
    buf_clear(&text);
    buf_printf(&text, "%s, rule %s", plan->thresholds.name ? plan->thresholds.name : "none",
               rule_name(plan->thresholds.rule));
    line(style, "thresholds", text.data, out);
    for (size_t i = 0; i < plan->accepted_count; i++)
        accepted_text(&plan->accepted[i], style, out);
    for (size_t i = 0; i < plan->profile_count; i++)
        profile_text(plan, &plan->profiles[i], duration_ms, style, out);
    buf_release(&text);
}

/* ---- labs ---- */

static void lab_numbers(const struct lab *lab, const struct report_style *style, struct buf *out)
{
    struct buf text = BUF_INIT;
    uint64_t ns = lab_expected_ns(lab);
    line(style, "series", lab->name, out);
    if (lab->description)
        line(style, "", lab->description, out);
    line(style, "lab", lab->sha256, out);
    buf_printf(&text, "%zu, one after the other", lab->comparison_count);
    line(style, "comparisons", text.data, out);
    buf_clear(&text);
    buf_printf(&text, "%llu in all", (unsigned long long)lab_run_count(lab));
    line(style, "runs", text.data, out);
    buf_clear(&text);
    if (ns > 0)
        plan_time_text(ns, &text);
    else
        buf_addstr(&text, "unknown: it depends on the programs");
    line(style, "time", text.data, out);
    buf_release(&text);
}

void lab_plan_text(const struct lab *lab, const struct report_style *style, struct buf *out)
{
    lab_numbers(lab, style, out);
    for (size_t i = 0; i < lab->comparison_count; i++) {
        const struct lab_comparison *c = &lab->comparisons[i];
        struct buf text = BUF_INIT;
        buf_printf(&text, "--- %s%s%s", c->name, c->description ? ": " : "",
                   c->description ? c->description : "");
        buf_addch(out, '\n');
        tone_text(out, style->color, TONE_HEAD, text.data);
        buf_addch(out, '\n');
        plan_text(&c->plan, 0, style, out);
        buf_release(&text);
    }
}
