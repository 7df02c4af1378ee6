/*
 * run_parts: what a run is made of, for src/run/run*.c alone: run.c opens the host, waits and
 * serves, run_decide.c says what comes next.
 */
#ifndef ABBA_RUN_RUN_PARTS_H
#define ABBA_RUN_RUN_PARTS_H

#include <poll.h>

#include "base/clock.h"
#include "run/handoff.h"
#include "run/noise.h"
#include "run/place.h"
#include "run/run.h"

#define RUN_NEVER UINT64_MAX

struct run_host {
    struct launch launch;
    struct place *place;
    size_t place_count;
    struct counters counters;
    struct noise noise;
    struct handoff handoff;
    struct outcome outcome;
    uint32_t run; /* of this host; never 0 while one is on */
    uint64_t sample_ns;
    const volatile sig_atomic_t *interrupted;
    int wake_fd;
    struct pollfd *poll; /* of all places, and of wake_fd */

    /* of the present run */
    const struct run_request *request;
    uint64_t begin_ns;
    uint64_t next_tick_ns;
    uint64_t grace_ns; /* when what is left is ended; RUN_NEVER: not yet decided */
    uint64_t kill_ns;  /* when SIGKILL was sent; RUN_NEVER: not yet */
    bool stopped;      /* stop signals were sent */
    bool stuck_killed; /* children that had not come to their exec were killed, too */
};

static inline uint64_t run_now_ns(void)
{
    return (uint64_t)clock_mono_ns();
}

static inline size_t run_role_count(const struct run_host *h)
{
    return h->request->role_count;
}

/* Starts, stops and ends roles as it is time to. -1 only where abba cannot go on. */
int run_decide(struct run_host *h, uint64_t now, struct err *err);

/* A role has ended: whether it should have. */
void run_judge_end(struct run_host *h, struct place *p, uint64_t now);

/* Whether nothing of the run is left, and nothing to come. */
bool run_is_over(const struct run_host *h);

/* When to look again at the latest. */
uint64_t run_next_deadline(const struct run_host *h);

#endif
