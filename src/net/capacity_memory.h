/*
 * capacity_memory: what a shaper's capacity was found to be here, so that it is measured once a
 * machine and network.
 *
 * One small file a network below $XDG_CACHE_HOME/abba/capacity (~/.cache/abba/capacity). Its name
 * is a hash of all that the figure hangs on: the machine's boot, abba's version, the processors
 * that may be used, the user's priority, the network. Files of earlier boots go when one is
 * written. Where no folder can be had, nothing is remembered, and nothing is said of it.
 */
#ifndef ABBA_NET_CAPACITY_MEMORY_H
#define ABBA_NET_CAPACITY_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "model/network.h"

/* Whether it is known; then *packets_s is not 0. */
bool capacity_recall(const struct network *network, uint64_t *packets_s);

void capacity_remember(const struct network *network, uint64_t packets_s);

#endif
