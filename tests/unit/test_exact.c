#include "check.h"

#include <stdlib.h>

#include "judge/exact.h"
#include "judge/hodges_lehmann.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void one_sided_k_and_levels_are_the_published_ones(void **state)
{
    static const struct {
        size_t n, k;
        double level; /* percent; 0: not published */
    } table[] = {
        {5, 1, 96.8750},   {6, 1, 98.4375},  {8, 2, 96.4844},  {10, 2, 98.9258},
        {12, 3, 98.0713},  {16, 5, 96.1594}, {18, 6, 95.1874}, {20, 6, 97.9305},
        {30, 11, 95.0631}, {100, 42, 0},     {1000, 474, 0},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(table); i++) {
        assert_int_equal(sign_k(table[i].n), table[i].k);
        if (table[i].level > 0)
            check_near(100 * sign_level(table[i].n, table[i].k), table[i].level, 0.00005);
    }
}

static void every_k_to_five_thousand_is_the_largest_allowed(void **state)
{
    (void)state;
    for (size_t n = 5; n <= 5000; n = n < 200 ? n + 1 : n + 397) {
        size_t k = sign_k(n);

        assert_true(sign_level(n, k) >= 0.95);
        assert_true(sign_level(n, k + 1) < 0.95);
    }
    for (size_t n = 0; n < 5; n++)
        assert_int_equal(sign_k(n), 0);
    check_same(sign_level(5, 1), 1.0 - 1.0 / 32);
    check_same(sign_level(8, 2), 1.0 - 9.0 / 256);
    check_same(sign_level(16, 5), 1.0 - 2517.0 / 65536);
    check_same(sign_level(4, 0), 0.0);
}

static void two_sided_sign_levels_are_the_published_ones(void **state)
{
    static const struct {
        size_t n, k;
        double level;
    } table[] = {
        {6, 1, 96.88},  {7, 1, 98.44},  {8, 1, 99.22},  {9, 2, 96.09},  {10, 2, 97.85},
        {12, 3, 96.14}, {15, 4, 96.48}, {20, 6, 95.86}, {25, 8, 95.67}, {30, 10, 95.72},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(table); i++) {
        double level = 1.0 - 2.0 * (1.0 - sign_level(table[i].n, table[i].k));

        check_near(100 * level, table[i].level, 0.005);
    }
}

static void binomial_tails_are_exact_where_integers_can_tell(void **state)
{
    (void)state;
    check_same(binomial_at_most(10, 2, 0.5), 56.0 / 1024);
    check_same(binomial_at_least(10, 8, 0.5), 56.0 / 1024);
    check_near(binomial_at_most(3, 1, 0.25), 54.0 / 64, 1e-15);
    check_near(binomial_at_least(5, 5, 0.1), 1e-5, 1e-19);
    check_relative(binomial_at_least(60, 60, 0.01), 1e-120, 1e-12);
    check_near(binomial_at_most(5000, 2500, 0.5) + binomial_at_least(5000, 2501, 0.5), 1.0, 1e-13);
    check_same(binomial_at_most(4, 4, 0.3), 1.0);
    check_same(binomial_at_least(4, 0, 0.3), 1.0);
    check_same(binomial_at_least(4, 5, 0.3), 0.0);
    check_same(binomial_at_most(4, 2, 1.0), 0.0);
    check_same(binomial_at_most(4, 2, 0.0), 1.0);
    check_same(binomial_at_least(4, 2, 0.0), 0.0);
    check_same(binomial_at_least(4, 2, 1.0), 1.0);
    check_same(binomial_at_most(0, 0, 0.5), 1.0);
}

