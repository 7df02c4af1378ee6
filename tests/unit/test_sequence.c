/* Sequence: which run follows which, and which may be run again. The plan has variants baseline and
 * candidate, "p/one" with a warm-up and "p/two", two pairs each, two confirming. */
#include "check.h"

#include <string.h>

#include "archive/sequence.h"
#include "made_archive.h"

static struct made_archive m;

static int begin(void **state)
{
    (void)state;
    made_archive_open(&m, NULL);
    return 0;
}

static int end(void **state)
{
    (void)state;
    made_archive_release(&m);
    return 0;
}

/* One run of the first profile. */
static void run(enum sample_stage stage, uint64_t n, uint32_t attempt, enum sample_status status)
{
    struct err err = {0};

    m.attempt = attempt;
    m.status = status;
    if (made_archive_run(&m, 0, stage, n, &err) < 0)
        fail_msg("%s", err.msg);
}

static void warm_up(void)
{
    run(STAGE_WARMUP, 0, 1, SAMPLE_OK);
    run(STAGE_WARMUP, 1, 1, SAMPLE_OK);
}

static int look(struct sequence_next *next, struct err *err)
{
    struct archive *a;

    *err = (struct err){0};
    if (archive_open(&a, m.folder, err) < 0)
        fail_msg("%s", err->msg);
    int rc = sequence_next(a, next, err);
    assert_int_equal(sequence_check(a, err), rc);
    archive_close(a);
    return rc;
}

static void goes_on(size_t profile, enum sample_stage stage, uint64_t n, uint32_t attempt,
                    uint64_t left)
{
    struct sequence_next next;
    struct err err;

    if (look(&next, &err) < 0)
        fail_msg("%s", err.msg);
    assert_int_equal(next.profile, profile);
    assert_int_equal(next.stage, stage);
    assert_int_equal(next.n, n);
    assert_int_equal(next.attempt, attempt);
    assert_int_equal(sequence_left(&m.plan, &next), left);
}

static void is_refused(const char *text)
{
    struct sequence_next next;
    struct err err;

    assert_int_equal(look(&next, &err), -1);
    assert_int_equal(err.code, ERR_ARCHIVE);
    if (!strstr(err.msg, text))
        fail_msg("found '%s', expected '%s'", err.msg, text);
}

static void nothing_yet_begins_with_the_first_run(void **state)
{
    (void)state;
    goes_on(0, STAGE_WARMUP, 0, 1, 10);
}

static void a_whole_block_is_followed_by_the_next(void **state)
{
    (void)state;
    warm_up();
    goes_on(0, STAGE_WARMUP, 2, 1, 8);
    run(STAGE_MAIN, 0, 1, SAMPLE_OK);
    run(STAGE_MAIN, 1, 1, SAMPLE_FAILED);
    goes_on(0, STAGE_MAIN, 2, 1, 6);
}

static void a_block_that_was_cut_short_is_run_again(void **state)
{
    (void)state;
    warm_up();
    run(STAGE_MAIN, 0, 1, SAMPLE_OK);
    goes_on(0, STAGE_MAIN, 0, 2, 8);
    run(STAGE_MAIN, 0, 2, SAMPLE_OK);
    goes_on(0, STAGE_MAIN, 0, 3, 8);
    run(STAGE_MAIN, 0, 3, SAMPLE_OK);
    run(STAGE_MAIN, 1, 3, SAMPLE_OK);
    goes_on(0, STAGE_MAIN, 2, 1, 6);
    run(STAGE_MAIN, 2, 1, SAMPLE_OK);
    goes_on(0, STAGE_MAIN, 2, 2, 6);
}

