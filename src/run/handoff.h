/*
 * handoff: short runs pass from hand to hand on one CPU.
 *
 * Between two runs the word goes from the program to Z, to abba, to Z and to the next program.
 * Where each of them wakes on another CPU that was idle, every wake costs an interrupt between
 * CPUs: on a virtual machine tens of microseconds each, a good part of a short run. While runs are
 * short, abba and Z therefore stay on one CPU, where nobody wakes before the other sleeps. The
 * program itself never inherits this: START names the CPUs that it may use. A run that lives to its
 * first memory sample frees both at once, so that the sampler never takes the program's CPU where
 * another is idle; and the CPU is chosen anew, by the kernel, some times a second.
 */
#ifndef ABBA_RUN_HANDOFF_H
#define ABBA_RUN_HANDOFF_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "run/cpus.h"

struct handoff {
    struct cpus own;   /* where abba may run; no bytes: it is not known, and nothing is done */
    pid_t other;       /* Z, while both stay together; else 0 */
    uint64_t since_ns; /* when they were brought together */
    uint64_t rest_ns;  /* not to be brought together again before this */
};

/* Learns where abba may run. */
void handoff_init(struct handoff *h);

/*
 * A run of one role is about to be started by `other` (as abba sees it). Returns the CPUs to be
 * named in START so that the program may use all that abba may, or NULL where both are free.
 */
const struct cpus *handoff_together(struct handoff *h, pid_t other, uint64_t now_ns);

/* Frees both. */
void handoff_apart(struct handoff *h);

/* The present run is not a short one: frees both, and leaves them free for a while. */
void handoff_rest(struct handoff *h, uint64_t now_ns);

#endif
