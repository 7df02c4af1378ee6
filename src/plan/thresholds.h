/*
 * thresholds: those of a plan: a file's, with what the command line asks on top of it.
 */
#ifndef ABBA_PLAN_THRESHOLDS_H
#define ABBA_PLAN_THRESHOLDS_H

#include "plan/plan.h"

/*
 * Fills in p->thresholds; runners, profiles, variants and events must be there. What is asked on
 * the command line goes above the file, overrides included. A metric that nobody knows is an
 * error; one that no profile yields an error where it was asked, else a note in p->notes.
 */
int thresholds_resolve(struct plan *p, const struct plan_request *request, struct arena *arena,
                       struct err *err);

#endif
