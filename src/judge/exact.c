#include "judge/exact.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "judge/elementary.h"

#define ALPHA 0.05       /* of an interval's each side, and of a critical value's both */
#define NEGLIGIBLE 1e-20 /* a term that no longer changes a double's sum */
#define Z_975 1.959963984540054

/* ---- order ---- */

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void insertion_sort(double *values, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        double v = values[i];
        size_t j = i;

        for (; j > 0 && values[j - 1] > v; j--)
            values[j] = values[j - 1];
        values[j] = v;
    }
}

void sort_ascending(double *values, size_t n)
{
    if (n <= 32)
        insertion_sort(values, n);
    else
        qsort(values, n, sizeof(*values), compare_doubles);
}

double midpoint(double a, double b)
{
    double sum = a + b;

    if (isnan(sum))
        return 0.0;
    if (isinf(sum) && !isinf(a) && !isinf(b))
        return a / 2.0 + b / 2.0;
    return sum / 2.0;
}

double sorted_median(const double *sorted, size_t n)
{
    return n % 2 ? sorted[n / 2] : midpoint(sorted[n / 2 - 1], sorted[n / 2]);
}

/* ---- binomial ---- */

/* P(from <= X <= to): weights relative to the mode's, which is 1, over the sum of all. */
static double binomial_range(size_t n, size_t from, size_t to, double p)
{
    double q = 1.0 - p, total = 1.0, inside, w;
    size_t mode = (size_t)((double)(n + 1) * p);

    if (mode > n)
        mode = n;
    if (p >= 0.5 && p <= 0.5 && n <= EXACT_MAX)
        mode = 0; /* from there the weights are C(n,j): integers, and the result is exact */
    inside = mode >= from && mode <= to ? 1.0 : 0.0;
    w = 1.0;
    for (size_t j = mode; j > 0 && (j > from || w > NEGLIGIBLE); j--) {
        w *= (double)j / (double)(n - j + 1) * (q / p);
        total += w;
        if (j - 1 >= from && j - 1 <= to)
            inside += w;
        if (w < NEGLIGIBLE * inside)
            break;
    }
    w = 1.0;
    for (size_t j = mode; j < n && (j < to || w > NEGLIGIBLE); j++) {
        w *= (double)(n - j) / (double)(j + 1) * (p / q);
        total += w;
        if (j + 1 >= from && j + 1 <= to)
            inside += w;
        if (w < NEGLIGIBLE * inside)
            break;
    }
    return inside / total;
}

double binomial_at_most(size_t n, size_t k, double p)
{
    if (k >= n || p <= 0.0)
        return 1.0;
    return p >= 1.0 ? 0.0 : binomial_range(n, 0, k, p);
}

double binomial_at_least(size_t n, size_t k, double p)
{
    if (k == 0 || p >= 1.0)
        return k <= n ? 1.0 : 0.0;
    return k > n || p <= 0.0 ? 0.0 : binomial_range(n, k, n, p);
}

