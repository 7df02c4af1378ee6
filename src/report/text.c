#include "base/buf.h"
#include "base/text.h"
#include "report/figures.h"
#include "report/page.h"

#include <math.h>
#include <string.h>

void page_say(struct page *p, enum tone tone, const char *text)
{
    struct buf safe = BUF_INIT;
    safe_text(&safe, text, strlen(text));
    tone_text(p->out, p->style->color, tone, safe.data);
    buf_release(&safe);
}

const char *page_safe(struct page *p, const char *text)
{
    struct buf clean = BUF_INIT;
    safe_text(&clean, text, strlen(text));
    const char *own = arena_strdup(&p->arena, clean.len ? clean.data : "");
    buf_release(&clean);
    return own;
}

bool page_too_wide(const struct page *p, const struct table *t)
{
    return p->width > 0 && table_width(t, PAGE_INDENT) > p->width;
}

enum tone page_verdict_tone(enum verdict v)
{
    switch (v) {
    case VERDICT_PASSED:
    case VERDICT_IDENTICAL:
        return TONE_GOOD;
    case VERDICT_REGRESSED:
    case VERDICT_INVALID:
        return TONE_BAD;
    case VERDICT_ACCEPTED:
    case VERDICT_INCONCLUSIVE:
    case VERDICT_INCOMPLETE:
        return TONE_WARN;
    default:
        return TONE_DIM;
    }
}

/* "  label    text", wrapped. */
void page_labelled(struct page *p, const char *label, const char *text)
{
    buf_fill(p->out, ' ', PAGE_INDENT);
    page_say(p, TONE_DIM, label);
    size_t len = text_width(label);
    size_t fill = len + 1 < PAGE_LABEL ? PAGE_LABEL - len : 1;
    struct buf safe = BUF_INIT;
    safe_text(&safe, text, strlen(text));
    buf_fill(p->out, ' ', fill);
    text_wrap(p->out, safe.data, PAGE_INDENT + len + fill, PAGE_INDENT + PAGE_LABEL, p->width);
    buf_addch(p->out, '\n');
    buf_release(&safe);
}

static void notes(struct page *p, const struct strings *list)
{
    for (size_t i = 0; i < list->count; i++)
        page_labelled(p, "note", list->items[i]);
}

/* Whether two notes differ in their figures alone, as those of several candidates do. */
static bool are_alike(const char *a, const char *b)
{
    static const char figures[] = "0123456789.+-";
    for (;;) {
        a += strspn(a, figures);
        b += strspn(b, figures);
        if (*a != *b || *a == '\0')
            return *a == *b;
        a++, b++;
    }
}

/* Of notes that several candidates have alike the first, and how many more. */
static void profile_notes(struct page *p, const struct report_profile *profile)
{
    const struct strings *list = &profile->notes;
    if (!profile->table || p->style->verbose) {
        notes(p, list);
        return;
    }
    for (size_t i = 0; i < list->count; i++) {
        size_t before = 0, more = 0;
        for (size_t k = 0; k < list->count; k++) {
            before += k < i && are_alike(list->items[k], list->items[i]);
            more += k > i && are_alike(list->items[k], list->items[i]);
        }
        if (before > 0)
            continue;
        page_labelled(p, "note",
                      more == 0 ? list->items[i]
                                : arena_printf(&p->arena, "%s (and %zu like it, with --verbose)",
                                               list->items[i], more));
    }
}

/* What no profile before could measure either is not told again. */
static void unmeasured(struct page *p, const struct report_profile *profile)
{
    for (size_t i = 0; i < profile->unmeasured.count; i++) {
        const char *note = profile->unmeasured.items[i];
        if (!note_is_repeated(p->r, profile, note))
            page_labelled(p, "note", note);
    }
}

static void outcomes(struct page *p, const struct report_profile *profile)
{
    for (size_t i = 0; i < profile->outcome_count; i++) {
        struct buf text = BUF_INIT;
        outcome_text(profile, &profile->outcomes[i], &text);
        page_labelled(p, i ? "" : "outcome", text.data);
        buf_release(&text);
    }
}

