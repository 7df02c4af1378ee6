/*
 * plan_parts: what the building of a plan is made of, for src/plan/plan*.c alone: plan.c goes
 * through its order, plan_machine.c looks what this machine can run, plan_templates.c fills every
 * template once, plan_find.c finds again what a plan runs.
 */
#ifndef ABBA_PLAN_PLAN_PARTS_H
#define ABBA_PLAN_PLAN_PARTS_H

#include "plan/plan.h"

/*
 * Leaves out, with a note, profiles that are bound to CPUs which may not be used here. ERR_USAGE
 * where --cpus asked for them; ERR_CONFIG where no profile is left, or none may be left out.
 */
int plan_check_cpus(struct plan *p, const struct plan_request *q, struct arena *arena,
                    struct err *err);

/* Makes the network of --impair that of every profile, none of which may have one. ERR_USAGE. */
int plan_apply_impair(struct plan *p, const struct plan_request *q, struct arena *arena,
                      struct err *err);

/* Leaves out, with a note, profiles whose network is not to be had here; the same errors. */
int plan_check_networks(struct plan *p, const struct plan_request *q, struct arena *arena,
                        struct err *err);

/* Fills every template of every runner with values such as a run has. ERR_CONFIG. */
int plan_check_templates(const struct plan *p, struct arena *arena, struct err *err);

#endif
