#include "net/fate.h"

static uint32_t step(uint32_t s, unsigned a, unsigned b, uint32_t mask, unsigned d)
{
    return ((s & mask) << d) ^ (((s << a) ^ s) >> b);
}

uint32_t fate_random_next(struct fate_random *r)
{
    r->s1 = step(r->s1, 6, 13, 4294967294U, 18);
    r->s2 = step(r->s2, 2, 27, 4294967288U, 2);
    r->s3 = step(r->s3, 13, 21, 4294967280U, 7);
    r->s4 = step(r->s4, 3, 12, 4294967168U, 13);
    return r->s1 ^ r->s2 ^ r->s3 ^ r->s4;
}

/* Each part needs a seed with a bit above its mask's zeros. */
static uint32_t at_least(uint32_t seed, uint32_t min)
{
    return seed < min ? seed + min : seed;
}

/* prandom_seed_state: no warm-up steps follow. */
void fate_random_seed(struct fate_random *r, uint64_t seed)
{
    uint32_t i = (uint32_t)((seed >> 32) ^ (seed << 10) ^ seed);

    r->s1 = at_least(i, 2);
    r->s2 = at_least(i, 8);
    r->s3 = at_least(i, 16);
    r->s4 = at_least(i, 128);
}

/* get_crandom: a fixed-point average of a fresh number and the last one. */
uint32_t fate_correlated_next(struct fate_correlated *c, struct fate_random *r)
{
    uint64_t fresh = fate_random_next(r);
    uint64_t weight;

    if (!c || c->rho == 0)
        return (uint32_t)fresh;
    weight = (uint64_t)c->rho + 1;
    c->last = (uint32_t)((fresh * ((1ULL << 32) - weight) + c->last * weight) >> 32);
    return c->last;
}
