/*
 * lab_figures: the words of a lab's report, whatever the format around them.
 */
#ifndef ABBA_REPORT_LAB_FIGURES_H
#define ABBA_REPORT_LAB_FIGURES_H

#include "model/lab_report.h"

#include <stdbool.h>

struct arena;
struct buf;

/* "2 of 12 comparisons; 120 of 120 runs". */
void lab_summary(const struct lab_report *r, struct buf *out);

/* "36 verdicts; expected false alarms 0.13; ...". Empty if nothing gates. */
void lab_alarms(const struct lab_report *r, struct buf *out);

/* Whether the row is shown: all with `verbose`, else those that have a threshold anywhere, or that
 * matter to people where none has. */
bool lab_worst_shown(const struct lab_report *r, const struct lab_worst *w, bool verbose);

/* "COMPARISON: throughput: wins in ..., loses in ...": adds a line a flip of any comparison. */
void lab_flips(const struct lab_report *r, struct strings *lines, struct arena *arena);

/* "3 of 60 runs failed", "none of 60 runs failed". */
void lab_failed(const struct lab_variant *v, struct buf *out);

/* The variants' names of a comparison: "old against new, newer". */
void lab_sides(const struct lab_result *c, struct buf *out);

#endif
