/*
 * capacity: how many packets a second the user back end passes on this machine.
 */
#ifndef ABBA_NET_CAPACITY_H
#define ABBA_NET_CAPACITY_H

#include <stdint.h>

#include "base/err.h"
#include "model/network.h"

/*
 * Sends datagrams of `payload_bytes` (0: 1316) through a shaped loopback of its own, in a process
 * of its own, and measures the shaper's share of the time: *packets_s is what one processor passes
 * that does nothing else. Takes about 0.5 s. Rates and slots, which only hold packets back, are
 * left out and a delay is cut to 50 ms; `impair` may be NULL. `user_ns` as in namespace_permit.
 * Errors as those of wiring and shaper.
 */
int shaper_capacity(const struct net_impair *impair, uint32_t payload_bytes, int user_ns,
                    uint64_t *packets_s, struct err *err);

#endif
