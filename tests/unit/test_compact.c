/* archive/compact: samples in little memory, nothing rounded. */
#include "check.h"

#include <float.h>
#include <string.h>

#include "archive/compact.h"
#include "made_series.h"

static struct compact c;
static struct made_series series;

static int begin(void **state)
{
    (void)state;
    c = (struct compact){0};
    made_init(&series, 2, 4, 0);
    return 0;
}

static int end(void **state)
{
    (void)state;
    compact_release(&c);
    made_release(&series);
    return 0;
}

static void add(const struct sample *s)
{
    struct err err = {.code = ERR_NONE};

    assert_int_equal(compact_add(&c, s, &series.plan, &err), 0);
}

static struct sample *run(size_t variant)
{
    return made_run(&series, 0, STAGE_MAIN, 1, variant);
}

static struct sample_metric *figure(struct sample *s, const char *name, struct value value)
{
    struct sample_metric *m = &s->metrics[s->metric_count++];

    *m = (struct sample_metric){.name = name, .unit = "count", .value = value};
    return m;
}

static void every_number_comes_back_bit_by_bit(void **state)
{
    (void)state;
    static const double numbers[] = {
        0.0,         -0.0,    1.0,       4294967295.0, 4294967296.0, 0.123456789,  1e-9,
        4.294967295, 4.3,     1.0 / 3.0, -1.0,         1e300,        5e-324,       0.1 + 0.2,
        3.999999999, 123.456, -1e-9,     16777217.0,   0.5,          2147483648.0, DBL_MAX};
    const size_t count = sizeof numbers / sizeof *numbers;
    struct sample *s = run(0);
    struct sample_metric m;
    char names[64][8];

    for (size_t i = 0; i < count; i++) {
        snprintf(names[i], sizeof names[i], "m%zu", i);
        figure(s, names[i], value_ok(numbers[i]));
    }
    add(s);
    for (size_t i = 0; i < count; i++) {
        compact_metric(&c, 0, i, &m);
        assert_string_equal(m.name, names[i]);
        assert_memory_equal(&m.value.number, &numbers[i], sizeof(double));
    }
}

static void a_figure_without_a_number_keeps_its_status_and_reason(void **state)
{
    (void)state;
    struct value scaled = {12345.678, VALUE_SCALED, 0.731, "counted during 73 %"};
    struct sample *s = run(0);
    struct sample_metric m;

    figure(s, "good", value_ok(7));
    figure(s, "denied", value_none(VALUE_DENIED, "not allowed"));
    figure(s, "scaled", scaled);
    figure(s, "last", value_ok(0.25))->floor = 0.125;
    add(s);
    compact_metric(&c, 0, 1, &m);
    assert_int_equal(m.value.status, VALUE_DENIED);
    assert_string_equal(m.value.reason, "not allowed");
    compact_metric(&c, 0, 2, &m);
    assert_int_equal(m.value.status, VALUE_SCALED);
    assert_true(m.value.number == 12345.678 && m.value.coverage == 0.731);
    assert_string_equal(m.value.reason, "counted during 73 %");
    compact_metric(&c, 0, 3, &m);
    assert_true(m.value.number == 0.25 && m.floor == 0.125);
    assert_null(m.value.reason);
}

static void a_figure_is_found_by_name_wherever_it_stands(void **state)
{
    (void)state;
    struct sample *s = run(0);
    struct sample_metric m;

    figure(s, "one", value_ok(1));
    figure(s, "two", value_ok(2));
    add(s);
    for (size_t guess = 0; guess < 4; guess++) {
        assert_true(compact_find(&c, 0, "two", guess, &m));
        assert_true(m.value.number == 2);
        assert_false(compact_find(&c, 0, "three", guess, &m));
    }
}

