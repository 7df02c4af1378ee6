#include "model/plan.h"

#include <string.h>

const struct runner *plan_find_runner(const struct plan *p, const char *name)
{
    for (size_t i = 0; i < p->runner_count; i++)
        if (strcmp(p->runners[i].name, name) == 0)
            return &p->runners[i];
    return NULL;
}

const struct profile *plan_find_profile(const struct plan *p, const char *name)
{
    for (size_t i = 0; i < p->profile_count; i++)
        if (strcmp(p->profiles[i].name, name) == 0)
            return &p->profiles[i];
    return NULL;
}

const struct runner *plan_runner(const struct plan *p, const struct profile *profile,
                                 const struct variant *variant)
{
    return plan_find_runner(p, variant->runner ? variant->runner : profile->runner);
}

int plan_pairs(const struct plan *p, const struct profile *profile)
{
    if (profile->pairs)
        return profile->pairs;
    return profile->pass == PASS_MEMORY ? PROFILE_MEMORY_PAIRS : p->thresholds.pairs;
}

int plan_confirm(const struct plan *p, const struct profile *profile)
{
    if (profile->confirm >= 0)
        return profile->confirm;
    return profile->pass == PASS_MEMORY ? 0 : p->thresholds.confirm;
}

int plan_min_complete(const struct plan *p, const struct profile *profile)
{
    return profile->min_complete ? profile->min_complete : plan_pairs(p, profile);
}

/* A counter of the plan whose metric has that name. */
static bool counted(const struct plan *p, const char *metric)
{
    for (size_t i = 0; i < p->events.count; i++)
        if (strcmp(metric_of_event(p->events.items[i]), metric) == 0)
            return true;
    return false;
}

bool plan_metric(const struct plan *p, const char *name, const char **unit,
                 enum metric_better *better)
{
    const struct metric_def *def = metric_find(name);

    if (def) {
        *unit = def->unit;
        *better = def->better;
        return true;
    }
    for (size_t i = 0; i < p->runner_count; i++) {
        const struct runner_metric *m = runner_find_metric(&p->runners[i], name);

        if (!m)
            continue;
        *unit = m->unit;
        *better = m->better;
        return true;
    }
    *unit = "count";
    *better = BETTER_LOWER;
    return counted(p, name);
}

/* Whether the name ends in `suffix`; the part before it is copied to `stem`. */
static bool split_suffix(const char *name, const char *suffix, char *stem, size_t size)
{
    size_t len = strlen(name), tail = strlen(suffix);

    if (len <= tail || strcmp(name + len - tail, suffix) != 0 || len - tail >= size)
        return false;
    memcpy(stem, name, len - tail);
    stem[len - tail] = '\0';
    return true;
}

/* heap_bytes_per_message is of heap_bytes. */
static bool derived_of_heap(const struct runner *r, const char *metric)
{
    char stem[64];

    return metric_is_heap(metric) && split_suffix(metric, "_per_message", stem, sizeof(stem)) &&
           runner_timed_metric(r, stem) && runner_find_metric(r, "delivered_messages");
}

/* What follows from the runner's reports alone. */
static bool derived_of_reports(const struct runner *r, const char *metric)
{
    bool time = runner_find_metric(r, "delivery_time") != NULL;

    if (derived_of_heap(r, metric))
        return true;
    if (strcmp(metric, "throughput") == 0)
        return time && runner_find_metric(r, "delivered_bytes");
    return strcmp(metric, "messages_per_second") == 0 && time &&
           runner_find_metric(r, "delivered_messages");
}

/* What follows from the runner's reports and from what is measured anyway. */
static bool derived(const struct plan *p, const struct runner *r, const char *metric)
{
    bool bytes = runner_find_metric(r, "delivered_bytes") != NULL;
    bool messages = runner_find_metric(r, "delivered_messages") != NULL;
    char stem[64];

    if (strcmp(metric, "effective_cores") == 0)
        return true;
    if (derived_of_reports(r, metric))
        return true;
    if (strcmp(metric, "cpu_per_gbit") == 0)
        return bytes;
    if (strcmp(metric, "cpu_per_message") == 0)
        return messages;
    if (split_suffix(metric, "_per_byte", stem, sizeof(stem)))
        return bytes && counted(p, stem);
    return split_suffix(metric, "_per_message", stem, sizeof(stem)) && messages && counted(p, stem);
}

/* What heaps were asked for, by abba's library or by the program's own word, and nothing else. */
static bool memory_yields(const struct runner *r, const char *metric)
{
    const struct runner_metric *m = runner_find_metric(r, metric);
    char stem[64];

    if (!metric_is_heap(metric))
        return m && m->counts;
    return m || !split_suffix(metric, "_per_message", stem, sizeof(stem)) ||
           runner_find_metric(r, "delivered_messages");
}

static bool runner_yields(const struct plan *p, const struct runner *r, const char *metric)
{
    const struct metric_def *def = metric_find(metric);

    if (p->import)
        return runner_timed_metric(r, metric) || derived_of_reports(r, metric);
    return (def && def->kind == METRIC_MEASURED) || runner_timed_metric(r, metric) ||
           counted(p, metric) || derived(p, r, metric);
}

bool plan_yields(const struct plan *p, const struct profile *profile, const char *metric)
{
    for (size_t i = 0; i < p->variant_count; i++) {
        const struct runner *r = plan_runner(p, profile, &p->variants[i]);

        if (profile->pass == PASS_MEMORY ? !memory_yields(r, metric) : !runner_yields(p, r, metric))
            return false;
    }
    return true;
}

bool plan_yields_anywhere(const struct plan *p, const char *metric)
{
    for (size_t i = 0; i < p->profile_count; i++)
        if (plan_yields(p, &p->profiles[i], metric))
            return true;
    return false;
}

bool plan_identical(const struct plan *p)
{
    for (size_t i = 1; i < p->variant_count; i++)
        if (!variant_identical(&p->variants[0], &p->variants[i]))
            return false;
    return !p->aa;
}

bool plan_has_network(const struct plan *p)
{
    for (size_t i = 0; i < p->profile_count; i++)
        if (p->profiles[i].network.topology != NET_HOST)
            return true;
    return false;
}

bool plan_has_memory_pass(const struct plan *p)
{
    for (size_t i = 0; i < p->profile_count; i++)
        if (p->profiles[i].pass == PASS_MEMORY)
            return true;
    return false;
}

uint64_t plan_run_count(const struct plan *p)
{
    uint64_t count = 0;

    for (size_t i = 0; i < p->profile_count; i++)
        if (!p->profiles[i].only_in)
            count += (uint64_t)(plan_pairs(p, &p->profiles[i]) + p->profiles[i].warmup) *
                     p->variant_count;
    return count;
}
