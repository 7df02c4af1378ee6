/*
 * networks: whether this machine can have the network that a profile asks for.
 */
#ifndef ABBA_CLI_NETWORKS_H
#define ABBA_CLI_NETWORKS_H

#include "base/err.h"
#include "model/profile.h"
#include "net/network.h"
#include "run/run.h"

/* What was found out so far; {0} at first. */
struct networks {
    bool looked;
    struct net_ability ability;
    const char *isolation; /* reached with networks */
};

/* A zygote whose user namespace networks can be made in, where abba is not root. */
int networks_host(struct run_host **host, struct err *err);

/* Whether the tables are there of the distributions that the profile's network names. */
int networks_find_tables(const struct profile *profile, struct err *err);

/* Looks once. `isolation` and all texts live as long as the arena. */
int networks_look(struct networks *n, struct arena *arena, struct err *err);

/* Why the network is not to be had here, or NULL. After networks_look. */
const char *networks_why_not(const struct networks *n, const struct network *network);

#endif
