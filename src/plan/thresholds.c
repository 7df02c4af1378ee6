#include "plan/thresholds.h"

#include "base/mem.h"
#include "base/text.h"
#include "base/units.h"
#include "model/decode.h"
#include "plan/load.h"

#include <string.h>

#define COMPARE_PAIRS 8

/* ---- known metrics ---- */

/* Metrics of any runner that can be found, beside those of the plan: a thresholds file may serve
 * several. A runner that does not decode is nobody's business here. */
static void all_metrics(const struct plan *p, struct strings *names, struct arena *arena)
{
    struct strings runners = {0};
    struct runner r;
    struct err ignored;
    size_t count;
    const struct metric_def *table = metric_table(&count);

    for (size_t i = 0; i < count; i++)
        if (table[i].judgeable)
            strings_add(names, arena, table[i].name);
    for (size_t i = 0; i < p->events.count; i++)
        strings_add(names, arena, metric_of_event(p->events.items[i]));
    for (size_t i = 0; i < p->runner_count; i++)
        for (size_t k = 0; k < p->runners[i].metric_count; k++)
            strings_add(names, arena, p->runners[i].metrics[k].name);
    lookup_names(LOOKUP_RUNNER, &runners, arena);
    for (size_t i = 0; i < runners.count; i++) {
        if (load_runner(runners.items[i], &r, NULL, arena, &ignored) < 0)
            continue;
        for (size_t k = 0; k < r.metric_count; k++)
            strings_add(names, arena, r.metrics[k].name);
    }
}

/* 0 if anybody knows the metric. */
static int check_known(const struct plan *p, const char *metric, enum err_code code,
                       struct arena *arena, struct err *err)
{
    struct strings names = {0};
    const char *unit;
    enum metric_better better;
    const char *near;

    if (plan_metric(p, metric, &unit, &better))
        return 0;
    all_metrics(p, &names, arena);
    if (strings_has(&names, metric))
        return 0;
    err_set(err, code, "unknown metric '%s'", metric);
    near = text_nearest(metric, names.items, names.count);
    if (near)
        return err_hint(err, "did you mean '%s'?", near);
    return err_hint(err, "`abba list metrics` shows the standard ones");
}

/* ---- from the command line ---- */

/* The general limit of that metric, new if there is none. The list has room. */
static struct limit *general_limit(struct thresholds *t, const char *metric)
{
    for (size_t i = 0; i < t->limit_count; i++)
        if (strcmp(t->limits[i].metric, metric) == 0)
            return &t->limits[i];
    t->limits[t->limit_count] = (struct limit){.metric = metric};
    return &t->limits[t->limit_count++];
}

/* The command line decides for every profile: overrides of the metric go. */
static void drop_overrides(struct thresholds *t, const char *metric)
{
    for (size_t i = 0; i < t->override_count; i++) {
        struct limit_override *o = &t->overrides[i];
        size_t kept = 0;

        for (size_t k = 0; k < o->limit_count; k++)
            if (strcmp(o->limits[k].metric, metric) != 0)
                o->limits[kept++] = o->limits[k];
        o->limit_count = kept;
    }
}

static int check_asked(const struct plan *p, const char *metric, const char *option,
                       struct arena *arena, struct err *err)
{
    const struct metric_def *def = metric_find(metric);

    if (check_known(p, metric, ERR_USAGE, arena, err) < 0)
        return err_wrap(err, "%s", option);
    if (def && !def->judgeable) {
        err_set(err, ERR_USAGE, "%s: '%s' is shown, never judged", option, metric);
        return err_hint(err, "judge 'cpu_time'");
    }
    if (plan_yields_anywhere(p, metric))
        return 0;
    err_set(err, ERR_USAGE, "%s: no profile of this series yields '%s'", option, metric);
    return metric_is_heap(metric) ? err_hint(err, "--memory-pass has runs that count it") : -1;
}

/* "METRIC=PERCENT" */
static int add_threshold(struct plan *p, const char *text, struct arena *arena, struct err *err)
{
    const char *equals = strchr(text, '=');
    const char *metric, *percent;
    struct limit *limit;
    double worse;

    if (!equals || equals == text) {
        err_set(err, ERR_USAGE, "--threshold: '%s' is not METRIC=PERCENT", text);
        return err_hint(err, "such as --threshold wall_time=5%%");
    }
    metric = arena_strndup(arena, text, (size_t)(equals - text));
    percent = arena_strdup(arena, equals + 1);
    if (units_parse_percent(percent, &worse, err) < 0) {
        err->code = ERR_USAGE;
        return err_wrap(err, "--threshold %s", metric);
    }
    if (check_asked(p, metric, "--threshold", arena, err) < 0)
        return -1;
    drop_overrides(&p->thresholds, metric);
    limit = general_limit(&p->thresholds, metric);
    if (limit->asked)
        return err_set(err, ERR_USAGE, "--threshold: '%s' is given twice: %s and %s", metric,
                       limit->worse_text, percent);
    limit->worse = worse;
    limit->worse_text = percent;
    limit->asked = true;
    return 0;
}

