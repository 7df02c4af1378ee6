#include "measure/measure.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"
#include "measure/derive.h"
#include "measure/extract.h"
#include "measure/heap.h"
#include "measure/outputs.h"

#define TAIL_LINES 10
#define TAIL_LINE_MAX 300 /* bytes of one line, as shown */

struct meter {
    const struct runner *runner;
    struct derive_machine machine;
    struct extract *metrics;   /* one a metric of the runner */
    struct extract *integrity; /* one a pattern */
    struct extract *invalid;
    struct outputs outputs;
};

/* ---- preparing ---- */

static int prepare(struct meter *m, struct err *err)
{
    const struct runner *r = m->runner;

    for (size_t i = 0; i < r->metric_count; i++)
        if (extract_init(&m->metrics[i], &r->metrics[i].from, err) < 0)
            return err_wrap(err, "metric '%s'", r->metrics[i].name);
    for (size_t i = 0; i < r->integrity_count; i++)
        if (extract_init(&m->integrity[i], &r->integrity[i], err) < 0)
            return err_wrap(err, "integrity %zu", i + 1);
    for (size_t i = 0; i < r->invalid_count; i++)
        if (extract_init(&m->invalid[i], &r->invalid[i].from, err) < 0)
            return err_wrap(err, "invalid %zu", i + 1);
    return 0;
}

int meter_new(struct meter **out, const struct runner *runner, long page_bytes, int ncpu,
              struct err *err)
{
    struct meter *m = xcalloc(1, sizeof *m);

    m->runner = runner;
    m->machine = (struct derive_machine){page_bytes, ncpu};
    m->metrics = xcalloc(runner->metric_count + 1, sizeof *m->metrics);
    m->integrity = xcalloc(runner->integrity_count + 1, sizeof *m->integrity);
    m->invalid = xcalloc(runner->invalid_count + 1, sizeof *m->invalid);
    outputs_init(&m->outputs);
    if (prepare(m, err) < 0) {
        err_wrap(err, "runner '%s'", runner->name);
        meter_free(m);
        *out = NULL;
        return -1;
    }
    *out = m;
    return 0;
}

static void release_all(struct extract *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        extract_release(&list[i]);
    free(list);
}

void meter_free(struct meter *m)
{
    if (!m)
        return;
    release_all(m->metrics, m->runner->metric_count);
    release_all(m->integrity, m->runner->integrity_count);
    release_all(m->invalid, m->runner->invalid_count);
    outputs_release(&m->outputs);
    free(m);
}

/* ---- a sample while it is made ---- */

struct draft {
    struct meter *meter;
    const struct outcome *outcome;
    const struct measure_context *context;
    struct sample *sample;
    struct metric_list metrics;
    struct heap_role *heap; /* of each role, in a memory pass; else NULL */
    struct arena *arena;
};

/* Gives the sample its first fault; later ones do not replace it. */
__attribute__((format(printf, 3, 4))) static void blame(struct draft *d, enum sample_status status,
                                                        const char *fmt, ...)
{
    char text[1024];
    va_list ap;

    if (d->sample->status != SAMPLE_OK)
        return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    d->sample->status = status;
    d->sample->error = arena_strdup(d->arena, text);
}

/* What a program wrote, fit to be quoted in one line. */
static const char *quoted(struct draft *d, const char *text, size_t len)
{
    struct buf shown = BUF_INIT;

    text_neutral(&shown, text, len, 160);
    const char *kept = arena_strdup(d->arena, shown.data);
    buf_release(&shown);
    return kept;
}

/* ---- how the roles ended ---- */

static bool ended_badly(const struct role_outcome *r, bool allow_failures)
{
    switch (r->end) {
    case ROLE_EXITED:
        return r->exit_code != 0 && !allow_failures;
    case ROLE_SIGNALED:
    case ROLE_START_FAILED:
        return true;
    case ROLE_NOT_STARTED:
    case ROLE_STOPPED:
    case ROLE_KILLED:
    case ROLE_IMPORTED:
        break;
    }
    return false;
}

/* Of the roles that ended badly the first to do so: the others may have followed from it. */
static const struct role_outcome *first_bad(const struct outcome *o, bool allow_failures)
{
    const struct role_outcome *first = NULL;

    for (size_t i = 0; i < o->role_count; i++) {
        const struct role_outcome *r = &o->roles[i];

        if (ended_badly(r, allow_failures) && (!first || r->end_ns < first->end_ns))
            first = r;
    }
    return first;
}

