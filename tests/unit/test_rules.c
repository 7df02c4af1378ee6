#include "check.h"

#include "judge/rules.h"

static const double v1_b[] = {2.00, 2.10, 1.95, 2.05, 2.20, 1.98, 2.02, 2.08};
static const double v1_c[] = {2.16, 2.18, 2.12, 2.11, 2.42, 2.08, 2.20, 2.15};
static const double v2_b[] = {346.4, 345.9, 346.8, 346.1, 347.0};
static const double v2_c[] = {313.1, 312.9, 313.3, 312.6, 313.9};
static const double v3_b[] = {312.0, 318.5, 309.2, 320.1, 315.7, 311.9, 319.0, 316.3};
static const double v3_c[] = {280.1, 270.2, 285.5, 291.0, 279.4, 284.8, 277.3, 288.8};

static void judged_as(enum rule rule, const double *b, const double *c, size_t n,
                      enum metric_better better, double threshold, enum verdict verdict,
                      enum grade grade)
{
    struct paired_input in = {.n = n, .baseline = b, .candidate = c, .better = better};
    struct paired_interval i;
    struct judgement j;
    struct paired p;

    paired_init(&p, &in);
    i = paired_worse_interval(&p);
    j = rules_judge(rule, paired_worse_median(&p), &i, threshold);
    paired_release(&p);
    assert_int_equal(j.verdict, verdict);
    assert_int_equal(j.grade, grade);
}

static void vectors_are_judged_as_published(void **state)
{
    (void)state;
    judged_as(RULE_BOUNDED, v1_b, v1_c, 8, BETTER_LOWER, 0.05, VERDICT_REGRESSED, GRADE_LIKELY);
    judged_as(RULE_MEDIAN, v1_b, v1_c, 8, BETTER_LOWER, 0.05, VERDICT_REGRESSED, GRADE_LIKELY);
    judged_as(RULE_BOUNDED, v2_b, v2_c, 5, BETTER_LOWER, 0.15, VERDICT_PASSED, GRADE_CONFIRMED);
    judged_as(RULE_MEDIAN, v2_b, v2_c, 5, BETTER_LOWER, 0.15, VERDICT_PASSED, GRADE_CONFIRMED);
    judged_as(RULE_MEDIAN, v3_b, v3_c, 8, BETTER_HIGHER, 0.10, VERDICT_PASSED, GRADE_UNSURE);
    judged_as(RULE_BOUNDED, v3_b, v3_c, 8, BETTER_HIGHER, 0.10, VERDICT_INCONCLUSIVE, GRADE_NONE);
    judged_as(RULE_BOUNDED, v1_b, v1_c, 8, BETTER_LOWER, 0.03, VERDICT_REGRESSED, GRADE_CONFIRMED);
    judged_as(RULE_BOUNDED, v1_b, v1_c, 8, BETTER_HIGHER, 0.03, VERDICT_PASSED, GRADE_CONFIRMED);
}

static struct judgement judge_at(enum rule rule, double median, double lo, double hi, double t)
{
    struct paired_interval i = {.known = true, .lo = lo, .hi = hi, .level = 0.96};

    return rules_judge(rule, median, &i, t);
}

static void a_change_equal_to_the_threshold_is_not_beyond_it(void **state)
{
    (void)state;
    assert_int_equal(judge_at(RULE_BOUNDED, 0.1, 0.1, 0.1, 0.1).verdict, VERDICT_PASSED);
    assert_int_equal(judge_at(RULE_BOUNDED, 0.1, 0.1, 0.1, 0.1).grade, GRADE_CONFIRMED);
    assert_int_equal(judge_at(RULE_MEDIAN, 0.1, 0.05, 0.2, 0.1).verdict, VERDICT_PASSED);
    assert_int_equal(judge_at(RULE_MEDIAN, 0.2, 0.1, 0.3, 0.1).grade, GRADE_LIKELY);
    assert_int_equal(judge_at(RULE_MEDIAN, 0.2, 0.0, 0.3, 0.1).grade, GRADE_UNSURE);
}

static enum verdict accepted_at(double median, double lo, double hi)
{
    struct paired_interval i = {.known = true, .lo = lo, .hi = hi, .level = 0.96};

    return rules_judge_accepted(RULE_BOUNDED, median, &i, 0.1, 0.25).verdict;
}

static void what_does_not_pass_is_held_against_what_was_accepted(void **state)
{
    (void)state;
    assert_int_equal(accepted_at(0.05, 0.0, 0.09), VERDICT_PASSED);
    assert_int_equal(accepted_at(0.2, 0.15, 0.24), VERDICT_ACCEPTED);
    assert_int_equal(accepted_at(0.08, -0.1, 0.2), VERDICT_ACCEPTED); /* else inconclusive */
    assert_int_equal(accepted_at(0.2, 0.15, 0.3), VERDICT_INCONCLUSIVE);
    assert_int_equal(accepted_at(0.3, 0.2, 0.4), VERDICT_REGRESSED);
    assert_int_equal(verdict_worse(VERDICT_ACCEPTED, VERDICT_PASSED), VERDICT_ACCEPTED);
    assert_int_equal(verdict_worse(VERDICT_ACCEPTED, VERDICT_INCONCLUSIVE), VERDICT_INCONCLUSIVE);
    assert_int_equal(verdict_worse(VERDICT_NEW, VERDICT_PASSED), VERDICT_PASSED);
}

