/*
 * rtnl: links, addresses, neighbours, queueing disciplines and filters over rtnetlink
 * (rtnetlink(7), libmnl). Speaks to the network namespace that the caller was in when it opened the
 * socket.
 *
 * Every function waits for the kernel's answer. Errors are ERR_SYSTEM with errno, name the device
 * and carry the kernel's own sentence where it gives one.
 */
#ifndef ABBA_NET_RTNL_H
#define ABBA_NET_RTNL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct rtnl;

#define RTNL_MAC_BYTES 6
#define RTNL_NAME_BYTES 16 /* with the NUL: IFNAMSIZ */
#define RTNL_OPTIONS_MAX                                                                           \
    0xf000u /* bytes of a discipline's options: below a u16 with its header                        \
             */

int rtnl_open(struct rtnl **r, struct err *err);
void rtnl_close(struct rtnl *r); /* safe on NULL */

/* A link as the kernel has it now. Counters are since the link was made. */
struct rtnl_link {
    int ifindex;
    char name[RTNL_NAME_BYTES];
    unsigned char mac[RTNL_MAC_BYTES];
    uint32_t mtu, gso_max_segs;
    bool up;
    uint64_t rx_packets, tx_packets, rx_dropped, tx_dropped;
};

int rtnl_link_find(struct rtnl *r, const char *name, struct rtnl_link *out, struct err *err);

/* A veth pair; the peer goes to the namespace `peer_ns`, or stays here (-1). Both are down. */
int rtnl_veth(struct rtnl *r, const char *name, const char *peer, int peer_ns, struct err *err);

/* Sets MTU and segments a packet may have on its way through the stack (1: no GSO), and sets it up.
 */
int rtnl_link_up(struct rtnl *r, const char *name, uint32_t mtu, uint32_t gso_max_segs,
                 struct err *err);

/* "10.213.0.1" or "fd00:213::1" with its prefix length; no duplicate address detection. */
int rtnl_address(struct rtnl *r, const char *name, const char *address, int prefix,
                 struct err *err);

/* Whether the kernel takes packets to the address as its own: an IPv6 address becomes that only
 * some time after it was added. */
int rtnl_is_local(struct rtnl *r, const char *address, bool *local, struct err *err);

/* A permanent neighbour, so that nobody asks for it. */
int rtnl_neighbour(struct rtnl *r, const char *name, const char *address,
                   const unsigned char mac[RTNL_MAC_BYTES], struct err *err);

/* clsact(8): the place for filters. */
int rtnl_clsact(struct rtnl *r, const char *name, struct err *err);

enum rtnl_hook { RTNL_INGRESS, RTNL_EGRESS };

/* Packets of a protocol (ETH_P_...) whose 32 bits at the offset of the network header are these. */
struct rtnl_match {
    uint16_t protocol;
    int offset;           /* a multiple of 4 */
    uint32_t value, mask; /* as a big-endian number */
};

/*
 * Every packet that passes `hook` of one device, or every one that matches, goes to `to_hook` of
 * another: u32 and mirred. `match` NULL: every one.
 */
int rtnl_redirect(struct rtnl *r, const char *name, enum rtnl_hook hook, const char *to,
                  enum rtnl_hook to_hook, const struct rtnl_match *match, struct err *err);

/* The discipline at the root of a device. `options` are the bytes inside TCA_OPTIONS. */
int rtnl_qdisc_add(struct rtnl *r, const char *name, const char *kind, const void *options,
                   size_t len, struct err *err);

struct rtnl_qdisc {
    char kind[RTNL_NAME_BYTES];
    unsigned char *options; /* in the caller's buffer of RTNL_OPTIONS_MAX bytes */
    size_t options_len;
    bool has_basic, has_queue; /* whether the kernel gave these statistics */
    uint64_t bytes, packets;   /* TCA_STATS_BASIC: what left the queue */
    uint32_t queued, drops, overlimits, requeues, backlog; /* TCA_STATS_QUEUE */
};

int rtnl_qdisc_get(struct rtnl *r, const char *name, struct rtnl_qdisc *out, struct err *err);

#endif
