#include "judge/notes_memory.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

#define BY_LIBRARY                                                                                 \
    "malloc, calloc, realloc and aligned allocation of all threads, by libabba-heap.so: in the "   \
    "windows that the program marks, else from start to end"

#define NOT_THE_SAME "the two columns count heaps of different kinds"

static void add_counts(struct buf *line, const char *metrics, const char *what)
{
    buf_printf(line, "%s%s %s %s", line->len ? "; " : "", metrics,
               strchr(metrics, ',') ? "count" : "counts", what);
}

/* The names of the metrics from `first` on that count the same. */
static const char *names_of(const struct runner *r, size_t first, struct arena *arena)
{
    const char *names = r->metrics[first].name;

    for (size_t i = first + 1; i < r->metric_count; i++)
        if (r->metrics[i].counts && strcmp(r->metrics[i].counts, r->metrics[first].counts) == 0)
            names = arena_printf(arena, "%s, %s", names, r->metrics[i].name);
    return names;
}

static bool is_named(const struct runner *r, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (r->metrics[i].counts && strcmp(r->metrics[i].counts, r->metrics[at].counts) == 0)
            return true;
    return false;
}

/* Whether the program itself tells what its heap was asked for. */
static bool tells_itself(const struct runner *r, const char *metric)
{
    const struct runner_metric *m = runner_find_metric(r, metric);

    return m && m->from.source != SOURCE_HEAP;
}

/* What the figures of a runner's column count. */
static const char *counts_of(const struct runner *r, struct arena *arena)
{
    struct buf line = BUF_INIT;
    const char *text;

    if (!tells_itself(r, "heap_bytes") && !tells_itself(r, "heap_bytes_per_message"))
        add_counts(&line, "heap_bytes, heap_calls", BY_LIBRARY);
    for (size_t i = 0; i < r->metric_count; i++)
        if (r->metrics[i].counts && !is_named(r, i))
            add_counts(&line, names_of(r, i, arena), r->metrics[i].counts);
    text = arena_strdup(arena, line.data ? line.data : "");
    buf_release(&line);
    return text;
}

/* By whose word a metric counts for a runner; of a share, that of what is shared out. */
static const char *word_of(const struct runner *r, const char *metric)
{
    const struct runner_metric *m = runner_find_metric(r, metric);

    if (!m && metric_is_heap(metric))
        m = runner_find_metric(r, strncmp(metric, "heap_bytes", 10) == 0 ? "heap_bytes"
                                                                         : "heap_calls");
    if (!m || m->from.source == SOURCE_HEAP)
        return BY_LIBRARY;
    return m->counts ? m->counts : m->name;
}

void memory_mark(struct report_metric *m, const struct profile *of, const struct judging *j)
{
    const struct plan *p = j->plan;
    const char *own = NULL, *base = word_of(plan_runner(p, of, &p->variants[0]), m->metric);

    if (of->pass != PASS_MEMORY)
        return;
    for (size_t i = 1; i < p->variant_count; i++)
        if (strcmp(p->variants[i].name, m->candidate) == 0)
            own = word_of(plan_runner(p, of, &p->variants[i]), m->metric);
    if (!own || strcmp(own, base) == 0 || m->complete_pairs == 0)
        return;
    m->mark = MARK_NONE;
    m->note = m->note ? arena_printf(j->arena, "%s; %s", m->note, NOT_THE_SAME) : NOT_THE_SAME;
}

/* Whose columns count the same as that of variant `i`; NULL: they were named with an earlier one.
 */
static const char *columns_of(const char *const *counts, const struct plan *p, size_t i,
                              struct arena *arena)
{
    const char *names = "";
    size_t named = 0;

    for (size_t k = 0; k < p->variant_count; k++) {
        if (strcmp(counts[k], counts[i]) != 0)
            continue;
        if (k < i)
            return NULL;
        names = arena_printf(arena, "%s%s'%s'", names, named++ ? ", " : "", p->variants[k].name);
    }
    return named == p->variant_count ? "" : arena_printf(arena, "%s: ", names);
}

/* One note for all variants whose columns count the same. */
static void note_counts(struct report_profile *out, const struct profile *of,
                        const struct judging *j)
{
    const struct plan *p = j->plan;
    const char **counts = arena_array(j->arena, p->variant_count, sizeof(*counts));

    for (size_t i = 0; i < p->variant_count; i++)
        counts[i] = counts_of(plan_runner(p, of, &p->variants[i]), j->arena);
    for (size_t i = 0; i < p->variant_count; i++) {
        const char *columns = columns_of(counts, p, i, j->arena);

        if (columns && counts[i][0])
            strings_add(&out->notes, j->arena, arena_printf(j->arena, "%s%s", columns, counts[i]));
    }
}

void notes_memory(struct report_profile *out, const struct assessment *x, const struct judging *j)
{
    const struct profile *of = x->decided.stage.profile;

    if (of->pass != PASS_MEMORY)
        return;
    note_counts(out, of, j);
    if (out->complete_pairs > 1 && out->complete_pairs < 5)
        strings_add(&out->notes, j->arena,
                    arena_printf(j->arena, "the bounds of %d pairs are the range of their changes",
                                 out->complete_pairs));
}

bool notes_memory_withheld(const char *reason)
{
    char text[200];

    snprintf(text, sizeof(text), "%s: " SAMPLE_MEMORY_PASS, value_status_name(VALUE_NOT_COUNTED));
    return strcmp(reason, text) == 0;
}