static void blame_role(struct draft *d, const struct role_outcome *r)
{
    const char *abbreviation = sigabbrev_np(r->signal);

    if (r->end == ROLE_START_FAILED)
        blame(d, SAMPLE_FAILED, "%s did not start: %s", r->name, r->error);
    else if (r->end == ROLE_EXITED)
        blame(d, SAMPLE_FAILED, "%s exited with status %d", r->name, r->exit_code);
    else if (abbreviation)
        blame(d, SAMPLE_FAILED, "%s was killed by signal %d (SIG%s)", r->name, r->signal,
              abbreviation);
    else
        blame(d, SAMPLE_FAILED, "%s was killed by signal %d", r->name, r->signal);
}

static void judge_end(struct draft *d)
{
    const struct outcome *o = d->outcome;
    const struct role_outcome *bad = first_bad(o, d->context->allow_failures);

    if (o->end == RUN_INTERRUPTED)
        blame(d, SAMPLE_INTERRUPTED, "%s", o->error[0] ? o->error : "interrupted");
    else if (o->end == RUN_TIMEOUT)
        blame(d, SAMPLE_TIMEOUT, "%s", o->error[0] ? o->error : "timed out");
    else if (o->end == RUN_NOT_READY)
        blame(d, SAMPLE_FAILED, "%s", o->error[0] ? o->error : "a role did not become ready");
    else if (bad)
        blame_role(d, bad);
    else if (o->end == RUN_FAILED)
        blame(d, SAMPLE_FAILED, "%s", o->error[0] ? o->error : "the run failed");
}

/* ---- what the runner reports ---- */

static struct value read_metric(struct draft *d, size_t i, const char *unit)
{
    const struct runner_metric *m = &d->meter->runner->metrics[i];
    const struct number_format *numbers = m->numbers ? m->numbers : &d->meter->runner->numbers;
    struct err err = {0};
    double number;

    switch (extract_number(&d->meter->metrics[i], m, numbers, &d->meter->outputs, &number, &err)) {
    case EXTRACT_MISSING:
        return value_none(VALUE_MISSING, arena_strdup(d->arena, err.msg));
    case EXTRACT_INVALID:
        return value_none(VALUE_INVALID, arena_strdup(d->arena, err.msg));
    case EXTRACT_OK:
        break;
    }
    if (!metric_convert(number, m->unit, unit, &number) || !isfinite(number))
        return value_none(VALUE_INVALID,
                          arena_printf(d->arena, "no conversion from %s to %s", m->unit, unit));
    return value_ok(number);
}

/* Out of the library's records of a role, which may have a reason to tell nothing. */
static struct value read_heap_metric(struct draft *d, size_t i, const char *unit)
{
    const char *role = d->meter->runner->metrics[i].from.role;
    const struct heap_role *heap = NULL;
    struct value v;

    for (size_t k = 0; k < d->outcome->role_count; k++)
        if (strcmp(d->outcome->roles[k].name, role) == 0)
            heap = &d->heap[k];
    if (heap && heap->status.status != VALUE_OK)
        return heap->status;
    v = read_metric(d, i, unit);
    if (heap && heap->windows == 0 && v.status == VALUE_MISSING)
        v.reason = arena_printf(d->arena, "%s; no window was marked", v.reason);
    return v;
}

static struct value read_one(struct draft *d, size_t i, const char *unit)
{
    return d->meter->runner->metrics[i].from.source == SOURCE_HEAP ? read_heap_metric(d, i, unit)
                                                                   : read_metric(d, i, unit);
}

static void read_metrics(struct draft *d)
{
    const struct runner *r = d->meter->runner;

    for (size_t i = 0; i < r->metric_count; i++) {
        const struct runner_metric *m = &r->metrics[i];
        const struct metric_def *def = metric_find(m->name);
        const char *unit = def ? def->unit : m->unit;
        struct value v;

        if (runner_metric_is_memory(m) && !d->heap)
            continue;
        v = read_one(d, i, unit);
        metric_list_add(&d->metrics, m->name, unit, v, 0);
        if (v.status != VALUE_OK && m->required)
            blame(d, SAMPLE_FAILED, "metric '%s': %s", m->name, v.reason);
    }
}

/* ---- what the runner takes back ---- */

/* Why pattern `i` of `invalid` matched, or NULL if it did not. */
static const char *invalid_reason(struct draft *d, size_t i)
{
    const char *text;
    size_t len;
    struct err err = {0};
    int found = extract_text(&d->meter->invalid[i], &d->meter->outputs, &text, &len, &err);

    if (found == 0)
        return NULL;
    if (found < 0)
        return arena_printf(d->arena, "cannot tell whether it is valid: %s", err.msg);
    return arena_printf(d->arena, "the runner says '%s'", quoted(d, text, len));
}

