/*
 * pace: how the shaper spends the time until the next packet is due. Decisions alone: no clock, no
 * sleep; times are arguments, in ns.
 *
 * A sleeping thread is woken late, in a virtual machine by 50 to 120 us. So a sleep ends early by
 * what wakes were late lately, and the rest is spun away, as far as a small share of one processor
 * lasts; where that is used up, the sleep ends early only by what nearly every wake is late.
 */
#ifndef ABBA_NET_PACE_H
#define ABBA_NET_PACE_H

#include <stdbool.h>
#include <stdint.h>

#define PACE_NEVER INT64_MAX

enum pace_way {
    PACE_GO,     /* something is due: no wait */
    PACE_SPIN,   /* look at the clock and at the ring until then */
    PACE_SLEEP,  /* until then; what arrives meanwhile can wait */
    PACE_LISTEN, /* until then or until something arrives; PACE_NEVER: only that */
};

struct pace_step {
    enum pace_way way;
    int64_t until_ns;
};

struct pace {
    double spin_share;                /* of one processor, to spin */
    double budget_ns;                 /* of it, what is left now */
    double late_high_ns, late_low_ns; /* 95 % and 25 % of the wakes are less late */
    int64_t last_ns;                  /* when the budget was filled up */
    int64_t window_ns;                /* when packets began to be counted */
    int64_t listened_ns;
    uint64_t window_packets;
    double packets_s;
};

/* `cpus`: how many the thread may use; with many a larger share goes into spinning. */
void pace_init(struct pace *p, int64_t now_ns, int cpus);

/* After a pass over the rings that ended at now_ns. */
void pace_passed(struct pace *p, int64_t now_ns, uint32_t packets);

/*
 * What to do now. `due_ns`: when the next packet is to leave (PACE_NEVER: none). `patient`: a
 * packet that arrives need not be looked at for 1 ms, as all are held for longer than that.
 */
struct pace_step pace_next(struct pace *p, int64_t now_ns, int64_t due_ns, bool patient);

/* After a sleep that was to end at until_ns and did, by itself, at now_ns. */
void pace_woke(struct pace *p, int64_t until_ns, int64_t now_ns);

/* After a spin of so long. */
void pace_spun(struct pace *p, int64_t spent_ns);

#endif
