#include "judge/label_swap.h"

#include <stdlib.h>

#include "base/mem.h"

#define ALL_UP_TO 20 /* pairs of which every subset is looked at */
#define DRAWN 100000 /* subsets of more */

/* A worse-oriented change that pair `pair` has when its labels are kept, or exchanged. */
struct labelled {
    double change;
    size_t pair;
    bool exchanged;
};

/* Bit i of word i/64 stands for pair i. */
struct bits {
    uint64_t *kept, *exchanged; /* pairs whose change, so labelled, counts */
};

struct relabel {
    size_t n, words;
    size_t lower_needs; /* positive changes that put the lower bound above 0; 0: no bound */
    double threshold;
    struct labelled *order; /* 2 n, ascending */
    uint64_t *memory;
    struct bits beyond, positive; /* > threshold, > 0 */
    uint64_t *subset;             /* pairs whose labels are exchanged */
};

static int compare_changes(const void *a, const void *b)
{
    const struct labelled *x = a, *y = b;

    return (x->change > y->change) - (x->change < y->change);
}

static void set_bit(const struct bits *b, const struct labelled *o)
{
    (o->exchanged ? b->exchanged : b->kept)[o->pair / 64] |= 1ULL << (o->pair % 64);
}

static size_t count(const struct relabel *r, const struct bits *b)
{
    size_t sum = 0;

    for (size_t w = 0; w < r->words; w++) {
        uint64_t s = r->subset[w], hit = (b->kept[w] & ~s) | (b->exchanged[w] & s);

        sum += (size_t)__builtin_popcountll(hit);
    }
    return sum;
}

/* Mean of the n/2-th and the next smallest change under the subset; n is even. */
static double middle(const struct relabel *r)
{
    double lower = 0.0;
    size_t seen = 0;

    for (size_t i = 0; i < 2 * r->n; i++) {
        const struct labelled *o = &r->order[i];

        if ((r->subset[o->pair / 64] >> (o->pair % 64) & 1) != o->exchanged)
            continue;
        if (++seen == r->n / 2)
            lower = o->change;
        else if (seen == r->n / 2 + 1)
            return midpoint(lower, o->change);
    }
    return lower;
}

static bool median_beyond(const struct relabel *r)
{
    size_t beyond = count(r, &r->beyond);

    if (2 * beyond == r->n)
        return middle(r) > r->threshold;
    return 2 * beyond > r->n;
}

static void judge_subset(const struct relabel *r, struct label_swap *out)
{
    out->relabelled++;
    if (!median_beyond(r))
        return;
    out->median++;
    if (r->lower_needs > 0 && count(r, &r->positive) >= r->lower_needs)
        out->bounded++;
}

static void relabel_init(struct relabel *r, const struct paired *p, double threshold)
{
    size_t n = p->in.n, k = sign_k(n), words = n / 64 + 1;

    *r = (struct relabel){.n = n, .words = words, .threshold = threshold};
    r->lower_needs = k > 0 ? n - k + 1 : 0;
    r->order = xreallocarray(NULL, 2 * n + 1, sizeof(*r->order));
    r->memory = xcalloc(5 * words, sizeof(*r->memory));
    r->beyond = (struct bits){r->memory, r->memory + words};
    r->positive = (struct bits){r->memory + 2 * words, r->memory + 3 * words};
    r->subset = r->memory + 4 * words;
    for (size_t i = 0; i < 2 * n; i++) {
        struct labelled *o = &r->order[i];
        double b = p->in.baseline[i / 2], c = p->in.candidate[i / 2];
        double change = i % 2 ? paired_change(c, b, p->in.floor) : p->change[i / 2];

        *o = (struct labelled){p->in.better == BETTER_HIGHER ? 0.0 - change : change, i / 2,
                               i % 2 == 1};
        if (o->change > threshold)
            set_bit(&r->beyond, o);
        if (o->change > 0.0)
            set_bit(&r->positive, o);
    }
    qsort(r->order, 2 * n, sizeof(*r->order), compare_changes);
}

/* splitmix64: Steele, Lea, Flood, OOPSLA 2014. */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15ULL;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

void label_swap(const struct paired *p, double threshold, uint64_t seed, struct label_swap *out)
{
    struct relabel r;

    relabel_init(&r, p, threshold);
    *out = (struct label_swap){.exhaustive = p->in.n <= ALL_UP_TO};
    if (p->in.n > 0 && out->exhaustive) {
        for (uint64_t s = 0; s < 1ULL << p->in.n; s++) {
            r.subset[0] = s;
            judge_subset(&r, out);
        }
    } else if (p->in.n > 0) {
        for (int i = 0; i < DRAWN; i++) {
            for (size_t w = 0; w < r.words; w++)
                r.subset[w] = next_random(&seed);
            judge_subset(&r, out);
        }
    }
    free(r.order);
    free(r.memory);
}
