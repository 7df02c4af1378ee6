#include "judge/judge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "judge/assess.h"
#include "judge/exact.h"
#include "judge/notes.h"
#include "judge/power.h"
#include "judge/regimes.h"
#include "judge/scaling.h"
#include "judge/table.h"

/* ---- over all profiles ---- */

static int count_gates(const struct judging *j, const struct assessment *x)
{
    int gates = 0;

    for (size_t i = 0; i < j->plan->profile_count; i++) {
        for (size_t m = 0; m < x[i].decided.metric_count; m++)
            gates += x[i].decided.gates[m].judged ? 1 : 0;
    }
    return gates;
}

/* Holm over the gating verdicts; those without a p stay in the family as the largest. */
static void fill_holm(struct report *r, const struct judging *j, const struct assessment *x)
{
    size_t family = (size_t)r->gating_verdicts, known = 0;
    double *p = xreallocarray(NULL, 2 * family + 1, sizeof(*p)), *adjusted = p + family;
    struct report_metric **rows = xreallocarray(NULL, family + 1, sizeof(struct report_metric *));

    for (size_t i = 0; i < j->plan->profile_count; i++) {
        for (size_t m = 0; m < x[i].decided.metric_count; m++) {
            if (!x[i].decided.gates[m].judged || isnan(x[i].decided.p_worse[m]))
                continue;
            rows[known] = &r->profiles[i].metrics[m];
            p[known++] = x[i].decided.p_worse[m];
        }
    }
    holm_adjust(p, known, family, adjusted);
    for (size_t i = 0; i < known; i++)
        rows[i]->holm_p = adjusted[i];
    free(rows);
    free(p);
}

static struct power_gate power_gate_of(const struct judging *j, const struct profile *p,
                                       const struct gate *g, enum metric_better better)
{
    return (struct power_gate){
        .rule = g->rule,
        .pairs = (size_t)plan_pairs(j->plan, p),
        .confirm = (size_t)plan_confirm(j->plan, p),
        .threshold = g->accepted ? g->accepted->up_to : g->threshold,
        .better = better,
    };
}

/* False alarms of one profile's gates whose noise is known; appends them to `alarms`. */
static size_t profile_alarms(struct report_profile *out, const struct judging *j,
                             const struct assessment *x, double *alarms)
{
    size_t rows = x->decided.metric_count, m = 0;
    struct power_gate *gates = xreallocarray(NULL, rows + 1, sizeof(*gates));
    double *sigmas = xreallocarray(NULL, rows + 1, sizeof(*sigmas));

    for (size_t i = 0; i < rows; i++) {
        if (!x->decided.gates[i].judged || isnan(out->metrics[i].sigma))
            continue;
        gates[m] = power_gate_of(j, x->decided.stage.profile, &x->decided.gates[i],
                                 out->metrics[i].better);
        sigmas[m++] = out->metrics[i].sigma;
    }
    power_profile(gates, sigmas, m, alarms);
    m = 0;
    for (size_t i = 0; i < rows; i++) {
        if (x->decided.gates[i].judged && !isnan(out->metrics[i].sigma))
            out->metrics[i].false_alarm = alarms[m++];
    }
    free(sigmas);
    free(gates);
    return m;
}

static void fill_alarms(struct report *r, const struct judging *j, const struct assessment *x)
{
    double *alarms = xreallocarray(NULL, (size_t)r->gating_verdicts + 1, sizeof(*alarms));
    size_t known = 0;

    for (size_t i = 0; i < r->profile_count; i++)
        known += profile_alarms(&r->profiles[i], j, &x[i], alarms + known);
    r->expected_false_alarms = r->any_false_alarm = NAN;
    if (known)
        power_series(alarms, known, &r->expected_false_alarms, &r->any_false_alarm);
    free(alarms);
}

/* ---- least favourable changes ---- */

static double worse_of(const struct report_metric *m, double change)
{
    return m->better == BETTER_HIGHER ? -change : change;
}

static void consider_worst(struct report *r, const struct report_metric *m, const char *profile)
{
    const struct metric_def *def = metric_find(m->metric);
    struct report_worst *w = r->worst;

    if (isnan(m->median_change) || (def && !def->judgeable))
        return;
    while (w < r->worst + r->worst_count &&
           (strcmp(w->metric, m->metric) != 0 || strcmp(w->candidate, m->candidate) != 0))
        w++;
    if (w == r->worst + r->worst_count)
        r->worst_count++;
    else if (worse_of(m, m->median_change) <= worse_of(m, w->median_change))
        return;
    *w = (struct report_worst){m->candidate, m->metric, profile, m->median_change};
}

static void fill_worst(struct report *r, struct arena *arena)
{
    size_t rows = 0;

    for (size_t p = 0; p < r->profile_count; p++)
        rows += r->profiles[p].metric_count;
    r->worst = arena_array(arena, rows, sizeof(*r->worst));
    for (size_t p = 0; p < r->profile_count; p++) {
        for (size_t m = 0; m < r->profiles[p].metric_count; m++) {
            const struct report_metric *row = &r->profiles[p].metrics[m];

            consider_worst(r, row, r->profiles[p].profile);
            r->marks_tested += isnan(row->interval_low) ? 0 : 1;
        }
    }
}

