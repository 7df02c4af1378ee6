#include "check.h"

#include "judge/paired.h"
#include "judge/rules.h"
#include "judge/label_swap.h"

#define V1_PAIRS 8
static const double v1_b[] = {2.00, 2.10, 1.95, 2.05, 2.20, 1.98, 2.02, 2.08};
static const double v1_c[] = {2.16, 2.18, 2.12, 2.11, 2.42, 2.08, 2.20, 2.15};
static const double v2_b[] = {346.4, 345.9, 346.8, 346.1, 347.0};
static const double v2_c[] = {313.1, 312.9, 313.3, 312.6, 313.9};
static const double v3_b[] = {312.0, 318.5, 309.2, 320.1, 315.7, 311.9, 319.0, 316.3};
static const double v3_c[] = {280.1, 270.2, 285.5, 291.0, 279.4, 284.8, 277.3, 288.8};

static struct paired pairs_of(const double *b, const double *c, size_t n, enum metric_better better)
{
    struct paired_input in = {.n = n, .baseline = b, .candidate = c, .better = better};
    struct paired p;

    paired_init(&p, &in);
    return p;
}

static bool is_number(double x)
{
    return !isnan(x);
}

static void first_vector_comes_out_to_the_digit(void **state)
{
    struct paired p = pairs_of(v1_b, v1_c, V1_PAIRS, BETTER_LOWER);
    struct paired_interval i = paired_worse_interval(&p);
    struct hodges_lehmann h;
    struct signed_rank s;

    (void)state;
    check_nine(paired_median(&p), 0.065252525);
    assert_true(i.known);
    check_nine(i.lo, 0.033653846);
    check_nine(i.hi, 0.089108911);
    check_near(100 * i.level, 96.4844, 0.00005);
    check_nine(paired_candidate_median(&p) / paired_baseline_median(&p) - 1, 0.058968059);
    check_near(paired_median_difference(&p), 0.13, 1e-15);
    paired_hodges_lehmann(&p, &h);
    check_nine(h.estimate, 0.062825051);
    check_near(h.lo, 0.033672343, 5e-7); /* published for the logarithmic form */
    check_near(h.hi, 0.089954127, 5e-7);
    paired_signed_rank(&p, &s);
    check_same(s.v, 36);
    check_same(s.p, 0.0078125);
    paired_release(&p);
}

static void first_vector_shows_its_slot_effect_and_noise(void **state)
{
    struct paired p = pairs_of(v1_b, v1_c, V1_PAIRS, BETTER_LOWER);
    struct paired_slot slot;

    (void)state;
    paired_slot_effect(&p, &slot);
    assert_true(slot.known && slot.testable);
    assert_int_equal(slot.ab, 4);
    assert_int_equal(slot.ba, 4);
    check_nine(slot.effect, 0.024312137);
    check_nine(slot.p, 0.028571429);
    check_nine(paired_sigma(&p).value, 0.008215641);
    paired_release(&p);
}

static void first_vector_relabelled_regresses_as_often_as_published(void **state)
{
    struct paired p = pairs_of(v1_b, v1_c, V1_PAIRS, BETTER_LOWER);
    struct label_swap s;

    (void)state;
    label_swap(&p, 0.05, 1, &s);
    assert_true(s.exhaustive);
    assert_int_equal(s.relabelled, 256);
    assert_int_equal(s.median, 15);
    assert_int_equal(s.bounded, 5);
    paired_release(&p);
}

static void second_vector_comes_out_to_the_digit(void **state)
{
    struct paired p = pairs_of(v2_b, v2_c, 5, BETTER_LOWER);
    struct paired_interval i = paired_interval(&p);
    struct signed_rank s;

    (void)state;
    check_nine(paired_median(&p), -0.096131640);
    check_nine(i.lo, -0.096792834);
    check_nine(i.hi, -0.095389049);
    check_near(paired_median_difference(&p), -33.3, 1e-12);
    paired_signed_rank(&p, &s);
    check_same(s.p, 0.0625);
    paired_release(&p);
}

