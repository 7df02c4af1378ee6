/*
 * network_parts: what the two ways to write an impairment, JSON and tc's words, share.
 * For src/model/network*.c only.
 */
#ifndef ABBA_MODEL_NETWORK_PARTS_H
#define ABBA_MODEL_NETWORK_PARTS_H

#include "model/network.h"

#define NET_DELAY_MAX_NS (3600 * 1000000000LL)
#define NET_JITTER_MAX_NS INT32_MAX /* the kernel caps it there, silently */
#define NET_OVERHEAD_MIN (-42)      /* the shortest packet: Ethernet, IPv4 and UDP headers */
#define NET_OVERHEAD_MAX 65535
#define NET_CELL_MAX 65535
#define NET_RATE_MIN_BIT_S 8

/* Gilbert-Elliott's h from tc's "1-h", as tc turns it round. */
void net_loss_set_h(struct net_loss *loss, struct net_share not_h, struct arena *arena);

/*
 * Brings an impairment into its one form (see struct net_impair), or returns why it makes no sense:
 * a message; *key is then the key at fault.
 */
const char *net_impair_settle(struct net_impair *impair, const char **key);

#endif
