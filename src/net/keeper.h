/*
 * keeper: the process that holds a private network, and that network's back end.
 *
 * A fork of abba for one run. It enters the user namespace, makes and wires the network namespaces,
 * hands their descriptors over, shapes (user back end) or waits, and at the end reports what
 * happened to the packets. It dies with abba: by PDEATHSIG, or by end-of-file on its socket.
 * The messages never leave the machine, so they are the structs themselves (SOCK_SEQPACKET).
 */
#ifndef ABBA_NET_KEEPER_H
#define ABBA_NET_KEEPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "model/netproof.h"
#include "model/network.h"

#define KEEPER_MAX_NS 2
#define KEEPER_PACKET_BYTES 1514 /* a full packet as the back ends count it: MTU and MAC header */

/* What is to be made. Everything is borrowed; the fork has its own copy. */
struct keeper_order {
    bool pair;
    enum net_backend backend; /* as asked */
    int user_ns;
    /* By the namespace in which a packet begins its way; loopback has one. */
    const struct net_impair *impair[KEEPER_MAX_NS]; /* NULL: untouched */
    const char *name[KEEPER_MAX_NS];
    uint64_t seed[KEEPER_MAX_NS];
};

/* First message; the namespaces' descriptors come with it. */
struct keeper_ready {
    int status; /* -1: see err */
    struct err err;
    enum net_backend backend; /* as it became; NET_BACKEND_AUTO: nothing is in the packets' way */
    bool seeded;              /* the random stream is the seed's */
};

/* Second message, after a byte from abba. Names and roles are left to abba. */
struct keeper_report {
    int status; /* -1: see err */
    struct err err;
    struct net_flow_proof flow[KEEPER_MAX_NS];
    unsigned char flow_of[KEEPER_MAX_NS]; /* namespace in which flow i begins */
    size_t flow_count;
    struct net_counters counters[KEEPER_MAX_NS];
    uint64_t link_drops; /* in all namespaces, during the run */
    double cpu_s;        /* of the keeper, during the run */
};

/*
 * Forks the keeper. *control is abba's end of the socket, close-on-exec. 0 or -1.
 */
int keeper_start(const struct keeper_order *order, pid_t *pid, int *control, struct err *err);

#endif
