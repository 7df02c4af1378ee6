/* Lateness: the histogram of how late packets left. */
#include "check.h"

#include "net/lateness.h"

#include <string.h>

static struct lateness l;

static int cleared(void **state)
{
    (void)state;
    memset(&l, 0, sizeof(l));
    return 0;
}

static void without_packets_there_is_no_quantile(void **state)
{
    (void)state;
    assert_int_equal(lateness_quantile(&l, 0.5), -1);
}

static void quantile_is_never_below_and_at_most_a_32nd_above(void **state)
{
    (void)state;
    for (int64_t ns = 1; ns < INT64_C(1) << 39; ns += ns / 3 + 1) {
        int64_t got;

        memset(&l, 0, sizeof(l));
        lateness_add(&l, ns);
        lateness_add(&l, INT64_C(1) << 39);
        got = lateness_quantile(&l, 0.5);
        assert_true(got >= ns);
        assert_true(got - ns <= ns / 32);
    }
}

static void quantiles_of_a_thousand(void **state)
{
    (void)state;
    for (int64_t us = 1000; us >= 1; us--)
        lateness_add(&l, us * 1000);
    assert_int_equal(l.total, 1000);
    assert_in_range(lateness_quantile(&l, 0.50), 500000, 516000);
    assert_in_range(lateness_quantile(&l, 0.99), 990000, 1000000);
    assert_int_equal(lateness_quantile(&l, 1.0), 1000000);
    assert_in_range(lateness_quantile(&l, 0.0), 1000, 1031);
}

static void maximum_is_exact_and_bounds_every_quantile(void **state)
{
    (void)state;
    lateness_add(&l, 1000001);
    assert_int_equal(l.max_ns, 1000001);
    assert_int_equal(lateness_quantile(&l, 0.99), 1000001);
}

static void early_is_not_late_and_the_very_late_are_kept(void **state)
{
    (void)state;
    lateness_add(&l, -5);
    assert_int_equal(lateness_quantile(&l, 1.0), 0);
    lateness_add(&l, INT64_MAX);
    assert_int_equal(l.max_ns, INT64_MAX);
    assert_int_equal(lateness_quantile(&l, 1.0), INT64_MAX);
    assert_int_equal(lateness_quantile(&l, 0.5), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(without_packets_there_is_no_quantile, cleared),
        cmocka_unit_test_setup(quantile_is_never_below_and_at_most_a_32nd_above, cleared),
        cmocka_unit_test_setup(quantiles_of_a_thousand, cleared),
        cmocka_unit_test_setup(maximum_is_exact_and_bounds_every_quantile, cleared),
        cmocka_unit_test_setup(early_is_not_late_and_the_very_late_are_kept, cleared),
    };

    return cmocka_run_group_tests_name("lateness", tests, NULL, NULL);
}
