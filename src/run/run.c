#include "run/run.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "run/handoff.h"
#include "run/noise.h"
#include "run/place.h"

#define DEFAULT_SAMPLE_NS (5 * NSEC_PER_MSEC)
#define GRACE_NS ((uint64_t)(200 * NSEC_PER_MSEC)) /* for what is left when a run is over */
#define STUCK_NS                                                                                   \
    ((uint64_t)(500 * NSEC_PER_MSEC)) /* after SIGKILL: a child may be stuck before exec */
#define LOST_NS ((uint64_t)(20 * NSEC_PER_SEC)) /* after SIGKILL: cannot be ended */
#define NEVER UINT64_MAX
#define POLLS 4 /* sockets and pipes of a place that are waited for */

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
    struct pollfd *poll; /* POLLS a place and one */

    /* of the present run */
    const struct run_request *request;
    uint64_t begin_ns;
    uint64_t next_tick_ns;
    uint64_t grace_ns; /* when what is left is ended; NEVER: not yet decided */
    uint64_t kill_ns;  /* when SIGKILL was sent; NEVER: not yet */
    bool stopped;      /* stop signals were sent */
    bool stuck_killed; /* children that had not come to their exec were killed, too */
};

static uint64_t now_ns(void)
{
    return (uint64_t)clock_mono_ns();
}

/* ---- opening and closing ---- */

const char *isolation_name(enum isolation isolation)
{
    static const char *const names[] = {
        [ISOLATION_AUTO] = "auto",
        [ISOLATION_PID_NAMESPACE] = "pid-namespace",
        [ISOLATION_SUBREAPER] = "subreaper",
    };

    return names[isolation];
}

static int open_places(struct run_host *h, size_t count, struct err *err)
{
    h->place = xcalloc(count, sizeof(*h->place));
    h->poll = xcalloc(POLLS * count + 1, sizeof(*h->poll));
    h->outcome.roles = xcalloc(count, sizeof(*h->outcome.roles));
    for (size_t i = 0; i < count; i++) {
        struct role_outcome *o = &h->outcome.roles[i];

        h->place_count++;
        if (place_open(&h->place[i], &h->launch, (unsigned)i, err) < 0)
            return -1;
        o->counters = xcalloc(h->counters.request_count + 1, sizeof(*o->counters));
    }
    return 0;
}

int run_host_open(struct run_host **host, const struct run_options *options, struct err *err)
{
    struct run_host *h = xcalloc(1, sizeof(*h));

    h->sample_ns = options->sample_ns != 0 ? options->sample_ns : DEFAULT_SAMPLE_NS;
    h->interrupted = options->interrupted;
    h->wake_fd = options->wake_fd;
    handoff_init(&h->handoff);
    noise_open(&h->noise, "");
    if (launch_open(&h->launch, options->isolation, options->users, err) < 0)
        goto fail;
    counters_init(&h->counters, &options->events, &counter_system);
    if (open_places(h, options->max_roles, err) < 0)
        goto fail;
    *host = h;
    return 0;
fail:
    run_host_close(h);
    *host = NULL;
    return -1;
}

void run_host_close(struct run_host *h)
{
    if (h == NULL)
        return;
    for (size_t i = 0; i < h->place_count; i++) /* Z sees the end and ends what it has */
        if (h->place[i].seat.sock >= 0)
            shutdown(h->place[i].seat.sock, SHUT_RDWR);
    handoff_apart(&h->handoff);
    launch_close(&h->launch);
    for (size_t i = 0; i < h->place_count; i++) {
        place_close(&h->place[i]);
        free(h->outcome.roles[i].counters);
    }
    counters_release(&h->counters);
    noise_close(&h->noise);
    free(h->outcome.roles);
    free(h->place);
    free(h->poll);
    free(h);
}

