/*
 * carry: what push and pull share: the way to a store, its limits, and what is shown meanwhile.
 */
#ifndef ABBA_CLI_CARRY_H
#define ABBA_CLI_CARRY_H

#include "archive/store.h"
#include "cli/progress.h"

struct settings;
struct option_group;

extern const struct option_group group_way; /* certificates, times, tries */

struct carry {
    const struct settings *s;
    struct progress progress;
    const char *what; /* "sending", "fetching" */
};

/* Options of a store as the settings have them; they refer to `c`. */
void carry_options(struct carry *c, struct store_options *o);

/* A size that an option gives; *bytes stays as it is where it was not given. ERR_USAGE. */
int carry_size(const char *option, const char *text, uint64_t min, uint64_t *bytes,
               struct err *err);

#endif
