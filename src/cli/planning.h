/*
 * planning: from the options of a command line to a plan, and the plan on paper.
 *
 * What this machine reaches (isolation, networks) is looked at once, however many plans are made.
 */
#ifndef ABBA_CLI_PLANNING_H
#define ABBA_CLI_PLANNING_H

#include "base/http.h"
#include "cli/networks.h"
#include "cli/supports.h"
#include "plan/plan.h"

struct settings;

struct planning {
    struct settings *s;
    struct networks networks;
    struct supports supports;
    const char *isolation;
    struct http_options fetch;
};

/* Checks the events and sizes that are asked for and looks at the machine. ERR_USAGE, ERR_SYSTEM.
 */
int planning_init(struct planning *g, struct settings *s, struct err *err);

/* Fills in what the common options say; `q` refers to `g` afterwards. */
void planning_request(struct planning *g, struct plan_request *q);

/* Builds the plan and prints its notes. Everything belongs to the arena of the settings. */
int planning_build(struct planning *g, const struct plan_request *q, struct plan *plan,
                   struct err *err);

/* Whether the plan fits the --budget, if one was given. ERR_USAGE with the estimate. */
int planning_check_budget(const struct settings *s, const struct plan *plan, struct err *err);

/* Prints what a plan had to say while it was built. */
void planning_notes(const struct settings *s, const struct plan *plan);

/* Prints the plan in the format of the settings. */
int planning_show(const struct settings *s, const struct plan *plan, struct err *err);

#endif
