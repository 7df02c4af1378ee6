/*
 * fate_parts: the models that fate.c puts together. For src/net/fate*.c only.
 */
#ifndef ABBA_NET_FATE_PARTS_H
#define ABBA_NET_FATE_PARTS_H

#include "net/fate.h"

/* Whether the loss model takes this packet; steps its state (loss_event in sch_netem.c). */
bool fate_loss_event(struct fate *f);

/*
 * mean_ns plus a random part of the scale sigma_ns (tabledist): the table's value, or uniform over
 * [-sigma, sigma) without one. No draw where sigma is 0. `c` may be NULL: not correlated.
 */
int64_t fate_spread_ns(int64_t mean_ns, uint32_t sigma_ns, struct fate_correlated *c,
                       struct fate_random *r, const struct fate_table *t);

/* How long the line is busy with a packet of `bytes` (packet_time_ns); the rate is not 0. */
uint64_t fate_packet_time_ns(const struct fate *f, uint64_t bytes);

#endif
