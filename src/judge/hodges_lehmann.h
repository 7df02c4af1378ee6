/*
 * hodges_lehmann: the estimate and its interval, as order statistics of all pairwise (Walsh)
 * averages, without listing them.
 *
 * The averages of n sorted values form a matrix whose rows and columns ascend. The k-th smallest
 * is found by bisection over the doubles themselves: each step counts the cells up to a value along
 * the matrix's staircase in O(n). Time O(n log n) for practical data (at most 64 steps), no memory,
 * ties and infinities included. Counting along the staircase: Monahan, ACM TOMS 10 (1984), 265.
 */
#ifndef ABBA_JUDGE_HODGES_LEHMANN_H
#define ABBA_JUDGE_HODGES_LEHMANN_H

#include <stdbool.h>
#include <stddef.h>

struct hodges_lehmann {
    double estimate;
    bool has_interval; /* false for n < 6 */
    double lo, hi;     /* [W(T+1), W(M-T)], T as signed_rank_critical */
    double level;      /* two-sided confidence of [lo, hi] */
};

/* Median over i <= j of sqrt((1+r_i)(1+r_j)) - 1 of n >= 1 ascending relative changes. */
void hodges_lehmann_ratio(const double *sorted, size_t n, struct hodges_lehmann *out);

/* Median over i <= j of (x_i + x_j) / 2 of n >= 1 ascending values, as published tables have it. */
void hodges_lehmann_sum(const double *sorted, size_t n, struct hodges_lehmann *out);

/* Median over all i, j of sqrt(x_i / y_j) - 1; x ascending, y DESCENDING, none negative,
 * both with at least one value. */
double shift_ratio(const double *x, size_t nx, const double *y_descending, size_t ny);

#endif
