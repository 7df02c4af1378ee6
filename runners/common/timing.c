#include "timing.h"

#include <time.h>

enum { RTO_FIRST = 200 * NS_PER_MS, RTO_LEAST = 20 * NS_PER_MS, RTO_MOST = NS_PER_S };
enum { PACER_KEEP_MS = 20 };

int64_t clock_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * NS_PER_S + t.tv_nsec;
}

void rtt_init(struct rtt *r)
{
    *r = (struct rtt){.rto_ns = RTO_FIRST};
}

void rtt_sample(struct rtt *r, int64_t ns)
{
    int64_t off = r->smoothed_ns - ns;

    if (r->smoothed_ns == 0) {
        r->smoothed_ns = ns > 0 ? ns : 1;
        r->variation_ns = ns / 2;
    } else {
        r->variation_ns += ((off < 0 ? -off : off) - r->variation_ns) / 4;
        r->smoothed_ns -= off / 8;
    }
    r->rto_ns = r->smoothed_ns + 4 * r->variation_ns;
    if (r->rto_ns < RTO_LEAST)
        r->rto_ns = RTO_LEAST;
    if (r->rto_ns > RTO_MOST)
        r->rto_ns = RTO_MOST;
}

void pacer_init(struct pacer *p, uint64_t rate_bps, uint64_t burst_bytes, int64_t now)
{
    double kept = (double)rate_bps / 8 * PACER_KEEP_MS / 1e3;

    *p = (struct pacer){.rate_bps = rate_bps, .tick_ns = now};
    p->most = kept > (double)burst_bytes ? kept : (double)burst_bytes;
}

void pacer_advance(struct pacer *p, int64_t now)
{
    int64_t ticks = (now - p->tick_ns) / PACER_TICK_NS;

    if (p->rate_bps == 0 || ticks <= 0)
        return;
    p->tick_ns += ticks * PACER_TICK_NS;
    p->credit += (double)p->rate_bps / 8 * (double)ticks * PACER_TICK_NS / NS_PER_S;
    if (p->credit > p->most)
        p->credit = p->most;
}

int pacer_take(struct pacer *p, uint64_t bytes)
{
    if (p->rate_bps == 0)
        return 1;
    if (p->credit < (double)bytes)
        return 0;
    p->credit -= (double)bytes;
    return 1;
}

int64_t pacer_next_ns(const struct pacer *p)
{
    return p->rate_bps ? p->tick_ns + PACER_TICK_NS : INT64_MAX;
}

/* Bucket of a time: the first 64 are exact, then 64 to each power of two. */
static unsigned bucket_of(uint64_t ns)
{
    unsigned power;
    unsigned bucket;

    if (ns < HISTOGRAM_SUB)
        return (unsigned)ns;
    power = 63U - (unsigned)__builtin_clzll(ns) - 6; /* ns >> power is in 64..127 */
    bucket = (power + 1) * HISTOGRAM_SUB + (unsigned)((ns >> power) - HISTOGRAM_SUB);
    return bucket < HISTOGRAM_BUCKETS ? bucket : HISTOGRAM_BUCKETS - 1;
}

static double bucket_middle(unsigned bucket)
{
    unsigned power;

    if (bucket < HISTOGRAM_SUB)
        return bucket;
    power = bucket / HISTOGRAM_SUB - 1;
    return ((double)(HISTOGRAM_SUB + bucket % HISTOGRAM_SUB) + 0.5) * (double)(1ULL << power);
}

void histogram_add(struct histogram *h, int64_t ns)
{
    h->count[bucket_of(ns > 0 ? (uint64_t)ns : 0)]++;
    h->total++;
}

double histogram_quantile(const struct histogram *h, double q)
{
    uint64_t seen = 0;

    for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
        seen += h->count[i];
        if (h->count[i] && (double)seen >= q * (double)h->total)
            return bucket_middle(i);
    }
    return 0;
}
