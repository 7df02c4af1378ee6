#include "judge/lab.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "judge/judge.h"

/* ---- one comparison ---- */

/* Until SHA256SUMS is there nothing says that all is: the comparison has no verdict yet. */
static void admit_unfinished(const struct archive *a, struct report *r)
{
    if (a->finished)
        return;
    r->finished = false;
    if (r->verdict != VERDICT_INVALID)
        r->verdict = VERDICT_INCOMPLETE;
}

static bool sets_limits(const struct plan *plan)
{
    return strcmp(plan->thresholds.name, "none") != 0;
}

/* Thresholds that judge nothing leave their question open; a comparison that asks none does not. */
static enum verdict verdict_of(const struct plan *plan, const struct report *r)
{
    if (r->verdict == VERDICT_NOT_JUDGED && !plan->aa && sets_limits(plan))
        return VERDICT_INCOMPLETE;
    return r->verdict;
}

static int judge_comparison(struct lab_result *out, const struct lab_comparison *c,
                            const struct archive *a, struct arena *arena, struct err *err)
{
    *out = (struct lab_result){
        .comparison = c->name,
        .description = c->description,
        .folder = c->folder,
        .plan_sha256 = c->plan.sha256,
        .state = "not_begun",
        .verdict = VERDICT_INCOMPLETE,
        .aa = c->plan.aa,
        .runs_planned = plan_run_count(&c->plan),
    };
    if (!a)
        return 0;
    out->report = arena_alloc(arena, sizeof(*out->report));
    if (judge_archive(a, out->report, arena, err) < 0)
        return err_wrap(err, "comparison '%s'", c->name);
    admit_unfinished(a, out->report);
    out->digest = a->finished ? a->digest : NULL;
    out->state = out->report->finished ? "done" : "partial";
    out->verdict = verdict_of(a->plan, out->report);
    out->runs_done = out->report->runs_done;
    out->runs_planned = out->report->runs_planned;
    return 0;
}

/* ---- least favourable changes ---- */

static double worse_of(const struct report_metric *m)
{
    return m->better == BETTER_HIGHER ? -m->median_change : m->median_change;
}

static struct lab_worst *worst_of(struct lab_report *r, const char *metric)
{
    for (size_t i = 0; i < r->worst_count; i++)
        if (strcmp(r->worst[i].metric, metric) == 0)
            return &r->worst[i];
    return NULL;
}

static void consider(struct lab_report *r, const struct lab_result *c,
                     const struct report_profile *p, const struct report_metric *m)
{
    const struct metric_def *def = metric_find(m->metric);
    struct lab_worst *w = worst_of(r, m->metric);
    bool judged = w && w->judged;

    if (isnan(m->median_change) || (def && !def->judgeable))
        return;
    judged = judged || !isnan(m->threshold);
    if (w && worse_of(m) <= (w->better == BETTER_HIGHER ? -w->median_change : w->median_change)) {
        w->judged = judged;
        return;
    }
    if (!w)
        w = &r->worst[r->worst_count++];
    *w = (struct lab_worst){
        .metric = m->metric,
        .unit = m->unit,
        .better = m->better,
        .comparison = c->comparison,
        .candidate = m->candidate,
        .profile = p->profile,
        .median_change = m->median_change,
        .median_difference = m->median_difference,
        .judged = judged,
    };
}

/* Visits the metrics of all comparisons, or only counts them (`consider_it` false). */
static size_t visit_metrics(struct lab_report *r, const struct lab_archive *l, bool consider_it)
{
    size_t rows = 0;

    for (size_t i = 0; i < r->comparison_count; i++) {
        const struct report *one = r->comparisons[i].report;

        if (!one || l->lab->comparisons[i].plan.aa)
            continue;
        for (size_t p = 0; p < one->profile_count; p++) {
            for (size_t m = 0; m < one->profiles[p].metric_count && consider_it; m++)
                consider(r, &r->comparisons[i], &one->profiles[p], &one->profiles[p].metrics[m]);
            rows += one->profiles[p].metric_count;
        }
    }
    return rows;
}

static void fill_worst(struct lab_report *r, const struct lab_archive *l, struct arena *arena)
{
    r->worst = arena_array(arena, visit_metrics(r, l, false) + 1, sizeof(*r->worst));
    visit_metrics(r, l, true);
}

/* ---- failures ---- */

/* The same name may stand for something else in another comparison. */
static struct lab_variant *variant_of(struct lab_report *r, const struct variant *v)
{
    const char *command = v->display ? v->display : v->name;
    struct lab_variant *found;

    for (size_t i = 0; i < r->variant_count; i++)
        if (strcmp(r->variants[i].variant, v->name) == 0 &&
            strcmp(r->variants[i].command, command) == 0)
            return &r->variants[i];
    found = &r->variants[r->variant_count++];
    *found = (struct lab_variant){.variant = v->name, .command = command};
    return found;
}

