#include "check.h"

#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "report/regimes_figures.h"
#include "report/variants_figures.h"

static void ratio_is(double change, double low, double high, const char *want)
{
    char text[FIGURE_TEXT];

    figure_ratio(change, low, high, text);
    assert_string_equal(text, want);
}

static void a_ratio_has_the_decimals_that_its_bounds_need(void **state)
{
    (void)state;
    ratio_is(0.003, -0.002, 0.009, "1.003 [0.998, 1.009]");
    ratio_is(-0.322, -0.342, -0.302, "0.678 [0.658, 0.698]");
    ratio_is(1.0, 0.95, 1.05, "2.00 [1.95, 2.05]");
    ratio_is(0.05, -0.61, 0.52, "1.05 [0.39, 1.52]");
    ratio_is(10.6, 8.1, 12.1, "11.6 [9.1, 13.1]");
    ratio_is(499, 400, 600, "500 [401, 601]");
    ratio_is(0.05, NAN, NAN, "1.050");
}

static void what_is_no_ratio_is_not_printed_as_one(void **state)
{
    (void)state;
    ratio_is(NAN, NAN, NAN, "-");
    ratio_is(INFINITY, INFINITY, INFINITY, "from 0");
    ratio_is(INFINITY, 0.5, INFINITY, "from 0 [1.500, from 0]");
    ratio_is(0.5, 0.2, INFINITY, "1.50 [1.20, from 0]");
    ratio_is(-1, -1, -1, "0.000 [0.000, 0.000]");
    ratio_is(1e300, 1e299, 1e301, "1.00e+300 [1.00e+299, 1.00e+301]");
}

static void titles_break_at_underscores_and_keep_every_letter(void **state)
{
    static const char *const names[][3] = {
        {"messages_per_second", "1/s", "messages\nper_second"},
        {"window_cpu_per_message", "us", "window_cpu\nper_message"},
        {"peak_rss", "B", "peak_rss"},
        {"effective_cores", "cores", "effective\ncores"},
        {"cpu_per_gbit", "CPU-s/Gbit", "cpu_per\ngbit\nCPU-s/Gbit"},
        {"averyveryverylongword", "count", "averyveryverylongword"},
        {"a__b", "count", "a__b"},
        {"_", "count", "_"},
    };
    struct arena arena = ARENA_INIT;

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        assert_string_equal(variants_title(names[i][0], names[i][1], &arena), names[i][2]);
    arena_release(&arena);
}

static struct report_cell cell(int runs, int of, const char *status, const char *reason)
{
    return (struct report_cell){
        .median = runs ? 5 : NAN, .runs = runs, .of = of, .status = status, .reason = reason};
}

/* A reason that several cells have stands once: of one variant, or of one metric. */
static void cells_that_lack_the_same_share_a_note(void **state)
{
    static struct report_column columns[] = {{"rate", "1/s", BETTER_HIGHER, NULL},
                                             {"heap", "B", BETTER_LOWER, NULL}};
    struct report_cell a[] = {cell(8, 8, "ok", NULL), cell(0, 8, "missing", "none")};
    struct report_cell b[] = {cell(0, 8, "failed", "died"), cell(0, 8, "failed", "died")};
    struct report_cell c[] = {cell(6, 8, "invalid", "lost"), cell(0, 8, "missing", "none")};
    struct report_cell d[] = {cell(0, 0, "ok", NULL)}; /* and a row that is too short */
    struct report_row rows[] = {{"a", a, 2}, {"b", b, 2}, {"c", c, 2}, {"d", d, 1}};
    struct report_table t = {columns, 2, rows, 4};
    struct variants_notes notes;
    struct arena arena = ARENA_INIT;
    char text[FIGURE_TEXT];

    (void)state;
    variants_notes(&t, false, &notes, &arena);
    assert_int_equal(notes.lines.count, 3);
    assert_string_equal(notes.lines.items[0], "heap of a, c: missing in 8 of 8 runs: none");
    assert_string_equal(notes.lines.items[1], "b: failed in 8 of 8 runs: died");
    assert_string_equal(notes.lines.items[2], "rate of c: invalid in 2 of 8 runs: lost");
    assert_int_equal(notes.number[0], 0);
    assert_int_equal(notes.number[2], 2);
    assert_int_equal(notes.number[5], 1);
    variants_value(&d[0], &columns[0], text);
    assert_string_equal(text, "not run");
    variants_value(&c[0], &columns[0], text);
    assert_string_equal(text, "5/s");
    assert_null(variants_cell(&t, 3, 1));
    arena_release(&arena);
}

static void signs_are_plain_characters(void **state)
{
    (void)state;
    assert_string_equal(regimes_sign("better", false), "+");
    assert_string_equal(regimes_sign("worse", true), "-");
    assert_string_equal(regimes_sign("no_change", true), "=");
    assert_string_equal(regimes_sign("undecided", true), "?");
    assert_string_equal(regimes_sign("mixed", false), "+-");
    assert_string_equal(regimes_sign("none", true), "");
    assert_string_equal(regimes_sign("a word of a later abba", true), "");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ratio_has_the_decimals_that_its_bounds_need),
        cmocka_unit_test(what_is_no_ratio_is_not_printed_as_one),
        cmocka_unit_test(titles_break_at_underscores_and_keep_every_letter),
        cmocka_unit_test(cells_that_lack_the_same_share_a_note),
        cmocka_unit_test(signs_are_plain_characters),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
