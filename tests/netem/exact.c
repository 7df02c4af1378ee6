#include "tests.h"

#include "compare.h"
#include "tap.h"

#include "base/mem.h"
#include "net/netem.h"
#include "net/rtnl.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEED 0x0123456789abcdefULL
#define SETTLE 64 /* a correlation of 25 % forgets where it began within 16 numbers */
#define PAUSE_NS 4000000

static const struct model {
    const char *name, *words;
    uint32_t settle;
} models[] = {
    {"random loss", "loss 3%", 0},
    {"correlated loss", "loss 30% 25%", SETTLE},
    {"Gilbert-Elliott loss", "loss gemodel 2% 20% 70% 0.5%", 0},
    {"4-state loss", "loss state 2% 25% 5% 60% 0.7%", 0},
    {"loss with ECN", "delay 1ms loss 5% ecn", 0},
    {"duplicates and loss", "delay 1ms loss 2% duplicate 5%", 0},
    {"corruption and loss", "loss 2% corrupt 5%", 0},
    {"reordering with a gap", "delay 3ms reorder 25% gap 5", 0},
    {"gap alone", "delay 2ms reorder 100% gap 7", 0},
    {"rate", "rate 100mbit limit 30000", 0},
    {"rate with cells", "rate 80mbit 26 48 5 limit 30000", 0},
    {"rate, delay, jitter", "delay 2ms 500us rate 60mbit limit 30000", 0},
    {"uniform jitter", "delay 5ms 2ms", 0},
    {"jitter above the delay", "delay 1ms 3ms", 0},
    {"correlated jitter", "delay 5ms 2ms 25%", SETTLE},
    {"normal jitter", "delay 5ms 2ms distribution normal", 0},
    {"pareto jitter", "delay 5ms 1ms distribution pareto", 0},
    {"limit", "delay 5ms limit 100", 0},
    {"slots of packets", "delay 1ms slot 2ms packets 30 limit 30000", 0},
    {"slots of bytes", "delay 500us 300us slot 1ms bytes 9000 limit 30000", 0},
    {"slots by a distribution", "slot distribution normal 3ms 1ms packets 50 limit 30000", 0},
    {"all at once",
     "delay 4ms 1ms distribution paretonormal loss gemodel 1% 30% duplicate 2% corrupt 1% "
     "reorder 10% gap 3 limit 500",
     0},
};

/* Sends through a netem of the model and fills in what was seen. */
static int observe(struct rtnl *r, int n, const struct net_impair *impair, struct traffic *t,
                   struct compare *c, struct err *err)
{
    struct trace_event *events;
    struct traffic_arrival *arrivals;
    bool seeded = false;

    if (traffic_open(t, r, n, err) < 0 ||
        netem_install(r, t->from, impair, SEED, TRAFFIC_MAX_BYTES / 2, &seeded, err) < 0)
        return -1;
    if (!seeded)
        return err_set(err, ERR_MEASURE, "this kernel takes no seed");
    if (trace_start(err) < 0 || traffic_send(t, PACKETS, PAUSE_NS, NULL, err) < 0 ||
        traffic_drain(t, r, err) < 0 || trace_stop(&events, &c->event_count, err) < 0)
        return -1;
    arrivals = xcalloc(FATE_COPIES * PACKETS, sizeof(*arrivals));
    c->arrival_count = traffic_take(t, arrivals, FATE_COPIES * PACKETS);
    c->events = events;
    c->arrivals = arrivals;
    return 0;
}

static void report(const struct model *m, const struct compare *c, const struct fate *f)
{
    bool none = !c->copies && !c->order && !c->due && !c->corrupt && !c->mark && !c->release;

    tap(none && c->offered == PACKETS,
        "%s (%s): %u packets, mismatches: copies %u, order %u, due times %u, corrupt %u, marks %u, "
        "release %u",
        m->name, m->words, c->offered, c->copies, c->order, c->due, c->corrupt, c->mark,
        c->release);
    printf("#   delivered %u, lost %" PRIu64 ", limit %" PRIu64 ", duplicated %" PRIu64
           ", corrupted %" PRIu64 ", marked %" PRIu64 ", reordered %" PRIu64 ", latest %" PRId64
           " ns, unsettled %u\n",
           c->delivered, f->counts.lost, f->counts.limit, f->counts.duplicated, f->counts.corrupted,
           f->counts.ecn_marked, f->counts.reordered, c->late_max_ns, c->unsettled);
}

static void test_model(struct rtnl *r, int n, const struct model *m)
{
    struct arena arena = ARENA_INIT;
    struct compare c = {.settle = m->settle};
    struct net_impair impair;
    struct traffic t;
    struct fate f;
    struct err err = {0};

    if (net_impair_parse_words(&impair, m->words, &arena, &err) < 0 ||
        fate_init(&f, &impair, SEED, TRAFFIC_MAX_BYTES / 2, &arena, &err) < 0 ||
        observe(r, n, &impair, &t, &c, &err) < 0 || compare_run(&c, &f, &err) < 0)
        tap(false, "%s (%s): %s", m->name, m->words, err.msg);
    else
        report(m, &c, &f);
    free((void *)(uintptr_t)c.events);
    free((void *)(uintptr_t)c.arrivals);
    arena_release(&arena);
}

void test_exactly(struct rtnl *r)
{
    const char *only = getenv("ONLY");
    struct err err = {0};

    if (trace_open(&err) < 0) {
        tap(false, "probes of the kernel: %s", err.msg);
        return;
    }
    for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++)
        if (!only || strstr(models[i].name, only))
            test_model(r, (int)i, &models[i]);
}