static bool same_error(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static void count_error(struct lab_variant *v, const char *comparison, const char *error,
                        struct arena *arena)
{
    struct lab_error *grown;

    for (size_t i = 0; i < v->error_count; i++) {
        if (same_error(v->errors[i].error, error)) {
            v->errors[i].count++;
            return;
        }
    }
    grown = arena_array(arena, v->error_count + 1, sizeof(*grown));
    if (v->error_count)
        memcpy(grown, v->errors, v->error_count * sizeof(*grown));
    v->errors = grown;
    v->errors[v->error_count++] = (struct lab_error){comparison, error, 1};
}

static void count_run(struct lab_report *r, const struct lab_comparison *c, const struct archive *a,
                      const struct archive_run *run, struct arena *arena)
{
    if (run->stage == STAGE_WARMUP || run->status == SAMPLE_INTERRUPTED)
        return;
    for (size_t i = 0; i < a->plan->variant_count; i++) {
        struct lab_variant *v;

        if (strcmp(a->plan->variants[i].name, run->variant) != 0)
            continue;
        v = variant_of(r, &a->plan->variants[i]);
        v->runs++;
        if (run->status == SAMPLE_OK)
            continue;
        v->failed++;
        count_error(v, c->name, run->error, arena);
    }
}

/* Whether a later attempt at the pair counts instead. */
static bool is_replaced(const struct archive *a, size_t run)
{
    const struct archive_run s = archive_run(a, run);

    for (size_t i = run + 1; i < a->sample_count; i++) {
        const struct archive_run later = archive_run(a, i);

        if (later.attempt > s.attempt && later.pair == s.pair && later.stage == s.stage &&
            strings_same(later.profile, s.profile))
            return true;
        if (later.pair > s.pair + 1 && strings_same(later.profile, s.profile))
            return false; /* an attempt follows the pair that it repeats */
    }
    return false;
}

static void fill_variants(struct lab_report *r, const struct lab_archive *l, struct arena *arena)
{
    size_t room = 0;

    for (size_t i = 0; i < r->comparison_count; i++)
        room += l->lab->comparisons[i].plan.variant_count;
    r->variants = arena_array(arena, room, sizeof(*r->variants));
    for (size_t i = 0; i < r->comparison_count; i++) {
        const struct archive *a = l->archives[i];

        for (size_t k = 0; a && k < a->sample_count; k++) {
            const struct archive_run run = archive_run(a, k);

            if (!is_replaced(a, k))
                count_run(r, &l->lab->comparisons[i], a, &run, arena);
        }
    }
}

/* ---- false alarms ---- */

static int known_alarms(const struct report *r)
{
    int known = 0;

    for (size_t p = 0; p < r->profile_count; p++)
        for (size_t m = 0; m < r->profiles[p].metric_count; m++)
            known += !isnan(r->profiles[p].metrics[m].false_alarm);
    return known;
}

/* Gates of all comparisons are taken as independent, as those of one series are. */
static void fill_alarms(struct lab_report *r)
{
    double none = 1.0;

    r->expected_false_alarms = r->any_false_alarm = NAN;
    for (size_t i = 0; i < r->comparison_count; i++) {
        const struct report *one = r->comparisons[i].report;

        r->gating_verdicts += one ? one->gating_verdicts : 0;
        r->alarm_verdicts += one ? known_alarms(one) : 0;
        if (!one || isnan(one->expected_false_alarms))
            continue;
        if (isnan(r->expected_false_alarms))
            r->expected_false_alarms = 0.0;
        r->expected_false_alarms += one->expected_false_alarms;
        none *= 1.0 - one->any_false_alarm;
        r->any_false_alarm = 1.0 - none;
    }
}

/* ---- the whole ---- */

static void fill_verdict(struct lab_report *r)
{
    r->verdict = r->comparisons[0].verdict;
    r->finished = true;
    for (size_t i = 0; i < r->comparison_count; i++) {
        const struct lab_result *c = &r->comparisons[i];

        r->verdict = verdict_worse(r->verdict, c->verdict);
        r->runs_done += c->runs_done;
        r->runs_planned += c->runs_planned;
        r->finished = r->finished && strcmp(c->state, "done") == 0;
    }
}

/* Figures of several machines are not to be laid side by side. */
static void note_machines(struct lab_report *r, struct arena *arena)
{
    const char *first = NULL;

    for (size_t i = 0; i < r->comparison_count; i++) {
        const struct report *one = r->comparisons[i].report;

        if (!one || !one->host_note)
            continue;
        if (first && strcmp(first, one->host_note) != 0) {
            strings_add(&r->notes, arena,
                        arena_printf(arena,
                                     "the comparisons ran on different machines, or on a changed "
                                     "one: %s; %s",
                                     first, one->host_note));
            return;
        }
        first = one->host_note;
    }
}

static void fill_notes(struct lab_report *r, const struct lab_archive *l, struct arena *arena)
{
    for (size_t i = 0; i < r->comparison_count; i++) {
        const struct lab_result *c = &r->comparisons[i];
        const struct plan *plan = &l->lab->comparisons[i].plan;

        if (c->verdict == VERDICT_INCOMPLETE && c->report &&
            c->report->verdict == VERDICT_NOT_JUDGED)
            strings_add(&r->notes, arena,
                        arena_printf(arena,
                                     "'%s' has thresholds, and nothing that they could judge",
                                     c->comparison));
        else if (!plan->aa && !sets_limits(plan))
            strings_add(&r->notes, arena,
                        arena_printf(arena, "'%s' is shown, not judged: it has no thresholds",
                                     c->comparison));
    }
}

int judge_lab(const struct lab_archive *l, struct lab_report *r, struct arena *arena,
              struct err *err)
{
    const struct lab *lab = l->lab;

    *r = (struct lab_report){
        .series = lab->name,
        .analysis = PLAN_ANALYSIS,
        .comparison_count = lab->comparison_count,
    };
    memcpy(r->sha256, lab->sha256, sizeof(r->sha256));
    r->comparisons = arena_array(arena, r->comparison_count, sizeof(*r->comparisons));
    for (size_t i = 0; i < r->comparison_count; i++)
        if (judge_comparison(&r->comparisons[i], &lab->comparisons[i], l->archives[i], arena, err) <
            0)
            return -1;
    fill_verdict(r);
    fill_worst(r, l, arena);
    fill_variants(r, l, arena);
    fill_alarms(r);
    fill_notes(r, l, arena);
    note_machines(r, arena);
    return 0;
}
