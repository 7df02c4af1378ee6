#include "judge/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strings.h"
#include "judge/exact.h"

/* ---- columns ---- */

/* What is asked of most programs: how fast, how much memory traffic, how much CPU, how much memory.
 * Of each line the first that any run has. */
static const char *const usual[][4] = {
    {"messages_per_second", "throughput", "wall_time", NULL},
    {"heap_bytes_per_message", "heap_bytes", NULL},
    {"effective_cores", NULL},
    {"cpu_per_message", "cpu_per_gbit", "cpu_time", NULL},
    {"peak_rss", NULL},
};

/* A memory pass has nothing else. */
static const char *const usual_of_memory[][4] = {
    {"heap_bytes_per_message", "heap_bytes", NULL},
    {"heap_calls_per_message", "heap_calls", NULL},
};

/* The runs that a table is made from. */
struct sources {
    const struct judged_stage *own;
    const struct judged_stage *memory; /* of the profile's memory pass; NULL: it has none */
    size_t memory_profile;             /* its index */
    bool is_memory;                    /* the table is of one itself */
};

static struct sources sources_of(const struct assessment *all, size_t profile,
                                 const struct judging *j)
{
    const struct profile *p = &j->plan->profiles[profile];
    struct sources s = {.own = &all[profile].decided, .is_memory = p->pass == PASS_MEMORY};
    const char *name = arena_printf(j->arena, "%s" PROFILE_MEMORY_SUFFIX, p->name);

    for (size_t i = 0; i < j->plan->profile_count; i++) {
        if (strcmp(j->plan->profiles[i].name, name) != 0 || all[i].decided.stage.present == 0)
            continue;
        s.memory = &all[i].decided;
        s.memory_profile = i;
    }
    return s;
}

/* Whose runs have the metric; NULL: nobody's. */
static const struct judged_stage *source_of(const struct sources *s, const char *metric)
{
    const struct judged_stage *from = s->memory && metric_is_heap(metric) ? s->memory : s->own;

    if (s->is_memory && !metric_is_heap(metric))
        return NULL;
    for (size_t i = 0; i < from->stage.metric_count; i++)
        if (strcmp(from->stage.metrics[i], metric) == 0)
            return from;
    return NULL;
}

/* The columns so far. */
struct columns_made {
    struct report_column *items;
    size_t count;
};

/* False: nobody has it. */
static bool add_column(struct columns_made *made, const struct sources *s, const char *metric,
                       const struct judging *j)
{
    struct report_column *c = &made->items[made->count];
    const struct judged_stage *from = source_of(s, metric);

    if (!from)
        return false;
    for (size_t i = 0; i < made->count; i++)
        if (strcmp(made->items[i].metric, metric) == 0)
            return true;
    *c = (struct report_column){.metric = metric, .unit = ""};
    plan_metric(j->plan, metric, &c->unit, &c->better);
    c->profile = from == s->own ? NULL : from->stage.profile->name;
    made->count++;
    return true;
}

static void add_usual(struct columns_made *made, const struct sources *s,
                      const char *const (*list)[4], size_t count, const struct judging *j)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; list[i][k]; k++)
            if (add_column(made, s, list[i][k], j))
                break;
}

static void add_judged(struct columns_made *made, const struct sources *s,
                       const struct judged_stage *of, const struct judging *j)
{
    for (size_t i = 0; of && i < of->metric_count; i++)
        if (of->gates[i].judged)
            add_column(made, s, of->metrics[i].metric, j);
}

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

void table_columns(struct report_column **out, size_t *count, const struct assessment *all,
                   size_t profile, const struct judging *j)
{
    const struct sources s = sources_of(all, profile, j);
    const struct runner *r = plan_find_runner(j->plan, j->plan->profiles[profile].runner);
    size_t room = s.own->stage.metric_count + (s.memory ? s.memory->stage.metric_count : 0);
    struct columns_made made = {.items = arena_array(j->arena, room + 1, sizeof(*made.items))};

    for (size_t i = 0; r && i < r->table.count; i++)
        add_column(&made, &s, r->table.items[i], j);
    if (s.is_memory)
        add_usual(&made, &s, usual_of_memory, COUNT(usual_of_memory), j);
    else if (!r || r->table.count == 0)
        add_usual(&made, &s, usual, COUNT(usual), j);
    add_judged(&made, &s, s.own, j);
    add_judged(&made, &s, s.memory, j);
    *out = made.items;
    *count = made.count;
}

/* ---- cells ---- */

#define REASONS_MAX 16 /* a reason may hold figures, and be another one in every run */

/* Why runs have no usable value, and how often. */
struct reasons {
    struct {
        const char *status, *reason;
        int count;
    } items[REASONS_MAX];
    size_t count;
};

static void add_reason(struct reasons *r, const char *status, const char *reason)
{
    size_t i = 0;

    while (i < r->count &&
           (strcmp(r->items[i].status, status) != 0 ||
            !strings_same(r->items[i].reason ? r->items[i].reason : "", reason ? reason : "")))
        i++;
    if (i == REASONS_MAX)
        return;
    if (i == r->count) {
        r->items[i].status = status;
        r->items[i].reason = reason;
        r->items[r->count++].count = 0;
    }
    r->items[i].count++;
}

