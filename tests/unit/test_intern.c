/* base/intern: what is equal has one number and one address. */
#include "check.h"

#include "base/intern.h"

static void equal_texts_have_one_number_and_one_address(void **state)
{
    (void)state;
    struct intern n = INTERN_INIT;
    char again[] = "b";

    assert_int_equal(intern_text(&n, "a"), 0);
    assert_int_equal(intern_text(&n, "b"), 1);
    assert_int_equal(intern_text(&n, again), 1);
    assert_int_equal(intern_text(&n, ""), 2);
    assert_int_equal(n.count, 3);
    assert_string_equal(intern_at(&n, 1), "b");
    assert_ptr_not_equal(intern_at(&n, 1), again);
    intern_release(&n);
}

static void bytes_differ_by_length_and_content(void **state)
{
    (void)state;
    struct intern n = INTERN_INIT;

    assert_int_equal(intern_add(&n, "\0\0", 2), 0);
    assert_int_equal(intern_add(&n, "\0\0", 1), 1);
    assert_int_equal(intern_add(&n, "\0x", 2), 2);
    assert_int_equal(intern_add(&n, "\0\0", 2), 0);
    intern_release(&n);
}

static void many_keep_their_numbers_and_addresses(void **state)
{
    (void)state;
    struct intern n = INTERN_INIT;
    uint32_t zero = 0;
    const void *first = intern_at(&n, intern_add(&n, &zero, sizeof zero));

    for (uint32_t i = 0; i < 20000; i++)
        assert_int_equal(intern_add(&n, &i, sizeof i), i);
    for (uint32_t i = 0; i < 20000; i++)
        assert_memory_equal(intern_at(&n, i), &i, sizeof i);
    assert_ptr_equal(intern_at(&n, 0), first);
    assert_int_equal(n.count, 20000);
    intern_release(&n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_texts_have_one_number_and_one_address),
        cmocka_unit_test(bytes_differ_by_length_and_content),
        cmocka_unit_test(many_keep_their_numbers_and_addresses),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