static void critical_signed_rank_sums_are_the_published_ones(void **state)
{
    static const struct {
        size_t n;
        long t;
    } table[] = {{6, 0},   {7, 2},   {8, 3},   {9, 5},   {10, 8},
                 {12, 13}, {15, 25}, {20, 52}, {25, 89}, {30, 137}};
    double level;

    (void)state;
    for (size_t i = 0; i < COUNT(table); i++)
        assert_int_equal(signed_rank_critical(table[i].n, NULL), table[i].t);
    for (size_t n = 0; n < 6; n++)
        assert_int_equal(signed_rank_critical(n, NULL), -1);
    assert_int_equal(signed_rank_critical(9, &level), 5);
    check_near(100 * level, 96.09, 0.005);
    /* the exact table ends at 434 for n = 50; the approximation goes on from there */
    assert_int_equal(signed_rank_critical(50, NULL), 434);
    assert_in_range(signed_rank_critical(51, &level), 450, 454);
    assert_true(level >= 0.95 && level < 0.951);
}

/* Hollander and Wolfe, table 3.1: depression scores before and after a tranquilizer. */
static const double hollander[] = {1.83 - 0.878, 0.50 - 0.647, 1.62 - 0.598,
                                   2.48 - 2.05,  1.68 - 1.06,  1.88 - 1.29,
                                   1.55 - 1.06,  3.06 - 3.14,  1.30 - 1.29};

static const double darwin[] = {6, 8, 14, 16, 23, 24, 28, 29, 41, -48, 49, 56, 60, -67, 75};

static void signed_rank_gives_hollander_and_wolfes_figures(void **state)
{
    struct signed_rank s;

    (void)state;
    signed_rank_test(hollander, COUNT(hollander), &s);
    check_same(s.v, 40);
    check_same(s.p, 0.0390625);
    check_same(s.p_greater, 0.01953125);
    assert_true(s.exact);
}

static void signed_rank_gives_the_figures_for_fifteen_differences(void **state)
{
    double negated[COUNT(darwin)];
    struct signed_rank s;

    (void)state;
    signed_rank_test(darwin, COUNT(darwin), &s);
    check_same(120 - s.v, 24);
    check_same(s.p, 0.041259765625);
    for (size_t i = 0; i < COUNT(darwin); i++)
        negated[i] = -darwin[i];
    signed_rank_test(negated, COUNT(darwin), &s);
    check_same(s.v, 24);
    check_same(s.p, 0.041259765625);
}

static void signed_rank_counts_zeros_and_ties(void **state)
{
    static const double ties[] = {1, 1, -1, 2, 2, 3, 0, 0}, zeros[] = {0, 0, -0.0};
    struct signed_rank s;

    (void)state;
    signed_rank_test(ties, COUNT(ties), &s);
    check_same(s.v, 19);
    check_same(s.p, 0.125);
    assert_int_equal(s.zeros, 2);
    assert_int_equal(s.used, 6);
    signed_rank_test(zeros, COUNT(zeros), &s);
    check_same(s.p, 1.0);
    assert_int_equal(s.zeros, 3);
    signed_rank_test(NULL, 0, &s);
    check_same(s.p, 1.0);
}

static void signed_rank_takes_infinities_as_the_largest(void **state)
{
    static const double values[] = {INFINITY, 1, 2, INFINITY, 3, -1};
    struct signed_rank s;

    (void)state;
    signed_rank_test(values, COUNT(values), &s);
    check_same(s.v, 19.5);
    check_same(s.p, 2.0 * 3 / 64);
}

static void signed_rank_beyond_fifty_continues_the_exact_one(void **state)
{
    double values[51];
    struct signed_rank exact, normal;

    (void)state;
    for (int i = 0; i < 51; i++)
        values[i] = (i % 3 == 0 ? -1.0 : 1.0) * (i + 1);
    signed_rank_test(values, 50, &exact);
    signed_rank_test(values, 51, &normal);
    assert_true(exact.exact && !normal.exact);
    check_near(exact.p, normal.p, 0.02);
    assert_true(exact.p > 0 && exact.p < 1);
}

