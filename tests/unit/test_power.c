#include "check.h"

#include <stdlib.h>

#include "judge/elementary.h"
#include "judge/exact.h"
#include "judge/power.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void factors_are_the_published_ones(void **state)
{
    static const struct {
        size_t n;
        double factor;
    } table[] = {{5, 1.710},  {6, 1.793},  {8, 1.257}, {10, 1.383},
                 {12, 1.123}, {16, 0.844}, {20, 0.837}};
    double factor;

    (void)state;
    for (size_t i = 0; i < COUNT(table); i++) {
        assert_true(power_factor(table[i].n, &factor));
        check_near(factor, table[i].factor, 0.0005);
    }
    for (size_t n = 0; n < 5; n++)
        assert_false(power_factor(n, &factor));
    assert_true(power_factor(5000, &factor));
    assert_true(factor > 0.044 && factor < 0.045);
}

static void what_can_be_seen_depends_on_the_direction(void **state)
{
    double lower, higher;

    (void)state;
    assert_true(power_sees(8, 0.1, BETTER_LOWER, &lower));
    assert_true(power_sees(8, 0.1, BETTER_HIGHER, &higher));
    check_near((1 + lower) * (1 - higher), 1.0, 1e-14);
    check_near(lower, 0.1339, 0.0001);
    assert_true(power_sees(8, 0.0, BETTER_LOWER, &lower));
    check_same(lower, 0.0);
    assert_false(power_sees(4, 0.1, BETTER_LOWER, &lower));
}

static void false_alarms_of_the_median_rule_are_the_published_ones(void **state)
{
    static const struct {
        size_t n;
        double lower, higher;
    } table[] = {{5, 0.037614782, 0.024718675},
                 {8, 0.010185409, 0.0052103275},
                 {16, 0.00079425815, 0.0002443884}};

    (void)state;
    for (size_t i = 0; i < COUNT(table); i++) {
        double lower = power_alarm_median(table[i].n, power_t(0.1, 0.1, BETTER_LOWER));
        double higher = power_alarm_median(table[i].n, power_t(0.1, 0.1, BETTER_HIGHER));

        check_relative(lower, table[i].lower, 2e-8);
        check_relative(higher, table[i].higher, 2e-8);
    }
}

static void a_median_is_beyond_zero_half_the_time(void **state)
{
    (void)state;
    for (size_t n = 1; n <= 40; n++)
        check_near(power_alarm_median(n, 0.0), 0.5, 1e-12);
    check_near(power_alarm_median(4999, 0.0), 0.5, 1e-10);
    check_near(power_alarm_median(5000, 0.0), 0.5, 1e-10);
    check_near(power_alarm_median(2, 1.0), normal_tail(sqrt(2.0)), 1e-12);
}

static void alarms_vanish_with_the_noise(void **state)
{
    (void)state;
    check_same(power_alarm_median(8, power_t(0.1, 0.0, BETTER_LOWER)), 0.0);
    check_same(power_alarm_bounded(8, power_t(0.1, 0.0, BETTER_LOWER)), 0.0);
    check_same(power_alarm_bounded(4, 1.0), 0.0);
    check_same(power_alarm_median(0, 1.0), 0.0);
    check_same(power_t(1.0, 0.1, BETTER_HIGHER), INFINITY);
    check_same(power_t(0.0, 0.0, BETTER_LOWER), 0.0);
    assert_true(power_alarm_bounded(8, power_t(0.1, 0.1, BETTER_LOWER)) <
                power_alarm_median(8, power_t(0.1, 0.1, BETTER_LOWER)));
    check_same(power_not_passed(RULE_BOUNDED, 4, 1.0), 1.0);
}

static double uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
    return ((double)(*state >> 11) + 0.5) / 9007199254740992.0;
}

/* One stage on the logarithmic scale, judged as the formulas assume. */
static void simulate(size_t n, double t, int rounds, double *regressed, double *not_passed)
{
    size_t k = sign_k(n);
    uint64_t seed = 12345 + n;
    double x[32];
    int r = 0, np = 0;

    for (int i = 0; i < rounds; i++) {
        for (size_t j = 0; j < n; j++)
            x[j] = normal_quantile(uniform(&seed));
        sort_ascending(x, n);
        r += sorted_median(x, n) > t && x[k - 1] > 0;
        np += x[n - k] > t;
    }
    *regressed = (double)r / rounds;
    *not_passed = (double)np / rounds;
}