static void third_vector_comes_out_to_the_digit(void **state)
{
    struct paired p = pairs_of(v3_b, v3_c, 8, BETTER_HIGHER);
    struct paired_interval worse = paired_worse_interval(&p), raw = paired_interval(&p);

    (void)state;
    check_nine(paired_worse_median(&p), 0.096576340);
    check_same(paired_median(&p), -paired_worse_median(&p));
    check_nine(worse.lo, 0.086886823);
    check_nine(worse.hi, 0.130721003);
    check_same(raw.lo, -worse.hi);
    check_same(raw.hi, -worse.lo);
    check_nine(paired_candidate_median(&p) / paired_baseline_median(&p) - 1, -0.106170886);
    paired_release(&p);
}

static void exact_ten_percent_never_exceeds_ten_percent(void **state)
{
    (void)state;
    for (int i = 0; i < 199; i++) {
        double b = 10.0 * (i + 1), c = 11.0 * (i + 1);

        assert_false(paired_change(b, c, 0.0) > 0.10);
    }
}

static void zero_baselines_give_infinities_and_never_nan(void **state)
{
    static const double b[] = {0, 0, 0, 0, 0, 0, 5, 0}, c[] = {0, 3, 1, 2, 0, 7, 0, 1};

    (void)state;
    for (int better = BETTER_LOWER; better <= BETTER_HIGHER; better++) {
        struct paired p = pairs_of(b, c, 8, (enum metric_better)better);
        struct paired_interval i = paired_worse_interval(&p);
        struct paired_slot slot;
        struct hodges_lehmann h;
        struct signed_rank s;
        struct label_swap swap;

        check_same(paired_median(&p), INFINITY);
        check_same(paired_worse_median(&p), better == BETTER_LOWER ? INFINITY : -INFINITY);
        assert_true(i.known && i.lo <= i.hi);
        paired_hodges_lehmann(&p, &h);
        assert_true(is_number(h.estimate) && is_number(h.lo) && is_number(h.hi));
        paired_slot_effect(&p, &slot);
        assert_true(slot.known);
        assert_true(is_number(slot.effect) && is_number(slot.p));
        paired_signed_rank(&p, &s);
        assert_int_equal(s.zeros, 2);
        assert_false(paired_sigma(&p).known);
        assert_false(paired_sigma_mad(&p).known);
        assert_false(paired_lag1(&p).known);
        assert_false(paired_pairing_gain(&p).known);
        assert_true(paired_balanced_median(&p).known);
        assert_true(is_number(paired_balanced_median(&p).value));
        check_same(paired_baseline_median(&p), 0.0);
        label_swap(&p, 0.1, 1, &swap);
        assert_true(swap.median <= 256 && swap.bounded <= swap.median);
        paired_release(&p);
    }
}

static void identical_samples_have_not_changed(void **state)
{
    static const double same[] = {3, 3, 3, 3, 3, 3, 3, 3};
    struct paired p = pairs_of(same, same, 8, BETTER_HIGHER);
    struct paired_interval i = paired_worse_interval(&p);
    struct paired_slot slot;
    struct hodges_lehmann h;
    struct signed_rank s;
    struct label_swap swap;

    (void)state;
    check_same(paired_worse_median(&p), 0.0);
    assert_false(signbit(paired_worse_median(&p)));
    check_same(i.lo, 0.0);
    check_same(i.hi, 0.0);
    assert_false(signbit(i.lo) || signbit(i.hi));
    paired_hodges_lehmann(&p, &h);
    check_same(h.estimate, 0.0);
    paired_signed_rank(&p, &s);
    check_same(s.p, 1.0);
    paired_slot_effect(&p, &slot);
    check_same(slot.effect, 0.0);
    check_same(slot.p, 1.0);
    check_same(paired_sigma(&p).value, 0.0);
    check_same(paired_sigma_mad(&p).value, 0.0);
    assert_true(paired_lag1(&p).known);
    check_same(paired_lag1(&p).value, 0.0);
    assert_false(paired_pairing_gain(&p).known);
    label_swap(&p, 0.1, 1, &swap);
    assert_int_equal(swap.median, 0);
    paired_release(&p);
}

