#include "tests.h"

#include "tap.h"
#include "traffic.h"

#include "base/mem.h"
#include "net/netem.h"
#include "net/rtnl.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define PAUSE_NS 2000000
#define SIGMAS 5.5 /* one in 10^7 by chance */

static const struct model {
    const char *name, *words;
    double clumping; /* by how much lost packets' clumps widen the variance of their number */
} models[] = {
    {"random loss", "loss 3%", 1},
    {"Gilbert-Elliott loss", "loss gemodel 2% 20% 70% 0.5%", 9},
    {"4-state loss", "loss state 2% 25% 5% 60% 0.7%", 9},
    {"duplicates", "duplicate 5%", 1},
    {"corruption", "corrupt 5%", 1},
    {"delay", "delay 5ms", 1},
    {"uniform jitter", "delay 10ms 4ms", 1},
    {"normal jitter", "delay 20ms 4ms distribution normal", 1},
    {"rate", "rate 400mbit", 1},
};

struct seen {
    uint32_t arrived, distinct, corrupt, disordered;
    double mean_delay_ns;
    int64_t least_delay_ns;
};

static struct seen look(const struct traffic_arrival *a, size_t count, const int64_t *sent_ns)
{
    unsigned char *known = xcalloc(PACKETS, 1);
    struct seen s = {.arrived = (uint32_t)count, .least_delay_ns = INT64_MAX};
    uint32_t last = 0;

    for (size_t i = 0; i < count; i++) {
        int64_t delay_ns;

        if (a[i].seq >= PACKETS)
            continue;
        delay_ns = a[i].wall_ns - sent_ns[a[i].seq];
        s.distinct += !known[a[i].seq];
        known[a[i].seq] = 1;
        s.corrupt += a[i].bits != 0;
        s.disordered += a[i].seq < last;
        last = a[i].seq;
        s.mean_delay_ns += (double)delay_ns / (double)count;
        if (delay_ns < s.least_delay_ns)
            s.least_delay_ns = delay_ns;
    }
    free(known);
    return s;
}

static bool is_share(uint32_t count, double share, double clumping)
{
    double sigma = sqrt(PACKETS * share * (1 - share) * clumping);

    return fabs(count - PACKETS * share) <= SIGMAS * sigma;
}

/* A machine that is late makes delays longer, never shorter: only the lower bound is the model's.
 */
static bool is_late_enough(const struct seen *s, const struct net_impair *impair)
{
    double sigma = (double)impair->jitter_ns / sqrt(PACKETS);

    if (s->mean_delay_ns < (double)impair->delay_ns - SIGMAS * sigma)
        return false;
    return impair->distribution || s->least_delay_ns >= impair->delay_ns - impair->jitter_ns;
}

static void judge(const struct model *m, const struct net_impair *impair, const struct seen *s,
                  const struct net_flow_proof *proof)
{
    uint32_t lost = PACKETS - s->distinct, twice = s->arrived - s->distinct;
    double share = 1.0 / UINT32_MAX;

    tap(is_share(lost, net_loss_effective(&impair->loss, NULL), m->clumping), "%s (%s): lost %u",
        m->name, m->words, lost);
    tap(is_share(twice, impair->duplicate.scaled * share, 1), "%s: duplicated %u", m->name, twice);
    tap(is_share(s->corrupt, impair->corrupt.scaled * share, 1), "%s: corrupted %u", m->name,
        s->corrupt);
    tap(impair->jitter_ns ? s->disordered > 0 : s->disordered == 0, "%s: %u overtaken", m->name,
        s->disordered);
    tap(is_late_enough(s, impair), "%s: delay at least %.3f ms, mean %.3f ms", m->name,
        (double)s->least_delay_ns / 1e6, s->mean_delay_ns / 1e6);
    tap(proof->delivered == s->arrived && proof->lost == lost && proof->queued == 0,
        "%s: the kernel counts %" PRIu64 " delivered, %" PRIu64 " lost, %" PRIu64 " queued",
        m->name, proof->delivered, proof->lost, proof->queued);
}

static int observe(struct rtnl *r, int n, const struct net_impair *impair, struct seen *seen,
                   struct net_flow_proof *proof, struct err *err)
{
    struct traffic_arrival *arrivals = xcalloc(2 * PACKETS, sizeof(*arrivals));
    int64_t *sent_ns = xcalloc(PACKETS, sizeof(*sent_ns));
    struct traffic t;
    bool seeded;
    int status = -1;

    if (traffic_open(&t, r, n, err) == 0 &&
        netem_install(r, t.from, impair, 1, TRAFFIC_MAX_BYTES / 2, &seeded, err) == 0 &&
        traffic_send(&t, PACKETS, PAUSE_NS, sent_ns, err) == 0 && traffic_drain(&t, r, err) == 0 &&
        netem_read(r, t.from, impair, proof, err) == 0) {
        *seen = look(arrivals, traffic_take(&t, arrivals, (size_t)2 * PACKETS), sent_ns);
        traffic_close(&t);
        status = 0;
    }
    free(arrivals);
    free(sent_ns);
    return status;
}

static void test_model(struct rtnl *r, int n, const struct model *m)
{
    struct net_flow_proof proof = {0};
    struct arena arena = ARENA_INIT;
    struct net_impair impair;
    struct err err = {0};
    struct seen seen;

    if (net_impair_parse_words(&impair, m->words, &arena, &err) < 0 ||
        observe(r, n, &impair, &seen, &proof, &err) < 0)
        tap(false, "%s (%s): %s", m->name, m->words, err.msg);
    else
        judge(m, &impair, &seen, &proof);
    arena_release(&arena);
}

void test_statistically(struct rtnl *r)
{
    for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++)
        test_model(r, (int)i, &models[i]);
}
