/*
 * variants_markdown: tables over variants and over profiles, in Markdown.
 */
#ifndef ABBA_REPORT_VARIANTS_MARKDOWN_H
#define ABBA_REPORT_VARIANTS_MARKDOWN_H

#include "model/report.h"

/* Adds the profile's table of variants, which must be there, with its notes. */
void markdown_variants(const struct report *r, const struct report_profile *p, bool utf8,
                       struct buf *out);

/* Adds speed-ups over CPU sets. */
void markdown_scaling(const struct report_scaling *s, bool utf8, struct buf *out);

/* Adds the grid of signs, which must be there, and what wins here and loses there. */
void markdown_regimes(const struct report *r, bool utf8, struct buf *out);

#endif
