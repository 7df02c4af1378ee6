/*
 * What the shipped thresholds decide on simulated machines, through the code that judges archives.
 *
 * Every series is an archive made in memory. The generator is seeded, so a failure repeats.
 */
#include "check.h"
#include "made_series.h"

#include <string.h>

#include "base/buf.h"
#include "base/files.h"
#include "base/json.h"
#include "judge/assess.h"
#include "judge/elementary.h"
#include "judge/judge.h"

#define SIGMA_PAIR 0.10 /* of ln(candidate / baseline), all disturbances included */
#define SERIES 1000     /* an environment and effect */

/* What a machine does to all runs of a series, whoever runs. The disturbance is part of the 10 %:
 * the rest of the variance is left for the noise of each run. */
enum environment { QUIET, DRIFT, STEP, BURSTS, HEAVY_TAILS, SPIKES, SKEW, ENVIRONMENTS };
static const struct {
    const char *name;
    double left; /* variance of ln(candidate / baseline) that is left for the runs' own noise */
} environments[] = {
    {"quiet", 0.01},       /* normal noise alone */
    {"drift", 0.009996},   /* 0.2 % a run */
    {"step", 0.0083},      /* 0.2 up at a random run */
    {"bursts", 0.0071},    /* 0.2 up for 3 runs, begun in 4 runs of 100 */
    {"heavy tails", 0.01}, /* Student's t with 3 degrees of freedom */
    {"spikes", 0.00476},   /* 0.3 up in 3 runs of 100 */
    {"skew", 0.01},        /* exponential noise */
};

static double uniform(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15ULL;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return ((double)((z ^ (z >> 31)) >> 11) + 0.5) / 9007199254740992.0;
}

/* Marsaglia's polar method; the second deviate of each pair is not used. */
static double normal(uint64_t *state)
{
    double x, y, r;

    do {
        x = 2.0 * uniform(state) - 1.0;
        y = 2.0 * uniform(state) - 1.0;
        r = x * x + y * y;
    } while (r >= 1.0 || r <= 0.0);
    return x * sqrt(-2.0 * elementary_log(r) / r);
}

/* Noise of one run with mean 0 and variance 1 (heavy tails: Student's t with 3 degrees). */
static double noise(enum environment e, uint64_t *state)
{
    double a, b, c;

    if (e == SKEW)
        return -elementary_log(uniform(state)) - 1.0;
    if (e != HEAVY_TAILS)
        return normal(state);
    a = normal(state);
    b = normal(state);
    c = normal(state);
    return normal(state) / sqrt((a * a + b * b + c * c) / 3.0) / sqrt(3.0);
}

/* The level of each of n runs in a row, as logarithms. */
static void levels(enum environment e, uint64_t *state, double *level, size_t n)
{
    size_t step_at = (size_t)(uniform(state) * (double)n), burst_left = 0;

    for (size_t i = 0; i < n; i++) {
        level[i] = noise(e, state) * sqrt(environments[e].left / 2.0);
        if (e == DRIFT)
            level[i] += 0.002 * (double)i;
        if (e == STEP && i >= step_at)
            level[i] += 0.2;
        if (e == BURSTS && burst_left == 0 && uniform(state) < 0.04)
            burst_left = 3;
        if (burst_left > 0) {
            level[i] += 0.2;
            burst_left--;
        }
        if (e == SPIKES && uniform(state) < 0.03)
            level[i] += 0.3;
    }
}

static void paired_changes_vary_by_ten_percent_everywhere(void **state)
{
    (void)state;
    for (int e = 0; e < ENVIRONMENTS; e++) {
        uint64_t seed = 500 + (uint64_t)e;
        double level[24], squares = 0.0, sigma;
        const int rounds = 4000;

        for (int i = 0; i < rounds; i++) {
            levels((enum environment)e, &seed, level, 24);
            for (int k = 0; k < 24; k += 2)
                squares += (level[k + 1] - level[k]) * (level[k + 1] - level[k]);
        }
        sigma = sqrt(squares / (12 * rounds));
        print_message("%-11s sigma of a paired change: %.4f\n", environments[e].name, sigma);
        check_near(sigma, SIGMA_PAIR, 0.004);
    }
}

