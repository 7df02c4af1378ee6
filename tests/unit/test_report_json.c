#include "check.h"
#include "report_made.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "model/report.h"

static struct arena arena;

static int release(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

static struct report_metric metric(void)
{
    return (struct report_metric){
        .candidate = "candidate",
        .metric = "throughput",
        .unit = "Mbit/s",
        .better = BETTER_HIGHER,
        .complete_pairs = 5,
        .baseline_median = 320.1,
        .candidate_median = 320.2,
        .baseline_spread = 0.5,
        .candidate_spread = 1.0 / 3,
        .baseline_min = 319,
        .baseline_max = 321,
        .candidate_min = 318,
        .candidate_max = INFINITY,
        .median_change = 0.1 + 0.2,
        .median_difference = 0.06,
        .interval_low = -INFINITY,
        .interval_high = 0.0123456789012345678,
        .level = 0.96875,
        .threshold = 0.1,
        .verdict = VERDICT_PASSED,
        .grade = GRADE_CONFIRMED,
        .mark = MARK_BETTER,
        .hodges_lehmann = NAN,
        .hl_low = NAN,
        .hl_high = NAN,
        .hl_level = NAN,
        .p = 0.0625,
        .holm_p = 0.125,
        .zeros = 2,
        .sigma = 4.9e-324,
        .sees = 1.7976931348623157e308,
        .slot_effect = -0.0,
        .slot_p = NAN,
        .balanced_median = NAN,
        .false_alarm = 0.001,
        .claim = "shown",
        .note = "from 0 to 7",
    };
}

static struct report full_report(void)
{
    static struct report_metric metrics[2];
    static struct report_failure failures[] = {{"candidate", 1, "timed out", "a\nb", 12},
                                               {"baseline", 1, "exited with status 1", NULL, 13}};
    static struct report_aa aa[] = {{"throughput", 0.01, 0.02, NAN, -0.5, 0.05}};
    static struct report_profile profiles[2];
    static struct report_worst worst[] = {{"candidate", "peak_rss", "flow/bulk", 0.25}};
    struct report r = {
        .series = "flow/bulk",
        .plan_sha256 = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
        .analysis = 1,
        .verdict = VERDICT_REGRESSED,
        .rule = "bounded",
        .thresholds = "default",
        .finished = true,
        .runs_done = 20,
        .runs_planned = 24,
        .profiles = profiles,
        .profile_count = 2,
        .worst = worst,
        .worst_count = 1,
        .gating_verdicts = 3,
        .expected_false_alarms = 0.13,
        .any_false_alarm = 0.12,
        .marks_tested = 30,
        .host_note = "2 CPUs, Linux 6.18, no PMU",
    };

    metrics[0] = metric();
    metrics[1] = metric();
    metrics[1].metric = "peak_rss";
    metrics[1].threshold = NAN;
    metrics[1].verdict = VERDICT_NOT_JUDGED;
    metrics[1].grade = GRADE_NONE;
    metrics[1].mark = MARK_NONE;
    metrics[1].claim = metrics[1].note = NULL;
    metrics[1].control = true;
    metrics[1].missing = (struct strings){0};
    strings_add(&metrics[1].missing, &arena, "unsupported: no PMU here");
    profiles[0] = (struct report_profile){
        .profile = "flow/bulk",
        .verdict = VERDICT_REGRESSED,
        .stage = "confirm",
        .main_verdict = "inconclusive",
        .pairs = 8,
        .complete_pairs = 7,
        .min_complete = 8,
        .order = "4 AB, 4 BA",
        .level = 0.96484375,
        .noisy_pairs = 1,
        .metrics = metrics,
        .metric_count = 2,
        .failures = failures,
        .failure_count = 2,
        .aa = aa,
        .aa_count = 1,
    };
    strings_add(&profiles[0].notes, &arena, "a note with \"quotes\" and \xe2\x9a\xa1");
    profiles[1] = (struct report_profile){.profile = "flow/idle",
                                          .verdict = VERDICT_IDENTICAL,
                                          .stage = "main",
                                          .order = "",
                                          .level = NAN};
    strings_add(&r.variants, &arena, "baseline");
    strings_add(&r.variants, &arena, "candidate");
    strings_add(&r.displays, &arena, "./old");
    strings_add(&r.displays, &arena, "./new");
    strings_add(&r.notes, &arena, "no PMU");
    return r;
}

static int decode(const char *text, size_t len, struct report *r, struct err *err)
{
    struct json *tree = json_parse(text, len, "report.json", err);

    if (!tree)
        return -1;
    int rc = report_decode(r, tree, "report.json", &arena, err);
    json_free(tree); /* nothing of the report may live in the tree */
    return rc;
}

static void a_decoded_report_encodes_to_the_same_bytes(void **state)
{
    (void)state;
    struct report r = full_report(), back;
    struct buf first = BUF_INIT, second = BUF_INIT;
    struct err err = {0};

    report_encode(&r, &first);
    assert_int_equal(decode(first.data, first.len, &back, &err), 0);
    report_encode(&back, &second);
    assert_string_equal(first.data, second.data);
    buf_release(&first);
    buf_release(&second);
}

static void numbers_read_back_to_the_last_bit(void **state)
{
    (void)state;
    struct report r = full_report(), back;
    struct buf text = BUF_INIT;
    struct err err = {0};

    report_encode(&r, &text);
    assert_int_equal(decode(text.data, text.len, &back, &err), 0);
    const struct report_metric *a = &r.profiles[0].metrics[0], *b = &back.profiles[0].metrics[0];
    check_same(b->median_change, a->median_change);
    check_same(b->interval_high, a->interval_high);
    check_same(b->candidate_spread, a->candidate_spread);
    check_same(b->sigma, a->sigma);
    check_same(b->sees, a->sees);
    assert_true(signbit(b->slot_effect));
    assert_true(isnan(b->hodges_lehmann) && isnan(b->slot_p) && isnan(b->hl_low));
    check_same(b->interval_low, -INFINITY);
    check_same(b->candidate_max, INFINITY);
    assert_int_equal(back.profiles[0].metrics[1].mark, MARK_NONE);
    assert_string_equal(back.profiles[0].main_verdict, "inconclusive");
    assert_null(back.profiles[1].main_verdict);
    assert_string_equal(back.displays.items[1], "./new");
    buf_release(&text);
}

/* Each must be found behind the one before. */
static void expect_in_order(const char *text, const char *const words[])
{
    for (size_t i = 0; words[i]; i++) {
        const char *at = strstr(text, words[i]);
        if (!at)
            fail_msg("%s is not where it should be", words[i]);
        text = at + strlen(words[i]);
    }
}

static void keys_come_in_the_documented_order(void **state)
{
    (void)state;
    struct report r = full_report();
    struct buf text = BUF_INIT;

    report_encode(&r, &text);
    expect_in_order(text.data,
                    (const char *const[]){"{\n  \"abba\": 1,\n  \"series\": \"flow/bulk\"",
                                          "\n  \"plan_sha256\"",
                                          "\n  \"analysis\": 1,",
                                          "\n  \"verdict\": \"regressed\"",
                                          "\n  \"profiles\": [",
                                          "\"profile\": \"flow/bulk\"",
                                          "\"verdict\"",
                                          "\"pairs\"",
                                          "\"complete_pairs\"",
                                          "\"metrics\"",
                                          "\"candidate\"",
                                          "\"metric\"",
                                          "\"unit\"",
                                          "\"better\": \"higher\"",
                                          "\"baseline_median\"",
                                          "\"candidate_median\"",
                                          "\"median_change\"",
                                          "\"median_difference\"",
                                          "\"interval\"",
                                          "\"-inf\"",
                                          "\"level\"",
                                          "\"threshold\"",
                                          "\"verdict\"",
                                          "\"grade\": \"confirmed\"",
                                          "\"hodges_lehmann\": null",
                                          "\"p\"",
                                          "\"sees\"",
                                          NULL});
    assert_null(strstr(text.data, "nan"));
    assert_int_equal(text.data[text.len - 1], '\n');
    buf_release(&text);
}

static void expect_fault(const char *old, const char *new, const char *complaint)
{
    struct report r = full_report(), back;
    struct buf good = BUF_INIT, bad = BUF_INIT;
    struct err err = {0};

    report_encode(&r, &good);
    const char *at = strstr(good.data, old);
    assert_non_null(at);
    buf_add(&bad, good.data, (size_t)(at - good.data));
    buf_addstr(&bad, new);
    buf_addstr(&bad, at + strlen(old));
    assert_int_equal(decode(bad.data, bad.len, &back, &err), -1);
    if (!strstr(err.msg, complaint))
        fail_msg("'%s' does not say '%s'", err.msg, complaint);
    buf_release(&good);
    buf_release(&bad);
}

static void faults_name_the_path(void **state)
{
    (void)state;
    expect_fault("\"abba\": 1", "\"abba\": 2", "$.abba: format 2 is not known");
    expect_fault("\"series\"", "\"serie\"", "serie");
    expect_fault("0123456789abcdef\",", "0123456789abcde\",", "$.plan_sha256: expected a SHA-256");
    expect_fault("\"verdict\": \"regressed\"", "\"verdict\": \"fine\"",
                 "$.verdict: unknown verdict");
    expect_fault("\"baseline_median\": 320.1", "\"baseline_median\": \"nan\"",
                 "$.profiles[0].metrics[0].baseline_median");
    expect_fault("\"better\": \"higher\"", "\"better\": \"up\"", "$.profiles[0].metrics[0].better");
    expect_fault("\"grade\": \"confirmed\"", "\"grade\": \"none\"",
                 "$.profiles[0].metrics[0].grade");
    expect_fault("\"exploratory\": false", "\"exploratory\": 0", "$.exploratory");
    expect_fault("\"pairs\": 8", "\"pairs\": -8", "$.profiles[0].pairs");
    expect_fault("\"runs_done\": 20,\n", "", "runs_done");
}

static void the_worse_verdict_wins(void **state)
{
    (void)state;
    const enum verdict order[] = {VERDICT_INVALID,      VERDICT_REGRESSED, VERDICT_INCOMPLETE,
                                  VERDICT_INCONCLUSIVE, VERDICT_PASSED,    VERDICT_NOT_JUDGED};

    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        for (size_t j = i; j < sizeof order / sizeof *order; j++) {
            assert_int_equal(verdict_worse(order[i], order[j]), order[i]);
            assert_int_equal(verdict_worse(order[j], order[i]), order[i]);
        }
    }
    assert_int_equal(verdict_worse(VERDICT_IDENTICAL, VERDICT_PASSED), VERDICT_PASSED);
    assert_int_equal(verdict_worse(VERDICT_IDENTICAL, VERDICT_IDENTICAL), VERDICT_IDENTICAL);
    assert_int_equal(verdict_worse(VERDICT_IDENTICAL, VERDICT_NOT_JUDGED), VERDICT_NOT_JUDGED);
}

