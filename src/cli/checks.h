/*
 * checks: what the doctor looks at. Each check has a name, a state, what was found, and what mends
 * it. Nothing on the machine is changed.
 */
#ifndef ABBA_CLI_CHECKS_H
#define ABBA_CLI_CHECKS_H

#include "model/machine.h"

#include <stddef.h>

enum check_state {
    CHECK_OK,
    CHECK_NOTE,    /* works, but figures are noisier than they could be */
    CHECK_MISSING, /* cannot be had here */
};

struct check {
    const char *name;
    enum check_state state;
    const char *found;
    const char *mend; /* a command or advice; NULL: nothing is known to help */
};

#define CHECKS_MAX 24

struct checks {
    struct check items[CHECKS_MAX];
    size_t count;
    struct machine_counter *counters; /* that abba reads by default */
    size_t counter_count;
};

/* Makes all checks, in some tens of milliseconds. Texts belong to the arena. */
void checks_make(struct checks *c, struct arena *arena);

/* For the parts: adds one; of namespaces, networks and the modules that they need. */
void checks_add(struct checks *c, const char *name, enum check_state state, const char *found,
                const char *mend);
void checks_network(struct checks *c, struct arena *arena);

const struct check *checks_find(const struct checks *c, const char *name);

#endif
