#include "judge/paired.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "judge/elementary.h"

#define MAD_TO_SIGMA 1.4826022185056018 /* 1 / normal_quantile(0.75) */

double paired_change(double baseline, double candidate, double floor)
{
    double difference = candidate - baseline;

    if (fabs(difference) <= floor)
        return 0.0;
    /* x / 0 is the infinity of the right sign; 0 / 0 went out above. Adding 0 turns -0 into 0. */
    return difference / fabs(baseline) + 0.0;
}

void paired_init(struct paired *p, const struct paired_input *in)
{
    size_t n = in->n;

    ABBA_ASSERT(in->floor >= 0.0);
    *p = (struct paired){.in = *in};
    p->change = xreallocarray(NULL, 4 * n + 1, sizeof(*p->change));
    p->sorted = p->change + n;
    p->scratch = p->sorted + n;
    for (size_t i = 0; i < n; i++) {
        ABBA_ASSERT(isfinite(in->baseline[i]) && isfinite(in->candidate[i]));
        p->change[i] = paired_change(in->baseline[i], in->candidate[i], in->floor);
    }
    memcpy(p->sorted, p->change, n * sizeof(*p->sorted));
    sort_ascending(p->sorted, n);
}

void paired_release(struct paired *p)
{
    free(p->change);
    *p = (struct paired){0};
}

/* ---- the judged figures ---- */

/* Turned so that worse is positive; never -0. */
static double worse(const struct paired *p, double change)
{
    return p->in.better == BETTER_HIGHER ? 0.0 - change : change;
}

double paired_median(const struct paired *p)
{
    return sorted_median(p->sorted, p->in.n);
}

double paired_worse_median(const struct paired *p)
{
    return worse(p, paired_median(p));
}

struct paired_interval paired_interval(const struct paired *p)
{
    size_t n = p->in.n, k = sign_k(n);

    if (k == 0 && p->in.range && n > 1)
        k = 1;
    if (k == 0)
        return (struct paired_interval){.known = false};
    return (struct paired_interval){
        .known = true,
        .lo = p->sorted[k - 1],
        .hi = p->sorted[n - k],
        .level = sign_level(n, k),
        .k = k,
    };
}

struct paired_interval paired_worse_interval(const struct paired *p)
{
    struct paired_interval i = paired_interval(p);
    double lo = i.lo;

    if (p->in.better == BETTER_HIGHER) {
        i.lo = worse(p, i.hi);
        i.hi = worse(p, lo);
    }
    return i;
}

/* ---- medians ---- */

static double median_of(double *values, size_t n)
{
    sort_ascending(values, n);
    return sorted_median(values, n);
}

static double column_median(const struct paired *p, const double *column)
{
    memcpy(p->scratch, column, p->in.n * sizeof(*column));
    return median_of(p->scratch, p->in.n);
}

double paired_baseline_median(const struct paired *p)
{
    return column_median(p, p->in.baseline);
}

double paired_candidate_median(const struct paired *p)
{
    return column_median(p, p->in.candidate);
}

double paired_median_difference(const struct paired *p)
{
    for (size_t i = 0; i < p->in.n; i++)
        p->scratch[i] = p->in.candidate[i] - p->in.baseline[i];
    return median_of(p->scratch, p->in.n);
}

void paired_hodges_lehmann(const struct paired *p, struct hodges_lehmann *out)
{
    hodges_lehmann_ratio(p->sorted, p->in.n, out);
}

void paired_signed_rank(const struct paired *p, struct signed_rank *out)
{
    for (size_t i = 0; i < p->in.n; i++)
        p->scratch[i] = worse(p, p->change[i]);
    signed_rank_test(p->scratch, p->in.n, out);
}

/* ---- the two orders ---- */

static bool is_reversed(const struct paired *p, size_t i)
{
    return p->in.reversed ? p->in.reversed[i] : i % 2 == 1;
}

/* Copies AB's values to the front of `to` and BA's behind them; returns how many are AB. */
static size_t by_order(const struct paired *p, const double *values, double *to)
{
    size_t ab = 0, at;

    for (size_t i = 0; i < p->in.n; i++) {
        if (!is_reversed(p, i))
            to[ab++] = values[i];
    }
    at = ab;
    for (size_t i = 0; i < p->in.n; i++) {
        if (is_reversed(p, i))
            to[at++] = values[i];
    }
    return ab;
}

/* c / b without nan; without a positive baseline what the change says. */
static double ratio(double b, double c)
{
    double change;

    if (b > 0.0 && c >= 0.0)
        return c / b;
    change = paired_change(b, c, 0.0);
    return change > -1.0 ? 1.0 + change : 0.0;
}

static void reverse(double *values, size_t n)
{
    for (size_t i = 0; i < n / 2; i++) {
        double t = values[i];

        values[i] = values[n - 1 - i];
        values[n - 1 - i] = t;
    }
}

