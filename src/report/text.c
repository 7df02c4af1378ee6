#include "report/report.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "report/figures.h"
#include "report/table.h"

#include <math.h>
#include <string.h>

/* What all parts of one report share. */
struct page {
    const struct report *r;
    const struct report_style *style;
    struct buf *out;
    struct arena arena;
    size_t width; /* 0: no limit */
};

#define INDENT 2
#define LEAST_SPREAD 3 /* pairs below which a spread says nothing */
#define LABEL 11       /* columns of the labels at the end */

static void say(struct page *p, enum tone tone, const char *text)
{
    struct buf safe = BUF_INIT;
    safe_text(&safe, text, strlen(text));
    tone_text(p->out, p->style->color, tone, safe.data);
    buf_release(&safe);
}

static enum tone verdict_tone(enum verdict v)
{
    switch (v) {
    case VERDICT_PASSED:
    case VERDICT_IDENTICAL:
        return TONE_GOOD;
    case VERDICT_REGRESSED:
    case VERDICT_INVALID:
        return TONE_BAD;
    case VERDICT_INCONCLUSIVE:
    case VERDICT_INCOMPLETE:
        return TONE_WARN;
    default:
        return TONE_DIM;
    }
}

/* "  label    text", wrapped. */
static void labelled(struct page *p, const char *label, const char *text)
{
    buf_fill(p->out, ' ', INDENT);
    say(p, TONE_DIM, label);
    size_t len = text_width(label);
    size_t fill = len + 1 < LABEL ? LABEL - len : 1;
    struct buf safe = BUF_INIT;
    safe_text(&safe, text, strlen(text));
    buf_fill(p->out, ' ', fill);
    text_wrap(p->out, safe.data, INDENT + len + fill, INDENT + LABEL, p->width);
    buf_addch(p->out, '\n');
    buf_release(&safe);
}

static void notes(struct page *p, const struct report_profile *profile, const struct strings *list)
{
    for (size_t i = 0; i < list->count; i++) {
        const char *note = list->items[i];
        if (!note_is_told(note) && !(profile && note_is_repeated(p->r, profile, note)))
            labelled(p, "note", list->items[i]);
    }
}

/* ---- the main table ---------------------------------------------------------------------------
 */

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
        isfinite(profile->level) ? arena_printf(&p->arena, "[%s bounds]", level) : "[bounds]";
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
        table_set(t, COL_VERDICT, verdict_tone(m->verdict), verdict_word(m));
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
        labelled(p, "limits", line.data);
    buf_release(&line);
}

static void sentences(struct page *p, const struct report_profile *profile, const char *candidate)
{
    for (size_t i = 0; i < profile->metric_count; i++) {
        const struct report_metric *m = &profile->metrics[i];
        struct buf text = BUF_INIT;
        if (strcmp(m->candidate, candidate) == 0 && is_shown(p, m, candidate)) {
            bool told = metric_sentence(m, &text);
            if (m->note)
                buf_printf(&text, "%s%s", told ? "; " : "", m->note);
            if (m->claim)
                buf_printf(&text, "%sclaimed to get better: %s", text.len ? "; " : "",
                           strcmp(m->claim, "shown") == 0 ? "shown" : "not shown");
        }
        if (text.len) {
            buf_fill(p->out, ' ', INDENT);
            say(p, metric_judged(m) ? verdict_tone(m->verdict) : TONE_DIM, m->metric);
            buf_addstr(p->out, ": ");
            struct buf safe = BUF_INIT;
            safe_text(&safe, text.data, text.len);
            text_wrap(p->out, safe.data, INDENT + text_width(m->metric) + 2, INDENT + 4, p->width);
            buf_release(&safe);
            buf_addch(p->out, '\n');
        }
        buf_release(&text);
    }
}

/* ---- more figures, with --verbose -------------------------------------------------------------
 */

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
    table_write(&t, INDENT, p->width, p->style->color, p->out);
}

/* ---- profiles ---------------------------------------------------------------------------------
 */

static void candidate_block(struct page *p, const struct report_profile *profile,
                            const char *candidate)
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
    uint32_t shown = table_layout(&t, INDENT, p->width);
    table_write(&t, INDENT, p->width, p->style->color, p->out);
    if (!(shown & (1u << COL_LIMIT)))
        limits_line(p, profile, candidate);
    sentences(p, profile, candidate);
    if (p->style->verbose)
        details(p, profile, candidate);
    else if (hidden > 0)
        labelled(p, "more", arena_printf(&p->arena, "%zu more metrics with --verbose", hidden));
}

