#include "report/regimes_figures.h"

#include "base/buf.h"
#include "base/mem.h"

#include <math.h>
#include <string.h>

const char *regimes_sign(const char *word, bool utf8)
{
    return strcmp(word, "better") == 0      ? "+"
           : strcmp(word, "worse") == 0     ? "-"
           : strcmp(word, "no_change") == 0 ? "="
           : strcmp(word, "undecided") == 0 ? "?"
           : strcmp(word, "mixed") == 0     ? (utf8 ? "\u00b1" : "+-")
                                            : "";
}

void regimes_flip(const struct report *r, const struct report_flip *f, struct buf *out)
{
    if (f->metric && r->variants.count > 2)
        buf_printf(out, "%s of %s: ", f->metric, f->candidate);
    else
        buf_printf(out, "%s: ", f->metric ? f->metric : f->candidate);
    buf_addstr(out, "wins in ");
    strings_join(&f->wins, out);
    buf_addstr(out, f->wins.count > 1 ? "; loses in " : ", loses in ");
    strings_join(&f->loses, out);
    if (!f->metric)
        buf_addstr(out, " (by another metric)");
}

/* "2 CPUs (0-1)", "all CPUs". */
static const char *set_title(const struct report_cpu_set *set, struct arena *arena)
{
    if (set->count == 0)
        return "all CPUs";
    return arena_printf(arena, "%d CPU%s (%s)", set->count, set->count == 1 ? "" : "s", set->cpus);
}

static const struct report_cpu_set *base_of(const struct report_scaling *s)
{
    return s->base >= 0 && (size_t)s->base < s->set_count ? &s->sets[s->base] : NULL;
}

const char *scaling_note(const struct report_scaling *s, struct arena *arena)
{
    const struct report_cpu_set *base = base_of(s);

    return arena_printf(arena,
                        "over %s: the ratio of a variant's own medians under two profiles; their "
                        "runs are no pairs, so it has no bounds",
                        base ? set_title(base, arena) : "the smallest set");
}

struct report_table *scaling_table(const struct report_scaling *s, struct arena *arena)
{
    struct report_table *t = arena_alloc(arena, sizeof(*t));

    t->column_count = s->set_count;
    t->columns = arena_array(arena, s->set_count + 1, sizeof(*t->columns));
    for (size_t i = 0; i < s->set_count; i++) {
        t->columns[i] = s->column;
        t->columns[i].metric = set_title(&s->sets[i], arena);
    }
    t->row_count = s->row_count;
    t->rows = arena_array(arena, s->row_count + 1, sizeof(*t->rows));
    for (size_t i = 0; i < s->row_count; i++) {
        struct report_row *row = &t->rows[i];

        row->variant = s->rows[i].variant;
        row->cell_count = s->rows[i].cell_count;
        row->cells = arena_array(arena, row->cell_count + 1, sizeof(*row->cells));
        for (size_t k = 0; k < row->cell_count; k++)
            row->cells[k] = s->rows[i].cells[k].cell;
    }
    return t;
}

double scaling_speedup(const struct report_scaling *s, size_t row, size_t set)
{
    return set < s->rows[row].cell_count ? s->rows[row].cells[set].speedup : NAN;
}
