/*
 * order: which variant runs in which slot, for the series that runs and for whoever checks it.
 *
 * Two variants alternate AB, BA; k variants run in Williams rows, each row followed by its mirror,
 * so that every variant follows every other equally often: after k blocks where k is even, after
 * 2k where it is odd. Source: E. J. Williams, "Experimental designs balanced for the estimation of
 * residual effects of treatments", Australian Journal of Scientific Research A 2 (1949).
 */
#ifndef ABBA_MODEL_ORDER_H
#define ABBA_MODEL_ORDER_H

#include "model/plan.h"
#include "model/sample.h"

#include <stddef.h>
#include <stdint.h>

/* Where one run stands in its profile. */
struct order_step {
    enum sample_stage stage;
    uint64_t pair;  /* 1.. over main and confirming stage; warm-ups: 0 */
    uint32_t slot;  /* 1.. within the block */
    size_t variant; /* index in the plan */
};

/* Number of runs of a stage of the profile with that index. */
uint64_t order_count(const struct plan *plan, size_t profile, enum sample_stage stage);

/* Step `n` (0..) of that stage. Of an imported series: as the variants are listed, in each pair. */
struct order_step order_step(const struct plan *plan, size_t profile, enum sample_stage stage,
                             uint64_t n);

#endif
