/*
 * figures: how the numbers and words of a report read, whatever the format around them.
 *
 * Figures that do not exist (NaN) read "-"; nothing ever reads nan.
 */
#ifndef ABBA_REPORT_FIGURES_H
#define ABBA_REPORT_FIGURES_H

#include "model/report.h"

#include <stdbool.h>

struct arena;
struct buf;

#define FIGURE_TEXT 64

/* A value in its metric's unit, scaled: "4.52ms". A long unit is left to the metric's name. */
void figure_value(double value, const char *unit, char out[FIGURE_TEXT]);

/* Seven significant digits in the base unit; "-" if it is none. */
void figure_plain(double value, char out[FIGURE_TEXT]);

/* The unit if figure_value leaves it out ("CPU-s/Gbit"), else "". */
const char *figure_unit(const char *unit);

/* A change: "+12.3%", "+0.02%", "x13.4" from +1000% on, "from 0" if infinite. */
void figure_change(double fraction, char out[FIGURE_TEXT]);

/* Two changes in brackets: "[-0.12, +0.31]", in percent without the sign. */
void figure_interval(double low, double high, char out[FIGURE_TEXT]);

/* A difference in the metric's unit, with its sign: "+1.60Mbit/s"; bytes in binary units, as limits
 * on memory are given: "+33.1MiB". A long unit stands behind a blank. */
void figure_difference(double difference, const char *unit, char out[FIGURE_TEXT]);

/* A share or limit without a sign: "10%", "0.3%". */
void figure_percent(double fraction, char out[FIGURE_TEXT]);

/* The limit in the direction in which it counts: "+10%", "-10%", "+-3%" for a control. */
void figure_limit(const struct report_metric *m, char out[FIGURE_TEXT]);

/* A level of confidence: "96.5%". */
void figure_level(double level, char out[FIGURE_TEXT]);

/* A p value or probability: three significant digits, "<0.001". */
void figure_p(double p, char out[FIGURE_TEXT]);

/* "passed", "not judged", ... in words. */
const char *figure_verdict(enum verdict v);

/* Whether the metric has a threshold, and so a verdict. */
bool metric_judged(const struct report_metric *m);

/* Whether nothing at all was measured of it. */
bool metric_absent(const struct report_metric *m);

/* Whether it is shown without --verbose. */
bool metric_prominent(const struct report_metric *m);

/* What the verdict rests on, in a sentence; false if the table says all there is to say. */
bool metric_sentence(const struct report_metric *m, struct buf *out);

/* "candidate failed 3 of 8 runs (baseline: none)": adds one line a candidate that failed more
 * often than the baseline, without newline between; returns how many. */
size_t profile_failures(const struct report *r, const struct report_profile *p,
                        struct strings *lines, struct arena *arena);

/* "new: fail, 0 of 5 runs ended well; throughput 3.1Mbit/s (...)": an outcome of the profile. */
void outcome_text(const struct report_profile *p, const struct report_outcome *o, struct buf *out);

/* Whether a profile before `p` has the same note about what could not be measured. */
bool note_is_repeated(const struct report *r, const struct report_profile *p, const char *note);

/* Adds text that may hold a child's words: control characters made visible as text_neutral does,
 * backslashes left alone, since most of it went through text_neutral before. */
void safe_text(struct buf *out, const char *text, size_t len);

/* "8 pairs (4 AB, 4 BA)", with complete pairs, noise and the confirming stage. */
void profile_summary(const struct report_profile *p, struct buf *out);

/* "2 of 3 profiles passed" and so on: the series in a few words. */
void report_summary(const struct report *r, struct buf *out);

/* "36 verdicts; expected false alarms 0.13; at least one: 12%". Empty if nothing gates. */
void report_alarms(const struct report *r, struct buf *out);

#endif
