#include "net/lateness.h"

#include <math.h>

#define PARTS_BITS 5

static unsigned bucket_of(uint64_t ns)
{
    unsigned power, index;

    if (ns < LATENESS_PARTS)
        return (unsigned)ns;
    power = 63U - (unsigned)__builtin_clzll(ns) - PARTS_BITS;
    index = (power + 1) * LATENESS_PARTS + (unsigned)(ns >> power) - LATENESS_PARTS;
    return index < LATENESS_BUCKETS ? index : LATENESS_BUCKETS - 1;
}

/* The largest value that falls into the bucket. */
static int64_t upper_end(unsigned bucket)
{
    unsigned power = bucket / LATENESS_PARTS;
    int64_t part = bucket % LATENESS_PARTS;

    if (power == 0)
        return part;
    return ((part + LATENESS_PARTS + 1) << (power - 1)) - 1;
}

void lateness_add(struct lateness *l, int64_t late_ns)
{
    if (late_ns < 0)
        late_ns = 0;
    l->counts[bucket_of((uint64_t)late_ns)]++;
    l->total++;
    if (late_ns > l->max_ns)
        l->max_ns = late_ns;
}

int64_t lateness_quantile(const struct lateness *l, double share)
{
    uint64_t rank = (uint64_t)ceil(share * (double)l->total);
    uint64_t seen = 0;

    if (l->total == 0)
        return -1;
    if (rank == 0)
        rank = 1;
    for (unsigned i = 0; i < LATENESS_BUCKETS - 1; i++) {
        seen += l->counts[i];
        if (seen >= rank)
            return upper_end(i) < l->max_ns ? upper_end(i) : l->max_ns;
    }
    return l->max_ns;
}
