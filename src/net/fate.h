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

/* A distribution table in units of 8192 a standard deviation, as NAME.dist of iproute2 holds it. */
struct fate_table {
    const int16_t *values; /* NULL: uniform */
    size_t count;
};

#define FATE_TABLE_MAX 16384 /* NETEM_DIST_MAX: what the kernel takes */

/*
 * Reads NAME.dist from $TC_LIB_DIR, or else from iproute2's folders (/usr/lib/tc,
 * /usr/lib/TRIPLET/tc, /usr/lib64/tc, /usr/share/tc). "uniform" without a file is the empty table.
 * ERR_CONFIG if the file is missing (hint: the package iproute2) or malformed (file and line).
 */
int fate_table_read(struct fate_table *t, const char *name, struct arena *arena, struct err *err);

/* A generator whose numbers depend on the one before: rho is the correlation, 0 for none. */
struct fate_correlated {
    uint32_t last, rho;
};

uint32_t fate_correlated_next(struct fate_correlated *c, struct fate_random *r);

/*
 * Counters of what was decided: offered + duplicated = lost + limit + what entered the queue, and
 * that is delivered + queued. `delivered` is counted by whoever sends the packets on. A loss event
 * of a packet that was duplicated too takes one of the two. The kernel's own "drops" are lost
 * packets, packets over the limit and ECN marks together.
 */
struct fate_counts {
    uint64_t offered, delivered, lost, limit, duplicated, corrupted, ecn_marked;
    uint64_t reordered; /* overtook a packet in the queue: by reorder or by jitter */
};

/* One direction's generator: configuration, state, random stream. */
struct fate {
    const struct net_impair *impair; /* borrowed */
    struct fate_table delay_table, slot_table;
    struct fate_random random; /* the stream of all decisions */
    struct fate_random aside;  /* for what the kernel does not draw from its seeded stream */
    struct fate_correlated delay, loss, duplicate, corrupt, reorder;
    uint32_t loss_state; /* of the Markov models, 1..4 */
    uint32_t counter;    /* packets since the last reordered one */
    uint32_t limit;      /* packets; computed where not given */
    uint32_t jitter_ns;  /* at most INT32_MAX, as the kernel caps it */
    uint64_t rate_bytes_s;
    int64_t slot_next_ns; /* 0: no slots */
    int32_t slot_packets_left, slot_bytes_left;
    struct fate_counts counts;
};

/*
 * Sets up; reads tables. `packet_bytes` is the size that a computed limit assumes. What the kernel
 * takes from unseeded entropy (first value of a correlated generator, the bit that is flipped,
 * slots between min and max) comes from a second stream of the same seed, so that runs repeat.
 */
int fate_init(struct fate *f, const struct net_impair *impair, uint64_t seed, uint32_t packet_bytes,
              struct arena *arena, struct err *err);

/* The packets of a queue as far as decisions need them. */
struct fate_queue {
    uint32_t length;     /* packets in it now: fate_decide adds, whoever takes one out subtracts */
    int64_t last_due_ns; /* largest due time since it was empty; meaningless when empty */
};

/* One copy of a packet that goes into the queue. */
struct fate_copy {
    int64_t due_ns; /* may lie before now, where jitter is above delay: due at once */
    bool at_head;   /* reordered: ahead of all others, due now, no slot holds it */
    bool corrupt;   /* flip one bit */
    uint32_t bit;   /* which, below 8 * bytes; bit 0 is the lowest of the first byte */
    bool ecn_mark;  /* congestion experienced instead of lost */
};

#define FATE_COPIES 2

/*
 * Decides for a packet of `bytes` (with its 14-byte Ethernet header) that arrives at now_ns, and
 * updates the queue's figures as if the copies had been put in. Returns the number of copies, 0..2,
 * in the order in which they enter the queue (the duplicate before the original). The queue is
 * sorted by due time, first in first out on ties.
 */
int fate_decide(struct fate *f, int64_t now_ns, uint32_t bytes, bool ecn_capable,
                struct fate_queue *q, struct fate_copy copies[FATE_COPIES]);

/*
 * Whether the packet that is first by due time may leave at now_ns: returns a time not after now_ns
 * and counts it in its slot (so it must be sent), or the time at which to ask again. Not for copies
 * with at_head. Without slots it is due_ns.
 */
int64_t fate_release_ns(struct fate *f, int64_t now_ns, int64_t due_ns, uint32_t bytes);

/*
 * Packets of queue that the impairment needs: 1.5 * rate * (delay + jitter) / packet, at least 1000
 * (tc's default, too few for a long fast link). rate_bit_s 0: not known, 200,000 packets/s.
 */
uint32_t fate_limit(const struct net_impair *impair, uint64_t rate_bit_s, uint32_t packet_bytes);

#endif
