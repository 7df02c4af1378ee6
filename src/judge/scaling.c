#include "judge/scaling.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "judge/table.h"

#define AXIS "cpus"

/* Whether two combinations of one matrix differ in their CPUs alone. */
static bool same_but_cpus(const struct profile *a, const struct profile *b)
{
    if (!a->combination_of || !b->combination_of ||
        strcmp(a->combination_of, b->combination_of) != 0 ||
        a->combination_count != b->combination_count)
        return false;
    for (size_t i = 0; i < a->combination_count; i++) {
        const char *there = profile_axis(b, a->combination[i].name);

        if (!there || (strcmp(a->combination[i].name, AXIS) != 0 &&
                       strcmp(there, a->combination[i].text) != 0))
            return false;
    }
    return true;
}

static bool takes_part(const struct assessment *x, const struct profile *p)
{
    return profile_axis(p, AXIS) && x->decided.stage.present > 0;
}

static const char *name_of(const struct profile *p, struct arena *arena)
{
    const char *name = p->combination_of;

    for (size_t i = 0; i < p->combination_count; i++)
        if (strcmp(p->combination[i].name, AXIS) != 0)
            name = arena_printf(arena, "%s,%s=%s", name, p->combination[i].name,
                                p->combination[i].text);
    return name;
}

/* The set with the fewest CPUs; all of them are more than any number. */
static size_t base_of(const struct report_scaling *s)
{
    size_t base = 0;

    for (size_t i = 1; i < s->set_count; i++)
        if (s->sets[i].count > 0 &&
            (s->sets[base].count == 0 || s->sets[i].count < s->sets[base].count))
            base = i;
    return base;
}

static double speedup(const struct report_scaling *s, const struct report_scaled *row, size_t set)
{
    double here = row->cells[set].cell.median, base = row->cells[s->base].cell.median;
    double ratio = s->column.better == BETTER_HIGHER ? here / base : base / here;

    return set == (size_t)s->base || !isfinite(ratio) ? NAN : ratio;
}

static void make_rows(struct report_scaling *s, const struct judging *j)
{
    s->row_count = j->plan->variant_count;
    s->rows = arena_array(j->arena, s->row_count, sizeof(*s->rows));
    for (size_t v = 0; v < s->row_count; v++) {
        s->rows[v].variant = j->plan->variants[v].name;
        s->rows[v].cell_count = s->set_count;
        s->rows[v].cells = arena_array(j->arena, s->set_count, sizeof(*s->rows[v].cells));
    }
}

/* The cells of all variants on one set; the profile has that index. */
static void fill_set(struct report_scaling *s, size_t set, const struct assessment *all,
                     size_t profile, const struct judging *j)
{
    struct arena tables = ARENA_INIT;
    struct stage stage;

    table_stage(&stage, all, profile, j, &tables);
    for (size_t v = 0; v < s->row_count; v++)
        table_cell(&s->rows[v].cells[set].cell, &stage, s->column.metric, v, j->arena);
    arena_release(&tables);
}

static void fill_rows(struct report_scaling *s, const struct assessment *all, const size_t *of,
                      const struct judging *j)
{
    make_rows(s, j);
    for (size_t i = 0; i < s->set_count; i++)
        fill_set(s, i, all, of[i], j);
    for (size_t v = 0; v < s->row_count; v++)
        for (size_t i = 0; i < s->set_count; i++)
            s->rows[v].cells[i].speedup = speedup(s, &s->rows[v], i);
}

/* Those from `first` on that differ from it in their CPUs alone. */
static void collect(struct report_scaling *s, size_t *of, size_t first, const struct assessment *x,
                    const struct judging *j)
{
    for (size_t i = first; i < j->plan->profile_count; i++) {
        const struct profile *p = &j->plan->profiles[i];

        if (!takes_part(&x[i], p) || !same_but_cpus(&j->plan->profiles[first], p))
            continue;
        of[s->set_count] = i;
        s->sets[s->set_count++] = (struct report_cpu_set){
            .cpus = profile_axis(p, AXIS),
            .count = profile_count_cpus(profile_axis(p, AXIS)),
            .profile = p->name,
        };
    }
}

static bool is_first(const struct assessment *x, const struct judging *j, size_t profile)
{
    for (size_t i = 0; i < profile; i++)
        if (takes_part(&x[i], &j->plan->profiles[i]) &&
            same_but_cpus(&j->plan->profiles[i], &j->plan->profiles[profile]))
            return false;
    return takes_part(&x[profile], &j->plan->profiles[profile]);
}

static void fill_one(struct report_scaling *s, size_t first, const struct assessment *x,
                     const struct judging *j)
{
    size_t room = j->plan->profile_count, columns;
    size_t *of = arena_array(j->arena, room, sizeof(*of));
    struct report_column *column;

    *s = (struct report_scaling){.profile = name_of(&j->plan->profiles[first], j->arena)};
    s->sets = arena_array(j->arena, room, sizeof(*s->sets));
    collect(s, of, first, x, j);
    table_columns(&column, &columns, x, first, j);
    if (s->set_count < 2 || columns == 0)
        return;
    s->column = column[0];
    s->base = (int)base_of(s);
    fill_rows(s, x, of, j);
}

void scaling_fill(struct report *r, const struct assessment *x, const struct judging *j)
{
    r->scalings = arena_array(j->arena, r->profile_count, sizeof(*r->scalings));
    for (size_t i = 0; i < r->profile_count; i++) {
        if (!is_first(x, j, i))
            continue;
        fill_one(&r->scalings[r->scaling_count], i, x, j);
        r->scaling_count += r->scalings[r->scaling_count].row_count > 0;
    }
}
