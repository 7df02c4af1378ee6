/*
 * assess: one profile of an archive, from its runs to its part of the report.
 *
 * The main stage is judged first. Where it does not pass and the plan has a confirming stage, that
 * stage alone decides. What the series needs afterwards (Holm, false alarms, words) is kept in
 * struct assessment, beside the report.
 */
#ifndef ABBA_JUDGE_ASSESS_H
#define ABBA_JUDGE_ASSESS_H

#include "judge/collect.h"
#include "judge/verdict.h"
#include "model/report.h"

/* What all profiles of a report have in common. */
struct judging {
    const struct archive *archive;
    const struct plan *plan;
    const struct thresholds *limits; /* the plan's, or others */
    bool exploratory;                /* others */
    struct arena *arena;             /* of the report */
    struct arena *tables;            /* of runs, of one profile at a time */
};

/* One stage, judged. gates and p_worse go with metrics. */
struct judged_stage {
    struct stage stage;
    enum verdict verdict;
    size_t complete; /* pairs (blocks) of which every run ended well */
    struct report_metric *metrics;
    struct gate *gates;
    double *p_worse; /* one-sided, of "worse"; NaN without pairs */
    size_t metric_count;
};

struct assessment {
    struct judged_stage decided;       /* main or confirming */
    bool confirm_missing;              /* it was called for, and no run of it is there */
    size_t interrupted;                /* runs that nothing replaced */
    size_t repeated;                   /* pairs (blocks) that were run again after one */
    const struct archive_run *changed; /* first run after which a program under test was another */
    const struct archive_run *mixed;   /* first run of another back end than the first run's */
    const char *backend;               /* of the first run's network, or NULL */
    size_t done, planned;              /* runs, warm-ups included */
    const struct archive_run *bad_warmup; /* first warm-up run that did not end well */
};

/* Whether its last day lies before the series' first: the archive holds both. */
bool accepted_expired(const struct archive *a, const struct accepted *accepted);

/* Whether it is of that metric of that profile. */
bool accepted_matches(const struct accepted *a, const struct profile *p, const char *metric);

/* Judges one stage of the profile with that index. */
void assess_stage(struct judged_stage *s, const struct judging *j, size_t profile,
                  enum sample_stage which);

/* Judges the profile with that index. The notes of *out are left empty. Its stages may be asked for
 * runs until `tables` is released. */
void assess_profile(struct assessment *x, struct report_profile *out, const struct judging *j,
                    size_t profile);

#endif
