#include "measure/derive.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strings.h"

/* ---- the list ---- */

struct sample_metric *metric_list_find(const struct metric_list *f, const char *name)
{
    for (size_t i = 0; i < f->count; i++)
        if (strings_same(f->items[i].name, name))
            return &f->items[i];
    return NULL;
}

void metric_list_add(struct metric_list *f, const char *name, const char *unit, struct value value,
                     double floor)
{
    if (metric_list_find(f, name))
        return;
    if (f->count == f->room) {
        f->room = f->room ? 2 * f->room : 40;
        struct sample_metric *more = arena_array(f->arena, f->room, sizeof *more);
        if (f->count > 0)
            memcpy(more, f->items, f->count * sizeof *more);
        f->items = more;
    }
    f->items[f->count++] =
        (struct sample_metric){.name = name, .unit = unit, .value = value, .floor = floor};
}

/* Place in the table of standard metrics; behind all of them for others. */
static size_t rank(const struct sample_metric *m)
{
    size_t count;
    const struct metric_def *table = metric_table(&count), *def = metric_find(m->name);

    return def ? (size_t)(def - table) : count;
}

/* Insertion: stable, and the list is short and mostly in order. */
void metric_list_sort(struct metric_list *f)
{
    for (size_t i = 1; i < f->count; i++) {
        struct sample_metric m = f->items[i];
        size_t r = rank(&m), j = i;

        for (; j > 0 && rank(&f->items[j - 1]) > r; j--)
            f->items[j] = f->items[j - 1];
        f->items[j] = m;
    }
}

/* A standard metric. */
static void add(struct metric_list *f, const char *name, struct value value, double floor)
{
    const struct metric_def *def = metric_find(name);

    ABBA_ASSERT(def);
    metric_list_add(f, def->name, def->unit, value, floor);
}

/* ---- measured from outside ---- */

static bool has_number(const struct value *v)
{
    return v->status == VALUE_OK || v->status == VALUE_SCALED;
}

static bool ran(const struct role_outcome *r)
{
    return r->end != ROLE_NOT_STARTED && r->end != ROLE_START_FAILED;
}

static bool any_ran(const struct outcome *o)
{
    for (size_t i = 0; i < o->role_count; i++)
        if (ran(&o->roles[i]))
            return true;
    return false;
}

struct totals {
    double user_s, system_s, peak_rss, rss_floor;
    double switches, minor_faults, major_faults;
};

/*
 * ru_maxrss is kept by the kernel in per-CPU counters that are folded in batches of
 * max(32, 2 x ncpu) pages (lib/percpu_counter.c); a process has three of them (file, anonymous and
 * shared pages), so a peak that came from it is only known to three batches a role.
 */
static double maxrss_floor(const struct derive_machine *m)
{
    int batch = 2 * m->ncpu > 32 ? 2 * m->ncpu : 32;

    return 3.0 * batch * (double)m->page_bytes;
}

/*
 * CPU time of one role. The kernel forgets what children used that nobody waits for (SIGCHLD
 * ignored, wait4(2)); a cgroup has it all the same. Where only /proc saw more, the true figure is
 * not known.
 */
static struct value role_cpu(const struct role_outcome *r)
{
    const double waited_s = r->cpu.user_s + r->cpu.system_s;

    if (!r->cpu.differ)
        return value_ok(waited_s);
    if (has_number(&r->cpu.cgroup_s))
        return value_ok(r->cpu.cgroup_s.number > waited_s ? r->cpu.cgroup_s.number : waited_s);
    return value_none(VALUE_INVALID,
                      "processes that nobody waited for used more than the kernel tells; where "
                      "a cgroup v2 can be made, they count");
}

/* The same of all roles. */
static struct value sum_cpu(const struct outcome *o)
{
    struct value sum = value_ok(0);

