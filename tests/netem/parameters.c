#include "tests.h"

#include "tap.h"

#include "base/mem.h"
#include "net/netem.h"
#include "net/rtnl.h"

#include <stdio.h>

static const char *const parameters[] = {
    "delay 0",
    "delay 1ms",
    "delay 10s",
    "delay 100ms 7ms",
    "delay 100ms 7ms 33%",
    "delay 100ms 7ms distribution normal",
    "delay 100ms 7ms distribution pareto",
    "delay 100ms 7ms distribution paretonormal",
    "loss 0.0001%",
    "loss 100%",
    "loss 10% 25%",
    "loss state 1%",
    "loss state 1% 30% 2% 40% 0.5%",
    "loss gemodel 1%",
    "loss gemodel 1% 30% 80% 0.1%",
    "duplicate 3%",
    "duplicate 3% 10%",
    "corrupt 0.1%",
    "corrupt 0.1% 50%",
    "delay 10ms reorder 25%",
    "delay 10ms reorder 25% 50%",
    "delay 10ms reorder 25% gap 9",
    "delay 10ms reorder 100% gap 4",
    "loss 1% ecn",
    "rate 8bit",
    "rate 1gbit",
    "rate 100gbit",
    "rate 1mbit 14",
    "rate 1mbit -8 48 5",
    "slot 800us",
    "slot 800us 1ms",
    "slot 800us 1ms packets 32 bytes 65536",
    "slot distribution normal 2ms 500us",
    "slot distribution normal 2ms 500us packets 8",
    "limit 1",
    "limit 1000000",
    "delay 20ms 3ms 25% distribution normal loss 0.1% 10% duplicate 0.2% 5% corrupt 0.3% 6% "
    "reorder 4% 7% gap 3 rate 50mbit 10 48 5 slot 1ms 2ms packets 100 bytes 150000 limit 5000",
};

static void test_parameter(struct rtnl *r, int n, const char *words, bool seeds)
{
    struct arena arena = ARENA_INIT;
    struct net_impair impair;
    struct err err = {0};
    bool seeded = false;
    char a[16], b[16];

    snprintf(a, sizeof(a), "p%d", n);
    snprintf(b, sizeof(b), "q%d", n);
    if (net_impair_parse_words(&impair, words, &arena, &err) < 0 ||
        rtnl_veth(r, a, b, -1, &err) < 0 ||
        netem_install(r, a, &impair, 0xfedcba9876543210 + (uint64_t)n, 1500, &seeded, &err) < 0)
        tap(false, "set and read back: %s: %s", words, err.msg);
    else
        tap(seeded == seeds, "set and read back: %s%s", words, seeded ? ", seed" : ", no seed");
    arena_release(&arena);
}

void test_parameters(struct rtnl *r, bool seeds)
{
    for (size_t i = 0; i < sizeof(parameters) / sizeof(parameters[0]); i++)
        test_parameter(r, (int)i, parameters[i], seeds);
}
