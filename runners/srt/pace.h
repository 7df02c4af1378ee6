/*
 * pace: offers payloads at a rate, in ticks of 1 ms. It sleeps from tick to tick: a sender that
 * spins would hide what the library costs.
 */
#ifndef SRT_PACE_H
#define SRT_PACE_H

#include <stdbool.h>
#include <stdint.h>

enum offer { OFFER_TAKEN, OFFER_FULL, OFFER_FAILED };

struct pace {
    uint64_t rate_bps;
    int64_t duration_ns;
    uint64_t payload; /* bytes */
    uint32_t streams;
    enum offer (*offer)(void *user, uint32_t stream, int64_t now);
    void (*tick)(void *user); /* before the offers of a tick; may be NULL */
    void *user;
    int64_t started_ns, ended_ns;
    uint64_t ticks;
};

/* Streams take turns; one that is full is not asked again within the tick. -1 if an offer failed.
 */
int pace_run(struct pace *p);

#endif
