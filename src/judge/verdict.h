/*
 * verdict: one metric of one candidate, from its columns to its line of the report.
 */
#ifndef ABBA_JUDGE_VERDICT_H
#define ABBA_JUDGE_VERDICT_H

#include "judge/collect.h"
#include "model/accepted.h"
#include "model/report.h"
#include "model/thresholds.h"

/* What was fixed beforehand about a metric. */
struct gate {
    bool judged; /* has a limit in the worse direction */
    double threshold;
    const char *threshold_text;      /* "10%" */
    const struct accepted *accepted; /* a larger change that was agreed to; NULL: none */
    bool claimed;                    /* an improvement was claimed */
    bool control;                    /* the change cannot affect it */
    double control_limit;
    const char *control_text; /* "3%" */
    enum rule rule;
    bool range;          /* of a memory pass: see paired_interval() */
    size_t pairs;        /* of the stage, planned */
    size_t min_complete; /* of them */
};

/*
 * Fills every figure of `m`; candidate, metric, unit and better are set already. Figures that do
 * not exist become NaN. holm_p and false_alarm, which need the whole series, are left NaN.
 * One-sided p of "worse" goes to *p_worse.
 */
void verdict_of_metric(struct report_metric *m, const struct columns *c, const struct gate *gate,
                       double *p_worse, struct arena *arena);

/* The same columns as an A/A pair; swap_rate is NaN for a metric that is not judged. */
void verdict_of_aa(struct report_aa *aa, const char *metric, enum metric_better better,
                   const struct columns *c, const struct gate *gate, uint64_t seed);

/* Median, spread ((p84 - p16) / 2) and ends of a column of n > 0 figures. */
void summarize(const double *column, size_t n, double *median, double *spread, double *min,
               double *max);

/* Takes the figures of a metric away that compare: one of its sides failed. */
void verdict_without_figures(struct report_metric *m);

#endif
