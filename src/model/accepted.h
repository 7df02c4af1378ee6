/*
 * accepted: a change for the worse that was agreed to, as accepted/NAME.json says it.
 *
 * Part of the plan. A metric that does not pass its own limit, but passes the accepted one, is
 * `accepted`; what is worse than that is regressed.
 */
#ifndef ABBA_MODEL_ACCEPTED_H
#define ABBA_MODEL_ACCEPTED_H

#include "base/err.h"

struct arena;
struct json;
struct json_writer;

struct accepted {
    const char *name;
    const char *profile; /* a profile's name, or a glob (fnmatch without FNM_PATHNAME) */
    const char *metric;
    const char *up_to_text; /* "25%": of the median change, in the worse direction */
    double up_to;           /* strtod(percent) / 100 */
    const char *reason, *who;
    const char *until; /* "2027-01-31": the last day, UTC */
};

/* Decodes a file (or its copy in a plan). ERR_CONFIG on a fault. */
int accepted_decode(struct accepted *a, const struct json *root, const char *file,
                    struct arena *arena, struct err *err);
void accepted_encode(const struct accepted *a, struct json_writer *w);

#endif
