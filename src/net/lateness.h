/*
 * lateness: how late packets left, as a histogram of logarithmic buckets. No allocation, no clock.
 *
 * Each power of two has 32 buckets, so a quantile is at most 1/32 too high; the maximum is exact.
 */
#ifndef ABBA_NET_LATENESS_H
#define ABBA_NET_LATENESS_H

#include <stdint.h>

#define LATENESS_PARTS 32  /* buckets in a power of two; below 32 ns each ns has its own */
#define LATENESS_POWERS 36 /* up to 2^40 ns, 18 minutes; later ones share the last bucket */
#define LATENESS_BUCKETS (LATENESS_PARTS * LATENESS_POWERS)

struct lateness {
    uint64_t counts[LATENESS_BUCKETS];
    uint64_t total;
    int64_t max_ns;
};

/* Counts a packet; a negative lateness (it left early) counts as 0. */
void lateness_add(struct lateness *l, int64_t late_ns);

/*
 * The smallest bucket's upper end that at least `share` (0..1) of the packets did not exceed,
 * never above the maximum; -1 without packets.
 */
int64_t lateness_quantile(const struct lateness *l, double share);

#endif
