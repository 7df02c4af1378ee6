/* What profiles say together: speed-ups over CPU sets, and the grid of signs. */
#include "base/buf.h"
#include "base/text.h"
#include "report/page.h"
#include "report/regimes_figures.h"
#include "report/variants_figures.h"

#include <string.h>

static void block_title(struct page *p, const char *name, const char *what)
{
    buf_addch(p->out, '\n');
    page_say(p, TONE_BOLD, name);
    buf_addstr(p->out, "  ");
    struct buf safe = BUF_INIT;
    safe_text(&safe, what, strlen(what));
    text_wrap(p->out, safe.data ? safe.data : "", text_width(name) + 2, PAGE_INDENT, p->width);
    buf_release(&safe);
    buf_addch(p->out, '\n');
}

/* ---- CPU sets ---- */

struct sets {
    struct page *p;
    const struct report_scaling *s;
    const struct report_table *t;
    struct variants_notes notes;
};

#define SETS_IN_A_TABLE 10

static const char *cell_text(const struct sets *x, size_t row, size_t set)
{
    const struct report_cell *cell = variants_cell(x->t, row, set);
    size_t note = x->notes.number[row * x->t->column_count + set];
    char text[FIGURE_TEXT];
    if (!cell)
        return "";
    variants_value(cell, &x->t->columns[set], text);
    return note ? arena_printf(&x->p->arena, "%s (%zu)", page_safe(x->p, text), note)
                : page_safe(x->p, text);
}

static void sets_build(const struct sets *x, size_t from, size_t to, struct table *t)
{
    struct table_column *columns = arena_array(&x->p->arena, 2 * (to - from) + 1, sizeof(*columns));
    size_t count = 0;
    char text[FIGURE_TEXT];
    columns[count++] = (struct table_column){.title = "", .shrink = true};
    for (size_t i = from; i < to; i++) {
        columns[count++] = (struct table_column){
            .title = page_safe(x->p, x->t->columns[i].metric), .right = true, .gap = 2};
        columns[count++] = (struct table_column){.title = "", .right = true, .gap = 1};
    }
    table_init(t, columns, count, &x->p->arena);
    for (size_t row = 0; row < x->t->row_count; row++) {
        table_row(t);
        table_set(t, 0, TONE_HEAD, page_safe(x->p, x->t->rows[row].variant));
        for (size_t i = from; i < to; i++) {
            double speedup = scaling_speedup(x->s, row, i);
            table_set(t, 1 + 2 * (i - from), TONE_PLAIN, cell_text(x, row, i));
            figure_factor(speedup, text);
            if (speedup == speedup)
                table_set(t, 2 + 2 * (i - from), TONE_BOLD,
                          arena_printf(&x->p->arena, "x%s", text));
        }
    }
}

/* As many sets below each other as the width asks for. */
static void sets_write(const struct sets *x)
{
    size_t count = x->t->column_count;
    for (size_t from = 0; from < count;) {
        struct table t;
        size_t to = from + SETS_IN_A_TABLE < count ? from + SETS_IN_A_TABLE : count;
        for (sets_build(x, from, to, &t); to - from > 1 && page_too_wide(x->p, &t);)
            sets_build(x, from, --to, &t);
        if (from > 0)
            buf_addch(x->p->out, '\n');
        table_write(&t, PAGE_INDENT, x->p->width, x->p->style->color, x->p->out);
        from = to;
    }
}

void page_scaling(struct page *p, const struct report_scaling *s)
{
    struct sets x = {.p = p, .s = s, .t = scaling_table(s, &p->arena)};
    variants_notes(x.t, true, &x.notes, &p->arena);
    block_title(p, "CPUs", arena_printf(&p->arena, "%s of %s", s->column.metric, s->profile));
    sets_write(&x);
    page_labelled(p, "speed-up", scaling_note(s, &p->arena));
    for (size_t i = 0; i < x.notes.lines.count; i++)
        page_labelled(p, arena_printf(&p->arena, "(%zu)", i + 1), x.notes.lines.items[i]);
}