static void normal_approximations_allow_for_ties(void **state)
{
    double values[60], x[30], y[30];
    struct signed_rank s;
    struct rank_sum r;

    (void)state;
    for (int i = 0; i < 60; i++)
        values[i] = (i % 4 == 0 ? -1.0 : 1.0) * (i % 5 + 1);
    signed_rank_test(values, 60, &s);
    check_same(s.v, 1372.5);
    check_near(s.p, 0.0007231018782833403, 1e-12);
    for (int i = 0; i < 30; i++) {
        x[i] = i % 5;
        y[i] = i % 5 + (i % 3 == 0);
    }
    rank_sum_test(x, 30, y, 30, &r);
    check_same(r.w, 861.0);
    check_near(r.p, 0.42037706494165894, 1e-12);
}

static void rank_sum_counts_arrangements(void **state)
{
    static const double low[] = {1, 2, 3, 4}, high[] = {5, 6, 7, 8}, mixed[] = {2.5, 9};
    static const double same[] = {1, 1, 1, 1};
    struct rank_sum r;

    (void)state;
    rank_sum_test(low, 4, high, 4, &r);
    check_same(r.w, 10);
    check_near(r.p, 2.0 / 70, 1e-16);
    rank_sum_test(high, 4, low, 4, &r);
    check_near(r.p, 2.0 / 70, 1e-16);
    rank_sum_test(low, 4, mixed, 2, &r); /* W = 1+2+4+5 = 12; at most 12 in 4 of 15 */
    check_near(r.p, 8.0 / 15, 1e-15);
    rank_sum_test(same, 4, same, 4, &r);
    check_same(r.p, 1.0);
    check_same(r.w, 18);
    rank_sum_test(low, 4, NULL, 0, &r);
    check_same(r.p, 1.0);
}

static void rank_sum_is_conditional_on_ties(void **state)
{
    /* ranks 1.5 1.5 3 | 4.5 4.5 6: x has 6 of at most 6, and of 20 choices only one reaches it */
    static const double x[] = {1, 1, 2}, y[] = {3, 3, 4};
    /* ranks 2 2 5 | 2 5 5: w = 9 in 1x3... counted by hand: C(3,2) C(3,1) + C(3,3) = 10 of 20 */
    static const double u[] = {1, 1, 2}, v[] = {1, 2, 2};
    struct rank_sum r;

    (void)state;
    rank_sum_test(x, 3, y, 3, &r);
    check_same(r.w, 6);
    check_near(r.p, 0.1, 1e-16);
    rank_sum_test(u, 3, v, 3, &r);
    check_same(r.w, 9);
    check_same(r.p, 1.0);
}

static void rank_sum_beyond_fifty_is_near_the_exact_one(void **state)
{
    double x[26], y[26];
    struct rank_sum exact, normal;

    (void)state;
    for (int i = 0; i < 26; i++) {
        x[i] = i * 2;
        y[i] = i * 2 + 11;
    }
    rank_sum_test(x, 25, y, 25, &exact);
    rank_sum_test(x, 26, y, 26, &normal);
    assert_true(exact.exact && !normal.exact);
    check_near(exact.p, normal.p, 0.01);
    for (int i = 0; i < 26; i++)
        x[i] = y[i] = 3;
    rank_sum_test(x, 26, y, 26, &normal);
    check_same(normal.p, 1.0);
}

static void holm_gives_the_published_adjustment(void **state)
{
    static const double p[] = {.2, .001, .03, .01, .02}, want[] = {.2, .005, .06, .04, .06};
    double adjusted[COUNT(p)];

    (void)state;
    holm_adjust(p, COUNT(p), COUNT(p), adjusted);
    for (size_t i = 0; i < COUNT(p); i++)
        check_near(adjusted[i], want[i], 1e-15);
    holm_adjust(p, COUNT(p), 10, adjusted);
    check_near(adjusted[1], .01, 1e-15);
    check_same(adjusted[0], 1.0);
    holm_adjust(NULL, 0, 0, NULL);
}

