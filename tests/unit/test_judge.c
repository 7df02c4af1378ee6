#include "check.h"
#include "made_series.h"

#include <string.h>

#include "base/buf.h"
#include "judge/judge.h"

static const double v1_b[] = {2.00, 2.10, 1.95, 2.05, 2.20, 1.98, 2.02, 2.08};
static const double v1_c[] = {2.16, 2.18, 2.12, 2.11, 2.42, 2.08, 2.20, 2.15};
static const double v3_b[] = {312.0, 318.5, 309.2, 320.1, 315.7, 311.9, 319.0, 316.3};
static const double v3_c[] = {280.1, 270.2, 285.5, 291.0, 279.4, 284.8, 277.3, 288.8};

static struct report judged(struct made_series *s)
{
    struct err e = {0};
    struct report r;

    assert_int_equal(judge_archive(&s->archive, &r, &s->arena, &e), 0);
    return r;
}

static const struct report_metric *row(const struct report *r, size_t profile, const char *metric)
{
    for (size_t i = 0; i < r->profiles[profile].metric_count; i++) {
        if (strcmp(r->profiles[profile].metrics[i].metric, metric) == 0)
            return &r->profiles[profile].metrics[i];
    }
    fail_msg("no row '%s'", metric);
    return NULL;
}

static bool says(const struct strings *notes, const char *part)
{
    for (size_t i = 0; i < notes->count; i++) {
        if (strstr(notes->items[i], part))
            return true;
    }
    return false;
}

static bool unknown(double figure)
{
    return isnan(figure);
}

/* --- figures and verdicts --- */

static void first_vector_is_judged_out_of_an_archive(void **state)
{
    struct made_series s;
    struct report r;
    const struct report_metric *m;

    (void)state;
    made_init(&s, 2, 8, 0);
    made_limit(&s, "cpu_per_gbit", "5%", 0.05);
    made_pairs(&s, 0, STAGE_MAIN, "cpu_per_gbit", v1_b, v1_c, 8);
    r = judged(&s);
    m = row(&r, 0, "cpu_per_gbit");
    assert_int_equal(r.verdict, VERDICT_REGRESSED);
    assert_int_equal(m->grade, GRADE_LIKELY);
    assert_int_equal(m->complete_pairs, 8);
    check_nine(m->median_change, 0.065252525);
    check_nine(m->interval_low, 0.033653846);
    check_nine(m->interval_high, 0.089108911);
    check_same(m->level, 1.0 - 9.0 / 256);
    check_near(m->median_difference, 0.13, 1e-12);
    check_nine(m->hodges_lehmann, 0.062825051);
    check_same(m->p, 0.0078125);
    check_same(m->holm_p, 0.00390625);
    check_nine(m->slot_effect, 0.024312137);
    check_nine(m->slot_p, 0.028571429);
    check_nine(m->sigma, 0.008215641);
    check_same(m->threshold, 0.05);
    assert_true(unknown(m->balanced_median)); /* an even count needs none */
    assert_int_equal(m->mark, MARK_WORSE);
    assert_string_equal(m->unit, "CPU-s/Gbit");
    assert_string_equal(r.profiles[0].order, "4 AB, 4 BA");
    assert_true(says(&r.profiles[0].notes, "the second run of a pair reads 2.4 % higher"));
    assert_true(r.finished);
    assert_int_equal(r.runs_done, 16);
    made_release(&s);
}

static void third_vector_depends_on_the_rule(void **state)
{
    struct made_series s;
    struct report r;

    (void)state;
    made_init(&s, 2, 8, 0);
    made_limit(&s, "throughput", "10%", 0.10);
    made_pairs(&s, 0, STAGE_MAIN, "throughput", v3_b, v3_c, 8);
    r = judged(&s);
    assert_int_equal(r.verdict, VERDICT_INCONCLUSIVE);
    check_nine(row(&r, 0, "throughput")->median_change, -0.096576340);
    check_nine(row(&r, 0, "throughput")->interval_low, -0.130721003);
    check_nine(row(&r, 0, "throughput")->interval_high, -0.086886823);
    s.plan.thresholds.rule = RULE_MEDIAN;
    r = judged(&s);
    assert_int_equal(r.verdict, VERDICT_PASSED);
    assert_int_equal(row(&r, 0, "throughput")->grade, GRADE_UNSURE);
    assert_string_equal(r.rule, "median");
    made_release(&s);
}

static void what_has_no_limit_is_shown_and_not_judged(void **state)
{
    struct made_series s;
    struct report r;

    (void)state;
    made_init(&s, 2, 8, 0);
    made_flat(&s, 0, STAGE_MAIN, "throughput", 100, 10, 8);
    r = judged(&s);
    assert_int_equal(r.verdict, VERDICT_NOT_JUDGED);
    assert_int_equal(r.gating_verdicts, 0);
    assert_true(unknown(row(&r, 0, "throughput")->threshold));
    assert_true(unknown(r.expected_false_alarms));
    assert_int_equal(row(&r, 0, "throughput")->mark, MARK_WORSE);
    assert_int_equal(r.marks_tested, 1);
    made_release(&s);
}

static void overrides_go_before_general_limits(void **state)
{
    struct limit strong = {.metric = "throughput", .worse_text = "50%", .worse = 0.5};
    struct limit_override override = {.glob = "made/*", .limits = &strong, .limit_count = 1};
    struct made_series s;
    struct report r;

    (void)state;
    made_init(&s, 2, 8, 0);
    made_limit(&s, "throughput", "10%", 0.10);
    s.plan.thresholds.overrides = &override;
    s.plan.thresholds.override_count = 1;
    made_flat(&s, 0, STAGE_MAIN, "throughput", 100, 70, 8);
    r = judged(&s);
    assert_int_equal(r.verdict, VERDICT_PASSED);
    check_same(row(&r, 0, "throughput")->threshold, 0.5);
    made_release(&s);
}