void paired_slot_effect(const struct paired *p, struct paired_slot *out)
{
    double *grouped = p->scratch, *ratios = p->scratch + p->in.n;
    struct rank_sum test;

    for (size_t i = 0; i < p->in.n; i++)
        ratios[i] = ratio(p->in.baseline[i], p->in.candidate[i]);
    *out = (struct paired_slot){.p = 1.0};
    out->ab = by_order(p, ratios, grouped);
    out->ba = p->in.n - out->ab;
    out->known = out->ab > 0 && out->ba > 0;
    out->testable = out->known && p->in.n >= 8;
    if (!out->known)
        return;
    rank_sum_test(grouped, out->ab, grouped + out->ab, out->ba, &test);
    out->p = test.p;
    sort_ascending(grouped, out->ab);
    sort_ascending(grouped + out->ab, out->ba);
    reverse(grouped + out->ab, out->ba);
    out->effect = shift_ratio(grouped, out->ab, grouped + out->ab, out->ba);
}

struct paired_figure paired_balanced_median(const struct paired *p)
{
    size_t ab = by_order(p, p->change, p->scratch), ba = p->in.n - ab;

    if (ab == 0 || ba == 0)
        return (struct paired_figure){.known = false};
    return (struct paired_figure){
        true, midpoint(median_of(p->scratch, ab), median_of(p->scratch + ab, ba))};
}

/* ---- spread, all on the scale of logarithms ---- */

/* Taken from the first value, so that equal values have exactly their own mean and no spread. */
static double mean_of(const double *values, size_t n)
{
    double sum = 0.0;

    for (size_t i = 1; i < n; i++)
        sum += values[i] - values[0];
    return n > 0 ? values[0] + sum / (double)n : 0.0;
}

static double squares_about(const double *values, size_t n, double centre)
{
    double sum = 0.0;

    for (size_t i = 0; i < n; i++)
        sum += (values[i] - centre) * (values[i] - centre);
    return sum;
}

/* d[i] = ln c_i - ln b_i; false when a value has no logarithm. */
static bool log_changes(const struct paired *p, double *d)
{
    for (size_t i = 0; i < p->in.n; i++) {
        if (p->in.baseline[i] <= 0.0 || p->in.candidate[i] <= 0.0)
            return false;
        d[i] = elementary_log(p->in.candidate[i] / p->in.baseline[i]);
    }
    return true;
}

/* ln(c/b) grouped by order in the scratch's first half. *freedom: n less the orders that occur. */
static bool grouped_logs(const struct paired *p, size_t *ab, size_t *freedom)
{
    size_t n = p->in.n, orders;
    double *d = p->scratch + n;

    if (!log_changes(p, d))
        return false;
    *ab = by_order(p, d, p->scratch);
    orders = (*ab > 0 ? 1u : 0u) + (*ab < n ? 1u : 0u);
    *freedom = n - orders;
    return *freedom > 0;
}

struct paired_figure paired_sigma(const struct paired *p)
{
    size_t ab, ba, freedom;
    double *d = p->scratch, sum;

    if (!grouped_logs(p, &ab, &freedom))
        return (struct paired_figure){.known = false};
    ba = p->in.n - ab;
    sum = squares_about(d, ab, mean_of(d, ab)) + squares_about(d + ab, ba, mean_of(d + ab, ba));
    return (struct paired_figure){true, sqrt(sum / (double)freedom)};
}

/* Replaces n values by their distances from their median. */
static void distances_from_median(double *values, size_t n)
{
    double median;

    if (n == 0)
        return;
    median = median_of(values, n);
    for (size_t i = 0; i < n; i++)
        values[i] = fabs(values[i] - median);
}

struct paired_figure paired_sigma_mad(const struct paired *p)
{
    size_t ab, freedom;

    if (!grouped_logs(p, &ab, &freedom))
        return (struct paired_figure){.known = false};
    distances_from_median(p->scratch, ab);
    distances_from_median(p->scratch + ab, p->in.n - ab);
    return (struct paired_figure){true, MAD_TO_SIGMA * median_of(p->scratch, p->in.n)};
}

struct paired_figure paired_lag1(const struct paired *p)
{
    size_t n = p->in.n, ab, freedom;
    double *d = p->scratch + n, mean_ab, mean_ba, products = 0.0, squares = 0.0;

    if (n < 3 || !grouped_logs(p, &ab, &freedom))
        return (struct paired_figure){.known = false};
    mean_ab = mean_of(p->scratch, ab);
    mean_ba = mean_of(p->scratch + ab, n - ab);
    for (size_t i = 0; i < n; i++) {
        d[i] -= is_reversed(p, i) ? mean_ba : mean_ab;
        squares += d[i] * d[i];
        products += i > 0 ? d[i] * d[i - 1] : 0.0;
    }
    return (struct paired_figure){true, squares > 0.0 ? products / squares : 0.0};
}

struct paired_figure paired_pairing_gain(const struct paired *p)
{
    size_t n = p->in.n;
    double *d = p->scratch, *log_value = p->scratch + n, both = 0.0;
    const double *columns[2] = {p->in.baseline, p->in.candidate};

    if (n < 2 || !log_changes(p, d))
        return (struct paired_figure){.known = false};
    for (int c = 0; c < 2; c++) {
        for (size_t i = 0; i < n; i++)
            log_value[i] = elementary_log(columns[c][i]);
        both += squares_about(log_value, n, mean_of(log_value, n));
    }
    if (both <= 0.0)
        return (struct paired_figure){.known = false};
    return (struct paired_figure){true, squares_about(d, n, mean_of(d, n)) / both};
}