static void verdict_names_parse_back(void **state)
{
    (void)state;
    for (int v = VERDICT_NOT_JUDGED; v <= VERDICT_IDENTICAL; v++) {
        enum verdict back;
        assert_true(verdict_parse(verdict_name((enum verdict)v), &back));
        assert_int_equal(back, v);
    }
    enum verdict unused;
    assert_false(verdict_parse("pass", &unused));
}

static void tables_come_back_as_they_were(void **state)
{
    struct buf first = BUF_INIT, second = BUF_INIT;
    struct report r, back;
    struct err err = {0};

    (void)state;
    report_made_variants(&r, &arena);
    report_encode(&r, &first);
    assert_non_null(strstr(first.data, "\"table\""));
    assert_non_null(strstr(first.data, "\"scalings\""));
    assert_non_null(strstr(first.data, "\"flips\""));
    assert_int_equal(decode(first.data, first.len, &back, &err), 0);
    assert_int_equal(back.profiles[0].table->row_count, 4);
    check_same(back.scalings[0].rows[0].cells[1].speedup, 1.25);
    assert_null(back.regimes->flips[1].metric);
    report_encode(&back, &second);
    assert_string_equal(first.data, second.data);
    buf_release(&first);
    buf_release(&second);
}

static void a_report_without_tables_has_no_keys_of_them(void **state)
{
    struct buf text = BUF_INIT;
    struct report r = full_report();

    (void)state;
    report_encode(&r, &text);
    assert_null(strstr(text.data, "\"table\""));
    assert_null(strstr(text.data, "\"scalings\""));
    assert_null(strstr(text.data, "\"regimes\""));
    buf_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_decoded_report_encodes_to_the_same_bytes, release),
        cmocka_unit_test_teardown(numbers_read_back_to_the_last_bit, release),
        cmocka_unit_test_teardown(keys_come_in_the_documented_order, release),
        cmocka_unit_test_teardown(faults_name_the_path, release),
        cmocka_unit_test(the_worse_verdict_wins),
        cmocka_unit_test(tables_come_back_as_they_were),
        cmocka_unit_test(a_report_without_tables_has_no_keys_of_them),
        cmocka_unit_test(verdict_names_parse_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
