/*
 * netproof: what a run's network really did to its packets; `net` in a sample.
 */
#ifndef ABBA_MODEL_NETPROOF_H
#define ABBA_MODEL_NETPROOF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A count that the back end cannot tell; never a zero in its place. */
#define NET_UNKNOWN UINT64_MAX

/*
 * One direction. The kernel back end has one figure for all that it dropped: `lost` counts losses,
 * packets over the limit and ECN marks together; `limit`, `duplicated`, `corrupted`, `reordered`,
 * `ecn_marked` and `high_water` are NET_UNKNOWN where they were asked for (0 where they were not),
 * and so is `offered` where packets were duplicated or marked.
 */
struct net_flow_proof {
    const char *link; /* "lo", or "sender->receiver" */
    uint64_t seed;
    bool seeded; /* the random stream is the seed's: not with a kernel before 6.4 */
    uint64_t offered, delivered, lost, limit, duplicated, corrupted, reordered, ecn_marked, queued;
    uint64_t high_water; /* most packets in the queue */
    uint64_t unplanned;  /* ring or link drops: loss nobody asked for */
    int64_t late_p50_ns, late_p99_ns,
        late_max_ns; /* lateness; -1: not measured (kernel back end) */
    bool has_loss_interval;
    uint64_t lost_low, lost_high; /* what the model allows, 1 in 10^6 each side */
};

/* UDP and TCP counters of a namespace over the run. */
struct net_counters {
    const char *role; /* NULL: the one namespace */
    uint64_t udp_in_errors, udp_rcvbuf_errors, udp_sndbuf_errors, udp_csum_errors;
    uint64_t tcp_retransmits;
};

struct net_proof {
    const char *backend; /* "kernel" or "user"; NULL: the run had no network of its own */
    struct net_flow_proof *flows;
    size_t flow_count;
    struct net_counters *counters;
    size_t counter_count;
    double shaper_cpu_s; /* of the keeper, apart from the roles' */
    const char
        *failed; /* the check that failed, one line; NULL: the impairment was what was asked */
};

#endif
