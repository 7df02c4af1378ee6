/*
 * paired: everything that is computed from the complete pairs of one metric.
 *
 * Pairs come in the order in which they were run. A *raw* change is candidate against baseline,
 * (c - b) / b; a *worse* change is the same, turned so that worse is positive. Zero baselines
 * give infinite changes, never nan; a figure that does not exist says so by a flag.
 * The arrays of the input are borrowed until paired_release.
 */
#ifndef ABBA_JUDGE_PAIRED_H
#define ABBA_JUDGE_PAIRED_H

#include <stdbool.h>
#include <stddef.h>

#include "judge/exact.h"
#include "judge/hodges_lehmann.h"
#include "model/metric.h"

struct paired_input {
    size_t n;                /* complete pairs, may be 0 */
    const double *baseline;  /* n finite values */
    const double *candidate; /* n finite values */
    const bool *reversed;    /* n flags: the candidate ran first (BA); NULL: pair 1 AB, 2 BA, ... */
    enum metric_better better;
    double floor; /* a pair with |c - b| <= floor has not changed; in the metric's unit */
    bool range;   /* of two to four pairs the whole range is the interval; see paired_interval() */
};

struct paired {
    struct paired_input in;
    double *change;  /* owned: raw changes in pair order */
    double *sorted;  /* owned: the same, ascending */
    double *scratch; /* owned: 2 n doubles for the functions below */
};

/* A figure that may not exist. */
struct paired_figure {
    bool known;
    double value;
};

/* [r(k), r(n+1-k)]: each end is a one-sided bound with confidence `level`. */
struct paired_interval {
    bool known; /* false for n < 5, and with `range` for n < 2 */
    double lo, hi;
    double level;
    size_t k;
};

/* One relative change; |baseline| is the measure, so a negative baseline keeps its direction. */
double paired_change(double baseline, double candidate, double floor);

/* Computes and sorts the changes. */
void paired_init(struct paired *p, const struct paired_input *in);
void paired_release(struct paired *p);

/* ---- the judged figures; need n >= 1 ---- */

/* Median of the raw changes, and the same turned so that worse is positive. */
double paired_median(const struct paired *p);
double paired_worse_median(const struct paired *p);

/*
 * The interval of the median, raw and turned (lo <= hi in both). Below five pairs no end is a bound
 * of 95 %: there is none. With `range` (of counts that hardly vary from run to run) two to four
 * pairs have the range of their changes, with the level that it has: 75, 87.5 and 93.75 %.
 */
struct paired_interval paired_interval(const struct paired *p);
struct paired_interval paired_worse_interval(const struct paired *p);

/* ---- shown beside them ---- */

/* Median of c - b in the metric's unit. */
double paired_median_difference(const struct paired *p);

/* Median of one column; their ratio can differ from the median of the changes. */
double paired_baseline_median(const struct paired *p);
double paired_candidate_median(const struct paired *p);

/* Hodges-Lehmann, square-root form, of the raw changes; shown, never judged. */
void paired_hodges_lehmann(const struct paired *p, struct hodges_lehmann *out);

/* Signed-rank test of the raw changes, worse-oriented: p_greater is the p of "worse". */
void paired_signed_rank(const struct paired *p, struct signed_rank *out);

/* How the place in the pair acts: positive when the second run reads higher. */
struct paired_slot {
    bool known;    /* both orders have a pair */
    bool testable; /* n >= 8: below, no arrangement has p <= 0.05 */
    size_t ab, ba; /* pairs of each order */
    double effect; /* median over i in AB, j in BA of sqrt((c_i/b_i) / (c_j/b_j)) - 1 */
    double p;      /* exact two-sided rank-sum */
};
void paired_slot_effect(const struct paired *p, struct paired_slot *out);

/* Mean of the two orders' median raw changes: free of the slot effect that an odd n leaves in. */
struct paired_figure paired_balanced_median(const struct paired *p);

/* sigma_d: standard deviation of ln(c/b), pooled within the two orders (n - 2 degrees of freedom),
 * so that the slot effect is not counted as noise. Pairs with a value <= 0 have no logarithm: the
 * figure is then unknown, as it is when no order has two pairs. Equal for both orientations. */
struct paired_figure paired_sigma(const struct paired *p);

/* The robust form: 1.4826 x median |d - its order's median|. */
struct paired_figure paired_sigma_mad(const struct paired *p);

/* Lag-1 autocorrelation of ln(c/b), each about its order's mean; 0 when nothing varies. */
struct paired_figure paired_lag1(const struct paired *p);

/* Var(d) / (Var ln b + Var ln c): below 1, pairing (same seed, same moment) removed noise. */
struct paired_figure paired_pairing_gain(const struct paired *p);

#endif
