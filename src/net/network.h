/*
 * network: one run's private network, from its namespaces to the proof that it did what was asked.
 *
 * network_up forks a keeper process (N in PROCESS's drawing) that makes anonymous network
 * namespaces, wires them, and either programs sch_netem or shapes packets itself until
 * network_down. The namespaces die with the keeper and the roles: the host's own network is never
 * touched, and nothing is left behind by a SIGKILL of abba at any moment.
 */
#ifndef ABBA_NET_NETWORK_H
#define ABBA_NET_NETWORK_H

#include "base/err.h"
#include "model/netproof.h"
#include "model/network.h"
#include "model/probes.h"

struct arena;
struct net;

#define NET_MAX_ROLES 8

struct net_request {
    const struct network *network;
    const char *const *roles; /* names, in the runner's order */
    size_t role_count;
    int user_ns;       /* user namespace to make it below, or -1 (root) */
    bool measure_anew; /* a probe's: the capacity, though it may be known */
    uint64_t
        seeds[NET_MAX_ROLES]; /* a link's seed each: loopback uses [0], a pair one a sending role */
};

/* What this machine can do; asked once a series. `reason` is NULL or why not, with sysctl or rule.
 */
struct net_ability {
    bool namespaces, kernel, user; /* private networks at all; sch_netem; the shaper's needs */
    const char *reason, *kernel_reason, *user_reason;
    const char *hint;
};

void net_look(struct net_ability *a, int user_ns, struct arena *arena);

/*
 * Whether the tables of all distributions that the network names are there and well-formed: found
 * before anything is made. ERR_CONFIG, with the file, the line and what is wrong.
 */
int net_find_tables(const struct network *network, struct err *err);

/*
 * Makes the network and waits until it is ready. ERR_CONFIG if the back end asked for is not to be
 * had here, ERR_MEASURE if the configuration read back is not what was asked, ERR_SYSTEM else.
 */
int network_up(struct net **net, const struct net_request *request, struct err *err);

/* Descriptor of the namespace of role i, for its START message; borrowed. */
int network_fd(const struct net *net, size_t role);

/* Address under which role i is reached by the others ("127.0.0.1", "10.0.0.2"); borrowed. */
const char *network_address(const struct net *net, size_t role);

/* Which back end it became; NET_BACKEND_AUTO: none, nothing is asked of the packets. */
enum net_backend network_backend(const struct net *net);

/*
 * Ends the network and fills in the proof (text in the arena). Its keeper then leaves by itself,
 * which takes the kernel some 25 ms a packet socket (packet_release waits for RCU, and uses no
 * processor meanwhile): network_kill waits for that, best after the pause before the next run.
 */
int network_prove(struct net *net, struct net_proof *proof, struct arena *arena, struct err *err);

/* network_prove and network_kill. */
int network_down(struct net *net, struct net_proof *proof, struct arena *arena, struct err *err);

/* Frees, without asking for anything; when it returns there is no keeper. Safe on NULL. */
void network_kill(struct net *net);

/*
 * Sends datagrams through a network of its own that is like the one asked for, and compares. Takes
 * about `packets` x 1 ms plus one delay.
 */
int network_probe(struct net_probe *probe, const struct net_request *request, int packets,
                  struct arena *arena, struct err *err);

#endif
