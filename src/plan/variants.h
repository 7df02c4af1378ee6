/*
 * variants: from what a person typed to programs that were found and hashed.
 *
 * A variant is NAME=PROGRAM, the path of a program, a JSON file, the name of a variant that the
 * runner ships, or the name of a program: of the runner's own or from PATH, or an address that says
 * the program's SHA-256 (plan/fetch.h), which the plan holds without its query. For the runner
 * `command` it is a command line, split in POSIX words, or a JSON file.
 */
#ifndef ABBA_PLAN_VARIANTS_H
#define ABBA_PLAN_VARIANTS_H

#include "plan/plan.h"

/*
 * Fills in p->variants, and adds to p->runners those that variants name themselves. p->profiles
 * and their runners must be there. ERR_USAGE or ERR_CONFIG.
 */
int variants_resolve(struct plan *p, const struct plan_request *request, struct arena *arena,
                     struct err *err);

/*
 * Finds, checks and hashes the variant's program and files, and those of its parts for single
 * roles, which take what they leave out from the variant: path, sha256, size_bytes. In
 * variant_parts.c, as env_resolve() is.
 */
int variant_resolve_program(struct plan *p, struct variant *v, struct arena *arena,
                            struct err *err);

/* "K=V" settings, sorted by name, the last of a name counting; added to those that are there. */
int env_resolve(const struct strings *settings, struct env_setting **env, size_t *count,
                struct arena *arena, struct err *err);

#endif
