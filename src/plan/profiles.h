/*
 * profiles: from a profile as its file says it to those that can run: one a combination of its
 * matrix, with the runner's defaults filled in and everything checked against the runner.
 */
#ifndef ABBA_PLAN_PROFILES_H
#define ABBA_PLAN_PROFILES_H

#include "model/profile.h"
#include "model/runner.h"

#include <sched.h>

/*
 * One profile a combination, in the order of the file, the last axis changing fastest, named
 * "NAME,axis=value,..."; the profile itself if it has no matrix. In the arena.
 */
void profile_expand(const struct profile *p, struct profile **out, size_t *count,
                    struct arena *arena);

/*
 * Checks load, CPU sets and controls against the runner and fills in defaults: afterwards p->load
 * holds every parameter of the runner, by name. `file` is for messages. ERR_CONFIG on a fault.
 */
int profile_resolve(struct profile *p, const struct runner *r, const char *file,
                    struct arena *arena, struct err *err);

/*
 * Whether the runner takes every load setting of a resolved profile, knows every role that has
 * CPUs, and needs nothing that the profile does not set. ERR_CONFIG says what stands against it.
 */
int profile_fits(const struct profile *p, const struct runner *r, struct err *err);

/* A CPU set of the profile that is not within `allowed`, or NULL. */
const char *profile_missing_cpus(const struct profile *p, const cpu_set_t *allowed);

#endif
