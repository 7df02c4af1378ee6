/*
 * plan_text: a plan for people: what would run, for how long, and what it could see.
 */
#ifndef ABBA_CLI_PLAN_TEXT_H
#define ABBA_CLI_PLAN_TEXT_H

#include "model/lab.h"
#include "report/report.h"

struct buf;

/* Adds the text. `duration_ms`: of a compare whose pairs are not fixed yet. */
void plan_text(const struct plan *plan, int64_t duration_ms, const struct report_style *style,
               struct buf *out);

/* Adds a time as people say it: "7min 40s". */
void plan_time_text(uint64_t ns, struct buf *out);

/* The same of a lab: all of it in numbers, then each comparison. */
void lab_plan_text(const struct lab *lab, const struct report_style *style, struct buf *out);

#endif
