/*
 * lab: what the comparisons of a lab say together. Each is judged by itself, as if it were alone;
 * nothing here changes a verdict.
 */
#ifndef ABBA_JUDGE_LAB_H
#define ABBA_JUDGE_LAB_H

#include "archive/reader.h"
#include "model/lab_report.h"

/* Everything in the report belongs to the arena or to the lab, which must outlive it. */
int judge_lab(const struct lab_archive *l, struct lab_report *r, struct arena *arena,
              struct err *err);

#endif
