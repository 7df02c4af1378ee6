/* base/err: messages are complete, bounded, and keep their hint where they should. */
#include "check.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"

static void setting_replaces_all_that_was_there(void **state)
{
    struct err e = {.code = ERR_USAGE, .sys_errno = 5, .msg = "old", .hint = "old"};

    (void)state;
    assert_int_equal(err_set(&e, ERR_CONFIG, "unknown key \"%s\"", "x"), -1);
    assert_int_equal(e.code, ERR_CONFIG);
    assert_int_equal(e.sys_errno, 0);
    assert_string_equal(e.msg, "unknown key \"x\"");
    assert_string_equal(e.hint, "");
}

static void a_system_error_says_what_the_system_said(void **state)
{
    struct err e = {0};

    (void)state;
    assert_int_equal(err_sys(&e, ERR_SYSTEM, ENOENT, "cannot open '%s'", "f"), -1);
    assert_string_equal(e.msg, "cannot open 'f': No such file or directory");
    assert_int_equal(e.sys_errno, ENOENT);
}

static void context_goes_in_front_and_keeps_code_and_hint(void **state)
{
    struct err e = {0};

    (void)state;
    err_set(&e, ERR_MEASURE, "no ready line");
    err_hint(&e, "raise %s", "--timeout");
    assert_int_equal(err_wrap(&e, "run %d of '%s'", 3, "srt/1x50M"), -1);
    assert_string_equal(e.msg, "run 3 of 'srt/1x50M': no ready line");
    assert_string_equal(e.hint, "raise --timeout");
    assert_int_equal(e.code, ERR_MEASURE);
}

static void the_old_message_may_be_an_argument(void **state)
{
    struct err e = {0};

    (void)state;
    err_set(&e, ERR_CONFIG, "inner");
    err_set(&e, ERR_CONFIG, "outer: %s", e.msg);
    assert_string_equal(e.msg, "outer: inner");
}

static void long_messages_are_cut(void **state)
{
    char text[4000];
    struct err e = {0};

    (void)state;
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    err_sys(&e, ERR_SYSTEM, ENOENT, "%s", text);
    err_wrap(&e, "%s", text);
    err_hint(&e, "%s", text);
    assert_int_equal(strlen(e.msg), sizeof e.msg - 1);
    assert_int_equal(strlen(e.hint), sizeof e.hint - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(setting_replaces_all_that_was_there),
        cmocka_unit_test(a_system_error_says_what_the_system_said),
        cmocka_unit_test(context_goes_in_front_and_keeps_code_and_hint),
        cmocka_unit_test(the_old_message_may_be_an_argument),
        cmocka_unit_test(long_messages_are_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
