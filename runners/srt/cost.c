#include "cost.h"

#include "../common/timing.h"
#include "arrivals.h"
#include "pace.h"
#include "payload.h"

#include <time.h>

enum { PAYLOADS = 300000 };

static double cpu_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static enum offer offer_nothing(void *user, uint32_t stream, int64_t now)
{
    (void)user, (void)stream, (void)now;
    return OFFER_TAKEN;
}

static void measure_pacing(const struct options *o, struct cost *c)
{
    struct pace p = {.rate_bps = o->rate_bps,
                     .duration_ns = o->duration_ns,
                     .payload = o->payload,
                     .streams = o->streams,
                     .offer = offer_nothing};
    double begun = cpu_s();

    pace_run(&p);
    c->pacing_cpu_s = cpu_s() - begun;
    c->pacing_s = (double)(p.ended_ns - p.started_ns) / 1e9;
    c->ticks = p.ticks;
}

static void measure_bare_sleeps(struct cost *c)
{
    int64_t at = clock_ns();
    double begun = cpu_s();

    for (uint64_t i = 0; i < c->ticks; i++) {
        struct timespec t;

        at += NS_PER_MS;
        t = (struct timespec){.tv_sec = at / NS_PER_S, .tv_nsec = at % NS_PER_S};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
    }
    c->bare_cpu_s = cpu_s() - begun;
}

static void measure_payloads(const struct options *o, struct cost *c)
{
    static uint8_t data[PAYLOAD_MOST];
    static struct arrivals in;
    double making, begun;
    struct payload p = {.kind = PAYLOAD_DATA};

    payload_prepare(data, o->payload, 0);
    begun = cpu_s();
    for (uint64_t i = 0; i < PAYLOADS; i++) {
        p.sequence = i;
        payload_write(data, o->payload, &p);
    }
    making = cpu_s() - begun;
    begun = cpu_s();
    for (uint64_t i = 0; i < PAYLOADS; i++) {
        p.sequence = i;
        payload_write(data, o->payload, &p);
        if (payload_read(data, o->payload, &p) && payload_intact(data, o->payload))
            arrivals_add(&in, p.sequence);
    }
    c->make_ns = making / PAYLOADS * 1e9;
    c->check_ns = (cpu_s() - begun - making) / PAYLOADS * 1e9;
}

void cost_measure(const struct options *o, struct cost *c)
{
    *c = (struct cost){0};
    measure_pacing(o, c);
    measure_bare_sleeps(c);
    measure_payloads(o, c);
}
