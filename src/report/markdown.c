#include "report/report.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "report/figures.h"
#include "report/variants_markdown.h"

#include <math.h>
#include <string.h>

/*
 * Fit for a comment on a pull request: the verdict first, what is wrong open, the rest folded.
 * Every text of the report is escaped: a child's words become no markup, link or mention.
 */

static const char *verdict_sign(enum verdict v, bool utf8)
{
    if (!utf8)
        return "";
    switch (v) {
    case VERDICT_PASSED:
    case VERDICT_IDENTICAL:
        return "✅ ";
    case VERDICT_REGRESSED:
        return "❌ ";
    case VERDICT_NEW:
    case VERDICT_NOT_JUDGED:
        return "";
    default:
        return "⚠️ ";
    }
}

static const char *mark_sign(const struct report_metric *m, bool utf8)
{
    if (m->mark == MARK_NONE)
        return "";
    if (!utf8)
        return m->mark == MARK_BETTER ? "better " : "worse ";
    return m->mark == MARK_BETTER ? "⚡ " : "💩 ";
}

static void cell_value(double value, double spread, const char *unit, bool utf8, struct buf *out)
{
    char text[FIGURE_TEXT];
    figure_value(value, unit, text); /* with the unit, which may be any text */
    text_markdown(out, text);
    if (!isfinite(spread) || !isfinite(value))
        return;
    figure_value(spread, unit, text);
    buf_addstr(out, utf8 ? " ± " : " +- ");
    text_markdown(out, text);
}

/* `level` is that of each bound; nan: not known, or not the same in all rows. */
static void table_head(bool with_profile, bool with_candidate, double level, struct buf *out)
{
    char text[FIGURE_TEXT];
    buf_printf(out, "|%s%s metric | baseline | candidate | change | bounds",
               with_profile ? " profile |" : "", with_candidate ? " candidate |" : "");
    figure_level(level, text);
    if (isfinite(level))
        buf_printf(out, " (%s each)", text);
    buf_addstr(out, " | limit | verdict |\n");
    buf_printf(out, "|%s%s---|---:|---:|---:|---|---:|---|\n", with_profile ? "---|" : "",
               with_candidate ? "---|" : "");
}

static void table_line(const struct report_profile *profile, const struct report_metric *m,
                       bool with_profile, bool with_candidate, bool utf8, struct buf *out)
{
    char text[FIGURE_TEXT];
    buf_addstr(out, "| ");
    if (with_profile) {
        text_markdown_code(out, profile->profile);
        buf_addstr(out, " | ");
    }
    if (with_candidate) {
        text_markdown_code(out, m->candidate);
        buf_addstr(out, " | ");
    }
    text_markdown_code(out, m->metric);
    if (figure_unit(m->unit)[0]) {
        buf_addch(out, ' ');
        text_markdown(out, m->unit);
    }
    buf_addstr(out, " | ");
    cell_value(m->baseline_median, m->baseline_spread, m->unit, utf8, out);
    buf_addstr(out, " | ");
    cell_value(m->candidate_median, m->candidate_spread, m->unit, utf8, out);
    buf_printf(out, " | %s", mark_sign(m, utf8));
    figure_change(m->median_change, text);
    buf_printf(out, "%s | ", text);
    figure_interval(m->interval_low, m->interval_high, text);
    buf_printf(out, "%s | ", text);
    figure_limit(m, text);
    buf_printf(out, "%s | ", text);
    if (metric_judged(m)) {
        buf_addstr(out, figure_verdict(m->verdict));
        if (m->grade != GRADE_NONE)
            buf_printf(out, ", %s", grade_name(m->grade));
    }
    buf_addstr(out, " |\n");
}

/* Whether it needs a reader's eye. */
static bool is_open(const struct report_metric *m)
{
    return metric_judged(m) && m->verdict != VERDICT_PASSED && m->verdict != VERDICT_NOT_JUDGED &&
           m->verdict != VERDICT_IDENTICAL;
}

/* The level that the bounds of all profiles have, or nan. */
static double common_level(const struct report *r)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < r->profile_count; i++) {
        low = fmin(low, r->profiles[i].level);
        high = fmax(high, r->profiles[i].level);
    }
    return low < high ? NAN : low;
}

