#include "report/page.h"

#include "base/buf.h"
#include "base/text.h"
#include "report/figures.h"

#include <math.h>
#include <string.h>

#define LEAST_SPREAD 3 /* pairs below which a spread says nothing */

/* ---- the main table ---- */

enum column {
    COL_METRIC,
    COL_UNIT,
    COL_BASE,
    COL_BASE_SPREAD,
    COL_CAND,
    COL_CAND_SPREAD,
    COL_MARK,
    COL_CHANGE,
    COL_BOUNDS,
    COL_DIFFERENCE,
    COL_LIMIT,
    COL_VERDICT,
    COL_GRADE,
    COL_COUNT,
};

static void columns_init(struct page *p, const struct report_profile *profile,
                         const char *candidate, struct table_column columns[COL_COUNT])
{
    const char *baseline = p->r->variants.count ? p->r->variants.items[0] : "baseline";
    const char *spread = p->style->utf8 ? "± spread" : "+- spread";
    char level[FIGURE_TEXT];
    figure_level(profile->level, level);
    const char *bounds =
        isfinite(profile->level) ? arena_printf(&p->arena, "[%s a bound]", level) : "[bounds]";
    struct table_column all[COL_COUNT] = {
        [COL_METRIC] = {.title = "metric", .shrink = true},
        [COL_UNIT] = {.title = "unit", .gap = 1, .drop = 2},
        [COL_BASE] = {.title = baseline, .right = true, .gap = 2},
        [COL_BASE_SPREAD] = {.title = spread, .gap = 1, .drop = 5},
        [COL_CAND] = {.title = candidate, .right = true, .gap = 2},
        [COL_CAND_SPREAD] = {.title = spread, .gap = 1, .drop = 5},
        [COL_MARK] = {.title = "", .gap = 2},
        [COL_CHANGE] = {.title = "change", .right = true, .gap = 1},
        [COL_BOUNDS] = {.title = bounds, .right = true, .gap = 1},
        [COL_DIFFERENCE] = {.title = "difference", .right = true, .gap = 2, .drop = 1},
        [COL_LIMIT] = {.title = "limit", .right = true, .gap = 2, .drop = 4},
        [COL_VERDICT] = {.title = "verdict", .gap = 2},
        [COL_GRADE] = {.title = "grade", .gap = 1, .drop = 3},
    };
    memcpy(columns, all, sizeof(all));
}

static const char *mark_text(const struct page *p, enum mark mark)
{
    if (mark == MARK_NONE)
        return NULL;
    if (!p->style->utf8)
        return mark == MARK_BETTER ? "better" : "worse";
    return mark == MARK_BETTER ? "⚡" : "💩";
}

static void set_spread(struct page *p, struct table *t, size_t column, double spread,
                       const char *unit)
{
    if (!isfinite(spread))
        return;
    char text[FIGURE_TEXT];
    figure_value(spread, unit, text);
    table_set(t, column, TONE_DIM,
              arena_printf(&p->arena, "%s %s", p->style->utf8 ? "±" : "+-", text));
}

static void set_difference(struct page *p, struct table *t, const struct report_metric *m)
{
    char text[FIGURE_TEXT];
    if (!isfinite(m->median_difference))
        return;
    figure_value(fabs(m->median_difference), m->unit, text);
    const char *sign = m->median_difference > 0 ? "+" : m->median_difference < 0 ? "-" : "";
    table_set(t, COL_DIFFERENCE, TONE_DIM, arena_printf(&p->arena, "%s%s", sign, text));
}

static const char *verdict_word(const struct report_metric *m)
{
    if (m->control)
        return m->verdict == VERDICT_INVALID      ? "control fails"
               : m->verdict == VERDICT_INCOMPLETE ? "incomplete"
                                                  : "control";
    return figure_verdict(m->verdict);
}