/* ---- the whole ---- */

static void fill_head(struct report *r, const struct judging *j)
{
    const struct plan *plan = j->plan;

    *r = (struct report){
        .series = plan->series,
        .analysis = plan->analysis,
        .rule = rule_name(j->limits->rule),
        .thresholds = j->limits->name,
        .exploratory = j->exploratory,
        .earlier = j->archive->earlier,
        .earlier_count = j->archive->earlier_count,
        .profile_count = plan->profile_count,
    };
    memcpy(r->plan_sha256, plan->sha256, sizeof(r->plan_sha256));
    r->profiles = arena_array(j->arena, plan->profile_count, sizeof(*r->profiles));
    for (size_t i = 0; i < plan->variant_count; i++) {
        strings_add(&r->variants, j->arena, plan->variants[i].name);
        strings_add(&r->displays, j->arena,
                    plan->variants[i].display ? plan->variants[i].display : plan->variants[i].name);
    }
}

/* A metric that was asked for by name and that nothing can yield leaves its question open. */
static bool question_open(const struct judging *j)
{
    for (size_t i = 0; i < j->limits->limit_count; i++) {
        if (j->limits->limits[i].asked &&
            !plan_yields_anywhere(j->plan, j->limits->limits[i].metric))
            return true;
    }
    return false;
}

static void fill_verdict(struct report *r, const struct judging *j)
{
    if (r->profile_count == 0)
        return;
    r->verdict = r->profiles[0].verdict;
    for (size_t i = 1; i < r->profile_count; i++)
        r->verdict = verdict_worse(r->verdict, r->profiles[i].verdict);
    if (question_open(j) && r->verdict != VERDICT_IDENTICAL)
        r->verdict = verdict_worse(r->verdict, VERDICT_INCOMPLETE);
}

static void judge_all(struct judging *j, struct report *r)
{
    struct assessment *x = arena_array(j->arena, j->plan->profile_count, sizeof(*x));
    struct arena tables = ARENA_INIT;

    j->tables = &tables;
    fill_head(r, j);
    for (size_t i = 0; i < r->profile_count; i++) {
        assess_profile(&x[i], &r->profiles[i], j, i);
        notes_profile(&r->profiles[i], &x[i], j);
        r->runs_done += x[i].done;
        r->runs_planned += x[i].planned;
        x[i].decided.stage.run = NULL;
        arena_release(&tables);
    }
    j->tables = NULL;
    r->finished = r->runs_done >= r->runs_planned;
    r->gating_verdicts = count_gates(j, x);
    fill_holm(r, j, x);
    fill_alarms(r, j, x);
    fill_worst(r, j->arena);
    if (j->archive->has_tables) {
        for (size_t i = 0; i < r->profile_count; i++)
            table_fill(r, x, i, j);
        scaling_fill(r, x, j);
        regimes_fill(r, x, j);
    }
    fill_verdict(r, j);
    notes_series(r, x, j);
}

static int check_analysis(const struct plan *plan, struct err *err)
{
    if (plan->analysis == PLAN_ANALYSIS)
        return 0;
    err_set(err, ERR_ARCHIVE, "the archive asks for analysis %d, which is not known here",
            plan->analysis);
    return err_hint(err, "a newer abba can judge it");
}

int judge_archive(const struct archive *a, struct report *r, struct arena *arena, struct err *err)
{
    struct judging j = {
        .archive = a, .plan = a->plan, .limits = &a->plan->thresholds, .arena = arena};

    if (check_analysis(a->plan, err) < 0)
        return -1;
    judge_all(&j, r);
    return 0;
}

int judge_archive_with(const struct archive *a, const struct thresholds *t, struct report *r,
                       struct arena *arena, struct err *err)
{
    struct judging j = {
        .archive = a, .plan = a->plan, .limits = t, .exploratory = true, .arena = arena};

    if (check_analysis(a->plan, err) < 0)
        return -1;
    for (size_t i = 0; i < t->limit_count; i++) {
        if (t->limits[i].asked && !plan_yields_anywhere(j.plan, t->limits[i].metric))
            return err_set(err, ERR_CONFIG, "no profile of the series yields the metric '%s'",
                           t->limits[i].metric);
    }
    judge_all(&j, r);
    return 0;
}

bool judge_needs_confirm(const struct archive *a, const char *profile)
{
    struct arena arena = ARENA_INIT;
    struct judging j = {.archive = a,
                        .plan = a->plan,
                        .limits = &a->plan->thresholds,
                        .arena = &arena,
                        .tables = &arena};
    struct judged_stage s = {0};

    for (size_t i = 0; i < a->plan->profile_count; i++) {
        if (strcmp(a->plan->profiles[i].name, profile) == 0)
            assess_stage(&s, &j, i, STAGE_MAIN);
    }
    arena_release(&arena);
    return s.verdict == VERDICT_REGRESSED || s.verdict == VERDICT_INCONCLUSIVE;
}

double judge_sees_factor(int pairs)
{
    double factor;

    return pairs > 0 && power_factor((size_t)pairs, &factor) ? factor : NAN;
}
