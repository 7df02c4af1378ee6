/* Pace: what the shaper does until the next packet is due. */
#include "check.h"

#include "net/pace.h"

#define MS 1000000LL
#define US 1000LL

static struct pace p;

static int begun(void **state)
{
    (void)state;
    pace_init(&p, 0, 2);
    return 0;
}

static void step_is(struct pace_step step, enum pace_way way, int64_t until_ns)
{
    assert_int_equal(step.way, way);
    assert_int_equal(step.until_ns, until_ns);
}

static void what_is_due_is_not_waited_for(void **state)
{
    (void)state;
    step_is(pace_next(&p, 1 * MS, 1 * MS, true), PACE_GO, 1 * MS);
    step_is(pace_next(&p, 1 * MS, 0, false), PACE_GO, 1 * MS);
}

static void with_nothing_held_it_listens_for_ever(void **state)
{
    (void)state;
    step_is(pace_next(&p, 1 * MS, PACE_NEVER, true), PACE_LISTEN, PACE_NEVER);
}

static void end_of_a_long_wait_is_spun_as_far_as_the_budget_lasts(void **state)
{
    struct pace_step step;

    (void)state;
    step = pace_next(&p, 4 * MS, 10 * MS, true); /* a tenth of 4 ms is there to spin */
    step_is(step, PACE_LISTEN, 10 * MS - 120 * US);
    step_is(pace_next(&p, 10 * MS - 100 * US, 10 * MS, true), PACE_LISTEN, 10 * MS);
    step_is(pace_next(&p, 10 * MS - 100 * US, 10 * MS, true), PACE_SPIN, 10 * MS);
    pace_spun(&p, 900 * US);
    step = pace_next(&p, 10 * MS + 100 * US, 11 * MS, false);
    step_is(step, PACE_LISTEN, 11 * MS);
}

static void late_wakes_make_the_next_ones_earlier(void **state)
{
    struct pace_step step;

    (void)state;
    for (int i = 0; i < 2000; i++)
        pace_woke(&p, i * MS, i * MS + (i % 10 ? 50 : 70) * US);
    step = pace_next(&p, 4 * MS, 10 * MS, true);
    assert_int_equal(step.way, PACE_LISTEN);
    assert_in_range(10 * MS - step.until_ns, 60 * US, 75 * US);
    pace_spun(&p, 400 * US); /* nothing left to spin: what nearly every wake is late */
    step = pace_next(&p, 4 * MS, 8 * MS, true);
    assert_in_range(8 * MS - step.until_ns, 40 * US, 52 * US);
}

static void short_waits_of_the_patient_are_slept_through(void **state)
{
    (void)state;
    pace_spun(&p, 5 * MS);
    step_is(pace_next(&p, 1 * MS, 1 * MS + 300 * US, true), PACE_SLEEP, 1 * MS + 300 * US);
    step_is(pace_next(&p, 1 * MS, 1 * MS + 300 * US, false), PACE_LISTEN, 1 * MS + 300 * US);
}

static void above_50000_packets_a_second_it_sleeps_at_least_50_us(void **state)
{
    (void)state;
    for (int i = 1; i <= 10; i++)
        pace_passed(&p, i * MS, 100);
    p.listened_ns = 10 * MS;
    step_is(pace_next(&p, 10 * MS, 10 * MS + 5 * US, false), PACE_SLEEP, 10 * MS + 50 * US);
    step_is(pace_next(&p, 10 * MS, 10 * MS, false), PACE_GO, 10 * MS);
    for (int i = 11; i <= 20; i++)
        pace_passed(&p, i * MS, 10);
    p.listened_ns = 20 * MS;
    assert_int_not_equal(pace_next(&p, 20 * MS, 20 * MS + 5 * US, false).until_ns,
                         20 * MS + 50 * US);
}

static void however_busy_it_listens_to_its_control(void **state)
{
    int listened = 0;

    (void)state;
    for (int64_t now = 0; now < 1000 * MS; now += 50 * US)
        listened += pace_next(&p, now, now - 1, true).way == PACE_LISTEN;
    assert_in_range(listened, 190, 200);
    step_is(pace_next(&p, 2000 * MS, 1999 * MS, true), PACE_LISTEN, 2000 * MS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(what_is_due_is_not_waited_for, begun),
        cmocka_unit_test_setup(with_nothing_held_it_listens_for_ever, begun),
        cmocka_unit_test_setup(end_of_a_long_wait_is_spun_as_far_as_the_budget_lasts, begun),
        cmocka_unit_test_setup(late_wakes_make_the_next_ones_earlier, begun),
        cmocka_unit_test_setup(short_waits_of_the_patient_are_slept_through, begun),
        cmocka_unit_test_setup(above_50000_packets_a_second_it_sleeps_at_least_50_us, begun),
        cmocka_unit_test_setup(however_busy_it_listens_to_its_control, begun),
    };

    return cmocka_run_group_tests_name("pace", tests, NULL, NULL);
}