static void one_and_two_pairs_have_a_median_and_no_interval(void **state)
{
    (void)state;
    for (size_t n = 1; n <= 2; n++) {
        struct paired p = pairs_of(v1_b, v1_c, n, BETTER_LOWER);
        struct paired_slot slot;
        struct hodges_lehmann h;
        struct signed_rank s;
        struct label_swap swap;

        check_near(paired_median(&p), n == 1 ? 0.08 : (0.08 + 0.08 / 2.1) / 2, 1e-12);
        assert_false(paired_interval(&p).known);
        assert_false(paired_worse_interval(&p).known);
        paired_hodges_lehmann(&p, &h);
        assert_false(h.has_interval);
        assert_true(h.estimate > 0);
        paired_slot_effect(&p, &slot);
        assert_true(slot.known == (n == 2));
        assert_false(slot.testable);
        assert_false(paired_sigma(&p).known);
        assert_false(paired_lag1(&p).known);
        assert_true(paired_balanced_median(&p).known == (n == 2));
        paired_signed_rank(&p, &s);
        check_same(s.p, n == 1 ? 1.0 : 0.5);
        label_swap(&p, 0.05, 1, &swap);
        assert_int_equal(swap.relabelled, 1u << n);
        assert_int_equal(swap.bounded, 0);
        paired_release(&p);
    }
}

static void a_slot_effect_is_testable_from_eight_pairs_on(void **state)
{
    (void)state;
    for (size_t n = 7; n <= 8; n++) {
        struct paired p = pairs_of(v1_b, v1_c, n, BETTER_LOWER);
        struct paired_slot slot;

        paired_slot_effect(&p, &slot);
        assert_true(slot.known);
        assert_true(slot.testable == (n == 8));
        paired_release(&p);
    }
}

static void no_pairs_need_no_special_care_where_nothing_is_asked(void **state)
{
    struct paired p = pairs_of(NULL, NULL, 0, BETTER_LOWER);
    struct paired_slot slot;

    (void)state;
    assert_false(paired_interval(&p).known);
    assert_false(paired_sigma(&p).known);
    assert_false(paired_balanced_median(&p).known);
    assert_false(paired_pairing_gain(&p).known);
    paired_slot_effect(&p, &slot);
    assert_false(slot.known);
    paired_release(&p);
}

static void differences_up_to_the_floor_are_no_change(void **state)
{
    (void)state;
    check_same(paired_change(1000, 1100, 100), 0.0);
    check_near(paired_change(1000, 1101, 100), 0.101, 1e-15);
    check_same(paired_change(0, 100, 100), 0.0);
    check_same(paired_change(0, 101, 100), INFINITY);
    check_same(paired_change(-4, -2, 0), 0.5);
}

static void balanced_median_takes_the_slot_effect_out_of_an_odd_count(void **state)
{
    /* the second run of a pair reads 5 % more; there is no other change */
    static const double b[] = {100, 105, 100, 105, 100}, c[] = {105, 100, 105, 100, 105};
    struct paired p = pairs_of(b, c, 5, BETTER_LOWER);
    struct paired_slot slot;

    (void)state;
    check_near(paired_median(&p), 0.05, 1e-15);
    check_near(paired_balanced_median(&p).value, (0.05 - 5.0 / 105) / 2, 1e-15);
    paired_slot_effect(&p, &slot);
    check_near(slot.effect, 0.05, 1e-15);
    assert_false(slot.testable);
    assert_int_equal(slot.ab, 3);
    check_near(paired_sigma(&p).value, 0.0, 1e-15);
    paired_release(&p);
}

