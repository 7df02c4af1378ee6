#include "judge/elementary.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* ln 2 in two parts: the first has 21 trailing zero bits, so that k * LN2_HI is exact. */
#define LN2_HI 0x1.62e42feep-1
#define LN2_LO 0x1.a39ef35793c76p-33
#define SQRT_HALF 0x1.6a09e667f3bcdp-1
#define INV_SQRT_2PI 0x1.9884533d43651p-2
#define HALF_LN_2PI 0x1.d67f1c864beb5p-1

static double two_to(int k)
{
    uint64_t bits = (uint64_t)(k + 1023) << 52;
    double d;

    memcpy(&d, &bits, sizeof(d));
    return d;
}

/* Taylor's series to the 14th power; for |r| <= 0.35 the next term is below 1e-19. */
static double exp_near_zero(double r)
{
    static const double inverse_factorial[] = {1.0 / 87178291200,
                                               1.0 / 6227020800,
                                               1.0 / 479001600,
                                               1.0 / 39916800,
                                               1.0 / 3628800,
                                               1.0 / 362880,
                                               1.0 / 40320,
                                               1.0 / 5040,
                                               1.0 / 720,
                                               1.0 / 120,
                                               1.0 / 24,
                                               1.0 / 6,
                                               1.0 / 2,
                                               1.0,
                                               1.0};
    double sum = 0.0;

    for (size_t i = 0; i < sizeof(inverse_factorial) / sizeof(inverse_factorial[0]); i++)
        sum = sum * r + inverse_factorial[i];
    return sum;
}

double elementary_exp(double x)
{
    double r;
    int k;

    if (x > 709.79)
        return INFINITY;
    if (x < -745.2)
        return 0.0;
    k = (int)(x / (LN2_HI + LN2_LO) + (x < 0 ? -0.5 : 0.5));
    r = (x - k * LN2_HI) - k * LN2_LO;
    /* Two steps, so that neither factor leaves the range of normal numbers. */
    return exp_near_zero(r) * two_to(k / 2) * two_to(k - k / 2);
}

/* x = f * 2^k with f in [sqrt(1/2), sqrt(2)); x is positive and finite. */
static double split(double x, int *k)
{
    uint64_t bits;
    double f;

    *k = 0;
    if (x < 0x1p-1022) {
        x *= 0x1p54;
        *k = -54;
    }
    memcpy(&bits, &x, sizeof(bits));
    *k += (int)(bits >> 52) - 1022;
    bits = (bits & 0xfffffffffffffULL) | (1022ULL << 52);
    memcpy(&f, &bits, sizeof(f));
    if (f < SQRT_HALF) {
        f *= 2.0;
        (*k)--;
    }
    return f;
}

double elementary_log(double x)
{
    /* ln f = 2 atanh(s) = 2 s + 2 s^3 / 3 + ... + 2 s^25 / 25, with s^2 <= 0.0295 */
    static const double two_over[] = {2.0 / 25, 2.0 / 23, 2.0 / 21, 2.0 / 19, 2.0 / 17, 2.0 / 15,
                                      2.0 / 13, 2.0 / 11, 2.0 / 9,  2.0 / 7,  2.0 / 5,  2.0 / 3};
    double f, g, s, s2, sum = 0.0;
    int k;

    if (x <= 0.0)
        return -INFINITY;
    if (x > 0x1.fffffffffffffp+1023)
        return INFINITY;
    f = split(x, &k);
    g = f - 1.0; /* exact */
    s = g / (2.0 + g);
    s2 = s * s;
    for (size_t i = 0; i < sizeof(two_over) / sizeof(two_over[0]); i++)
        sum = sum * s2 + two_over[i];
    /* 2 s = g - s g: the large part g is exact. */
    return k * LN2_HI + (g - (s * (g - s2 * sum) - k * LN2_LO));
}

double normal_pdf(double x)
{
    double a = fabs(x), head;

    if (a > 40.0)
        return 0.0;
    /* exp(-x^2/2) with x split, so that the rounding of x^2 is not magnified. */
    head = (double)(int)(a * 16.0) / 16.0;
    return INV_SQRT_2PI * elementary_exp(-head * head / 2.0) *
           elementary_exp(-(a - head) * (a + head) / 2.0);
}

/* P(0 < X <= x) for 0 <= x <= 1.5: phi(x) (x + x^3/3 + x^5/15 + ...), Marsaglia 2004. */
static double normal_middle(double x)
{
    double term = x, sum = x;

    for (int i = 3; term > sum * 1e-18; i += 2) {
        term *= x * x / i;
        sum += term;
    }
    return normal_pdf(x) * sum;
}

/* P(X > x), x > 1.5: phi(x) / (x + 1/(x + 2/(x + 3/(x + ...)))) (Abramowitz, Stegun 26.2.14). */
static double normal_far(double x)
{
    double denominator = x;

    for (int i = 20 + (int)(420.0 / (x * x)); i >= 1; i--)
        denominator = x + i / denominator;
    return normal_pdf(x) / denominator;
}

double normal_tail(double x)
{
    if (x > 40.0)
        return 0.0;
    if (x > 1.5)
        return normal_far(x);
    if (x >= 0.0)
        return 0.5 - normal_middle(x);
    if (x >= -1.5)
        return 0.5 + normal_middle(-x);
    return x < -40.0 ? 1.0 : 1.0 - normal_far(-x);
}

double normal_cdf(double x)
{
    return normal_tail(-x);
}

double normal_quantile(double p)
{
    double q = p < 0.5 ? p : 1.0 - p, t, x;

    if (p <= 0.0)
        return -INFINITY;
    if (p >= 1.0)
        return INFINITY;
    if (p > 0.5 - 1e-12 && p < 0.5 + 1e-12)
        return (p - 0.5) / INV_SQRT_2PI;
    /* A start within 4.5e-4 (Abramowitz and Stegun 26.2.23), bettered by Halley's steps. */
    t = sqrt(-2.0 * elementary_log(q));
    x = t - (2.515517 + t * (0.802853 + t * 0.010328)) /
                (1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
    for (int i = 0; i < 3; i++) {
        double density = normal_pdf(x);

        if (density < 1e-300)
            break;
        t = (normal_tail(x) - q) / density;
        x += t / (1.0 + x * t / 2.0);
    }
    return p < 0.5 ? -x : x;
}

double log_factorial(size_t n)
{
    double x = (double)n, product = 1.0, y;

    if (n < 16) {
        for (size_t i = 2; i <= n; i++)
            product *= (double)i;
        return elementary_log(product);
    }
    y = 1.0 / (x * x);
    return (x + 0.5) * elementary_log(x) - x + HALF_LN_2PI +
           (1.0 / 12 - y * (1.0 / 360 - y * (1.0 / 1260 - y * (1.0 / 1680 - y / 1188)))) / x;
}
