/* base/sorted: all that was added comes back in order, from memory and from the file. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "base/sorted.h"

static struct sorted s;

static int end(void **state)
{
    (void)state;
    sorted_release(&s);
    return 0;
}

static void add(const char *line)
{
    struct err err = {.code = ERR_NONE};

    if (sorted_add(&s, line, &err) < 0)
        fail_msg("%s", err.msg);
}

static const char *next(void)
{
    struct err err = {.code = ERR_NONE};
    const char *line = NULL;
    int rc = sorted_next(&s, &line, &err);

    if (rc < 0)
        fail_msg("%s", err.msg);
    return rc == 1 ? line : NULL;
}

static void few_lines_come_in_the_order_of_their_bytes(void **state)
{
    struct err err;

    (void)state;
    add("b");
    add("a-b");
    add("");
    add("a\tx");
    add("b");
    add("\xc3\xa4");
    for (int round = 0; round < 2; round++) {
        assert_string_equal(next(), "");
        assert_string_equal(next(), "a\tx");
        assert_string_equal(next(), "a-b");
        assert_string_equal(next(), "b");
        assert_string_equal(next(), "b");
        assert_string_equal(next(), "\xc3\xa4");
        assert_null(next());
        assert_null(next());
        assert_int_equal(sorted_rewind(&s, &err), 0);
    }
    assert_false(s.spilled);
}

static void of_nothing_comes_nothing(void **state)
{
    struct err err;

    (void)state;
    assert_null(next());
    assert_int_equal(sorted_rewind(&s, &err), 0);
    assert_null(next());
}

/* Numbers 0 .. COUNT-1, each once, in an order that is far from theirs; lines of many lengths. */
#define COUNT 400000

static void many_lines_come_each_once(void **state)
{
    char line[400];
    struct err err;

    (void)state;
    for (unsigned i = 0; i < COUNT; i++) {
        unsigned k = (unsigned)((uint64_t)i * 270001 % COUNT);
        int len = snprintf(line, sizeof line, "%06u", k);

        memset(line + len, 'x', k % 200);
        line[len + (int)(k % 200)] = '\0';
        add(line);
    }
    assert_true(s.part_count > 5);
    for (int round = 0; round < 2; round++) {
        for (unsigned k = 0; k < COUNT; k++) {
            const char *got = next();

            assert_non_null(got);
            if (strtoul(got, NULL, 10) != k || strlen(got) != 6 + k % 200)
                fail_msg("line %u: %.20s", k, got);
        }
        assert_null(next());
        assert_int_equal(sorted_rewind(&s, &err), 0);
    }
}

static void the_longest_line_and_no_longer_one(void **state)
{
    char *line = malloc(SORTED_LINE + 1);
    struct err err = {.code = ERR_NONE};

    (void)state;
    memset(line, 'l', SORTED_LINE);
    line[SORTED_LINE] = '\0';
    assert_int_equal(sorted_add(&s, line, &err), -1);
    line[SORTED_LINE - 1] = '\0';
    for (size_t i = 0; i < 3 * SORTED_ROOM / SORTED_LINE; i++)
        add(line);
    for (size_t i = 0; i < 3 * SORTED_ROOM / SORTED_LINE; i++)
        assert_string_equal(next(), line);
    assert_null(next());
    free(line);
}

static void no_folder_is_told(void **state)
{
    struct err err = {.code = ERR_NONE};
    char line[1000];
    int rc = 0;

    (void)state;
    memset(line, 'x', sizeof line);
    line[sizeof line - 1] = '\0';
    setenv("TMPDIR", "/no/such/folder", 1);
    for (size_t i = 0; rc == 0 && i < 2 * SORTED_ROOM / sizeof line; i++)
        rc = sorted_add(&s, line, &err);
    unsetenv("TMPDIR");
    assert_int_equal(rc, -1);
    assert_int_equal(err.code, ERR_SYSTEM);
    assert_non_null(strstr(err.msg, "/no/such/folder"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(few_lines_come_in_the_order_of_their_bytes, end),
        cmocka_unit_test_teardown(of_nothing_comes_nothing, end),
        cmocka_unit_test_teardown(many_lines_come_each_once, end),
        cmocka_unit_test_teardown(the_longest_line_and_no_longer_one, end),
        cmocka_unit_test_teardown(no_folder_is_told, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
