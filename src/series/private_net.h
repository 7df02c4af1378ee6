/*
 * private_net: the network of one run, from its profile: made before the run, proved after it.
 */
#ifndef ABBA_SERIES_PRIVATE_NET_H
#define ABBA_SERIES_PRIVATE_NET_H

#include "base/err.h"
#include "model/outcome.h"
#include "model/plan.h"
#include "model/sample.h"
#include "net/network.h"

/* In a namespace of its own every port is free. */
#define PRIVATE_PORT 40000

/*
 * Fills in what network_up wants. The seeds are common random numbers: those of the plan's seed,
 * the profile, the pair and the link, so both runs of a pair get the same. Borrows all it is given.
 */
void private_net_request(struct net_request *q, uint64_t series_seed, const struct profile *profile,
                         const struct runner *runner, uint64_t pair, int user_ns,
                         struct arena *arena);

/*
 * Before a profile's first run: a probe of round trips and losses against the model, and whether
 * the user back end passes as many packets as the profile's load offers (its parameters `rate` and
 * `payload`, or `message`; what has no rate offers none that is known). probe->reason says what
 * stands against it; texts are the arena's or the profile's. Takes about a second.
 */
int private_net_check(const struct net_request *q, const struct profile *profile,
                      const struct runner *runner, struct net_probe *probe, struct arena *arena,
                      struct err *err);

/*
 * Ends the run's network and puts the proof into the sample. A check that failed, a back end that
 * is not the profile's first (*backend, AUTO until there is one), a role that left the network, or
 * a proof that is not to be had makes the sample invalid and says so. `share_s`: CPU seconds that
 * all CPUs had during the run. What is left for the caller is network_kill.
 */
void private_net_prove(struct net *net, enum net_backend *backend, const struct outcome *outcome,
                       double share_s, struct sample *sample, struct arena *arena);

#endif