/* Whether the run counts for the metric; its value, or why there is none. */
static bool look_at_run(const struct stage *s, size_t block, size_t variant, const char *metric,
                        size_t guess, double *value, struct reasons *reasons)
{
    struct archive_run run;
    struct sample_metric m;

    if (!stage_run(s, block, variant, &run)) {
        add_reason(reasons, "no_run", NULL);
        return false;
    }
    if (run.status != SAMPLE_OK) {
        add_reason(reasons, sample_status_name(run.status), run.error);
        return false;
    }
    if (!stage_metric(s, block, variant, metric, guess, &m)) {
        add_reason(reasons, "missing", "the run has no such figure");
        return false;
    }
    *value = m.value.number;
    if (!value_usable(&m.value))
        add_reason(reasons, value_status_name(m.value.status), m.value.reason);
    return value_usable(&m.value);
}

static bool is_interrupted(const struct stage *s, size_t block, size_t variant)
{
    struct archive_run run;

    return stage_run(s, block, variant, &run) && run.status == SAMPLE_INTERRUPTED;
}

static void tell_reason(struct report_cell *cell, const struct reasons *reasons,
                        struct arena *arena)
{
    size_t most = 0;

    cell->status = "ok";
    for (size_t i = 1; i < reasons->count; i++)
        if (reasons->items[i].count > reasons->items[most].count)
            most = i;
    if (reasons->count == 0)
        return;
    cell->status = reasons->items[most].status;
    if (reasons->items[most].reason)
        cell->reason = arena_strdup(arena, reasons->items[most].reason);
}

static size_t guess_of(const struct stage *s, const char *metric)
{
    size_t i = 0;

    while (i < s->metric_count && strcmp(s->metrics[i], metric) != 0)
        i++;
    return i;
}

void table_cell(struct report_cell *cell, const struct stage *s, const char *metric, size_t variant,
                struct arena *arena)
{
    struct reasons reasons = {.count = 0};
    double *values = xreallocarray(NULL, s->blocks + 1, sizeof(*values));
    size_t guess = guess_of(s, metric);

    *cell = (struct report_cell){.median = NAN, .low = NAN, .high = NAN};
    for (size_t b = 0; b < s->blocks; b++) {
        if (is_interrupted(s, b, variant))
            continue;
        cell->of++;
        if (look_at_run(s, b, variant, metric, guess, &values[cell->runs], &reasons))
            cell->runs++;
    }
    if (cell->runs > 0) {
        sort_ascending(values, (size_t)cell->runs);
        cell->median = sorted_median(values, (size_t)cell->runs);
        cell->low = values[0];
        cell->high = values[cell->runs - 1];
    }
    tell_reason(cell, &reasons, arena);
    free(values);
}

/* ---- the table ---- */

/* A control is no candidate: with one alone there is nothing to lay side by side. */
static size_t candidates(const struct plan *plan)
{
    size_t count = 0;

    for (size_t i = 1; i < plan->variant_count; i++)
        count += plan->variants[i].control ? 0 : 1;
    return count;
}

void table_stage(struct stage *s, const struct assessment *all, size_t profile,
                 const struct judging *j, struct arena *tables)
{
    stage_collect(s, j->archive, profile, all[profile].decided.stage.which, tables, tables);
}

/* The cells of the columns whose figures are of the profile with that index. */
static void fill_columns(struct report_table *t, bool memory, const struct assessment *all,
                         size_t profile, const struct judging *j)
{
    struct arena tables = ARENA_INIT;
    struct stage s;

    table_stage(&s, all, profile, j, &tables);
    for (size_t c = 0; c < t->column_count; c++)
        for (size_t v = 0; v < t->row_count && (t->columns[c].profile != NULL) == memory; v++)
            table_cell(&t->rows[v].cells[c], &s, t->columns[c].metric, v, j->arena);
    arena_release(&tables);
}

static void make_rows(struct report_table *t, const struct judging *j)
{
    t->row_count = j->plan->variant_count;
    t->rows = arena_array(j->arena, t->row_count, sizeof(*t->rows));
    for (size_t v = 0; v < t->row_count; v++) {
        t->rows[v].variant = j->plan->variants[v].name;
        t->rows[v].cell_count = t->column_count;
        t->rows[v].cells = arena_array(j->arena, t->column_count, sizeof(*t->rows[v].cells));
    }
}

void table_fill(struct report *r, const struct assessment *all, size_t profile,
                const struct judging *j)
{
    const struct sources s = sources_of(all, profile, j);
    struct report_table *t;

    if (candidates(j->plan) < 2 || s.own->stage.present == 0 ||
        r->profiles[profile].metric_count == 0)
        return;
    t = arena_alloc(j->arena, sizeof(*t));
    table_columns(&t->columns, &t->column_count, all, profile, j);
    make_rows(t, j);
    fill_columns(t, false, all, profile, j);
    if (s.memory)
        fill_columns(t, true, all, s.memory_profile, j);
    r->profiles[profile].table = t;
}