static void metric_row(struct page *p, struct table *t, const struct report_metric *m)
{
    char text[FIGURE_TEXT];
    enum tone change = m->mark == MARK_BETTER  ? TONE_GOOD
                       : m->mark == MARK_WORSE ? TONE_BAD
                                               : TONE_PLAIN;
    table_row(t);
    table_set(t, COL_METRIC, TONE_PLAIN, m->metric);
    table_set(t, COL_UNIT, TONE_DIM, figure_unit(m->unit));
    figure_value(m->baseline_median, m->unit, text);
    table_set(t, COL_BASE, TONE_PLAIN, text);
    if (m->complete_pairs >= LEAST_SPREAD)
        set_spread(p, t, COL_BASE_SPREAD, m->baseline_spread, m->unit);
    figure_value(m->candidate_median, m->unit, text);
    table_set(t, COL_CAND, TONE_PLAIN, text);
    if (m->complete_pairs >= LEAST_SPREAD)
        set_spread(p, t, COL_CAND_SPREAD, m->candidate_spread, m->unit);
    if (mark_text(p, m->mark))
        table_set(t, COL_MARK, change, mark_text(p, m->mark));
    figure_change(m->median_change, text);
    table_set(t, COL_CHANGE, change, text);
    figure_interval(m->interval_low, m->interval_high, text);
    table_set(t, COL_BOUNDS, TONE_DIM, text);
    set_difference(p, t, m);
    figure_limit(m, text);
    table_set(t, COL_LIMIT, TONE_PLAIN, text);
    if (metric_judged(m))
        table_set(t, COL_VERDICT, page_verdict_tone(m->verdict), verdict_word(m));
    if (metric_judged(m) && m->grade != GRADE_NONE)
        table_set(t, COL_GRADE, TONE_DIM, grade_name(m->grade));
}

static bool is_shown(const struct page *p, const struct report_metric *m, const char *candidate)
{
    if (strcmp(m->candidate, candidate) != 0)
        return false;
    if (metric_absent(m) && !metric_judged(m))
        return false;
    return p->style->verbose || metric_prominent(m);
}

/* Limits in a line, for a table that had no room for their column. */
static void limits_line(struct page *p, const struct report_profile *profile, const char *candidate)
{
    struct buf line = BUF_INIT;
    char limit[FIGURE_TEXT];
    for (size_t i = 0; i < profile->metric_count; i++) {
        const struct report_metric *m = &profile->metrics[i];
        if (!metric_judged(m) || strcmp(m->candidate, candidate) != 0)
            continue;
        figure_limit(m, limit);
        buf_printf(&line, "%s%s %s", line.len ? ", " : "", m->metric, limit);
    }
    if (line.len)
        page_labelled(p, "limits", line.data);
    buf_release(&line);
}

/* What the figures of a metric rest on. */
static void sentence_text(const struct report_metric *m, struct buf *text)
{
    bool told = metric_sentence(m, text);

    if (m->note)
        buf_printf(text, "%s%s", told ? "; " : "", m->note);
    if (m->claim)
        buf_printf(text, "%sclaimed to get better: %s", told || m->note ? "; " : "",
                   strcmp(m->claim, "shown") == 0 ? "shown" : "not shown");
}

/* The same in a paragraph under `name`. */
static void sentence(struct page *p, const struct report_metric *m, const char *name)
{
    struct buf text = BUF_INIT, safe = BUF_INIT;

    sentence_text(m, &text);
    if (text.len) {
        buf_fill(p->out, ' ', PAGE_INDENT);
        page_say(p, metric_judged(m) ? page_verdict_tone(m->verdict) : TONE_DIM, name);
        buf_addstr(p->out, ": ");
        safe_text(&safe, text.data, text.len);
        text_wrap(p->out, safe.data, PAGE_INDENT + text_width(name) + 2, PAGE_INDENT + 4, p->width);
        buf_addch(p->out, '\n');
    }
    buf_release(&safe);
    buf_release(&text);
}

/* Whether the same is said of two metrics, neither of which is judged. */
static bool same_sentence(const struct report_metric *a, const struct report_metric *b)
{
    struct buf one = BUF_INIT, other = BUF_INIT;
    bool same = !metric_judged(a) && !metric_judged(b);

    if (same) {
        sentence_text(a, &one);
        sentence_text(b, &other);
        same = one.len > 0 && one.len == other.len && memcmp(one.data, other.data, one.len) == 0;
    }
    buf_release(&one);
    buf_release(&other);
    return same;
}

