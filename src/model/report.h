/*
 * report: the verdicts of a series, computed from its archive and nothing else.
 *
 * judge/ fills it in; report/ shows it; report.json holds it. Changes are fractions; `change` is
 * oriented as measured ((c - b) / b), verdicts orient it so that worse is positive.
 * Figures that could not be computed are NaN in memory, null in JSON and "-" on paper.
 */
#ifndef ABBA_MODEL_REPORT_H
#define ABBA_MODEL_REPORT_H

#include "base/err.h"
#include "base/strings.h"
#include "model/earlier.h"
#include "model/metric.h"

#include <stdint.h>

struct arena;
struct buf;
struct json;

enum verdict {
    VERDICT_NOT_JUDGED,
    VERDICT_NEW, /* one side only has the profile: there is nothing to compare with */
    VERDICT_PASSED,
    VERDICT_ACCEPTED,
    VERDICT_INCONCLUSIVE,
    VERDICT_INCOMPLETE,
    VERDICT_REGRESSED,
    VERDICT_INVALID,
    VERDICT_IDENTICAL,
};

enum grade { GRADE_NONE, GRADE_CONFIRMED, GRADE_LIKELY, GRADE_UNSURE };

/* Whether the whole interval is beyond +-1 %. */
enum mark { MARK_NONE, MARK_BETTER, MARK_WORSE };

/* A change for the worse that was agreed to beforehand, and let a metric through or did not. */
struct report_accepted {
    const char *name;
    double up_to;
    const char *reason, *who, *until;
};

/* One metric of one candidate under one profile. */
struct report_metric {
    const char *candidate;
    const char *metric;
    const char *unit;
    enum metric_better better;
    int complete_pairs; /* of this metric */
    double baseline_median, candidate_median;
    double baseline_spread, candidate_spread; /* (p84 - p16) / 2 of the column, in the unit */
    double baseline_min, baseline_max, candidate_min, candidate_max;
    double median_change;
    double median_difference;           /* in the unit */
    double interval_low, interval_high; /* of the change */
    double level;                       /* one-sided level of each end */
    double threshold;                   /* NaN: not judged */
    enum verdict verdict;
    enum grade grade;
    enum mark mark;
    double hodges_lehmann, hl_low, hl_high, hl_level;
    double p;      /* exact signed-rank, two-sided */
    double holm_p; /* one-sided, adjusted over the series' gating verdicts */
    int zeros;     /* pairs without a difference, dropped from p */
    double sigma;  /* standard deviation of the paired change (log form) */
    double sees;   /* smallest change found 8 times in 10 */
    double slot_effect, slot_p;
    double balanced_median; /* of an odd count; else NaN */
    double pairing_gain;    /* Var(d) / (Var ln b + Var ln c): below 1, pairing removed noise */
    double false_alarm;     /* chance of "regressed" with no true change */
    struct report_accepted *accepted; /* of a metric that does not pass its own limit */
    size_t accepted_count;            /* 0 or 1 */
    const char *claim;                /* NULL, "shown", "not_shown" */
    bool control;           /* a negative control; then `threshold` is its two-sided limit */
    const char *note;       /* why incomplete, from 0 to X, ...; NULL if none */
    struct strings missing; /* statuses and reasons of values that were not ok, each once */
};

/* What an A/A series shows about this machine. */
struct report_aa {
    const char *metric;
    double sigma, sigma_mad;
    double slot_effect, lag1;
    double swap_rate; /* fraction of label swaps judged regressed */
};

struct report_failure {
    const char *variant;
    int count;
    const char *error;       /* the first one */
    const char *stderr_tail; /* its last lines, or NULL */
    uint64_t run;            /* the first one's number */
};

/* One metric of one variant of an imported series whose runs are no pairs. */
struct report_summary {
    const char *variant, *metric, *unit;
    enum metric_better better;
    int runs, of; /* with a value; all */
    double mean, median, spread, min, max;
    struct strings missing; /* statuses and reasons of values that were not ok, each once */
};

/* One metric of one variant alone, over the runs that have it. */
struct report_figure {
    const char *metric, *unit;
    double median, low, high; /* low and high: the smallest and the largest */
    int runs;
};

/* What became of a variant under a profile that one variant failed. */
struct report_outcome {
    const char *variant;
    bool failed; /* fewer than half of its runs, and fewer than must be complete, ended well */
    int runs, ended_well; /* runs without those that abba interrupted itself */
    /* Of the runs that ended well; where it failed, of all that have the figure. */
    struct report_figure *figures;
    size_t figure_count;
};

/* A metric that has a column in a table of variants. */
struct report_column {
    const char *metric, *unit;
    enum metric_better better;
    const char *profile; /* whose runs give the figures: a memory pass; NULL: the table's own */
};

/* One metric of one variant by itself. */
struct report_cell {
    double median, low, high; /* over the runs that have it; low and high: smallest and largest */
    int runs, of;             /* with a usable value; all that abba did not interrupt itself */
    const char *status; /* "ok"; else what most runs without a usable value have: the status of
                           the value, of the run ("failed", "timeout", "invalid"), or "no_run" */
    const char *reason; /* its first; NULL if none is known */
};

struct report_row {
    const char *variant;
    struct report_cell *cells; /* one a column */
    size_t cell_count;
};

/* Variants side by side under one profile, the baseline first. Changes against the baseline stand
 * with the profile's metrics. */
