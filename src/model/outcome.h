/*
 * outcome: what one run did, raw, as run/ saw it and measure/ reads it.
 *
 * Memory for all of it is taken once, before the first run; a run only fills it in.
 */
#ifndef ABBA_MODEL_OUTCOME_H
#define ABBA_MODEL_OUTCOME_H

#include "model/metric.h"

#include <stdint.h>

/* Head and tail of an output stream. */
#define CAPTURE_HEAD_BYTES (1u << 20)
#define CAPTURE_TAIL_BYTES (1u << 20)

struct capture {
    char *head; /* the first bytes, NUL behind them */
    size_t head_len;
    char *tail; /* the last bytes, in order (unrolled when the run ends), empty while all fits the
                   head */
    size_t tail_len;
    uint64_t total; /* all bytes written by the program */
    uint64_t cut;   /* total - head_len - tail_len */
};

/* Appends the kept text, head then tail, to `out`: the whole output where nothing was cut. */
struct buf;
int capture_text(const struct capture *c, struct buf *out);

struct rss_point {
    uint64_t at_ns; /* since the role's exec */
    uint64_t bytes; /* resident, summed over the role's tree */
};

struct counter_reading {
    const char *event; /* libpfm4 name as asked for, borrowed from the plan */
    struct value value;
};

/* A file that a process of a role had mapped executable; what its path led to at that moment. */
struct mapped_file {
    const char *path; /* as /proc/PID/maps has it: links resolved */
    uint64_t inode;   /* the mapping's */
    enum {
        MAPPED_HERE,     /* the path leads to it, as far as can be told */
        MAPPED_DELETED,  /* it has no path any more */
        MAPPED_ELSEWHERE /* the path leads to no file or to another one */
    } state;
    uint64_t device, real_inode, size; /* with MAPPED_HERE: stat(2) of the path */
    int64_t mtime_ns;
};

/* Where the CPU time of a role comes from, and whether two sources agree. */
struct cpu_reading {
    double user_s, system_s; /* waited-for tree, orphans included */
    struct value cgroup_s;   /* cpu.stat usage, where the role has a cgroup */
    struct value sampled_s;  /* last seen of each process in /proc: can only be too low */
    bool differ;             /* by more than 2 % and 5 ms */
};

enum role_end {
    ROLE_NOT_STARTED,  /* an earlier role failed */
    ROLE_START_FAILED, /* exec or a step before it: see error */
    ROLE_EXITED,       /* exit_code */
    ROLE_SIGNALED,     /* signal, not sent by abba */
    ROLE_STOPPED,      /* by its declared stop signal: a good end */
    ROLE_KILLED,       /* by abba: time-out, another role's failure, interruption */
    ROLE_IMPORTED,     /* abba did not run it: there is what it printed, and nothing else */
};

struct role_outcome {
    const char *name;
    enum role_end end;
    int exit_code, signal;
    char error[256]; /* ROLE_START_FAILED, not ready: what and why, one line; else empty */
    bool ready;      /* became ready (or needs no readiness) */
    uint64_t start_ns, end_ns; /* CLOCK_MONOTONIC: exec, exit of the root process */
    struct cpu_reading cpu;
    uint64_t peak_rss_bytes;    /* the larger of the next two */
    uint64_t sampled_rss_bytes; /* highest sum over the tree */
    uint64_t max_rss_bytes;     /* largest single ru_maxrss */
    uint64_t minor_faults, major_faults;
    uint64_t context_switches;      /* voluntary + involuntary, from rusage */
    uint32_t processes;             /* that were waited for */
    uint32_t leftovers;             /* ended by abba after the root process had exited */
    uint32_t samples, missed_ticks; /* of the RSS sampler */
    struct rss_point *rss;
    size_t rss_count, rss_room;
    char cpus[128]; /* read back from the kernel, list form */
    struct capture out, err;
    const struct mapped_file *mapped; /* of a run that was looked at: see run/maps.h */
    size_t mapped_count;
    bool mapped_cut;   /* there were more of them */
    uint64_t looks;    /* that saw a process of it */
    int look_errno;    /* why a process that was there could not be looked at; 0 */
    int trace_errno;   /* why a run that was to be traced was not; 0 */
    bool left_network; /* it was in another network namespace than the run's: see run/netns.h */
    struct counter_reading *counters;
    size_t counter_count;
};

/* Differences over a run, machine-wide. */
struct noise_reading {
    struct value psi_cpu;   /* share of the run with some task waiting for a CPU, 0..1 */
    struct value others;    /* share of CPU time used by processes that are not the run's, 0..1 */
    struct value steal;     /* share of CPU time stolen by the hypervisor, 0..1 */
    struct value throttled; /* thermal throttle events */
    struct value frequency; /* mean MHz over CPUs at the end */
    struct value load;      /* 1-minute load average at the start */
};

enum run_end { RUN_DONE, RUN_TIMEOUT, RUN_INTERRUPTED, RUN_NOT_READY, RUN_FAILED };

struct outcome {
    enum run_end end;
    char error[512];          /* one line, empty if RUN_DONE */
    uint64_t started_unix_ns; /* CLOCK_REALTIME */
    uint64_t wall_ns;         /* see PROCESS: last role's exec to the last good exit */
    struct role_outcome *roles;
    size_t role_count;
    struct noise_reading noise;
};

#endif
