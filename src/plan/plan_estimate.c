#include "plan/plan.h"

#include "base/clock.h"

/* Starting and ending a run, its network and its line in the archive: as measured, rounded up. */
#define RUN_OVERHEAD_NS (200 * NSEC_PER_MSEC)

/* What one run of the profile takes; 0: nobody knows. */
static int64_t run_ns(const struct plan *p, const struct profile *one)
{
    const struct load_param *param = runner_find_load(plan_find_runner(p, one->runner), "duration");
    const char *text = profile_load(one, "duration");
    struct err ignored;
    int64_t duration;

    if (one->takes_ns)
        return one->takes_ns;
    if (!param || param->type != LOAD_TIME || !text ||
        load_param_check(param, text, &duration, &ignored) < 0)
        return 0;
    return duration;
}

bool plan_estimate(const struct plan *p, uint64_t *main_ns, uint64_t *all_ns, const char **unknown)
{
    *main_ns = *all_ns = 0;
    for (size_t i = 0; i < p->profile_count; i++) {
        const struct profile *one = &p->profiles[i];
        int64_t run = run_ns(p, one);
        uint64_t block;

        if (one->only_in)
            continue;
        *unknown = one->name;
        if (run == 0)
            return false;
        block = (uint64_t)(run + one->pause_ns + RUN_OVERHEAD_NS) * p->variant_count;
        *main_ns += (uint64_t)(plan_pairs(p, one) + one->warmup) * block;
        *all_ns += (uint64_t)(plan_pairs(p, one) + one->warmup + plan_confirm(p, one)) * block;
    }
    return true;
}

uint64_t plan_expected_ns(const struct plan *p)
{
    uint64_t total = 0;

    for (size_t i = 0; i < p->profile_count; i++) {
        const struct profile *one = &p->profiles[i];
        int64_t run = run_ns(p, one);

        if (one->only_in)
            continue;
        if (run == 0)
            return 0;
        total += (uint64_t)(plan_pairs(p, one) + one->warmup) * p->variant_count *
                 (uint64_t)(run + one->pause_ns);
    }
    return total;
}