static void differences_within_the_floor_are_none(void **state)
{
    struct made_series s;
    struct report r;

    (void)state;
    made_init(&s, 2, 8, 0);
    made_limit(&s, "peak_rss", "15%", 0.15);
    made_flat(&s, 0, STAGE_MAIN, "peak_rss", 1000000, 1300000, 8);
    r = judged(&s);
    assert_int_equal(r.verdict, VERDICT_REGRESSED);
    for (uint64_t pair = 1; pair <= 8; pair++) /* of one of them is enough */
        made_find(&s, 0, STAGE_MAIN, pair, pair > 4)->metrics[0].floor = 393216;
    r = judged(&s);
    assert_int_equal(r.verdict, VERDICT_PASSED);
    check_same(row(&r, 0, "peak_rss")->median_change, 0.0);
    assert_int_equal(row(&r, 0, "peak_rss")->zeros, 8);
    check_same(row(&r, 0, "peak_rss")->sees, 393216.0 / 1000000.0);
    assert_non_null(
        strstr(row(&r, 0, "peak_rss")->note, "changes up to 39.3 % are within the resolution"));
    made_release(&s);
}

static void zero_baselines_are_told_in_words(void **state)
{
    struct made_series s;
    struct report r;
    struct buf text = BUF_INIT;

    (void)state;
    made_init(&s, 2, 8, 0);
    made_limit(&s, "major_faults", "10%", 0.1);
    made_flat(&s, 0, STAGE_MAIN, "major_faults", 0, 7, 8);
    r = judged(&s);
    assert_int_equal(r.verdict, VERDICT_REGRESSED);
    check_same(row(&r, 0, "major_faults")->median_change, INFINITY);
    assert_non_null(strstr(row(&r, 0, "major_faults")->note, "from 0 to 7 in 8 of 8 pairs"));
    made_find(&s, 0, STAGE_MAIN, 3, 1)->metrics[0].value.number = 5;
    made_find(&s, 0, STAGE_MAIN, 4, 1)->metrics[0].value.number = 0;
    r = judged(&s);
    assert_non_null(strstr(row(&r, 0, "major_faults")->note, "from 0 to 5 ... 7 in 7 of 8 pairs"));
    report_encode(&r, &text);
    assert_null(strstr(text.data, "nan"));
    buf_release(&text);
    made_release(&s);
}

/* --- completeness --- */

static void a_failed_run_makes_its_profile_incomplete(void **state)
{
    struct made_series s;
    struct report r;

    (void)state;
    made_init(&s, 2, 8, 0);
    made_limit(&s, "throughput", "10%", 0.10);
    made_flat(&s, 0, STAGE_MAIN, "throughput", 100, 100, 8);
    made_find(&s, 0, STAGE_MAIN, 3, 1)->status = SAMPLE_FAILED;
    made_find(&s, 0, STAGE_MAIN, 3, 1)->error = "receiver: exit status 3";
    made_find(&s, 0, STAGE_MAIN, 5, 1)->status = SAMPLE_TIMEOUT;
    r = judged(&s);
    assert_int_equal(r.verdict, VERDICT_INCOMPLETE);
    assert_int_equal(row(&r, 0, "throughput")->verdict, VERDICT_INCOMPLETE);
    assert_int_equal(row(&r, 0, "throughput")->complete_pairs, 6);
    assert_int_equal(r.profiles[0].complete_pairs, 6);
    assert_int_equal(r.profiles[0].failure_count, 1);
    assert_string_equal(r.profiles[0].failures[0].variant, "candidate");
    assert_int_equal(r.profiles[0].failures[0].count, 2);
    assert_string_equal(r.profiles[0].failures[0].error, "receiver: exit status 3");
    assert_string_equal(r.failure_notes.items[0],
                        "only the candidate fails: 'candidate' in 2 runs, the baseline in none");
    s.plan.profiles[0].min_complete = 6;
    r = judged(&s);
    assert_int_equal(r.verdict, VERDICT_PASSED);
    assert_int_equal(r.profiles[0].min_complete, 6);
    made_release(&s);
}

/* Runs of the candidate fail from pair `from` on, with a throughput of 3. */
static struct report failing(struct made_series *s, uint64_t from)
{
    made_init(s, 2, 8, 0);
    made_limit(s, "throughput", "10%", 0.10);
    made_flat(s, 0, STAGE_MAIN, "throughput", 50, 49, 8);
    for (uint64_t pair = from; pair <= 8; pair++) {
        struct sample *run = made_find(s, 0, STAGE_MAIN, pair, 1);

        run->status = SAMPLE_FAILED;
        run->metrics[0].value.number = 3;
    }
    return judged(s);
}

static void a_variant_that_fails_has_an_outcome_and_no_relative_figure(void **state)
{
    struct made_series s;
    struct report r;
    const struct report_profile *p;
    const struct report_metric *m;

    (void)state;
    r = failing(&s, 4); /* 3 of 8 runs end well */
    p = &r.profiles[0];
    assert_int_equal(r.verdict, VERDICT_INCOMPLETE);
    assert_int_equal(p->outcome_count, 2);
    assert_false(p->outcomes[0].failed);
    assert_int_equal(p->outcomes[0].ended_well, 8);
    assert_string_equal(p->outcomes[0].figures[0].metric, "throughput");
    check_same(p->outcomes[0].figures[0].median, 50);
    assert_true(p->outcomes[1].failed);
    assert_int_equal(p->outcomes[1].ended_well, 3);
    check_same(p->outcomes[1].figures[0].median, 3);
    assert_int_equal(p->outcomes[1].figures[0].runs, 8);
    m = row(&r, 0, "throughput");
    assert_true(unknown(m->median_change));
    assert_true(unknown(m->median_difference));
    assert_true(unknown(m->interval_low));
    assert_int_equal(m->verdict, VERDICT_INCOMPLETE);
    assert_string_equal(m->note, "'candidate' failed: nothing is compared");
    assert_int_equal(r.worst_count, 0);
    made_release(&s);
}

static void a_variant_of_which_half_the_runs_end_well_is_compared_by_them(void **state)
{
    struct made_series s;
    struct report r;

    (void)state;
    r = failing(&s, 5); /* 4 of 8 runs end well */
    assert_int_equal(r.verdict, VERDICT_INCOMPLETE);
    assert_int_equal(r.profiles[0].outcome_count, 0);
    check_same(row(&r, 0, "throughput")->median_change, -0.02);
    made_release(&s);
}

static void failed_runs_are_incomplete_even_if_nothing_is_judged(void **state)
{
    struct made_series s;
    struct report r;

    (void)state;
    made_init(&s, 2, 6, 0);
    for (uint64_t pair = 1; pair <= 6; pair++) {
        made_run(&s, 0, STAGE_MAIN, pair, 0)->status = SAMPLE_FAILED;
        made_run(&s, 0, STAGE_MAIN, pair, 1)->status = SAMPLE_FAILED;
    }
    r = judged(&s);
    assert_int_equal(r.verdict, VERDICT_INCOMPLETE);
    assert_int_equal(r.profiles[0].failure_count, 2);
    assert_false(says(&r.failure_notes, "only the candidate"));
    assert_false(says(&r.profiles[0].failure_notes, "only the candidate"));
    assert_true(says(&r.profiles[0].failure_notes, "'candidate' failed in 6 runs"));
    made_release(&s);
}

