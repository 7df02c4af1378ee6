#include "report/variants_figures.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- ratios ---- */

/* Decimals that tell two ratios near 1 apart, and do not pretend to more for large ones. */
static int ratio_decimals(double largest)
{
    return largest < 1.0995 ? 3 : largest < 9.995 ? 2 : largest < 99.95 ? 1 : 0;
}

static void one_ratio(double change, int decimals, char out[FIGURE_TEXT])
{
    if (isinf(change))
        snprintf(out, FIGURE_TEXT, "from 0");
    else if (change + 1 >= 1e6)
        snprintf(out, FIGURE_TEXT, "%.2e", change + 1);
    else
        snprintf(out, FIGURE_TEXT, "%.*f", decimals, change + 1);
}

void figure_ratio(double change, double low, double high, char out[FIGURE_TEXT])
{
    char a[FIGURE_TEXT], b[FIGURE_TEXT], c[FIGURE_TEXT];

    if (isnan(change)) {
        memcpy(out, "-", 2);
        return;
    }
    bool bounded = !isnan(low) && !isnan(high);
    double largest = isinf(change) ? 0 : change + 1;
    if (bounded && !isinf(high) && high + 1 > largest)
        largest = high + 1;
    int decimals = ratio_decimals(largest);
    one_ratio(change, decimals, a);
    if (!bounded || (isinf(low) && isinf(high))) {
        memcpy(out, a, FIGURE_TEXT);
        return;
    }
    one_ratio(low, decimals, b);
    one_ratio(high, decimals, c);
    snprintf(out, FIGURE_TEXT, "%.18s [%.18s, %.18s]", a, b, c);
}

void figure_factor(double factor, char out[FIGURE_TEXT])
{
    figure_ratio(factor - 1, NAN, NAN, out);
}

const struct report_metric *variants_metric(const struct report *r, const struct report_profile *p,
                                            size_t row, size_t column)
{
    const struct report_column *c = &p->table->columns[column];
    const struct report_profile *from = c->profile ? report_profile_of(r, c->profile) : p;

    return from ? report_metric_of(from, p->table->rows[row].variant, c->metric) : NULL;
}

/* The levels of the bounds that the table shows; false: it shows none. */
static bool levels(const struct report *r, const struct report_profile *p, double *low,
                   double *high)
{
    const struct report_table *t = p->table;

    *low = INFINITY, *high = -INFINITY;
    for (size_t row = 0; row < t->row_count; row++) {
        for (size_t c = 0; c < t->column_count; c++) {
            const struct report_metric *m = variants_metric(r, p, row, c);
            if (!m || isnan(m->interval_low) || isnan(m->level))
                continue;
            *low = fmin(*low, m->level);
            *high = fmax(*high, m->level);
        }
    }
    return *low <= *high;
}

const char *variants_ratio_note(const struct report *r, const struct report_profile *p,
                                struct arena *arena)
{
    char a[FIGURE_TEXT], b[FIGURE_TEXT];
    double low, high;
    const char *bounds = "; there are too few pairs for bounds";

    if (levels(r, p, &low, &high)) {
        figure_level(low, a);
        figure_level(high, b);
        bounds = arena_printf(arena, "; each of its bounds holds with %s%s%s", a,
                              low < high ? " to " : "", low < high ? b : "");
    }
    return arena_printf(arena, "to %s, in pairs: the median of the pairs' changes, as a ratio%s",
                        r->variants.count ? r->variants.items[0] : "the baseline", bounds);
}

/* ---- cells ---- */

const struct report_cell *variants_cell(const struct report_table *t, size_t row, size_t column)
{
    const struct report_row *r = &t->rows[row];

    return column < r->cell_count ? &r->cells[column] : NULL;
}

static const char *status_word(const char *status)
{
    return strcmp(status, "no_run") == 0        ? "not run"
           : strcmp(status, "not_counted") == 0 ? "not counted"
           : strcmp(status, "timeout") == 0     ? "timed out"
                                                : status;
}

void variants_value(const struct report_cell *cell, const struct report_column *column,
                    char out[FIGURE_TEXT])
{
    if (cell->runs > 0)
        figure_value(cell->median, column->unit, out);
    else
        snprintf(out, FIGURE_TEXT, "%.30s", cell->of > 0 ? status_word(cell->status) : "not run");
}

bool variants_verdict(const struct report_profile *p, const char *variant, enum verdict *v)
{
    bool judged = false;

    *v = VERDICT_NOT_JUDGED;
    for (size_t i = 0; i < p->metric_count; i++) {
        const struct report_metric *m = &p->metrics[i];
        if (strcmp(m->candidate, variant) != 0 || !metric_judged(m) || m->control)
            continue;
        *v = judged ? verdict_worse(*v, m->verdict) : m->verdict;
        judged = true;
    }
    return judged;
}

