/*
 * traffic: numbered frames into one end of a veth pair, and what comes out of the other.
 */
#ifndef ABBA_TESTS_NETEM_TRAFFIC_H
#define ABBA_TESTS_NETEM_TRAFFIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct rtnl;

#define TRAFFIC_MAX_BYTES 1024u

/* Each frame has its own length, with its Ethernet header. */
uint32_t traffic_bytes(uint32_t seq);

/* The content of frame `seq`: an IPv4 header with ECT(0), the number. Returns its length. */
uint32_t traffic_frame(uint32_t seq, unsigned char out[TRAFFIC_MAX_BYTES]);

/* Its number; wrong where just these bits were flipped. */
uint32_t traffic_seq(const unsigned char *frame);

struct traffic {
    char from[16], to[16]; /* device names */
    int out_fd, in_fd;
    int from_index;
};

/* Makes the pair number `n`. Nothing but our frames passes it. */
int traffic_open(struct traffic *t, struct rtnl *r, int n, struct err *err);
void traffic_close(struct traffic *t);

/*
 * Sends frames 0 .. count-1, with a pause of `pause_ns` after every 500. sent_ns (may be NULL) gets
 * the real time just before each.
 */
int traffic_send(const struct traffic *t, uint32_t count, int64_t pause_ns, int64_t *sent_ns,
                 struct err *err);

/* Waits until the discipline is empty and everything has arrived. */
int traffic_drain(const struct traffic *t, struct rtnl *r, struct err *err);

struct traffic_arrival {
    uint32_t seq;
    uint32_t bits;   /* that differ from frame `seq` */
    bool marked;     /* congestion experienced */
    int64_t wall_ns; /* when the kernel took it in (real time) */
};

/*
 * Takes what has arrived; 0 when there is no more at the moment. A frame whose number was hit by a
 * flipped bit is found by its other copy of the number.
 */
size_t traffic_take(const struct traffic *t, struct traffic_arrival *out, size_t room);

#endif
