/*
 * reproduction: whether a series that was run again came out as before.
 *
 * judge/reproduce.h fills it in from two reports; report/ shows it. Only changes are compared,
 * which is what carries from one machine to another.
 */
#ifndef ABBA_MODEL_REPRODUCTION_H
#define ABBA_MODEL_REPRODUCTION_H

#include "base/strings.h"
#include "model/report.h"

enum reproduced {
    REPRODUCED,     /* every judged verdict agrees, and so do the bounds */
    NOT_REPRODUCED, /* one does not */
    CANNOT_TELL,    /* one of both series is incomplete or invalid */
    NOTHING_JUDGED, /* there was no verdict to reproduce */
};

/* Whether two intervals have a point in common. */
enum overlap { OVERLAP_YES, OVERLAP_NO, OVERLAP_UNKNOWN };

/* One metric that was judged. */
struct reproduced_metric {
    const char *profile;
    const struct report_metric *then, *now; /* now: NULL where it has none */
    bool agrees;
    enum overlap overlap;
};

struct reproduction {
    enum reproduced outcome;
    const struct report *then, *now;
    struct reproduced_metric *metrics;
    size_t metric_count, agreeing, apart; /* apart: bounds without a point in common */
    struct strings files;                 /* what differed of programs, libraries, input */
    struct strings kept;                  /* what came out of the archive */
    struct strings machine;               /* what differs of the machine; none: the same */
};

/* The same of a lab: one outcome for all of its comparisons. */
struct lab_reproduction {
    const char *name;
    enum reproduced outcome;
    struct reproduced_comparison {
        const char *name;
        struct reproduction r; /* r.now NULL: it was not run again */
    } * comparisons;
    size_t comparison_count;
};

#endif
