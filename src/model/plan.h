/*
 * plan: everything that is fixed before the first run, and its hash.
 *
 * The canonical JSON of a plan (keys by byte order, no white space, integers below 2^53, every
 * quantity a string with its unit) holds verbatim runners, expanded profiles, thresholds and
 * variants with their program hashes, and no time, host or scratch path. Its SHA-256 is printed
 * by every report. plan/ builds a plan from files; an archive gives it back.
 */
#ifndef ABBA_MODEL_PLAN_H
#define ABBA_MODEL_PLAN_H

#include "model/accepted.h"
#include "model/profile.h"
#include "model/runner.h"
#include "model/thresholds.h"
#include "model/variant.h"

struct buf;

/* The rules of judging that an archive was made under; see judge/. */
#define PLAN_ANALYSIS 1

/* Whether abba ran the series itself, or read output of runs that it did not make. */
enum plan_import { IMPORT_NONE, IMPORT_PAIRED, IMPORT_UNPAIRED };

struct plan {
    const char *series;      /* its name: the profiles joined, or the --series file's */
    const char *command;     /* "run", "compare" or "import" */
    enum plan_import import; /* pairs stand in the order in which they were listed */
    int analysis;
    struct variant *variants; /* variants[0] is the baseline */
    size_t variant_count;     /* >= 2; imported and unpaired: >= 1 */
    struct runner *runners;   /* those that any profile or variant uses */
    size_t runner_count;
    struct profile *profiles; /* expanded, in the order in which they run */
    size_t profile_count;
    struct thresholds thresholds;
    struct accepted *accepted; /* changes that were agreed to, of profiles of the series */
    size_t accepted_count;
    struct strings events;  /* libpfm4 names of the counters */
    uint64_t seed;          /* of common random numbers; decimal string in JSON */
    bool aa;                /* the baseline against itself */
    bool allow_failures;    /* a run that exits non-zero is a sample like any other (compare -f) */
    bool unsupported_fail;  /* a profile that this machine cannot run is an error, not skipped */
    const char *isolation;  /* "pid-namespace" or "subreaper"; imported: "none" */
    const char *input;      /* file given to every root process as standard input, or NULL */
    const char *input_path; /* where it is found here; not part of the plan */
    char input_sha256[65];  /* of that file; "" without one */
    /* The library that memory passes preload; "" without one. */
    char heap_sha256[65];
    const char *heap_library; /* where it is found here; not part of the plan */
    struct env_setting *env;  /* --env: for every variant */
    size_t env_count;
    char sha256[65];      /* of the canonical JSON; "" until plan_seal() */
    struct strings notes; /* for the person who asked, from the building; not part of the plan */
};

/* Appends the canonical JSON of the plan. */
int plan_encode(const struct plan *p, struct buf *out, struct err *err);

/* Reads a plan's JSON (any white space). Everything belongs to the arena. Does not set sha256. */
int plan_decode(struct plan *p, const struct json *root, const char *file, struct arena *arena,
                struct err *err);

/* A seed as text, 0 to 2^64 - 1. */
bool plan_parse_seed(const char *text, uint64_t *seed);

/* Sets p->sha256 from the canonical JSON. */
int plan_seal(struct plan *p, struct err *err);

/* The runner that `variant` uses under `profile`. Never NULL in a valid plan. */
const struct runner *plan_runner(const struct plan *p, const struct profile *profile,
                                 const struct variant *variant);
const struct runner *plan_find_runner(const struct plan *p, const char *name);
const struct profile *plan_find_profile(const struct plan *p, const char *name);

/* Pairs of a profile's main stage, of its confirming stage (0: none), and how many must be
 * complete. */
int plan_pairs(const struct plan *p, const struct profile *profile);
int plan_confirm(const struct plan *p, const struct profile *profile);
int plan_min_complete(const struct plan *p, const struct profile *profile);

/* Unit and direction of any metric of the plan: a runner's own, else the standard table. False if
 * unknown. */
bool plan_metric(const struct plan *p, const char *name, const char **unit,
                 enum metric_better *better);

/*
 * Whether the profile can yield a value of the metric: its runner reports it, abba measures it, it
 * follows from those, or it is a counter of the plan. What the machine can do is not asked.
 */
bool plan_yields(const struct plan *p, const struct profile *profile, const char *metric);

/* Whether any profile can. */
bool plan_yields_anywhere(const struct plan *p, const char *metric);

/* Whether every candidate is the baseline, byte for byte, and that was not asked for (--aa). */
bool plan_identical(const struct plan *p);

/* Whether any profile has a network of its own. */
bool plan_has_network(const struct plan *p);

/* Whether any profile is a memory pass. */
bool plan_has_memory_pass(const struct plan *p);

/* Number of runs, warm-ups included, without any confirming stage. */
uint64_t plan_run_count(const struct plan *p);

#endif
