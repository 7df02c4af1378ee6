/*
 * again: an archive that is to be run again: what of it is at hand, and how the repetition
 * compares.
 */
#ifndef ABBA_CLI_AGAIN_H
#define ABBA_CLI_AGAIN_H

#include "base/mem.h"
#include "cli/planning.h"
#include "model/reproduction.h"
#include "series/rerun.h"

struct settings;

struct again {
    struct settings *s;
    const char *name; /* of the comparison, for notes; NULL: there is one archive */
    struct rerun rerun;
    struct report then;
    struct arena arena; /* of that report and of what is compared */
};

/* Opens, verifies and judges the archive, and finds here what it ran; x->s and x->name are set. To
 * be closed also after an error. */
int again_open(struct again *x, const char *folder, struct planning *g, struct err *err);
void again_close(struct again *x);

/* Tells what is not as it was. ERR_CONFIG where that needs --allow-different, and where a network
 * is not to be had with the back end that it had. */
int again_check(const struct again *x, struct planning *g, struct err *err);

/* The repetition, judged, beside what it repeats. */
void again_compare(struct again *x, const struct report *now, const struct archive *a,
                   struct reproduction *out);

/* The exit status for an outcome. */
int again_status(enum reproduced outcome);

#endif