bool variants_memory_note(const struct report_table *t, struct buf *out)
{
    const char *profile = NULL;

    for (size_t c = 0; c < t->column_count; c++) {
        if (!t->columns[c].profile)
            continue;
        buf_printf(out, "%s%s", profile ? ", " : "", t->columns[c].metric);
        profile = t->columns[c].profile;
    }
    if (profile)
        buf_printf(out,
                   ": from the runs of '%s', which give no times; what each variant's figure "
                   "counts is said there",
                   profile);
    return profile != NULL;
}

/* ---- notes ---- */

/* Cells that lack the same for the same reason: of one variant, or of one metric. */
struct note {
    const struct report_cell *like;
    struct strings variants, metrics;
};

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool fits_note(const struct note *n, const struct report_cell *cell, const char *variant,
                      const char *metric)
{
    return n->like->runs == cell->runs && n->like->of == cell->of &&
           strcmp(n->like->status, cell->status) == 0 && same_text(n->like->reason, cell->reason) &&
           ((n->variants.count == 1 && strcmp(n->variants.items[0], variant) == 0) ||
            (n->metrics.count == 1 && strcmp(n->metrics.items[0], metric) == 0));
}

static const char *note_text(const struct note *n, size_t columns, bool places, struct arena *arena)
{
    struct buf text = BUF_INIT;
    const struct report_cell *c = n->like;

    if (n->metrics.count > 1 && n->metrics.count == columns) { /* a variant that has nothing */
        strings_join(&n->variants, &text);
    } else {
        strings_join(places ? &n->variants : &n->metrics, &text);
        buf_addstr(&text, places ? " on " : " of ");
        strings_join(places ? &n->metrics : &n->variants, &text);
    }
    buf_printf(&text, ": %s in %d of %d run%s", status_word(c->status), c->of - c->runs, c->of,
               c->of == 1 ? "" : "s");
    if (c->reason)
        buf_printf(&text, ": %s", c->reason);
    const char *own = arena_strdup(arena, text.data);
    buf_release(&text);
    return own;
}

void variants_notes(const struct report_table *t, bool places, struct variants_notes *out,
                    struct arena *arena)
{
    size_t cells = t->row_count * t->column_count, count = 0;
    struct note *notes = arena_array(arena, cells + 1, sizeof(*notes));

    *out = (struct variants_notes){.number = arena_array(arena, cells + 1, sizeof(*out->number))};
    for (size_t i = 0; i < cells; i++) {
        size_t row = i / t->column_count, column = i % t->column_count, n = 0;
        const struct report_cell *cell = variants_cell(t, row, column);
        const char *variant = t->rows[row].variant, *metric = t->columns[column].metric;
        if (!cell || strcmp(cell->status, "ok") == 0)
            continue;
        while (n < count && !fits_note(&notes[n], cell, variant, metric))
            n++;
        if (n == count)
            notes[count++].like = cell;
        strings_add_new(&notes[n].variants, arena, variant);
        strings_add_new(&notes[n].metrics, arena, metric);
        out->number[i] = n + 1;
    }
    for (size_t n = 0; n < count; n++)
        strings_add(&out->lines, arena, note_text(&notes[n], t->column_count, places, arena));
}

/* ---- titles ---- */

#define TITLE_COLUMNS 11

const char *variants_unit(const char *metric, const char *unit)
{
    const char *apart = figure_unit(unit);
    size_t a = strlen(metric), b = strlen(apart);

    return a >= b && strcmp(metric + a - b, apart) == 0 ? "" : apart;
}

const char *variants_title(const char *metric, const char *unit, struct arena *arena)
{
    struct buf safe = BUF_INIT, text = BUF_INIT;
    size_t at = 0;

    safe_text(&safe, metric, strlen(metric));
    for (const char *word = safe.data; word && *word;) {
        size_t len = 1 + strcspn(word + 1, "_"), width = text_width_n(word, len);
        if (at > 0 && at + width > TITLE_COLUMNS) {
            buf_addch(&text, '\n');
            at = 0;
            if (*word == '_') {
                word++, len--;
                width--;
            }
        }
        buf_add(&text, word, len);
        at += width;
        word += len;
    }
    const char *apart = variants_unit(metric, unit);
    if (apart[0]) {
        buf_addch(&text, '\n');
        safe_text(&text, apart, strlen(apart));
    }
    const char *own = arena_strdup(arena, text.len ? text.data : "");
    buf_release(&safe);
    buf_release(&text);
    return own;
}
