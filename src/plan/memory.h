/*
 * memory: the memory passes of a plan, which count what programs ask their heaps for.
 *
 * A memory pass is a profile of its own behind all others: the same runner, load and network, few
 * pairs, no confirming stage, and a library of abba's preloaded to every role, whose checksum is
 * part of the plan.
 */
#ifndef ABBA_PLAN_MEMORY_H
#define ABBA_PLAN_MEMORY_H

#include "plan/plan.h"

/*
 * Adds the memory passes that profiles ask for ("memory_pass") or the person does, and finds the
 * library where there is any. ERR_CONFIG.
 */
int memory_passes_add(struct plan *p, const struct plan_request *q, struct arena *arena,
                      struct err *err);

/* Makes a memory pass of the profile, with no pair count of its own. */
void memory_pass_make(struct profile *p, struct arena *arena);

/*
 * Refuses a role of another profile that would have the library preloaded: such a run gives times.
 * `envp`: its environment. ERR_CONFIG.
 */
int memory_check_absent(const char *const *envp, struct err *err);

#endif
