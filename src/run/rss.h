/*
 * rss: samples the resident memory of a role's whole tree.
 *
 * A tick lists the processes of the role's private /proc (with a pid namespace), or, every tenth
 * tick, walks the children of the role's process Z (without one), and reads `statm` of each through
 * a descriptor that stays open. Every tenth tick also reads the CPU time that each process has used
 * so far: what it adds up to can only be too low, and shows time that nobody waited for.
 *
 * A page that two processes share counts in both, but a process between vfork and exec, which has
 * its parent's memory, does not count. All memory is taken by rss_init().
 */
#ifndef ABBA_RUN_RSS_H
#define ABBA_RUN_RSS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "model/outcome.h"

#define RSS_PROCESSES 2048 /* that are followed at a time; more are not seen */
#define RSS_OPEN 64        /* of them with a descriptor that stays open */
#define RSS_POINTS 16384   /* kept of a run; when full, pairs are merged into their higher one */
#define RSS_WALK_EVERY 10  /* ticks */
/* Ticks: how long a process may be between vfork and exec where CPUs are scarce. */
#define RSS_YOUNG 200

struct rss_process {
    pid_t pid;
    int statm_fd;       /* -1: opened for each reading */
    bool listed;        /* by the present listing */
    uint8_t age;        /* readings, up to RSS_YOUNG */
    pid_t parent;       /* 0: not asked for */
    uint64_t pages;     /* resident, by the present tick */
    uint64_t cpu_ticks; /* user and system, of the process itself, when last read */
};

struct rss {
    int proc_fd;     /* borrowed */
    bool namespaced; /* proc_fd shows the role's processes and Z as process 1, nothing else */
    pid_t z_pid;     /* Z, as proc_fd shows it */
    long seek;       /* where a listing of proc_fd skips what is no process; 0: nowhere */
    uint64_t page_bytes, clock_ticks;
    struct rss_process *process; /* by ascending pid where namespaced */
    size_t count, open;
    char *listing; /* for getdents64 */
    uint64_t ticks;
    uint64_t peak_pages;
    uint64_t gone_cpu_ticks; /* of processes that have ended */
    uint32_t every;          /* ticks a kept point stands for */
    struct rss_point *point; /* RSS_POINTS */
    size_t point_count;
};

void rss_init(struct rss *r, int proc_fd, bool namespaced, pid_t z_pid);
void rss_release(struct rss *r);

/* Forgets the run before. */
void rss_begin(struct rss *r);

/* One sample; `at_ns` is since the role's exec. */
void rss_tick(struct rss *r, uint64_t at_ns);

/*
 * After rss_tick(), for what looks closer: whether it is process i's turn. That is at its first two
 * ticks, and for all processes at each of the first 31 ticks and then ever more rarely, 16 times
 * while the run doubles its length.
 */
bool rss_is_turn(const struct rss *r, size_t i);

/* Closes what is still open and fills in samples, sampled_rss_bytes, rss, rss_count, rss_room and
 * cpu.sampled_s of the outcome. The points belong to `r` and stay until the next rss_begin(). */
void rss_end(struct rss *r, struct role_outcome *o);

#endif