static void additive_hodges_lehmann_gives_the_published_figures(void **state)
{
    double sorted[COUNT(darwin)];
    struct hodges_lehmann h;

    (void)state;
    for (size_t i = 0; i < COUNT(hollander); i++)
        sorted[i] = hollander[i];
    sort_ascending(sorted, COUNT(hollander));
    hodges_lehmann_sum(sorted, COUNT(hollander), &h);
    check_near(h.estimate, 0.46, 1e-12);
    check_near(h.lo, 0.010, 1e-12);
    check_near(h.hi, 0.786, 1e-12);
    check_near(100 * h.level, 96.09, 0.005);
    for (size_t i = 0; i < COUNT(darwin); i++)
        sorted[i] = darwin[i];
    sort_ascending(sorted, COUNT(darwin));
    check_same(sorted_median(sorted, COUNT(darwin)), 24);
    hodges_lehmann_sum(sorted, COUNT(darwin), &h);
    check_same(h.estimate, 25);
    check_same(h.lo, 4);
    check_same(h.hi, 41.5);
    check_near(100 * h.level, 95.21, 0.005);
}

static void hodges_lehmann_of_few_values_has_no_interval(void **state)
{
    static const double one[] = {0.25}, five[] = {0, 0, 0, 0, 0};
    struct hodges_lehmann h;

    (void)state;
    hodges_lehmann_ratio(one, 1, &h);
    check_same(h.estimate, 0.25);
    assert_false(h.has_interval);
    hodges_lehmann_ratio(five, 5, &h);
    check_same(h.estimate, 0.0);
    assert_false(h.has_interval);
}

static double uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (double)(*state >> 11) / 9007199254740992.0;
}

/* All averages, listed and sorted. */
static double listed(const double *x, size_t n, size_t rank, double (*cell)(double, double))
{
    size_t m = 0;
    double *all = malloc(n * (n + 1) / 2 * sizeof(*all)), value;

    for (size_t i = 0; i < n; i++) {
        for (size_t j = i; j < n; j++)
            all[m++] = cell(x[i], x[j]);
    }
    sort_ascending(all, m);
    value = all[rank];
    free(all);
    return value;
}

static double product_root(double a, double b)
{
    return sqrt((1.0 + a) * (1.0 + b)) - 1.0;
}

static double average(double a, double b)
{
    return (a + b) / 2.0;
}

static void selection_finds_what_listing_finds(void **state)
{
    static const double grain[] = {0, 0.1, 1e-300}; /* continuous, heavily tied, tiny */
    uint64_t seed = 7;
    double x[201];

    (void)state;
    for (size_t g = 0; g < COUNT(grain); g++) {
        struct hodges_lehmann h;
        size_t n = COUNT(x), m = n * (n + 1) / 2;
        size_t t = (size_t)signed_rank_critical(n, NULL);

        for (size_t i = 0; i < n; i++) {
            x[i] = uniform(&seed) * 2 - 0.9;
            if (g == 1)
                x[i] = (double)(int)(x[i] * 10) / 10;
            if (g == 2)
                x[i] *= grain[g];
        }
        sort_ascending(x, n);
        hodges_lehmann_sum(x, n, &h);
        check_same(h.estimate, listed(x, n, m / 2, average));
        check_same(h.lo, listed(x, n, t, average));
        check_same(h.hi, listed(x, n, m - 1 - t, average));
        hodges_lehmann_ratio(x, n, &h);
        check_same(h.estimate, listed(x, n, m / 2, product_root));
        check_same(h.lo, listed(x, n, t, product_root));
        check_same(h.hi, listed(x, n, m - 1 - t, product_root));
    }
}

