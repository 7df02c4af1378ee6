/*
 * csv: the samples of an archive as RFC 4180 has it, for spreadsheets and data frames.
 *
 * One line a metric of a run, so that columns are the same for every archive and no figure comes
 * without its unit and status: run, profile, stage, pair, slot, attempt, variant, run_status,
 * started, error, metric, value (base unit; empty unless ok or scaled), unit, status, reason. Texts
 * are made harmless; one that a spreadsheet would take for a formula gets an apostrophe in front.
 */
#ifndef ABBA_REPORT_CSV_H
#define ABBA_REPORT_CSV_H

#include <stddef.h>

struct buf;
struct sample;

/* Adds the header. */
void report_csv_head(struct buf *out);

/* Adds the lines of a sample. */
void report_csv_sample(const struct sample *s, struct buf *out);

#endif