/* Takes back the metrics that patterns name; they stay with their status and the reason. */
static void take_back_metrics(struct draft *d)
{
    const struct runner *r = d->meter->runner;

    for (size_t i = 0; i < r->invalid_count; i++) {
        const struct strings *names = &r->invalid[i].metrics;
        const char *reason = names->count > 0 ? invalid_reason(d, i) : NULL;

        for (size_t k = 0; reason && k < names->count; k++) {
            struct sample_metric *m = metric_list_find(&d->metrics, names->items[k]);
            if (m)
                m->value = value_none(VALUE_INVALID, reason);
        }
    }
}

static void check_whole(struct draft *d)
{
    const struct runner *r = d->meter->runner;

    for (size_t i = 0; i < r->invalid_count; i++) {
        const char *reason = r->invalid[i].metrics.count == 0 ? invalid_reason(d, i) : NULL;
        if (reason)
            blame(d, SAMPLE_INVALID, "%s", reason);
    }
}

/* ---- integrity and cross-checks ---- */

static void check_integrity(struct draft *d)
{
    const struct runner *r = d->meter->runner;

    for (size_t i = 0; i < r->integrity_count; i++) {
        const char *text;
        size_t len;
        char name[128];
        struct err err = {0};
        int found = extract_text(&d->meter->integrity[i], &d->meter->outputs, &text, &len, &err);

        output_name(&r->integrity[i], name);
        if (found == 0)
            blame(d, SAMPLE_FAILED, "integrity: no match for '%s' in %s", r->integrity[i].pattern,
                  name);
        else if (found < 0)
            blame(d, SAMPLE_FAILED, "integrity: %s", err.msg);
    }
}

static const struct sample_metric *usable(const struct draft *d, const char *name)
{
    const struct sample_metric *m = metric_list_find(&d->metrics, name);

    return m && m->value.status == VALUE_OK ? m : NULL;
}

/* A metric's figures before they are reduced, in its base unit: their number, 0 if there are none.
 */
static size_t each_of(struct draft *d, const char *name, double **values)
{
    const struct runner *r = d->meter->runner;
    const struct runner_metric *m = runner_find_metric(r, name);
    const struct metric_def *def = metric_find(name);

    *values = NULL;
    if (!m || m->match != MATCH_ALL)
        return 0;
    size_t n = extract_each(&d->meter->metrics[m - r->metrics], m,
                            m->numbers ? m->numbers : &r->numbers, &d->meter->outputs, values);
    for (size_t i = 0; i < n; i++)
        if (!metric_convert((*values)[i], m->unit, def ? def->unit : m->unit, &(*values)[i]))
            return 0;
    return n;
}

static void check_figures(struct draft *d, const struct runner_check *c, double above, double below,
                          double stated)
{
    double ratio = above / below;

    if (fabs(ratio - stated) <= c->within * fabs(stated)) /* false for nan */
        return;
    blame(d, SAMPLE_INVALID, "check: %s / %s is %.6g, but %s is %.6g (within %s is allowed)",
          c->numerator, c->denominator, ratio, c->equals, stated, c->within_text);
}

/* Repeats are checked one by one: a mean of ratios is not the ratio of means. */
static bool check_each(struct draft *d, const struct runner_check *c)
{
    double *above, *below, *stated;
    size_t n = each_of(d, c->numerator, &above), k = each_of(d, c->denominator, &below);
    size_t l = each_of(d, c->equals, &stated);
    bool all = n > 0 && n == k && n == l;

    for (size_t i = 0; all && i < n; i++)
        check_figures(d, c, above[i], below[i], stated[i]);
    free(above);
    free(below);
    free(stated);
    return all;
}

/* A figure that is missing is reported on its own account, not by the check that needs it. */
static void check_ratio(struct draft *d, const struct runner_check *c)
{
    const struct sample_metric *above = usable(d, c->numerator), *below = usable(d, c->denominator);
    const struct sample_metric *stated = usable(d, c->equals);

    if (!above || !below || !stated)
        return;
    if (!check_each(d, c))
        check_figures(d, c, above->value.number, below->value.number, stated->value.number);
}

static void check_ratios(struct draft *d)
{
    const struct runner *r = d->meter->runner;

    for (size_t i = 0; i < r->check_count; i++)
        check_ratio(d, &r->checks[i]);
}

/* ---- roles ---- */

static const char *end_name(enum role_end end)
{
    static const char *const names[] = {
        [ROLE_NOT_STARTED] = "not_started", [ROLE_START_FAILED] = "start_failed",
        [ROLE_EXITED] = "exited",           [ROLE_SIGNALED] = "signaled",
        [ROLE_STOPPED] = "stopped",         [ROLE_KILLED] = "killed",
        [ROLE_IMPORTED] = "imported",
    };
    return names[end];
}