struct report_table {
    struct report_column *columns;
    size_t column_count;
    struct report_row *rows;
    size_t row_count;
};

struct report_profile {
    const char *profile;
    enum verdict verdict;
    const char *stage;        /* "main" or "confirm": the one that decided */
    const char *main_verdict; /* of the main stage where a confirming stage decided; else NULL */
    int pairs, complete_pairs, min_complete;
    const char *order; /* "4 AB, 4 BA" */
    double level;      /* of the intervals of complete metrics */
    int noisy_pairs;
    struct report_metric *metrics;
    size_t metric_count;
    struct report_failure *failures;
    size_t failure_count;
    struct report_outcome *outcomes; /* one a variant where one of them failed; else none */
    size_t outcome_count;
    struct report_aa *aa; /* A/A series only */
    size_t aa_count;
    struct report_table *table;       /* of a series with several candidates; else NULL */
    struct report_summary *summaries; /* unpaired imported series only; it has no metrics then */
    size_t summary_count;
    struct strings notes;         /* slot effect, noise, sizing advice, ... */
    struct strings failure_notes; /* who failed how often, in words */
    struct strings unmeasured;    /* what was not measured, and why */
};

/* A set of CPUs that a matrix gave its profile. */
struct report_cpu_set {
    const char *cpus; /* "0-1"; "all" */
    int count;        /* 0: all, however many those are */
    const char *profile;
};

/* A variant on such a set; how many times as fast as on the base set. */
struct report_scaled_cell {
    struct report_cell cell;
    double speedup; /* of its own medians; NaN on the base set, and where one of both is missing */
};

struct report_scaled {
    const char *variant;
    struct report_scaled_cell *cells; /* one a set */
    size_t cell_count;
};

/* How variants get faster with CPUs: the profiles of a matrix that differ in nothing else. */
struct report_scaling {
    const char *profile;         /* the one with the matrix, and its values on other axes */
    struct report_column column; /* the metric that is compared */
    struct report_cpu_set *sets;
    size_t set_count;
    int base; /* index of the set that has the fewest CPUs */
    struct report_scaled *rows;
    size_t row_count;
};

/* What bounds some of the profiles: what they declare, their place in a matrix, or their name. */
struct report_regime {
    const char *regime;
    struct strings profiles;
};

/*
 * What was shown of a metric of a candidate in each regime, a word a regime: "better" or "worse"
 * (both bounds beyond 1 %, or judged regressed), "no_change" (neither was shown), "undecided" (no
 * bounds, incomplete, or inconclusive), "mixed" (better in one profile of the regime, worse in
 * another), "none" (not measured there).
 */
struct report_signs {
    const char *candidate, *metric;
    struct strings signs;
};

/* A change that wins in some regimes and loses in others. */
struct report_flip {
    const char *candidate;
    const char *metric; /* NULL: it wins by one metric and loses by another */
    struct strings wins, loses;
};

struct report_regimes {
    struct report_regime *regimes;
    size_t regime_count;
    struct report_signs *rows;
    size_t row_count;
    struct report_flip *flips;
    size_t flip_count;
};

/* Least favourable change of a metric over all profiles. */
struct report_worst {
    const char *candidate, *metric, *profile;
    double median_change; /* as measured */
};

struct report {
    const char *series;
    char plan_sha256[65];
    int analysis;
    enum verdict verdict;
    const char *rule;
    const char *thresholds;
    bool exploratory; /* thresholds that were not in the plan */
    bool finished;
    uint64_t runs_done, runs_planned;
    struct report_profile *profiles;
    size_t profile_count;
    struct report_worst *worst;
    size_t worst_count;
    struct report_scaling *scalings; /* of series with a matrix over CPU sets */
    size_t scaling_count;
    struct report_regimes *regimes; /* of series with several regimes; else NULL */
    struct earlier *earlier;        /* series of the same plan, the oldest first */
    size_t earlier_count;
    int gating_verdicts;
    double expected_false_alarms, any_false_alarm;
    int marks_tested;
    struct strings variants;      /* names, the baseline first */
    struct strings displays;      /* their command lines */
    struct strings notes;         /* of the series */
    struct strings failure_notes; /* candidates that fail where the baseline does not */
    const char *host_note;        /* "2 CPUs, Linux 6.18, no PMU": one line about the machine */
};

const char *verdict_name(enum verdict v);
bool verdict_parse(const char *text, enum verdict *v);
const char *grade_name(enum grade g);

/* What is known of a variant's failures; NULL if it had none. */
const struct report_failure *report_failure_of(const struct report_profile *p, const char *variant);

/* The profile's line of that metric of that candidate, or NULL. */
const struct report_metric *report_metric_of(const struct report_profile *p, const char *candidate,
                                             const char *metric);

/* The profile of that name, or NULL. */
const struct report_profile *report_profile_of(const struct report *r, const char *name);

/* The worse of two: invalid > regressed > incomplete > inconclusive > accepted > passed > new > not
 * judged. */
enum verdict verdict_worse(enum verdict a, enum verdict b);

/* Appends report.json: fixed key order, two-space indent, numbers that read back exactly. */
void report_encode(const struct report *r, struct buf *out);

/* Reads report.json. Everything belongs to the arena. ERR_ARCHIVE on a fault. */
int report_decode(struct report *r, const struct json *root, const char *file, struct arena *arena,
                  struct err *err);

#endif
