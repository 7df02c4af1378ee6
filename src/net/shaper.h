/*
 * shaper: the user back end. One thread that takes packets off one end of a veth pair, lets `fate`
 * decide, holds them until they are due and puts them back: net/wiring lays the cables.
 *
 * A port is an AF_PACKET socket on one device of the network namespace that the caller is in when
 * it opens the port; the socket stays there. A flow takes what arrives at one port and sends it out
 * of one: on a loopback network both are the same port, in a pair there is a flow a direction.
 * Used by the keeper process alone, so nothing here is thread-safe.
 */
#ifndef ABBA_NET_SHAPER_H
#define ABBA_NET_SHAPER_H

#include <stdint.h>

#include "base/err.h"
#include "model/netproof.h"
#include "model/network.h"

struct arena;
struct shaper;

#define SHAPER_MAX_PORTS 2
#define SHAPER_MAC_BYTES 6

int shaper_new(struct shaper **s, struct err *err);
void shaper_free(struct shaper *s); /* safe on NULL */

/*
 * Opens a port on a device of the present network namespace. `mac` is written to bytes 0-5 of every
 * packet that leaves here (the address of the other end of the cable: without it the packet is
 * dropped as another host's), or NULL: packets leave as they came. Returns the port's number from
 * 0, or -1: ERR_CONFIG where AF_PACKET is not permitted.
 */
int shaper_port(struct shaper *s, int ifindex, const unsigned char *mac, struct err *err);

/*
 * A flow from port to port; a port is the source of at most one flow. `impair` NULL: packets pass
 * untouched. `name` ("lo", "sender->receiver") and `impair` are borrowed and outlive the shaper.
 */
int shaper_flow(struct shaper *s, int from, int to, const char *name,
                const struct net_impair *impair, uint64_t seed, struct arena *arena,
                struct err *err);

/*
 * Shapes until `control_fd` has something to read, or its other end is closed; reads nothing from
 * it. Allocates nothing while it runs. ERR_SYSTEM if the sockets fail.
 */
int shaper_run(struct shaper *s, int control_fd, struct err *err);

/*
 * One look at every flow: takes what has arrived, at most 256 packets each, and sends what is due.
 * *packets: how many it took. shaper_run does this; for probes that have their own clock.
 */
int shaper_pass(struct shaper *s, uint32_t *packets, struct err *err);

/*
 * What flow i (in the order of shaper_flow) did up to now: all but the loss interval. `unplanned`
 * counts packets that found the ring or the queue's memory full (PACKET_STATISTICS), were longer
 * than MTU 1500, or could not be sent. offered + duplicated = delivered + lost + limit + queued +
 * unplanned. `out->link` is `name`.
 */
int shaper_proof(struct shaper *s, int flow, struct net_flow_proof *out, struct err *err);

#endif