static void a_judged_metric_without_any_figure_is_incomplete(void **state)
{
    struct made_series s;
    struct report r;

    (void)state;
    made_init(&s, 2, 6, 0);
    made_limit(&s, "throughput", "10%", 0.1);
    made_flat(&s, 0, STAGE_MAIN, "peak_rss", 100, 100, 6);
    r = judged(&s);
    assert_int_equal(r.verdict, VERDICT_INCOMPLETE);
    assert_int_equal(row(&r, 0, "throughput")->complete_pairs, 0);
    assert_true(unknown(row(&r, 0, "throughput")->median_change));
    made_release(&s);
}

static void completeness_is_per_metric(void **state)
{
    struct made_series s;
    struct report r;

    (void)state;
    made_init(&s, 2, 8, 0);
    made_limit(&s, "throughput", "10%", 0.10);
    made_flat(&s, 0, STAGE_MAIN, "throughput", 100, 100, 8);
    for (size_t i = 0; i < s.archive.sample_count; i++) {
        struct sample_metric *m = made_figure(&s, &s.archive.samples[i], "instructions", 5);

        if (i == 4)
            m->value = value_none(VALUE_NOT_COUNTED, "the PMU was busy");
    }
    r = judged(&s);
    assert_int_equal(r.verdict, VERDICT_PASSED);
    assert_int_equal(row(&r, 0, "throughput")->complete_pairs, 8);
    assert_int_equal(row(&r, 0, "instructions")->complete_pairs, 7);
    assert_string_equal(row(&r, 0, "instructions")->missing.items[0],
                        "not_counted: the PMU was busy");
    made_limit(&s, "instructions", "5%", 0.05);
    r = judged(&s);
    assert_int_equal(r.verdict, VERDICT_INCOMPLETE);
    assert_int_equal(row(&r, 0, "throughput")->verdict, VERDICT_PASSED);
    assert_int_equal(row(&r, 0, "instructions")->verdict, VERDICT_INCOMPLETE);
    made_release(&s);
}

static void scaled_counters_gate_from_99_percent_coverage_on(void **state)
{
    struct made_series s;
    struct report r;
    struct value *v;

    (void)state;
    made_init(&s, 2, 6, 0);
    made_limit(&s, "instructions", "5%", 0.05);
    made_flat(&s, 0, STAGE_MAIN, "instructions", 100, 100, 6);
    v = &made_find(&s, 0, STAGE_MAIN, 2, 0)->metrics[0].value;
    v->status = VALUE_SCALED;
    v->coverage = 0.99;
    r = judged(&s);
    assert_int_equal(r.verdict, VERDICT_PASSED);
    v->coverage = 0.98;
    r = judged(&s);
    assert_int_equal(r.verdict, VERDICT_INCOMPLETE);
    assert_string_equal(row(&r, 0, "instructions")->missing.items[0],
                        "scaled: counted during 98 % of the run");
    made_release(&s);
}

static void what_was_not_measured_is_said_once_with_its_reason(void **state)
{
    struct made_series s;
    struct report r;

    (void)state;
    made_init(&s, 2, 6, 0);
    made_flat(&s, 0, STAGE_MAIN, "wall_time", 1, 1, 6);
    for (size_t i = 0; i < s.archive.sample_count; i++) {
        made_figure(&s, &s.archive.samples[i], "cycles", 0)->value =
            value_none(VALUE_UNSUPPORTED, "no PMU here");
        made_figure(&s, &s.archive.samples[i], "instructions", 0)->value =
            value_none(VALUE_UNSUPPORTED, "no PMU here");
    }
    r = judged(&s);
    assert_int_equal(r.profiles[0].unmeasured.count, 1);
    assert_string_equal(r.profiles[0].unmeasured.items[0],
                        "not measured: cycles, instructions (unsupported: no PMU here)");
    assert_int_equal(r.verdict, VERDICT_NOT_JUDGED);
    made_release(&s);
}

static void the_last_attempt_of_a_pair_counts(void **state)
{
    struct made_series s;
    struct report r;

    (void)state;
    made_init(&s, 2, 6, 0);
    made_limit(&s, "throughput", "10%", 0.1);
    made_flat(&s, 0, STAGE_MAIN, "throughput", 100, 100, 6);
    made_find(&s, 0, STAGE_MAIN, 6, 0)->status = SAMPLE_INTERRUPTED;
    r = judged(&s);
    assert_int_equal(r.verdict, VERDICT_INCOMPLETE);
    assert_int_equal(r.profiles[0].failure_count, 0);
    assert_true(says(&r.profiles[0].notes, "interrupted"));
    for (size_t v = 0; v < 2; v++) {
        struct sample *again = made_run(&s, 0, STAGE_MAIN, 6, v);

        again->attempt = 2;
        made_figure(&s, again, "throughput", 99);
    }
    r = judged(&s);
    assert_int_equal(r.verdict, VERDICT_PASSED);
    assert_true(says(&r.profiles[0].notes, "1 pair was interrupted and run again"));
    check_same(row(&r, 0, "throughput")->baseline_min, 99);
    assert_int_equal(r.runs_done, 12);
    assert_true(r.finished);
    for (size_t i = 10; i < 12; i++) { /* also if its lines came first */
        struct sample t = s.archive.samples[i];

        s.archive.samples[i] = s.archive.samples[i + 2];
        s.archive.samples[i + 2] = t;
    }
    r = judged(&s);
    check_same(row(&r, 0, "throughput")->baseline_min, 99);
    made_release(&s);
}

static void warmups_that_were_run_again_count_once(void **state)
{
    struct made_series s;
    struct report r;

    (void)state;
    made_init(&s, 2, 6, 0);
    s.plan.profiles[0].warmup = 1;
    made_run(&s, 0, STAGE_WARMUP, 0, 0);
    made_run(&s, 0, STAGE_WARMUP, 0, 1)->status = SAMPLE_INTERRUPTED;
    for (size_t v = 0; v < 2; v++)
        made_run(&s, 0, STAGE_WARMUP, 0, v)->attempt = 2;
    made_flat(&s, 0, STAGE_MAIN, "throughput", 100, 100, 5);
    r = judged(&s);
    assert_int_equal(r.runs_done, 12);
    assert_int_equal(r.runs_planned, 14);
    assert_false(r.finished);
    assert_false(says(&r.profiles[0].notes, "warm-up"));
    assert_false(says(&r.profiles[0].notes, "run again"));
    made_release(&s);
}

