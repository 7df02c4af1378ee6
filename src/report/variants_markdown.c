/* Tables over variants and over profiles, in Markdown. */
#include "report/variants_markdown.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "report/regimes_figures.h"
#include "report/variants_figures.h"

#include <math.h>
#include <string.h>

static bool any_judged(const struct report_profile *p)
{
    for (size_t i = 0; i < p->metric_count; i++)
        if (metric_judged(&p->metrics[i]))
            return true;
    return false;
}

static void head(const struct report_profile *p, bool judged, struct buf *out)
{
    const struct report_table *t = p->table;

    buf_addstr(out, "| |");
    for (size_t c = 0; c < t->column_count; c++) {
        buf_addch(out, ' ');
        text_markdown_code(out, t->columns[c].metric);
        const char *unit = variants_unit(t->columns[c].metric, t->columns[c].unit);
        if (unit[0]) {
            buf_addch(out, ' ');
            text_markdown(out, unit);
        }
        buf_addstr(out, " |");
    }
    buf_addstr(out, judged ? " verdict |\n|---|" : "\n|---|");
    for (size_t c = 0; c < t->column_count; c++)
        buf_addstr(out, "---:|");
    buf_addstr(out, judged ? "---|\n" : "\n");
}

static void notes_lines(const struct variants_notes *notes, struct buf *out)
{
    for (size_t i = 0; i < notes->lines.count; i++) {
        buf_printf(out, "- (%zu) ", i + 1);
        text_markdown(out, notes->lines.items[i]);
        buf_addch(out, '\n');
    }
    buf_addch(out, '\n');
}

/* What a cell holds, with the number of its note. */
static void value(const struct report_table *t, size_t row, size_t column,
                  const struct variants_notes *notes, struct buf *out)
{
    const struct report_cell *c = variants_cell(t, row, column);
    size_t note = notes->number[row * t->column_count + column];
    char text[FIGURE_TEXT];

    if (c) {
        variants_value(c, &t->columns[column], text);
        text_markdown(out, text);
    }
    if (note)
        buf_printf(out, " (%zu)", note);
}

static void ratio(const char *text, bool utf8, struct buf *out)
{
    buf_printf(out, "<br>%s", utf8 ? "×" : "x");
    text_markdown(out, text);
}

static void cell(const struct report *r, const struct report_profile *p, size_t row, size_t column,
                 const struct variants_notes *notes, bool utf8, struct buf *out)
{
    const struct report_table *t = p->table;
    const struct report_metric *m = variants_metric(r, p, row, column);
    char text[FIGURE_TEXT];

    buf_addch(out, ' ');
    value(t, row, column, notes, out);
    if (m && !isnan(m->median_change)) {
        figure_ratio(m->median_change, m->interval_low, m->interval_high, text);
        ratio(text, utf8, out);
    }
    buf_addstr(out, " |");
}

static void memory_note(const struct report_table *t, struct buf *out)
{
    struct buf text = BUF_INIT;

    if (variants_memory_note(t, &text)) {
        buf_addstr(out, "- ");
        text_markdown(out, text.data);
        buf_addch(out, '\n');
    }
    buf_release(&text);
}

void markdown_variants(const struct report *r, const struct report_profile *p, bool utf8,
                       struct buf *out)
{
    const struct report_table *t = p->table;
    struct arena arena = ARENA_INIT;
    struct variants_notes notes;
    bool judged = any_judged(p);

    text_markdown_code(out, p->profile);
    buf_addstr(out, ":\n\n");
    variants_notes(t, false, &notes, &arena);
    head(p, judged, out);
    for (size_t row = 0; row < t->row_count; row++) {
        enum verdict v;

        buf_addstr(out, "| ");
        text_markdown_code(out, t->rows[row].variant);
        buf_addstr(out, " |");
        for (size_t c = 0; c < t->column_count; c++)
            cell(r, p, row, c, &notes, utf8, out);
        if (judged)
            buf_printf(out, " %s |",
                       variants_verdict(p, t->rows[row].variant, &v) ? figure_verdict(v) : "");
        buf_addch(out, '\n');
    }
    buf_printf(out, "\n- ratio ");
    text_markdown(out, variants_ratio_note(r, p, &arena));
    buf_addch(out, '\n');
    memory_note(t, out);
    notes_lines(&notes, out);
    arena_release(&arena);
}