static void given_orders_go_before_the_alternating_one(void **state)
{
    static const double b[] = {100, 100, 105, 105}, c[] = {105, 105, 100, 100};
    static const bool reversed[] = {false, false, true, true};
    struct paired_input in = {.n = 4, .baseline = b, .candidate = c, .reversed = reversed};
    struct paired_slot slot;
    struct paired p;

    (void)state;
    paired_init(&p, &in);
    paired_slot_effect(&p, &slot);
    check_near(slot.effect, 0.05, 1e-15);
    check_near(slot.p, 1.0 / 3, 1e-15);
    paired_release(&p);
}

static void spread_figures_are_those_of_their_definitions(void **state)
{
    static const double b[] = {1, 1, 1, 1, 1, 1}, c[] = {1, 2, 4, 2, 4, 8};
    struct paired p = pairs_of(b, c, 6, BETTER_LOWER);
    double ln2 = 0.69314718055994531;

    (void)state;
    /* in units of ln 2: AB 0 2 2, BA 1 1 3; residuals -4/3 -2/3 2/3 -2/3 2/3 4/3 */
    check_near(paired_sigma(&p).value, ln2 * sqrt((32.0 + 16.0) / 9 / 4), 1e-14);
    check_near(paired_sigma_mad(&p).value, 0.0, 1e-15);
    check_near(paired_lag1(&p).value, (8.0 - 4 - 4 - 4 + 8) / (32 + 16), 1e-14);
    check_near(paired_pairing_gain(&p).value, 1.0, 1e-14); /* b does not vary */
    paired_release(&p);
}

static void pairing_gain_is_small_where_both_move_together(void **state)
{
    static const double b[] = {1, 2, 4, 2, 8, 3}, c[] = {1.1, 2.1, 4.3, 2.2, 8.7, 3.2};
    struct paired p = pairs_of(b, c, 6, BETTER_LOWER);

    (void)state;
    assert_true(paired_pairing_gain(&p).known);
    assert_true(paired_pairing_gain(&p).value < 0.01);
    paired_release(&p);
}

/* What label_swap must count, by sorting every relabelling and asking the rules. */
static struct label_swap relabelled_by_hand(const double *b, const double *c, size_t n,
                                            enum metric_better better, double threshold)
{
    struct label_swap s = {0};

    for (uint64_t subset = 0; subset < 1ULL << n; subset++) {
        double x[20], y[20];
        struct paired_interval i;
        struct paired p;

        for (size_t k = 0; k < n; k++) {
            bool swap = subset >> k & 1;

            x[k] = swap ? c[k] : b[k];
            y[k] = swap ? b[k] : c[k];
        }
        p = pairs_of(x, y, n, better);
        i = paired_worse_interval(&p);
        s.relabelled++;
        s.median += rules_judge(RULE_MEDIAN, paired_worse_median(&p), &i, threshold).verdict ==
                    VERDICT_REGRESSED;
        s.bounded += rules_judge(RULE_BOUNDED, paired_worse_median(&p), &i, threshold).verdict ==
                     VERDICT_REGRESSED;
        paired_release(&p);
    }
    return s;
}

static void label_swaps_count_what_the_rules_say(void **state)
{
    static const double b[] = {10, 12, 9, 0, 11, 13, 10, 8, 9, 11};
    static const double c[] = {11, 12, 10.5, 2, 10, 15, 10.2, 9, 8, 11.5};

    (void)state;
    for (size_t n = 1; n <= 10; n++) {
        for (int better = BETTER_LOWER; better <= BETTER_HIGHER; better++) {
            struct paired p = pairs_of(b, c, n, (enum metric_better)better);
            struct label_swap got, want = relabelled_by_hand(b, c, n, p.in.better, 0.05);

            label_swap(&p, 0.05, 1, &got);
            assert_int_equal(got.relabelled, want.relabelled);
            assert_int_equal(got.median, want.median);
            assert_int_equal(got.bounded, want.bounded);
            paired_release(&p);
        }
    }
}

