/*
 * lab_file: a series file, which describes a lab: several comparisons that are run one after the
 * other and reported together.
 *
 * As runners/RUNNER/series/NAME.json says it. Texts may hold {VARIABLE}; plan/lab fills them in.
 * Everything belongs to the arena given to the decoder.
 */
#ifndef ABBA_MODEL_LAB_FILE_H
#define ABBA_MODEL_LAB_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strings.h"

struct arena;
struct json;

#define LAB_COMPARISONS_MAX 99

struct lab_variable {
    const char *name;
    const char *value; /* NULL: must be given */
};

/* How often and how patiently; what is not said is left to the profile and the thresholds. */
struct lab_settings {
    const char *thresholds;       /* name or file; NULL: not said */
    int pairs, confirm, warmup;   /* -1: not said */
    int64_t pause_ns, timeout_ns; /* -1: not said */
};

struct lab_file_comparison {
    const char *name;
    const char *description; /* may be NULL */
    const char *baseline;
    struct strings candidates; /* none: the baseline against itself */
    struct strings profiles;
    struct strings baseline_args, candidate_args;
    struct strings baseline_env, candidate_env; /* "K=V" */
    struct lab_settings settings; /* the file's own where the comparison says nothing */
};

struct lab_file {
    const char *name;
    const char *description; /* may be NULL */
    const char *seed;        /* NULL: 1 */
    struct lab_variable *variables;
    size_t variable_count;
    struct lab_file_comparison *comparisons; /* in the order in which they run */
    size_t comparison_count;
};

/* Decodes a series file. ERR_CONFIG on a fault. */
int lab_file_decode(struct lab_file *l, const struct json *root, const char *file,
                    struct arena *arena, struct err *err);

#endif
