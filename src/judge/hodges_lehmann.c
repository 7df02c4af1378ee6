#include "judge/hodges_lehmann.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "judge/exact.h"

#define FEW 256 /* candidates that are cheaper to sort than to bisect further */

/* cell(x[i], y[j]) never falls as i or j grows. */
struct matrix {
    double (*cell)(double x, double y);
    const double *x, *y;
    size_t nx, ny;
    bool triangle;      /* only j >= i counts; x and y are the same values */
    double sorted[FEW]; /* all cells, ascending, where there are so few */
};

/* ---- the order of doubles as integers ---- */

#define SIGN_BIT 0x8000000000000000ULL

static uint64_t key_of(double d)
{
    uint64_t bits;

    d += 0.0; /* -0 counts as 0 */
    memcpy(&bits, &d, sizeof(bits));
    return bits & SIGN_BIT ? ~bits : bits | SIGN_BIT;
}

static double double_of(uint64_t key)
{
    uint64_t bits = key & SIGN_BIT ? key & ~SIGN_BIT : ~key;
    double d;

    memcpy(&d, &bits, sizeof(d));
    return d;
}

/* ---- selection ---- */

static uint64_t matrix_size(const struct matrix *m)
{
    uint64_t n = m->nx;

    return m->triangle ? n * (n + 1) / 2 : n * m->ny;
}

/* How many cells are at most v. */
static uint64_t count_up_to(const struct matrix *m, double v)
{
    uint64_t count = 0;
    size_t j = m->ny;

    for (size_t i = 0; i < m->nx; i++) {
        size_t first = m->triangle ? i : 0;

        while (j > 0 && m->cell(m->x[i], m->y[j - 1]) > v)
            j--;
        if (j <= first)
            break; /* this row has none, and no later row has */
        count += j - first;
    }
    return count;
}

/* The cells in (lo, hi], at most FEW of them; a nan for lo bounds nothing. */
static size_t gather(const struct matrix *m, double lo, double hi, double *cells)
{
    size_t n = 0, jhi = m->ny, jlo = m->ny;

    for (size_t i = 0; i < m->nx; i++) {
        size_t first = m->triangle ? i : 0;

        while (jhi > 0 && m->cell(m->x[i], m->y[jhi - 1]) > hi)
            jhi--;
        while (jlo > 0 && !(m->cell(m->x[i], m->y[jlo - 1]) <= lo))
            jlo--;
        for (size_t j = jlo > first ? jlo : first; j < jhi && n < FEW; j++)
            cells[n++] = m->cell(m->x[i], m->y[j]);
    }
    return n;
}

/* Lists and sorts a small matrix once for all that is selected from it. */
static void prepare(struct matrix *m)
{
    if (matrix_size(m) <= FEW)
        sort_ascending(m->sorted, gather(m, NAN, INFINITY, m->sorted));
}

/* Two neighbours in the order of all cells. */
struct neighbours {
    double at, after;
};

/* The largest cell that is at most v, and the smallest beyond it; both exist. Left of a triangle
 * stands its mirror image, so that nothing is lost by looking at cells there. */
static struct neighbours around(const struct matrix *m, double v)
{
    struct neighbours found = {-INFINITY, INFINITY};
    size_t j = m->ny;

    for (size_t i = 0; i < m->nx; i++) {
        size_t first = m->triangle ? i : 0;

        while (j > 0 && m->cell(m->x[i], m->y[j - 1]) > v)
            j--;
        if (j > first && m->cell(m->x[i], m->y[j - 1]) > found.at)
            found.at = m->cell(m->x[i], m->y[j - 1]);
        if (j < m->ny && m->cell(m->x[i], m->y[j]) < found.after)
            found.after = m->cell(m->x[i], m->y[j]);
    }
    return found;
}

/* The k-th smallest cell, k from 1, and the one after it (the last has itself). */
static struct neighbours select_large(const struct matrix *m, uint64_t k)
{
    double few[FEW];
    uint64_t below = 0, upto = matrix_size(m), next = k < upto ? k + 1 : k;
    uint64_t lo = key_of(m->cell(m->x[0], m->y[0])) - 1;
    uint64_t hi = key_of(m->cell(m->x[m->nx - 1], m->y[m->ny - 1]));

    /* `below` cells are at most lo, `upto` at most hi, and both that are wanted lie between. */
    while (upto - below > FEW && hi - lo > 1) {
        uint64_t mid = lo + (hi - lo) / 2, count = count_up_to(m, double_of(mid));

        if (count >= next) {
            hi = mid;
            upto = count;
        } else if (count < k) {
            lo = mid;
            below = count;
        } else {
            return around(m, double_of(mid));
        }
    }
    if (hi - lo == 1)
        return (struct neighbours){double_of(hi), double_of(hi)};
    sort_ascending(few, gather(m, double_of(lo), double_of(hi), few));
    return (struct neighbours){few[k - below - 1], few[next - below - 1]};
}

static struct neighbours select_cells(const struct matrix *m, uint64_t k)
{
    uint64_t size = matrix_size(m);

    if (size > FEW)
        return select_large(m, k);
    return (struct neighbours){m->sorted[k - 1], m->sorted[k < size ? k : k - 1]};
}

static double select_median(const struct matrix *m, double (*value)(double cell))
{
    uint64_t size = matrix_size(m);
    struct neighbours n = select_cells(m, (size + 1) / 2);

    return size % 2 ? value(n.at) : midpoint(value(n.at), value(n.after));
}

/* ---- the three kinds of average ---- */

static double factor_of(double change)
{
    return change > -1.0 ? 1.0 + change : 0.0;
}

static double cell_product(double x, double y)
{
    double p = factor_of(x) * factor_of(y);

    return isnan(p) ? 1.0 : p; /* 0 x infinity: as far down as up */
}

static double cell_sum(double x, double y)
{
    return midpoint(x, y);
}

static double cell_quotient(double x, double y)
{
    double q = x / y;

    return isnan(q) ? 1.0 : q; /* 0 / 0 and infinity / infinity */
}

static double root_less_one(double cell)
{
    return sqrt(cell) - 1.0;
}

static double same(double cell)
{
    return cell;
}

static void hodges_lehmann(struct matrix *m, double (*value)(double), struct hodges_lehmann *out)
{
    uint64_t size = matrix_size(m);
    long t = signed_rank_critical(m->nx, &out->level);

    prepare(m);
    out->estimate = select_median(m, value);
    out->has_interval = t >= 0;
    out->lo = out->hi = out->estimate;
    if (t >= 0) {
        out->lo = value(select_cells(m, (uint64_t)t + 1).at);
        out->hi = value(select_cells(m, size - (uint64_t)t).at);
    }
}

void hodges_lehmann_ratio(const double *sorted, size_t n, struct hodges_lehmann *out)
{
    struct matrix m = {
        .cell = cell_product, .x = sorted, .y = sorted, .nx = n, .ny = n, .triangle = true};

    hodges_lehmann(&m, root_less_one, out);
}

void hodges_lehmann_sum(const double *sorted, size_t n, struct hodges_lehmann *out)
{
    struct matrix m = {
        .cell = cell_sum, .x = sorted, .y = sorted, .nx = n, .ny = n, .triangle = true};

    hodges_lehmann(&m, same, out);
}

double shift_ratio(const double *x, size_t nx, const double *y_descending, size_t ny)
{
    struct matrix m = {.cell = cell_quotient, .x = x, .y = y_descending, .nx = nx, .ny = ny};

    prepare(&m);
    return select_median(&m, root_less_one);
}
