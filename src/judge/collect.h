/*
 * collect: the samples of an archive, laid out as pairs.
 *
 * A stage of a profile is a table of runs, a row a block (with two variants: a pair), a column a
 * variant. Of a block that was run again after an interruption, the last attempt counts. Values of
 * one metric come out as columns of complete pairs, in the order in which they were run.
 */
#ifndef ABBA_JUDGE_COLLECT_H
#define ABBA_JUDGE_COLLECT_H

#include "archive/reader.h"
#include "base/strings.h"

struct arena;

struct stage {
    const struct plan *plan;
    const struct profile *profile;
    enum sample_stage which;
    size_t blocks;       /* planned */
    size_t variants;     /* as in the plan, the baseline first */
    size_t min_complete; /* how many pairs of a metric must be complete */
    const struct archive *archive;
    uint32_t *run;        /* [block * variants + variant]: index + 1, 0: not there */
    size_t present;       /* runs that are there */
    size_t repeated;      /* blocks that were run again after an interruption */
    const char **metrics; /* names of all metrics that any run has, in the runs' order */
    size_t metric_count;
    size_t metric_room;
};

/* Lays out one stage of the profile with that index. The table of runs is in `tables`, which has to
 * last as long as the stage is asked for them; all else in the other arena. */
void stage_collect(struct stage *s, const struct archive *a, size_t profile,
                   enum sample_stage which, struct arena *tables, struct arena *arena);

/* Makes sure that the metric is in the list, also when no run has it. */
void stage_require(struct stage *s, const char *metric, struct arena *arena);

/* The run of a variant in a block; false: it is not there. */
bool stage_run(const struct stage *s, size_t block, size_t variant, struct archive_run *out);

/* Its figure of that name, which is probably the one at `guess`; false: the run is not there, or
 * has none. */
bool stage_metric(const struct stage *s, size_t block, size_t variant, const char *name,
                  size_t guess, struct sample_metric *out);

/* Blocks whose baseline and candidate ended well; with variant 0: blocks whose every run did. */
size_t stage_complete(const struct stage *s, size_t candidate);

/* Whether any run of the block passed a limit for noise of the profile. */
bool stage_block_noisy(const struct stage *s, size_t block);

/* The complete pairs of one metric. */
struct columns {
    size_t n;
    double *baseline, *candidate;
    bool *reversed;         /* the candidate ran before the baseline */
    double floor;           /* the largest of the samples' */
    const char *unit;       /* as the samples have it; NULL if none has the metric */
    struct strings missing; /* "status: reason" of values that cannot be used, each once */
};

/* Room for every pair of the stage; reused from metric to metric. */
void columns_init(struct columns *c, const struct stage *s);
void columns_release(struct columns *c);

/* Fills the columns with the metric of that index, baseline against `candidate`. What is missing is
 * the arena's. */
void columns_fill(struct columns *c, const struct stage *s, size_t metric, size_t candidate,
                  struct arena *arena);

#endif