/* Where the last `lines` lines of a text start; a newline at its very end does not count. */
static size_t tail_start(const char *text, size_t len, int lines)
{
    size_t at = len;

    while (at > 0) {
        const char *newline = at > 1 ? memrchr(text, '\n', at - 1) : NULL;
        at = newline ? (size_t)(newline - text) + 1 : 0;
        if (--lines == 0)
            break;
    }
    return at;
}

/* The last lines of standard error, each made harmless; NULL if there are none. */
static const char *stderr_tail(struct draft *d, const struct capture *c)
{
    const char *text = c->tail_len > 0 ? c->tail : c->head;
    size_t len = c->tail_len > 0 ? c->tail_len : c->head_len;
    struct buf shown = BUF_INIT;

    if (len == 0)
        return NULL;
    for (size_t at = tail_start(text, len, TAIL_LINES); at < len;) {
        const char *newline = memchr(text + at, '\n', len - at);
        size_t end = newline ? (size_t)(newline - text) : len;

        if (shown.len > 0)
            buf_addch(&shown, '\n');
        text_neutral(&shown, text + at, end - at, TAIL_LINE_MAX);
        at = end + 1;
    }
    const char *kept = arena_strdup(d->arena, shown.data);
    buf_release(&shown);
    return kept;
}

static double seconds_between(uint64_t start_ns, uint64_t end_ns)
{
    return end_ns > start_ns ? (double)(end_ns - start_ns) / 1e9 : 0;
}

static struct sample_role make_role(struct draft *d, const struct role_outcome *o)
{
    struct sample_role r = {
        .name = o->name,
        .end = end_name(o->end),
        .exit_code = o->exit_code,
        .signal = o->signal,
        .error = o->error[0] ? quoted(d, o->error, strlen(o->error)) : NULL,
        .wall_s = seconds_between(o->start_ns, o->end_ns),
        .user_s = o->cpu.user_s,
        .system_s = o->cpu.system_s,
        .cgroup_cpu_s = o->cpu.cgroup_s,
        .cpu_differs = o->cpu.differ,
        .peak_rss_bytes = o->peak_rss_bytes,
        .sampled_rss_bytes = o->sampled_rss_bytes,
        .max_rss_bytes = o->max_rss_bytes,
        .processes = o->processes,
        .leftovers = o->leftovers,
        .rss_samples = o->samples,
        .missed_ticks = o->missed_ticks,
        .cpus = arena_strdup(d->arena, o->cpus),
    };

    if (d->sample->status != SAMPLE_OK)
        r.stderr_tail = stderr_tail(d, &o->err);
    if (d->heap) {
        r.heap = d->heap[o - d->outcome->roles].text;
        r.heap_len = d->heap[o - d->outcome->roles].len;
    }
    return r;
}

static void make_roles(struct draft *d)
{
    const struct outcome *o = d->outcome;

    d->sample->roles = arena_array(d->arena, o->role_count, sizeof *d->sample->roles);
    d->sample->role_count = o->role_count;
    for (size_t i = 0; i < o->role_count; i++)
        d->sample->roles[i] = make_role(d, &o->roles[i]);
}

/* ---- the sample ---- */

static void make_metrics(struct draft *d)
{
    read_metrics(d);
    take_back_metrics(d); /* before: what follows from them is taken back with them */
    derive_measured(&d->metrics, d->outcome, &d->meter->machine);
    if (d->heap)
        heap_derive(&d->metrics, d->heap, d->outcome->role_count);
    derive_ratios(&d->metrics);
    take_back_metrics(d); /* after: derived metrics that are named */
    metric_list_sort(&d->metrics);
    d->sample->metrics = d->metrics.items;
    d->sample->metric_count = d->metrics.count;
}

void meter_measure(struct meter *m, const struct outcome *o, const struct measure_context *context,
                   struct sample *s, struct arena *arena)
{
    struct draft d = {.meter = m,
                      .outcome = o,
                      .context = context,
                      .sample = s,
                      .metrics = {.arena = arena},
                      .arena = arena};
    char started[CLOCK_TEXT];

    if (context->heap_obstacles)
        d.heap = heap_read(context->scratch, o, context->heap_obstacles, arena);
    outputs_begin(&m->outputs, o, context->scratch, d.heap);
    clock_format_utc((int64_t)o->started_unix_ns, started);
    s->started = arena_strdup(arena, started);
    s->status = SAMPLE_OK;
    s->error = NULL;
    s->noise = o->noise;
    judge_end(&d);
    make_metrics(&d);
    check_integrity(&d);
    check_whole(&d);
    check_ratios(&d);
    if (d.heap)
        heap_withhold(&d.metrics, m->runner);
    make_roles(&d);
}
