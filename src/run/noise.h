/*
 * noise: what else the machine did during a run.
 *
 * Files stay open and are read anew; a reading covers the time between two snapshots. CPU time
 * and steal time have steps of 10 ms, so snapshots are ten of these apart: a shorter run carries
 * the reading of the last whole window. `root` is "" for the real /proc and /sys, or a folder that
 * holds a copy.
 */
#ifndef ABBA_RUN_NOISE_H
#define ABBA_RUN_NOISE_H

#include <stddef.h>
#include <stdint.h>

#include "model/outcome.h"

#define NOISE_CPUS 64 /* of which frequency and throttling are read */
#define NOISE_WINDOW_NS 100000000

struct noise_snapshot {
    uint64_t at_ns;
    uint64_t psi_us;                       /* some task waited for a CPU */
    uint64_t steal, busy_ticks, all_ticks; /* of all CPUs */
    double own_s;                          /* CPU time of abba itself, in seconds */
    uint64_t throttled;                    /* thermal events, summed over CPUs */
};

struct noise {
    int psi_fd, stat_fd, load_fd; /* -1: this machine has none */
    int throttle_fd[NOISE_CPUS], frequency_fd[NOISE_CPUS];
    size_t throttle_count, frequency_count;
    double tick_s; /* seconds a tick of /proc/stat */
    double runs_s; /* CPU time of the runs since `last` */
    struct noise_snapshot last;
    struct noise_reading reading; /* of the window that ended with `last` */
    struct value load;
};

void noise_open(struct noise *n, const char *root);
void noise_close(struct noise *n);

/* Before a run and after it; both CLOCK_MONOTONIC. `cpu_s`: CPU time that the run used. */
void noise_begin(struct noise *n, uint64_t now_ns);
void noise_end(struct noise *n, uint64_t now_ns, double cpu_s, struct noise_reading *out);

#endif
