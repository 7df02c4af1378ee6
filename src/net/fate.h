/*
 * fate: what netem decides for each packet. No I/O, no clock: time is an argument.
 *
 * The same decisions in the same order from the same random stream as the kernel's sch_netem
 * (net/sched/sch_netem.c, Linux 6.12): with one seed both back ends decide the same for the same
 * packets. Times are nanoseconds.
 */
#ifndef ABBA_NET_FATE_H
#define ABBA_NET_FATE_H

#include "base/err.h"
#include "model/network.h"

struct arena;

/* lfsr113 as the kernel's prandom seeds and steps it (include/linux/prandom.h, lib/random32.c). */
struct fate_random {
    uint32_t s1, s2, s3, s4;
};

void fate_random_seed(struct fate_random *r, uint64_t seed);
uint32_t fate_random_next(struct fate_random *r);

/* A distribution table in units of 8192 a standard deviation, as /usr/lib/tc/NAME.dist holds it. */
struct fate_table {
    const int16_t *values;
    size_t count;
};

/*
 * Reads NAME.dist from iproute2's folders (/usr/lib/tc, /usr/lib64/tc, /usr/share/tc, $TC_LIB_DIR).
 * ERR_CONFIG if it is missing (hint: the package iproute2) or malformed (file and line).
 */
int fate_table_read(struct fate_table *t, const char *name, struct arena *arena, struct err *err);

struct fate_correlated {
    uint32_t last, rho;
};

/* Counters of what was decided; conservation: offered + duplicated = delivered + lost + limit +
 * queued. */
struct fate_counts {
    uint64_t offered, delivered, lost, limit, duplicated, corrupted, reordered, ecn_marked;
};

/* One direction's generator: configuration, state, random stream. */
struct fate {
    const struct net_impair *impair;
    struct fate_table delay_table, slot_table;
    struct fate_random random;
    struct fate_correlated delay, loss, duplicate, corrupt, reorder;
    uint32_t loss_state; /* of the Markov models, 1..4 */
    uint32_t counter;    /* packets since the last reordered one */
    uint32_t limit;      /* packets; computed where not given */
    int64_t slot_next_ns;
    int32_t slot_packets_left, slot_bytes_left;
    struct fate_counts counts;
};

/* Sets up; reads tables. `packet_bytes` is the size that a computed limit assumes. */
int fate_init(struct fate *f, const struct net_impair *impair, uint64_t seed, uint32_t packet_bytes,
              struct arena *arena, struct err *err);

/* The packets of a queue as far as decisions need them. */
struct fate_queue {
    uint32_t length;     /* packets in it now */
    int64_t last_due_ns; /* largest due time of a packet in it; meaningless when empty */
};

/* One copy of a packet that goes into the queue. */
struct fate_copy {
    int64_t due_ns;
    bool at_head;  /* reordered: ahead of all others, due now */
    bool corrupt;  /* flip one bit */
    uint32_t bit;  /* which, modulo the packet's bits (not seeded in the kernel either) */
    bool ecn_mark; /* congestion experienced instead of lost */
};

#define FATE_COPIES 2

/*
 * Decides for a packet of `bytes` (with its 14-byte Ethernet header) that arrives at now_ns, and
 * updates the queue's figures as if the copies had been put in. Returns the number of copies, 0..2,
 * in the order in which they enter the queue (the duplicate before the original).
 */
int fate_decide(struct fate *f, int64_t now_ns, uint32_t bytes, bool ecn_capable,
                struct fate_queue *q, struct fate_copy copies[FATE_COPIES]);

/* When the packet at the head, due at due_ns, may leave: slots may hold it longer. */
int64_t fate_release_ns(struct fate *f, int64_t now_ns, int64_t due_ns, uint32_t bytes);

/* Packets of queue that the impairment needs: 1.5 * rate * (delay + jitter) / packet, at least
 * 1000. */
uint32_t fate_limit(const struct net_impair *impair, uint64_t rate_bit_s, uint32_t packet_bytes);

#endif