static int add_claim(struct plan *p, const char *metric, struct arena *arena, struct err *err)
{
    struct thresholds *t = &p->thresholds;

    metric = arena_strdup(arena, metric);
    if (check_asked(p, metric, "--claim", arena, err) < 0)
        return -1;
    general_limit(t, metric)->claim = CLAIM_BETTER;
    for (size_t i = 0; i < t->override_count; i++)
        for (size_t k = 0; k < t->overrides[i].limit_count; k++)
            if (strcmp(t->overrides[i].limits[k].metric, metric) == 0)
                t->overrides[i].limits[k].claim = CLAIM_BETTER;
    return 0;
}

/* ---- from a file ---- */

static int check_limits(struct plan *p, const struct limit *limits, size_t count,
                        struct strings *noted, struct arena *arena, struct err *err)
{
    for (size_t i = 0; i < count; i++) {
        const char *metric = limits[i].metric;

        if (check_known(p, metric, ERR_CONFIG, arena, err) < 0)
            return -1;
        if (limits[i].asked || plan_yields_anywhere(p, metric) || strings_has(noted, metric))
            continue;
        strings_add(noted, arena, metric);
        strings_add(&p->notes, arena,
                    arena_printf(
                        arena, "thresholds '%s' limit '%s', which no profile of this series yields",
                        p->thresholds.name, metric));
    }
    return 0;
}

static int check_file(struct plan *p, const char *file, struct arena *arena, struct err *err)
{
    const struct thresholds *t = &p->thresholds;
    struct strings noted = {0};

    if (check_limits(p, t->limits, t->limit_count, &noted, arena, err) < 0)
        return err_wrap(err, "'%s': $.limits", file);
    for (size_t i = 0; i < t->override_count; i++)
        if (check_limits(p, t->overrides[i].limits, t->overrides[i].limit_count, &noted, arena,
                         err) < 0)
            return err_wrap(err, "'%s': $.profiles[\"%s\"]", file, t->overrides[i].glob);
    return 0;
}

/* The set that all profiles of the series name, or leave to the default. */
static int usual_set(const struct plan *p, const char **name, struct err *err)
{
    for (size_t i = 0; i < p->profile_count; i++) {
        const char *own = p->profiles[i].thresholds ? p->profiles[i].thresholds : "default";

        if (i && strcmp(own, *name) != 0) {
            err_set(err, ERR_CONFIG,
                    "profile '%s' is judged by the thresholds '%s', profile '%s' by '%s'",
                    p->profiles[0].name, *name, p->profiles[i].name, own);
            return err_hint(err, "--thresholds NAME takes one set for all profiles of a series");
        }
        *name = own;
    }
    return 0;
}

static int load_file(struct plan *p, const char *name, struct arena *arena, struct err *err)
{
    const char *file;

    if (!name || strcmp(name, "none") == 0) {
        p->thresholds = (struct thresholds){.name = "none", .pairs = COMPARE_PAIRS};
        return 0;
    }
    if (load_thresholds(name, &p->thresholds, &file, arena, err) < 0)
        return -1;
    return check_file(p, file, arena, err);
}

int thresholds_resolve(struct plan *p, const struct plan_request *q, struct arena *arena,
                       struct err *err)
{
    struct thresholds *t = &p->thresholds;
    bool compare = strcmp(p->command, "compare") == 0;
    const char *name = q->thresholds_file;
    struct limit *limits;

    if (!name && !compare && usual_set(p, &name, err) < 0)
        return -1;
    if (load_file(p, name, arena, err) < 0)
        return -1;
    limits = arena_array(arena, t->limit_count + q->thresholds.count + q->claims.count + 1,
                         sizeof(*limits));
    if (t->limit_count)
        memcpy(limits, t->limits, t->limit_count * sizeof(*limits));
    t->limits = limits;
    for (size_t i = 0; i < q->thresholds.count; i++)
        if (add_threshold(p, q->thresholds.items[i], arena, err) < 0)
            return -1;
    for (size_t i = 0; i < q->claims.count; i++)
        if (add_claim(p, q->claims.items[i], arena, err) < 0)
            return -1;
    decode_sort(t->limits, t->limit_count, sizeof(*t->limits));
    return 0;
}
