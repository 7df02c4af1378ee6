/*
 * queue: the packets that are held, in the order in which they leave, with the memory they are in.
 *
 * Sorted by due time, first in first out on ties; a packet that goes to the head is before all
 * others, also before an earlier one at the head (as __qdisc_enqueue_head has it). Memory is
 * reserved when the queue is made and touched as the queue grows: nothing is allocated later.
 */
#ifndef ABBA_NET_QUEUE_H
#define ABBA_NET_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/*
 * Room for a packet of MTU 1500 with Ethernet header and VLAN tag. An odd number of cache lines, so
 * that the packets' first lines do not all compete for the same ones.
 */
#define QUEUE_FRAME_BYTES 1600u

/* Most packets that a queue can have, whatever limit is asked for: 400 MiB of frames. */
#define QUEUE_MAX_PACKETS 262144u

struct queue_packet {
    int64_t due_ns;   /* when it is to leave; the key, unless at_head */
    int64_t ready_ns; /* not before its arrival: what lateness is counted from */
    uint32_t frame;   /* number of its memory */
    uint32_t bytes;
    bool at_head;
};

struct queue_slot {
    int64_t key;
    uint64_t sequence; /* decides between equal keys */
    struct queue_packet packet;
};

/*
 * Packets that are due after all before them go to a list, others to a heap: where nothing
 * overtakes, no order has to be kept up (netem's queue does the same).
 */
struct queue {
    struct queue_slot *list, *heap;
    uint32_t list_first, list_length, heap_length;
    unsigned char *frames;
    uint32_t *spare; /* stack of frames that were given back */
    uint32_t spare_count;
    uint32_t fresh; /* frames from here on were never used */
    uint32_t frame_count;
    uint32_t length, high_water; /* of both */
    uint64_t sequence;
};

#define QUEUE_NO_FRAME UINT32_MAX

/* Room for `packets` frames, at most QUEUE_MAX_PACKETS. ERR_SYSTEM if there is no such memory. */
int queue_init(struct queue *q, uint32_t packets, struct err *err);
void queue_release(struct queue *q); /* safe on a zeroed one */

/* A frame's memory, from queue_frame_new to queue_frame_free; QUEUE_NO_FRAME if all are in use. */
uint32_t queue_frame_new(struct queue *q);
void queue_frame_free(struct queue *q, uint32_t frame);

static inline unsigned char *queue_frame(const struct queue *q, uint32_t frame)
{
    return q->frames + (uint64_t)frame * QUEUE_FRAME_BYTES;
}

/* Puts a packet, whose frame is one of this queue, in its place. */
void queue_put(struct queue *q, const struct queue_packet *p);

/* The packet that leaves next, or NULL. Valid until the next put or take. */
const struct queue_packet *queue_first(const struct queue *q);

/* Takes that packet out; its frame stays in use. Not on an empty queue. */
struct queue_packet queue_take(struct queue *q);

#endif