/* ---- the grid ---- */

#define REGIMES_IN_A_TABLE 20

static enum tone sign_tone(const char *word)
{
    return strcmp(word, "better") == 0  ? TONE_GOOD
           : strcmp(word, "worse") == 0 ? TONE_BAD
           : strcmp(word, "mixed") == 0 ? TONE_WARN
                                        : TONE_DIM;
}

/* The regimes `from` to `to`, by name or by number. */
static void grid_build(struct page *p, size_t from, size_t to, bool numbers, struct table *t)
{
    const struct report_regimes *g = p->r->regimes;
    struct table_column *columns = arena_array(&p->arena, to - from + 2, sizeof(*columns));
    size_t count = 0;
    const char *before = "";
    columns[count++] = (struct table_column){.title = p->r->variants.count > 2 ? "candidate" : ""};
    columns[count++] = (struct table_column){.title = "metric", .gap = 2, .shrink = true};
    for (size_t i = from; i < to; i++)
        columns[count++] =
            (struct table_column){.title = numbers ? arena_printf(&p->arena, "(%zu)", i + 1)
                                                   : page_safe(p, g->regimes[i].regime),
                                  .gap = 2};
    table_init(t, columns, count, &p->arena);
    for (size_t row = 0; row < g->row_count; row++) {
        const struct report_signs *s = &g->rows[row];
        table_row(t);
        if (p->r->variants.count > 2 && strcmp(s->candidate, before) != 0)
            table_set(t, 0, TONE_HEAD, page_safe(p, s->candidate));
        before = s->candidate;
        table_set(t, 1, TONE_PLAIN, page_safe(p, s->metric));
        for (size_t i = from; i < to && i < s->signs.count; i++)
            table_set(t, 2 + i - from, sign_tone(s->signs.items[i]),
                      regimes_sign(s->signs.items[i], p->style->utf8));
    }
}

/* As many regimes below each other as the width asks for. */
static void grid_parts(struct page *p, bool numbers)
{
    size_t count = p->r->regimes->regime_count;
    for (size_t from = 0; from < count;) {
        struct table t;
        size_t to = from + REGIMES_IN_A_TABLE < count ? from + REGIMES_IN_A_TABLE : count;
        for (grid_build(p, from, to, numbers, &t); to - from > 1 && page_too_wide(p, &t);)
            grid_build(p, from, --to, numbers, &t);
        if (from > 0)
            buf_addch(p->out, '\n');
        table_write(&t, PAGE_INDENT, p->width, p->style->color, p->out);
        from = to;
    }
}

/* By name if all regimes fit beside each other; else by number, and the names below. */
static void grid_write(struct page *p)
{
    size_t count = p->r->regimes->regime_count;
    struct table t;
    bool numbers = count > REGIMES_IN_A_TABLE;
    if (!numbers) {
        grid_build(p, 0, count, false, &t);
        numbers = page_too_wide(p, &t);
    }
    grid_parts(p, numbers);
    for (size_t i = 0; numbers && i < count; i++)
        page_labelled(p, arena_printf(&p->arena, "(%zu)", i + 1), p->r->regimes->regimes[i].regime);
}

void page_regimes(struct page *p)
{
    const struct report_regimes *g = p->r->regimes;
    block_title(p, "regimes", "what was shown where");
    grid_write(p);
    page_labelled(p, "signs", REGIMES_LEGEND);
    for (size_t i = 0; i < g->flip_count; i++) {
        struct buf text = BUF_INIT;
        regimes_flip(p->r, &g->flips[i], &text);
        buf_fill(p->out, ' ', PAGE_INDENT);
        page_say(p, TONE_WARN, "flips");
        buf_fill(p->out, ' ', PAGE_LABEL - strlen("flips"));
        text_wrap(p->out, page_safe(p, text.data), PAGE_INDENT + PAGE_LABEL,
                  PAGE_INDENT + PAGE_LABEL, p->width);
        buf_addch(p->out, '\n');
        buf_release(&text);
    }
}
