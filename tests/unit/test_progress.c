#include "base/buf.h"
#include "base/clock.h"
#include "base/text.h"
#include "cli/execute.h"
#include "cli/progress.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static const struct profile profile = {.name = "flow/pingpong,streams=10"};
static const struct variant variant = {.name = "candidate"};

static struct series_progress now(void)
{
    return (struct series_progress){.profile = &profile,
                                    .variant = &variant,
                                    .stage = STAGE_MAIN,
                                    .pair = 3,
                                    .pairs = 8,
                                    .run = 6,
                                    .runs = 16,
                                    .left_ns = 65 * (uint64_t)NSEC_PER_SEC};
}

static void line_says_pair_variant_profile_and_time_left(void **state)
{
    struct progress p = {.utf8 = false};
    struct series_progress n = now();
    struct buf line = BUF_INIT;
    (void)state;
    progress_line(&p, &n, 120, &line);
    assert_non_null(strstr(line.data, "pair 3/8  candidate  flow/pingpong,streams=10"));
    assert_non_null(strstr(line.data, "1m05s left"));
    assert_non_null(strstr(line.data, "[#########.....................]")); /* 5 of 16 */
    buf_release(&line);
}

static void line_fits_any_width(void **state)
{
    struct series_progress n = now();
    (void)state;
    for (int utf8 = 0; utf8 < 2; utf8++) {
        for (size_t columns = 1; columns < 200; columns++) {
            struct progress p = {.utf8 = utf8, .failed = 2};
            struct buf line = BUF_INIT;
            progress_line(&p, &n, columns, &line);
            assert_true(text_width(line.data) <= columns);
            assert_null(strchr(line.data, '\n'));
            buf_release(&line);
        }
    }
}

static void line_tells_failures_and_the_confirming_stage(void **state)
{
    struct progress p = {.failed = 2};
    struct series_progress n = now();
    struct buf line = BUF_INIT;
    (void)state;
    n.stage = STAGE_CONFIRM;
    progress_line(&p, &n, 120, &line);
    assert_non_null(strstr(line.data, "confirming pair 3/8"));
    assert_non_null(strstr(line.data, "2 failed"));
    buf_release(&line);
}

static void pairs_fit_the_duration(void **state)
{
    const double tenth[] = {0.1, 0.1}, uneven[] = {0.1, 0.3}, slow[] = {10, 10}, nothing[] = {0, 0},
                 three[] = {0.1, 0.1, 0.1};
    (void)state;
    assert_int_equal(execute_fit_pairs(5000, tenth, 2), 50);
    assert_int_equal(execute_fit_pairs(5100, tenth, 2), 50);  /* even */
    assert_int_equal(execute_fit_pairs(5000, uneven, 2), 24); /* 25 pairs of 0.4 s in 10 s */
    assert_int_equal(execute_fit_pairs(5000, slow, 2), 6);
    assert_int_equal(execute_fit_pairs(5000, nothing, 2), 5000);
    assert_int_equal(execute_fit_pairs(86400000, tenth, 2), 5000);
    assert_int_equal(execute_fit_pairs(5000, three, 3), 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(line_says_pair_variant_profile_and_time_left),
        cmocka_unit_test(line_fits_any_width),
        cmocka_unit_test(line_tells_failures_and_the_confirming_stage),
        cmocka_unit_test(pairs_fit_the_duration),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