size_t sign_k(size_t n)
{
    size_t lo = 0, hi = n / 2 + 1; /* P(X < lo) <= ALPHA < P(X < hi) */

    if (n == 0)
        return 0;
    while (hi - lo > 1) {
        size_t mid = lo + (hi - lo) / 2;

        if (binomial_at_most(n, mid - 1, 0.5) <= ALPHA)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

double sign_level(size_t n, size_t k)
{
    return k == 0 ? 0.0 : 1.0 - binomial_at_most(n, k - 1, 0.5);
}

/* ---- ranks ---- */

struct ranked {
    double value;
    size_t index;
};

static int compare_ranked(const void *a, const void *b)
{
    return compare_doubles(&((const struct ranked *)a)->value, &((const struct ranked *)b)->value);
}

/* Twice the mid-ranks of n values; *ties: the sum of t^3 - t over groups of t equal values. */
static void double_ranks(const double *values, size_t n, size_t *ranks, double *ties)
{
    struct ranked *r = xreallocarray(NULL, n + 1, sizeof(*r));

    for (size_t i = 0; i < n; i++)
        r[i] = (struct ranked){values[i], i};
    qsort(r, n, sizeof(*r), compare_ranked);
    *ties = 0.0;
    for (size_t i = 0, j; i < n; i = j) {
        double t;

        for (j = i + 1; j < n && r[j].value <= r[i].value; j++)
            ;
        for (size_t g = i; g < j; g++)
            ranks[r[g].index] = i + 1 + j; /* (i + 1) + j is twice the mean rank */
        t = (double)(j - i);
        *ties += t * t * t - t;
    }
    free(r);
}

/* The two tails of a discrete distribution that hold `at`, out of its counts. */
static void tails(const double *counts, size_t size, size_t at, double *less, double *greater)
{
    double below = 0.0, above = 0.0, total;

    for (size_t s = 0; s < at; s++)
        below += counts[s];
    for (size_t s = at + 1; s < size; s++)
        above += counts[s];
    total = below + counts[at] + above; /* exact: counts are integers below 2^53 */
    *less = (below + counts[at]) / total;
    *greater = (above + counts[at]) / total;
}

/* The same for the normal approximation, with continuity correction. */
static void normal_tails(double v, double mean, double variance, double *less, double *greater)
{
    double sd = sqrt(variance);

    *less = sd > 0.0 ? normal_cdf((v + 0.5 - mean) / sd) : 1.0;
    *greater = sd > 0.0 ? normal_tail((v - 0.5 - mean) / sd) : 1.0;
}

static double two_sided(double less, double greater)
{
    double p = 2.0 * (less < greater ? less : greater);

    return p < 1.0 ? p : 1.0;
}

/* ---- signed ranks ---- */

/* counts[s] = in how many subsets the ranks sum to s; counts holds sum + 1 zeros at first. */
static void subset_sums(const size_t *ranks, size_t n, double *counts, size_t sum)
{
    size_t reached = 0;

    counts[0] = 1.0;
    for (size_t i = 0; i < n; i++) {
        reached += ranks[i];
        for (size_t s = reached < sum ? reached : sum; s >= ranks[i]; s--)
            counts[s] += counts[s - ranks[i]];
    }
}

#define MAX_DOUBLED (EXACT_MAX * (EXACT_MAX + 1)) /* doubled ranks 2..100 sum to 2550 */

static long critical_exact(size_t n, double *below)
{
    double counts[MAX_DOUBLED / 2 + 1] = {0}, all = 1.0, sum = 0.0;
    size_t ranks[EXACT_MAX];
    long t = -1;

    for (size_t i = 0; i < n; i++) {
        ranks[i] = i + 1;
        all *= 2.0;
    }
    subset_sums(ranks, n, counts, n * (n + 1) / 2);
    while (2.0 * (sum + counts[t + 1]) <= ALPHA * all)
        sum += counts[++t];
    *below = sum / all;
    return t;
}

long signed_rank_critical(size_t n, double *level)
{
    double x = (double)n, mean = x * (x + 1) / 4, sd = sqrt(x * (x + 1) * (2 * x + 1) / 24);
    double below = 0.0;
    long t = -1;

    if (n > EXACT_MAX) {
        t = (long)(mean - Z_975 * sd - 0.5);
        below = normal_cdf(((double)t + 0.5 - mean) / sd);
    } else if (n >= 6) {
        t = critical_exact(n, &below);
    }
    if (level)
        *level = t < 0 ? 0.0 : 1.0 - 2.0 * below;
    return t;
}

/* Fills p_less and p_greater out of the doubled ranks and the doubled sum. */
static void signed_rank_tails(struct signed_rank *out, const size_t *ranks, size_t sum, double ties)
{
    double x = (double)out->used;

    out->exact = out->used <= EXACT_MAX;
    if (out->exact) {
        double counts[MAX_DOUBLED + 1] = {0};
        size_t all = out->used * (out->used + 1);

        subset_sums(ranks, out->used, counts, all);
        tails(counts, all + 1, sum, &out->p_less, &out->p_greater);
    } else {
        normal_tails(out->v, x * (x + 1) / 4, x * (x + 1) * (2 * x + 1) / 24 - ties / 48,
                     &out->p_less, &out->p_greater);
    }
    out->p = two_sided(out->p_less, out->p_greater);
}

void signed_rank_test(const double *values, size_t n, struct signed_rank *out)
{
    double *kept = xreallocarray(NULL, 2 * n + 1, sizeof(*kept)), *size = kept + n, ties;
    size_t *ranks = xreallocarray(NULL, n + 1, sizeof(*ranks)), sum = 0;

    *out = (struct signed_rank){.p = 1.0, .p_greater = 1.0, .p_less = 1.0, .exact = true};
    for (size_t i = 0; i < n; i++) {
        if (values[i] < 0.0 || values[i] > 0.0) {
            size[out->used] = fabs(values[i]);
            kept[out->used++] = values[i];
        }
    }
    out->zeros = n - out->used;
    double_ranks(size, out->used, ranks, &ties);
    for (size_t i = 0; i < out->used; i++)
        sum += kept[i] > 0.0 ? ranks[i] : 0;
    out->v = (double)sum / 2.0;
    if (out->used > 0)
        signed_rank_tails(out, ranks, sum, ties);
    free(ranks);
    free(kept);
}

/* ---- rank sums ---- */

/* Distribution of the doubled rank sum of nx values out of all n: table[i][s] counts the choices
 * of i values whose ranks sum to s. */
static void rank_sum_exact(const size_t *ranks, size_t nx, size_t n, size_t w, double *less,
                           double *greater)
{
    size_t width = n * (n + 1) + 1, reached = 0;
    double *table = xcalloc((nx + 1) * width, sizeof(*table));

    table[0] = 1.0;
    for (size_t g = 0; g < n; g++) {
        reached += ranks[g];
        for (size_t i = g < nx ? g + 1 : nx; i >= 1; i--) {
            double *to = table + i * width;
            const double *from = to - width;

            for (size_t s = ranks[g]; s <= reached; s++)
                to[s] += from[s - ranks[g]];
        }
    }
    tails(table + nx * width, width, w, less, greater);
    free(table);
}

static void rank_sum_tails(struct rank_sum *out, const size_t *ranks, size_t nx, size_t ny,
                           double ties)
{
    double less = 1.0, greater = 1.0, x = (double)nx, y = (double)ny, n = x + y;
    size_t w = 0;

    for (size_t i = 0; i < nx; i++)
        w += ranks[i];
    out->w = (double)w / 2.0;
    out->exact = nx + ny <= EXACT_MAX;
    if (nx > 0 && ny > 0 && out->exact)
        rank_sum_exact(ranks, nx, nx + ny, w, &less, &greater);
    else if (nx > 0 && ny > 0)
        normal_tails(out->w, x * (n + 1) / 2, x * y / 12 * (n + 1 - ties / (n * (n - 1))), &less,
                     &greater);
    out->p = two_sided(less, greater);
}

void rank_sum_test(const double *x, size_t nx, const double *y, size_t ny, struct rank_sum *out)
{
    size_t n = nx + ny, *ranks = xreallocarray(NULL, n + 1, sizeof(*ranks));
    double *all = xreallocarray(NULL, n + 1, sizeof(*all)), ties;

    for (size_t i = 0; i < n; i++)
        all[i] = i < nx ? x[i] : y[i - nx];
    double_ranks(all, n, ranks, &ties);
    rank_sum_tails(out, ranks, nx, ny, ties);
    free(all);
    free(ranks);
}

/* ---- Holm ---- */

void holm_adjust(const double *p, size_t m, size_t planned, double *adjusted)
{
    struct ranked *r = xreallocarray(NULL, m + 1, sizeof(*r));
    double running = 0.0;

    ABBA_ASSERT(planned >= m);
    for (size_t i = 0; i < m; i++)
        r[i] = (struct ranked){p[i], i};
    qsort(r, m, sizeof(*r), compare_ranked);
    for (size_t i = 0; i < m; i++) {
        double a = r[i].value * (double)(planned - i);

        if (a > running)
            running = a;
        adjusted[r[i].index] = running < 1.0 ? running : 1.0;
    }
    free(r);
}