int run_find_isolation(enum isolation *found, struct err *err)
{
    struct launch launch;

    if (launch_open(&launch, ISOLATION_AUTO, false, err) < 0)
        return -1;
    *found = launch.isolation;
    launch_close(&launch);
    return 0;
}

enum isolation run_host_isolation(const struct run_host *h)
{
    return h->launch.isolation;
}

int run_host_user_namespace(const struct run_host *h)
{
    return h->launch.user_fd;
}

const struct machine_counter *run_host_counters(const struct run_host *h, size_t *count)
{
    *count = h->counters.request_count;
    return h->counters.request;
}

/* ---- what is the case ---- */

static size_t role_count(const struct run_host *h)
{
    return h->request->role_count;
}

static bool all_started(const struct run_host *h)
{
    for (size_t i = 0; i < role_count(h); i++)
        if (!h->place[i].started)
            return false;
    return true;
}

static bool all_empty(const struct run_host *h)
{
    for (size_t i = 0; i < role_count(h); i++)
        if (!h->place[i].empty)
            return false;
    return true;
}

/* Whether every role that ends by itself has. */
static bool work_is_over(const struct run_host *h)
{
    for (size_t i = 0; i < role_count(h); i++)
        if (h->place[i].role->stop_signal == 0 && !h->place[i].ended)
            return false;
    return all_started(h);
}

static bool may_start(const struct run_host *h, size_t i)
{
    const struct place *p = &h->place[i];

    if (p->started)
        return false;
    for (size_t j = 0; j < role_count(h); j++)
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
    if (h->kill_ns != NEVER)
        return 0;
    h->kill_ns = now;
    for (size_t i = 0; i < role_count(h); i++)
        if (!h->place[i].empty && place_kill(&h->place[i], SIGKILL, err) < 0)
            return -1;
    return 0;
}

/* What is left may end by itself for a moment, and is then killed. */
static void begin_grace(struct run_host *h, uint64_t now)
{
    if (h->grace_ns == NEVER)
        h->grace_ns = now + GRACE_NS;
}

