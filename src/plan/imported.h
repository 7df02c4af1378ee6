/*
 * imported: the plan of a series that abba did not run, from what was found in its logs.
 */
#ifndef ABBA_PLAN_IMPORTED_H
#define ABBA_PLAN_IMPORTED_H

#include "plan/plan.h"

/* A profile as the logs have it. */
struct imported_profile {
    const char *name;
    int pairs;  /* the most runs that a variant has */
    int warmup; /* the most sacrificial ones */
};

struct imported_request {
    const struct runner *runner;
    const struct imported_profile *profiles;
    size_t profile_count;
    const struct variant *variants; /* baseline first */
    size_t variant_count;
    bool paired;
    struct strings thresholds; /* METRIC=PERCENT */
    const char *thresholds_file;
};

/* Reads a runner by name or path, for an import. ERR_CONFIG. */
int imported_runner(const char *name, struct runner *runner, struct arena *arena, struct err *err);

/* Builds and seals the plan. ERR_USAGE or ERR_CONFIG. */
int imported_plan(struct plan *p, const struct imported_request *q, struct arena *arena,
                  struct err *err);

#endif