static void nothing_of_a_sample_is_borrowed(void **state)
{
    (void)state;
    char name[] = "name", error[] = "error", unit[] = "unit", reason[] = "reason";
    struct sample *s = run(1);
    struct sample_metric m;

    figure(s, name, value_none(VALUE_MISSING, reason))->unit = unit;
    s->status = SAMPLE_FAILED;
    s->error = error;
    s->run = UINT64_C(0x123456789a);
    add(s);
    name[0] = error[0] = unit[0] = reason[0] = 'X';
    compact_metric(&c, 0, 0, &m);
    assert_string_equal(m.name, "name");
    assert_string_equal(m.unit, "unit");
    assert_string_equal(m.value.reason, "reason");
    assert_string_equal(compact_run(&c, 0).error, "error");
    assert_true(compact_run(&c, 0).run == UINT64_C(0x123456789a));
    assert_int_equal(compact_run(&c, 0).status, SAMPLE_FAILED);
}

static void what_a_network_did_comes_back(void **state)
{
    (void)state;
    struct net_flow_proof flows[3] = {
        {.link = "a->b",
         .offered = NET_UNKNOWN,
         .lost = 3,
         .limit = UINT64_C(1) << 40,
         .late_p50_ns = -1,
         .late_p99_ns = 4,
         .late_max_ns = 5},
        {.link = "b->a", .offered = 9, .corrupted = 8},
    };
    struct sample *s = run(0);
    struct net_flow_proof f;

    figure(s, "one", value_ok(0.3));
    s->net = (struct net_proof){.backend = "user", .flows = flows, .flow_count = 3};
    add(s);
    assert_string_equal(compact_run(&c, 0).backend, "user");
    assert_int_equal(compact_run(&c, 0).flow_count, ARCHIVE_FLOWS);
    compact_flow(&c, 0, 0, &f);
    assert_string_equal(f.link, "a->b");
    assert_true(f.offered == NET_UNKNOWN && f.lost == 3 && f.limit == UINT64_C(1) << 40);
    assert_true(f.late_p50_ns == -1 && f.late_p99_ns == 4 && f.late_max_ns == 5);
    compact_flow(&c, 0, 1, &f);
    assert_true(f.offered == 9 && f.corrupted == 8 && f.lost == 0);
}

static void a_usual_run_takes_few_bytes(void **state)
{
    (void)state;
    struct sample *s = run(0);
    size_t kinds;

    for (size_t i = 0; i < 15; i++)
        figure(s, "abcdefghijklmno" + i, value_ok(i < 4 ? 0.001 * (double)i : 100.0 + (double)i));
    add(s);
    kinds = c.kinds.count;
    for (uint64_t i = 1; i < 1000; i++) {
        s->run = s->pair = i;
        add(s);
    }
    assert_int_equal(c.kinds.count, kinds);
    assert_int_equal(c.shapes.count, 1);
    assert_true(c.runs->used <= 1000 * (3 + 1 + 15));
}

static void ends_of_stderr_are_kept_of_the_first_runs_alone(void **state)
{
    (void)state;
    struct sample_role role = {.name = "program", .end = "exited"};
    struct sample *s = run(0);
    char tail[32];

    s->status = SAMPLE_FAILED;
    s->error = "no";
    s->roles = &role;
    s->role_count = 1;
    for (uint64_t i = 0; i < 100; i++) {
        snprintf(tail, sizeof tail, "tail %d", (int)i);
        role.stderr_tail = tail;
        add(s);
    }
    assert_string_equal(compact_run(&c, 0).stderr_tail, "tail 0");
    assert_null(compact_run(&c, 99).stderr_tail);
    assert_int_equal(c.roles.count, 1);
    assert_true(c.kinds.count < 12);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(every_number_comes_back_bit_by_bit),
        TEST(a_figure_without_a_number_keeps_its_status_and_reason),
        TEST(a_figure_is_found_by_name_wherever_it_stands),
        TEST(nothing_of_a_sample_is_borrowed),
        TEST(what_a_network_did_comes_back),
        TEST(a_usual_run_takes_few_bytes),
        TEST(ends_of_stderr_are_kept_of_the_first_runs_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
