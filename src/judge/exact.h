/*
 * exact: the exact distributions behind intervals and p-values.
 *
 * Binomial tails, the sign interval's k, Wilcoxon's signed-rank and rank-sum distributions
 * (conditional on ties, by doubled mid-ranks), Holm's adjustment. Arithmetic as in elementary.h.
 * Signed-rank and rank-sum are exact to 50 values, then normal with the correction for ties and
 * for continuity. Sources: Hollander, Wolfe, Chicken, Nonparametric Statistical Methods (3rd ed.),
 * chapters 3 and 4; Holm, Scand. J. Statist. 6 (1979).
 */
#ifndef ABBA_JUDGE_EXACT_H
#define ABBA_JUDGE_EXACT_H

#include <stdbool.h>
#include <stddef.h>

#define EXACT_MAX 50 /* largest number of ranked values with an exact distribution */

/* P(X <= k) and P(X >= k) for X ~ Bin(n, p). Terms relative to the mode: no n underflows. */
double binomial_at_most(size_t n, size_t k, double p);
double binomial_at_least(size_t n, size_t k, double p);

/* The largest k with sum_{j<k} C(n,j) / 2^n <= 0.05; 0 for n < 5: no interval. */
size_t sign_k(size_t n);

/* One-sided confidence that the k-th smallest of n changes bounds the median: 1 - P(X < k). */
double sign_level(size_t n, size_t k);

/* The largest T with 2 P(V <= T) <= 0.05 for the signed-rank sum of n values; -1 for n < 6.
 * *level, if not NULL, becomes 1 - 2 P(V <= T). */
long signed_rank_critical(size_t n, double *level);

struct signed_rank {
    double v;         /* sum of the ranks of positive values; mid-ranks give halves */
    size_t used;      /* values that are not zero */
    size_t zeros;     /* values dropped because they are zero */
    double p;         /* two-sided */
    double p_greater; /* one-sided, against values above zero */
    double p_less;    /* one-sided, against values below zero */
    bool exact;       /* false: normal approximation */
};

/* Signed-rank test of n values against zero; infinities rank last. Nothing left: p = 1. */
void signed_rank_test(const double *values, size_t n, struct signed_rank *out);

struct rank_sum {
    double w;   /* sum of the ranks of x among all */
    double p;   /* two-sided: twice the smaller tail, at most 1 */
    bool exact; /* false: normal approximation */
};

/* Rank-sum test of x against y. An empty side: p = 1. */
void rank_sum_test(const double *x, size_t nx, const double *y, size_t ny, struct rank_sum *out);

/* Holm-adjusted p-values in the order of p. `planned` >= m is the size of the family fixed
 * beforehand; members without a p count as if theirs were larger. */
void holm_adjust(const double *p, size_t m, size_t planned, double *adjusted);

/* Sorts ascending; infinities at their ends. */
void sort_ascending(double *values, size_t n);

/* Mean of two values, never nan (0 for opposite infinities), and without overflow. */
double midpoint(double a, double b);

/* Median of n >= 1 ascending values. */
double sorted_median(const double *sorted, size_t n);

#endif
