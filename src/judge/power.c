#include "judge/power.h"

#include <math.h>

#include "judge/elementary.h"
#include "judge/exact.h"

#define POWER 0.8  /* a change is seen when it is found 8 times in 10 */
#define FAR 38.0   /* beyond so many sigmas nothing is left of a normal density */
#define WIDTH 20.0 /* below the threshold by so much, the median's density is nothing */
#define PANELS 12  /* of the quadrature, an octave */
#define OCTAVES 20
#define NEGLIGIBLE 1e-18 /* a share of a sum that no longer changes it */
#define NOTHING -80.0    /* logarithm of a density not worth its evaluation */

/* ---- what can be seen ---- */

bool power_factor(size_t n, double *factor)
{
    size_t k = sign_k(n);
    double lo = 0.5, hi = 1.0;

    if (k == 0)
        return false;
    for (int i = 0; i < 60; i++) {
        double p = lo + (hi - lo) / 2.0;

        if (binomial_at_least(n, n - k + 1, p) < POWER)
            lo = p;
        else
            hi = p;
    }
    *factor = normal_quantile(hi);
    return true;
}

bool power_sees(size_t n, double sigma, enum metric_better better, double *change)
{
    double factor;

    if (!power_factor(n, &factor))
        return false;
    *change = better == BETTER_HIGHER ? 1.0 - elementary_exp(-factor * sigma)
                                      : elementary_exp(factor * sigma) - 1.0;
    return true;
}

/* ---- false alarms ---- */

double power_t(double threshold, double sigma, enum metric_better better)
{
    double distance = better == BETTER_HIGHER ? -elementary_log(1.0 - threshold)
                                              : elementary_log(1.0 + threshold);

    if (sigma > 0.0)
        return distance / sigma;
    return distance > 0.0 ? INFINITY : 0.0;
}

/* Integral of f over [a, b]: Gauss-Legendre with 8 points. */
static double panel(double (*f)(double x, const void *context), const void *context, double a,
                    double b)
{
    static const double node[4] = {0.1834346424956498, 0.5255324099163290, 0.7966664774136267,
                                   0.9602898564975363};
    static const double weight[4] = {0.3626837833783620, 0.3137066458778873, 0.2223810344533745,
                                     0.1012285362903763};
    double half = (b - a) / 2.0, centre = a + half, sum = 0.0;

    for (int i = 0; i < 4; i++)
        sum +=
            weight[i] * (f(centre - half * node[i], context) + f(centre + half * node[i], context));
    return half * sum;
}

/* Integral over [to - width, to] of an f >= 0 that falls away from `to`, on any scale down to 1e-6
 * of the width: each octave of the distance from `to` has its panels. Ends where f does. */
static double integrate_below(double (*f)(double x, const void *context), const void *context,
                              double to, double width)
{
    double reach = width / (double)(1 << OCTAVES);
    double sum = panel(f, context, to - reach, to);

    for (int octave = 0; octave < OCTAVES; octave++) {
        double step = reach / PANELS, ring = 0.0;

        for (int i = 0; i < PANELS; i++)
            ring += panel(f, context, to - reach - (i + 1) * step, to - reach - i * step);
        sum += ring;
        reach *= 2.0;
        if (ring <= sum * NEGLIGIBLE)
            break;
    }
    return sum;
}

/* The two middle values of n = 2m stand at x <= t and beyond 2t - x, so their mean is beyond t. */
struct straddle {
    double t;
    size_t m;
    bool bounded;
    size_t k;         /* bounded: fewer than k of all changes may be below 0 */
    double log_count; /* ln of n! / ((m-1)! m!) */
};

static double straddle_density(double x, const void *context)
{
    const struct straddle *s = context;
    double below = normal_cdf(x), m = (double)s->m;
    double log_density = s->log_count + (m - 1.0) * elementary_log(below) +
                         elementary_log(normal_pdf(x)) +
                         m * elementary_log(normal_tail(2.0 * s->t - x));

    if (!(log_density > NOTHING))
        return 0.0;
    if (!s->bounded)
        return elementary_exp(log_density);
    return elementary_exp(log_density) * binomial_at_most(s->m - 1, s->k - 1, 0.5 / below);
}

