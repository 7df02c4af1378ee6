/*
 * page: what the parts of a text report share: where it goes, how wide it is, how things are said.
 *
 * text.c writes the page, metrics_text.c its tables of metrics.
 */
#ifndef ABBA_REPORT_PAGE_H
#define ABBA_REPORT_PAGE_H

#include "base/mem.h"
#include "report/report.h"
#include "report/table.h"

struct page {
    const struct report *r;
    const struct report_style *style;
    struct buf *out;
    struct arena arena; /* as long as the page is being written */
    size_t width;       /* 0: no limit */
};

#define PAGE_INDENT 2
#define PAGE_LABEL 11 /* columns of labels */

/* Adds text that may hold a child's words, made harmless, in a tone. */
void page_say(struct page *p, enum tone tone, const char *text);

/* Adds a line "  label    text", wrapped. */
void page_labelled(struct page *p, const char *label, const char *text);

/* A text that may hold a child's words, made harmless; in the page's arena. */
const char *page_safe(struct page *p, const char *text);

/* Whether the table does not fit the page as it is. */
bool page_too_wide(const struct page *p, const struct table *t);

enum tone page_verdict_tone(enum verdict v);

/* Adds the profile's table of variants, which must be there. */
void page_variants(struct page *p, const struct report_profile *profile);

/* Adds the limits of a table of variants, and what verdicts rest on that are not "passed". */
void page_variants_verdicts(struct page *p, const struct report_profile *profile);

/* Adds the speed-ups over CPU sets, and the grid of signs, which must be there. */
void page_scaling(struct page *p, const struct report_scaling *s);
void page_regimes(struct page *p);

/* Adds the metrics of one candidate under one profile: table, limits, what verdicts rest on. */
void page_metrics(struct page *p, const struct report_profile *profile, const char *candidate);

#endif
