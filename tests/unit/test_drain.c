/*
 * Draining, CPU lists and readiness: what needs no process.
 */
#include "check.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/pattern.h"
#include "run/cpus.h"
#include "run/drain.h"
#include "run/ready.h"

static struct drain drain;
static struct capture capture;
static int end = -1;

static void begin(void)
{
    struct err err;

    assert_int_equal(drain_begin(&drain, &capture, &end, &err), 0);
}

/* Writes `n` bytes that tell their place: place mod 251. */
static void pour(uint64_t from, size_t n)
{
    unsigned char bytes[4096];

    while (n > 0) {
        size_t part = n < sizeof(bytes) ? n : sizeof(bytes);

        for (size_t i = 0; i < part; i++)
            bytes[i] = (unsigned char)((from + i) % 251);
        assert_int_equal(write(end, bytes, part), part);
        from += part;
        n -= part;
        drain_read(&drain);
    }
}

static int finish(void)
{
    drain_end(&drain);
    return close(end);
}

static int set_up(void **state)
{
    (void)state;
    signal(SIGPIPE, SIG_IGN);
    drain_init(&drain);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    drain_release(&drain);
    return 0;
}

static void nothing_is_an_empty_text(void **state)
{
    (void)state;
    begin();
    finish();
    assert_int_equal(capture.total, 0);
    assert_string_equal(capture.head, "");
    assert_string_equal(capture.tail, "");
}

static void check_places(size_t total)
{
    for (size_t i = 0; i < capture.head_len; i++)
        assert_int_equal((unsigned char)capture.head[i], i % 251);
    for (size_t i = 0; i < capture.tail_len; i++)
        assert_int_equal((unsigned char)capture.tail[i], (total - capture.tail_len + i) % 251);
}

static void every_byte_is_where_it_belongs(void **state)
{
    static const size_t totals[] = {1,        (1u << 20) - 1, 1u << 20,      (1u << 20) + 1,
                                    2500000,  (2u << 20) - 1, (2u << 20),    (2u << 20) + 1,
                                    3u << 20, 3333333,        7 * (1u << 20)};

    (void)state;
    for (size_t i = 0; i < sizeof(totals) / sizeof(totals[0]); i++) {
        const size_t total = totals[i];

        begin();
        pour(0, total);
        finish();
        assert_int_equal(capture.total, total);
        assert_int_equal(capture.head_len, total < 1u << 20 ? total : 1u << 20);
        assert_int_equal(capture.head_len + capture.tail_len + capture.cut, total);
        assert_int_equal(capture.cut, total > 2u << 20 ? total - (2u << 20) : 0);
        check_places(total);
    }
}

static void what_is_left_in_the_pipe_is_taken_at_the_end(void **state)
{
    (void)state;
    begin();
    assert_int_equal(write(end, "late", 4), 4);
    finish();
    assert_string_equal(capture.head, "late");
}

/* ---- CPU lists ---- */

static void cpu_lists_read_and_write_the_same(void **state)
{
    static const char *const good[] = {"0", "0-3", "0-1,4,6-8", "63-64", "128", "1,3,5,7", "8191"};
    struct cpus set;
    struct err err;
    char text[128];

    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        assert_int_equal(cpus_parse(&set, good[i], &err), 0);
        assert_int_equal(set.bytes % 8, 0);
        cpus_format(set.bits, set.bytes, text, sizeof(text));
        assert_string_equal(text, good[i]);
    }
}

static void what_is_no_cpu_list_is_refused(void **state)
{
    static const char *const bad[] = {"",
                                      ",",
                                      "a",
                                      "1-",
                                      "3-1",
                                      "1,,2",
                                      "1,",
                                      "-1",
                                      "8192",
                                      " 1",
                                      "1 ",
                                      "0x1",
                                      "99999999999999999999"};
    struct cpus set;
    struct err err;

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(cpus_parse(&set, bad[i], &err), -1);
    assert_non_null(strstr(err.msg, "is not a list of CPUs"));
}

static void a_long_cpu_list_is_cut_with_a_sign(void **state)
{
    uint64_t bits[4] = {0x5555555555555555u, 0x5555555555555555u, 0x5555555555555555u, 0};
    char text[32];

    (void)state;
    cpus_format(bits, sizeof(bits), text, sizeof(text));
    assert_true(strlen(text) < sizeof(text));
    assert_string_equal(text + strlen(text) - 4, ",...");
}

/* ---- readiness ---- */

static void a_pattern_is_found_across_pieces(void **state)
{
    struct err err;
    struct pattern *p = pattern_new("^listening on \\d+$", &err);
    size_t from = 0;

    (void)state;
    begin();
    assert_int_equal(ready_pattern(p, &capture, &from), READY_NOT_YET);
    assert_int_equal(write(end, "hello\nlisten", 12), 12);
    drain_read(&drain);
    assert_int_equal(ready_pattern(p, &capture, &from), READY_NOT_YET);
    assert_int_equal(from, 6); /* "hello" is not looked at again */
    assert_int_equal(write(end, "ing on 80\n", 10), 10);
    drain_read(&drain);
    assert_int_equal(ready_pattern(p, &capture, &from), READY_NOW);
    finish();
    pattern_free(p);
}

static void a_pattern_that_backtracks_for_ever_gives_up(void **state)
{
    struct err err;
    struct pattern *p = pattern_new("^(a+)+$", &err);
    size_t from = 0;

    (void)state;
    begin();
    assert_int_equal(write(end, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", 41), 41);
    drain_read(&drain);
    assert_int_equal(ready_pattern(p, &capture, &from), READY_NEVER);
    finish();
    pattern_free(p);
}

static void a_late_writer_of_the_run_before_reaches_nobody(void **state)
{
    (void)state;
    begin();
    assert_int_equal(write(end, "first", 5), 5);
    drain_end(&drain);
    assert_string_equal(capture.head, "first");
    int old = end;

    begin();
    assert_int_not_equal(end, old);
    assert_true(write(old, "late", 4) < 0); /* nobody reads it any more */
    assert_int_equal(write(end, "second", 6), 6);
    assert_int_equal(close(old), 0);
    finish();
    assert_string_equal(capture.head, "second");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(nothing_is_an_empty_text),
        TEST(every_byte_is_where_it_belongs),
        TEST(what_is_left_in_the_pipe_is_taken_at_the_end),
        TEST(a_late_writer_of_the_run_before_reaches_nobody),
        TEST(cpu_lists_read_and_write_the_same),
        TEST(what_is_no_cpu_list_is_refused),
        TEST(a_long_cpu_list_is_cut_with_a_sign),
        TEST(a_pattern_is_found_across_pieces),
        TEST(a_pattern_that_backtracks_for_ever_gives_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
