#include "pace.h"

#include "../common/timing.h"
#include "options.h"

#include <string.h>
#include <time.h>

/*
 * What was not taken within so long is not offered any more. As long as some neighbour keeps the
 * sender from a processor now and then; a receiver that is behind is seen by what is pending.
 */
#define SAVED_S 0.2

static void sleep_until(int64_t ns)
{
    const struct timespec at = {.tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S};

    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
}

/* Offers as much as there is credit for. */
static int serve(struct pace *p, struct pacer *credit, uint32_t *next, int64_t now)
{
    bool full[STREAMS_MOST];
    uint32_t left = p->streams;

    memset(full, 0, p->streams);
    for (; left && credit->credit >= (double)p->payload; *next = (*next + 1) % p->streams) {
        if (full[*next])
            continue;
        switch (p->offer(p->user, *next, now)) {
        case OFFER_TAKEN:
            pacer_take(credit, p->payload);
            break;
        case OFFER_FULL:
            full[*next] = true;
            left--;
            break;
        case OFFER_FAILED:
            return -1;
        }
    }
    return 0;
}

int pace_run(struct pace *p)
{
    struct pacer credit;
    uint32_t next = 0;
    int64_t now = clock_ns();
    int rc = 0;

    pacer_init(&credit, p->rate_bps, p->payload, now);
    if (credit.most < (double)p->rate_bps / 8 * SAVED_S)
        credit.most = (double)p->rate_bps / 8 * SAVED_S;
    p->started_ns = now;
    while (rc == 0 && now - p->started_ns < p->duration_ns) {
        pacer_advance(&credit, now);
        if (p->tick)
            p->tick(p->user);
        rc = serve(p, &credit, &next, now);
        p->ticks++;
        sleep_until(pacer_next_ns(&credit));
        now = clock_ns();
    }
    p->ended_ns = now;
    return rc;
}
