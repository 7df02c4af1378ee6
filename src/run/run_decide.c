/* What comes next in a run: who may start, and when and how it ends. */
#include "run/run_parts.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define GRACE_NS ((uint64_t)(200 * NSEC_PER_MSEC)) /* for what is left when a run is over */
#define STUCK_NS                                                                                   \
    ((uint64_t)(500 * NSEC_PER_MSEC)) /* after SIGKILL: a child may be stuck before exec */
#define LOST_NS ((uint64_t)(20 * NSEC_PER_SEC)) /* after SIGKILL: cannot be ended */

/* ---- what is the case ---- */

static bool all_started(const struct run_host *h)
{
    for (size_t i = 0; i < run_role_count(h); i++)
        if (!h->place[i].started)
            return false;
    return true;
}

static bool all_empty(const struct run_host *h)
{
    for (size_t i = 0; i < run_role_count(h); i++)
        if (!h->place[i].empty)
            return false;
    return true;
}

/* Whether every role that ends by itself has. */
static bool work_is_over(const struct run_host *h)
{
    for (size_t i = 0; i < run_role_count(h); i++)
        if (h->place[i].role->stop_signal == 0 && !h->place[i].ended)
            return false;
    return all_started(h);
}

static bool may_start(const struct run_host *h, size_t i)
{
    const struct place *p = &h->place[i];

    if (p->started)
        return false;
    for (size_t j = 0; j < run_role_count(h); j++)
        if ((p->role->after >> j & 1) != 0 && !h->place[j].o->ready)
            return false;
    return true;
}

/* ---- ending ---- */

