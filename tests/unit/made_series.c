#include "made_series.h"

#include <string.h>

static const char *const variant_names[] = {"baseline", "candidate", "third", "fourth"};
static const char *const reported[] = {"throughput", "delivered_bytes", "delivery_time",
                                       "cpu_per_gbit", "answers"};
#define REPORTED (sizeof(reported) / sizeof(reported[0]))
#define MOST_PROFILES 8

static void make_runner(struct made_series *s)
{
    struct runner *r = arena_array(&s->arena, 1, sizeof(*r));

    r->name = "made";
    r->metrics = arena_array(&s->arena, REPORTED, sizeof(*r->metrics));
    r->metric_count = REPORTED;
    for (size_t i = 0; i < REPORTED; i++) {
        const struct metric_def *def = metric_find(reported[i]);

        r->metrics[i].name = reported[i];
        r->metrics[i].unit = def ? def->unit : "count";
        r->metrics[i].better = def ? def->better : BETTER_HIGHER;
    }
    s->plan.runners = r;
    s->plan.runner_count = 1;
}

void made_init(struct made_series *s, size_t variants, int pairs, int confirm)
{
    memset(s, 0, sizeof(*s));
    arena_init(&s->arena);
    s->plan.series = "made";
    s->plan.command = "run";
    s->plan.analysis = PLAN_ANALYSIS;
    s->plan.seed = 1;
    s->plan.variants = arena_array(&s->arena, variants, sizeof(*s->plan.variants));
    s->plan.variant_count = variants;
    for (size_t i = 0; i < variants; i++) {
        s->plan.variants[i].name = variant_names[i];
        s->plan.variants[i].display = variant_names[i];
        memset(s->plan.variants[i].sha256, 'a' + (int)i % 6, 64);
    }
    make_runner(s);
    s->plan.profiles = arena_array(&s->arena, MOST_PROFILES, sizeof(*s->plan.profiles));
    s->plan.thresholds.name = "made";
    s->plan.thresholds.rule = RULE_BOUNDED;
    s->plan.thresholds.pairs = pairs;
    s->plan.thresholds.confirm = confirm;
    s->plan.thresholds.limits = s->limits;
    memset(s->plan.sha256, '0', 64);
    s->machine = (struct machine){.kernel = "Linux 6.18", .cpus = 2, .page_bytes = 4096};
    s->archive.plan = &s->plan;
    s->archive.machine = &s->machine;
    made_profile(s);
}

void made_release(struct made_series *s)
{
    arena_release(&s->arena);
}

size_t made_profile(struct made_series *s)
{
    size_t i = s->plan.profile_count++;
    struct profile *p = &s->plan.profiles[i];

    p->name = arena_printf(&s->arena, "made/%zu", i + 1);
    p->runner = "made";
    p->confirm = -1;
    profile_noise_defaults(p);
    return i;
}

struct limit *made_limit(struct made_series *s, const char *metric, const char *worse_text,
                         double worse)
{
    struct limit *l = &s->limits[s->plan.thresholds.limit_count++];

    *l = (struct limit){.metric = metric, .worse_text = worse_text, .worse = worse};
    return l;
}

struct sample *made_run(struct made_series *s, size_t profile, enum sample_stage stage,
                        uint64_t pair, size_t variant)
{
    const struct profile *p = &s->plan.profiles[profile];
    struct sample *run;

    if (s->archive.sample_count == s->room) {
        size_t room = s->room * 2 + 64;
        struct sample *more = arena_array(&s->arena, room, sizeof(*more));

        if (s->room)
            memcpy(more, s->archive.samples, s->room * sizeof(*more));
        s->archive.samples = more;
        s->room = room;
    }
    run = &s->archive.samples[s->archive.sample_count++];
    run->run = s->archive.sample_count;
    run->pair = stage == STAGE_CONFIRM ? pair + (uint64_t)plan_pairs(&s->plan, p) : pair;
    run->slot = (uint32_t)(pair % 2 == 1 ? variant + 1 : s->plan.variant_count - variant);
    run->attempt = 1;
    run->stage = stage;
    run->variant = s->plan.variants[variant].name;
    run->profile = p->name;
    run->noise.psi_cpu = run->noise.others = run->noise.steal = value_ok(0.0);
    run->metrics = arena_array(&s->arena, 48, sizeof(*run->metrics));
    return run;
}

struct sample_metric *made_figure(struct made_series *s, struct sample *run, const char *metric,
                                  double number)
{
    struct sample_metric *m = &run->metrics[run->metric_count++];
    enum metric_better better;

    m->name = metric;
    plan_metric(&s->plan, metric, &m->unit, &better);
    m->value = value_ok(number);
    return m;
}

void made_pairs(struct made_series *s, size_t profile, enum sample_stage stage, const char *metric,
                const double *baseline, const double *candidate, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t first = i % 2;

        for (size_t k = 0; k < 2; k++) {
            size_t v = k == 0 ? first : 1 - first;

            made_figure(s, made_run(s, profile, stage, i + 1, v), metric,
                        v == 0 ? baseline[i] : candidate[i]);
        }
    }
}

void made_flat(struct made_series *s, size_t profile, enum sample_stage stage, const char *metric,
               double baseline, double candidate, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        made_figure(s, made_run(s, profile, stage, i + 1, i % 2), metric,
                    i % 2 ? candidate : baseline);
        made_figure(s, made_run(s, profile, stage, i + 1, 1 - i % 2), metric,
                    i % 2 ? baseline : candidate);
    }
}

struct sample *made_find(struct made_series *s, size_t profile, enum sample_stage stage,
                         uint64_t pair, size_t variant)
{
    const struct profile *p = &s->plan.profiles[profile];

    if (stage == STAGE_CONFIRM)
        pair += (uint64_t)plan_pairs(&s->plan, p);
    for (size_t i = 0; i < s->archive.sample_count; i++) {
        struct sample *run = &s->archive.samples[i];

        if (run->stage == stage && run->pair == pair && strcmp(run->profile, p->name) == 0 &&
            strcmp(run->variant, s->plan.variants[variant].name) == 0)
            return run;
    }
    return NULL;
}