/* "A, B, C: what is said of each", for the metric at `at` and those behind it. */
static void shared_sentence(struct page *p, const struct report_profile *profile, size_t at,
                            const char *candidate)
{
    struct buf text = BUF_INIT, safe = BUF_INIT;

    for (size_t i = at; i < profile->metric_count; i++) {
        const struct report_metric *m = &profile->metrics[i];

        if (i == at || (is_shown(p, m, candidate) && same_sentence(&profile->metrics[at], m)))
            buf_printf(&text, "%s%s", i == at ? "" : ", ", m->metric);
    }
    buf_addstr(&text, ": ");
    sentence_text(&profile->metrics[at], &text);
    buf_fill(p->out, ' ', PAGE_INDENT);
    safe_text(&safe, text.data, text.len);
    text_wrap(p->out, safe.data, PAGE_INDENT, PAGE_INDENT + 4, p->width);
    buf_addch(p->out, '\n');
    buf_release(&safe);
    buf_release(&text);
}

static void sentences(struct page *p, const struct report_profile *profile, const char *candidate)
{
    for (size_t i = 0; i < profile->metric_count; i++) {
        const struct report_metric *m = &profile->metrics[i];
        bool said = false, shared = false;

        if (!is_shown(p, m, candidate))
            continue;
        for (size_t k = 0; k < profile->metric_count; k++) {
            if (k == i || !is_shown(p, &profile->metrics[k], candidate) ||
                !same_sentence(m, &profile->metrics[k]))
                continue;
            shared = true;
            said = said || k < i;
        }
        if (shared && !said)
            shared_sentence(p, profile, i, candidate);
        else if (!shared)
            sentence(p, m, m->metric);
    }
}

/* Beyond doubt: the figures say all there is to say. */
static bool is_plainly_regressed(const struct report_metric *m)
{
    return metric_judged(m) && m->verdict == VERDICT_REGRESSED && m->grade == GRADE_CONFIRMED &&
           !m->control && !m->claim && m->accepted_count == 0 && !m->note;
}

static void regressed_line(struct page *p, const struct report_profile *profile,
                           const char *candidate)
{
    struct buf line = BUF_INIT;
    char change[FIGURE_TEXT];
    for (size_t i = 0; i < profile->metric_count; i++) {
        const struct report_metric *m = &profile->metrics[i];
        if (strcmp(m->candidate, candidate) != 0 || !is_plainly_regressed(m))
            continue;
        figure_change(m->median_change, change);
        buf_printf(&line, "%s%s %s", line.len ? ", " : arena_printf(&p->arena, "%s: ", candidate),
                   m->metric, change);
    }
    if (line.len)
        page_labelled(p, "regressed", line.data);
    buf_release(&line);
}

void page_variants_verdicts(struct page *p, const struct report_profile *profile)
{
    if (profile->metric_count)
        limits_line(p, profile, profile->metrics[0].candidate);
    for (size_t v = 1; v < p->r->variants.count; v++)
        regressed_line(p, profile, p->r->variants.items[v]);
    for (size_t i = 0; i < profile->metric_count; i++) {
        const struct report_metric *m = &profile->metrics[i];
        if (is_plainly_regressed(m))
            continue;
        if ((metric_judged(m) && m->verdict != VERDICT_PASSED) || m->claim)
            sentence(p, m, arena_printf(&p->arena, "%s of %s", m->metric, m->candidate));
    }
}

/* ---- more figures, with --verbose ---- */

static void range(struct page *p, struct table *t, size_t column, double low, double high,
                  const char *unit)
{
    char a[FIGURE_TEXT], b[FIGURE_TEXT];
    figure_value(low, unit, a);
    figure_value(high, unit, b);
    table_set(t, column, TONE_PLAIN,
              arena_printf(&p->arena, "%s %s %s", a, p->style->utf8 ? "…" : "..", b));
}

static void detail_row(struct page *p, struct table *t, const struct report_metric *m)
{
    char text[FIGURE_TEXT], bounds[FIGURE_TEXT];
    table_row(t);
    table_set(t, 0, TONE_PLAIN, m->metric);
    range(p, t, 1, m->baseline_min, m->baseline_max, m->unit);
    range(p, t, 2, m->candidate_min, m->candidate_max, m->unit);
    figure_change(m->hodges_lehmann, text);
    figure_interval(m->hl_low, m->hl_high, bounds);
    table_set(t, 3, TONE_PLAIN, arena_printf(&p->arena, "%s %s", text, bounds));
    figure_p(m->p, text);
    table_set(t, 4, TONE_PLAIN, text);
    figure_p(m->holm_p, text);
    table_set(t, 5, TONE_PLAIN, text);
    figure_percent(m->sigma, text);
    table_set(t, 6, TONE_PLAIN, text);
    figure_percent(m->sees, text);
    table_set(t, 7, TONE_PLAIN, text);
    figure_change(m->slot_effect, text);
    figure_p(m->slot_p, bounds);
    table_set(t, 8, TONE_PLAIN, arena_printf(&p->arena, "%s (p %s)", text, bounds));
    if (m->zeros > 0)
        table_set(t, 9, TONE_PLAIN, arena_printf(&p->arena, "%d", m->zeros));
    if (isfinite(m->balanced_median)) {
        figure_change(m->balanced_median, text);
        table_set(t, 10, TONE_PLAIN, text);
    }
    if (isfinite(m->pairing_gain))
        table_set(t, 11, TONE_PLAIN, arena_printf(&p->arena, "%.2f", m->pairing_gain));
}

