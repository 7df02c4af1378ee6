#include "run/run_parts.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"

#define DEFAULT_SAMPLE_NS (5 * NSEC_PER_MSEC)
#define POLLS 4 /* sockets and pipes of a place that are waited for */

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

/* ---- the loop ---- */

static int tick(struct run_host *h, uint64_t now, struct err *err)
{
    uint32_t missed = 0;

    handoff_rest(&h->handoff, now);
    for (size_t i = 0; i < run_role_count(h); i++) {
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
        for (size_t i = 0; i < run_role_count(h); i++)
            if (h->place[i].started && !h->place[i].empty)
                h->place[i].o->missed_ticks += missed;
    }
    return 0;
}

static nfds_t fill_poll(struct run_host *h)
{
    nfds_t n = 0;

    for (size_t i = 0; i < run_role_count(h); i++) {
        const struct place *p = &h->place[i];
        const bool on = p->started && !p->empty;

        h->poll[n++] = (struct pollfd){.fd = on ? p->seat.sock : -1, .events = POLLIN};
        h->poll[n++] = (struct pollfd){.fd = on ? p->out.fd : -1, .events = POLLIN};
        h->poll[n++] = (struct pollfd){.fd = on ? p->err.fd : -1, .events = POLLIN};
        /* Others may wait for it. One role alone has the answer with the next message or tick. */
        h->poll[n++] = (struct pollfd){
            .fd = on && !p->armed && run_role_count(h) > 1 ? p->seat.armed_sock : -1,
            .events = POLLIN};
    }
    /* Once heeded it is not to be heard again: it stays readable. */
    h->poll[n++] =
        (struct pollfd){.fd = h->kill_ns == RUN_NEVER ? h->wake_fd : -1, .events = POLLIN};
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
        run_judge_end(h, p, run_now_ns());
    return 0;
}

static int wait_and_serve(struct run_host *h, struct err *err)
{
    const nfds_t n = fill_poll(h);
    const uint64_t deadline = run_next_deadline(h);
    uint64_t now = run_now_ns();
    struct timespec left = clock_ns_timespec(deadline > now ? (int64_t)(deadline - now) : 0);

    if (ppoll(h->poll, n, &left, NULL) < 0) {
        if (errno == EINTR)
            return 0;
        return err_sys(err, ERR_SYSTEM, errno, "cannot wait for the run");
    }
    for (size_t i = 0; i < run_role_count(h); i++)
        if (serve(h, i, err) < 0)
            return -1;
    now = run_now_ns();
    return now >= h->next_tick_ns ? tick(h, now, err) : 0;
}

/* From the exec of the role started last to the exit of the last role that ends by itself. */
static uint64_t wall_time(const struct run_host *h)
{
    uint64_t first = 0, last = 0;

    for (size_t i = 0; i < run_role_count(h); i++) {
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
    h->grace_ns = h->kill_ns = RUN_NEVER;
    for (size_t i = 0; i < request->role_count; i++)
        place_begin(&h->place[i], &request->roles[i], &h->outcome.roles[i], h->run, request->look);
    h->outcome.started_unix_ns = (uint64_t)clock_real_ns();
    h->begin_ns = run_now_ns();
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
        if (run_decide(h, run_now_ns(), err) < 0)
            return -1;
        if (run_is_over(h))
            break;
        if (wait_and_serve(h, err) < 0)
            return -1;
    }
    for (size_t i = 0; i < run_role_count(h); i++)
        place_finish(&h->place[i], &h->counters);
    h->outcome.wall_ns = wall_time(h);
    noise_end(&h->noise, run_now_ns(), cpu_of_roles(&h->outcome), &h->outcome.noise);
    *out = &h->outcome;
    return 0;
}
