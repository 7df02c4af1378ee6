#include "check.h"

#include <string.h>

#include "base/mem.h"
#include "measure/derive.h"
#include "outcomes.h"

#define PAGE 4096
#define FLOOR_2CPU (3.0 * 32 * PAGE)

static const struct derive_machine two_cpus = {PAGE, 2};
static struct arena arena;
static struct metric_list metrics;

static int begin(void **state)
{
    (void)state;
    metrics = (struct metric_list){.arena = &arena};
    return 0;
}

static int end(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

static void report(const char *name, double number)
{
    const struct metric_def *def = metric_find(name);

    metric_list_add(&metrics, name, def ? def->unit : "x", value_ok(number), 0);
}

static const struct value *value_of(const char *name)
{
    const struct sample_metric *m = metric_list_find(&metrics, name);

    if (!m)
        fail_msg("no metric '%s'", name);
    return &m->value;
}

static void is(const char *name, double want)
{
    const struct value *v = value_of(name);

    if (v->status != VALUE_OK)
        fail_msg("'%s' is %s: %s", name, value_status_name(v->status), v->reason);
    check_relative(v->number, want, 1e-15);
}

static void is_not(const char *name, enum value_status status, const char *reason)
{
    const struct value *v = value_of(name);

    assert_int_equal(v->status, status);
    assert_non_null(strstr(v->reason, reason));
}

/* Measures a run of two roles, then derives. */
static void derive_two(struct outcome *o)
{
    derive_measured(&metrics, o, &two_cpus);
    derive_ratios(&metrics);
}

static void measured_figures_are_sums_over_roles(void **state)
{
    (void)state;
    struct role_outcome roles[] = {outcome_role("a", "", ""), outcome_role("b", "", "")};
    struct outcome o = outcome_of(roles, 2);

    roles[1].major_faults = 3;
    derive_two(&o);
    is("wall_time", 2);
    is("cpu_time", 1.5);
    is("user_time", 1);
    is("system_time", 0.5);
    is("effective_cores", 0.75);
    is("peak_rss", 8 << 20);
    is("context_switches", 14);
    is("minor_faults", 2000);
    is("major_faults", 3);
    assert_string_equal(metric_list_find(&metrics, "peak_rss")->unit, "B");
}

static void cpu_time_that_waiting_misses_comes_from_the_cgroup_or_is_invalid(void **state)
{
    (void)state;
    struct role_outcome roles[] = {outcome_role("a", "", ""), outcome_role("b", "", "")};
    struct outcome o = outcome_of(roles, 2);

    roles[0].cpu.differ = true;
    roles[0].cpu.cgroup_s = value_ok(1.25); /* 0.75 waited for */
    derive_two(&o);
    is("cpu_time", 2);
    is("user_time", 1);
    is("effective_cores", 1);

    begin(NULL);
    roles[0].cpu.cgroup_s = value_none(VALUE_UNSUPPORTED, "no cgroup");
    derive_two(&o);
    is_not("cpu_time", VALUE_INVALID, "nobody waited for");
    is_not("effective_cores", VALUE_INVALID, "nobody waited for");
}

static void what_the_runner_does_not_report_is_not_there(void **state)
{
    (void)state;
    struct role_outcome role = outcome_role("a", "", "");
    struct outcome o = outcome_of(&role, 1);

    derive_two(&o);
    assert_null(metric_list_find(&metrics, "throughput"));
    assert_null(metric_list_find(&metrics, "cpu_per_gbit"));
    assert_null(metric_list_find(&metrics, "cpu_per_message"));
    assert_null(metric_list_find(&metrics, "messages_per_second"));
}

static void deliveries_give_throughput_and_cost(void **state)
{
    (void)state;
    struct role_outcome role = outcome_role("a", "", "");
    struct outcome o = outcome_of(&role, 1);

    report("delivered_bytes", 400e6);
    report("delivery_time", 10);
    report("delivered_messages", 100000);
    derive_two(&o);
    is("throughput", 320);
    is("cpu_per_gbit", 0.75 / 3.2);
    is("messages_per_second", 10000);
    is("cpu_per_message", 7.5);
}

static void a_figure_that_the_runner_reports_wins(void **state)
{
    (void)state;
    struct role_outcome role = outcome_role("a", "", "");
    struct outcome o = outcome_of(&role, 1);

    report("throughput", 111);
    report("messages_per_second", 222);
    report("delivered_bytes", 400e6);
    report("delivery_time", 10);
    report("delivered_messages", 100000);
    derive_two(&o);
    is("throughput", 111);
    is("messages_per_second", 222);
}

static void wall_time_never_stands_in_for_delivery_time(void **state)
{
    (void)state;
    struct role_outcome role = outcome_role("a", "", "");
    struct outcome o = outcome_of(&role, 1);

    report("delivered_bytes", 400e6);
    derive_two(&o);
    is_not("throughput", VALUE_MISSING, "no delivery_time");
    is("cpu_per_gbit", 0.75 / 3.2);
}

static void nothing_delivered_is_missing_and_never_infinite(void **state)
{
    (void)state;
    struct role_outcome role = outcome_role("a", "", "");
    struct outcome o = outcome_of(&role, 1);
    struct counter_reading cycles = {"PERF_COUNT_HW_CPU_CYCLES", {1e6, VALUE_OK, 1, NULL}};

    role.counters = &cycles;
    role.counter_count = 1;
    report("delivered_bytes", 0);
    report("delivered_messages", 0);
    report("delivery_time", 0);
    derive_two(&o);
    is_not("throughput", VALUE_MISSING, "no time");
    is_not("messages_per_second", VALUE_MISSING, "no time");
    is_not("cpu_per_gbit", VALUE_MISSING, "nothing was delivered");
    is_not("cpu_per_message", VALUE_MISSING, "nothing was delivered");
    is_not("cycles_per_byte", VALUE_MISSING, "nothing was delivered");
    for (size_t i = 0; i < metrics.count; i++)
        assert_true(isfinite(metrics.items[i].value.number));
}

static void what_follows_from_an_invalid_figure_is_invalid_too(void **state)
{
    (void)state;
    struct role_outcome role = outcome_role("a", "", "");
    struct outcome o = outcome_of(&role, 1);

    metric_list_add(&metrics, "delivered_bytes", "B", value_none(VALUE_INVALID, "not all arrived"),
                    0);
    report("delivery_time", 10);
    derive_two(&o);
    is_not("throughput", VALUE_INVALID, "not all arrived");
    is_not("cpu_per_gbit", VALUE_INVALID, "not all arrived");
}

static void a_throughput_that_is_missing_is_computed_but_an_invalid_one_stays(void **state)
{
    (void)state;
    struct role_outcome role = outcome_role("a", "", "");
    struct outcome o = outcome_of(&role, 1);

    metric_list_add(&metrics, "throughput", "Mbit/s", value_none(VALUE_MISSING, "no match"), 0);
    metric_list_add(&metrics, "messages_per_second", "1/s", value_none(VALUE_INVALID, "warned"), 0);
    report("delivered_bytes", 400e6);
    report("delivered_messages", 5);
    report("delivery_time", 10);
    derive_two(&o);
    is("throughput", 320);
    is_not("messages_per_second", VALUE_INVALID, "warned");
}

static void the_floor_counts_roles_whose_peak_came_from_ru_maxrss(void **state)
{
    (void)state;
    struct role_outcome roles[] = {outcome_role("a", "", ""), outcome_role("b", "", "")};
    struct outcome o = outcome_of(roles, 2);
    const struct derive_machine many = {PAGE, 64};

    derive_measured(&metrics, &o, &two_cpus);
    check_same(metric_list_find(&metrics, "peak_rss")->floor, 0);
    begin(state);
    roles[0].max_rss_bytes += 1;
    derive_measured(&metrics, &o, &two_cpus);
    check_same(metric_list_find(&metrics, "peak_rss")->floor, FLOOR_2CPU);
    begin(state);
    roles[1].max_rss_bytes += 1;
    derive_measured(&metrics, &o, &two_cpus);
    check_same(metric_list_find(&metrics, "peak_rss")->floor, 2 * FLOOR_2CPU);
    begin(state);
    derive_measured(&metrics, &o, &many);
    check_same(metric_list_find(&metrics, "peak_rss")->floor, 2 * 3.0 * 128 * PAGE);
}

static void counters_add_up_over_roles_with_the_least_coverage(void **state)
{
    (void)state;
    struct role_outcome roles[] = {outcome_role("a", "", ""), outcome_role("b", "", "")};
    struct outcome o = outcome_of(roles, 2);
    struct counter_reading a[] = {{"PERF_COUNT_HW_CPU_CYCLES", {100, VALUE_OK, 1, NULL}},
                                  {"PERF_COUNT_SW_CPU_MIGRATIONS", {2, VALUE_OK, 1, NULL}},
                                  {"uops_retired:any", {5, VALUE_OK, 1, NULL}}};
    struct counter_reading b[] = {
        {"PERF_COUNT_HW_CPU_CYCLES", {300, VALUE_SCALED, 0.9, "shared the PMU"}},
        {"PERF_COUNT_SW_CPU_MIGRATIONS", {3, VALUE_OK, 1, NULL}},
        {"uops_retired:any", {6, VALUE_OK, 1, NULL}}};

    roles[0].counters = a;
    roles[1].counters = b;
    roles[0].counter_count = roles[1].counter_count = 3;
    report("delivered_bytes", 200);
    derive_two(&o);
    const struct value *cycles = value_of("cycles");
    assert_int_equal(cycles->status, VALUE_SCALED);
    check_same(cycles->number, 400);
    check_same(cycles->coverage, 0.9);
    const struct value *share = value_of("cycles_per_byte");
    assert_int_equal(share->status, VALUE_SCALED);
    check_same(share->number, 2);
    check_same(share->coverage, 0.9);
    is("cpu_migrations", 5);
    is("uops_retired:any", 11);
    assert_null(metric_list_find(&metrics, "cycles_per_message"));
}

static void a_counter_that_is_not_available_is_there_once(void **state)
{
    (void)state;
    struct role_outcome roles[] = {outcome_role("a", "", ""), outcome_role("b", "", "")};
    struct outcome o = outcome_of(roles, 2);
    struct counter_reading a = {"PERF_COUNT_HW_CPU_CYCLES",
                                {0, VALUE_UNSUPPORTED, 0, "no PMU here"}};

    roles[0].counters = roles[1].counters = &a;
    roles[0].counter_count = roles[1].counter_count = 1;
    report("delivered_bytes", 200);
    report("delivered_messages", 200);
    derive_two(&o);
    is_not("cycles", VALUE_UNSUPPORTED, "no PMU here");
    assert_null(metric_list_find(&metrics, "cycles_per_byte"));
    assert_null(metric_list_find(&metrics, "cycles_per_message"));
}

static void a_run_that_never_started_has_no_zeros(void **state)
{
    (void)state;
    struct role_outcome roles[] = {{.name = "a", .end = ROLE_START_FAILED},
                                   {.name = "b", .end = ROLE_NOT_STARTED}};
    struct outcome o = outcome_of(roles, 2);

    o.wall_ns = 0;
    derive_two(&o);
    assert_true(metrics.count >= 8);
    for (size_t i = 0; i < metrics.count; i++)
        assert_int_equal(metrics.items[i].value.status, VALUE_MISSING);
}

static void metrics_come_in_the_order_of_the_table(void **state)
{
    (void)state;
    struct role_outcome role = outcome_role("a", "", "");
    struct outcome o = outcome_of(&role, 1);

    report("own_second", 1);
    report("own_first", 1);
    report("delivered_bytes", 400e6);
    report("delivery_time", 10);
    derive_two(&o);
    metric_list_sort(&metrics);
    assert_string_equal(metrics.items[0].name, "wall_time");
    assert_string_equal(metrics.items[1].name, "delivery_time");
    assert_string_equal(metrics.items[2].name, "cpu_time");
    assert_string_equal(metrics.items[metrics.count - 2].name, "own_second");
    assert_string_equal(metrics.items[metrics.count - 1].name, "own_first");
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(measured_figures_are_sums_over_roles),
        TEST(cpu_time_that_waiting_misses_comes_from_the_cgroup_or_is_invalid),
        TEST(what_the_runner_does_not_report_is_not_there),
        TEST(deliveries_give_throughput_and_cost),
        TEST(a_figure_that_the_runner_reports_wins),
        TEST(wall_time_never_stands_in_for_delivery_time),
        TEST(nothing_delivered_is_missing_and_never_infinite),
        TEST(what_follows_from_an_invalid_figure_is_invalid_too),
        TEST(a_throughput_that_is_missing_is_computed_but_an_invalid_one_stays),
        TEST(the_floor_counts_roles_whose_peak_came_from_ru_maxrss),
        TEST(counters_add_up_over_roles_with_the_least_coverage),
        TEST(a_counter_that_is_not_available_is_there_once),
        TEST(a_run_that_never_started_has_no_zeros),
        TEST(metrics_come_in_the_order_of_the_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
