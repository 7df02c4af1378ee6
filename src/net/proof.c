#include "net/proof.h"

#include <inttypes.h>
#include <math.h>

#define TAIL 1e-6
#define TAIL_SD 4.753424308822899 /* standard normal quantile of 1 - TAIL */
#define FAR_SD 13.0               /* further out lie terms below 1e-30 */
#define FAR_MORE 60.0
#define ENOUGH 100.0 /* losses and deliveries from which the normal distribution serves */

/* ---- intervals ---- */

static double log_term(double n, double p, double k)
{
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * log(p) + (n - k) * log1p(-p);
}

/* The largest k with P(X < k) <= TAIL. */
static uint64_t lower(uint64_t n, double p)
{
    double mean = (double)n * p;
    double from = floor(mean - FAR_SD * sqrt(mean * (1 - p)) - FAR_MORE);
    double sum = 0;
    uint64_t k = from > 0 ? (uint64_t)from : 0;

    for (; k < n; k++) {
        sum += exp(log_term((double)n, p, (double)k));
        if (sum > TAIL)
            break;
    }
    return k;
}

void proof_binomial(uint64_t n, double p, uint64_t *low, uint64_t *high)
{
    if (p <= 0 || p >= 1 || n == 0) {
        *low = *high = p >= 1 ? n : 0;
        return;
    }
    *low = lower(n, p);
    *high = n - lower(n, 1 - p); /* the failures' lower end */
}

/* A share as sch_netem uses it: share >= draw of 32 bits. */
static double happening(const struct net_share *share)
{
    return share->scaled ? ((double)share->scaled + 1) / 4294967296.0 : 0;
}

/* Two states with losses of their own; what is left of one packet's state at the next is `memory`.
 */
static bool gilbert(struct net_flow_proof *f, const struct net_loss *loss, double n)
{
    double p = (double)loss->p.scaled / 4294967296.0, r = (double)loss->r.scaled / 4294967296.0;
    double good = (double)loss->k.scaled / 4294967296.0;
    double bad = 1 - ((double)loss->h.scaled + 1) / 4294967296.0;
    double in_bad, lost, memory, variance;

    if (p + r <= 0)
        return false;
    in_bad = p / (p + r);
    memory = 1 - p - r;
    lost = (1 - in_bad) * good + in_bad * bad;
    variance = lost * (1 - lost) +
               2 * in_bad * (1 - in_bad) * (bad - good) * (bad - good) * memory / (p + r);
    if (n * lost < ENOUGH || n * (1 - lost) < ENOUGH || n * (p + r) < ENOUGH)
        return false;
    double reach = TAIL_SD * sqrt(n * variance) + 1 / (p + r) + 1; /* it starts in the good state */
    f->lost_low = n * lost > reach ? (uint64_t)(n * lost - reach) : 0;
    f->lost_high = (uint64_t)ceil(n * lost + reach);
    return true;
}

void proof_loss_interval(struct net_flow_proof *f, const struct net_impair *impair, bool kernel)
{
    const struct net_loss *loss = &impair->loss;
    uint64_t trials;

    f->has_loss_interval = false;
    if (impair->ecn || f->offered == NET_UNKNOWN || f->duplicated == NET_UNKNOWN)
        return;
    if (kernel && (impair->limit || impair->rate.bit_s))
        return;
    trials = f->offered + f->duplicated;
    if (loss->model == LOSS_GEMODEL) {
        f->has_loss_interval = gilbert(f, loss, (double)trials);
        return;
    }
    if (loss->model == LOSS_STATE || (loss->model == LOSS_RANDOM && loss->correlation.scaled))
        return;
    proof_binomial(trials, loss->model == LOSS_RANDOM ? happening(&loss->random) : 0, &f->lost_low,
                   &f->lost_high);
    f->has_loss_interval = true;
}

/* ---- checks ---- */

static const char *check_user(const struct net_flow_proof *f, const struct net_bound *bound,
                              struct arena *arena)
{
    uint64_t in = f->offered + f->duplicated;
    uint64_t out = f->delivered + f->lost + f->limit + f->queued;

    if (f->unplanned)
        return arena_printf(arena, "%s: %" PRIu64 " packets were dropped that nobody asked to lose",
                            f->link, f->unplanned);
    if (in != out)
        return arena_printf(arena,
                            "%s: %" PRIu64 " packets offered or duplicated, but %" PRIu64
                            " delivered, lost, over the limit or queued",
                            f->link, in, out);
    if (f->offered && f->late_p99_ns < 0)
        return arena_printf(arena, "%s: no lateness was measured", f->link);
    if (f->late_p99_ns > bound->lateness_p99_ns)
        return arena_printf(
            arena, "%s: the shaper could not keep up: lateness p99 %.3g ms, bound %.3g ms", f->link,
            (double)f->late_p99_ns / 1e6, (double)bound->lateness_p99_ns / 1e6);
    return NULL;
}

const char *proof_check(const struct net_flow_proof *f, const struct net_bound *bound, bool kernel,
                        struct arena *arena)
{
    const char *failed = kernel ? NULL : check_user(f, bound, arena);

    if (failed)
        return failed;
    if (f->has_loss_interval && (f->lost < f->lost_low || f->lost > f->lost_high))
        return arena_printf(
            arena, "%s: %" PRIu64 " packets lost, where the model allows %" PRIu64 " to %" PRIu64,
            f->link, f->lost, f->lost_low, f->lost_high);
    return NULL;
}
