/*
 * timing: the clock, the round-trip estimator, the pacer, and a histogram of times.
 */
#ifndef COMMON_TIMING_H
#define COMMON_TIMING_H

#include <stdint.h>

enum { NS_PER_MS = 1000000, NS_PER_S = 1000000000, PACER_TICK_NS = NS_PER_MS };

/* CLOCK_MONOTONIC, nanoseconds. */
int64_t clock_ns(void);

/* Smoothed round-trip time and retransmission time-out as RFC 6298, with a floor of 20 ms (the
 * receiver may hold an acknowledgement back for 1 ms) and a ceiling of 1 s. */
struct rtt {
    int64_t smoothed_ns; /* 0 until the first sample */
    int64_t variation_ns;
    int64_t rto_ns;
};

void rtt_init(struct rtt *r);
void rtt_sample(struct rtt *r, int64_t ns);

/* Hands out bytes at a rate, in ticks of 1 ms; what is not taken within 20 ms is forfeited. A
 * pacer never spins: the caller sleeps until pacer_next_ns. */
struct pacer {
    uint64_t rate_bps; /* 0: unpaced */
    int64_t tick_ns;   /* the last tick that was credited */
    double credit;     /* bytes */
    double most;
};

/* burst_bytes: the least that the credit must be able to reach (one message). */
void pacer_init(struct pacer *p, uint64_t rate_bps, uint64_t burst_bytes, int64_t now);
void pacer_advance(struct pacer *p, int64_t now);

/* Takes bytes from the credit. Returns 1, or 0 when there is not enough. */
int pacer_take(struct pacer *p, uint64_t bytes);

/* When there will be more credit; INT64_MAX when unpaced. */
int64_t pacer_next_ns(const struct pacer *p);

/* Times from 1 ns to 2^40 ns in buckets at most 1/64 wide, of fixed size. */
enum { HISTOGRAM_SUB = 64, HISTOGRAM_BUCKETS = 36 * HISTOGRAM_SUB };

struct histogram {
    uint64_t total;
    uint64_t count[HISTOGRAM_BUCKETS];
};

void histogram_add(struct histogram *h, int64_t ns);

/* The time that a fraction q of the samples does not exceed, in ns (the bucket's middle); 0 if
 * there are none. */
double histogram_quantile(const struct histogram *h, double q);

#endif