static void missing_runs_leave_the_series_unfinished(void **state)
{
    struct made_series s;
    struct report r;

    (void)state;
    made_init(&s, 2, 8, 0);
    s.plan.profiles[0].warmup = 1;
    made_limit(&s, "throughput", "10%", 0.1);
    made_run(&s, 0, STAGE_WARMUP, 0, 0);
    made_run(&s, 0, STAGE_WARMUP, 0, 1)->status = SAMPLE_FAILED;
    made_flat(&s, 0, STAGE_MAIN, "throughput", 100, 100, 5);
    r = judged(&s);
    assert_int_equal(r.verdict, VERDICT_INCOMPLETE);
    assert_false(r.finished);
    assert_int_equal(r.runs_done, 12);
    assert_int_equal(r.runs_planned, 18);
    assert_true(says(&r.profiles[0].notes, "a warm-up run of 'candidate' did not end well"));
    made_release(&s);
}

static void an_archive_without_samples_is_incomplete(void **state)
{
    struct made_series s;
    struct report r;
    struct buf text = BUF_INIT;

    (void)state;
    made_init(&s, 2, 8, 16);
    made_limit(&s, "throughput", "10%", 0.1);
    r = judged(&s);
    assert_int_equal(r.verdict, VERDICT_INCOMPLETE);
    assert_false(judge_needs_confirm(&s.archive, "made/1"));
    report_encode(&r, &text);
    assert_true(text.len > 0);
    buf_release(&text);
    made_release(&s);
}

/* --- the confirming stage --- */

static void the_confirming_stage_alone_decides(void **state)
{
    struct made_series s;
    struct report r;

    (void)state;
    made_init(&s, 2, 8, 16);
    made_limit(&s, "throughput", "10%", 0.1);
    made_flat(&s, 0, STAGE_MAIN, "throughput", 100, 70, 8);
    assert_true(judge_needs_confirm(&s.archive, "made/1"));
    r = judged(&s);
    assert_int_equal(r.verdict, VERDICT_INCOMPLETE);
    assert_true(says(&r.profiles[0].notes, "the confirming stage that has to decide was not run"));
    assert_false(r.finished);
    assert_int_equal(r.runs_planned, 48);

    made_flat(&s, 0, STAGE_CONFIRM, "throughput", 100, 100, 16);
    r = judged(&s);
    assert_int_equal(r.verdict, VERDICT_PASSED);
    assert_string_equal(r.profiles[0].stage, "confirm");
    assert_string_equal(r.profiles[0].main_verdict, "regressed");
    assert_int_equal(r.profiles[0].pairs, 16);
    assert_int_equal(row(&r, 0, "throughput")->complete_pairs, 16);
    assert_true(r.finished);

    made_find(&s, 0, STAGE_CONFIRM, 9, 0)->status = SAMPLE_FAILED;
    r = judged(&s);
    assert_int_equal(r.verdict, VERDICT_INCOMPLETE);
    made_release(&s);
}

static void passed_and_incomplete_stages_are_not_confirmed(void **state)
{
    struct made_series s;
    struct report r;

    (void)state;
    made_init(&s, 2, 8, 16);
    made_limit(&s, "throughput", "10%", 0.1);
    made_flat(&s, 0, STAGE_MAIN, "throughput", 100, 100, 8);
    assert_false(judge_needs_confirm(&s.archive, "made/1"));
    assert_false(judge_needs_confirm(&s.archive, "made/none"));
    r = judged(&s);
    assert_int_equal(r.verdict, VERDICT_PASSED);
    assert_string_equal(r.profiles[0].stage, "main");
    assert_null(r.profiles[0].main_verdict);
    made_find(&s, 0, STAGE_MAIN, 1, 0)->status = SAMPLE_FAILED;
    assert_false(judge_needs_confirm(&s.archive, "made/1"));
    made_release(&s);

    made_init(&s, 2, 8, 16);
    made_limit(&s, "throughput", "10%", 0.1);
    made_pairs(&s, 0, STAGE_MAIN, "throughput", v3_b, v3_c, 8); /* inconclusive */
    assert_true(judge_needs_confirm(&s.archive, "made/1"));
    made_release(&s);
}

static void a_confirming_stage_may_lack_as_many_pairs_as_the_main_stage(void **state)
{
    struct made_series s;
    struct report r;

    (void)state;
    made_init(&s, 2, 8, 16);
    s.plan.profiles[0].min_complete = 7;
    made_limit(&s, "throughput", "10%", 0.1);
    made_flat(&s, 0, STAGE_MAIN, "throughput", 100, 70, 8);
    made_flat(&s, 0, STAGE_CONFIRM, "throughput", 100, 70, 16);
    made_find(&s, 0, STAGE_CONFIRM, 2, 1)->status = SAMPLE_FAILED;
    r = judged(&s);
    assert_int_equal(r.verdict, VERDICT_REGRESSED);
    assert_int_equal(r.profiles[0].min_complete, 15);
    made_find(&s, 0, STAGE_CONFIRM, 3, 1)->status = SAMPLE_FAILED;
    r = judged(&s);
    assert_int_equal(r.verdict, VERDICT_INCOMPLETE);
    made_release(&s);
}

/* --- several metrics, profiles, candidates --- */

static void the_worst_verdict_stands_for_all(void **state)
{
    struct made_series s;
    struct report r;

    (void)state;
    made_init(&s, 2, 8, 0);
    made_profile(&s);
    made_profile(&s);
    made_limit(&s, "throughput", "10%", 0.1);
    made_flat(&s, 0, STAGE_MAIN, "throughput", 100, 101, 8);
    made_flat(&s, 1, STAGE_MAIN, "throughput", 100, 80, 8);
    made_flat(&s, 2, STAGE_MAIN, "throughput", 100, 95, 7);
    r = judged(&s);
    assert_int_equal(r.profiles[0].verdict, VERDICT_PASSED);
    assert_int_equal(r.profiles[1].verdict, VERDICT_REGRESSED);
    assert_int_equal(r.profiles[2].verdict, VERDICT_INCOMPLETE);
    assert_int_equal(r.verdict, VERDICT_REGRESSED);
    assert_int_equal(r.gating_verdicts, 3);
    assert_int_equal(r.worst_count, 1);
    assert_string_equal(r.worst[0].profile, "made/2");
    check_near(r.worst[0].median_change, -0.2, 1e-15);
    made_release(&s);
}

