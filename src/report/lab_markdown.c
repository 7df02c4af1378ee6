#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "report/figures.h"
#include "report/lab_figures.h"
#include "report/report.h"

#include <string.h>

static void cell(const char *text, struct buf *out)
{
    text_markdown(out, text);
    buf_addstr(out, " | ");
}

static void code_cell(const char *text, struct buf *out)
{
    text_markdown_code(out, text);
    buf_addstr(out, " | ");
}

static void comparisons(const struct lab_report *r, struct buf *out)
{
    buf_addstr(out, "| comparison | verdict | runs | baseline against candidates |\n"
                    "|---|---|---:|---|\n");
    for (size_t i = 0; i < r->comparison_count; i++) {
        const struct lab_result *c = &r->comparisons[i];
        struct buf sides = BUF_INIT;
        lab_sides(c, &sides);
        buf_addstr(out, "| ");
        code_cell(c->comparison, out);
        cell(c->report ? figure_verdict(c->verdict) : "not begun", out);
        buf_printf(out, "%llu/%llu | ", (unsigned long long)c->runs_done,
                   (unsigned long long)c->runs_planned);
        text_markdown(out, sides.data);
        buf_addstr(out, " |\n");
        buf_release(&sides);
    }
    buf_addch(out, '\n');
}

static void worst(const struct lab_report *r, bool verbose, struct buf *out)
{
    bool any = false;
    for (size_t i = 0; i < r->worst_count; i++) {
        const struct lab_worst *w = &r->worst[i];
        char text[FIGURE_TEXT];
        if (!lab_worst_shown(r, w, verbose))
            continue;
        if (!any)
            buf_addstr(out, "Least favourable change of each metric, over all profiles:\n\n"
                            "| metric | change | difference | candidate | comparison | profile |\n"
                            "|---|---:|---:|---|---|---|\n");
        any = true;
        buf_addstr(out, "| ");
        code_cell(w->metric, out);
        figure_change(w->median_change, text);
        buf_printf(out, "%s | ", text);
        figure_difference(w->median_difference, w->unit, text);
        cell(text, out);
        code_cell(w->candidate, out);
        code_cell(w->comparison, out);
        text_markdown_code(out, w->profile);
        buf_addstr(out, " |\n");
    }
    if (any)
        buf_addch(out, '\n');
}

static void flips(const struct lab_report *r, bool utf8, struct arena *arena, struct buf *out)
{
    struct strings lines = {0};
    lab_flips(r, &lines, arena);
    for (size_t i = 0; i < lines.count; i++) {
        buf_printf(out, "- %s", utf8 ? "⚠️ " : "");
        text_markdown(out, lines.items[i]);
        buf_addch(out, '\n');
    }
    if (lines.count)
        buf_addch(out, '\n');
}

static void failures(const struct lab_report *r, struct buf *out)
{
    for (size_t i = 0; i < r->variant_count; i++) {
        const struct lab_variant *v = &r->variants[i];
        struct buf failed = BUF_INIT;
        lab_failed(v, &failed);
        buf_addstr(out, "- ");
        text_markdown_code(out, v->variant);
        buf_printf(out, " (");
        text_markdown_code(out, v->command);
        buf_printf(out, "): %s\n", failed.data);
        for (size_t k = 0; k < v->error_count; k++) {
            buf_printf(out, "  - %d x, first in ", v->errors[k].count);
            text_markdown_code(out, v->errors[k].comparison);
            buf_addstr(out, ": ");
            text_markdown(out, v->errors[k].error ? v->errors[k].error : "no reason is known");
            buf_addch(out, '\n');
        }
        buf_release(&failed);
    }
    buf_addch(out, '\n');
}

/* What did not pass is open, the rest folded. */
static void part(const struct lab_result *c, const struct report_style *style, struct arena *arena,
                 struct buf *out)
{
    struct report_style own = *style;
    bool open = c->verdict == VERDICT_REGRESSED || c->verdict == VERDICT_INVALID;
    own.archive = style->archive ? arena_printf(arena, "%s/%s", style->archive, c->folder) : NULL;
    own.digest = c->digest ? c->digest : "";
    buf_printf(out, "<details%s><summary>", open ? " open" : "");
    text_markdown(out, c->comparison);
    buf_printf(out, ": %s</summary>\n\n", figure_verdict(c->verdict));
    if (c->description) {
        text_markdown(out, c->description);
        buf_addstr(out, "\n\n");
    }
    report_markdown(c->report, &own, out);
    buf_addstr(out, "\n</details>\n\n");
}

static void foot(const struct lab_report *r, const struct report_style *style, struct buf *out)
{
    struct buf alarms = BUF_INIT;
    lab_alarms(r, &alarms);
    if (alarms.len)
        buf_printf(out, "- all comparisons together: %s\n", alarms.data);
    for (size_t i = 0; i < r->notes.count; i++) {
        buf_addstr(out, "- ");
        text_markdown(out, r->notes.items[i]);
        buf_addch(out, '\n');
    }
    buf_printf(out, "- lab `%s`\n", r->sha256);
    if (style->archive) {
        buf_addstr(out, "- archive ");
        text_markdown_code(out, style->archive);
        if (style->digest && style->digest[0])
            buf_printf(out, ", digest `%s`", style->digest);
        buf_addch(out, '\n');
    }
    buf_release(&alarms);
}

void lab_markdown(const struct lab_report *r, const struct report_style *style, struct buf *out)
{
    struct arena arena = ARENA_INIT;
    struct buf summary = BUF_INIT;
    lab_summary(r, &summary);
    buf_printf(out, "## abba: %s\n\n", figure_verdict(r->verdict));
    text_markdown_code(out, r->series);
    buf_printf(out, ": %s\n\n", summary.data);
    comparisons(r, out);
    worst(r, style->verbose, out);
    flips(r, style->utf8, &arena, out);
    failures(r, out);
    for (size_t i = 0; i < r->comparison_count; i++) {
        if (r->comparisons[i].report)
            part(&r->comparisons[i], style, &arena, out);
    }
    foot(r, style, out);
    buf_release(&summary);
    arena_release(&arena);
}
