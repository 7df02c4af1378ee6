#include "judge/assess.h"

#include <fnmatch.h>
#include <math.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strings.h"
#include "judge/exact.h"
#include "judge/notes_memory.h"
#include "judge/outcomes.h"
#include "judge/summary.h"

/* ---- what was fixed beforehand ---- */

static const struct profile_control *control_of(const struct profile *p, const char *metric)
{
    for (size_t i = 0; i < p->control_count; i++) {
        if (strcmp(p->controls[i].metric, metric) == 0)
            return &p->controls[i];
    }
    return NULL;
}

bool accepted_expired(const struct archive *a, const struct accepted *accepted)
{
    return strncmp(a->started, accepted->until, 10) > 0;
}

bool accepted_matches(const struct accepted *a, const struct profile *p, const char *metric)
{
    return strcmp(a->metric, metric) == 0 && fnmatch(a->profile, p->name, 0) == 0;
}

/* Of several that fit, and have not expired, the one that allows most. */
static const struct accepted *accepted_of(const struct judging *j, const struct profile *p,
                                          const char *metric)
{
    const struct accepted *best = NULL;

    for (size_t i = 0; i < j->plan->accepted_count; i++) {
        const struct accepted *a = &j->plan->accepted[i];

        if (accepted_matches(a, p, metric) && !accepted_expired(j->archive, a) &&
            (!best || a->up_to > best->up_to))
            best = a;
    }
    return best;
}

/* A limit judges what the profile can yield, or yields against expectation (n > 0). */
static struct gate gate_of(const struct judging *j, const struct stage *s, const char *metric,
                           size_t n)
{
    const struct limit *limit = thresholds_limit(j->limits, s->profile->name, metric);
    const struct profile_control *control = control_of(s->profile, metric);
    struct gate gate = {.rule = j->limits->rule,
                        .range = s->profile->pass == PASS_MEMORY,
                        .pairs = s->blocks,
                        .min_complete = s->min_complete};

    const struct accepted *accepted = accepted_of(j, s->profile, metric);

    if (limit && (n > 0 || plan_yields(j->plan, s->profile, metric))) {
        gate.judged = limit->worse_text != NULL;
        gate.threshold = limit->worse;
        gate.threshold_text = limit->worse_text;
        gate.accepted = gate.judged && accepted && accepted->up_to > limit->worse ? accepted : NULL;
        gate.claimed = limit->claim == CLAIM_BETTER;
    }
    if (control) {
        gate.control = true;
        gate.control_limit = control->limit;
        gate.control_text = control->limit_text;
    }
    return gate;
}

static void require_limits(const struct judging *j, struct stage *s, const struct limit *limits,
                           size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (plan_yields(j->plan, s->profile, limits[i].metric))
            stage_require(s, limits[i].metric, j->arena);
    }
}

/* A metric that is judged stands in the report also when no run has it. */
static void require_judged(const struct judging *j, struct stage *s)
{
    const struct thresholds *t = j->limits;

    require_limits(j, s, t->limits, t->limit_count);
    for (size_t i = 0; i < t->override_count; i++) {
        if (fnmatch(t->overrides[i].glob, s->profile->name, 0) == 0)
            require_limits(j, s, t->overrides[i].limits, t->overrides[i].limit_count);
    }
    for (size_t i = 0; i < s->profile->control_count; i++)
        stage_require(s, s->profile->controls[i].metric, j->arena);
}

/* ---- one stage ---- */

static void judge_metric(struct judged_stage *s, const struct judging *j, struct columns *c,
                         size_t metric, size_t candidate)
{
    const char *name = s->stage.metrics[metric];
    struct report_metric *m = &s->metrics[s->metric_count];
    struct gate *gate = &s->gates[s->metric_count];

    columns_fill(c, &s->stage, metric, candidate, j->arena);
    m->candidate = j->plan->variants[candidate].name;
    m->metric = name;
    plan_metric(j->plan, name, &m->unit, &m->better);
    if (c->unit)
        m->unit = c->unit;
    *gate = gate_of(j, &s->stage, name, c->n);
    if (j->plan->variants[candidate].control)
        *gate = (struct gate){.rule = gate->rule,
                              .range = gate->range,
                              .pairs = gate->pairs,
                              .min_complete = gate->min_complete};
    verdict_of_metric(m, c, gate, &s->p_worse[s->metric_count++], j->arena);
    memory_mark(m, s->stage.profile, j);
}

/* Runs that did not end well make the stage incomplete, whatever is judged. */
static enum verdict stage_verdict(const struct judged_stage *s)
{
    enum verdict v = VERDICT_NOT_JUDGED;

    for (size_t i = 0; i < s->metric_count; i++) {
        const struct report_metric *m = &s->metrics[i];

        if (s->gates[i].judged || m->verdict == VERDICT_INVALID || m->verdict == VERDICT_INCOMPLETE)
            v = verdict_worse(v, m->verdict);
    }
    return s->complete < s->stage.min_complete ? verdict_worse(v, VERDICT_INCOMPLETE) : v;
}

