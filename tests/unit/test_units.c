/* base/units: quantities are exact going in, and short coming out. */
#include "check.h"

#include <string.h>

#include "base/units.h"

static void assert_time(const char *text, int64_t want)
{
    struct err err = {0};
    int64_t ns = -1;

    if (units_parse_time(text, &ns, &err) < 0)
        fail_msg("%s", err.msg);
    assert_true(ns == want);
}

static void assert_rate(const char *text, uint64_t want)
{
    struct err err = {0};
    uint64_t bps = 1;

    if (units_parse_rate(text, &bps, &err) < 0)
        fail_msg("%s", err.msg);
    assert_true(bps == want);
}

static void assert_size(const char *text, uint64_t want)
{
    struct err err = {0};
    uint64_t bytes = 1;

    if (units_parse_size(text, &bytes, &err) < 0)
        fail_msg("%s", err.msg);
    assert_true(bytes == want);
}

static void times_are_exact_nanoseconds(void **state)
{
    (void)state;
    assert_time("0s", 0);
    assert_time("20ms", 20000000);
    assert_time("20msec", 20000000);
    assert_time("1s", 1000000000);
    assert_time("2secs", 2000000000);
    assert_time("5min", 300000000000);
    assert_time("1h", 3600000000000);
    assert_time("7us", 7000);
    assert_time("3usec", 3000);
    assert_time("1ns", 1);
    assert_time("0.1s", 100000000);
    assert_time("1.000000001s", 1000000001);
    assert_time("0.000001ms", 1);
    assert_time("1.50ms", 1500000);
    assert_time("1.000000000000000ns", 1);
    assert_time("0.5min", 30000000000);
    assert_time("9223372036854775807ns", INT64_MAX);
    assert_time("9223372036.854775807s", INT64_MAX);
    assert_time("007ms", 7000000);
}

static void rates_are_exact_bits_a_second_in_both_spellings(void **state)
{
    (void)state;
    assert_rate("320Mbit/s", 320000000);
    assert_rate("320mbit", 320000000);
    assert_rate("320Mbit", 320000000);
    assert_rate("1.5Gbit/s", 1500000000);
    assert_rate("1gbit", 1000000000);
    assert_rate("8kbit", 8000);
    assert_rate("1Kibit/s", 1024);
    assert_rate("1mibit", 1048576);
    assert_rate("100bit/s", 100);
    assert_rate("1tbit", 1000000000000);
    assert_rate("1B/s", 8);
    assert_rate("1kB/s", 8000);
    assert_rate("125MB/s", 1000000000);
    assert_rate("1MiB/s", 8388608);
    assert_rate("0.125B/s", 1);
}

static void sizes_are_exact_bytes(void **state)
{
    (void)state;
    assert_size("16MiB", 16777216);
    assert_size("1KiB", 1024);
    assert_size("1316B", 1316);
    assert_size("10kB", 10000);
    assert_size("1.5KiB", 1536);
    assert_size("2GB", 2000000000);
    assert_size("1TiB", 1099511627776);
    assert_size("9223372036854775807B", INT64_MAX);
}

static void percentages_are_strtod_over_100(void **state)
{
    struct err err = {0};
    double fraction;

    (void)state;
    assert_int_equal(units_parse_percent("10%", &fraction, &err), 0);
    check_same(fraction, 10.0 / 100);
    assert_int_equal(units_parse_percent("0.1%", &fraction, &err), 0);
    check_same(fraction, 0.1 / 100);
    assert_int_equal(units_parse_percent("0%", &fraction, &err), 0);
    check_same(fraction, 0.0);
    assert_int_equal(units_parse_percent("250%", &fraction, &err), 0);
    check_same(fraction, 2.5);
}

static int refused(int (*parse)(const char *, uint64_t *, struct err *), const char *text,
                   const char *why)
{
    struct err err = {0};
    uint64_t value;

    if (parse(text, &value, &err) == 0)
        fail_msg("taken: %s", text);
    if (strstr(err.msg, why) == NULL)
        fail_msg("'%s' says: %s", text, err.msg);
    assert_int_equal(err.code, ERR_CONFIG);
    return 0;
}

static int parse_time(const char *text, uint64_t *value, struct err *err)
{
    int64_t ns;

    *value = 0;
    return units_parse_time(text, &ns, err);
}

static int parse_percent(const char *text, uint64_t *value, struct err *err)
{
    double fraction;

    *value = 0;
    return units_parse_percent(text, &fraction, err);
}

static void what_is_no_quantity_is_refused_with_the_units_allowed(void **state)
{
    (void)state;
    refused(parse_time, "20", "'20' is not a time: the unit is missing (allowed units: ns, us,");
    refused(parse_time, "", "does not start with a plain number");
    refused(parse_time, "ms", "does not start with a plain number");
    refused(parse_time, "-1ms", "negative");
    refused(parse_time, "\u22121ms", "negative");
    refused(parse_time, "+1ms", "plain number");
    refused(parse_time, "1e3ms", "unit is unknown");
    refused(parse_time, "nan", "plain number");
    refused(parse_time, "inf", "plain number");
    refused(parse_time, "1.ms", "plain number");
    refused(parse_time, ".5ms", "plain number");
    refused(parse_time, "1,5ms", "unit is unknown");
    refused(parse_time, "20 ms", "no space");
    refused(parse_time, "20MS", "unit is unknown");
    refused(parse_time, "20ms ", "unit is unknown");
    refused(parse_time, "0x10ms", "unit is unknown");
    refused(parse_time, "1.5ns", "no whole number of nanoseconds");
    refused(parse_time, "0.0000000001s", "no whole number");
    refused(parse_time, "9223372036854775808ns", "too large");
    refused(parse_time, "99999999999h", "too large");
    refused(parse_time, "99999999999999999999999999999s", "too many digits");
    refused(parse_time, "0.00000000000000000000000000001s", "too many digits");
    refused(parse_time, "1\x1b[31ms", "'1\\x1b[31ms'");
    refused(units_parse_rate, "10", "unit is missing");
    refused(units_parse_rate, "10Mb/s", "unit is unknown");
    refused(units_parse_rate, "10mbps", "unit is unknown");
    refused(units_parse_rate, "10B", "unit is unknown");
    refused(units_parse_rate, "10/s", "unit is unknown");
    refused(units_parse_rate, "0.5bit/s", "no whole number of bits a second");
    refused(units_parse_size, "10K", "unit is unknown");
    refused(units_parse_size, "10KB", "unit is unknown");
    refused(units_parse_size, "0.3B", "no whole number of bytes");
    refused(parse_percent, "0.1", "unit is missing");
    refused(parse_percent, "-1%", "negative");
    refused(parse_percent, "10%%", "unit is unknown");
    refused(parse_percent, "nan%", "plain number");
}