/* The first reason why a run does not go as it should is the one that is told. */
static void end_run(struct run_host *h, enum run_end end, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static void end_run(struct run_host *h, enum run_end end, const char *fmt, ...)
{
    va_list ap;

    if (h->outcome.end != RUN_DONE)
        return;
    h->outcome.end = end;
    va_start(ap, fmt);
    vsnprintf(h->outcome.error, sizeof(h->outcome.error), fmt, ap);
    va_end(ap);
}

static int kill_all(struct run_host *h, uint64_t now, struct err *err)
{
    if (h->kill_ns != RUN_NEVER)
        return 0;
    h->kill_ns = now;
    for (size_t i = 0; i < run_role_count(h); i++)
        if (!h->place[i].empty && place_kill(&h->place[i], SIGKILL, err) < 0)
            return -1;
    return 0;
}

/* What is left may end by itself for a moment, and is then killed. */
static void begin_grace(struct run_host *h, uint64_t now)
{
    if (h->grace_ns == RUN_NEVER)
        h->grace_ns = now + GRACE_NS;
}

static int stop_roles(struct run_host *h, uint64_t now, struct err *err)
{
    if (h->stopped)
        return 0;
    h->stopped = true;
    begin_grace(h, now);
    for (size_t i = 0; i < run_role_count(h); i++) {
        struct place *p = &h->place[i];

        if (p->role->stop_signal != 0 && p->started && !p->ended &&
            place_kill(p, p->role->stop_signal, err) < 0)
            return -1;
    }
    return 0;
}

/* "exited with status 3", "was ended by signal 11 (Segmentation fault)" */
static void describe_end(const struct role_outcome *o, char *out, size_t size)
{
    if (o->end == ROLE_SIGNALED || o->end == ROLE_KILLED)
        snprintf(out, size, "was ended by signal %d (%s)", o->signal, strsignal(o->signal));
    else
        snprintf(out, size, "exited with status %d", o->exit_code);
}

/* A role that has ended where it should not have. */
void run_judge_end(struct run_host *h, struct place *p, uint64_t now)
{
    const struct role_outcome *o = p->o;
    char how[96];

    if (o->end == ROLE_START_FAILED) {
        end_run(h, RUN_FAILED, "role '%s': %s", o->name, o->error);
        h->grace_ns = now;
        return;
    }
    if (h->kill_ns != RUN_NEVER)
        return;
    describe_end(o, how, sizeof(how));
    if (!o->ready && p->role->ready != RUN_READY_AT_ONCE) {
        end_run(h, RUN_NOT_READY, "role '%s' %s before it was ready", o->name, how);
        h->grace_ns = now;
    } else if ((o->end == ROLE_SIGNALED || (o->end == ROLE_EXITED && o->exit_code != 0)) &&
               !work_is_over(h)) {
        end_run(h, RUN_FAILED, "role '%s' %s while others were running", o->name, how);
        begin_grace(h, now);
    }
}

static void judge_overrun(struct run_host *h)
{
    for (size_t i = 0; i < run_role_count(h); i++) {
        const struct place *p = &h->place[i];

        if (p->started && !p->ended && p->stop_sent)
            end_run(h, RUN_FAILED, "role '%s' did not end within 200 ms of signal %d (%s)",
                    p->role->name, p->role->stop_signal, strsignal(p->role->stop_signal));
    }
}

static void judge_readiness(struct run_host *h, struct place *p, uint64_t now)
{
    if (!p->started || p->ended || p->o->ready)
        return;
    if (p->o->error[0] != '\0') { /* the pattern gave up */
        end_run(h, RUN_NOT_READY, "role '%s': %s", p->o->name, p->o->error);
        h->grace_ns = now;
    } else if (p->role->ready != RUN_READY_AT_ONCE && p->role->ready_timeout_ns != 0 &&
               now >= p->started_ns + p->role->ready_timeout_ns) {
        snprintf(p->o->error, sizeof(p->o->error), "not ready within %.3g s",
                 (double)p->role->ready_timeout_ns / 1e9);
        end_run(h, RUN_NOT_READY, "role '%s' was %s", p->o->name, p->o->error);
        h->grace_ns = now;
    }
}

/* Children that never came to their exec hold their Z, which then hears no KILL. */
static int judge_stuck(struct run_host *h, uint64_t now, struct err *err)
{
    if (h->kill_ns == RUN_NEVER || now < h->kill_ns + STUCK_NS)
        return 0;
    if (now >= h->kill_ns + LOST_NS)
        return err_set(err, ERR_SYSTEM, "processes of a run cannot be ended, even by SIGKILL");
    for (size_t i = 0; i < run_role_count(h) && !h->stuck_killed; i++) {
        const struct place *p = &h->place[i];

        if (p->armed && !p->ended && p->host_pid > 0)
            kill(p->host_pid, SIGKILL);
    }
    h->stuck_killed = true;
    return 0;
}

/* ---- deciding what comes next ---- */

/* Where a role may run that asks for no CPUs; NULL: wherever Z may. */
static const struct cpus *free_cpus(struct run_host *h, const struct place *p)
{
    if (run_role_count(h) > 1 || p->role->cpus != NULL || p->role->net_fd >= 0) {
        handoff_apart(&h->handoff);
        return NULL;
    }
    return handoff_together(&h->handoff, p->seat.host_pid, run_now_ns());
}

static int start_roles(struct run_host *h, struct err *err)
{
    for (size_t i = 0; i < run_role_count(h); i++)
        if (may_start(h, i)) {
            struct place *p = &h->place[i];

            if (place_start(p, &h->counters, h->request->stdin_fd, free_cpus(h, p), run_now_ns(),
                            err) < 0)
                return -1;
            if (p->ended)
                run_judge_end(h, p, run_now_ns());
        }
    return 0;
}

int run_decide(struct run_host *h, uint64_t now, struct err *err)
{
    const struct run_request *q = h->request;

    if (h->interrupted != NULL && *h->interrupted && h->kill_ns == RUN_NEVER) {
        end_run(h, RUN_INTERRUPTED, "interrupted");
        return kill_all(h, now, err);
    }
    if (q->timeout_ns != 0 && now >= h->begin_ns + q->timeout_ns && h->kill_ns == RUN_NEVER &&
        !work_is_over(h)) {
        end_run(h, RUN_TIMEOUT, "timed out after %.6g s", (double)q->timeout_ns / 1e9);
        return kill_all(h, now, err);
    }
    for (size_t i = 0; i < run_role_count(h); i++)
        judge_readiness(h, &h->place[i], now);
    if (h->outcome.end == RUN_DONE && start_roles(h, err) < 0)
        return -1;
    if (h->outcome.end == RUN_DONE && work_is_over(h) && stop_roles(h, now, err) < 0)
        return -1;
    if (now >= h->grace_ns && h->kill_ns == RUN_NEVER && !all_empty(h)) {
        judge_overrun(h);
        return kill_all(h, now, err);
    }
    return judge_stuck(h, now, err);
}

bool run_is_over(const struct run_host *h)
{
    if (!all_empty(h))
        return false;
    return h->outcome.end != RUN_DONE || work_is_over(h);
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

uint64_t run_next_deadline(const struct run_host *h)
{
    uint64_t t = h->next_tick_ns;

    if (h->kill_ns != RUN_NEVER)
        return earlier(t, h->kill_ns + (h->stuck_killed ? LOST_NS : STUCK_NS));
    t = earlier(t, h->grace_ns);
    if (h->request->timeout_ns != 0)
        t = earlier(t, h->begin_ns + h->request->timeout_ns);
    return t; /* readiness times out with the next tick */
}
