/*
 * lab_report: what the comparisons of a lab say together, computed from its archives alone.
 *
 * judge/ fills it in; report/ shows it; the lab's report.json holds it, each comparison's own
 * report included. Figures that could not be computed are NaN in memory and null in JSON.
 */
#ifndef ABBA_MODEL_LAB_REPORT_H
#define ABBA_MODEL_LAB_REPORT_H

#include "model/report.h"

/* One comparison. */
struct lab_result {
    const char *comparison;
    const char *description; /* may be NULL */
    const char *folder;
    const char *plan_sha256;
    const char *digest; /* of its archive; NULL while that is not closed */
    const char *state;  /* "done", "partial" (runs are missing) or "not_begun" */
    enum verdict verdict;
    bool aa; /* the baseline against itself */
    uint64_t runs_done, runs_planned;
    struct report *report; /* NULL: it has not begun */
};

/* The least favourable change of a metric over all comparisons, candidates and profiles. */
struct lab_worst {
    const char *metric, *unit;
    enum metric_better better;
    const char *comparison, *candidate, *profile;
    double median_change;     /* as measured */
    double median_difference; /* median of candidate - baseline, in the unit */
    bool judged;              /* it has a threshold anywhere */
};

/* One reason for which runs of a variant failed. */
struct lab_error {
    const char *comparison; /* the first that met it */
    const char *error;      /* NULL: no reason is known */
    int count;
};

/* One variant over all comparisons that it takes part in. */
struct lab_variant {
    const char *variant;
    const char *command; /* for people */
    int runs, failed;    /* without warm-ups and what abba interrupted itself */
    struct lab_error *errors;
    size_t error_count;
};

struct lab_report {
    const char *series; /* the series file's name */
    char sha256[65];    /* of the lab: its comparisons and their plans */
    int analysis;
    enum verdict verdict;
    bool finished; /* every comparison has all its runs */
    uint64_t runs_done, runs_planned;
    struct lab_result *comparisons;
    size_t comparison_count;
    struct lab_worst *worst;
    size_t worst_count;
    struct lab_variant *variants;
    size_t variant_count;
    int gating_verdicts;
    int alarm_verdicts; /* those of them whose noise is known: the next two are theirs */
    double expected_false_alarms, any_false_alarm; /* of all comparisons together */
    struct strings notes;
};

/* Appends the lab's report.json. */
void lab_report_encode(const struct lab_report *r, struct buf *out);

#endif
