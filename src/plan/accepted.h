/*
 * accepted: which agreed changes belong to a plan.
 */
#ifndef ABBA_PLAN_ACCEPTED_H
#define ABBA_PLAN_ACCEPTED_H

#include "plan/plan.h"

/*
 * Fills in p->accepted: those that are named, or for `run` all that are found below accepted/ of
 * the current folder and of ABBA_PATH. Those of other profiles are left out, with a note. Profiles,
 * runners and variants must be there. ERR_CONFIG on a fault in any of the files.
 */
int accepted_resolve(struct plan *p, const struct plan_request *q, struct arena *arena,
                     struct err *err);

#endif
