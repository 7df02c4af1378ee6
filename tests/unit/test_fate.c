/* Fate: the decisions of sch_netem for each packet, against sequences computed apart from it. */
#include "check.h"

#include "base/mem.h"
#include "net/fate.h"

#include <string.h>

/* rint(fraction * UINT32_MAX) */
static struct net_share share(double percent)
{
    return (struct net_share){(uint32_t)rint(percent / 100 * UINT32_MAX), NULL};
}

struct line {
    struct arena arena;
    struct fate fate;
    struct fate_queue q;
};

static void line_up(struct line *l, const struct net_impair *impair, uint64_t seed)
{
    struct err err = {0};

    memset(l, 0, sizeof(*l));
    assert_int_equal(fate_init(&l->fate, impair, seed, 1330, &l->arena, &err), 0);
}

/* ---- the random stream -------------------------------------------------------------------------
 */

static void stream_is_the_kernels_for_small_and_large_seeds(void **state)
{
    static const struct {
        uint64_t seed;
        uint32_t first[6];
    } known[] = {
        {0, {1574944, 268744, 1109394980, 8552980, 826355289, 2421007874}},
        {1, {276959246, 18909696, 2298495022, 9442690, 3222971081, 2202869889}},
        {42, {3053367555, 794645456, 722109529, 489076602, 564259759, 537591597}},
        {0x0123456789abcdef,
         {1976660935, 2350886939, 2896332784, 2170846020, 491273907, 1741709839}},
        {UINT64_MAX, {260173829, 14711295, 2030026778, 7343233, 3220595128, 2126831743}},
    };
    struct fate_random r;

    (void)state;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        fate_random_seed(&r, known[i].seed);
        for (int k = 0; k < 6; k++)
            assert_int_equal(fate_random_next(&r), known[i].first[k]);
    }
}

static void loss_and_uniform_jitter_take_turns_in_one_stream(void **state)
{
    static const int64_t due[16] = {19645456, 24077602, 22593597, 17362227, 24284989, 22349953,
                                    16926436, 20680046, 22604669, 15196923, 20212685, 18004904,
                                    24899803, 23037344, 18610124, 24647538};
    struct net_impair impair = {.delay_ns = 20000000, .jitter_ns = 5000000};
    struct fate_copy copies[FATE_COPIES];
    struct line l;

    (void)state;
    impair.loss.model = LOSS_RANDOM;
    impair.loss.random = share(10);
    line_up(&l, &impair, 42);
    for (int k = 0; k < 16; k++) {
        assert_int_equal(fate_decide(&l.fate, k * 1000, 1330, false, &l.q, copies), 1);
        assert_int_equal(copies[0].due_ns, due[k]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stream_is_the_kernels_for_small_and_large_seeds),
        cmocka_unit_test(loss_and_uniform_jitter_take_turns_in_one_stream),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
