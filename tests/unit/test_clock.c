/* base/clock: time goes forward and is written in UTC. */
#include "check.h"

#include "base/clock.h"

static void monotonic_time_does_not_go_back(void **state)
{
    int64_t before = clock_mono_ns();

    (void)state;
    for (int i = 0; i < 1000; i++) {
        int64_t now = clock_mono_ns();
        assert_true(now >= before);
        before = now;
    }
}

static void sleeping_ends_at_the_point_and_not_before(void **state)
{
    int64_t until = clock_mono_ns() + 2 * NSEC_PER_MSEC;

    (void)state;
    clock_sleep_until(until);
    assert_true(clock_mono_ns() >= until);
    clock_sleep_until(0);
    clock_sleep_until(-5);
}

static void times_are_written_as_iso_8601_in_utc(void **state)
{
    char text[CLOCK_TEXT];

    (void)state;
    clock_format_utc(0, text);
    assert_string_equal(text, "1970-01-01T00:00:00.000Z");
    clock_format_utc(1715000889123999999, text);
    assert_string_equal(text, "2024-05-06T13:08:09.123Z");
    clock_format_utc(-1, text);
    assert_string_equal(text, "1969-12-31T23:59:59.999Z");
    clock_format_utc_name(1715000889123999999, text);
    assert_string_equal(text, "20240506T130809Z");
}

static void nanoseconds_and_timespec_agree(void **state)
{
    static const int64_t times[] = {
        0, 1, -1, 999999999, 1000000000, -1000000001, 1715000889123456789};

    (void)state;
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        struct timespec ts = clock_ns_timespec(times[i]);
        assert_in_range(ts.tv_nsec, 0, 999999999);
        assert_true(clock_timespec_ns(&ts) == times[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(monotonic_time_does_not_go_back),
        cmocka_unit_test(sleeping_ends_at_the_point_and_not_before),
        cmocka_unit_test(times_are_written_as_iso_8601_in_utc),
        cmocka_unit_test(nanoseconds_and_timespec_agree),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
