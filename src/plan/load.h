/*
 * load: the files of a plan, by name or path: found, read, parsed and decoded.
 *
 * A file that was found by its name must bear that name. All errors are ERR_CONFIG.
 */
#ifndef ABBA_PLAN_LOAD_H
#define ABBA_PLAN_LOAD_H

#include "model/lab_file.h"
#include "model/plan.h"
#include "plan/lookup.h"

/* `file` (may be NULL) gets the file's path, for messages. */
int load_runner(const char *name, struct runner *out, const char **file, struct arena *arena,
                struct err *err);
int load_profile(const char *name, struct profile *out, const char **file, struct arena *arena,
                 struct err *err);
int load_thresholds(const char *name, struct thresholds *out, const char **file,
                    struct arena *arena, struct err *err);

int load_accepted(const char *name, struct accepted *out, const char **file, struct arena *arena,
                  struct err *err);
/* `name` as lookup_file takes it: a path, or "RUNNER/NAME". */
int load_variant(const char *name, struct variant *out, const char **file, struct arena *arena,
                 struct err *err);

/* `name` is a path, or "RUNNER/NAME". */
int load_series(const char *name, struct lab_file *out, const char **file, struct arena *arena,
                struct err *err);

/* Adds the runner of that name to the plan's, unless it is there. Moves p->runners. */
int load_plan_runner(struct plan *p, const char *name, struct arena *arena, struct err *err);

#endif
