/*
 * lookup: where runners, profiles, thresholds and runners' programs are found.
 *
 * A path with '/' or ending in .json is that file (profiles and variants: "flow/pingpong" is a
 * name, not a path, unless it ends in .json or begins with '.' or '/'). A runner's own variants lie
 * in runners/RUNNER/variants/NAME.json and are named "RUNNER/NAME", its series files likewise in
 * runners/RUNNER/series/. A name is looked up below
 * runners/, profiles/, thresholds/, accepted/ of the current folder, of each folder in ABBA_PATH,
 * then of the installed share folder, or, uninstalled, of the source tree.
 */
#ifndef ABBA_PLAN_LOOKUP_H
#define ABBA_PLAN_LOOKUP_H

#include "base/err.h"
#include "base/strings.h"

struct arena;

enum lookup_kind {
    LOOKUP_RUNNER,
    LOOKUP_PROFILE,
    LOOKUP_THRESHOLDS,
    LOOKUP_VARIANT,
    LOOKUP_SERIES,
    LOOKUP_ACCEPTED
};

/* Whether `name` is taken as the path of a file. */
bool lookup_is_path(enum lookup_kind kind, const char *name);

/* The file's path. ERR_CONFIG with the nearest known name and where was searched. */
int lookup_file(enum lookup_kind kind, const char *name, const char **path, struct arena *arena,
                struct err *err);

/* All names of a kind, sorted, each once (the first found hides later ones). */
void lookup_names(enum lookup_kind kind, struct strings *names, struct arena *arena);

/* A program that a runner ships (build/runners/RUNNER/NAME, or installed), or the runner of the
 * program's own name (NAME/NAME); else from PATH; one with an address from the cache or from there
 * (plan/fetch.h). */
int lookup_program(const char *runner, const char *name, const char **path, struct arena *arena,
                   struct err *err);

/* The library that memory passes preload, which came with this program. ERR_CONFIG. */
int lookup_heap_library(const char **path, struct arena *arena, struct err *err);

#endif