/* Even numbers of cells have two middle ones; few distinct values make them equal, many do not. */
static void selection_finds_both_middle_cells(void **state)
{
    uint64_t seed = 11;
    double x[220], y[220], all[220 * 220 / 2 + 110];

    (void)state;
    for (size_t n = 23; n <= 220; n += n < 60 ? 1 : 53) {
        double distinct = n % 2 ? 1e6 : 7, middle;
        size_t m = 0, half = n / 2;
        struct hodges_lehmann h;

        for (size_t i = 0; i < n; i++)
            x[i] = (double)(int)(uniform(&seed) * distinct) / distinct + 0.5;
        sort_ascending(x, n);
        for (size_t i = 0; i < n; i++) {
            for (size_t j = i; j < n; j++)
                all[m++] = product_root(x[i], x[j]);
        }
        sort_ascending(all, m);
        hodges_lehmann_ratio(x, n, &h);
        check_same(h.estimate, sorted_median(all, m));

        m = 0;
        for (size_t i = 0; i < half; i++) {
            for (size_t j = half; j < n; j++)
                all[m++] = sqrt(x[i] / x[j]) - 1.0;
        }
        sort_ascending(all, m);
        for (size_t j = half; j < n; j++)
            y[n - 1 - j] = x[j];
        middle = shift_ratio(x, half, y, n - half);
        check_same(middle, sorted_median(all, m));
    }
}

static void selection_never_yields_nan(void **state)
{
    static const double ends[] = {-1, -1, -1, 0, INFINITY, INFINITY, INFINITY};
    static const double opposite[] = {-INFINITY, -INFINITY, INFINITY, INFINITY, INFINITY, INFINITY};
    struct hodges_lehmann h;

    (void)state;
    hodges_lehmann_ratio(ends, COUNT(ends), &h);
    assert_false(isnan(h.estimate) || isnan(h.lo) || isnan(h.hi));
    hodges_lehmann_sum(opposite, COUNT(opposite), &h);
    assert_false(isnan(h.estimate) || isnan(h.lo) || isnan(h.hi));
    check_same(h.lo, -INFINITY);
    hodges_lehmann_ratio(opposite, COUNT(opposite), &h);
    assert_false(isnan(h.estimate) || isnan(h.lo) || isnan(h.hi));
}

static void midpoints_neither_overflow_nor_turn_into_nan(void **state)
{
    (void)state;
    check_same(midpoint(1.7e308, 1.7e308), 1.7e308);
    check_same(midpoint(-INFINITY, INFINITY), 0.0);
    check_same(midpoint(1.0, INFINITY), INFINITY);
    check_same(midpoint(1.0, 2.0), 1.5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_sided_k_and_levels_are_the_published_ones),
        cmocka_unit_test(every_k_to_five_thousand_is_the_largest_allowed),
        cmocka_unit_test(two_sided_sign_levels_are_the_published_ones),
        cmocka_unit_test(binomial_tails_are_exact_where_integers_can_tell),
        cmocka_unit_test(critical_signed_rank_sums_are_the_published_ones),
        cmocka_unit_test(signed_rank_gives_hollander_and_wolfes_figures),
        cmocka_unit_test(signed_rank_gives_the_figures_for_fifteen_differences),
        cmocka_unit_test(signed_rank_counts_zeros_and_ties),
        cmocka_unit_test(signed_rank_takes_infinities_as_the_largest),
        cmocka_unit_test(signed_rank_beyond_fifty_continues_the_exact_one),
        cmocka_unit_test(normal_approximations_allow_for_ties),
        cmocka_unit_test(rank_sum_counts_arrangements),
        cmocka_unit_test(rank_sum_is_conditional_on_ties),
        cmocka_unit_test(rank_sum_beyond_fifty_is_near_the_exact_one),
        cmocka_unit_test(holm_gives_the_published_adjustment),
        cmocka_unit_test(additive_hodges_lehmann_gives_the_published_figures),
        cmocka_unit_test(hodges_lehmann_of_few_values_has_no_interval),
        cmocka_unit_test(selection_finds_what_listing_finds),
        cmocka_unit_test(selection_finds_both_middle_cells),
        cmocka_unit_test(selection_never_yields_nan),
        cmocka_unit_test(midpoints_neither_overflow_nor_turn_into_nan),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
