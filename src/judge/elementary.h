/*
 * elementary: exp, log and the normal distribution out of + - * / and sqrt alone.
 *
 * The C library's transcendental functions differ in their last digit between machines; a verdict
 * must not. Everything here uses only operations that IEEE 754 rounds correctly, in a fixed order,
 * and is compiled with -ffp-contract=off, so the same bits come out everywhere. Compared with
 * exact values: exp and log within 3 units in the last place, the normal functions within
 * 1e-14 relative (normal_cdf also far in its lower tail), log_factorial within 1e-15 relative.
 * No function sets errno or a floating-point trap, and none returns nan for an argument that
 * is a number.
 */
#ifndef ABBA_JUDGE_ELEMENTARY_H
#define ABBA_JUDGE_ELEMENTARY_H

#include <stddef.h>

/* e to the x; 0 below the smallest subnormal, infinity above the largest double. */
double elementary_exp(double x);

/* Natural logarithm; log(0) is minus infinity, and so is the logarithm of a negative number. */
double elementary_log(double x);

/* Density of the standard normal distribution. */
double normal_pdf(double x);

/* P(X <= x) of the standard normal distribution. */
double normal_cdf(double x);

/* P(X > x): like 1 - normal_cdf(x), without the loss of digits. */
double normal_tail(double x);

/* The x with normal_cdf(x) = p; minus infinity for p <= 0, infinity for p >= 1. */
double normal_quantile(double p);

/* ln(n!), by Stirling's series from n = 16 on (Abramowitz and Stegun 6.1.41). */
double log_factorial(size_t n);

#endif
