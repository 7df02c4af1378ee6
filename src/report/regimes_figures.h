/*
 * regimes_figures: the words of grids of signs, and of tables over CPU sets, whatever the format.
 */
#ifndef ABBA_REPORT_REGIMES_FIGURES_H
#define ABBA_REPORT_REGIMES_FIGURES_H

#include "model/report.h"

#include <stdbool.h>

struct arena;
struct buf;

/* What the signs mean. */
#define REGIMES_LEGEND                                                                             \
    "+ better, - worse (both bounds beyond 1 %, or judged regressed), = neither was shown, "       \
    "? undecided"

/* "better" as "+": one character, or "+-" where it is better and worse; "" for none. */
const char *regimes_sign(const char *word, bool utf8);

/* "throughput of new: wins in CPU-bound, loses in latency-bound". */
void regimes_flip(const struct report *r, const struct report_flip *f, struct buf *out);

/* What a speed-up is, and why it has no bounds. */
const char *scaling_note(const struct report_scaling *s, struct arena *arena);

/* The cells as a table of variants, a column a set, for its notes. In the arena. */
struct report_table *scaling_table(const struct report_scaling *s, struct arena *arena);

/* The speed-up of a cell; NaN if it has none. */
double scaling_speedup(const struct report_scaling *s, size_t row, size_t set);

#endif
