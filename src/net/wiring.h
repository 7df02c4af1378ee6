/*
 * wiring: what is in a private network: devices, addresses, cables, and where packets are taken
 * off for shaping.
 *
 * loopback, one namespace. 127.0.0.1 and ::1 on lo, MTU 1500, one segment a packet. `eth0`, one end
 * of a veth pair whose other end leads nowhere, has an ordinary address for programs that ignore
 * loopback; what is sent to it passes lo like everything local. With the shaper in the path:
 *
 *     lo egress --mirred--> a0 ==veth== b0 <-- shaper --> b0 ==veth== a0 ingress --mirred--> lo
 *
 * pair, a namespace a role. `eth0` of each has the address; neighbours are fixed, so no ARP or
 * neighbour discovery is shaped. Without the shaper the two are one veth pair. With it:
 *
 *     eth0 ==veth== b0 <-- shaper --> b0 ==veth== eth0       (each pair in its own namespace)
 *
 * A kernel without IPv6 gives networks without it. Lost to the shaper's count of packets, on
 * purpose: in a pair, the kernel's reports of IPv6 groups, which are sent to lo instead.
 *
 * Everything here is done by the keeper, inside the namespaces it has made.
 */
#ifndef ABBA_NET_WIRING_H
#define ABBA_NET_WIRING_H

#include <stdbool.h>

#include "net/rtnl.h"

#define WIRING_MTU 1500
#define WIRING_PAIR 2

/* Addresses: of eth0 of namespace i. */
extern const char *const wiring_address4[WIRING_PAIR];
extern const char *const wiring_address6[WIRING_PAIR];

/* A network as it stands. */
struct wiring {
    int ns_count; /* 1: loopback, 2: pair */
    int ns[WIRING_PAIR];
    bool tapped; /* packets are taken off at b0 */
};

/* Where the shaper sits in namespace i: its end of the cable, and the address at the other. */
struct wiring_tap {
    int ifindex;
    unsigned char mac[RTNL_MAC_BYTES];
};

/* Makes the namespaces (namespace_permit() was called) and wires them. Ends in namespace 0. */
int wiring_loopback(struct wiring *w, bool tapped, struct err *err);
int wiring_pair(struct wiring *w, bool tapped, struct err *err);

/* Moves into namespace i and says where its tap is. For tapped networks. */
int wiring_tap(const struct wiring *w, int i, struct wiring_tap *tap, struct err *err);

/* The device on which a packet of namespace i begins its way: where a discipline is put. */
const char *wiring_device(const struct wiring *w);

/* Packets that links dropped up to now, in all namespaces. */
int wiring_drops(const struct wiring *w, uint64_t *drops, struct err *err);

#endif
