#include "check.h"

#include <string.h>

#include "archive/keep.h"

#define DAY INT64_C(86400)
#define NOW (20000 * DAY) /* a Friday, 2024-10-04 */

static struct keep_rule rule_of(const char *text)
{
    struct keep_rule rule;
    struct err err = {0};

    if (keep_parse(text, &rule, &err) < 0)
        fail_msg("%s", err.msg);
    return rule;
}

static void a_rule_is_read_in_order_of_age(void **state)
{
    (void)state;
    struct keep_rule r = rule_of("30d:full,1y:weekly,verdicts");

    assert_int_equal(r.count, 3);
    assert_int_equal(r.steps[0].age_s, 30 * DAY);
    assert_int_equal(r.steps[1].age_s, 365 * DAY);
    assert_int_equal(r.steps[1].what, KEEP_WEEKLY);
    assert_int_equal(r.steps[2].what, KEEP_VERDICTS);
    r = rule_of("36h:full,2w:daily,6m:monthly,full");
    assert_int_equal(r.steps[0].age_s, 36 * 3600);
    assert_int_equal(r.steps[3].what, KEEP_FULL);
}

/* What goes, as a text of '-' and 'x', of archives of so many days ago. */
static void decides(const char *rule, const int *days, size_t count, const char *want)
{
    struct keep_rule r = rule_of(rule);
    struct keep_item items[16] = {0};
    char got[17] = "";

    for (size_t i = 0; i < count; i++)
        items[i] = (struct keep_item){.series = "s", .started_s = NOW - days[i] * DAY, .bytes = 10};
    keep_decide(items, count, &r, 0, NOW);
    for (size_t i = 0; i < count; i++)
        got[i] = items[i].drop ? 'x' : '-';
    assert_string_equal(got, want);
}

static void of_a_week_the_newest_stays_and_weeks_begin_on_monday(void **state)
{
    (void)state;
    const int days[] = {0, 29, 30, 33, 34, 40, 41, 364, 365, 4000};

    decides("30d:full,1y:weekly,verdicts", days, 10, "----x-x-xx");
    decides("verdicts", days, 10, "xxxxxxxxxx");
    decides("full", days, 10, "----------");
    const int same[] = {100, 100};
    decides("1y:daily,verdicts", same, 2, "-x");
    const int months[] = {5, 34, 35, 36}; /* September 29, August 31, 30, 29 */
    decides("monthly", months, 4, "--xx");
}

static void series_do_not_stand_for_each_other(void **state)
{
    (void)state;
    struct keep_rule r = rule_of("1y:weekly,verdicts");
    struct keep_item items[] = {{.series = "a", .started_s = NOW - 50 * DAY},
                                {.series = "b", .started_s = NOW - 50 * DAY}};

    keep_decide(items, 2, &r, 0, NOW);
    assert_null(items[0].drop);
    assert_null(items[1].drop);
}

static void pinned_ones_stay_whatever_rule_and_size_say(void **state)
{
    (void)state;
    struct keep_rule r = rule_of("verdicts");
    struct keep_item items[] = {
        {.series = "a", .started_s = NOW - 3 * DAY, .bytes = 100, .pinned = true},
        {.series = "a", .started_s = NOW - 2 * DAY, .bytes = 10}};

    assert_int_equal(keep_decide(items, 2, &r, 0, NOW), 100);
    assert_null(items[0].drop);
    assert_non_null(items[1].drop);
    assert_int_equal(keep_decide(items, 2, NULL, 50, NOW), 100);
    assert_null(items[0].drop);
    assert_non_null(items[1].drop);
}

static void the_oldest_go_until_the_rest_fits(void **state)
{
    (void)state;
    struct keep_item items[] = {{.series = "a", .started_s = NOW - 1 * DAY, .bytes = 40},
                                {.series = "a", .started_s = NOW - 3 * DAY, .bytes = 40},
                                {.series = "a", .started_s = NOW - 2 * DAY, .bytes = 40}};

    assert_int_equal(keep_decide(items, 3, NULL, 80, NOW), 80);
    assert_non_null(items[1].drop);
    assert_null(items[0].drop);
    assert_null(items[2].drop);
    assert_int_equal(keep_decide(items, 3, NULL, 1, NOW), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rule_is_read_in_order_of_age),
        cmocka_unit_test(of_a_week_the_newest_stays_and_weeks_begin_on_monday),
        cmocka_unit_test(series_do_not_stand_for_each_other),
        cmocka_unit_test(pinned_ones_stay_whatever_rule_and_size_say),
        cmocka_unit_test(the_oldest_go_until_the_rest_fits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
