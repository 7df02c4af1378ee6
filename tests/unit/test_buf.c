/* base/buf: text grows, ends in NUL, and never passes its limit. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

static void an_empty_buf_is_an_empty_text(void **state)
{
    struct buf b = BUF_INIT;

    (void)state;
    assert_string_equal(b.data, "");
    assert_int_equal(buf_add(&b, NULL, 0), 0);
    assert_int_equal(buf_reserve(&b, 0), 0);
    assert_int_equal(b.cap, 0);
    buf_clear(&b);
    buf_truncate(&b, 0);
    buf_release(&b);
    assert_string_equal(b.data, "");
}

static void additions_of_every_kind_join(void **state)
{
    struct buf b = BUF_INIT;

    (void)state;
    buf_addstr(&b, "a");
    buf_addch(&b, 'b');
    buf_add(&b, "c\0d", 3);
    buf_fill(&b, '-', 3);
    buf_printf(&b, "%d", 42);
    assert_int_equal(b.len, 10);
    assert_memory_equal(b.data, "abc\0d---42", 11);
    buf_truncate(&b, 2);
    assert_string_equal(b.data, "ab");
    buf_clear(&b);
    assert_string_equal(b.data, "");
    buf_release(&b);
}

static void it_grows_through_many_additions(void **state)
{
    struct buf b = BUF_INIT;

    (void)state;
    for (int i = 0; i < 100000; i++)
        buf_printf(&b, "%d", i % 10);
    assert_int_equal(b.len, 100000);
    for (int i = 0; i < 100000; i++)
        assert_int_equal(b.data[i], '0' + i % 10);
    assert_int_equal(b.data[b.len], '\0');
    buf_release(&b);
}

static void long_formats_come_out_whole(void **state)
{
    struct buf b = BUF_INIT;

    (void)state;
    for (int width = 250; width < 262; width++) {
        buf_clear(&b);
        buf_printf(&b, "%*d", width, 7);
        assert_int_equal(b.len, width);
        assert_int_equal(b.data[width - 1], '7');
        assert_int_equal(b.data[width], '\0');
    }
    buf_release(&b);
}

static void an_addition_past_the_limit_adds_nothing_and_is_remembered(void **state)
{
    struct buf b = BUF_INIT_MAX(5);

    (void)state;
    assert_int_equal(buf_addstr(&b, "abcd"), 0);
    assert_false(b.overflow);
    assert_int_equal(buf_addstr(&b, "ef"), -1);
    assert_string_equal(b.data, "abcd");
    assert_true(b.overflow);
    assert_int_equal(buf_addch(&b, 'e'), 0);
    assert_true(b.overflow);
    assert_int_equal(buf_printf(&b, "x"), -1);
    assert_int_equal(buf_printf(&b, "%300d", 1), -1);
    assert_int_equal(buf_fill(&b, 'x', 1), -1);
    assert_string_equal(b.data, "abcde");
    buf_clear(&b);
    assert_false(b.overflow);
    assert_int_equal(buf_addstr(&b, "vwxyz"), 0);
    buf_release(&b);
    assert_int_equal(b.max, 5);
}

static void detaching_hands_over_the_text(void **state)
{
    struct buf b = BUF_INIT;

    (void)state;
    char *nothing = buf_detach(&b);
    assert_string_equal(nothing, "");
    free(nothing);
    buf_addstr(&b, "mine");
    char *text = buf_detach(&b);
    assert_string_equal(text, "mine");
    assert_string_equal(b.data, "");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_buf_is_an_empty_text),
        cmocka_unit_test(additions_of_every_kind_join),
        cmocka_unit_test(it_grows_through_many_additions),
        cmocka_unit_test(long_formats_come_out_whole),
        cmocka_unit_test(an_addition_past_the_limit_adds_nothing_and_is_remembered),
        cmocka_unit_test(detaching_hands_over_the_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