void assess_stage(struct judged_stage *s, const struct judging *j, size_t profile,
                  enum sample_stage which)
{
    struct columns columns;
    size_t rows;

    *s = (struct judged_stage){0};
    stage_collect(&s->stage, j->archive, profile, which, j->tables, j->arena);
    require_judged(j, &s->stage);
    rows = s->stage.metric_count * (s->stage.variants - 1);
    s->metrics = arena_array(j->arena, rows, sizeof(*s->metrics));
    s->gates = arena_array(j->arena, rows, sizeof(*s->gates));
    s->p_worse = arena_array(j->arena, rows, sizeof(*s->p_worse));
    columns_init(&columns, &s->stage);
    for (size_t v = 1; v < s->stage.variants; v++) {
        for (size_t m = 0; m < s->stage.metric_count; m++)
            judge_metric(s, j, &columns, m, v);
    }
    columns_release(&columns);
    s->complete = stage_complete(&s->stage, 0);
    s->verdict = stage_verdict(s);
}

/* ---- runs that did not end well ---- */

static void count_failure(struct report_profile *out, const struct archive_run *run)
{
    struct report_failure *f = out->failures;

    while (f < out->failures + out->failure_count && strcmp(f->variant, run->variant) != 0)
        f++;
    if (f == out->failures + out->failure_count) {
        *f = (struct report_failure){.variant = run->variant,
                                     .error = run->error,
                                     .stderr_tail = run->stderr_tail,
                                     .run = run->run};
        out->failure_count++;
    }
    f->count++;
}

/* Counts what became of the runs of a stage. */
static void count_runs(struct assessment *x, struct report_profile *out, const struct stage *s)
{
    for (size_t b = 0; b < s->blocks; b++) {
        for (size_t v = 0; v < s->variants; v++) {
            struct archive_run run;

            if (!stage_run(s, b, v, &run) || run.status == SAMPLE_OK)
                continue;
            if (run.status == SAMPLE_INTERRUPTED)
                x->interrupted++;
            else
                count_failure(out, &run);
        }
    }
    x->done += s->present;
    x->repeated += s->repeated;
}

static const struct archive_run *copy(const struct archive_run *run, struct arena *arena)
{
    struct archive_run *own = arena_alloc(arena, sizeof(*own));

    *own = *run;
    return own;
}

/* A block of warm-ups that begins again takes the place of what was there of it. */
static void count_warmup(struct assessment *x, const struct archive_run *run, size_t *in_block,
                         struct arena *arena)
{
    if (run->slot == 1) {
        if (run->attempt > 1)
            x->done -= *in_block;
        if (run->attempt > 1 && x->bad_warmup && x->bad_warmup->status == SAMPLE_INTERRUPTED)
            x->bad_warmup = NULL;
        *in_block = 0;
    }
    ++*in_block;
    x->done++;
    if (run->status != SAMPLE_OK && !x->bad_warmup)
        x->bad_warmup = copy(run, arena);
}

/* Two back ends do the same to packets, and not at the same cost: their runs are not compared. */
static void look_at_backend(struct assessment *x, const struct archive_run *run,
                            struct arena *arena)
{
    if (!run->backend)
        return;
    if (!x->backend)
        x->backend = run->backend;
    if (!x->mixed && strcmp(run->backend, x->backend) != 0)
        x->mixed = copy(run, arena);
}

/* Warm-ups are in no statistic, but they are runs; and any run may tell of a changed program. */
static void look_at_runs(struct assessment *x, const struct judging *j, const struct profile *p)
{
    size_t in_block = 0, first, end;

    archive_span(j->archive, p->name, &first, &end);
    for (size_t i = first; i < end; i++) {
        const struct archive_run run = archive_run(j->archive, i);

        if (!strings_same(run.profile, p->name))
            continue;
        if (run.program_changed && !x->changed)
            x->changed = copy(&run, j->arena);
        look_at_backend(x, &run, j->arena);
        if (run.stage == STAGE_WARMUP)
            count_warmup(x, &run, &in_block, j->arena);
    }
}

/* ---- the profile ---- */

static const char *order_text(const struct stage *s, struct arena *arena)
{
    size_t ab = 0, ba = 0;

    if (s->plan->import)
        return "as listed";

    for (size_t b = 0; b < s->blocks; b++) {
        struct archive_run first, second;

        if (!stage_run(s, b, 0, &first) || !stage_run(s, b, 1, &second) ||
            first.status != SAMPLE_OK || second.status != SAMPLE_OK)
            continue;
        *(second.slot < first.slot ? &ba : &ab) += 1;
    }
    if (s->variants > 2)
        return arena_printf(arena, "%zu blocks of %zu", ab + ba, s->variants);
    return arena_printf(arena, "%zu AB, %zu BA", ab, ba);
}

