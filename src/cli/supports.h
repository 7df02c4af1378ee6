/*
 * supports: asks a variant's program, before anything is measured, whether it can run a load.
 */
#ifndef ABBA_CLI_SUPPORTS_H
#define ABBA_CLI_SUPPORTS_H

#include "model/plan.h"
#include "run/run.h"

/* Opened when the first program is asked. */
struct supports {
    struct run_host *host;
};

/*
 * Stores into `reason` what the program says it lacks (in the arena), or NULL: it can, or its
 * runner has no command to ask. A program that fails in another way is left to fail in its runs,
 * which are archived. -1 where it cannot be asked.
 */
int supports_look(struct supports *s, const struct plan *plan, const struct profile *profile,
                  const struct variant *variant, const char **reason, struct arena *arena,
                  struct err *err);

void supports_close(struct supports *s);

#endif
