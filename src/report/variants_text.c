/* The variants of a profile side by side: values, and ratios to the baseline, in as many tables
 * below each other as the width asks for. */
#include "base/buf.h"
#include "base/text.h"
#include "report/page.h"
#include "report/variants_figures.h"

#include <math.h>
#include <string.h>

/* What is being laid out. */
struct sides {
    struct page *p;
    const struct report_profile *profile;
    const struct report_table *t;
    struct variants_notes notes;
    bool values, ratios; /* what is shown of each metric */
};

#define METRICS_IN_A_TABLE 10 /* with two columns each, within TABLE_MAX_COLUMNS */

static void set_value(const struct sides *s, struct table *t, size_t at, size_t row, size_t column)
{
    const struct report_cell *cell = variants_cell(s->t, row, column);
    size_t note = s->notes.number[row * s->t->column_count + column];
    char text[FIGURE_TEXT];
    if (!cell)
        return;
    variants_value(cell, &s->t->columns[column], text);
    table_set(t, at, cell->runs > 0 ? TONE_PLAIN : TONE_WARN,
              note ? arena_printf(&s->p->arena, "%s (%zu)", page_safe(s->p, text), note)
                   : page_safe(s->p, text));
}

static void set_ratio(const struct sides *s, struct table *t, size_t at, size_t row, size_t column)
{
    const struct report_metric *m = variants_metric(s->p->r, s->profile, row, column);
    char text[FIGURE_TEXT];
    if (!m)
        return;
    figure_ratio(m->median_change, m->interval_low, m->interval_high, text);
    table_set(t, at,
              m->mark == MARK_BETTER  ? TONE_GOOD
              : m->mark == MARK_WORSE ? TONE_BAD
                                      : TONE_PLAIN,
              text);
}

static void set_verdict(const struct sides *s, struct table *t, size_t at, size_t row)
{
    enum verdict v;
    if (variants_verdict(s->profile, s->t->rows[row].variant, &v))
        table_set(t, at, page_verdict_tone(v), figure_verdict(v));
}

static struct table_column *titles(const struct sides *s, size_t from, size_t to, size_t *count)
{
    struct arena *arena = &s->p->arena;
    struct table_column *all = arena_array(arena, 2 * (to - from) + 2, sizeof(*all));
    const char *baseline = s->p->r->variants.count ? s->p->r->variants.items[0] : "baseline";
    size_t n = 0;
    all[n++] = (struct table_column){
        .title = s->values ? "" : arena_printf(arena, "ratio to %s", page_safe(s->p, baseline)),
        .shrink = true};
    for (size_t c = from; c < to; c++) {
        const char *title = variants_title(s->t->columns[c].metric, s->t->columns[c].unit, arena);
        if (s->values)
            all[n++] = (struct table_column){.title = title, .right = true, .gap = 2};
        if (s->ratios)
            all[n++] = (struct table_column){
                .title = s->values ? "ratio" : title, .right = true, .gap = s->values ? 1 : 2};
    }
    if (s->values && to == s->t->column_count)
        all[n++] = (struct table_column){.title = "verdict", .gap = 2};
    *count = n;
    return all;
}

/* The metrics `from` to `to` of all variants. */
static void build(const struct sides *s, size_t from, size_t to, struct table *t)
{
    size_t count;
    const struct table_column *columns = titles(s, from, to, &count);
    table_init(t, columns, count, &s->p->arena);
    for (size_t row = s->values ? 0 : 1; row < s->t->row_count; row++) {
        size_t n = 0;
        table_row(t);
        table_set(t, n++, TONE_HEAD, page_safe(s->p, s->t->rows[row].variant));
        for (size_t c = from; c < to; c++) {
            if (s->values)
                set_value(s, t, n++, row, c);
            if (s->ratios)
                set_ratio(s, t, n++, row, c);
        }
        if (s->values && to == s->t->column_count)
            set_verdict(s, t, n++, row);
    }
}

/* Whether `parts` tables of about as many metrics each keep to the width; writes them if so, or if
 * they must be. */
static bool write_parts(const struct sides *s, size_t parts, bool must)
{
    size_t count = s->t->column_count, each = (count + parts - 1) / parts;
    struct table t;
    if (each > METRICS_IN_A_TABLE)
        return false;
    for (size_t from = 0; from < count && !must; from += each) {
        build(s, from, from + each < count ? from + each : count, &t);
        if (page_too_wide(s->p, &t))
            return false;
    }
    for (size_t from = 0; from < count; from += each) {
        build(s, from, from + each < count ? from + each : count, &t);
        if (from > 0)
            buf_addch(s->p->out, '\n');
        table_write(&t, PAGE_INDENT, s->p->width, s->p->style->color, s->p->out);
    }
    return true;
}

static void write_all(const struct sides *s)
{
    for (size_t parts = 1; parts <= s->t->column_count; parts++)
        if (write_parts(s, parts, parts == s->t->column_count))
            return;
}

static void memory_note(struct page *p, const struct report_table *t)
{
    struct buf text = BUF_INIT;
    if (variants_memory_note(t, &text))
        page_labelled(p, "memory", text.data);
    buf_release(&text);
}

void page_variants(struct page *p, const struct report_profile *profile)
{
    struct sides s = {.p = p, .profile = profile, .t = profile->table, .values = true};
    if (s.t->column_count == 0 || s.t->row_count == 0)
        return;
    variants_notes(s.t, false, &s.notes, &p->arena);
    s.ratios = true;
    if (!write_parts(&s, 1, false)) {
        s.ratios = false;
        write_all(&s);
        buf_addch(p->out, '\n');
        s.values = false, s.ratios = true;
        write_all(&s);
    }
    page_labelled(p, "ratio", variants_ratio_note(p->r, profile, &p->arena));
    memory_note(p, s.t);
    for (size_t i = 0; i < s.notes.lines.count; i++)
        page_labelled(p, arena_printf(&p->arena, "(%zu)", i + 1), s.notes.lines.items[i]);
}