static void every_candidate_is_judged_against_the_baseline(void **state)
{
    struct made_series s;
    struct report r;

    (void)state;
    made_init(&s, 3, 8, 0);
    made_limit(&s, "throughput", "10%", 0.1);
    for (uint64_t pair = 1; pair <= 8; pair++) {
        made_figure(&s, made_run(&s, 0, STAGE_MAIN, pair, 0), "throughput", 100);
        made_figure(&s, made_run(&s, 0, STAGE_MAIN, pair, 1), "throughput", 100);
        made_figure(&s, made_run(&s, 0, STAGE_MAIN, pair, 2), "throughput", 50);
    }
    r = judged(&s);
    assert_int_equal(r.profiles[0].metric_count, 2);
    assert_int_equal(r.gating_verdicts, 2);
    assert_string_equal(r.profiles[0].metrics[0].candidate, "candidate");
    assert_int_equal(r.profiles[0].metrics[0].verdict, VERDICT_PASSED);
    assert_string_equal(r.profiles[0].metrics[1].candidate, "third");
    assert_int_equal(r.profiles[0].metrics[1].verdict, VERDICT_REGRESSED);
    assert_string_equal(r.profiles[0].order, "8 blocks of 3");
    made_find(&s, 0, STAGE_MAIN, 2, 2)->status = SAMPLE_FAILED;
    r = judged(&s);
    assert_int_equal(r.profiles[0].metrics[0].verdict, VERDICT_PASSED);
    assert_int_equal(r.profiles[0].metrics[1].verdict, VERDICT_INCOMPLETE);
    assert_int_equal(r.verdict, VERDICT_INCOMPLETE);
    made_release(&s);
}

static void false_alarms_are_summed_over_the_gates(void **state)
{
    struct made_series s;
    struct report r;

    (void)state;
    made_init(&s, 2, 8, 0);
    made_profile(&s);
    made_limit(&s, "cpu_per_gbit", "1%", 0.01);
    made_pairs(&s, 0, STAGE_MAIN, "cpu_per_gbit", v1_b, v1_c, 8);
    made_pairs(&s, 1, STAGE_MAIN, "cpu_per_gbit", v1_b, v1_c, 8);
    r = judged(&s);
    assert_true(row(&r, 0, "cpu_per_gbit")->false_alarm > 0);
    check_near(r.expected_false_alarms, 2 * row(&r, 0, "cpu_per_gbit")->false_alarm, 1e-15);
    assert_true(r.any_false_alarm < r.expected_false_alarms);
    check_same(row(&r, 0, "cpu_per_gbit")->holm_p, 2 * 0.00390625);
    assert_true(row(&r, 0, "cpu_per_gbit")->sees > 0);
    made_release(&s);
}

static void the_order_of_lines_does_not_matter(void **state)
{
    struct made_series s;
    struct report r;
    struct buf one = BUF_INIT, other = BUF_INIT;

    (void)state;
    made_init(&s, 2, 8, 0);
    made_limit(&s, "cpu_per_gbit", "5%", 0.05);
    made_pairs(&s, 0, STAGE_MAIN, "cpu_per_gbit", v1_b, v1_c, 8);
    r = judged(&s);
    report_encode(&r, &one);
    for (size_t i = 0; i < 8; i++) {
        struct sample t = s.archive.samples[i];

        s.archive.samples[i] = s.archive.samples[15 - i];
        s.archive.samples[15 - i] = t;
    }
    s.archive.finished = true;
    r = judged(&s);
    report_encode(&r, &other);
    assert_int_equal(one.len, other.len);
    assert_memory_equal(one.data, other.data, one.len);
    buf_release(&one);
    buf_release(&other);
    made_release(&s);
}

/* --- controls, claims, A/A --- */

static void a_negative_control_that_moved_makes_the_series_invalid(void **state)
{
    struct profile_control control = {.metric = "answers", .limit_text = "3%", .limit = 0.03};
    struct made_series s;
    struct report r;

    (void)state;
    made_init(&s, 2, 8, 16);
    made_limit(&s, "throughput", "10%", 0.1);
    s.plan.profiles[0].controls = &control;
    s.plan.profiles[0].control_count = 1;
    made_flat(&s, 0, STAGE_MAIN, "throughput", 100, 50, 8);
    r = judged(&s);
    assert_int_equal(row(&r, 0, "answers")->verdict, VERDICT_INCOMPLETE);
    for (size_t i = 0; i < s.archive.sample_count; i++) {
        bool b = strcmp(s.archive.samples[i].variant, "baseline") == 0;

        made_figure(&s, &s.archive.samples[i], "answers", b ? 100 : 106);
    }
    r = judged(&s);
    assert_int_equal(r.verdict, VERDICT_INVALID);
    assert_true(row(&r, 0, "answers")->control);
    check_same(row(&r, 0, "answers")->threshold, 0.03);
    assert_int_equal(r.gating_verdicts, 1);
    assert_false(judge_needs_confirm(&s.archive, "made/1"));
    control.limit = 0.07;
    assert_true(judge_needs_confirm(&s.archive, "made/1"));
    s.plan.thresholds.confirm = 0;
    r = judged(&s);
    assert_int_equal(r.verdict, VERDICT_REGRESSED);
    made_release(&s);
}

static void a_control_alone_judges_nothing(void **state)
{
    struct profile_control control = {.metric = "answers", .limit_text = "3%", .limit = 0.03};
    struct made_series s;
    struct report r;

    (void)state;
    made_init(&s, 2, 8, 0);
    s.plan.profiles[0].controls = &control;
    s.plan.profiles[0].control_count = 1;
    made_flat(&s, 0, STAGE_MAIN, "answers", 100, 101, 8);
    r = judged(&s);
    assert_int_equal(r.verdict, VERDICT_NOT_JUDGED);
    made_release(&s);
}