/* What is measured, and what the candidate adds to the logarithm of each. */
struct workload {
    enum environment environment;
    size_t metrics;
    const char *metric[4];
    double effect[4];
};

/* Fills a stage with fresh runs of every metric. */
static void run_stage(struct made_series *s, enum sample_stage stage, size_t pairs,
                      const struct workload *w, uint64_t *state)
{
    double level[32 * 2];
    size_t first = s->archive.sample_count;

    for (size_t i = 0; i < 2 * pairs; i++)
        made_run(s, 0, stage, i / 2 + 1, i % 4 == 1 || i % 4 == 2 ? 1 : 0);
    for (size_t m = 0; m < w->metrics; m++) {
        levels(w->environment, state, level, 2 * pairs);
        for (size_t i = 0; i < 2 * pairs; i++) {
            struct sample *run = &s->archive.samples[first + i];
            bool candidate = strcmp(run->variant, "candidate") == 0;

            made_figure(s, run, w->metric[m],
                        100.0 * elementary_exp(level[i] + (candidate ? w->effect[m] : 0.0)));
        }
    }
}

static void add_limit(struct made_series *s, const struct limit *limit)
{
    struct thresholds *t = &s->plan.thresholds;
    struct limit *more = arena_array(&s->arena, t->limit_count + 1, sizeof(*more));

    memcpy(more, t->limits, t->limit_count * sizeof(*more));
    more[t->limit_count++] = *limit;
    t->limits = more;
}

static void load_default_thresholds(struct made_series *s)
{
    struct buf text = BUF_INIT;
    struct err e = {0};
    struct json *root;

    assert_int_equal(files_read("thresholds/default.json", 1 << 20, &text, &e), 0);
    root = json_parse(text.data, text.len, "default.json", &e);
    assert_non_null(root);
    assert_int_equal(thresholds_decode(&s->plan.thresholds, root, "default.json", &s->arena, &e),
                     0);
    s->limits[0] = (struct limit){.metric = "wall_time", .worse_text = "10%", .worse = 0.10};
    add_limit(s, &s->limits[0]);
    json_free(root);
    buf_release(&text);
}

struct tally {
    size_t judged, regressed, passed, pairs;
};

/* One series at the default thresholds (and one for wall_time, as --threshold adds it); the
 * confirming stage is run when it is called for. Counts the verdicts of each metric. */
static void simulate_series(const struct workload *w, uint64_t *state, struct tally t[4])
{
    struct made_series s;
    struct report_profile out;
    struct assessment x;
    struct judging j;

    made_init(&s, 2, 0, 0);
    load_default_thresholds(&s);
    j = (struct judging){.archive = &s.archive,
                         .plan = &s.plan,
                         .limits = &s.plan.thresholds,
                         .arena = &s.arena,
                         .tables = &s.arena};
    run_stage(&s, STAGE_MAIN, 8, w, state);
    t[0].pairs += 8;
    if (judge_needs_confirm(&s.archive, "made/1")) {
        run_stage(&s, STAGE_CONFIRM, 16, w, state);
        t[0].pairs += 16;
    }
    assess_profile(&x, &out, &j, 0);
    assert_int_equal(out.metric_count, w->metrics);
    for (size_t i = 0; i < out.metric_count; i++) {
        assert_true(x.decided.gates[i].judged);
        t[i].judged++;
        t[i].regressed += out.metrics[i].verdict == VERDICT_REGRESSED;
        t[i].passed += out.metrics[i].verdict == VERDICT_PASSED;
    }
    made_release(&s);
}

static struct workload gated(enum environment e)
{
    return (struct workload){
        .environment = e,
        .metrics = 4,
        .metric = {"throughput", "cpu_per_gbit", "peak_rss", "wall_time"},
    };
}

