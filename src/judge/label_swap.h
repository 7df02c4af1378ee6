/*
 * label_swap: how often the rules would have judged "regressed" had the labels meant nothing.
 *
 * Baseline and candidate are exchanged in every subset of the pairs (all 2^n for n <= 20, else
 * 100,000 subsets drawn by a seeded generator), and each relabelling is judged. Meant for an A/A
 * series, where this is the rate of false alarms that its own noise produces.
 */
#ifndef ABBA_JUDGE_LABEL_SWAP_H
#define ABBA_JUDGE_LABEL_SWAP_H

#include <stdint.h>

#include "judge/paired.h"

struct label_swap {
    uint64_t relabelled; /* subsets judged */
    uint64_t median;     /* of them regressed by the rule `median` */
    uint64_t bounded;    /* of them regressed by the rule `bounded` */
    bool exhaustive;     /* all 2^n */
};

/* Threshold as a fraction. Equal seeds give equal counts. */
void label_swap(const struct paired *p, double threshold, uint64_t seed, struct label_swap *out);

#endif