/* Rows of an A/A series: the judged metrics, or all that have figures where none is judged. */
static void fill_aa(struct report_profile *out, const struct judged_stage *s,
                    const struct judging *j)
{
    struct columns columns;
    bool any_judged = false;

    for (size_t i = 0; i < s->metric_count; i++)
        any_judged = any_judged || s->gates[i].judged;
    out->aa = arena_array(j->arena, s->stage.metric_count, sizeof(*out->aa));
    columns_init(&columns, &s->stage);
    for (size_t i = 0; i < s->stage.metric_count; i++) {
        const struct report_metric *m = &s->metrics[i]; /* of the first candidate */

        if (m->complete_pairs == 0 || (any_judged && !s->gates[i].judged))
            continue;
        columns_fill(&columns, &s->stage, i, 1, j->arena);
        verdict_of_aa(&out->aa[out->aa_count++], m->metric, m->better, &columns, &s->gates[i],
                      j->plan->seed);
    }
    columns_release(&columns);
}

/* Lets the confirming stage decide where the plan has one and the main stage calls for it. */
static void confirm(struct assessment *x, struct report_profile *out, const struct judging *j,
                    size_t profile, struct judged_stage *main_stage)
{
    struct judged_stage second;

    x->decided = *main_stage;
    if (plan_confirm(j->plan, &j->plan->profiles[profile]) == 0)
        return;
    assess_stage(&second, j, profile, STAGE_CONFIRM);
    count_runs(x, out, &second.stage);
    if (second.stage.present)
        x->planned += second.stage.blocks * second.stage.variants;
    if (main_stage->verdict != VERDICT_REGRESSED && main_stage->verdict != VERDICT_INCONCLUSIVE)
        return;
    if (second.stage.present) {
        out->main_verdict = verdict_name(main_stage->verdict);
        x->decided = second;
    } else if (!j->exploratory) {
        x->confirm_missing = true;
        x->planned += second.stage.blocks * second.stage.variants;
        out->main_verdict = verdict_name(main_stage->verdict);
    }
}

/* Of the bounds of a metric whose pairs are all complete. */
static double level_of(const struct judged_stage *s)
{
    size_t n = s->complete, k = sign_k(n);

    if (k == 0 && n > 1 && s->stage.profile->pass == PASS_MEMORY)
        k = 1;
    return k ? sign_level(n, k) : NAN;
}

static void fill_profile(struct report_profile *out, const struct assessment *x,
                         const struct judging *j)
{
    const struct judged_stage *s = &x->decided;

    out->verdict = x->confirm_missing ? VERDICT_INCOMPLETE : s->verdict;
    out->stage = sample_stage_name(s->stage.which);
    out->pairs = (int)s->stage.blocks;
    out->complete_pairs = (int)s->complete;
    out->min_complete = (int)s->stage.min_complete;
    out->order = order_text(&s->stage, j->arena);
    out->level = level_of(s);
    for (size_t b = 0; s->stage.profile->pass == PASS_TIMES && b < s->stage.blocks; b++)
        out->noisy_pairs += stage_block_noisy(&s->stage, b) ? 1 : 0;
    out->metrics = s->metrics;
    out->metric_count = s->metric_count;
    if (j->plan->aa)
        fill_aa(out, s, j);
}

/* Runs that are no pairs: each variant's figures by themselves, and no verdict. */
static void assess_unpaired(struct assessment *x, struct report_profile *out,
                            const struct judging *j, size_t profile)
{
    struct stage s;

    stage_collect(&s, j->archive, profile, STAGE_MAIN, j->tables, j->arena);
    count_runs(x, out, &s);
    look_at_runs(x, j, s.profile);
    x->decided.stage = s;
    x->planned = x->done;
    out->verdict = out->failure_count ? VERDICT_INCOMPLETE : VERDICT_NOT_JUDGED;
    out->stage = sample_stage_name(STAGE_MAIN);
    out->order = "unpaired";
    out->level = NAN;
    summary_fill(out, &s, j->arena);
}

void assess_profile(struct assessment *x, struct report_profile *out, const struct judging *j,
                    size_t profile)
{
    const struct profile *p = &j->plan->profiles[profile];
    struct judged_stage main_stage;

    *x = (struct assessment){0};
    *out = (struct report_profile){.profile = p->name};
    out->failures = arena_array(j->arena, j->plan->variant_count, sizeof(*out->failures));
    if (j->plan->import == IMPORT_UNPAIRED) {
        assess_unpaired(x, out, j, profile);
        return;
    }
    assess_stage(&main_stage, j, profile, STAGE_MAIN);
    count_runs(x, out, &main_stage.stage);
    look_at_runs(x, j, p);
    x->planned = ((size_t)p->warmup + main_stage.stage.blocks) * main_stage.stage.variants;
    confirm(x, out, j, profile, &main_stage);
    fill_profile(out, x, j);
    outcomes_fill(out, x, j);
    if (p->only_in) {
        out->verdict = VERDICT_NEW;
        out->metric_count = 0;
        x->decided.metric_count = 0;
        x->planned = x->done;
    }
    if (x->changed || x->mixed)
        out->verdict = VERDICT_INVALID;
    if (j->plan->import) /* whatever was listed is all there is */
        x->planned = x->done;
    if (!p->only_in && plan_identical(j->plan) && main_stage.stage.present == 0) {
        out->verdict = VERDICT_IDENTICAL;
        out->metric_count = 0;
        x->decided.metric_count = 0;
        x->planned = x->done;
    }
}