static void details(struct page *p, const struct report_profile *profile, const char *candidate)
{
    const struct table_column columns[] = {
        {.title = "metric", .shrink = true},
        {.title = arena_printf(&p->arena, "%s range", p->r->variants.items[0]),
         .gap = 2,
         .drop = 3},
        {.title = arena_printf(&p->arena, "%s range", candidate), .gap = 2, .drop = 3},
        {.title = "Hodges-Lehmann", .gap = 2},
        {.title = "p", .right = true, .gap = 2},
        {.title = "Holm p", .right = true, .gap = 2},
        {.title = "sigma", .right = true, .gap = 2},
        {.title = "sees", .right = true, .gap = 2},
        {.title = "slot effect", .gap = 2, .drop = 4},
        {.title = "no change", .right = true, .gap = 2, .drop = 1},
        {.title = "balanced", .right = true, .gap = 2, .drop = 2},
        {.title = "pairing", .right = true, .gap = 2, .drop = 2},
    };
    struct table t;
    table_init(&t, columns, sizeof(columns) / sizeof(columns[0]), &p->arena);
    for (size_t i = 0; i < profile->metric_count; i++) {
        const struct report_metric *m = &profile->metrics[i];
        if (is_shown(p, m, candidate) && !metric_absent(m))
            detail_row(p, &t, m);
    }
    if (t.row_count == 0)
        return;
    buf_addch(p->out, '\n');
    table_write(&t, PAGE_INDENT, p->width, p->style->color, p->out);
}

/* ---- profiles ---- */

/* The columns' medians may tell another change than the pairs do: the metrics concerned. */
static void ratio_line(struct page *p, const struct report_profile *profile, const char *candidate)
{
    struct buf line = BUF_INIT;
    for (size_t i = 0; i < profile->metric_count; i++) {
        const struct report_metric *m = &profile->metrics[i];
        double ratio = m->candidate_median / m->baseline_median - 1;
        if (!is_shown(p, m, candidate) || !isfinite(ratio) || !isfinite(m->median_change) ||
            fabs(ratio - m->median_change) < 0.05)
            continue;
        buf_printf(&line, "%s%s", line.len ? ", " : "", m->metric);
    }
    if (line.len) {
        buf_addstr(&line, ": change is the median of the pairs' changes, from which the ratio of "
                          "the two medians differs");
        page_labelled(p, "note", line.data);
    }
    buf_release(&line);
}

void page_metrics(struct page *p, const struct report_profile *profile, const char *candidate)
{
    struct table_column columns[COL_COUNT];
    struct table t;
    size_t hidden = 0;
    columns_init(p, profile, candidate, columns);
    table_init(&t, columns, COL_COUNT, &p->arena);
    for (size_t i = 0; i < profile->metric_count; i++) {
        const struct report_metric *m = &profile->metrics[i];
        if (is_shown(p, m, candidate))
            metric_row(p, &t, m);
        else if (strcmp(m->candidate, candidate) == 0 && !metric_absent(m))
            hidden++;
    }
    if (t.row_count == 0)
        return;
    uint32_t shown = table_layout(&t, PAGE_INDENT, p->width);
    table_write(&t, PAGE_INDENT, p->width, p->style->color, p->out);
    if (!(shown & (1u << COL_LIMIT)))
        limits_line(p, profile, candidate);
    sentences(p, profile, candidate);
    ratio_line(p, profile, candidate);
    if (p->style->verbose)
        details(p, profile, candidate);
    else if (hidden > 0)
        page_labelled(p, "more",
                      arena_printf(&p->arena, "%zu more metric%s with --verbose", hidden,
                                   hidden == 1 ? "" : "s"));
}