static void claims_are_shown_or_not(void **state)
{
    struct made_series s;
    struct report r;

    (void)state;
    made_init(&s, 2, 8, 0);
    made_profile(&s);
    made_limit(&s, "throughput", "10%", 0.1)->claim = CLAIM_BETTER;
    made_flat(&s, 0, STAGE_MAIN, "throughput", 100, 103, 8);
    made_flat(&s, 1, STAGE_MAIN, "throughput", 100, 100, 8);
    r = judged(&s);
    assert_string_equal(row(&r, 0, "throughput")->claim, "shown");
    assert_string_equal(row(&r, 1, "throughput")->claim, "not_shown");
    assert_int_equal(r.verdict, VERDICT_PASSED);
    assert_true(says(&r.notes, "is not shown under 'made/2'"));
    made_release(&s);
}

static void an_aa_series_shows_its_noise(void **state)
{
    struct made_series s;
    struct report r;

    (void)state;
    made_init(&s, 2, 8, 0);
    s.plan.aa = true;
    made_limit(&s, "cpu_per_gbit", "5%", 0.05);
    made_pairs(&s, 0, STAGE_MAIN, "cpu_per_gbit", v1_b, v1_c, 8);
    r = judged(&s);
    assert_int_equal(r.profiles[0].aa_count, 1);
    check_nine(r.profiles[0].aa[0].sigma, 0.008215641);
    check_nine(r.profiles[0].aa[0].slot_effect, 0.024312137);
    check_same(r.profiles[0].aa[0].swap_rate, 5.0 / 256);
    s.plan.thresholds.rule = RULE_MEDIAN;
    r = judged(&s);
    check_same(r.profiles[0].aa[0].swap_rate, 15.0 / 256);
    s.plan.thresholds.limit_count = 0;
    r = judged(&s);
    assert_int_equal(r.profiles[0].aa_count, 1);
    assert_true(unknown(r.profiles[0].aa[0].swap_rate));
    made_release(&s);
}

static void identical_variants_that_were_not_run_are_identical(void **state)
{
    struct made_series s;
    struct report r;

    (void)state;
    made_init(&s, 2, 8, 0);
    made_limit(&s, "throughput", "10%", 0.1);
    memcpy(s.plan.variants[1].sha256, s.plan.variants[0].sha256, 65);
    r = judged(&s);
    assert_int_equal(r.verdict, VERDICT_IDENTICAL);
    assert_true(r.finished);
    s.plan.aa = true;
    r = judged(&s);
    assert_int_equal(r.verdict, VERDICT_INCOMPLETE);
    s.plan.aa = false;
    made_flat(&s, 0, STAGE_MAIN, "throughput", 100, 50, 8);
    r = judged(&s); /* they were run all the same */
    assert_int_equal(r.verdict, VERDICT_REGRESSED);
    assert_true(says(&r.notes, "'baseline' and 'candidate' are the same program file"));
    made_release(&s);
}

static void a_changed_program_makes_the_series_invalid(void **state)
{
    struct made_series s;
    struct report r;

    (void)state;
    made_init(&s, 2, 8, 0);
    made_limit(&s, "throughput", "10%", 0.1);
    made_flat(&s, 0, STAGE_MAIN, "throughput", 100, 50, 8);
    made_find(&s, 0, STAGE_MAIN, 8, 1)->program_changed = true;
    r = judged(&s);
    assert_int_equal(r.verdict, VERDICT_INVALID);
    assert_true(says(&r.notes, "changed during the series"));
    made_release(&s);
}

static void runs_of_two_back_ends_make_the_profile_invalid(void **state)
{
    struct made_series s;
    struct report r;

    (void)state;
    made_init(&s, 2, 8, 0);
    made_limit(&s, "throughput", "10%", 0.1);
    made_flat(&s, 0, STAGE_MAIN, "throughput", 100, 100, 8);
    for (size_t i = 0; i < s.archive.sample_count; i++)
        s.archive.samples[i].net.backend = "user";
    r = judged(&s);
    assert_int_equal(r.verdict, VERDICT_PASSED);
    made_find(&s, 0, STAGE_MAIN, 5, 0)->net.backend = "kernel";
    r = judged(&s);
    assert_int_equal(r.verdict, VERDICT_INVALID);
    assert_true(says(&r.profiles[0].notes, "the back end of its network was 'kernel'"));
    made_release(&s);
}

static void a_profile_that_its_probe_kept_out_says_why(void **state)
{
    struct made_series s;
    struct net_probe found = {.profile = "made/1", .reason = "the shaper passes 5 packets/s"};
    struct probes probes = {&found, 1};
    struct report r;

    (void)state;
    made_init(&s, 2, 8, 0);
    made_limit(&s, "throughput", "10%", 0.1);
    s.plan.profiles[0].network.topology = NET_LOOPBACK;
    s.archive.probes = &probes;
    r = judged(&s);
    assert_int_equal(r.verdict, VERDICT_INCOMPLETE);
    assert_true(says(&r.profiles[0].notes, "not run: the shaper passes 5 packets/s"));
    made_release(&s);
}

/* --- noise, words, other thresholds --- */

static void noisy_pairs_are_counted_and_kept(void **state)
{
    struct made_series s;
    struct report r;

    (void)state;
    made_init(&s, 2, 8, 0);
    made_flat(&s, 0, STAGE_MAIN, "throughput", 100, 100, 8);
    made_find(&s, 0, STAGE_MAIN, 1, 0)->noise.others = value_ok(0.5);
    made_find(&s, 0, STAGE_MAIN, 1, 1)->noise.others = value_ok(0.5);
    made_find(&s, 0, STAGE_MAIN, 4, 1)->noise.steal = value_ok(0.06);
    made_find(&s, 0, STAGE_MAIN, 5, 1)->noise.steal = value_none(VALUE_UNSUPPORTED, "no steal");
    r = judged(&s);
    assert_int_equal(r.profiles[0].noisy_pairs, 2);
    assert_int_equal(row(&r, 0, "throughput")->complete_pairs, 8);
    assert_true(says(&r.profiles[0].notes, "2 of 8 pairs were noisy"));
    made_release(&s);
}

static void a_slot_effect_of_half_the_threshold_is_told_untested(void **state)
{
    static const double b[] = {100, 105.5, 100, 105.5, 100}, c[] = {105.5, 100, 105.5, 100, 105.5};
    struct made_series s;
    struct report r;

    (void)state;
    made_init(&s, 2, 5, 0);
    made_limit(&s, "cpu_per_gbit", "10%", 0.1);
    made_pairs(&s, 0, STAGE_MAIN, "cpu_per_gbit", b, c, 5);
    r = judged(&s);
    assert_true(says(&r.profiles[0].notes, "reads 5.5 % higher (at least half the threshold)"));
    s.limits[0].worse = 0.12;
    r = judged(&s);
    assert_false(says(&r.profiles[0].notes, "the second run of a pair"));
    made_release(&s);
}

