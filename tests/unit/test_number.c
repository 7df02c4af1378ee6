#include "check.h"

#include <string.h>

#include "measure/number.h"

#define NBSP "\xc2\xa0"
#define NARROW "\xe2\x80\xaf"
#define APOSTROPHE "\xe2\x80\x99"
#define MINUS "\xe2\x88\x92"

static void reads(const char *text, const char *decimal, const char *group, double want)
{
    const struct number_format format = {decimal, group};
    struct err err = {0};
    double got = NAN;

    if (number_parse(text, strlen(text), &format, &got, &err) < 0)
        fail_msg("%s", err.msg);
    check_same(got, want);
}

static void refuses(const char *text, const char *decimal, const char *group)
{
    const struct number_format format = {decimal, group};
    struct err err = {0};
    double got = -7;

    if (number_parse(text, strlen(text), &format, &got, &err) == 0)
        fail_msg("'%s' was read as %g", text, got);
    assert_int_equal(err.code, ERR_MEASURE);
    check_same(got, -7);
}

static void plain_numbers_are_read(void **state)
{
    (void)state;
    reads("0", ".", "", 0);
    reads("28801", ".", "", 28801);
    reads("2.422", ".", "", 2.422);
    reads("-1.5", ".", "", -1.5);
    reads("+1.5", ".", "", 1.5);
    reads(MINUS "1.5", ".", "", -1.5);
    reads("1e6", ".", "", 1e6);
    reads("1.25E-3", ".", "", 0.00125);
    reads("1e+2", ".", "", 100);
    reads("  7 \r\n", ".", "", 7);
    reads("0.1", ".", "", 0.1);
    reads("007", ".", "", 7);
}

static void declared_groups_and_marks_are_read(void **state)
{
    (void)state;
    reads("28 801", ".", " ", 28801);
    reads("88 831", ",", " ", 88831);
    reads("33 429 184", ",", " ", 33429184);
    reads("41,280", ".", ",", 41280);
    reads("4,724,448", ".", ",", 4724448);
    reads("1,126", ",", " ", 1.126);
    reads("334,3", ",", " ", 334.3);
    reads("1" NBSP "234,5", ",", NBSP, 1234.5);
    reads("1" NARROW "234" NARROW "567", ",", NARROW, 1234567);
    reads("1" APOSTROPHE "234.5", ".", APOSTROPHE, 1234.5);
    reads("1'234", ".", "'", 1234);
    reads("1.234.567,8", ",", ".", 1234567.8);
    reads(MINUS "1 234,5", ",", " ", -1234.5);
}

static void a_number_without_groups_fits_a_format_with_groups(void **state)
{
    (void)state;
    reads("1616", ".", ",", 1616);
    reads("61.889", ".", ",", 61.889);
}

static void what_does_not_fit_the_declared_format_is_refused(void **state)
{
    (void)state;
    refuses("28 801", ".", "");
    refuses("41,280", ".", "");
    refuses("1,126", ".", "");
    refuses("1" NBSP "234", ".", " "); /* not the declared space */
    refuses("1.126", ",", " ");
    refuses("1,126.5", ",", ".");
    refuses("1,12", ".", ","); /* groups are in threes */
    refuses("1,1234", ".", ",");
    refuses("1234,567", ".", ",");
    refuses("1,234,56", ".", ",");
    refuses(",123", ".", ",");
    refuses("1,,234", ".", ",");
    refuses("1,234,", ".", ",");
    refuses("1,234e3", ".", ",");
    refuses("1.234,567", ".", ","); /* no groups in the fraction */
}

static void what_is_no_number_is_refused(void **state)
{
    (void)state;
    refuses("", ".", "");
    refuses("   ", ".", "");
    refuses("-", ".", "");
    refuses("--1", ".", "");
    refuses("- 1", ".", "");
    refuses("1.", ".", "");
    refuses(".5", ".", "");
    refuses("1e", ".", "");
    refuses("1e-+5", ".", "");
    refuses("0x10", ".", "");
    refuses("nan", ".", "");
    refuses("inf", ".", "");
    refuses("1e999", ".", "");
    refuses("1e-999", ".", "");
    refuses("-0.1e-400", ".", "");
    reads("0e7", ".", "", 0);
    reads("0.0e-999", ".", "", 0);
    refuses("12 Mbit/s", ".", "");
    refuses("1.126s", ".", "");
    refuses("1.2.3", ".", "");
}

static void the_complaint_quotes_text_and_format(void **state)
{
    (void)state;
    const struct number_format format = {".", ""}, grouped = {",", " "};
    struct err err = {0};
    double got;

    number_parse("28 801", 6, &format, &got, &err);
    assert_string_equal(err.msg,
                        "'28 801' is no number in the declared format (decimal '.', no groups)");
    number_parse("1.5\033[2J", 7, &grouped, &got, &err);
    assert_string_equal(
        err.msg, "'1.5\\x1b[2J' is no number in the declared format (decimal ',', group ' ')");
}

static void long_numbers_are_read_or_refused_but_never_cut(void **state)
{
    (void)state;
    char text[1000];

    memset(text, '9', sizeof text);
    text[300] = '\0';
    reads(text, ".", "", 1e300);
    memset(text, '0', sizeof text);
    text[sizeof text - 2] = '1';
    text[sizeof text - 1] = '\0';
    refuses(text, ".", "");
}

static void any_blank_may_group_but_one_alone_in_a_number(void **state)
{
    (void)state;
    reads("33 429 184", ",", NUMBER_BLANKS, 33429184);
    reads("33" NBSP "429" NBSP "184", ",", NUMBER_BLANKS, 33429184);
    reads("33" NARROW "429" NARROW "184,5", ",", NUMBER_BLANKS, 33429184.5);
    reads("88831", ",", NUMBER_BLANKS, 88831);
    refuses("33 429" NBSP "184", ",", NUMBER_BLANKS);
    refuses("33.429.184", ",", NUMBER_BLANKS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_blank_may_group_but_one_alone_in_a_number),
        cmocka_unit_test(plain_numbers_are_read),
        cmocka_unit_test(declared_groups_and_marks_are_read),
        cmocka_unit_test(a_number_without_groups_fits_a_format_with_groups),
        cmocka_unit_test(what_does_not_fit_the_declared_format_is_refused),
        cmocka_unit_test(what_is_no_number_is_refused),
        cmocka_unit_test(the_complaint_quotes_text_and_format),
        cmocka_unit_test(long_numbers_are_read_or_refused_but_never_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
