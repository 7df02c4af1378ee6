/*
 * place: where a role runs: its process Z, its pipes, its sampler, its cgroup.
 *
 * A place lives as long as the series and serves one role after another. It follows one run of its
 * role from START to EMPTY; what several roles must do together is run.c's part.
 */
#ifndef ABBA_RUN_PLACE_H
#define ABBA_RUN_PLACE_H

#include "run/cgroup.h"
#include "run/counters.h"
#include "run/cpus.h"
#include "run/drain.h"
#include "run/launch.h"
#include "run/maps.h"
#include "run/netns.h"
#include "run/rss.h"
#include "run/run.h"

struct place {
    struct seat seat;
    struct cgroup cgroup;
    uint64_t cgroup_us; /* its usage when last read */
    struct drain out, err;
    struct rss rss;
    struct maps maps;
    struct netns netns;
    int write_fd[2]; /* the pipes' other ends, open until the role is empty: no end-of-file before
                      */

    /* of the present run */
    uint32_t run;
    const struct run_role *role; /* borrowed */
    struct role_outcome *o;      /* borrowed */
    bool started;                /* START was sent */
    bool armed;                  /* the program is about to exec, or has */
    bool ended;                  /* the root process has, or could not start */
    bool empty;                  /* nothing is left, or nothing was started */
    bool stop_sent, kill_sent;
    bool traced;         /* see RUN_LOOK_TRACED */
    pid_t host_pid, pid; /* of the root process: as abba sees it, as Z does */
    uint64_t started_ns;
    size_t look_from; /* readiness: see ready_pattern() */
    struct wire_tree tree;
    int counter_fd[WIRE_MAX_EVENTS];
    int32_t counter_errno[WIRE_MAX_EVENTS];
};

/* Takes all memory; `index` tells places apart. */
int place_open(struct place *p, struct launch *l, unsigned index, struct err *err);
void place_close(struct place *p);

/* Prepares for a run that may or may not start this role; `look`: how its processes are looked at.
 * Clears the outcome. */
void place_begin(struct place *p, const struct run_role *role, struct role_outcome *o, uint32_t run,
                 enum run_look look);

/*
 * Sends START. -1 only where abba cannot go on; what is wrong with the role is in its outcome.
 * `free_cpus`: where a role may run that asks for no CPUs; NULL: where Z may.
 */
int place_start(struct place *p, const struct counters *counters, int in_fd,
                const struct cpus *free_cpus, uint64_t now_ns, struct err *err);

/* Takes ARMED, if it has come: it wakes nobody. */
int place_hear_armed(struct place *p, const struct counters *counters, struct err *err);

/* Takes a message that has come from Z, and ARMED before it. */
int place_hear(struct place *p, const struct counters *counters, struct err *err);

/* Looks whether the role is ready now, and notes it. READY_NEVER sets the outcome's error. */
void place_look_ready(struct place *p);

/* One sample of its memory. */
void place_tick(struct place *p, uint64_t now_ns);

/* Sends a signal: SIGKILL to all processes, another to the root process. */
int place_kill(struct place *p, int sig, struct err *err);

/* After the last process: the rest of the output, counters and usage into the outcome. */
void place_finish(struct place *p, struct counters *counters);

#endif