static void nothing_changed_is_flagged_in_at_most_one_metric_of_a_thousand(void **state)
{
    (void)state;
    for (int e = 0; e < ENVIRONMENTS; e++) {
        struct workload w = gated((enum environment)e);
        struct tally t[4] = {0};
        size_t judged = 0, regressed = 0, passed = 0;
        uint64_t seed = 1000 + (uint64_t)e;

        for (int i = 0; i < SERIES; i++)
            simulate_series(&w, &seed, t);
        for (int m = 0; m < 4; m++) {
            judged += t[m].judged;
            regressed += t[m].regressed;
            passed += t[m].passed;
        }
        print_message("%-11s no change: %zu of %zu metrics regressed, %.1f %% passed, "
                      "%.1f pairs a series\n",
                      environments[e].name, regressed, judged,
                      100.0 * (double)passed / (double)judged, (double)t[0].pairs / SERIES);
        assert_int_equal(judged, 4 * SERIES);
        assert_true(regressed * 1000 <= judged);
    }
}

static void twenty_percent_worse_is_found_99_times_in_100(void **state)
{
    (void)state;
    for (int e = 0; e < ENVIRONMENTS; e++) {
        struct workload w = gated((enum environment)e);
        struct tally t[4] = {0};
        uint64_t seed = 2000 + (uint64_t)e;

        w.effect[0] = elementary_log(0.8); /* throughput, against 10 % */
        w.effect[3] = elementary_log(1.2); /* wall_time, against 10 % */
        for (int i = 0; i < SERIES; i++)
            simulate_series(&w, &seed, t);
        print_message("%-11s 20 %% worse: throughput %.1f %% regressed, wall_time %.1f %%\n",
                      environments[e].name, 100.0 * (double)t[0].regressed / SERIES,
                      100.0 * (double)t[3].regressed / SERIES);
        assert_true(t[0].regressed * 100 >= t[0].judged * 99);
        assert_true(t[3].regressed * 100 >= t[3].judged * 99);
    }
}

/* --- the interval --- */

static void interval_covers_at_n(size_t n, enum environment e, double effect)
{
    struct workload w = {e, 1, {"wall_time"}, {effect}};
    const int rounds = 1500;
    uint64_t seed = 3000 + n * 100 + (uint64_t)e;
    double truth = elementary_exp(effect) - 1.0, level = 0.0, nominal, error;
    int covered = 0, above = 0, below = 0;

    for (int i = 0; i < rounds; i++) {
        struct made_series s;
        struct judged_stage stage;
        struct judging j;

        made_init(&s, 2, (int)n, 0);
        j = (struct judging){.archive = &s.archive,
                             .plan = &s.plan,
                             .limits = &s.plan.thresholds,
                             .arena = &s.arena,
                             .tables = &s.arena};
        run_stage(&s, STAGE_MAIN, n, &w, &seed);
        assess_stage(&stage, &j, 0, STAGE_MAIN);
        level = stage.metrics[0].level;
        above += stage.metrics[0].interval_low > truth;
        below += stage.metrics[0].interval_high < truth;
        covered +=
            stage.metrics[0].interval_low <= truth && truth <= stage.metrics[0].interval_high;
        made_release(&s);
    }
    nominal = 1.0 - 2.0 * (1.0 - level);
    error = sqrt(nominal * (1.0 - nominal) / rounds);
    print_message("%-11s n = %2zu: covered %.2f %% (nominal %.2f %%), too high %.2f %%, "
                  "too low %.2f %%\n",
                  environments[e].name, n, 100.0 * covered / rounds, 100.0 * nominal,
                  100.0 * above / rounds, 100.0 * below / rounds);
    assert_true((double)covered / rounds >= nominal - 3.0 * error);
    error = sqrt(level * (1.0 - level) / rounds);
    assert_true((double)above / rounds <= 1.0 - level + 3.0 * error);
    assert_true((double)below / rounds <= 1.0 - level + 3.0 * error);
}

static void interval_covers_at_least_as_often_as_it_says(void **state)
{
    (void)state;
    for (int e = 0; e < ENVIRONMENTS; e++) {
        interval_covers_at_n(8, (enum environment)e, 0.0);
        interval_covers_at_n(16, (enum environment)e, 0.1);
    }
    interval_covers_at_n(5, QUIET, 0.0);
    interval_covers_at_n(30, SKEW, 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paired_changes_vary_by_ten_percent_everywhere),
        cmocka_unit_test(nothing_changed_is_flagged_in_at_most_one_metric_of_a_thousand),
        cmocka_unit_test(twenty_percent_worse_is_found_99_times_in_100),
        cmocka_unit_test(interval_covers_at_least_as_often_as_it_says),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