static int stop_roles(struct run_host *h, uint64_t now, struct err *err)
{
    if (h->stopped)
        return 0;
    h->stopped = true;
    begin_grace(h, now);
    for (size_t i = 0; i < role_count(h); i++) {
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
static void judge_end(struct run_host *h, struct place *p, uint64_t now)
{
    const struct role_outcome *o = p->o;
    char how[96];

    if (o->end == ROLE_START_FAILED) {
        end_run(h, RUN_FAILED, "role '%s': %s", o->name, o->error);
        h->grace_ns = now;
        return;
    }
    if (h->kill_ns != NEVER)
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
    for (size_t i = 0; i < role_count(h); i++) {
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
    if (h->kill_ns == NEVER || now < h->kill_ns + STUCK_NS)
        return 0;
    if (now >= h->kill_ns + LOST_NS)
        return err_set(err, ERR_SYSTEM, "processes of a run cannot be ended, even by SIGKILL");
    for (size_t i = 0; i < role_count(h) && !h->stuck_killed; i++) {
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
    if (role_count(h) > 1 || p->role->cpus != NULL || p->role->net_fd >= 0) {
        handoff_apart(&h->handoff);
        return NULL;
    }
    return handoff_together(&h->handoff, p->seat.host_pid, now_ns());
}

static int start_roles(struct run_host *h, struct err *err)
{
    for (size_t i = 0; i < role_count(h); i++)
        if (may_start(h, i)) {
            struct place *p = &h->place[i];

            if (place_start(p, &h->counters, h->request->stdin_fd, free_cpus(h, p), now_ns(), err) <
                0)
                return -1;
            if (p->ended)
                judge_end(h, p, now_ns());
        }
    return 0;
}

static int decide(struct run_host *h, uint64_t now, struct err *err)
{
    const struct run_request *q = h->request;

    if (h->interrupted != NULL && *h->interrupted && h->kill_ns == NEVER) {
        end_run(h, RUN_INTERRUPTED, "interrupted");
        return kill_all(h, now, err);
    }
    if (q->timeout_ns != 0 && now >= h->begin_ns + q->timeout_ns && h->kill_ns == NEVER &&
        !work_is_over(h)) {
        end_run(h, RUN_TIMEOUT, "timed out after %.6g s", (double)q->timeout_ns / 1e9);
        return kill_all(h, now, err);
    }
    for (size_t i = 0; i < role_count(h); i++)
        judge_readiness(h, &h->place[i], now);
    if (h->outcome.end == RUN_DONE && start_roles(h, err) < 0)
        return -1;
    if (h->outcome.end == RUN_DONE && work_is_over(h) && stop_roles(h, now, err) < 0)
        return -1;
    if (now >= h->grace_ns && h->kill_ns == NEVER && !all_empty(h)) {
        judge_overrun(h);
        return kill_all(h, now, err);
    }
    return judge_stuck(h, now, err);
}

static bool is_over(const struct run_host *h)
{
    if (!all_empty(h))
        return false;
    return h->outcome.end != RUN_DONE || work_is_over(h);
}

/* ---- the loop ---- */

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t next_deadline(const struct run_host *h)
{
    uint64_t t = h->next_tick_ns;

    if (h->kill_ns != NEVER)
        return earlier(t, h->kill_ns + (h->stuck_killed ? LOST_NS : STUCK_NS));
    t = earlier(t, h->grace_ns);
    if (h->request->timeout_ns != 0)
        t = earlier(t, h->begin_ns + h->request->timeout_ns);
    return t; /* readiness times out with the next tick */
}

static int tick(struct run_host *h, uint64_t now, struct err *err)
{
    uint32_t missed = 0;

    handoff_rest(&h->handoff, now);
    for (size_t i = 0; i < role_count(h); i++) {
        if (h->place[i].started && place_hear_armed(&h->place[i], &h->counters, err) < 0)
            return -1;
        place_tick(&h->place[i], now);
        if (h->place[i].role->ready == RUN_READY_TCP || h->place[i].role->ready == RUN_READY_UDP)
            place_look_ready(&h->place[i]);
    }
    h->next_tick_ns += h->sample_ns;
    if (h->next_tick_ns <= now) {
        missed = (uint32_t)((now - h->next_tick_ns) / h->sample_ns) + 1;
        h->next_tick_ns += missed * h->sample_ns;
        for (size_t i = 0; i < role_count(h); i++)
            if (h->place[i].started && !h->place[i].empty)
                h->place[i].o->missed_ticks += missed;
    }
    return 0;
}

static nfds_t fill_poll(struct run_host *h)
{
    nfds_t n = 0;

    for (size_t i = 0; i < role_count(h); i++) {
        const struct place *p = &h->place[i];
        const bool on = p->started && !p->empty;

        h->poll[n++] = (struct pollfd){.fd = on ? p->seat.sock : -1, .events = POLLIN};
        h->poll[n++] = (struct pollfd){.fd = on ? p->out.fd : -1, .events = POLLIN};
        h->poll[n++] = (struct pollfd){.fd = on ? p->err.fd : -1, .events = POLLIN};
        /* Others may wait for it. One role alone has the answer with the next message or tick. */
        h->poll[n++] = (struct pollfd){
            .fd = on && !p->armed && role_count(h) > 1 ? p->seat.armed_sock : -1, .events = POLLIN};
    }
    /* Once heeded it is not to be heard again: it stays readable. */
    h->poll[n++] = (struct pollfd){.fd = h->kill_ns == NEVER ? h->wake_fd : -1, .events = POLLIN};
    return n;
}

/* Output first: what a role wrote before it ended counts. */
static int serve(struct run_host *h, size_t i, struct err *err)
{
    const struct pollfd *f = &h->poll[POLLS * i];
    struct place *p = &h->place[i];
    const bool had_ended = p->ended;

    if (f[1].revents != 0)
        drain_read(&p->out);
    if (f[2].revents != 0)
        drain_read(&p->err);
    if (f[3].revents != 0 && place_hear_armed(p, &h->counters, err) < 0)
        return -1;
    if (f[0].revents != 0) {
        if (place_hear(p, &h->counters, err) < 0)
            return -1;
        if (p->ended && !had_ended && !p->o->ready) {
            drain_read(&p->out);
            drain_read(&p->err);
        }
    }
    place_look_ready(p);
    if (p->ended && !had_ended)
        judge_end(h, p, now_ns());
    return 0;
}

static int wait_and_serve(struct run_host *h, struct err *err)
{
    const nfds_t n = fill_poll(h);
    const uint64_t deadline = next_deadline(h);
    uint64_t now = now_ns();
    struct timespec left = clock_ns_timespec(deadline > now ? (int64_t)(deadline - now) : 0);

    if (ppoll(h->poll, n, &left, NULL) < 0) {
        if (errno == EINTR)
            return 0;
        return err_sys(err, ERR_SYSTEM, errno, "cannot wait for the run");
    }
    for (size_t i = 0; i < role_count(h); i++)
        if (serve(h, i, err) < 0)
            return -1;
    now = now_ns();
    return now >= h->next_tick_ns ? tick(h, now, err) : 0;
}

/* From the exec of the role started last to the exit of the last role that ends by itself. */
static uint64_t wall_time(const struct run_host *h)
{
    uint64_t first = 0, last = 0;

    for (size_t i = 0; i < role_count(h); i++) {
        const struct role_outcome *o = h->place[i].o;

        if (o->end == ROLE_NOT_STARTED || o->end == ROLE_START_FAILED)
            return 0;
        if (o->start_ns > first)
            first = o->start_ns;
        if (h->place[i].role->stop_signal == 0 && o->end_ns > last)
            last = o->end_ns;
    }
    return last > first ? last - first : 0;
}

static void begin_run(struct run_host *h, const struct run_request *request)
{
    h->request = request;
    h->run = h->run == UINT32_MAX ? 1 : h->run + 1;
    h->outcome.end = RUN_DONE;
    h->outcome.error[0] = '\0';
    h->outcome.role_count = request->role_count;
    h->stopped = h->stuck_killed = false;
    h->grace_ns = h->kill_ns = NEVER;
    for (size_t i = 0; i < request->role_count; i++)
        place_begin(&h->place[i], &request->roles[i], &h->outcome.roles[i], h->run, request->look);
    h->outcome.started_unix_ns = (uint64_t)clock_real_ns();
    h->begin_ns = now_ns();
    noise_begin(&h->noise, h->begin_ns);
    h->next_tick_ns = h->begin_ns + h->sample_ns;
}

/* CPU time of all roles, in seconds. */
static double cpu_of_roles(const struct outcome *o)
{
    double sum = 0;

    for (size_t i = 0; i < o->role_count; i++)
        sum += o->roles[i].cpu.user_s + o->roles[i].cpu.system_s;
    return sum;
}

int run_execute(struct run_host *h, const struct run_request *request, const struct outcome **out,
                struct err *err)
{
    ABBA_ASSERT(request->role_count >= 1 && request->role_count <= h->place_count);
    begin_run(h, request);
    for (;;) {
        if (decide(h, now_ns(), err) < 0)
            return -1;
        if (is_over(h))
            break;
        if (wait_and_serve(h, err) < 0)
            return -1;
    }
    for (size_t i = 0; i < role_count(h); i++)
        place_finish(&h->place[i], &h->counters);
    h->outcome.wall_ns = wall_time(h);
    noise_end(&h->noise, now_ns(), cpu_of_roles(&h->outcome), &h->outcome.noise);
    *out = &h->outcome;
    return 0;
}