static void failures(struct page *p, const struct report_profile *profile)
{
    for (size_t i = 0; i < profile->failure_count; i++) {
        const struct report_failure *f = &profile->failures[i];
        buf_fill(p->out, ' ', INDENT);
        say(p, TONE_BAD, arena_printf(&p->arena, "%s failed", f->variant));
        const char *error = f->error ? f->error : "no reason is known";
        struct buf text = BUF_INIT;
        buf_printf(&text, "in %d run%s, first in run %llu: ", f->count, f->count == 1 ? "" : "s",
                   (unsigned long long)f->run);
        safe_text(&text, error, strlen(error));
        buf_addch(p->out, ' ');
        text_wrap(p->out, text.data, INDENT + text_width(f->variant) + 8, INDENT + 2, p->width);
        buf_addch(p->out, '\n');
        buf_release(&text);
        if (!f->stderr_tail || !f->stderr_tail[0])
            continue;
        buf_fill(p->out, ' ', INDENT + 2);
        say(p, TONE_DIM, "its standard error ended:");
        buf_addch(p->out, '\n');
        for (const char *line = f->stderr_tail; *line;) {
            size_t len = strcspn(line, "\n");
            buf_fill(p->out, ' ', INDENT + 4);
            safe_text(p->out, line, len);
            buf_addch(p->out, '\n');
            line += len + (line[len] == '\n');
        }
    }
}

static void aa_table(struct page *p, const struct report_profile *profile)
{
    static const struct table_column columns[] = {
        {.title = "baseline against itself", .shrink = true},
        {.title = "sigma", .right = true, .gap = 2},
        {.title = "sigma (MAD)", .right = true, .gap = 2},
        {.title = "slot effect", .right = true, .gap = 2},
        {.title = "lag-1", .right = true, .gap = 2},
        {.title = "swaps regressed", .right = true, .gap = 2},
    };
    struct table t;
    char text[FIGURE_TEXT];
    if (profile->aa_count == 0)
        return;
    table_init(&t, columns, sizeof(columns) / sizeof(columns[0]), &p->arena);
    for (size_t i = 0; i < profile->aa_count; i++) {
        const struct report_aa *aa = &profile->aa[i];
        table_row(&t);
        table_set(&t, 0, TONE_PLAIN, aa->metric);
        figure_percent(aa->sigma, text);
        table_set(&t, 1, TONE_PLAIN, text);
        figure_percent(aa->sigma_mad, text);
        table_set(&t, 2, TONE_PLAIN, text);
        figure_change(aa->slot_effect, text);
        table_set(&t, 3, TONE_PLAIN, text);
        table_set(&t, 4, TONE_PLAIN,
                  isfinite(aa->lag1) ? arena_printf(&p->arena, "%.2f", aa->lag1) : "-");
        figure_percent(aa->swap_rate, text);
        table_set(&t, 5, TONE_PLAIN, text);
    }
    buf_addch(p->out, '\n');
    table_write(&t, INDENT, p->width, p->style->color, p->out);
}

/* What the gating metrics could have shown; with --verbose it stands in the table. */
static void sees_line(struct page *p, const struct report_profile *profile)
{
    struct buf line = BUF_INIT;
    char text[FIGURE_TEXT];
    for (size_t i = 0; i < profile->metric_count; i++) {
        const struct report_metric *m = &profile->metrics[i];
        if (!metric_judged(m) || m->control || !isfinite(m->sees))
            continue;
        figure_percent(m->sees, text);
        buf_printf(&line, "%s%s", line.len ? ", " : "found 8 times in 10: ", m->metric);
        if (p->r->variants.count > 2)
            buf_printf(&line, " (%s)", m->candidate);
        buf_printf(&line, " %s", text);
    }
    if (line.len)
        labelled(p, "sees", line.data);
    buf_release(&line);
}

static void profile_block(struct page *p, const struct report_profile *profile)
{
    struct buf summary = BUF_INIT;
    buf_addch(p->out, '\n');
    say(p, TONE_BOLD, profile->profile);
    buf_addstr(p->out, "  ");
    size_t at = text_width(profile->profile) + 2;
    if (profile->verdict != VERDICT_NOT_JUDGED) {
        say(p, verdict_tone(profile->verdict), figure_verdict(profile->verdict));
        buf_addstr(p->out, "  ");
        at += strlen(figure_verdict(profile->verdict)) + 2;
    }
    profile_summary(profile, &summary);
    text_wrap(p->out, summary.data, at, INDENT, p->width);
    buf_addch(p->out, '\n');
    failures(p, profile);
    for (size_t v = 1; v < p->r->variants.count; v++) {
        if (v > 1)
            buf_addch(p->out, '\n');
        candidate_block(p, profile, p->r->variants.items[v]);
    }
    aa_table(p, profile);
    sees_line(p, profile);
    notes(p, profile, &profile->notes);
    buf_release(&summary);
}

