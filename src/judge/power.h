/*
 * power: what a number of pairs can see, and how often it cries wolf.
 *
 * The model: ln(c/b) of a pair is normal with standard deviation sigma (sigma_d of paired.h), the
 * pairs are independent. Formulas beside the functions; integrals by a fixed Gauss-Legendre rule,
 * so that the digits are the same on every machine.
 */
#ifndef ABBA_JUDGE_POWER_H
#define ABBA_JUDGE_POWER_H

#include <stdbool.h>
#include <stddef.h>

#include "model/metric.h"
#include "model/thresholds.h"

/* What was fixed beforehand about one gating metric. */
struct power_gate {
    enum rule rule;
    size_t pairs;
    size_t confirm; /* fresh pairs of a second stage that alone decides; 0: none */
    double threshold;
    enum metric_better better;
};

/* The true shift, in sigmas, whose lower bound is above 0 with probability 0.8: Phi^-1(p) with
 * P(Bin(n,p) >= n-k+1) = 0.8. False for n < 5: no bound, nothing can be seen. */
bool power_factor(size_t n, double *factor);

/* The same as a fraction of the baseline in the worse direction: exp(f sigma) - 1 for lower-better
 * metrics, 1 - exp(-f sigma) for higher-better ones. */
bool power_sees(size_t n, double sigma, enum metric_better better, double *change);

/* The threshold on the scale of sigmas: ln(1+T)/sigma, or -ln(1-T)/sigma where higher is better. */
double power_t(double threshold, double sigma, enum metric_better better);

/* No true change: probability that one stage of n pairs says regressed, by either rule. */
double power_alarm_median(size_t n, double t);
double power_alarm_bounded(size_t n, double t);

/* No true change: probability that one stage of n pairs does not pass. */
double power_not_passed(enum rule rule, size_t n, double t);

/* No true change: probability that the gate as planned ends in regressed. With a second stage:
 * both that the first does not pass and that the second regresses. */
double power_false_alarm(const struct power_gate *gate, double sigma);

/* The same for the m gates of one profile, whose second stage is run for all of them as soon as
 * one does not pass. The gates share rule, pairs and confirm; alarms[i] is gate i's. */
void power_profile(const struct power_gate *gates, const double *sigmas, size_t m, double *alarms);

/* Of m independent gates with these probabilities: expected false alarms, and at least one. */
void power_series(const double *alarms, size_t m, double *expected, double *at_least_one);

enum power_advice {
    ADVICE_ENOUGH,   /* sigma <= T/2: 8 pairs will do */
    ADVICE_CONFIRM,  /* sigma <= T: 8 pairs, 16 to confirm */
    ADVICE_HOPELESS, /* the threshold is inside the noise */
};
enum power_advice power_sizing(double sigma, double threshold);

#endif
