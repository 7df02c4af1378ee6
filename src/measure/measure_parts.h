/*
 * measure_parts: a sample while it is made, for src/measure/measure*.c alone: measure.c has the
 * order, measure_checks.c says which figures are to be believed, measure_roles.c tells of roles.
 */
#ifndef ABBA_MEASURE_MEASURE_PARTS_H
#define ABBA_MEASURE_MEASURE_PARTS_H

#include "measure/derive.h"
#include "measure/extract.h"
#include "measure/measure.h"
#include "measure/outputs.h"

struct meter {
    const struct runner *runner;
    struct derive_machine machine;
    struct extract *metrics;   /* one a metric of the runner */
    struct extract *integrity; /* one a pattern */
    struct extract *invalid;
    struct outputs outputs;
};

struct draft {
    struct meter *meter;
    const struct outcome *outcome;
    const struct measure_context *context;
    struct sample *sample;
    struct metric_list metrics;
    struct heap_role *heap; /* of each role, in a memory pass; else NULL */
    struct arena *arena;
};

/* Gives the sample its first fault; later ones do not replace it. */
void draft_blame(struct draft *d, enum sample_status status, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* What a program wrote, fit to be quoted in one line. */
const char *draft_quoted(struct draft *d, const char *text, size_t len);

/* Takes back the metrics that patterns name; they stay with their status and the reason. */
void draft_take_back(struct draft *d);

/* Integrity patterns, patterns that take the whole run back, and ratios that must hold. */
void draft_check_integrity(struct draft *d);
void draft_check_whole(struct draft *d);
void draft_check_ratios(struct draft *d);

/* Each role as it ended, with what it printed last if the run failed. */
void draft_make_roles(struct draft *d);

#endif