static void open_metrics(const struct report *r, bool utf8, struct buf *out)
{
    bool any = false, with_candidate = r->variants.count > 2;
    for (size_t i = 0; i < r->profile_count; i++) {
        for (size_t j = 0; j < r->profiles[i].metric_count; j++) {
            const struct report_metric *m = &r->profiles[i].metrics[j];
            if (!is_open(m))
                continue;
            if (!any)
                table_head(true, with_candidate, common_level(r), out);
            any = true;
            table_line(&r->profiles[i], m, true, with_candidate, utf8, out);
        }
    }
    if (any)
        buf_addch(out, '\n');
}

static void bullet(const char *text, struct buf *out)
{
    buf_addstr(out, "- ");
    text_markdown(out, text);
    buf_addch(out, '\n');
}

static void notes(const struct strings *list, struct buf *out)
{
    for (size_t i = 0; i < list->count; i++)
        bullet(list->items[i], out);
}

/* What no profile before could measure either is not told again. */
static void unmeasured(const struct report *r, const struct report_profile *profile,
                       struct buf *out)
{
    for (size_t i = 0; i < profile->unmeasured.count; i++) {
        if (!note_is_repeated(r, profile, profile->unmeasured.items[i]))
            bullet(profile->unmeasured.items[i], out);
    }
}

static void outcomes(const struct report_profile *profile, struct buf *out)
{
    for (size_t i = 0; i < profile->outcome_count; i++) {
        struct buf text = BUF_INIT;
        outcome_text(profile, &profile->outcomes[i], &text);
        bullet(text.data, out);
        buf_release(&text);
    }
}

static void sentences(const struct report_profile *profile, struct buf *out)
{
    for (size_t i = 0; i < profile->metric_count; i++) {
        const struct report_metric *m = &profile->metrics[i];
        struct buf text = BUF_INIT;
        bool told = metric_sentence(m, &text);
        if (m->note && metric_judged(m))
            buf_printf(&text, "%s%s", told ? "; " : "", m->note);
        if (m->claim)
            buf_printf(&text, "%sclaimed to get better: %s", text.len ? "; " : "",
                       strcmp(m->claim, "shown") == 0 ? "shown" : "not shown");
        if (text.len) {
            buf_addstr(out, "- ");
            text_markdown_code(out, m->metric);
            buf_addstr(out, ": ");
            text_markdown(out, text.data);
            buf_addch(out, '\n');
        }
        buf_release(&text);
    }
}

static void failure_lines(const struct report_profile *profile, struct buf *out)
{
    for (size_t i = 0; i < profile->failure_count; i++) {
        const struct report_failure *f = &profile->failures[i];
        buf_addstr(out, "- ");
        text_markdown_code(out, f->variant);
        buf_printf(out, " failed in %d run%s, first in run %llu: ", f->count,
                   f->count == 1 ? "" : "s", (unsigned long long)f->run);
        text_markdown(out, f->error ? f->error : "no reason is known");
        buf_addch(out, '\n');
        if (f->stderr_tail && f->stderr_tail[0]) {
            buf_addstr(out, "  - standard error ended: ");
            text_markdown_code(out, f->stderr_tail);
            buf_addch(out, '\n');
        }
    }
}

/* Runs that are no pairs: each variant's figures by themselves. */
static void summary_lines(const struct report_profile *profile, struct buf *out)
{
    char text[FIGURE_TEXT];

    if (profile->summary_count == 0)
        return;
    buf_addstr(out, "| variant | metric | unit | runs | mean | median | min | max |\n"
                    "|---|---|---|--:|--:|--:|--:|--:|\n");
    for (size_t i = 0; i < profile->summary_count; i++) {
        const struct report_summary *x = &profile->summaries[i];
        const double figures[] = {x->mean, x->median, x->min, x->max};

        buf_addstr(out, "| ");
        text_markdown(out, x->variant);
        buf_addstr(out, " | ");
        text_markdown(out, x->metric);
        buf_addstr(out, " | ");
        text_markdown(out, x->unit);
        buf_printf(out, " | %d of %d |", x->runs, x->of);
        for (size_t k = 0; k < 4; k++) {
            figure_plain(figures[k], text);
            buf_printf(out, " %s |", text);
        }
        buf_addch(out, '\n');
    }
    buf_addch(out, '\n');
}

