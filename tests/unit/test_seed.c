#include "series/seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void the_published_seed_comes_out(void **state)
{
    (void)state;
    assert_true(seed_of_pair(42, "srt/32x-320M-light", 1, "lo") == UINT64_C(4421716539096913974));
}

static void pairs_profiles_and_links_differ(void **state)
{
    uint64_t one = seed_of_pair(1, "a", 1, "lo");

    (void)state;
    assert_true(one != seed_of_pair(1, "a", 2, "lo"));
    assert_true(one != seed_of_pair(1, "b", 1, "lo"));
    assert_true(one != seed_of_pair(1, "a", 1, "program"));
    assert_true(one != seed_of_pair(2, "a", 1, "lo"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_published_seed_comes_out),
        cmocka_unit_test(pairs_profiles_and_links_differ),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
