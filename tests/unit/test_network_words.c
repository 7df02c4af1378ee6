/* model/network: tc's netem words, against what tc itself makes of them. */
#include "check.h"

#include "base/mem.h"
#include "model/network.h"

#include <string.h>

/* In the order in which tc_known.py writes them; times in ticks of 64 ns. */
enum {
    LATENCY,
    JITTER,
    LIMIT,
    LOSS,
    GAP,
    DUPLICATE,
    DELAY_CORR,
    LOSS_CORR,
    DUPLICATE_CORR,
    REORDER,
    REORDER_CORR,
    CORRUPT,
    CORRUPT_CORR,
    ECN,
    RATE,
    OVERHEAD,
    CELL,
    CELL_OVERHEAD,
    SLOT_MIN,
    SLOT_MAX,
    SLOT_PACKETS,
    SLOT_BYTES,
    SLOT_DELAY,
    SLOT_JITTER,
    HAS_DIST,
    HAS_SLOT_DIST,
    P13,
    P31,
    P32,
    P14,
    P23,
    P,
    R,
    H,
    K,
    NUMBERS
};

struct tc_known {
    const char *words;
    bool taken;
    int64_t numbers[NUMBERS];
};

#include "tc_known.h"

/* tc cuts to microseconds, and these to whole ticks of 64 ns: 15.625 of them. */
static int64_t ticks(int64_t ns)
{
    return ns / 1000 * 15625 / 1000;
}

static void numbers_of(const struct net_impair *i, int64_t n[NUMBERS])
{
    const struct net_loss *l = &i->loss;
    const int64_t all[NUMBERS] = {
        ticks(i->delay_ns),
        ticks(i->jitter_ns),
        i->limit,
        l->random.scaled,
        i->gap,
        i->duplicate.scaled,
        i->delay_correlation.scaled,
        l->correlation.scaled,
        i->duplicate_correlation.scaled,
        i->reorder.scaled,
        i->reorder_correlation.scaled,
        i->corrupt.scaled,
        i->corrupt_correlation.scaled,
        i->ecn,
        (int64_t)i->rate.bit_s / 8,
        i->rate.packet_overhead,
        i->rate.cell_bytes,
        i->rate.cell_overhead,
        i->slot.min_ns,
        i->slot.max_ns,
        i->slot.packets,
        i->slot.bytes,
        i->slot.delay_ns,
        i->slot.jitter_ns,
        i->distribution != NULL,
        i->slot.distribution != NULL,
        l->p13.scaled,
        l->p31.scaled,
        l->p32.scaled,
        l->p14.scaled,
        l->p23.scaled,
        l->p.scaled,
        l->r.scaled,
        l->h.scaled,
        l->k.scaled,
    };

    memcpy(n, all, sizeof(all));
}

static void check_known(const struct tc_known *k)
{
    struct arena arena = ARENA_INIT;
    struct err err = {0};
    struct net_impair impair;
    int64_t got[NUMBERS];
    int status = net_impair_parse_words(&impair, k->words, &arena, &err);

    if ((status == 0) != k->taken)
        fail_msg("'%s': tc %s it; %s", k->words, k->taken ? "takes" : "refuses", err.msg);
    if (status == 0) {
        numbers_of(&impair, got);
        if (!impair.limit)
            got[LIMIT] = 1000; /* ours is computed later */
        for (int i = 0; i < NUMBERS; i++)
            if (got[i] != k->numbers[i])
                fail_msg("'%s': number %d is %lld, tc's %lld", k->words, i, (long long)got[i],
                         (long long)k->numbers[i]);
    }
    arena_release(&arena);
}

static void words_mean_what_tc_makes_of_them(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(tc_known) / sizeof(tc_known[0]); i++)
        check_known(&tc_known[i]);
}

static struct net_impair parsed(const char *words, struct arena *arena)
{
    struct err err = {0};
    struct net_impair impair;

    if (net_impair_parse_words(&impair, words, arena, &err) < 0)
        fail_msg("%s: %s", words, err.msg);
    return impair;
}

