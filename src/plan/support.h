/*
 * support: leaves out profiles that one of the variants cannot run, as its program says itself
 * when it is asked beforehand (a runner's "supports").
 */
#ifndef ABBA_PLAN_SUPPORT_H
#define ABBA_PLAN_SUPPORT_H

#include "plan/plan.h"

struct arena;
struct role_command;

/*
 * Asks by way of the request. Each reason is noted once, with the profiles that it concerns. It is
 * an error (ERR_CONFIG) with --unsupported fail, and where no profile is left.
 */
int support_check(struct plan *p, const struct plan_request *q, struct arena *arena,
                  struct err *err);

/* The command that asks; `command->argv` stays NULL where the runner has none. */
int support_command(const struct plan *p, const struct profile *profile,
                    const struct variant *variant, struct role_command *command,
                    struct arena *arena, struct err *err);

/* Exit status of a program that lacks what it was asked for, and how its standard output says so.
 */
#define SUPPORT_EXIT_LACKING 3
#define SUPPORT_LACKING "unsupported: "

/*
 * One note for all profiles from `first` to `count` that are left out for the reason why[first];
 * none where an earlier one has it too. `one_is` and `many_are` say what is the matter.
 */
void support_note(struct plan *p, const struct profile *all, const char *const *why, size_t count,
                  size_t first, const char *one_is, const char *many_are, struct arena *arena);

#endif