/* ---- the whole --------------------------------------------------------------------------------
 */

static void head(struct page *p)
{
    const struct report *r = p->r;
    struct strings lines = {0};
    for (size_t i = 0; i < r->profile_count; i++)
        profile_failures(r, &r->profiles[i], &lines, &p->arena);
    for (size_t i = 0; i < lines.count; i++) {
        say(p, TONE_BAD, lines.items[i]);
        buf_addch(p->out, '\n');
    }
    if (r->verdict != VERDICT_NOT_JUDGED || !r->finished) {
        struct buf summary = BUF_INIT;
        report_summary(r, &summary);
        say(p, verdict_tone(r->verdict), figure_verdict(r->verdict));
        if (summary.len)
            buf_printf(p->out, "  %s", summary.data);
        buf_addch(p->out, '\n');
        buf_release(&summary);
    }
    size_t widest = 0;
    for (size_t i = 0; i < r->variants.count; i++) {
        size_t width = text_width(r->variants.items[i]);
        widest = width > widest ? width : widest;
    }
    for (size_t i = 0; i < r->variants.count; i++) {
        struct buf name = BUF_INIT, command = BUF_INIT;
        const char *display = i < r->displays.count ? r->displays.items[i] : "";
        text_pad_right(&name, r->variants.items[i], widest);
        safe_text(&command, display, strlen(display));
        say(p, TONE_HEAD, name.data);
        buf_addstr(p->out, "  ");
        text_truncate(p->out, command.data,
                      p->width > widest + 12 ? p->width - widest - 2 : SIZE_MAX);
        buf_addch(p->out, '\n');
        buf_release(&name);
        buf_release(&command);
    }
}

static bool is_judged(const struct report *r, const char *metric)
{
    for (size_t i = 0; i < r->profile_count; i++) {
        for (size_t j = 0; j < r->profiles[i].metric_count; j++) {
            const struct report_metric *m = &r->profiles[i].metrics[j];
            if (metric_judged(m) && strcmp(m->metric, metric) == 0)
                return true;
        }
    }
    return false;
}

/* The least favourable changes over all profiles: of the gating metrics, or of all. */
static void worst_lines(struct page *p)
{
    const struct report *r = p->r;
    struct buf line = BUF_INIT;
    char change[FIGURE_TEXT];
    if (r->profile_count < 2)
        return;
    for (size_t i = 0; i < r->worst_count; i++) {
        const struct report_worst *w = &r->worst[i];
        if (!p->style->verbose && !is_judged(r, w->metric))
            continue;
        figure_change(w->median_change, change);
        buf_printf(&line, "%s%s ", line.len ? "; " : "", w->metric);
        if (r->variants.count > 2)
            buf_printf(&line, "of %s ", w->candidate);
        buf_printf(&line, "%s in %s", change, w->profile);
    }
    if (line.len)
        labelled(p, "worst", line.data);
    buf_release(&line);
}

static void tail(struct page *p)
{
    const struct report *r = p->r;
    struct buf alarms = BUF_INIT;
    buf_addch(p->out, '\n');
    worst_lines(p);
    report_alarms(r, &alarms);
    if (alarms.len)
        labelled(p, "alarms", alarms.data);
    if (r->marks_tested > 0 && p->style->verbose)
        labelled(p, "marks",
                 arena_printf(&p->arena,
                              "%d changes tested for a mark (all of the "
                              "bounds beyond 1%%)",
                              r->marks_tested));
    notes(p, NULL, &r->notes);
    if (r->host_note)
        labelled(p, "machine", r->host_note);
    if (r->plan_sha256[0])
        labelled(p, "plan", r->plan_sha256);
    if (p->style->archive)
        labelled(p, "archive", p->style->archive);
    if (p->style->digest && p->style->digest[0])
        labelled(p, "digest", p->style->digest);
    buf_release(&alarms);
}

void report_text(const struct report *r, const struct report_style *style, struct buf *out)
{
    struct page p = {.r = r, .style = style, .out = out, .arena = ARENA_INIT};
    p.width = style->columns > 0 ? (size_t)style->columns : 0;
    head(&p);
    for (size_t i = 0; i < r->profile_count; i++)
        profile_block(&p, &r->profiles[i]);
    tail(&p);
    arena_release(&p.arena);
}