/* ---- CPU sets ---- */

static void scaling_head(const struct report_scaling *s, const struct report_table *t,
                         struct buf *out)
{
    text_markdown_code(out, s->column.metric);
    buf_addstr(out, " of ");
    text_markdown_code(out, s->profile);
    buf_addstr(out, ":\n\n| |");
    for (size_t i = 0; i < t->column_count; i++) {
        buf_addch(out, ' ');
        text_markdown(out, t->columns[i].metric);
        buf_addstr(out, " |");
    }
    buf_addstr(out, "\n|---|");
    for (size_t i = 0; i < t->column_count; i++)
        buf_addstr(out, "---:|");
    buf_addch(out, '\n');
}

static void scaling_row(const struct report_scaling *s, const struct report_table *t, size_t row,
                        const struct variants_notes *notes, bool utf8, struct buf *out)
{
    char text[FIGURE_TEXT];

    buf_addstr(out, "| ");
    text_markdown_code(out, t->rows[row].variant);
    buf_addstr(out, " |");
    for (size_t i = 0; i < t->column_count; i++) {
        buf_addch(out, ' ');
        value(t, row, i, notes, out);
        figure_factor(scaling_speedup(s, row, i), text);
        if (!isnan(scaling_speedup(s, row, i)))
            ratio(text, utf8, out);
        buf_addstr(out, " |");
    }
    buf_addch(out, '\n');
}

void markdown_scaling(const struct report_scaling *s, bool utf8, struct buf *out)
{
    struct arena arena = ARENA_INIT;
    const struct report_table *t = scaling_table(s, &arena);
    struct variants_notes notes;

    variants_notes(t, true, &notes, &arena);
    scaling_head(s, t, out);
    for (size_t row = 0; row < t->row_count; row++)
        scaling_row(s, t, row, &notes, utf8, out);
    buf_addstr(out, "\n- speed-up ");
    text_markdown(out, scaling_note(s, &arena));
    buf_addch(out, '\n');
    notes_lines(&notes, out);
    arena_release(&arena);
}

/* ---- the grid ---- */

static void grid_head(const struct report *r, bool several, struct buf *out)
{
    const struct report_regimes *g = r->regimes;

    buf_addstr(out, several ? "| candidate | metric |" : "| metric |");
    for (size_t i = 0; i < g->regime_count; i++) {
        buf_addch(out, ' ');
        text_markdown(out, g->regimes[i].regime);
        buf_addstr(out, " |");
    }
    buf_addstr(out, several ? "\n|---|---|" : "\n|---|");
    for (size_t i = 0; i < g->regime_count; i++)
        buf_addstr(out, ":-:|");
    buf_addch(out, '\n');
}

/* A lone + or - is text here, as it stands within a cell. */
static void grid_row(const struct report_signs *s, size_t regimes, bool several, bool utf8,
                     struct buf *out)
{
    buf_addstr(out, "| ");
    if (several) {
        text_markdown_code(out, s->candidate);
        buf_addstr(out, " | ");
    }
    text_markdown_code(out, s->metric);
    buf_addstr(out, " |");
    for (size_t i = 0; i < regimes; i++)
        buf_printf(out, " %s |", i < s->signs.count ? regimes_sign(s->signs.items[i], utf8) : "");
    buf_addch(out, '\n');
}

void markdown_regimes(const struct report *r, bool utf8, struct buf *out)
{
    const struct report_regimes *g = r->regimes;
    bool several = r->variants.count > 2;

    for (size_t i = 0; i < g->flip_count; i++) {
        struct buf text = BUF_INIT;

        regimes_flip(r, &g->flips[i], &text);
        buf_printf(out, "- %s", utf8 ? "⚠️ " : "");
        text_markdown(out, text.data);
        buf_addch(out, '\n');
        buf_release(&text);
    }
    buf_addstr(out, g->flip_count ? "\n" : "");
    grid_head(r, several, out);
    for (size_t i = 0; i < g->row_count; i++)
        grid_row(&g->rows[i], g->regime_count, several, utf8, out);
    buf_addstr(out, "\n");
    text_markdown(out, REGIMES_LEGEND);
    buf_addstr(out, "\n\n");
}
