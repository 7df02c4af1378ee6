/* report/figures: numbers that do not exist read "-", and the others as people write them. */
#include "check.h"

#include "report/figures.h"

static void values_are_scaled_and_absent_ones_are_a_dash(void **state)
{
    static const struct {
        double value;
        const char *unit, *want;
    } cases[] = {
        {0.00452, "s", "4.52ms"}, {12345678, "B", "12.3MB"}, {0.0123, "CPU-s/Gbit", "0.0123"},
        {-0.0, "count", "0"},     {NAN, "s", "-"},           {INFINITY, "s", "-"},
        {-INFINITY, "s", "-"}};
    char text[FIGURE_TEXT];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        figure_value(cases[i].value, cases[i].unit, text);
        assert_string_equal(text, cases[i].want);
    }
    assert_string_equal(figure_unit("CPU-s/Gbit"), "CPU-s/Gbit");
    assert_string_equal(figure_unit("s"), "");
}

static void changes_are_signed_percentages(void **state)
{
    static const struct {
        double fraction;
        const char *want;
    } cases[] = {{0, "0.00%"},    {0.0123, "+1.2%"}, {-0.0123, "-1.2%"},  {0.0002, "+0.02%"},
                 {1.5, "+150%"},  {-0.5, "-50.0%"},  {-1e-9, "0.00%"},    {9.994, "+999%"},
                 {12.4, "x13.4"}, {NAN, "-"},        {INFINITY, "from 0"}};
    char text[FIGURE_TEXT];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        figure_change(cases[i].fraction, text);
        assert_string_equal(text, cases[i].want);
    }
}

static void intervals_have_as_many_decimals_as_their_larger_end_needs(void **state)
{
    static const struct {
        double low, high;
        const char *want;
    } cases[] = {{-0.0012, 0.0031, "[-0.12, +0.31]"},
                 {-0.0012, 0.031, "[-0.1, +3.1]"},
                 {0, 1.5, "[0, +150]"},
                 {-0.5, INFINITY, "[-50.0, from 0]"},
                 {NAN, 0.1, "-"},
                 {0.1, NAN, "-"}};
    char text[FIGURE_TEXT];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        figure_interval(cases[i].low, cases[i].high, text);
        assert_string_equal(text, cases[i].want);
    }
}

static void a_level_is_never_rounded_up(void **state)
{
    char text[FIGURE_TEXT];

    (void)state;
    figure_level(0.96484375, text);
    assert_string_equal(text, "96.4%");
    figure_level(0.9999, text);
    assert_string_equal(text, "99.9%");
    figure_level(NAN, text);
    assert_string_equal(text, "-");
}

static void small_probabilities_and_shares_are_not_printed_as_zero(void **state)
{
    char text[FIGURE_TEXT];

    (void)state;
    figure_p(0.0004, text);
    assert_string_equal(text, "<0.001");
    figure_p(0.0078125, text);
    assert_string_equal(text, "0.008");
    figure_percent(1e-6, text);
    assert_string_equal(text, "<0.001%");
    figure_percent(0.003, text);
    assert_string_equal(text, "0.3%");
    figure_percent(0, text);
    assert_string_equal(text, "0%");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_scaled_and_absent_ones_are_a_dash),
        cmocka_unit_test(changes_are_signed_percentages),
        cmocka_unit_test(intervals_have_as_many_decimals_as_their_larger_end_needs),
        cmocka_unit_test(a_level_is_never_rounded_up),
        cmocka_unit_test(small_probabilities_and_shares_are_not_printed_as_zero),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
