/* base/mem: arenas keep what they hand out, aligned, zeroed and apart. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static void pieces_of_all_sizes_stay_apart(void **state)
{
    enum { COUNT = 3000 };
    struct arena a = ARENA_INIT;
    static unsigned char *pieces[COUNT];
    static size_t sizes[COUNT];

    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        sizes[i] = i % 100 == 99 ? 70000 : i % 37;
        pieces[i] = arena_alloc(&a, sizes[i]);
        assert_int_equal((uintptr_t)pieces[i] % _Alignof(max_align_t), 0);
        for (size_t k = 0; k < sizes[i]; k++)
            assert_int_equal(pieces[i][k], 0);
        memset(pieces[i], (int)(i & 255), sizes[i]);
    }
    for (size_t i = 0; i < COUNT; i++) {
        for (size_t k = 0; k < sizes[i]; k++)
            assert_int_equal(pieces[i][k], i & 255);
    }
    arena_release(&a);
    assert_null(a.head);
}

static void texts_are_copied_and_formatted(void **state)
{
    struct arena a = ARENA_INIT;
    char source[] = "source";

    (void)state;
    char *copy = arena_strdup(&a, source);
    char *part = arena_strndup(&a, source, 3);
    char *whole = arena_strndup(&a, source, 99);
    char *text = arena_printf(&a, "%s-%05d", source, 42);
    char *wide = arena_printf(&a, "%5000d", 1);
    memset(source, 'x', sizeof source - 1);
    assert_string_equal(copy, "source");
    assert_string_equal(part, "sou");
    assert_string_equal(whole, "source");
    assert_string_equal(text, "source-00042");
    assert_int_equal(strlen(wide), 5000);
    arena_release(&a);
}

static void a_released_arena_can_be_used_again(void **state)
{
    struct arena a;

    (void)state;
    arena_init(&a);
    arena_alloc(&a, 10);
    arena_release(&a);
    arena_release(&a);
    assert_string_equal(arena_strdup(&a, "again"), "again");
    arena_release(&a);
}

static void copies_on_the_heap(void **state)
{
    char *s = xstrdup("whole");
    char *n = xstrndup("whole", 2);
    char *z = xcalloc(0, 8);

    (void)state;
    assert_string_equal(s, "whole");
    assert_string_equal(n, "wh");
    s = xreallocarray(s, 100, 10);
    assert_string_equal(s, "whole");
    free(s);
    free(n);
    free(z);
    free(xmalloc(0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_of_all_sizes_stay_apart),
        cmocka_unit_test(texts_are_copied_and_formatted),
        cmocka_unit_test(a_released_arena_can_be_used_again),
        cmocka_unit_test(copies_on_the_heap),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
