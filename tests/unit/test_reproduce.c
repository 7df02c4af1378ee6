/* Reproduce: when a series counts as reproduced. */
#include "check.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "judge/reproduce.h"

struct made {
    struct report_metric metrics[2];
    struct report_profile profile;
    struct report report;
};

static struct report_metric metric(const char *name, enum verdict v, double low, double high)
{
    return (struct report_metric){.candidate = "new",
                                  .metric = name,
                                  .unit = "s",
                                  .verdict = v,
                                  .threshold = 0.1,
                                  .median_change = (low + high) / 2,
                                  .interval_low = low,
                                  .interval_high = high};
}

static void make(struct made *m, enum verdict v, double low, double high)
{
    *m = (struct made){0};
    m->metrics[0] = metric("wall_time", v, low, high);
    m->metrics[1] = metric("cpu_time", VERDICT_NOT_JUDGED, 5, 6);
    m->metrics[1].threshold = NAN;
    m->profile = (struct report_profile){
        .profile = "p", .verdict = v, .metrics = m->metrics, .metric_count = 2};
    m->report = (struct report){
        .verdict = v, .finished = true, .profiles = &m->profile, .profile_count = 1};
}

static struct reproduction compare(struct made *then, struct made *now)
{
    static struct arena arena = ARENA_INIT;
    struct reproduction r;

    reproduce(&r, &then->report, &now->report, &arena);
    assert_true(r.metric_count <= 1);
    return r;
}

static void the_same_verdict_and_touching_bounds_are_reproduced(void **state)
{
    struct made then, now;

    (void)state;
    make(&then, VERDICT_PASSED, -0.01, 0.02);
    make(&now, VERDICT_PASSED, 0.02, 0.05);
    assert_int_equal(compare(&then, &now).outcome, REPRODUCED);
}

static void bounds_apart_are_not(void **state)
{
    struct made then, now;

    (void)state;
    make(&then, VERDICT_PASSED, -0.01, 0.02);
    make(&now, VERDICT_PASSED, 0.021, 0.05);
    assert_int_equal(compare(&then, &now).outcome, NOT_REPRODUCED);
    assert_int_equal(compare(&now, &then).outcome, NOT_REPRODUCED);
    assert_int_equal(compare(&now, &then).apart, 1);
}

static void another_verdict_is_not(void **state)
{
    struct made then, now;

    (void)state;
    make(&then, VERDICT_PASSED, -0.01, 0.02);
    make(&now, VERDICT_INCONCLUSIVE, -0.01, 0.02);
    assert_int_equal(compare(&then, &now).outcome, NOT_REPRODUCED);
    make(&now, VERDICT_PASSED, -0.01, 0.02);
    now.metrics[0].metric = "other";
    assert_int_equal(compare(&then, &now).outcome, NOT_REPRODUCED);
}

static void without_bounds_the_verdict_decides(void **state)
{
    struct made then, now;

    (void)state;
    make(&then, VERDICT_PASSED, -0.01, 0.02);
    make(&now, VERDICT_PASSED, NAN, NAN);
    assert_int_equal(compare(&then, &now).outcome, REPRODUCED);
    assert_int_equal(compare(&then, &now).metrics[0].overlap, OVERLAP_UNKNOWN);
}

static void what_is_incomplete_shows_nothing(void **state)
{
    struct made then, now;

    (void)state;
    make(&then, VERDICT_PASSED, -0.01, 0.02);
    make(&now, VERDICT_INCOMPLETE, -0.01, 0.02);
    assert_int_equal(compare(&then, &now).outcome, CANNOT_TELL);
    assert_int_equal(compare(&now, &then).outcome, CANNOT_TELL);
    make(&now, VERDICT_INVALID, -0.01, 0.02);
    assert_int_equal(compare(&then, &now).outcome, CANNOT_TELL);
    make(&now, VERDICT_PASSED, -0.01, 0.02);
    now.report.finished = false;
    assert_int_equal(compare(&then, &now).outcome, CANNOT_TELL);
}

static void nothing_judged_is_said(void **state)
{
    struct made then, now;

    (void)state;
    make(&then, VERDICT_NOT_JUDGED, 0, 1);
    make(&now, VERDICT_NOT_JUDGED, 2, 3);
    assert_int_equal(compare(&then, &now).outcome, NOTHING_JUDGED);
    make(&then, VERDICT_IDENTICAL, 0, 1);
    make(&now, VERDICT_IDENTICAL, 0, 1);
    assert_int_equal(compare(&then, &now).outcome, REPRODUCED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_verdict_and_touching_bounds_are_reproduced),
        cmocka_unit_test(bounds_apart_are_not),
        cmocka_unit_test(another_verdict_is_not),
        cmocka_unit_test(without_bounds_the_verdict_decides),
        cmocka_unit_test(what_is_incomplete_shows_nothing),
        cmocka_unit_test(nothing_judged_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
