/*
 * command: argv and environment of one role, ready to be executed.
 *
 * The variant's program is argv's {program} (an absolute path), its arguments follow the role's
 * own. The environment is abba's own for the runner `command` and an allowlist of it for others,
 * then --env, then the role's, then the variant's, sorted; and ABBA_PAD, a run of 'x' that makes
 * argv, environment and program path of all variants of a pair equal in bytes (their length moves
 * the stack). What is too long for one setting has ABBA_PAD_1, ABBA_PAD_2 ... before it.
 */
#ifndef ABBA_PLAN_COMMAND_H
#define ABBA_PLAN_COMMAND_H

#include "plan/template.h"

struct role_command {
    const char *const *argv;
    const char *const *envp;
    size_t bytes; /* of argv, environment and program path, terminators included */
    bool varies;  /* holds something that differs from run to run: port, scratch, run or seed */
    const char *obstacle; /* of a memory pass: why the library cannot count this role; or NULL */
};

/* `pad`: how many bytes ABBA_PAD holds. Text belongs to the arena. */
int plan_role_command(const struct plan *plan, const struct profile *profile,
                      const struct variant *variant, const struct runner_role *role,
                      const struct template_values *values, size_t pad, struct role_command *out,
                      struct arena *arena, struct err *err);

/*
 * Fills pads[variant] for the role with index `role` (of each variant's own runner) so that all
 * variants' commands have the same `bytes`. 0 where a variant's runner has no such role.
 */
int plan_role_pads(const struct plan *plan, const struct profile *profile, size_t role,
                   size_t *pads, struct err *err);

#endif
