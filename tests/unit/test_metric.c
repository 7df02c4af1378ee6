/* model/metric: the table, units, values with a status. */
#include "check.h"

#include <string.h>

#include "model/metric.h"

static void every_standard_metric_is_there(void **state)
{
    static const struct {
        const char *name, *unit;
        enum metric_better better;
    } want[] = {
        {"wall_time", "s", BETTER_LOWER},
        {"delivery_time", "s", BETTER_LOWER},
        {"cpu_time", "s", BETTER_LOWER},
        {"user_time", "s", BETTER_LOWER},
        {"system_time", "s", BETTER_LOWER},
        {"effective_cores", "cores", BETTER_LOWER},
        {"peak_rss", "B", BETTER_LOWER},
        {"throughput", "Mbit/s", BETTER_HIGHER},
        {"cpu_per_gbit", "CPU-s/Gbit", BETTER_LOWER},
        {"delivered_bytes", "B", BETTER_HIGHER},
        {"delivered_messages", "count", BETTER_HIGHER},
        {"messages_per_second", "1/s", BETTER_HIGHER},
        {"cpu_per_message", "us", BETTER_LOWER},
        {"heap_bytes_per_message", "B", BETTER_LOWER},
        {"heap_calls_per_message", "1/message", BETTER_LOWER},
        {"cycles", "count", BETTER_LOWER},
        {"cycles_per_byte", "1/B", BETTER_LOWER},
        {"instructions_per_message", "1/message", BETTER_LOWER},
        {"cache_references", "count", BETTER_LOWER},
        {"cache_misses_per_byte", "1/B", BETTER_LOWER},
        {"branch_misses_per_message", "1/message", BETTER_LOWER},
        {"context_switches", "count", BETTER_LOWER},
        {"cpu_migrations", "count", BETTER_LOWER},
        {"minor_faults", "count", BETTER_LOWER},
        {"major_faults", "count", BETTER_LOWER},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
        const struct metric_def *def = metric_find(want[i].name);

        assert_non_null(def);
        assert_string_equal(def->unit, want[i].unit);
        assert_int_equal(def->better, want[i].better);
    }
    assert_null(metric_find("throughputs"));
}

static void names_in_the_table_are_unique_and_explained(void **state)
{
    size_t count;
    const struct metric_def *table = metric_table(&count);

    (void)state;
    for (size_t i = 0; i < count; i++) {
        assert_ptr_equal(metric_find(table[i].name), &table[i]);
        assert_true(strlen(table[i].help) > 10);
    }
}

static void only_the_sampled_split_of_cpu_time_is_never_judged(void **state)
{
    size_t count;
    const struct metric_def *table = metric_table(&count);

    (void)state;
    for (size_t i = 0; i < count; i++)
        assert_int_equal(table[i].judgeable, strcmp(table[i].name, "user_time") != 0 &&
                                                 strcmp(table[i].name, "system_time") != 0);
}

static void a_mistyped_metric_finds_its_neighbour(void **state)
{
    (void)state;
    assert_string_equal(metric_nearest("troughput"), "throughput");
    assert_string_equal(metric_nearest("peak_rrs"), "peak_rss");
    assert_null(metric_nearest("zzzzzzzzzzzz"));
}

static void units_convert_within_their_family_only(void **state)
{
    double out = 0;

    (void)state;
    assert_true(metric_convert(1234, "us", "s", &out));
    check_same(out, 0.001234);
    assert_true(metric_convert(1, "Mibit/s", "Mbit/s", &out));
    check_same(out, 1.048576);
    assert_true(metric_convert(3, "MB/s", "Mbit/s", &out));
    check_same(out, 24);
    assert_true(metric_convert(2, "KiB", "B", &out));
    check_same(out, 2048);
    assert_true(metric_convert(12.5, "k/s", "1/s", &out));
    check_same(out, 12500);
    assert_true(metric_convert(7, "furlongs", "furlongs", &out));
    check_same(out, 7);
    assert_false(metric_convert(1, "B", "s", &out));
    assert_false(metric_convert(1, "furlongs", "s", &out));
}

static void events_have_their_metrics(void **state)
{
    (void)state;
    assert_string_equal(metric_of_event("PERF_COUNT_HW_CPU_CYCLES"), "cycles");
    assert_string_equal(metric_of_event("PERF_COUNT_HW_BRANCH_MISSES"), "branch_misses");
    assert_string_equal(metric_of_event("LLC_MISSES"), "LLC_MISSES");
}

static void a_value_without_good_status_is_not_usable(void **state)
{
    struct value v = value_ok(0);

    (void)state;
    assert_true(value_usable(&v));
    v.status = VALUE_SCALED, v.coverage = 0.99;
    assert_true(value_usable(&v));
    v.coverage = 0.9899;
    assert_false(value_usable(&v));
    for (enum value_status s = VALUE_NOT_COUNTED; s <= VALUE_MISSING; s++) {
        v = value_none(s, "why");
        assert_false(value_usable(&v));
        assert_string_equal(v.reason, "why");
    }
}

static void status_and_direction_names_read_back(void **state)
{
    enum value_status status;
    enum metric_better better;

    (void)state;
    for (enum value_status s = VALUE_OK; s <= VALUE_MISSING; s++) {
        assert_true(value_status_parse(value_status_name(s), &status));
        assert_int_equal(status, s);
    }
    assert_false(value_status_parse("fine", &status));
    assert_true(metric_better_parse("higher", &better));
    assert_string_equal(metric_better_name(better), "higher");
    assert_false(metric_better_parse("better", &better));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_standard_metric_is_there),
        cmocka_unit_test(names_in_the_table_are_unique_and_explained),
        cmocka_unit_test(only_the_sampled_split_of_cpu_time_is_never_judged),
        cmocka_unit_test(a_mistyped_metric_finds_its_neighbour),
        cmocka_unit_test(units_convert_within_their_family_only),
        cmocka_unit_test(events_have_their_metrics),
        cmocka_unit_test(a_value_without_good_status_is_not_usable),
        cmocka_unit_test(status_and_direction_names_read_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