static double straddle(size_t n, double t, size_t k, bool bounded)
{
    size_t m = n / 2;
    struct straddle s = {.t = t, .m = m, .bounded = bounded, .k = k};
    double width = bounded && t < WIDTH ? t : WIDTH;

    s.log_count = log_factorial(n) - log_factorial(m - 1) - log_factorial(m);
    return integrate_below(straddle_density, &s, t, width);
}

double power_alarm_median(size_t n, double t)
{
    double p = normal_tail(t), straddling;

    if (n == 0 || t > FAR)
        return 0.0;
    straddling = n % 2 ? 0.0 : straddle(n, t, 0, false);
    return binomial_at_least(n, n / 2 + 1, p) + straddling;
}

/* At least `needed` of n changes beyond t, and fewer than k of them below 0. */
static double beyond_and_bounded(size_t n, size_t needed, size_t k, double beyond)
{
    double sum = 0.0, negative = 0.5 / (1.0 - beyond); /* of a change that is not beyond t */

    for (size_t a = needed; a <= n; a++) {
        double log_chance = log_factorial(n) - log_factorial(a) - log_factorial(n - a) +
                            (double)a * elementary_log(beyond) +
                            (double)(n - a) * elementary_log(1.0 - beyond);

        if (log_chance > NOTHING)
            sum += elementary_exp(log_chance) * binomial_at_most(n - a, k - 1, negative);
    }
    return sum;
}

double power_alarm_bounded(size_t n, double t)
{
    size_t k = sign_k(n);
    double straddling;

    if (k == 0 || t > FAR)
        return 0.0;
    straddling = n % 2 ? 0.0 : straddle(n, t, k, true);
    return beyond_and_bounded(n, n / 2 + 1, k, normal_tail(t)) + straddling;
}

static double alarm(enum rule rule, size_t n, double t)
{
    return rule == RULE_MEDIAN ? power_alarm_median(n, t) : power_alarm_bounded(n, t);
}

double power_not_passed(enum rule rule, size_t n, double t)
{
    size_t k = sign_k(n);

    if (rule == RULE_MEDIAN)
        return power_alarm_median(n, t);
    return k == 0 ? 1.0 : binomial_at_least(n, k, normal_tail(t)); /* upper bound beyond t */
}

double power_false_alarm(const struct power_gate *gate, double sigma)
{
    double result;

    power_profile(gate, &sigma, 1, &result);
    return result;
}

void power_profile(const struct power_gate *gates, const double *sigmas, size_t m, double *alarms)
{
    double all_pass = 1.0;

    for (size_t i = 0; i < m; i++) {
        const struct power_gate *g = &gates[i];
        double t = power_t(g->threshold, sigmas[i], g->better);

        alarms[i] = alarm(g->rule, g->confirm ? g->confirm : g->pairs, t);
        if (g->confirm)
            all_pass *= 1.0 - power_not_passed(g->rule, g->pairs, t);
    }
    for (size_t i = 0; i < m; i++)
        alarms[i] *= gates[i].confirm ? 1.0 - all_pass : 1.0;
}

void power_series(const double *alarms, size_t m, double *expected, double *at_least_one)
{
    double none = 1.0;

    *expected = 0.0;
    for (size_t i = 0; i < m; i++) {
        *expected += alarms[i];
        none *= 1.0 - alarms[i];
    }
    *at_least_one = 1.0 - none;
}

enum power_advice power_sizing(double sigma, double threshold)
{
    if (sigma <= threshold / 2.0)
        return ADVICE_ENOUGH;
    return sigma <= threshold ? ADVICE_CONFIRM : ADVICE_HOPELESS;
}
