#include "check.h"

#include "base/buf.h"
#include "base/mem.h"
#include "model/network_text.h"

#include <string.h>

static struct arena arena;

static int release(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

static struct net_impair impair_of(const char *words)
{
    struct net_impair impair = {0};
    struct err err = {0};

    assert_int_equal(net_impair_parse_words(&impair, words, &arena, &err), 0);
    return impair;
}

static void assert_said(const struct network *n, const char *a, const char *b, const char *wanted)
{
    struct buf text = BUF_INIT;

    network_say(n, a, b, &text);
    assert_string_equal(text.data, wanted);
    buf_release(&text);
}

static void on_loopback_a_round_trip_meets_everything_twice(void **state)
{
    (void)state;
    struct network n = {.topology = NET_LOOPBACK,
                        .has_impair = true,
                        .impair = impair_of("delay 20ms 5ms loss 10%")};

    assert_said(&n, NULL, NULL,
                "loopback; one way: delay 20ms, jitter 5ms, loss 10%; round trip: delay 40ms, "
                "jitter 10ms at most, loss 19%");
}

static void the_directions_of_a_pair_are_said_apart_and_added(void **state)
{
    (void)state;
    struct net_link links[] = {
        {.from = "a", .to = "b", .impair = impair_of("delay 30ms rate 10mbit limit 20")},
        {.from = "b", .to = "a", .impair = impair_of("delay 5ms loss 1%")},
    };
    struct network n = {.topology = NET_PAIR, .links = links, .link_count = 2};

    assert_said(&n, "a", "b",
                "pair; a to b: delay 30ms, rate 10Mbit/s, queue of 20 packets; b to a: delay 5ms, "
                "loss 1%; round trip: delay 35ms, loss 1%");
}

static void a_network_that_does_nothing_says_so(void **state)
{
    (void)state;
    struct network n = {.topology = NET_LOOPBACK};

    assert_said(&n, NULL, NULL, "loopback; untouched");
}

static void correlation_that_changes_the_loss_is_told(void **state)
{
    (void)state;
    struct net_impair correlated = impair_of("loss 10% 25%"), plain = impair_of("loss 10%");
    struct buf text = BUF_INIT;

    network_say_effective(&plain, &text);
    assert_int_equal(text.len, 0);
    network_say_effective(&correlated, &text);
    assert_non_null(strstr(text.data, "loss 10% with a correlation of 25% really loses 1."));
    buf_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(on_loopback_a_round_trip_meets_everything_twice),
        cmocka_unit_test(the_directions_of_a_pair_are_said_apart_and_added),
        cmocka_unit_test(a_network_that_does_nothing_says_so),
        cmocka_unit_test(correlation_that_changes_the_loss_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, release);
}