static void few_and_odd_counts_are_labelled(void **state)
{
    struct made_series s;
    struct report r;

    (void)state;
    made_init(&s, 2, 5, 0);
    made_limit(&s, "cpu_per_gbit", "50%", 0.5);
    made_pairs(&s, 0, STAGE_MAIN, "cpu_per_gbit", v1_b, v1_c, 5);
    r = judged(&s);
    assert_string_equal(r.profiles[0].order, "3 AB, 2 BA");
    assert_true(says(&r.profiles[0].notes, "five pairs are not statistical assurance"));
    assert_false(unknown(row(&r, 0, "cpu_per_gbit")->balanced_median));
    assert_true(unknown(row(&r, 0, "cpu_per_gbit")->slot_p));
    made_release(&s);

    made_init(&s, 2, 2, 0);
    made_limit(&s, "cpu_per_gbit", "50%", 0.5);
    made_pairs(&s, 0, STAGE_MAIN, "cpu_per_gbit", v1_b, v1_c, 2);
    r = judged(&s);
    assert_int_equal(r.verdict, VERDICT_INCONCLUSIVE);
    assert_true(unknown(row(&r, 0, "cpu_per_gbit")->interval_low));
    assert_true(unknown(r.profiles[0].level));
    assert_true(says(&r.profiles[0].notes, "fewer than 5 pairs give no bounds"));
    made_release(&s);
}

static void a_gate_inside_the_noise_is_called_that(void **state)
{
    static const double b[] = {100, 100, 100, 100, 100, 100, 100, 100};
    static const double c[] = {80, 120, 85, 130, 99, 101, 110, 90};
    static const double far[] = {20, 70, 30, 60, 25, 50, 40, 65};
    struct made_series s;
    struct report r;

    (void)state;
    made_init(&s, 2, 8, 0);
    made_limit(&s, "throughput", "10%", 0.1);
    made_pairs(&s, 0, STAGE_MAIN, "throughput", b, c, 8);
    r = judged(&s);
    assert_true(says(&r.profiles[0].notes, "this gate cannot be trusted here"));
    assert_true(says(&r.notes, "flagged about half the time"));
    made_release(&s);

    made_init(&s, 2, 8, 0);
    made_limit(&s, "throughput", "10%", 0.1);
    made_pairs(&s, 0, STAGE_MAIN, "throughput", b, far, 8);
    r = judged(&s);
    assert_int_equal(row(&r, 0, "throughput")->grade, GRADE_CONFIRMED);
    assert_true(says(&r.profiles[0].notes, "this verdict is clear of it"));
    assert_false(says(&r.profiles[0].notes, "cannot be trusted"));
    made_release(&s);
}

static void limits_that_nothing_yields_are_told(void **state)
{
    struct made_series s;
    struct report r;

    (void)state;
    made_init(&s, 2, 8, 0);
    made_limit(&s, "throughput", "10%", 0.1);
    made_limit(&s, "heap_bytes_per_message", "5%", 0.05);
    made_flat(&s, 0, STAGE_MAIN, "throughput", 100, 100, 8);
    r = judged(&s);
    assert_int_equal(r.verdict, VERDICT_PASSED);
    assert_int_equal(r.gating_verdicts, 1);
    assert_true(says(&r.notes, "no profile of the series yields 'heap_bytes_per_message'"));
    s.limits[1].asked = true;
    r = judged(&s);
    assert_int_equal(r.verdict, VERDICT_INCOMPLETE);
    made_release(&s);
}

static void other_thresholds_are_exploratory(void **state)
{
    struct limit limit = {.metric = "throughput", .worse_text = "1%", .worse = 0.01};
    struct thresholds t = {
        .name = "asked", .pairs = 8, .confirm = 16, .limits = &limit, .limit_count = 1};
    struct made_series s;
    struct err e = {0};
    struct report r;

    (void)state;
    made_init(&s, 2, 8, 16);
    made_limit(&s, "throughput", "10%", 0.1);
    made_flat(&s, 0, STAGE_MAIN, "throughput", 100, 95, 8);
    r = judged(&s);
    assert_int_equal(r.verdict, VERDICT_PASSED);
    assert_int_equal(judge_archive_with(&s.archive, &t, &r, &s.arena, &e), 0);
    assert_int_equal(r.verdict, VERDICT_REGRESSED);
    assert_true(r.exploratory);
    assert_true(says(&r.notes, "exploratory"));
    limit.metric = "heap_bytes_per_message";
    limit.asked = true;
    assert_int_equal(judge_archive_with(&s.archive, &t, &r, &s.arena, &e), -1);
    assert_int_equal(e.code, ERR_CONFIG);
    made_release(&s);
}

static void an_unknown_analysis_is_refused(void **state)
{
    struct made_series s;
    struct err e = {0};
    struct report r;

    (void)state;
    made_init(&s, 2, 8, 0);
    s.plan.analysis = PLAN_ANALYSIS + 1;
    assert_int_equal(judge_archive(&s.archive, &r, &s.arena, &e), -1);
    assert_int_equal(e.code, ERR_ARCHIVE);
    made_release(&s);
}

static void the_machine_is_told_in_one_line(void **state)
{
    struct machine_counter counters[] = {
        {"PERF_COUNT_HW_CPU_CYCLES", VALUE_UNSUPPORTED, "no PMU here"},
        {"PERF_COUNT_SW_CPU_MIGRATIONS", VALUE_OK, NULL}};
    struct made_series s;
    struct report r;

    (void)state;
    made_init(&s, 2, 8, 0);
    s.machine.counters = counters;
    s.machine.counter_count = 2;
    r = judged(&s);
    assert_string_equal(r.host_note, "2 CPUs, Linux 6.18, no hardware counters");
    counters[0].status = VALUE_OK;
    counters[0].reason = "user code only: kernel.perf_event_paranoid is 2";
    r = judged(&s);
    assert_string_equal(r.host_note, "2 CPUs, Linux 6.18");
    assert_true(says(&r.notes, "counters: user code only"));
    counters[0] = (struct machine_counter){counters[0].event, VALUE_DENIED, "forbidden"};
    r = judged(&s);
    assert_string_equal(r.host_note, "2 CPUs, Linux 6.18, hardware counters not allowed");
    check_near(judge_sees_factor(8), 1.257, 0.0005);
    assert_true(unknown(judge_sees_factor(4)));
    made_release(&s);
}

