/*
 * shaper_parts: what a shaper is made of, for src/net/shaper*.c alone: shaper.c moves packets,
 * shaper_run.c decides when to look again.
 */
#ifndef ABBA_NET_SHAPER_PARTS_H
#define ABBA_NET_SHAPER_PARTS_H

#include <pthread.h>
#include <stdbool.h>

#include "net/fate.h"
#include "net/lateness.h"
#include "net/queue.h"
#include "net/ring.h"
#include "net/shaper.h"

struct port {
    struct ring ring;
    bool making; /* a thread makes the ring, and leaves status and error here */
    pthread_t maker;
    int made;
    struct err made_err;
    int ifindex;
    bool has_mac;
    unsigned char mac[SHAPER_MAC_BYTES];
};

struct flow {
    const char *name;
    struct port *from, *to;
    uint64_t seed;
    bool shaped; /* has a fate */
    struct fate fate;
    struct fate_queue figures;
    struct queue queue;
    struct lateness lateness;
    uint64_t offered, delivered,
        unplanned;      /* offered: of unshaped flows, and what fate never saw */
    int64_t arrived_ns; /* the last packet */
    int64_t emptied_ns; /* when the ring was last seen empty */
    int64_t slot_ns;    /* when a slot let the next packet go */
    int64_t next_ns;    /* when to look at the queue again */
    bool patient;
    bool more; /* the last reading left packets in the ring */
    struct queue_packet batch[RING_BATCH];
};

struct shaper {
    struct port ports[SHAPER_MAX_PORTS];
    struct flow *flows[SHAPER_MAX_PORTS];
    int port_count, flow_count;
    int64_t now_ns, real_ahead_ns; /* CLOCK_MONOTONIC, and how far CLOCK_REALTIME is ahead of it */
};

#endif