static void profile_part(const struct report *r, const struct report_profile *profile,
                         const struct report_style *style, struct buf *out)
{
    struct buf summary = BUF_INIT;
    bool with_candidate = r->variants.count > 2;
    profile_summary(profile, &summary);
    buf_addstr(out, "**");
    text_markdown_code(out, profile->profile);
    buf_printf(out, "** %s, ", figure_verdict(profile->verdict));
    text_markdown(out, summary.data);
    buf_addstr(out, "\n\n");
    bool any = false;
    for (size_t i = 0; i < profile->metric_count; i++) {
        const struct report_metric *m = &profile->metrics[i];
        if (!metric_judged(m) && (metric_absent(m) || !(style->verbose || metric_prominent(m))))
            continue;
        if (!any)
            table_head(false, with_candidate, profile->level, out);
        any = true;
        table_line(profile, m, false, with_candidate, style->utf8, out);
    }
    summary_lines(profile, out);
    buf_addch(out, '\n');
    sentences(profile, out);
    notes(&profile->notes, out);
    unmeasured(r, profile, out);
    buf_addch(out, '\n');
    buf_release(&summary);
}

static void head(const struct report *r, const struct report_style *style, struct arena *arena,
                 struct buf *out)
{
    struct buf summary = BUF_INIT;
    struct strings lines = {0};
    buf_printf(out, "### %sabba: %s\n\n", verdict_sign(r->verdict, style->utf8),
               figure_verdict(r->verdict));
    for (size_t i = 0; i < r->profile_count; i++)
        profile_failures(r, &r->profiles[i], &lines, arena);
    for (size_t i = 0; i < lines.count; i++)
        bullet(lines.items[i], out);
    if (lines.count)
        buf_addch(out, '\n');
    report_summary(r, &summary);
    if (summary.len) {
        text_markdown(out, summary.data);
        buf_addstr(out, "\n\n");
    }
    for (size_t i = 0; i < r->variants.count; i++) {
        buf_addstr(out, "- ");
        text_markdown(out, r->variants.items[i]);
        buf_addstr(out, ": ");
        text_markdown_code(out, i < r->displays.count ? r->displays.items[i] : "-");
        buf_addch(out, '\n');
    }
    buf_addch(out, '\n');
    buf_release(&summary);
}

static void foot(const struct report *r, const struct report_style *style, struct arena *arena,
                 struct buf *out)
{
    struct buf alarms = BUF_INIT;
    report_alarms(r, &alarms);
    if (alarms.len)
        bullet(alarms.data, out);
    notes(&r->notes, out);
    if (r->host_note)
        bullet(arena_printf(arena, "machine: %s", r->host_note), out);
    if (r->plan_sha256[0])
        buf_printf(out, "- plan `%s`\n", r->plan_sha256);
    if (style->archive) {
        buf_addstr(out, "- archive ");
        text_markdown_code(out, style->archive);
        if (style->digest && style->digest[0])
            buf_printf(out, ", digest `%s`", style->digest);
        buf_addch(out, '\n');
    }
    buf_release(&alarms);
}

/* What several variants say side by side stands in the open. */
static void variants(const struct report *r, bool utf8, struct buf *out)
{
    for (size_t i = 0; i < r->profile_count; i++) {
        if (r->profiles[i].table)
            markdown_variants(r, &r->profiles[i], utf8, out);
    }
}

/* And so does what several profiles say. */
static void profiles_together(const struct report *r, bool utf8, struct buf *out)
{
    for (size_t i = 0; i < r->scaling_count; i++)
        markdown_scaling(&r->scalings[i], utf8, out);
    if (r->regimes)
        markdown_regimes(r, utf8, out);
}

void report_markdown(const struct report *r, const struct report_style *style, struct buf *out)
{
    struct arena arena = ARENA_INIT;
    head(r, style, &arena, out);
    variants(r, style->utf8, out);
    open_metrics(r, style->utf8, out);
    profiles_together(r, style->utf8, out);
    for (size_t i = 0; i < r->profile_count; i++) {
        failure_lines(&r->profiles[i], out);
        outcomes(&r->profiles[i], out);
    }
    buf_addstr(out, "\n<details><summary>All figures</summary>\n\n");
    for (size_t i = 0; i < r->profile_count; i++)
        profile_part(r, &r->profiles[i], style, out);
    foot(r, style, &arena, out);
    buf_addstr(out, "\n</details>\n");
    arena_release(&arena);
}
