#include "model/order.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

/* The variants of one block, in the order in which they run. */
static void order_block(size_t k, size_t block, size_t profile, size_t *slots)
{
    struct plan plan = {.variant_count = k};

    for (size_t i = 0; i < k; i++) {
        struct order_step step = order_step(&plan, profile, STAGE_MAIN, block * k + i);

        assert_int_equal(step.pair, block + 1);
        assert_int_equal(step.slot, i + 1);
        slots[i] = step.variant;
    }
}

/* The blocks of k variants as text: "01 10 ". */
static void rows(size_t k, size_t profile, size_t blocks, char *out, size_t size)
{
    size_t slots[16], len = 0;

    for (size_t b = 0; b < blocks; b++) {
        order_block(k, b, profile, slots);
        for (size_t i = 0; i < k; i++)
            len += (size_t)snprintf(out + len, size - len, "%zu", slots[i]);
        len += (size_t)snprintf(out + len, size - len, " ");
    }
}

static void two_variants_alternate(void **state)
{
    char text[256];

    (void)state;
    rows(2, 0, 4, text, sizeof(text));
    assert_string_equal(text, "01 10 01 10 ");
    rows(2, 1, 2, text, sizeof(text));
    assert_string_equal(text, "10 01 ");
}

static void three_and_four_variants_run_in_williams_rows(void **state)
{
    char text[256];

    (void)state;
    rows(3, 0, 6, text, sizeof(text));
    assert_string_equal(text, "012 210 120 021 201 102 ");
    rows(4, 0, 4, text, sizeof(text));
    assert_string_equal(text, "0132 2310 1203 3021 ");
}

/* How often each variant follows each other directly, over `blocks` blocks. */
static void assert_balanced(size_t k, size_t blocks)
{
    size_t follows[16][16] = {{0}}, slots[16];

    for (size_t b = 0; b < blocks; b++) {
        order_block(k, b, 0, slots);
        for (size_t i = 1; i < k; i++)
            follows[slots[i - 1]][slots[i]]++;
    }
    for (size_t a = 0; a < k; a++)
        for (size_t b = 0; b < k; b++)
            assert_int_equal(follows[a][b], a == b ? 0 : follows[0][1]);
}

static void every_variant_follows_every_other_equally_often(void **state)
{
    (void)state;
    for (size_t k = 2; k <= 12; k++)
        assert_balanced(k, k % 2 == 0 ? k : 2 * k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_variants_alternate),
        cmocka_unit_test(three_and_four_variants_run_in_williams_rows),
        cmocka_unit_test(every_variant_follows_every_other_equally_often),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
