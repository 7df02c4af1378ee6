#include "check.h"

#include "judge/elementary.h"

/* The distance of two doubles in units of the last place of `want`. */
static double ulps(double got, double want)
{
    double unit = nextafter(fabs(want), INFINITY) - fabs(want);

    return fabs(got - want) / unit;
}

static void exp_is_within_three_ulps_of_the_c_library(void **state)
{
    (void)state;
    for (double x = -700.0; x < 700.0; x += 0.37123) {
        if (ulps(elementary_exp(x), exp(x)) > 3.0)
            fail_msg("exp(%.17g) is %.17g, not %.17g", x, elementary_exp(x), exp(x));
    }
    for (double x = -1.0; x < 1.0; x += 0.00037123) {
        if (ulps(elementary_exp(x), exp(x)) > 3.0)
            fail_msg("exp(%.17g) is %.17g, not %.17g", x, elementary_exp(x), exp(x));
    }
}

static void log_is_within_three_ulps_of_the_c_library(void **state)
{
    (void)state;
    for (double x = 0.3; x < 3.0; x += 0.00037123) {
        if (ulps(elementary_log(x), log(x)) > 3.0)
            fail_msg("log(%.17g) is %.17g, not %.17g", x, elementary_log(x), log(x));
    }
    for (double x = 1e-320; x < 1e300; x *= 1.7123) {
        if (ulps(elementary_log(x), log(x)) > 3.0)
            fail_msg("log(%.17g) is %.17g, not %.17g", x, elementary_log(x), log(x));
    }
    for (double d = 1e-15; d < 1e-3; d *= 1.7123)
        assert_true(ulps(elementary_log(1.0 + d), log(1.0 + d)) <= 3.0);
}

static void exp_and_log_keep_their_ends(void **state)
{
    (void)state;
    check_same(elementary_exp(0.0), 1.0);
    check_same(elementary_exp(1000.0), INFINITY);
    check_same(elementary_exp(INFINITY), INFINITY);
    check_same(elementary_exp(-1000.0), 0.0);
    check_same(elementary_exp(-INFINITY), 0.0);
    check_near(elementary_exp(-744.0), 1e-323, 1e-323);
    check_relative(elementary_exp(709.7), exp(709.7), 1e-15);
    check_same(elementary_log(1.0), 0.0);
    check_same(elementary_log(0.0), -INFINITY);
    check_same(elementary_log(-1.0), -INFINITY);
    check_same(elementary_log(INFINITY), INFINITY);
}

static void normal_functions_agree_with_erfc(void **state)
{
    (void)state;
    for (double x = -12.0; x <= 12.0; x += 0.0371) {
        double density = exp(-x * x / 2) / sqrt(2 * acos(-1.0));

        check_relative(normal_pdf(x), density, 3e-14);
        check_relative(normal_cdf(x), erfc(-x / sqrt(2.0)) / 2, 3e-14);
        check_relative(normal_tail(x), erfc(x / sqrt(2.0)) / 2, 3e-14);
    }
}

static void normal_functions_give_published_values(void **state)
{
    (void)state;
    check_near(normal_cdf(1.0), 0.841344746068542949, 1e-15);
    check_near(normal_cdf(-3.0), 1.34989803163009453e-3, 1e-17);
    check_relative(normal_tail(6.0), 9.86587645037698141e-10, 1e-14);
    check_relative(normal_tail(30.0), 4.90671392714819e-198, 1e-13);
    check_near(normal_cdf(2.0) + normal_tail(2.0), 1.0, 1e-15);
    check_same(normal_cdf(0.0), 0.5);
    check_same(normal_cdf(-100.0), 0.0);
    check_same(normal_cdf(100.0), 1.0);
    check_same(normal_tail(INFINITY), 0.0);
    check_same(normal_tail(-INFINITY), 1.0);
}

static void quantile_inverts_the_distribution(void **state)
{
    (void)state;
    check_near(normal_quantile(0.975), 1.95996398454005424, 3e-15);
    check_near(normal_quantile(0.75), 0.674489750196081743, 1e-15);
    check_near(normal_quantile(1e-10), -6.36134090240405628, 1e-13);
    check_same(normal_quantile(0.5), 0.0);
    check_same(normal_quantile(0.0), -INFINITY);
    check_same(normal_quantile(1.0), INFINITY);
    for (double p = 1e-300; p < 0.5; p *= 3.7)
        check_relative(normal_cdf(normal_quantile(p)), p, 1e-12);
    for (double p = 0.001; p < 1.0; p += 0.001)
        check_near(normal_cdf(normal_quantile(p)), p, 1e-15);
}

static void log_factorial_agrees_with_lgamma(void **state)
{
    (void)state;
    check_same(log_factorial(0), 0.0);
    check_same(log_factorial(1), 0.0);
    check_near(log_factorial(5), log(120.0), 1e-15);
    for (size_t n = 2; n < 10000; n += 7)
        check_relative(log_factorial(n), lgamma((double)n + 1), 2e-15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exp_is_within_three_ulps_of_the_c_library),
        cmocka_unit_test(log_is_within_three_ulps_of_the_c_library),
        cmocka_unit_test(exp_and_log_keep_their_ends),
        cmocka_unit_test(normal_functions_agree_with_erfc),
        cmocka_unit_test(normal_functions_give_published_values),
        cmocka_unit_test(quantile_inverts_the_distribution),
        cmocka_unit_test(log_factorial_agrees_with_lgamma),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
