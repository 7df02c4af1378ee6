#include "base/buf.h"
#include "base/text.h"
#include "report/figures.h"
#include "report/lab_figures.h"
#include "report/page.h"

#include <math.h>
#include <string.h>

static void title(struct page *p, const char *text)
{
    buf_addch(p->out, '\n');
    page_say(p, TONE_BOLD, text);
    buf_addch(p->out, '\n');
}

static void head(struct page *p, const struct lab_report *r)
{
    struct buf summary = BUF_INIT;
    lab_summary(r, &summary);
    page_say(p, page_verdict_tone(r->verdict), figure_verdict(r->verdict));
    buf_addstr(p->out, "  ");
    page_say(p, TONE_BOLD, r->series);
    buf_printf(p->out, "  %s\n", summary.data);
    buf_release(&summary);
}

static void comparisons(struct page *p, const struct lab_report *r)
{
    static const struct table_column columns[] = {
        {.title = "comparison"},
        {.title = "verdict", .gap = 2},
        {.title = "runs", .right = true, .gap = 2},
        {.title = "baseline against candidates", .gap = 2, .drop = 2, .shrink = true},
        {.title = "archive", .gap = 2, .drop = 1},
    };
    struct table t;
    table_init(&t, columns, sizeof(columns) / sizeof(columns[0]), &p->arena);
    for (size_t i = 0; i < r->comparison_count; i++) {
        const struct lab_result *c = &r->comparisons[i];
        struct buf sides = BUF_INIT;
        lab_sides(c, &sides);
        table_row(&t);
        table_set(&t, 0, TONE_PLAIN, c->comparison);
        table_set(&t, 1, page_verdict_tone(c->verdict),
                  c->report ? figure_verdict(c->verdict) : "not begun");
        table_set(&t, 2, TONE_PLAIN,
                  arena_printf(&p->arena, "%llu/%llu", (unsigned long long)c->runs_done,
                               (unsigned long long)c->runs_planned));
        table_set(&t, 3, TONE_PLAIN, sides.data);
        table_set(&t, 4, TONE_DIM, c->folder);
        buf_release(&sides);
    }
    buf_addch(p->out, '\n');
    table_write(&t, PAGE_INDENT, p->width, p->style->color, p->out);
}

static void worst_row(struct page *p, struct table *t, const struct lab_worst *w)
{
    char text[FIGURE_TEXT];
    table_row(t);
    table_set(t, 0, TONE_PLAIN, w->metric);
    figure_change(w->median_change, text);
    table_set(t, 1, TONE_PLAIN, text);
    figure_difference(w->median_difference, w->unit, text);
    table_set(t, 2, TONE_PLAIN, text);
    table_set(t, 3, TONE_PLAIN, w->candidate);
    table_set(t, 4, TONE_PLAIN, w->comparison);
    table_set(t, 5, TONE_PLAIN, w->profile);
    (void)p;
}

static void worst(struct page *p, const struct lab_report *r)
{
    static const struct table_column columns[] = {
        {.title = "metric"},
        {.title = "change", .right = true, .gap = 2},
        {.title = "difference", .right = true, .gap = 2},
        {.title = "candidate", .gap = 2, .drop = 1},
        {.title = "comparison", .gap = 2},
        {.title = "profile", .gap = 2, .shrink = true},
    };
    struct table t;
    table_init(&t, columns, sizeof(columns) / sizeof(columns[0]), &p->arena);
    for (size_t i = 0; i < r->worst_count; i++) {
        if (lab_worst_shown(r, &r->worst[i], p->style->verbose))
            worst_row(p, &t, &r->worst[i]);
    }
    if (t.row_count == 0)
        return;
    title(p, "least favourable change of each metric, over all profiles (medians of the pairs)");
    table_write(&t, PAGE_INDENT, p->width, p->style->color, p->out);
}

static void flips(struct page *p, const struct lab_report *r)
{
    struct strings lines = {0};
    lab_flips(r, &lines, &p->arena);
    if (lines.count)
        title(p, "what wins in one regime and loses in another");
    for (size_t i = 0; i < lines.count; i++)
        page_labelled(p, "flips", lines.items[i]);
}

static void errors(struct page *p, const struct lab_variant *v)
{
    for (size_t i = 0; i < v->error_count; i++) {
        const struct lab_error *e = &v->errors[i];
        struct buf line = BUF_INIT;
        buf_printf(&line, "%d x, first in '%s': ", e->count, e->comparison);
        const char *error = e->error ? e->error : "no reason is known";
        safe_text(&line, error, strlen(error));
        buf_fill(p->out, ' ', PAGE_INDENT + 2);
        text_wrap(p->out, line.data, PAGE_INDENT + 2, PAGE_INDENT + 4, p->width);
        buf_addch(p->out, '\n');
        buf_release(&line);
    }
}

static void failures(struct page *p, const struct lab_report *r)
{
    title(p, "runs of each variant");
    for (size_t i = 0; i < r->variant_count; i++) {
        const struct lab_variant *v = &r->variants[i];
        struct buf failed = BUF_INIT;
        lab_failed(v, &failed);
        buf_fill(p->out, ' ', PAGE_INDENT);
        page_say(p, v->failed ? TONE_BAD : TONE_PLAIN, v->variant);
        buf_printf(p->out, ": %s", failed.data);
        page_say(p, TONE_DIM, arena_printf(&p->arena, "  (%s)", v->command));
        buf_addch(p->out, '\n');
        errors(p, v);
        buf_release(&failed);
    }
}

/* Each comparison's own report, as if it had been run alone. */
static void parts(struct page *p, const struct lab_report *r)
{
    for (size_t i = 0; i < r->comparison_count; i++) {
        const struct lab_result *c = &r->comparisons[i];
        struct report_style style = *p->style;
        if (!c->report)
            continue;
        style.archive = p->style->archive
                            ? arena_printf(&p->arena, "%s/%s", p->style->archive, c->folder)
                            : NULL;
        style.digest = c->digest ? c->digest : "";
        buf_addch(p->out, '\n');
        page_say(p, TONE_HEAD,
                 arena_printf(&p->arena, "--- %s%s%s", c->comparison, c->description ? ": " : "",
                              c->description ? c->description : ""));
        buf_addch(p->out, '\n');
        report_text(c->report, &style, p->out);
    }
}

static void tail(struct page *p, const struct lab_report *r)
{
    struct buf alarms = BUF_INIT;
    lab_alarms(r, &alarms);
    title(p, "all comparisons together");
    if (alarms.len)
        page_labelled(p, "alarms", alarms.data);
    for (size_t i = 0; i < r->notes.count; i++)
        page_labelled(p, "note", r->notes.items[i]);
    page_labelled(p, "lab", r->sha256);
    if (p->style->archive)
        page_labelled(p, "archive", p->style->archive);
    if (p->style->digest && p->style->digest[0])
        page_labelled(p, "digest", p->style->digest);
    buf_release(&alarms);
}

void lab_text(const struct lab_report *r, const struct report_style *style, struct buf *out)
{
    struct page p = {.style = style, .out = out, .arena = ARENA_INIT};
    p.width = style->columns > 0 ? (size_t)style->columns : 0;
    head(&p, r);
    comparisons(&p, r);
    worst(&p, r);
    flips(&p, r);
    failures(&p, r);
    parts(&p, r);
    tail(&p, r);
    arena_release(&p.arena);
}