static void false_alarms_of_the_bounded_rule_agree_with_simulation(void **state)
{
    static const size_t counts[] = {5, 8, 9, 16};

    (void)state;
    for (size_t i = 0; i < COUNT(counts); i++) {
        double regressed, not_passed, want;
        int rounds = 20000;

        simulate(counts[i], 0.4, rounds, &regressed, &not_passed);
        want = power_alarm_bounded(counts[i], 0.4);
        check_near(regressed, want, 4 * sqrt(want / rounds));
        want = power_not_passed(RULE_BOUNDED, counts[i], 0.4);
        check_near(not_passed, want, 4 * sqrt(want / rounds));
    }
}

static void bounded_at_zero_is_the_chance_of_its_lower_bound(void **state)
{
    (void)state;
    for (size_t n = 5; n <= 60; n++) { /* r(k) > 0 implies a median > 0 */
        double want = 1.0 - sign_level(n, sign_k(n));

        check_near(power_alarm_bounded(n, 0.0), want, 1e-11);
    }
}

static void defaults_cry_wolf_as_rarely_as_promised(void **state)
{
    struct power_gate gate = {RULE_BOUNDED, 8, 16, 0.1, BETTER_LOWER};
    double alone = power_false_alarm(&gate, 0.1);

    (void)state;
    check_near(alone, 0.00014, 0.00005); /* simulated: 0.014 % */
    gate.confirm = 0;
    assert_true(power_false_alarm(&gate, 0.1) > alone);
    gate = (struct power_gate){RULE_MEDIAN, 5, 0, 0.1, BETTER_LOWER};
    check_relative(power_false_alarm(&gate, 0.1), 0.037614782, 2e-8);
}

static void a_second_stage_is_run_for_all_gates_of_a_profile(void **state)
{
    struct power_gate gates[2] = {{RULE_BOUNDED, 8, 16, 0.1, BETTER_LOWER},
                                  {RULE_BOUNDED, 8, 16, 0.01, BETTER_LOWER}};
    double sigmas[2] = {0.1, 0.2}, alarms[2];

    (void)state;
    power_profile(gates, sigmas, 2, alarms);
    /* the hopeless second gate triggers it nearly always */
    assert_true(alarms[0] > power_false_alarm(&gates[0], 0.1));
    assert_true(alarms[0] <= power_alarm_bounded(16, power_t(0.1, 0.1, BETTER_LOWER)));
}

static void a_series_sums_its_gates(void **state)
{
    static const double alarms[] = {0.1, 0.2, 0.0};
    double expected, any;

    (void)state;
    power_series(alarms, 3, &expected, &any);
    check_near(expected, 0.3, 1e-15);
    check_near(any, 0.28, 1e-15);
    power_series(NULL, 0, &expected, &any);
    check_same(expected, 0.0);
    check_same(any, 0.0);
}

static void sizing_follows_sigma_over_the_threshold(void **state)
{
    (void)state;
    assert_int_equal(power_sizing(0.05, 0.1), ADVICE_ENOUGH);
    assert_int_equal(power_sizing(0.051, 0.1), ADVICE_CONFIRM);
    assert_int_equal(power_sizing(0.1, 0.1), ADVICE_CONFIRM);
    assert_int_equal(power_sizing(0.11, 0.1), ADVICE_HOPELESS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(factors_are_the_published_ones),
        cmocka_unit_test(what_can_be_seen_depends_on_the_direction),
        cmocka_unit_test(false_alarms_of_the_median_rule_are_the_published_ones),
        cmocka_unit_test(a_median_is_beyond_zero_half_the_time),
        cmocka_unit_test(alarms_vanish_with_the_noise),
        cmocka_unit_test(false_alarms_of_the_bounded_rule_agree_with_simulation),
        cmocka_unit_test(bounded_at_zero_is_the_chance_of_its_lower_bound),
        cmocka_unit_test(defaults_cry_wolf_as_rarely_as_promised),
        cmocka_unit_test(a_second_stage_is_run_for_all_gates_of_a_profile),
        cmocka_unit_test(a_series_sums_its_gates),
        cmocka_unit_test(sizing_follows_sigma_over_the_threshold),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
