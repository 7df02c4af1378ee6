#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>

#include "base/clock.h"
#include "net/pace.h"
#include "net/shaper_parts.h"

#define PRIORITY 10 /* of SCHED_FIFO */

/* What a run looks at. */
struct watch {
    struct pollfd fds[1 + SHAPER_MAX_PORTS]; /* the control first */
    struct pace pace;
    bool patient;
};

static void watch_init(struct watch *w, const struct shaper *s, int control_fd)
{
    cpu_set_t cpus;
    int count = 1;

    if (sched_getaffinity(0, sizeof(cpus), &cpus) == 0)
        count = CPU_COUNT(&cpus);
    pace_init(&w->pace, clock_mono_ns(), count);
    w->fds[0] = (struct pollfd){.fd = control_fd, .events = POLLIN};
    w->patient = true;
    for (int i = 0; i < s->flow_count; i++) {
        w->fds[1 + i] = (struct pollfd){.fd = s->flows[i]->from->ring.fd, .events = POLLIN};
        w->patient = w->patient && s->flows[i]->patient;
    }
}

static int64_t next_ns(const struct shaper *s)
{
    int64_t next = PACE_NEVER;

    for (int i = 0; i < s->flow_count; i++) {
        const struct flow *f = s->flows[i];

        if (f->next_ns < next)
            next = f->next_ns;
        if (f->more)
            next = s->now_ns;
    }
    return next;
}

static bool any_ready(const struct shaper *s)
{
    for (int i = 0; i < s->flow_count; i++)
        if (ring_ready(&s->flows[i]->from->ring))
            return true;
    return false;
}

static void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static void spin(struct shaper *s, struct pace *pace, int64_t until_ns)
{
    int64_t began_ns = clock_mono_ns();
    int64_t now_ns = began_ns;

    while (now_ns < until_ns && !any_ready(s)) {
        relax();
        now_ns = clock_mono_ns();
    }
    pace_spun(pace, now_ns - began_ns);
}

static void nap(struct pace *pace, int64_t until_ns)
{
    struct timespec until = clock_ns_timespec(until_ns);

    if (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == 0)
        pace_woke(pace, until_ns, clock_mono_ns());
}

/* A device that is taken down or away wakes its socket with an error. */
static int check_ports(const struct watch *w, int count, struct err *err)
{
    for (int i = 1; i <= count; i++) {
        int error = 0;
        socklen_t size = sizeof(error);

        if (!(w->fds[i].revents & (POLLERR | POLLHUP | POLLNVAL)))
            continue;
        (void)getsockopt(w->fds[i].fd, SOL_SOCKET, SO_ERROR, &error, &size);
        return err_sys(err, ERR_SYSTEM, error, "the shaper's device failed");
    }
    return 0;
}

/*
 * poll and not epoll: it leaves no entry on a socket's wait queue while the shaper is awake, so a
 * packet that arrives then costs no wake-up. Returns 1 when the control has something to say.
 */
static int listen_until(struct shaper *s, struct watch *w, int64_t until_ns, struct err *err)
{
    int64_t now_ns = clock_mono_ns();
    struct timespec left = clock_ns_timespec(until_ns > now_ns ? until_ns - now_ns : 0);
    int count =
        ppoll(w->fds, 1 + (nfds_t)s->flow_count, until_ns == PACE_NEVER ? NULL : &left, NULL);

    if (count < 0)
        return errno == EINTR ? 0 : err_sys(err, ERR_SYSTEM, errno, "cannot wait for packets");
    if (count == 0 && until_ns > now_ns)
        pace_woke(&w->pace, until_ns, clock_mono_ns());
    if (count == 0)
        return 0;
    if (check_ports(w, s->flow_count, err) < 0)
        return -1;
    return w->fds[0].revents != 0;
}

/* Returns 1 when it is time to end. */
static int wait_for_work(struct shaper *s, struct watch *w, struct err *err)
{
    struct pace_step step = pace_next(&w->pace, s->now_ns, next_ns(s), w->patient);

    switch (step.way) {
    case PACE_SPIN:
        spin(s, &w->pace, step.until_ns);
        return 0;
    case PACE_SLEEP:
        nap(&w->pace, step.until_ns);
        return 0;
    case PACE_LISTEN:
        return listen_until(s, w, step.until_ns, err);
    case PACE_GO:
        break;
    }
    return 0;
}

/* What arrived before the end was offered, whether it still leaves or not. */
static int finish(struct shaper *s, struct err *err)
{
    bool more = true;

    while (more) {
        uint32_t packets;

        if (shaper_pass(s, &packets, err) < 0)
            return -1;
        more = false;
        for (int i = 0; i < s->flow_count; i++)
            more = more || s->flows[i]->more;
    }
    return 0;
}

static int loop(struct shaper *s, struct watch *w, struct err *err)
{
    int ended = 0;

    while (ended == 0) {
        uint32_t packets;

        if (shaper_pass(s, &packets, err) < 0)
            return -1;
        pace_passed(&w->pace, s->now_ns, packets);
        ended = wait_for_work(s, w, err);
    }
    return ended < 0 ? -1 : finish(s, err);
}

/* Real-time priority where it is allowed, exact timers everywhere; children get neither. */
int shaper_run(struct shaper *s, int control_fd, struct err *err)
{
    struct sched_param fifo = {.sched_priority = PRIORITY}, before;
    int policy = sched_getscheduler(0);
    bool raised = sched_getparam(0, &before) == 0 &&
                  sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &fifo) == 0;
    int slack = prctl(PR_GET_TIMERSLACK);
    struct watch w;
    int status;

    prctl(PR_SET_TIMERSLACK, 1UL);
    watch_init(&w, s, control_fd);
    status = loop(s, &w, err);
    if (slack > 0)
        prctl(PR_SET_TIMERSLACK, (unsigned long)slack);
    if (raised)
        (void)sched_setscheduler(0, policy, &before);
    return status;
}
