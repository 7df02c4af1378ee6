/*
 * profile: one fixed load, one network, and how often and how patiently it is run.
 *
 * As profiles/RUNNER/NAME.json says it; `profile_expand` in plan/ turns a matrix into one profile a
 * combination. Everything belongs to the arena given to the decoder.
 */
#ifndef ABBA_MODEL_PROFILE_H
#define ABBA_MODEL_PROFILE_H

#include "base/err.h"
#include "base/strings.h"
#include "model/network.h"

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

/* Pairs of a memory pass where nobody says: what a program asks its heap for hardly varies. */
#define PROFILE_MEMORY_PAIRS 4

/* What the name of a memory pass ends in. */
#define PROFILE_MEMORY_SUFFIX ",pass=memory"

/* The most combinations that one file's matrix may have. */
#define PROFILE_MATRIX_MAX 1000

struct arena;
struct json;
struct json_writer;

/* How a load value stands in JSON. */
enum load_form { LOAD_AS_STRING, LOAD_AS_INTEGER, LOAD_AS_BOOL };

/*
 * What the runs of a profile tell. A memory pass counts what programs ask their heaps for, by a
 * preloaded library, and gives no times; the other runs never have that library.
 */
enum profile_pass { PASS_TIMES, PASS_MEMORY };

/* A load parameter as the profile sets it, text as written ("320Mbit/s", "32", "true"). */
struct load_setting {
    const char *name;
    const char *text;
    enum load_form form;
};

/* The CPUs of one role, in the kernel's list form ("0", "0-3,8"). */
struct role_cpus {
    const char *role;
    const char *list;
};

/* The value of the axis "cpus" that binds no role: whatever CPUs abba itself may use. */
#define PROFILE_ALL_CPUS "all"

/* Values of a load parameter, or of "cpus" (CPU lists for every role), in the file's order. */
struct matrix_axis {
    const char *name;
    struct load_setting *values; /* each with the axis's name */
    size_t value_count;
};

/* A metric that the change cannot affect: beyond the limit either way the series is not to be
 * believed. */
struct profile_control {
    const char *metric;
    const char *limit_text; /* two-sided, "3%" */
    double limit;
};

struct profile {
    const char *name; /* "flow/pingpong"; with its combination once expanded: ",streams=32" */
    const char *runner;
    const char *description;   /* may be NULL */
    const char *thresholds;    /* the set that judges it where none is asked for; NULL: "default" */
    const char *regime;        /* what bounds it, in a word: "latency-bound"; NULL: not said */
    struct load_setting *load; /* by name; once resolved, with the runner's defaults filled in */
    size_t load_count;
    struct network network; /* NET_HOST: none of its own, the host's loopback as it is */
    enum profile_pass pass;
    int memory_pass;        /* pairs of the memory pass that follows; 0: none, and in a plan */
    int pairs;              /* 0: the thresholds'; of a memory pass: PROFILE_MEMORY_PAIRS */
    int confirm;            /* -1: the thresholds', of a memory pass none; 0: no second stage */
    int min_complete;       /* 0: as many as pairs */
    int warmup;             /* warm-up runs a variant, archived and left out of statistics */
    int64_t pause_ns;       /* before every run */
    int64_t timeout_ns;     /* of one run; default 60 s */
    int64_t takes_ns;       /* what a run is said to take, for estimates; 0: its load tells */
    const char *only_in;    /* "baseline", "candidate": the side that knows it; NULL: both */
    const char *file;       /* where it was found; not part of the plan */
    struct role_cpus *cpus; /* role "*" : every role */
    size_t cpus_count;
    struct matrix_axis *matrix; /* empty once expanded */
    size_t matrix_count;
    /* Of an expanded one: the profile that had the matrix, and its value on each axis, by name. */
    const char *combination_of; /* NULL: there was no matrix */
    struct load_setting *combination;
    size_t combination_count;
    struct profile_control *controls; /* negative controls */
    size_t control_count;
    /* A pair is flagged above these shares, 0..1. */
    double noise_psi;    /* of time with some task waiting for a CPU; default 1: never */
    double noise_others; /* of CPU time used by other processes; default 0.2 */
    double noise_steal;  /* of CPU time stolen by the hypervisor; default 0.05 */
    const char *noise_psi_text, *noise_others_text, *noise_steal_text;
};

/* The shares above which a pair is flagged where the profile does not say. */
void profile_noise_defaults(struct profile *p);

/*
 * Decodes a profile file (or its copy in a plan). Checks all that can be checked without the
 * runner. Members of objects are kept by byte order of their keys, except the matrix, whose order
 * is that of the combinations. ERR_CONFIG on a fault.
 */
int profile_decode(struct profile *p, const struct json *root, const char *file,
                   struct arena *arena, struct err *err);

/* Writes it in the file's schema, all defaults written out. */
void profile_encode(const struct profile *p, struct json_writer *w);

/* The setting of that name, or NULL. */
const char *profile_load(const struct profile *p, const char *name);

/* Reads a CPU list of the kernel's form into `set` (may be NULL). ERR_CONFIG if it is none. */
int profile_check_cpus(const char *list, cpu_set_t *set, struct err *err);

/* How many CPUs the list names; 0 for PROFILE_ALL_CPUS. The list is a valid one. */
int profile_count_cpus(const char *list);

/* Its value on an axis of the matrix that it came from, or NULL. */
const char *profile_axis(const struct profile *p, const char *axis);

/* The CPU list of that role, or NULL for any CPU. */
const char *profile_role_cpus(const struct profile *p, const char *role);

#endif
