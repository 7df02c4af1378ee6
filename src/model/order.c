#include "model/order.h"

/* Element `i` of the base row 0, 1, k-1, 2, k-2, ... */
static size_t base_row(size_t k, size_t i)
{
    if (i == 0)
        return 0;
    return i % 2 == 1 ? (i + 1) / 2 : k - i / 2;
}

/*
 * The variant in slot `slot` (0..) of block `block` (0..). `first` shifts the start: the first
 * order alternates from profile to profile.
 */
static size_t block_slot(size_t k, size_t block, size_t first, size_t slot)
{
    size_t period = k % 2 == 0 ? k : 2 * k; /* an even k mirrors itself after half its rows */
    size_t turn = (block + first) % period;
    size_t row = turn / 2;
    size_t i = turn % 2 == 0 ? slot : k - 1 - slot;

    return (base_row(k, i) + row) % k;
}

uint64_t order_count(const struct plan *plan, size_t profile, enum sample_stage stage)
{
    const struct profile *p = &plan->profiles[profile];
    int blocks = 0;

    switch (stage) {
    case STAGE_WARMUP:
        blocks = p->warmup;
        break;
    case STAGE_MAIN:
        blocks = plan_pairs(plan, p);
        break;
    case STAGE_CONFIRM:
        blocks = plan_confirm(plan, p);
        break;
    }
    return (uint64_t)blocks * plan->variant_count;
}

struct order_step order_step(const struct plan *plan, size_t profile, enum sample_stage stage,
                             uint64_t n)
{
    size_t k = plan->variant_count;
    uint64_t block = n / k;
    size_t slot = (size_t)(n % k);
    struct order_step step = {.stage = stage, .slot = (uint32_t)slot + 1};

    if (stage == STAGE_CONFIRM)
        block += (uint64_t)plan_pairs(plan, &plan->profiles[profile]);
    if (stage != STAGE_WARMUP)
        step.pair = block + 1;
    step.variant = plan->import ? slot : block_slot(k, (size_t)block, profile, slot);
    return step;
}