    for (size_t i = 0; i < o->role_count; i++) {
        struct value one = ran(&o->roles[i]) ? role_cpu(&o->roles[i]) : value_ok(0);

        if (!has_number(&one))
            return one;
        sum.number += one.number;
    }
    return sum;
}

static struct totals sum_roles(const struct outcome *o, const struct derive_machine *m)
{
    struct totals t = {0};

    for (size_t i = 0; i < o->role_count; i++) {
        const struct role_outcome *r = &o->roles[i];

        if (!ran(r))
            continue;
        t.user_s += r->cpu.user_s;
        t.system_s += r->cpu.system_s;
        t.peak_rss += (double)r->peak_rss_bytes;
        if (r->max_rss_bytes > r->sampled_rss_bytes)
            t.rss_floor += maxrss_floor(m);
        t.switches += (double)r->context_switches;
        t.minor_faults += (double)r->minor_faults;
        t.major_faults += (double)r->major_faults;
    }
    return t;
}

static struct value positive(double number, const char *reason)
{
    return number > 0 ? value_ok(number) : value_none(VALUE_MISSING, reason);
}

static void add_nothing_ran(struct metric_list *f)
{
    static const char *const names[] = {"wall_time",    "cpu_time",    "user_time",
                                        "system_time",  "peak_rss",    "context_switches",
                                        "minor_faults", "major_faults"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        add(f, names[i], value_none(VALUE_MISSING, "no program was started"), 0);
}

/* One event over all roles: the numbers add up; a role without one leaves the sum without one. */
static struct value sum_counter(const struct outcome *o, const char *event)
{
    struct value sum = value_ok(0);
    size_t count = 0;

    for (size_t i = 0; i < o->role_count; i++) {
        const struct role_outcome *r = &o->roles[i];

        for (size_t k = 0; ran(r) && k < r->counter_count; k++) {
            const struct value *v = &r->counters[k].value;

            if (strcmp(r->counters[k].event, event) != 0)
                continue;
            if (!has_number(v))
                return *v;
            count++;
            sum.number += v->number;
            if (v->status == VALUE_SCALED &&
                (sum.status == VALUE_OK || v->coverage < sum.coverage)) {
                sum.status = VALUE_SCALED;
                sum.coverage = v->coverage;
                sum.reason = v->reason;
            }
        }
    }
    return count > 0 ? sum : value_none(VALUE_NOT_COUNTED, "no program was started");
}

static void add_counters(struct metric_list *f, const struct outcome *o)
{
    for (size_t i = 0; i < o->role_count; i++) {
        const struct role_outcome *r = &o->roles[i];

        for (size_t k = 0; k < r->counter_count; k++) {
            const char *event = r->counters[k].event;
            const char *name = metric_of_event(event);
            const struct metric_def *def = metric_find(name);

            if (!metric_list_find(f, name))
                metric_list_add(f, name, def ? def->unit : "count", sum_counter(o, event), 0);
        }
    }
}

void derive_measured(struct metric_list *f, const struct outcome *o, const struct derive_machine *m)
{
    if (o->role_count > 0 && o->roles[0].end == ROLE_IMPORTED)
        return; /* nobody measured from outside */
    if (!any_ran(o)) {
        add_nothing_ran(f);
        add_counters(f, o);
        return;
    }
    struct totals t = sum_roles(o, m);

    add(f, "wall_time", positive((double)o->wall_ns / 1e9, "the run did not end by itself"), 0);
    add(f, "cpu_time", sum_cpu(o), 0);
    add(f, "user_time", value_ok(t.user_s), 0);
    add(f, "system_time", value_ok(t.system_s), 0);
    add(f, "peak_rss", positive(t.peak_rss, "no memory figure was read"), t.rss_floor);
    add(f, "context_switches", value_ok(t.switches), 0);
    add(f, "minor_faults", value_ok(t.minor_faults), 0);
    add(f, "major_faults", value_ok(t.major_faults), 0);
    add_counters(f, o);
}

/* ---- ratios ---- */

#define NOTHING_DELIVERED "nothing was delivered"
#define NO_TIME "it took no time"

/* How a quotient gets into its unit: by whole numbers, so that only the division rounds. */
struct scale {
    double times, over;
};

/* a x times / (b x over), with the worse status of both. */
static struct value ratio(const struct value *a, const struct value *b, struct scale scale,
                          const char *zero)
{
    if (!has_number(a))
        return value_none(a->status, a->reason);
    if (!has_number(b))
        return value_none(b->status, b->reason);
    if (b->number <= 0)
        return value_none(VALUE_MISSING, zero);

    const struct value *weaker = a->status == VALUE_SCALED ? a : b;
    struct value v = *weaker;
    v.number = a->number * scale.times / (b->number * scale.over);
    return isfinite(v.number) ? v : value_none(VALUE_MISSING, "not a finite number");
}

/* Adds a standard metric as a ratio of two others, if the sample has both. */
static void add_ratio(struct metric_list *f, const char *name, const char *above, const char *below,
                      struct scale scale, const char *zero)
{
    const struct sample_metric *a = metric_list_find(f, above), *b = metric_list_find(f, below);

    if (a && b)
        add(f, name, ratio(&a->value, &b->value, scale, zero), 0);
}

/* The same for what the runner may report: its own figure stays unless it is missing. */
static void add_rate(struct metric_list *f, const char *name, const char *above, struct scale scale)
{
    struct sample_metric *own = metric_list_find(f, name);
    const struct sample_metric *done = metric_list_find(f, above);
    const struct sample_metric *time = metric_list_find(f, "delivery_time");

    if (!own && done && !time)
        add(f, name, value_none(VALUE_MISSING, "the runner reports no delivery_time"), 0);
    if (!own)
        add_ratio(f, name, above, "delivery_time", scale, NO_TIME);
    else if (own->value.status == VALUE_MISSING && done && time && has_number(&done->value) &&
             has_number(&time->value))
        own->value = ratio(&done->value, &time->value, scale, NO_TIME);
}

static const struct scale as_it_is = {1, 1};

static void add_counter_shares(struct metric_list *f)
{
    size_t count;
    const struct metric_def *table = metric_table(&count);

    for (size_t i = 0; i < count; i++) {
        const struct sample_metric *m = metric_list_find(f, table[i].name);
        char name[64];

        if (table[i].kind != METRIC_COUNTER || !m || !has_number(&m->value))
            continue;
        snprintf(name, sizeof name, "%s_per_byte", table[i].name);
        if (metric_find(name))
            add_ratio(f, name, table[i].name, "delivered_bytes", as_it_is, NOTHING_DELIVERED);
        snprintf(name, sizeof name, "%s_per_message", table[i].name);
        if (metric_find(name))
            add_ratio(f, name, table[i].name, "delivered_messages", as_it_is, NOTHING_DELIVERED);
    }
}

void derive_ratios(struct metric_list *f)
{
    const struct scale mbit_per_s = {8, 1e6}, per_gbit = {1e9, 8}, in_us = {1e6, 1};

    add_ratio(f, "effective_cores", "cpu_time", "wall_time", as_it_is, NO_TIME);
    add_rate(f, "throughput", "delivered_bytes", mbit_per_s);
    add_rate(f, "messages_per_second", "delivered_messages", as_it_is);
    add_ratio(f, "cpu_per_gbit", "cpu_time", "delivered_bytes", per_gbit, NOTHING_DELIVERED);
    add_ratio(f, "cpu_per_message", "cpu_time", "delivered_messages", in_us, NOTHING_DELIVERED);
    add_ratio(f, "heap_bytes_per_message", "heap_bytes", "delivered_messages", as_it_is,
              NOTHING_DELIVERED);
    add_ratio(f, "heap_calls_per_message", "heap_calls", "delivered_messages", as_it_is,
              NOTHING_DELIVERED);
    add_counter_shares(f);
}
