/*
 * lab: from a series file to a lab whose plans are all fixed.
 */
#ifndef ABBA_PLAN_LAB_H
#define ABBA_PLAN_LAB_H

#include "model/lab.h"
#include "plan/plan.h"

/*
 * Reads the series file `name` (as plan/lookup.h finds it), fills in its variables from `settings`
 * ("NAME=VALUE") and builds and seals the plan of each comparison. `common` holds what the command
 * line says about all of them: what it gives goes before the file. ERR_USAGE or ERR_CONFIG.
 */
int lab_build(struct lab *l, const char *name, const struct strings *settings,
              const struct plan_request *common, struct arena *arena, struct err *err);

/* Expected time of all comparisons (ns), or 0 where that of one is not known. */
uint64_t lab_expected_ns(const struct lab *l);

#endif
