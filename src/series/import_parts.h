/*
 * import_parts: what import.c and import_logs.c share: the runs that were found in logs.
 */
#ifndef ABBA_SERIES_IMPORT_PARTS_H
#define ABBA_SERIES_IMPORT_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"
#include "base/pattern.h"
#include "plan/imported.h"
#include "series/import.h"

/* A file of a log, as it was when it was first looked at. */
struct log_source {
    const char *path;
    uint64_t bytes;
    uint64_t changed_ns;
};

/* A stretch of such a file, which is read when its run is written; NULL: nothing. */
struct text {
    const struct log_source *from;
    uint64_t offset;
    size_t len;
};

/* What one run printed, and where it belongs. */
struct found_run {
    size_t variant, profile;
    bool warmup;
    int number; /* of its profile, variant and kind: 1.. */
    uint64_t started_ns;
    struct text *out, *err; /* one a role */
};

struct import {
    struct runner runner;
    struct plan plan;
    struct variant *variants;
    size_t variant_count;
    struct imported_profile *profiles;
    size_t profile_count, profile_room;
    struct found_run *runs;
    size_t run_count, run_room;
    int *numbers; /* of profile, variant and kind: how many runs */
    struct pattern *split;
    int profile_group; /* of `split`; -1: none */
    int sacrifice;     /* runs at the front of a log that do not count, when it is split */
    struct strings notes;
    struct arena arena;
};

#define IMPORT_PROFILES 1000

/* Adds the runs of one log, written as import.h has it. */
int import_take_log(struct import *im, size_t variant, const char *spec, struct err *err);

/* Reads what a run printed, as one piece in `out`. ERR_USAGE where the file is not what it was. */
int import_read(const struct text *t, struct buf *out, struct err *err);

/* Makes the variant of the plan: names and digests of its logs as they were. */
int import_describe(struct import *im, const struct import_variant *from, struct variant *v,
                    struct err *err);

#endif