static void some_words_say_more_here_than_to_tc(void **state)
{
    struct arena arena = ARENA_INIT;

    (void)state;
    assert_int_equal(parsed("delay 100ns", &arena).delay_ns, 100);
    assert_int_equal(parsed("delay 20.5", &arena).delay_ns, 20500);
    assert_int_equal(parsed("delay 300s", &arena).delay_ns, 300000000000);
    assert_int_equal(parsed("rate 50Mbit/s", &arena).rate.bit_s, 50000000);
    assert_int_equal(parsed("dup 1% 25%", &arena).duplicate_correlation.scaled, 1073741824);
    assert_null(parsed("delay 2ms 1ms distribution uniform", &arena).distribution);
    assert_string_equal(parsed("delay 2ms 1ms distribution mine", &arena).distribution, "mine");
    assert_int_equal(parsed(" delay\t2ms \n", &arena).delay_ns, 2000000);
    arena_release(&arena);
}

static void errors_name_the_word_and_what_is_allowed(void **state)
{
    static const struct {
        const char *words, *says, *allows;
    } bad[] = {
        {"", "no words", ""},
        {"foo", "'foo' (word 1)", "delay, distribution, loss, ecn"},
        {"delay 20ms jitter 5ms", "'jitter' (word 3)", "tc-netem(8)"},
        {"delay", "'delay' (word 1) lacks its time", ""},
        {"delay soon", "'soon' (word 2) is no time", "ms, us or ns, or of microseconds"},
        {"delay 5parsec", "'5parsec'", "microseconds"},
        {"delay -5ms", "'-5ms'", "microseconds"},
        {"delay nan", "'nan'", "microseconds"},
        {"delay inf", "'inf'", "microseconds"},
        {"delay 1e999s", "'1e999s'", "at most an hour"},
        {"delay 2h", "'2h'", "ms"},
        {"delay 3601s", "'3601s'", "at most an hour"},
        {"delay 5s 3s", "'3s' (word 3) is no jitter", "2147483647ns"},
        {"slot soon", "'soon' (word 2) is no slot", "MIN [MAX]"},
        {"slot 5parsec", "'5parsec'", "nanoseconds"},
        {"slot 5ms packets", "'packets' (word 3) lacks its number", ""},
        {"slot 5ms bytes 0", "'0' (word 4)", "1 byte"},
        {"loss 200%", "'200%' (word 2) is no percentage", "0% to 100%"},
        {"loss nan", "'nan' (word 2) is no loss", "random, state or gemodel"},
        {"loss random nan", "'nan' (word 3) is no percentage", "0% to 100%"},
        {"loss 1% loss 1%", "second loss", "one"},
        {"limit 0", "'0' (word 2) is no limit", "1 packet"},
        {"limit 3g", "'3g' (word 2)", "1 packet"},
        {"rate 7", "'7' (word 2) is no rate", "8bit"},
        {"rate 10%", "'10%'", "no speed"},
        {"rate 1mbit -43", "'-43' (word 3) is no overhead", "-42"},
        {"rate 1mbit 0 70000", "'70000' (word 4)", "65535"},
        {"rate 1mbit 0 53 -53", "'-53' (word 5)", "leaving"},
        {"rate 1mbit 14x", "'14x' (word 3)", "-42"},
        {"rate 50bit/h", "'50bit/h'", "mbit"},
        {"rate 1somethingverylongindeed", "somethingverylong", "mbit"},
        {"distribution ../../etc/passwd", "'../../etc/passwd'", "normal"},
        {"reorder 5%", "'reorder'", "needs a delay"},
        {"seed 42", "'seed'", "--seed N"},
        {"delay 'open", "impairment", "column"},
        {"delay 1\x1b[31mms", "(word 2)", "microseconds"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct arena arena = ARENA_INIT;
        struct err err = {0};
        struct net_impair impair;

        if (net_impair_parse_words(&impair, bad[i].words, &arena, &err) == 0)
            fail_msg("taken: %s", bad[i].words);
        assert_int_equal(err.code, ERR_USAGE);
        if (!strstr(err.msg, bad[i].says) ||
            (!strstr(err.msg, bad[i].allows) && !strstr(err.hint, bad[i].allows)))
            fail_msg("%s\n  says: %s\n  hint: %s", bad[i].words, err.msg, err.hint);
        assert_null(strchr(err.msg, '\x1b'));
        arena_release(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_mean_what_tc_makes_of_them),
        cmocka_unit_test(some_words_say_more_here_than_to_tc),
        cmocka_unit_test(errors_name_the_word_and_what_is_allowed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