static void bounded_does_not_condemn_what_may_be_no_change(void **state)
{
    (void)state;
    assert_int_equal(judge_at(RULE_BOUNDED, 0.2, -0.01, 0.3, 0.1).verdict, VERDICT_INCONCLUSIVE);
    assert_int_equal(judge_at(RULE_BOUNDED, 0.2, 0.0, 0.3, 0.1).verdict, VERDICT_INCONCLUSIVE);
    assert_int_equal(judge_at(RULE_BOUNDED, 0.2, 0.01, 0.3, 0.1).verdict, VERDICT_REGRESSED);
    assert_int_equal(judge_at(RULE_BOUNDED, 0.05, -0.1, 0.1001, 0.1).verdict, VERDICT_INCONCLUSIVE);
}

static void without_an_interval_nothing_is_sure(void **state)
{
    struct paired_interval none = {.known = false};

    (void)state;
    assert_int_equal(rules_judge(RULE_BOUNDED, 0.5, &none, 0.1).verdict, VERDICT_INCONCLUSIVE);
    assert_int_equal(rules_judge(RULE_BOUNDED, -0.5, &none, 0.1).verdict, VERDICT_INCONCLUSIVE);
    assert_int_equal(rules_judge(RULE_MEDIAN, 0.5, &none, 0.1).verdict, VERDICT_REGRESSED);
    assert_int_equal(rules_judge(RULE_MEDIAN, 0.5, &none, 0.1).grade, GRADE_UNSURE);
    assert_int_equal(rules_judge(RULE_MEDIAN, 0.0, &none, 0.1).verdict, VERDICT_PASSED);
    assert_int_equal(rules_judge(RULE_MEDIAN, 0.0, &none, 0.1).grade, GRADE_UNSURE);
    assert_false(rules_claim_shown(&none));
    assert_int_equal(rules_mark(&none), MARK_NONE);
    assert_int_equal(rules_control(0.5, &none, 0.1), CONTROL_WARNING);
}

static void infinite_changes_are_judged_like_others(void **state)
{
    (void)state;
    assert_int_equal(judge_at(RULE_BOUNDED, INFINITY, INFINITY, INFINITY, 0.1).grade,
                     GRADE_CONFIRMED);
    assert_int_equal(judge_at(RULE_BOUNDED, 0.0, -INFINITY, 0.0, 0.1).verdict, VERDICT_PASSED);
    assert_int_equal(judge_at(RULE_BOUNDED, 0.0, 0.0, INFINITY, 0.1).verdict, VERDICT_INCONCLUSIVE);
}

static void a_claim_is_shown_only_beyond_no_change(void **state)
{
    struct paired_interval i = {.known = true, .lo = -0.2, .hi = -0.001};

    (void)state;
    assert_true(rules_claim_shown(&i));
    i.hi = 0.0;
    assert_false(rules_claim_shown(&i));
}

static void a_control_that_moved_for_sure_is_invalid(void **state)
{
    struct paired_interval i = {.known = true, .lo = 0.01, .hi = 0.2};

    (void)state;
    assert_int_equal(rules_control(0.05, &i, 0.03), CONTROL_INVALID);
    assert_int_equal(rules_control(0.03, &i, 0.03), CONTROL_OK);
    i.lo = -0.01;
    assert_int_equal(rules_control(0.05, &i, 0.03), CONTROL_WARNING);
    i = (struct paired_interval){.known = true, .lo = -0.2, .hi = -0.01};
    assert_int_equal(rules_control(-0.05, &i, 0.03), CONTROL_INVALID);
}

static void marks_need_the_whole_interval_beyond_one_percent(void **state)
{
    struct paired_interval i = {.known = true, .lo = 0.011, .hi = 0.2};

    (void)state;
    assert_int_equal(rules_mark(&i), MARK_WORSE);
    i.lo = 0.01;
    assert_int_equal(rules_mark(&i), MARK_NONE);
    i = (struct paired_interval){.known = true, .lo = -0.2, .hi = -0.011};
    assert_int_equal(rules_mark(&i), MARK_BETTER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vectors_are_judged_as_published),
        cmocka_unit_test(what_does_not_pass_is_held_against_what_was_accepted),
        cmocka_unit_test(a_change_equal_to_the_threshold_is_not_beyond_it),
        cmocka_unit_test(bounded_does_not_condemn_what_may_be_no_change),
        cmocka_unit_test(without_an_interval_nothing_is_sure),
        cmocka_unit_test(infinite_changes_are_judged_like_others),
        cmocka_unit_test(a_claim_is_shown_only_beyond_no_change),
        cmocka_unit_test(a_control_that_moved_for_sure_is_invalid),
        cmocka_unit_test(marks_need_the_whole_interval_beyond_one_percent),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
