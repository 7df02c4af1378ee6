#include "base/buf.h"
#include "report/figures.h"
#include "report/page.h"

static const char *outcome_words(enum reproduced outcome)
{
    static const char *const words[] = {
        [REPRODUCED] = "reproduced",
        [NOT_REPRODUCED] = "not reproduced",
        [CANNOT_TELL] = "cannot tell",
        [NOTHING_JUDGED] = "nothing was judged",
    };

    return words[outcome];
}

static enum tone outcome_tone(enum reproduced outcome)
{
    return outcome == REPRODUCED ? TONE_GOOD : outcome == NOT_REPRODUCED ? TONE_BAD : TONE_WARN;
}

/* The first line: the outcome, and what it rests on. */
static void head(struct page *p, const struct reproduction *r)
{
    page_say(p, outcome_tone(r->outcome), outcome_words(r->outcome));
    if (r->outcome == CANNOT_TELL)
        buf_printf(p->out, "  the archived series is %s, this one %s",
                   figure_verdict(r->then->verdict), figure_verdict(r->now->verdict));
    else if (r->metric_count > 0)
        buf_printf(p->out, "  %zu of %zu judged verdicts agree; ", r->agreeing, r->metric_count);
    if (r->outcome != CANNOT_TELL && r->apart > 0)
        buf_printf(p->out, "the bounds of %zu do not overlap", r->apart);
    else if (r->outcome != CANNOT_TELL && r->metric_count > 0)
        buf_addstr(p->out, "bounds overlap");
    buf_addch(p->out, '\n');
}

/* "+2.1% [-0.3, +4.1]" */
static const char *change(struct page *p, const struct report_metric *m)
{
    char median[FIGURE_TEXT], bounds[FIGURE_TEXT];

    if (!m)
        return "-";
    figure_change(m->median_change, median);
    if (m->interval_low != m->interval_low) /* too few pairs */
        return arena_strdup(&p->arena, median);
    figure_interval(m->interval_low, m->interval_high, bounds);
    return arena_printf(&p->arena, "%s %s", median, bounds);
}

static void set_value(struct table *t, size_t column, const struct report_metric *m)
{
    char text[FIGURE_TEXT];

    if (!m)
        return;
    figure_value(m->baseline_median, m->unit, text);
    table_set(t, column, TONE_DIM, text);
}

static void set_verdict(struct table *t, size_t column, const struct report_metric *m)
{
    table_set(t, column, m ? page_verdict_tone(m->verdict) : TONE_WARN,
              m ? figure_verdict(m->verdict) : "missing");
}

static void row(struct page *p, struct table *t, const struct reproduction *r,
                const struct reproduced_metric *x)
{
    table_row(t);
    table_set(t, 0, TONE_PLAIN, x->profile);
    table_set(t, 1, TONE_PLAIN, x->then->candidate);
    table_set(t, 2, TONE_PLAIN, x->then->metric);
    if (r->machine.count == 0) {
        set_value(t, 3, x->then);
        set_value(t, 4, x->now);
    }
    table_set(t, 5, TONE_PLAIN, change(p, x->then));
    table_set(t, 6, x->overlap == OVERLAP_NO ? TONE_BAD : TONE_PLAIN, change(p, x->now));
    set_verdict(t, 7, x->then);
    set_verdict(t, 8, x->now);
    table_set(t, 9, x->agrees && x->overlap != OVERLAP_NO ? TONE_GOOD : TONE_BAD,
              !x->agrees                      ? "differs"
              : x->overlap == OVERLAP_NO      ? "bounds apart"
              : x->overlap == OVERLAP_UNKNOWN ? "agrees, no bounds"
                                              : "agrees");
}

static void table(struct page *p, const struct reproduction *r)
{
    static const struct table_column columns[] = {
        {.title = "profile", .shrink = true},
        {.title = "candidate", .gap = 2, .drop = 1, .shrink = true},
        {.title = "metric", .gap = 2},
        {.title = "baseline then", .right = true, .gap = 2, .drop = 2},
        {.title = "now", .right = true, .gap = 2, .drop = 2},
        {.title = "change then", .right = true, .gap = 2},
        {.title = "now", .right = true, .gap = 2},
        {.title = "verdict then", .gap = 2},
        {.title = "now", .gap = 2},
        {.title = "", .gap = 2},
    };
    struct table t;

    if (r->metric_count == 0)
        return;
    table_init(&t, columns, sizeof columns / sizeof *columns, &p->arena);
    for (size_t i = 0; i < r->metric_count; i++)
        row(p, &t, r, &r->metrics[i]);
    buf_addch(p->out, '\n');
    table_write(&t, PAGE_INDENT, p->width, p->style->color, p->out);
    buf_addch(p->out, '\n');
}

static void list(struct page *p, const char *label, const struct strings *texts, const char *none)
{
    if (texts->count == 0)
        page_labelled(p, label, none);
    for (size_t i = 0; i < texts->count; i++)
        page_labelled(p, i ? "" : label, texts->items[i]);
}

void reproduction_text(const struct reproduction *r, const struct report_style *style,
                       struct buf *out)
{
    struct page p = {.r = r->now,
                     .style = style,
                     .out = out,
                     .arena = ARENA_INIT,
                     .width = style->columns > 0 ? (size_t)style->columns : 0};

    head(&p, r);
    table(&p, r);
    list(&p, "files", &r->files, "programs, libraries and input are those of the archive");
    if (r->kept.count > 0)
        list(&p, "kept", &r->kept, "");
    list(&p, "machine", &r->machine, "the same, as far as the archive describes it");
    if (r->machine.count > 0)
        page_labelled(&p, "note",
                      "another machine or another state of it: changes are compared, never "
                      "absolute figures");
    page_labelled(&p, "plan", r->now->plan_sha256);
    if (style->archive)
        page_labelled(&p, "archive", style->archive);
    if (style->digest && style->digest[0])
        page_labelled(&p, "digest", style->digest);
    arena_release(&p.arena);
}
