/*
 * report: a report for people and for machines. Pure: a report in, text out; the caller prints.
 *
 * All text that came from children was neutralised when the report was made or is escaped here.
 */
#ifndef ABBA_REPORT_REPORT_H
#define ABBA_REPORT_REPORT_H

#include "model/lab_report.h"
#include "model/reproduction.h"

struct buf;

struct report_style {
    bool color;          /* ANSI escapes */
    bool utf8;           /* lightning, poop, plus-minus; else plain words */
    int columns;         /* width to keep to; 0: no limit */
    bool verbose;        /* every metric, Hodges-Lehmann, p values */
    const char *archive; /* its folder, for the last lines; NULL: not kept */
    const char *digest;  /* "" or 64 hex digits */
};

void report_text(const struct report *r, const struct report_style *style, struct buf *out);
void report_markdown(const struct report *r, const struct report_style *style, struct buf *out);
void report_junit(const struct report *r, struct buf *out);

/* Whether a series that was run again came out as before; `style` names the new archive. Where the
 * machine is another one, no figure stands in it that belongs to a machine. */
void reproduction_text(const struct reproduction *r, const struct report_style *style,
                       struct buf *out);

void lab_reproduction_text(const struct lab_reproduction *r, const struct report_style *style,
                           struct buf *out);

/* The same of a lab: what its comparisons say together, then each one's own report. */
void lab_text(const struct lab_report *r, const struct report_style *style, struct buf *out);
void lab_markdown(const struct lab_report *r, const struct report_style *style, struct buf *out);
void lab_junit(const struct lab_report *r, struct buf *out);

#endif
