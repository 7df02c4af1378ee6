/*
 * ring: an AF_PACKET socket on one device. Arriving packets are read from a ring that the kernel
 * fills (packet(7), TPACKET_V2), departing ones are sent in batches past the device's queueing
 * discipline. Packets that leave the device are not seen again.
 */
#ifndef ABBA_NET_RING_H
#define ABBA_NET_RING_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "base/err.h"

#define RING_FRAMES 16384u /* a ring of 4096 overflows when the reader waits for a processor */
#define RING_FRAME_BYTES 2048u
#define RING_BATCH 64

struct ring {
    int fd;
    unsigned char *frames; /* NULL: not listening */
    uint32_t next;
    uint64_t drops;
    uint32_t batch; /* packets put for sending */
    struct mmsghdr messages[RING_BATCH];
    struct iovec pieces[RING_BATCH];
};

/* A packet in the ring, from its Ethernet header on. */
struct ring_packet {
    const unsigned char *data;
    uint32_t bytes;   /* of the packet */
    uint32_t stored;  /* of them here: fewer if it was longer than a frame */
    int64_t real_ns;  /* CLOCK_REALTIME of its arrival */
    bool no_checksum; /* the sender left it to the device */
};

/* In the present network namespace. ERR_CONFIG if packet sockets are not permitted. */
int ring_open(struct ring *r, int ifindex, struct err *err);
void ring_close(struct ring *r);

/* Makes the ring, before ring_listen or in it: most of the time is waiting for the kernel (RCU). */
int ring_make(struct ring *r, struct err *err);

/* From now on arriving packets are kept. */
int ring_listen(struct ring *r, int ifindex, struct err *err);

/* Whether a packet is there. */
bool ring_ready(const struct ring *r);

/* The next packet, if one is there; it stays until ring_done. */
bool ring_next(const struct ring *r, struct ring_packet *p);
void ring_done(struct ring *r);

/* Puts a packet into the batch, which is not full; `data` is borrowed until ring_send. */
void ring_put(struct ring *r, void *data, uint32_t bytes);

/* Sends the batch and empties it. *lost: how many could not be sent. ERR_SYSTEM if none ever can.
 */
int ring_send(struct ring *r, uint32_t *lost, struct err *err);

/* Updates r->drops: packets that found the ring full. */
int ring_statistics(struct ring *r, struct err *err);

#endif
