/*
 * variants_figures: the words of tables that lay variants side by side, whatever the format.
 */
#ifndef ABBA_REPORT_VARIANTS_FIGURES_H
#define ABBA_REPORT_VARIANTS_FIGURES_H

#include "model/report.h"
#include "report/figures.h"

#include <stdbool.h>

struct arena;
struct buf;

/* A change as a ratio, and with its bounds: "0.678", "0.678 [0.655, 0.702]"; decimals as the
 * largest of the three needs them. "from 0" if infinite, "-" if there is none. */
void figure_ratio(double change, double low, double high, char out[FIGURE_TEXT]);

/* How often a value is another's: "1.94". */
void figure_factor(double factor, char out[FIGURE_TEXT]);

/* A cell by itself: its value, or what it has instead ("invalid", "not run"). */
void variants_value(const struct report_cell *cell, const struct report_column *column,
                    char out[FIGURE_TEXT]);

/* What runs of cells lack, and why, each once. */
struct variants_notes {
    struct strings lines; /* "messages_per_second of b: invalid in 8 of 8 runs: ..." */
    size_t *number;       /* [row * columns + column]: of the line, from 1; 0: none */
};
/* `places`: columns are no metrics but sets of CPUs, "b on 1 CPU (0): ...". */
void variants_notes(const struct report_table *t, bool places, struct variants_notes *out,
                    struct arena *arena);

/* The cell, or NULL where the row is too short. */
const struct report_cell *variants_cell(const struct report_table *t, size_t row, size_t column);

/* The change of that row's variant, in the profile that the column's figures come from; or NULL. */
const struct report_metric *variants_metric(const struct report *r, const struct report_profile *p,
                                            size_t row, size_t column);

/* "heap_bytes_per_message: of the runs of 'x,pass=memory', which ..."; false: all are of its own.
 */
bool variants_memory_note(const struct report_table *t, struct buf *out);

/* The worst verdict of what is judged of the variant; false: nothing is. */
bool variants_verdict(const struct report_profile *p, const char *variant, enum verdict *v);

/* What a ratio is: to whom, and how far its bounds hold. */
const char *variants_ratio_note(const struct report *r, const struct report_profile *p,
                                struct arena *arena);

/* The unit that a title has to say: values leave it out, and the metric's name does not end in it.
 */
const char *variants_unit(const char *metric, const char *unit);

/* A metric's name in lines of some ten columns, broken at underscores, and its unit where values
 * leave it out. */
const char *variants_title(const char *metric, const char *unit, struct arena *arena);

#endif