/* --- anything at all --- */

static unsigned draw(uint64_t *state, unsigned below)
{
    *state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (unsigned)(*state >> 33) % below;
}

static double odd_number(uint64_t *state)
{
    static const double numbers[] = {0,   0,    1,     1,      2,      100, 110, -5,
                                     0.1, 1e-9, 1e300, 5e-324, -1e300, 90,  105, 95};

    return numbers[draw(state, 16)];
}

/* A run of a random place, end and content; also twice, also of a place that the plan lacks. */
static void odd_run(struct made_series *s, uint64_t *state)
{
    static const char *const metrics[] = {"throughput", "peak_rss", "cycles", "answers"};
    struct sample *run =
        made_run(s, draw(state, 2), (enum sample_stage)draw(state, 3), draw(state, 8), 0);

    run->variant = s->plan.variants[draw(state, 3)].name;
    run->slot = draw(state, 4);
    run->attempt = draw(state, 8) ? 1 : draw(state, 4);
    run->status = draw(state, 6) ? SAMPLE_OK : (enum sample_status)draw(state, 5);
    for (size_t m = 0; m < 4; m++) {
        if (draw(state, 10) == 0)
            continue;
        made_figure(s, run, metrics[m], odd_number(state))->floor = draw(state, 3);
        if (draw(state, 20) == 0)
            run->metrics[run->metric_count - 1].value =
                value_none((enum value_status)(2 + draw(state, 5)), "no reason");
    }
}

static void check_report(const struct made_series *s, const struct report *r)
{
    for (size_t p = 0; p < r->profile_count; p++) {
        for (size_t i = 0; i < r->profiles[p].metric_count; i++) {
            const struct report_metric *m = &r->profiles[p].metrics[i];
            bool gates = thresholds_limit(&s->plan.thresholds, r->profiles[p].profile, m->metric);

            if (gates && m->complete_pairs < r->profiles[p].min_complete)
                assert_int_equal(m->verdict, VERDICT_INCOMPLETE);
            if (gates && r->profiles[p].verdict == VERDICT_PASSED)
                assert_int_equal(m->verdict, VERDICT_PASSED);
            assert_true(m->complete_pairs <= r->profiles[p].pairs);
        }
    }
}

static void odd_archives_neither_crash_nor_pass_unseen(void **state)
{
    uint64_t random = 42;

    (void)state;
    for (int i = 0; i < 400; i++) {
        struct made_series s;
        struct report r;
        struct buf text = BUF_INIT;
        size_t runs = draw(&random, 120);

        made_init(&s, 3, 1 + (int)draw(&random, 7), (int)draw(&random, 8));
        made_profile(&s);
        s.plan.aa = draw(&random, 4) == 0;
        s.plan.thresholds.rule = draw(&random, 2) ? RULE_MEDIAN : RULE_BOUNDED;
        made_limit(&s, "throughput", "10%", 0.1);
        made_limit(&s, "peak_rss", "0%", 0.0)->claim = CLAIM_BETTER;
        for (size_t n = 0; n < runs; n++)
            odd_run(&s, &random);
        r = judged(&s);
        check_report(&s, &r);
        report_encode(&r, &text);
        buf_release(&text);
        made_release(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_vector_is_judged_out_of_an_archive),
        cmocka_unit_test(third_vector_depends_on_the_rule),
        cmocka_unit_test(what_has_no_limit_is_shown_and_not_judged),
        cmocka_unit_test(overrides_go_before_general_limits),
        cmocka_unit_test(differences_within_the_floor_are_none),
        cmocka_unit_test(zero_baselines_are_told_in_words),
        cmocka_unit_test(a_failed_run_makes_its_profile_incomplete),
        cmocka_unit_test(a_variant_that_fails_has_an_outcome_and_no_relative_figure),
        cmocka_unit_test(a_variant_of_which_half_the_runs_end_well_is_compared_by_them),
        cmocka_unit_test(failed_runs_are_incomplete_even_if_nothing_is_judged),
        cmocka_unit_test(a_judged_metric_without_any_figure_is_incomplete),
        cmocka_unit_test(completeness_is_per_metric),
        cmocka_unit_test(scaled_counters_gate_from_99_percent_coverage_on),
        cmocka_unit_test(what_was_not_measured_is_said_once_with_its_reason),
        cmocka_unit_test(the_last_attempt_of_a_pair_counts),
        cmocka_unit_test(warmups_that_were_run_again_count_once),
        cmocka_unit_test(missing_runs_leave_the_series_unfinished),
        cmocka_unit_test(an_archive_without_samples_is_incomplete),
        cmocka_unit_test(the_confirming_stage_alone_decides),
        cmocka_unit_test(passed_and_incomplete_stages_are_not_confirmed),
        cmocka_unit_test(a_confirming_stage_may_lack_as_many_pairs_as_the_main_stage),
        cmocka_unit_test(the_worst_verdict_stands_for_all),
        cmocka_unit_test(every_candidate_is_judged_against_the_baseline),
        cmocka_unit_test(false_alarms_are_summed_over_the_gates),
        cmocka_unit_test(the_order_of_lines_does_not_matter),
        cmocka_unit_test(a_negative_control_that_moved_makes_the_series_invalid),
        cmocka_unit_test(a_control_alone_judges_nothing),
        cmocka_unit_test(claims_are_shown_or_not),
        cmocka_unit_test(an_aa_series_shows_its_noise),
        cmocka_unit_test(identical_variants_that_were_not_run_are_identical),
        cmocka_unit_test(a_changed_program_makes_the_series_invalid),
        cmocka_unit_test(runs_of_two_back_ends_make_the_profile_invalid),
        cmocka_unit_test(a_profile_that_its_probe_kept_out_says_why),
        cmocka_unit_test(noisy_pairs_are_counted_and_kept),
        cmocka_unit_test(a_slot_effect_of_half_the_threshold_is_told_untested),
        cmocka_unit_test(few_and_odd_counts_are_labelled),
        cmocka_unit_test(a_gate_inside_the_noise_is_called_that),
        cmocka_unit_test(limits_that_nothing_yields_are_told),
        cmocka_unit_test(other_thresholds_are_exploratory),
        cmocka_unit_test(an_unknown_analysis_is_refused),
        cmocka_unit_test(the_machine_is_told_in_one_line),
        cmocka_unit_test(odd_archives_neither_crash_nor_pass_unseen),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