static void failures(struct page *p, const struct report_profile *profile)
{
    for (size_t i = 0; i < profile->failure_count; i++) {
        const struct report_failure *f = &profile->failures[i];
        buf_fill(p->out, ' ', PAGE_INDENT);
        page_say(p, TONE_BAD, arena_printf(&p->arena, "%s failed", f->variant));
        const char *error = f->error ? f->error : "no reason is known";
        struct buf text = BUF_INIT;
        buf_printf(&text, "in %d run%s, first in run %llu: ", f->count, f->count == 1 ? "" : "s",
                   (unsigned long long)f->run);
        safe_text(&text, error, strlen(error));
        buf_addch(p->out, ' ');
        text_wrap(p->out, text.data, PAGE_INDENT + text_width(f->variant) + 8, PAGE_INDENT + 2,
                  p->width);
        buf_addch(p->out, '\n');
        buf_release(&text);
        if (!f->stderr_tail || !f->stderr_tail[0])
            continue;
        buf_fill(p->out, ' ', PAGE_INDENT + 2);
        page_say(p, TONE_DIM, "its standard error ended:");
        buf_addch(p->out, '\n');
        for (const char *line = f->stderr_tail; *line;) {
            size_t len = strcspn(line, "\n");
            buf_fill(p->out, ' ', PAGE_INDENT + 4);
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
    table_write(&t, PAGE_INDENT, p->width, p->style->color, p->out);
}

/* Runs that are no pairs: each variant's figures by themselves. */
static void summary_table(struct page *p, const struct report_profile *profile)
{
    static const struct table_column columns[] = {
        {.title = "variant", .shrink = true},
        {.title = "metric", .gap = 2},
        {.title = "unit", .gap = 2},
        {.title = "runs", .right = true, .gap = 2},
        {.title = "mean", .right = true, .gap = 2},
        {.title = "median", .right = true, .gap = 2},
        {.title = "min", .right = true, .gap = 2},
        {.title = "max", .right = true, .gap = 2},
    };
    struct table t;
    char text[FIGURE_TEXT];

    if (profile->summary_count == 0)
        return;
    table_init(&t, columns, sizeof(columns) / sizeof(columns[0]), &p->arena);
    for (size_t i = 0; i < profile->summary_count; i++) {
        const struct report_summary *x = &profile->summaries[i];
        const double figures[] = {x->mean, x->median, x->min, x->max};

        if (x->runs == 0 && !p->style->verbose)
            continue;
        table_row(&t);
        table_set(&t, 0, TONE_PLAIN, x->variant);
        table_set(&t, 1, TONE_PLAIN, x->metric);
        table_set(&t, 2, TONE_DIM, x->unit);
        table_set(&t, 3, TONE_PLAIN,
                  x->runs == x->of ? arena_printf(&p->arena, "%d", x->runs)
                                   : arena_printf(&p->arena, "%d of %d", x->runs, x->of));
        for (size_t k = 0; k < 4; k++) {
            figure_plain(figures[k], text);
            table_set(&t, 4 + k, TONE_PLAIN, text);
        }
    }
    buf_addch(p->out, '\n');
    table_write(&t, PAGE_INDENT, p->width, p->style->color, p->out);
    for (size_t i = 0; i < profile->summary_count; i++)
        for (size_t k = 0; (profile->summaries[i].runs > 0 || p->style->verbose) &&
                           k < profile->summaries[i].missing.count;
             k++)
            page_labelled(p, "note",
                          arena_printf(&p->arena, "%s of '%s': %s", profile->summaries[i].metric,
                                       profile->summaries[i].variant,
                                       profile->summaries[i].missing.items[k]));
}

/* Of several candidates the one that is seen worst. */
static bool is_seen_worst(const struct report_profile *p, const struct report_metric *m)
{
    for (size_t i = 0; i < p->metric_count; i++) {
        const struct report_metric *other = &p->metrics[i];
        if (strcmp(other->metric, m->metric) == 0 && metric_judged(other) &&
            (other->sees > m->sees || (other->sees >= m->sees && other < m)))
            return false;
    }
    return true;
}

/* What the gating metrics could have shown; with --verbose it stands in the table. */
static void sees_line(struct page *p, const struct report_profile *profile)
{
    struct buf line = BUF_INIT;
    char text[FIGURE_TEXT];
    bool worst = profile->table && !p->style->verbose;
    for (size_t i = 0; i < profile->metric_count; i++) {
        const struct report_metric *m = &profile->metrics[i];
        if (!metric_judged(m) || m->control || !isfinite(m->sees) ||
            (worst && !is_seen_worst(profile, m)))
            continue;
        figure_percent(m->sees, text);
        buf_printf(&line, "%s%s", line.len ? ", " : "found 8 times in 10: ", m->metric);
        if (p->r->variants.count > 2 && !worst)
            buf_printf(&line, " (%s)", m->candidate);
        buf_printf(&line, "%s %s", worst ? " from" : "", text);
    }
    if (line.len)
        page_labelled(p, "sees", line.data);
    buf_release(&line);
}

/* Side by side where there are several candidates; then each one's own table only on demand. */
static void variants(struct page *p, const struct report_profile *profile)
{
    bool own = !profile->table || p->style->verbose;
    if (profile->table)
        page_variants(p, profile);
    for (size_t v = 1; own && v < p->r->variants.count; v++) {
        if (v > 1 || profile->table)
            buf_addch(p->out, '\n');
        page_metrics(p, profile, p->r->variants.items[v]);
    }
    if (own)
        return;
    page_variants_verdicts(p, profile);
    page_labelled(p, "more", "a table of each candidate, with all metrics, with --verbose");
}

static void profile_block(struct page *p, const struct report_profile *profile)
{
    struct buf summary = BUF_INIT;
    buf_addch(p->out, '\n');
    page_say(p, TONE_BOLD, profile->profile);
    buf_addstr(p->out, "  ");
    size_t at = text_width(profile->profile) + 2;
    if (profile->verdict != VERDICT_NOT_JUDGED) {
        page_say(p, page_verdict_tone(profile->verdict), figure_verdict(profile->verdict));
        buf_addstr(p->out, "  ");
        at += strlen(figure_verdict(profile->verdict)) + 2;
    }
    profile_summary(profile, &summary);
    text_wrap(p->out, summary.data, at, PAGE_INDENT, p->width);
    buf_addch(p->out, '\n');
    failures(p, profile);
    if (!profile->table || p->style->verbose)
        outcomes(p, profile);
    variants(p, profile);
    aa_table(p, profile);
    summary_table(p, profile);
    sees_line(p, profile);
    profile_notes(p, profile);
    unmeasured(p, profile);
    buf_release(&summary);
}

/* ---- the whole ---- */

static void head(struct page *p)
{
    const struct report *r = p->r;
    struct strings lines = {0};
    for (size_t i = 0; i < r->profile_count; i++)
        profile_failures(r, &r->profiles[i], &lines, &p->arena);
    for (size_t i = 0; i < lines.count; i++) {
        page_say(p, TONE_BAD, lines.items[i]);
        buf_addch(p->out, '\n');
    }
    if (r->verdict != VERDICT_NOT_JUDGED || !r->finished) {
        struct buf summary = BUF_INIT;
        report_summary(r, &summary);
        page_say(p, page_verdict_tone(r->verdict), figure_verdict(r->verdict));
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
        page_say(p, TONE_HEAD, name.data);
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
        page_labelled(p, "worst", line.data);
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
        page_labelled(p, "alarms", alarms.data);
    if (r->marks_tested > 0 && p->style->verbose)
        page_labelled(p, "marks",
                      arena_printf(&p->arena,
                                   "%d changes tested for a mark (both bounds beyond 1%%)",
                                   r->marks_tested));
    notes(p, &r->notes);
    if (r->host_note)
        page_labelled(p, "machine", r->host_note);
    if (r->plan_sha256[0])
        page_labelled(p, "plan", r->plan_sha256);
    if (p->style->archive)
        page_labelled(p, "archive", p->style->archive);
    if (p->style->digest && p->style->digest[0])
        page_labelled(p, "digest", p->style->digest);
    buf_release(&alarms);
}

void report_text(const struct report *r, const struct report_style *style, struct buf *out)
{
    struct page p = {.r = r, .style = style, .out = out, .arena = ARENA_INIT};
    p.width = style->columns > 0 ? (size_t)style->columns : 0;
    head(&p);
    for (size_t i = 0; i < r->profile_count; i++)
        profile_block(&p, &r->profiles[i]);
    for (size_t i = 0; i < r->scaling_count; i++)
        page_scaling(&p, &r->scalings[i]);
    if (r->regimes)
        page_regimes(&p);
    tail(&p);
    arena_release(&p.arena);
}
