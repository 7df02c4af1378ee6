#include "run/handoff.h"

#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"

#define TOGETHER_NS ((uint64_t)(100 * NSEC_PER_MSEC)) /* then the CPU is chosen anew */
#define REST_NS ((uint64_t)(20 * NSEC_PER_MSEC))      /* after a run that was not short */

void handoff_init(struct handoff *h)
{
    long n;

    *h = (struct handoff){.own = {.bytes = 0}};
    n = syscall(SYS_sched_getaffinity, 0, sizeof(h->own.bits), h->own.bits);
    if (n > 0)
        h->own.bytes = (size_t)n;
}

static int bind_to(const struct handoff *h, pid_t pid, const void *bits)
{
    return (int)syscall(SYS_sched_setaffinity, pid, h->own.bytes, bits);
}

void handoff_apart(struct handoff *h)
{
    if (h->other != 0) { /* Z may be gone by now */
        (void)bind_to(h, h->other, h->own.bits);
        (void)bind_to(h, 0, h->own.bits);
    }
    h->other = 0;
}

void handoff_rest(struct handoff *h, uint64_t now_ns)
{
    handoff_apart(h);
    h->rest_ns = now_ns + REST_NS;
}

const struct cpus *handoff_together(struct handoff *h, pid_t other, uint64_t now_ns)
{
    uint64_t here[WIRE_CPU_BYTES / 8] = {0};
    int cpu;

    if (h->other == other && now_ns < h->since_ns + TOGETHER_NS)
        return &h->own;
    if (h->other != 0 || now_ns < h->rest_ns) { /* for one run at least the kernel may choose */
        handoff_apart(h);
        return NULL;
    }
    cpu = sched_getcpu();
    if (cpu < 0 || (size_t)cpu >= h->own.bytes * 8 || other <= 0)
        return NULL;
    here[cpu / 64] = 1ull << (cpu % 64);
    if (bind_to(h, other, here) < 0 || bind_to(h, 0, here) < 0) {
        h->other = other; /* one may be bound already */
        handoff_apart(h);
        h->own.bytes = 0; /* not allowed here: not tried again */
        return NULL;
    }
    h->other = other;
    h->since_ns = now_ns;
    return &h->own;
}