static void tc_s_mbps_is_refused_with_a_hint(void **state)
{
    struct err err = {0};
    uint64_t bps;

    (void)state;
    assert_int_equal(units_parse_rate("10Mbps", &bps, &err), -1);
    assert_non_null(strstr(err.hint, "megabytes"));
}

static void canonical_text_is_short_and_parses_back(void **state)
{
    static const uint64_t values[] = {0,        1,         8,          999,         1000,
                                      1024,     1316,      1500,       1000000,     1048576,
                                      16777216, 320000000, 1000000001, 60000000000, INT64_MAX};
    char text[UNITS_TEXT];
    struct err err = {0};

    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        uint64_t back;
        int64_t ns;
        units_canonical_time((int64_t)values[i], text);
        assert_int_equal(units_parse_time(text, &ns, &err), 0);
        assert_true((uint64_t)ns == values[i]);
        units_canonical_rate(values[i], text);
        assert_int_equal(units_parse_rate(text, &back, &err), 0);
        assert_true(back == values[i]);
        units_canonical_size(values[i], text);
        assert_int_equal(units_parse_size(text, &back, &err), 0);
        assert_true(back == values[i]);
    }
    units_canonical_time(20000000, text);
    assert_string_equal(text, "20ms");
    units_canonical_rate(320000000, text);
    assert_string_equal(text, "320Mbit/s");
    units_canonical_size(16777216, text);
    assert_string_equal(text, "16MiB");
    units_canonical_size(1000000, text);
    assert_string_equal(text, "1MB");
    units_canonical_size(1316, text);
    assert_string_equal(text, "1316B");
    units_canonical_time(0, text);
    assert_string_equal(text, "0s");
}

static void scaled_text(double value, const char *unit, char out[UNITS_TEXT])
{
    struct units_scaled scaled;
    char digits[UNITS_TEXT];

    units_scale(value, unit, &scaled);
    units_digits(&scaled, digits);
    snprintf(out, UNITS_TEXT, "%.15s%s", digits, scaled.suffix);
}

static void people_see_three_significant_digits(void **state)
{
    static const struct {
        double value;
        const char *unit, *want;
    } cases[] = {
        {0.00452, "s", "4.52ms"},
        {1.5, "s", "1.50s"},
        {0, "s", "0ns"},
        {12e-9, "s", "12ns"},
        {0.9996, "s", "1.00s"},
        {0.99949, "s", "999ms"},
        {1234, "s", "1234s"},
        {12345678, "B", "12.3MB"},
        {512, "B", "512B"},
        {99950, "B", "100kB"},
        {320, "Mbit/s", "320Mbit/s"},
        {0.3205, "Mbit/s", "320kbit/s"},
        {1234.5, "Mbit/s", "1.23Gbit/s"},
        {0.01234, "CPU-s/Gbit", "0.0123 CPU-s/Gbit"},
        {2.5, "CPU-s/Gbit", "2.50 CPU-s/Gbit"},
        {28801, "1/s", "28.8K/s"},
        {4.5, "us", "4.50us"},
        {1230000000, "count", "1.23G"},
        {7, "count", "7"},
        {7.25, "", "7.25"},
        {-12345, "count", "-12.3K"},
        {0.5, "count", "0.500"},
        {-0.0, "count", "0"},
        {1500, "frames/s", "1.50K frames/s"},
        {1e300, "s", "1.00e+300s"},
        {-1e300, "count", "-1.00e+288T"},
        {5e-324, "count", "4.94e-324"},
        {4520000, "ns", "4.52ms"},
        {320e6, "bit/s", "320Mbit/s"},
    };
    char text[UNITS_TEXT];
    struct units_scaled cut;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        scaled_text(cases[i].value, cases[i].unit, text);
        assert_string_equal(text, cases[i].want);
    }
    units_scale(1e300, "a unit with a name that is far too long for any table", &cut);
    assert_true(strlen(cut.suffix) == sizeof cut.suffix - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_are_exact_nanoseconds),
        cmocka_unit_test(rates_are_exact_bits_a_second_in_both_spellings),
        cmocka_unit_test(sizes_are_exact_bytes),
        cmocka_unit_test(percentages_are_strtod_over_100),
        cmocka_unit_test(what_is_no_quantity_is_refused_with_the_units_allowed),
        cmocka_unit_test(tc_s_mbps_is_refused_with_a_hint),
        cmocka_unit_test(canonical_text_is_short_and_parses_back),
        cmocka_unit_test(people_see_three_significant_digits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