static void drawn_label_swaps_repeat_and_are_near_the_exhaustive_ones(void **state)
{
    double b[20], c[20];
    struct label_swap all, drawn, again;
    struct paired p;

    (void)state;
    for (int i = 0; i < 20; i++) {
        b[i] = 100 + i * 7 % 5;
        c[i] = 100 + i * 11 % 23;
    }
    p = pairs_of(b, c, 20, BETTER_LOWER);
    label_swap(&p, 0.01, 5, &all);
    assert_int_equal(all.relabelled, 1 << 20);
    assert_true(all.median > 0);
    paired_release(&p);

    double b3[60], c3[60]; /* three times the same pairs: drawn, and rarer */
    for (int i = 0; i < 60; i++) {
        b3[i] = b[i % 20];
        c3[i] = c[i % 20];
    }
    p = pairs_of(b3, c3, 60, BETTER_LOWER);
    label_swap(&p, 0.01, 5, &drawn);
    label_swap(&p, 0.01, 5, &again);
    assert_false(drawn.exhaustive);
    assert_int_equal(drawn.relabelled, 100000);
    assert_int_equal(drawn.median, again.median);
    assert_int_equal(drawn.bounded, again.bounded);
    assert_true(drawn.median > 0);
    assert_true((double)drawn.median / 1e5 < (double)all.median / (1 << 20));
    label_swap(&p, 0.01, 6, &again);
    assert_true(again.median != drawn.median);
    paired_release(&p);
}

/* Of counts that hardly vary: at the level that it has, and from five pairs on nothing is new. */
static void the_range_of_few_pairs_is_an_interval_where_that_is_asked(void **state)
{
    static const double levels[] = {0.5, 0.75, 0.875, 0.9375};

    (void)state;
    for (size_t n = 1; n <= V1_PAIRS; n++) {
        struct paired_input in = {
            .n = n, .baseline = v1_b, .candidate = v1_c, .better = BETTER_LOWER, .range = true};
        struct paired p, without = pairs_of(v1_b, v1_c, n, BETTER_LOWER);
        struct paired_interval i, j = paired_interval(&without);

        paired_init(&p, &in);
        i = paired_interval(&p);
        assert_int_equal(i.known, n > 1);
        if (n > 1 && n < 5) {
            check_same(i.lo, p.sorted[0]);
            check_same(i.hi, p.sorted[n - 1]);
            check_near(i.level, levels[n - 1], 1e-15);
            assert_false(j.known);
        } else if (n >= 5) {
            check_same(i.lo, j.lo);
            check_same(i.hi, j.hi);
            check_same(i.level, j.level);
        }
        paired_release(&p);
        paired_release(&without);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_range_of_few_pairs_is_an_interval_where_that_is_asked),
        cmocka_unit_test(first_vector_comes_out_to_the_digit),
        cmocka_unit_test(first_vector_shows_its_slot_effect_and_noise),
        cmocka_unit_test(first_vector_relabelled_regresses_as_often_as_published),
        cmocka_unit_test(second_vector_comes_out_to_the_digit),
        cmocka_unit_test(third_vector_comes_out_to_the_digit),
        cmocka_unit_test(exact_ten_percent_never_exceeds_ten_percent),
        cmocka_unit_test(zero_baselines_give_infinities_and_never_nan),
        cmocka_unit_test(identical_samples_have_not_changed),
        cmocka_unit_test(one_and_two_pairs_have_a_median_and_no_interval),
        cmocka_unit_test(a_slot_effect_is_testable_from_eight_pairs_on),
        cmocka_unit_test(no_pairs_need_no_special_care_where_nothing_is_asked),
        cmocka_unit_test(differences_up_to_the_floor_are_no_change),
        cmocka_unit_test(balanced_median_takes_the_slot_effect_out_of_an_odd_count),
        cmocka_unit_test(given_orders_go_before_the_alternating_one),
        cmocka_unit_test(spread_figures_are_those_of_their_definitions),
        cmocka_unit_test(pairing_gain_is_small_where_both_move_together),
        cmocka_unit_test(label_swaps_count_what_the_rules_say),
        cmocka_unit_test(drawn_label_swaps_repeat_and_are_near_the_exhaustive_ones),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
