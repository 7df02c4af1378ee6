/*
 * settings: what a person asked for on the command line, one field an option.
 *
 * The option tables name these fields; a field that a sub-command's table does not name keeps its
 * initial value. Everything belongs to the arena.
 */
#ifndef ABBA_CLI_SETTINGS_H
#define ABBA_CLI_SETTINGS_H

#include "base/mem.h"
#include "base/strings.h"

#include <stdbool.h>
#include <stdint.h>

enum color_when { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER, COLOR_ANSI };
enum report_format { FORMAT_TEXT, FORMAT_MARKDOWN, FORMAT_JSON, FORMAT_JUNIT, FORMAT_CSV };

struct settings {
    struct arena arena;
    const struct command_def *command;
    struct strings operands;
    size_t after_dashes; /* how many of them stand behind "--" */
    bool help;

    /* how often, how long */
    int64_t duration_ms;
    int64_t pairs, confirm, warmup; /* -1: not given */
    int64_t pause_ns, timeout_ns;   /* -1: not given */
    int64_t budget_ns;              /* 0: not given */
    const char *seed;               /* NULL: not given */

    /* what runs */
    struct strings baselines, candidates; /* run */
    struct strings baseline_args, candidate_args;
    struct strings baseline_env, candidate_env, env;
    const char *cpus, *input, *impair;
    struct strings events;
    bool allow_failures, aa;
    bool memory_pass;
    int64_t memory_pairs; /* 0: not given */
    const char *series;   /* run: a series file, by name or path */
    struct strings set;   /* run: NAME=VALUE of its variables */

    /* revisions of a git repository */
    const char *build, *product, *control;
    struct strings files, build_writes, candidate_roles;
    bool no_merge_base;

    /* judging */
    struct strings thresholds, claims;
    const char *thresholds_file;
    struct strings accepted;
    bool no_accepted;
    bool bisect;

    /* where it goes */
    const char *archive, *output;
    const char *sign; /* key file */
    int unsupported;  /* 0: skip, 1: fail */
    int format;       /* enum report_format */
    int color;        /* enum color_when */
    bool no_lock, identify, plan;
    bool quiet, verbose;

    /* what lies elsewhere */
    const char *ca_file;
    int64_t fetch_timeout_ns;                /* compare, run */
    const char *fetch_size;                  /* NULL: not given */
    int64_t stall_ns, retry_pause_ns, tries; /* push, pull */
    const char *part_size;                   /* push */

    /* notify */
    int service; /* enum service */
    const char *webhook, *repository, *commit, *name;
    int64_t pull_request; /* 0: not given */
    int64_t max_bytes;
    bool no_status, no_comment, require_notify;

    /* other sub-commands */
    const char *digest;     /* verify, unpack */
    struct strings signers; /* verify */
    int64_t level;          /* pack */
    const char *max_size;   /* unpack */
    int64_t max_ratio;
    const char *runner, *split; /* import */
    const char *keep;           /* prune */
    bool dry_run;               /* prune, notify */
    bool undo;                  /* pin */
    bool paired;
    struct strings require; /* doctor */
    bool names;             /* list */
    const char *role;       /* net */
    bool probe;
    bool allow_different; /* rerun */
    bool keep_programs;
};

void settings_init(struct settings *s);
void settings_release(struct settings *s);

/* The groups that the tables are made of. */
extern const struct option_group group_pairs;     /* compare: how often, for how long */
extern const struct option_group group_run_pairs; /* run: how often */
extern const struct option_group group_variants;  /* run, compare: what is compared */
extern const struct option_group group_git;       /* run, compare: revisions and their builds */
extern const struct option_group group_runs;      /* how every run is started */
extern const struct option_group group_fetching;  /* programs that have an address */
extern const struct option_group group_judging;
extern const struct option_group group_machine; /* profiles that it cannot run (run) */
extern const struct option_group group_keeping; /* archive, lock, plan */
extern const struct option_group group_output;  /* format, file, colour, verbosity */
extern const struct option_group group_plain;   /* colour, verbosity */
extern const struct option_group group_help;

#endif
