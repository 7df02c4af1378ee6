/*
 * proof: whether what happened to the packets is what was asked. No I/O.
 */
#ifndef ABBA_NET_PROOF_H
#define ABBA_NET_PROOF_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"
#include "model/netproof.h"
#include "model/network.h"

/*
 * Successes that n independent trials of probability p give: outside [*low, *high] with a
 * probability of at most 10^-6 on each side. Exact tails of the binomial distribution, summed from
 * the far end (terms below 10^-30 left out).
 */
void proof_binomial(uint64_t n, double p, uint64_t *low, uint64_t *high);

/*
 * The losses that the model allows for the packets of this flow, into lost_low and lost_high:
 * random loss by proof_binomial; Gilbert-Elliott, from 100 expected losses and deliveries on, by
 * the normal distribution with the variance of its Markov chain. Models for which neither holds
 * (correlated random loss, 4-state), and counts that hold other things than losses (ECN; drops of
 * the kernel back end where a limit may bite) leave has_loss_interval false.
 */
void proof_loss_interval(struct net_flow_proof *f, const struct net_impair *impair, bool kernel);

/*
 * The first check that fails, as one line in the arena, or NULL. For the user back end:
 * offered + duplicated = delivered + lost + limit + queued, no unplanned drop, lateness within the
 * bound; for both the loss interval.
 */
const char *proof_check(const struct net_flow_proof *f, const struct net_bound *bound, bool kernel,
                        struct arena *arena);

#endif