static void an_interrupted_block_is_run_again(void **state)
{
    (void)state;
    run(STAGE_WARMUP, 0, 1, SAMPLE_OK);
    run(STAGE_WARMUP, 1, 1, SAMPLE_INTERRUPTED);
    goes_on(0, STAGE_WARMUP, 0, 2, 10);
    run(STAGE_WARMUP, 0, 2, SAMPLE_OK);
    run(STAGE_WARMUP, 1, 2, SAMPLE_OK);
    goes_on(0, STAGE_WARMUP, 2, 1, 8);
    run(STAGE_MAIN, 0, 1, SAMPLE_INTERRUPTED);
    goes_on(0, STAGE_MAIN, 0, 2, 8);
}

static void a_block_with_a_failed_run_goes_on_instead(void **state)
{
    static const enum sample_status statuses[] = {SAMPLE_FAILED, SAMPLE_TIMEOUT, SAMPLE_INVALID};

    (void)state;
    warm_up();
    run(STAGE_MAIN, 0, 1, statuses[0]);
    goes_on(0, STAGE_MAIN, 1, 1, 7);
    run(STAGE_MAIN, 1, 1, SAMPLE_INTERRUPTED);
    goes_on(0, STAGE_MAIN, 2, 1, 6);
    run(STAGE_MAIN, 2, 1, SAMPLE_OK);
    run(STAGE_MAIN, 2, 2, statuses[2]);
    goes_on(0, STAGE_MAIN, 3, 2, 5);
    run(STAGE_MAIN, 3, 2, statuses[1]);
    goes_on(0, STAGE_MAIN, 4, 1, 4);
}

static void the_confirming_stage_goes_on_too(void **state)
{
    (void)state;
    warm_up();
    for (uint64_t n = 0; n < 4; n++)
        run(STAGE_MAIN, n, 1, SAMPLE_OK);
    goes_on(0, STAGE_MAIN, 4, 1, 4);
    run(STAGE_CONFIRM, 0, 1, SAMPLE_OK);
    goes_on(0, STAGE_CONFIRM, 0, 2, 8);
}

static void a_second_attempt_of_what_ended_is_refused(void **state)
{
    (void)state;
    warm_up();
    run(STAGE_MAIN, 0, 1, SAMPLE_OK);
    run(STAGE_MAIN, 1, 1, SAMPLE_OK);
    run(STAGE_MAIN, 0, 2, SAMPLE_OK);
    is_refused("line 5: attempt 2 of what abba did not interrupt");
}

static void a_second_attempt_of_a_failed_run_is_refused(void **state)
{
    (void)state;
    warm_up();
    run(STAGE_MAIN, 0, 1, SAMPLE_FAILED);
    run(STAGE_MAIN, 0, 2, SAMPLE_OK);
    is_refused("line 4: attempt 2 of what abba did not interrupt: a failed run is never run again");
}

static void an_interrupted_block_that_others_follow_is_refused(void **state)
{
    (void)state;
    warm_up();
    run(STAGE_MAIN, 0, 1, SAMPLE_OK);
    run(STAGE_MAIN, 1, 1, SAMPLE_INTERRUPTED);
    run(STAGE_MAIN, 2, 1, SAMPLE_OK);
    is_refused("line 5: the runs before were interrupted, and not run again");
}

static void attempts_are_counted_on(void **state)
{
    (void)state;
    warm_up();
    run(STAGE_MAIN, 0, 1, SAMPLE_OK);
    run(STAGE_MAIN, 0, 3, SAMPLE_OK);
    is_refused("attempt 3) does not follow");
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(nothing_yet_begins_with_the_first_run),
        TEST(a_whole_block_is_followed_by_the_next),
        TEST(a_block_that_was_cut_short_is_run_again),
        TEST(an_interrupted_block_is_run_again),
        TEST(a_block_with_a_failed_run_goes_on_instead),
        TEST(the_confirming_stage_goes_on_too),
        TEST(a_second_attempt_of_what_ended_is_refused),
        TEST(a_second_attempt_of_a_failed_run_is_refused),
        TEST(an_interrupted_block_that_others_follow_is_refused),
        TEST(attempts_are_counted_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
