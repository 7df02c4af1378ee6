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

/* What the outcome rests on; nothing where nothing was judged. */
static void put_ground(struct buf *out, const struct reproduction *r)
{
    if (!r->now)
        buf_addstr(out, "it was not run again");
    else if (r->outcome == CANNOT_TELL)
        buf_printf(out, "the archived series is %s, this one %s", figure_verdict(r->then->verdict),
                   figure_verdict(r->now->verdict));
    else if (r->metric_count > 0)
        buf_printf(out, "%zu of %zu judged verdicts agree; ", r->agreeing, r->metric_count);
    if (r->outcome != CANNOT_TELL && r->apart > 0)
        buf_printf(out, "the bounds of %zu do not overlap", r->apart);
    else if (r->outcome != CANNOT_TELL && r->metric_count > 0)
        buf_addstr(out, "bounds overlap");
}

/* The first line: the outcome, and what it rests on. */
static void head(struct page *p, const struct reproduction *r)
{
    struct buf ground = BUF_INIT;

    page_say(p, outcome_tone(r->outcome), outcome_words(r->outcome));
    put_ground(&ground, r);
    if (ground.len > 0)
        buf_printf(p->out, "  %s", ground.data);
    buf_addch(p->out, '\n');
    buf_release(&ground);
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

static struct page page_of(const struct report *r, const struct report_style *style,
                           struct buf *out)
{
    return (struct page){.r = r,
                         .style = style,
                         .out = out,
                         .arena = ARENA_INIT,
                         .width = style->columns > 0 ? (size_t)style->columns : 0};
}

/* Files and machine, as they were and are. */
static void surroundings(struct page *p, const struct reproduction *r)
{
    list(p, "files", &r->files, "programs, libraries and input are those of the archive");
    if (r->kept.count > 0)
        list(p, "kept", &r->kept, "");
    list(p, "machine", &r->machine, "the same, as far as the archive describes it");
    if (r->machine.count > 0)
        page_labelled(p, "note",
                      "another machine or another state of it: changes are compared, never "
                      "absolute figures");
}

static void whereabouts(struct page *p)
{
    if (p->style->archive)
        page_labelled(p, "archive", p->style->archive);
    if (p->style->digest && p->style->digest[0])
        page_labelled(p, "digest", p->style->digest);
}

void reproduction_text(const struct reproduction *r, const struct report_style *style,
                       struct buf *out)
{
    struct page p = page_of(r->now, style, out);

    head(&p, r);
    table(&p, r);
    surroundings(&p, r);
    page_labelled(&p, "plan", r->now->plan_sha256);
    whereabouts(&p);
    arena_release(&p.arena);
}

/* ---- of a lab ---- */

static void comparisons(struct page *p, const struct lab_reproduction *l)
{
    static const struct table_column columns[] = {
        {.title = "comparison", .shrink = true},
        {.title = "outcome", .gap = 2},
        {.title = "", .gap = 2},
    };
    struct table t;

    table_init(&t, columns, sizeof columns / sizeof *columns, &p->arena);
    for (size_t i = 0; i < l->comparison_count; i++) {
        const struct reproduction *r = &l->comparisons[i].r;
        struct buf ground = BUF_INIT;

        put_ground(&ground, r);
        table_row(&t);
        table_set(&t, 0, TONE_PLAIN, l->comparisons[i].name);
        table_set(&t, 1, outcome_tone(r->outcome), outcome_words(r->outcome));
        table_set(&t, 2, TONE_DIM, ground.len ? ground.data : "");
        buf_release(&ground);
    }
    buf_addch(p->out, '\n');
    table_write(&t, PAGE_INDENT, p->width, p->style->color, p->out);
    buf_addch(p->out, '\n');
}

static size_t count_of(const struct lab_reproduction *l, enum reproduced outcome)
{
    size_t n = 0;

    for (size_t i = 0; i < l->comparison_count; i++)
        n += l->comparisons[i].r.outcome == outcome;
    return n;
}

/* All figures of a comparison that did not come out again; of the others, what they were run with
 * where that is not what it was. */
static void details(struct page *p, const struct reproduced_comparison *c, bool verbose)
{
    const struct reproduction *r = &c->r;
    bool same = r->files.count == 0 && r->kept.count == 0 && r->machine.count == 0;

    if (!r->now || (r->outcome != NOT_REPRODUCED && same && !verbose))
        return;
    page_say(p, TONE_BOLD, c->name);
    buf_addch(p->out, '\n');
    if (r->outcome == NOT_REPRODUCED || verbose)
        table(p, r);
    surroundings(p, r);
    buf_addch(p->out, '\n');
}

void lab_reproduction_text(const struct lab_reproduction *l, const struct report_style *style,
                           struct buf *out)
{
    struct page p = page_of(NULL, style, out);

    page_say(&p, outcome_tone(l->outcome), outcome_words(l->outcome));
    buf_printf(out, "  %zu of %zu comparisons", count_of(l, l->outcome), l->comparison_count);
    buf_addch(out, '\n');
    comparisons(&p, l);
    for (size_t i = 0; i < l->comparison_count; i++)
        details(&p, &l->comparisons[i], style->verbose);
    whereabouts(&p);
    arena_release(&p.arena);
}
