/*
 * plan: from names and options to a plan that is fixed: files found and decoded, matrices
 * expanded, variants resolved and hashed, everything checked against everything else.
 */
#ifndef ABBA_PLAN_PLAN_H
#define ABBA_PLAN_PLAN_H

#include "model/plan.h"

struct http_options;

/* What a person asked for; all borrowed. */
struct plan_request {
    const char *command;     /* "run" or "compare" */
    const char *series;      /* its name; NULL: made from the profiles (run) */
    struct strings profiles; /* names or files (run) */
    struct strings variants; /* baseline first, as plan/variants.h has them */
    struct strings args;     /* compare: what follows the words of every command */
    struct strings baseline_args, candidate_args;
    struct strings baseline_env, candidate_env, env; /* "K=V" */
    struct strings thresholds;                       /* --threshold METRIC=PERCENT */
    const char *thresholds_file; /* name or file; NULL: the profiles' for run, none for compare */
    struct strings accepted;     /* --accepted NAME|FILE; run: without one all that are found */
    bool no_accepted;
    struct strings events; /* --event, beside the defaults */
    struct strings claims; /* --claim METRIC */
    const char *cpus;      /* --cpus LIST, for every role */
    const char *input;
    int pairs;                    /* -1: not given */
    int confirm;                  /* -1: not given */
    int warmup;                   /* -1: not given */
    int64_t pause_ns, timeout_ns; /* -1: not given */
    const char *seed;             /* NULL: 1 */
    bool memory_pass;             /* every profile gets one; see plan/memory.h */
    int memory_pairs;             /* of it, and then it is asked for; 0: not given */
    bool aa, allow_failures, unsupported_fail;
    const struct http_options *fetch; /* how programs are fetched; NULL: as plan/fetch.h has it */
    const char *isolation;            /* what the machine reached */
    /* Variants of a git repository: git:REVISION and worktree; see plan/git_variants.h. */
    const char *build;           /* --build: command, split into words; NULL: files as they are */
    const char *product;         /* --product: the program, relative to the top; or NULL */
    const char *control;         /* --control: another build of the baseline; or NULL */
    struct strings files;        /* --file NAME=PATH, relative to the top */
    struct strings build_writes; /* folders that a build may write to */
    struct strings candidate_roles; /* roles that candidates replace; none: all */
    bool no_merge_base;
    void (*build_note)(void *user, const char *text);
    int (*build_stopped)(void); /* whether a signal asks for the end; NULL: never */
    void (*build_log)(void *user, const char *line); /* the end of a failed build's log */
    const char *impair; /* compare and run: tc's netem words for a quick network; NULL: none */
    /*
     * Asked once, and only where a profile has a network of its own: whether this machine can have
     * it. Stores into `reason` why not (in the arena), or NULL. Sets *isolation to what the machine
     * reaches with such networks. -1 where that cannot be found out. NULL: everything can be had.
     */
    int (*look_at_network)(void *user, const struct profile *profile, const char **reason,
                           const char **isolation, struct arena *arena, struct err *err);
    /*
     * Asks the variant's program whether it can run the load, where its runner has a command for
     * that. Stores into `reason` why not (in the arena), or NULL. -1 where it cannot be asked.
     * NULL: every variant can run everything.
     */
    int (*look_at_support)(void *user, const struct plan *plan, const struct profile *profile,
                           const struct variant *variant, const char **reason, struct arena *arena,
                           struct err *err);
    void *user;
};

/*
 * Builds and seals a plan. ERR_USAGE or ERR_CONFIG with file, JSON path and hint. A compare plan
 * whose pair count is not given is left unsealed with pairs = 0, to be fixed after its warm-ups.
 */
int plan_build(struct plan *p, const struct plan_request *request, struct arena *arena,
               struct err *err);

/* The built-in runner `command`, whose only role is the variant itself. */
void plan_command_runner(struct runner *r, struct arena *arena);

/*
 * Finds the programs and the input of a plan that an archive gave back, to run it again. One that
 * is not what the plan holds is an error (ERR_CONFIG).
 */
int plan_find_programs(struct plan *p, struct arena *arena, struct err *err);

/* Where the input of a plan is (p->input_path) and its checksum, whatever that is. ERR_CONFIG. */
int plan_find_input(struct plan *p, char sha256[65], struct arena *arena, struct err *err);

/* Where the library of memory passes is (p->heap_library) and its checksum, whatever that is.
 * ERR_CONFIG. */
int plan_find_heap_library(struct plan *p, char sha256[65], struct arena *arena, struct err *err);

/*
 * What the series takes, with what starting and ending a run costs: without confirming stages and
 * with all of them. False where a profile neither says what a run takes nor has a load `duration`;
 * *unknown is then its name.
 */
bool plan_estimate(const struct plan *p, uint64_t *main_ns, uint64_t *all_ns, const char **unknown);

/* Expected time of the series, pauses included, without confirming stages; 0 where a load has no
 * duration. */
uint64_t plan_expected_ns(const struct plan *p);

#endif
