#include "measure/measure_parts.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"
#include "measure/heap.h"

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

void draft_blame(struct draft *d, enum sample_status status, const char *fmt, ...)
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

const char *draft_quoted(struct draft *d, const char *text, size_t len)
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
        draft_blame(d, SAMPLE_FAILED, "%s did not start: %s", r->name, r->error);
    else if (r->end == ROLE_EXITED)
        draft_blame(d, SAMPLE_FAILED, "%s exited with status %d", r->name, r->exit_code);
    else if (abbreviation)
        draft_blame(d, SAMPLE_FAILED, "%s was killed by signal %d (SIG%s)", r->name, r->signal,
                    abbreviation);
    else
        draft_blame(d, SAMPLE_FAILED, "%s was killed by signal %d", r->name, r->signal);
}

static void judge_end(struct draft *d)
{
    const struct outcome *o = d->outcome;
    const struct role_outcome *bad = first_bad(o, d->context->allow_failures);

    if (o->end == RUN_INTERRUPTED)
        draft_blame(d, SAMPLE_INTERRUPTED, "%s", o->error[0] ? o->error : "interrupted");
    else if (o->end == RUN_TIMEOUT)
        draft_blame(d, SAMPLE_TIMEOUT, "%s", o->error[0] ? o->error : "timed out");
    else if (o->end == RUN_NOT_READY)
        draft_blame(d, SAMPLE_FAILED, "%s", o->error[0] ? o->error : "a role did not become ready");
    else if (bad)
        blame_role(d, bad);
    else if (o->end == RUN_FAILED)
        draft_blame(d, SAMPLE_FAILED, "%s", o->error[0] ? o->error : "the run failed");
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
            draft_blame(d, SAMPLE_FAILED, "metric '%s': %s", m->name, v.reason);
    }
}

/* ---- the sample ---- */

static void make_metrics(struct draft *d)
{
    read_metrics(d);
    draft_take_back(d); /* before: what follows from them is taken back with them */
    derive_measured(&d->metrics, d->outcome, &d->meter->machine);
    if (d->heap)
        heap_derive(&d->metrics, d->heap, d->outcome->role_count);
    derive_ratios(&d->metrics);
    draft_take_back(d); /* after: derived metrics that are named */
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
    draft_check_integrity(&d);
    draft_check_whole(&d);
    draft_check_ratios(&d);
    if (d.heap)
        heap_withhold(&d.metrics, m->runner);
    draft_make_roles(&d);
}
