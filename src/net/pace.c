#include "net/pace.h"

#include <string.h>

#define BUSY_PACKETS_S 50000.0  /* above: no wake for a packet, but at intervals */
#define BUSY_SLEEP_NS 50000     /* of this length at least */
#define PATIENCE_NS 1000000     /* longest time without a look at the ring */
#define LISTEN_EVERY_NS 5000000 /* or at the other descriptors */
#define WINDOW_NS 1000000       /* for counting packets */
#define LATE_HIGH_NS 120000.0   /* first guess of how late a wake is */
#define LATE_MAX_NS 250000.0
#define LATE_STEP_NS 2000.0
#define BUDGET_MAX_NS 5e6

/* Spinning takes from what is measured where there are few processors. */
static double spin_share(int cpus)
{
    return cpus <= 2 ? 0.10 : cpus < 8 ? 0.25 : 0.50;
}

void pace_init(struct pace *p, int64_t now_ns, int cpus)
{
    memset(p, 0, sizeof(*p));
    p->spin_share = spin_share(cpus);
    p->late_high_ns = LATE_HIGH_NS;
    p->last_ns = p->window_ns = p->listened_ns = now_ns;
}

static void fill_up(struct pace *p, int64_t now_ns)
{
    p->budget_ns += (double)(now_ns - p->last_ns) * p->spin_share;
    if (p->budget_ns > BUDGET_MAX_NS)
        p->budget_ns = BUDGET_MAX_NS;
    p->last_ns = now_ns;
}

void pace_passed(struct pace *p, int64_t now_ns, uint32_t packets)
{
    int64_t window_ns = now_ns - p->window_ns;

    p->window_packets += packets;
    if (window_ns < WINDOW_NS)
        return;
    p->packets_s = 0.5 * (p->packets_s + (double)p->window_packets * 1e9 / (double)window_ns);
    p->window_packets = 0;
    p->window_ns = now_ns;
}

static struct pace_step listen(struct pace *p, int64_t now_ns, int64_t until_ns)
{
    p->listened_ns = now_ns;
    return (struct pace_step){PACE_LISTEN, until_ns};
}

struct pace_step pace_next(struct pace *p, int64_t now_ns, int64_t due_ns, bool patient)
{
    bool overdue = now_ns - p->listened_ns > LISTEN_EVERY_NS;
    int64_t early_ns;

    fill_up(p, now_ns);
    if (overdue)
        return listen(p, now_ns, due_ns < now_ns ? now_ns : due_ns);
    if (due_ns <= now_ns)
        return (struct pace_step){PACE_GO, now_ns};
    if (p->packets_s > BUSY_PACKETS_S)
        return (struct pace_step){PACE_SLEEP, now_ns + BUSY_SLEEP_NS};
    if (due_ns == PACE_NEVER)
        return listen(p, now_ns, PACE_NEVER);
    early_ns = (int64_t)(p->budget_ns >= p->late_high_ns ? p->late_high_ns : p->late_low_ns);
    if (due_ns - now_ns <= early_ns) {
        if (p->budget_ns >= (double)(due_ns - now_ns))
            return (struct pace_step){PACE_SPIN, due_ns};
        early_ns = 0;
    }
    if (patient && due_ns - now_ns < PATIENCE_NS)
        return (struct pace_step){PACE_SLEEP, due_ns - early_ns};
    return listen(p, now_ns, due_ns - early_ns);
}

/* Moves to the value that `share` of the samples are below. */
static void track(double *value, double sample, double share)
{
    *value += LATE_STEP_NS * (sample > *value ? share : share - 1.0);
    if (*value < 0.0)
        *value = 0.0;
    if (*value > LATE_MAX_NS)
        *value = LATE_MAX_NS;
}

void pace_woke(struct pace *p, int64_t until_ns, int64_t now_ns)
{
    double late_ns = (double)(now_ns - until_ns);

    track(&p->late_high_ns, late_ns, 0.95);
    track(&p->late_low_ns, late_ns, 0.25);
}

void pace_spun(struct pace *p, int64_t spent_ns)
{
    p->budget_ns -= (double)spent_ns;
}
