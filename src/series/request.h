/*
 * request: what a run host is asked to do, from plan, profile and variant.
 *
 * Commands, ready patterns, padding and CPU lists are prepared once a profile; only what differs
 * from run to run (port, scratch folder, seed) is filled in anew, and only where it is used.
 */
#ifndef ABBA_SERIES_REQUEST_H
#define ABBA_SERIES_REQUEST_H

#include <stdbool.h>

#include "model/plan.h"
#include "plan/template.h"
#include "run/run.h"

struct request_set;

/* Prepares all variants of the profile. ERR_CONFIG if a template or pattern is at fault. */
int request_set_new(struct request_set **set, const struct plan *plan,
                    const struct profile *profile, struct err *err);
void request_set_free(struct request_set *set);

/* Whether any command differs from run to run at all; whether one uses {port}, or {scratch}. */
bool request_set_varies(const struct request_set *set);
bool request_set_needs_port(const struct request_set *set);
bool request_set_needs_scratch(const struct request_set *set);

/* Of a memory pass: why the library may not count each role of a variant, NULL where nothing is
 * known to stand against it. NULL: of other profiles. */
const char *const *request_heap_obstacles(const struct request_set *set, size_t variant);

/*
 * Fills in the request for one run. What it points to belongs to the set and to `arena`; stdin_fd
 * is left -1.
 */
int request_make(struct request_set *set, size_t variant, const struct template_values *values,
                 struct run_request *out, struct arena *arena, struct err *err);

#endif
