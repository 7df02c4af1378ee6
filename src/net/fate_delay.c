#include "net/fate_parts.h"

#define SCALE 8192 /* NETEM_DIST_SCALE: a table's unit is a standard deviation / 8192 */
#define SECOND_NS 1000000000ULL

/* A table's value times sigma, rounded to the nearest without a product over 64 bits. */
static int64_t scaled_by(int64_t t, uint32_t sigma_ns)
{
    int64_t x = (int64_t)(sigma_ns % SCALE) * t;

    x += x >= 0 ? SCALE / 2 : -(SCALE / 2);
    return x / SCALE + (int64_t)(sigma_ns / SCALE) * t;
}

int64_t fate_spread_ns(int64_t mean_ns, uint32_t sigma_ns, struct fate_correlated *c,
                       struct fate_random *r, const struct fate_table *t)
{
    uint32_t rnd;

    if (sigma_ns == 0)
        return mean_ns;
    rnd = fate_correlated_next(c, r);
    if (t->count == 0)
        return rnd % (2 * sigma_ns) + mean_ns - (int64_t)sigma_ns;
    return scaled_by(t->values[rnd % t->count], sigma_ns) + mean_ns;
}

/*
 * Cells are whole: a packet fills the last one. Widths are the kernel's: the length and the product
 * with the second wrap at 64 bits, cells at 32.
 */
uint64_t fate_packet_time_ns(const struct fate *f, uint64_t bytes)
{
    const struct net_rate *rate = &f->impair->rate;
    uint64_t length = bytes + (uint64_t)(int64_t)rate->packet_overhead;

    if (rate->cell_bytes) {
        uint32_t cells = (uint32_t)length / rate->cell_bytes;

        if (length > cells * rate->cell_bytes)
            cells++;
        length = cells * (rate->cell_bytes + (uint32_t)rate->cell_overhead);
    }
    return length * SECOND_NS / f->rate_bytes_s;
}
