/*
 * made_series: archives made in memory, run by run, for tests of whoever reads archives.
 */
#ifndef ABBA_TESTS_MADE_SERIES_H
#define ABBA_TESTS_MADE_SERIES_H

#include "archive/reader.h"
#include "base/mem.h"

struct made_series {
    struct arena arena;
    struct plan plan;
    struct machine machine;
    struct archive archive;
    size_t room; /* for samples */
    struct limit limits[8];
};

/* A series of one profile ("made/1") and the variants baseline, candidate, third, ...; bounded. */
void made_init(struct made_series *s, size_t variants, int pairs, int confirm);
void made_release(struct made_series *s);

/* One more profile, "made/2" and so on. Returns its index. */
size_t made_profile(struct made_series *s);

/* A limit for all profiles. */
struct limit *made_limit(struct made_series *s, const char *metric, const char *worse_text,
                         double worse);

/* Appends a run that ended well; slot and attempt 1 are set so that pairs alternate AB, BA. The
 * sample moves when the next is made: hold no pointer. `pair` counts from 1 within the stage. */
struct sample *made_run(struct made_series *s, size_t profile, enum sample_stage stage,
                        uint64_t pair, size_t variant);

/* Gives the run a figure. */
struct sample_metric *made_figure(struct made_series *s, struct sample *run, const char *metric,
                                  double number);

/* n whole pairs of one metric, baseline and first candidate. */
void made_pairs(struct made_series *s, size_t profile, enum sample_stage stage, const char *metric,
                const double *baseline, const double *candidate, size_t n);

/* n pairs of a stage with the same two figures in each. */
void made_flat(struct made_series *s, size_t profile, enum sample_stage stage, const char *metric,
               double baseline, double candidate, size_t n);

/* The run of that place, to be altered. */
struct sample *made_find(struct made_series *s, size_t profile, enum sample_stage stage,
                         uint64_t pair, size_t variant);

#endif
