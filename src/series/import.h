/*
 * import: an archive out of logs of runs that abba did not make.
 *
 * A log is what one run printed, or, with a pattern that ends runs, what several printed one after
 * the other. Everything is read first; then plan and archive are made of it, and measured as if the
 * runs had just ended. What only abba could have measured is absent, never zero.
 */
#ifndef ABBA_SERIES_IMPORT_H
#define ABBA_SERIES_IMPORT_H

#include "base/err.h"
#include "base/strings.h"
#include "model/plan.h"

struct buf;

/* The most bytes of one log. */
#define IMPORT_LOG_MAX ((size_t)64 << 20)

struct import_variant {
    const char *name;
    struct strings logs; /* each FILE, or ROLE=FILE[,ROLE.stderr=FILE...] */
};

struct import_request {
    const char *runner; /* name or file */
    const struct import_variant *variants;
    size_t variant_count;
    bool paired;       /* the n-th logs of all variants ran back to back */
    const char *split; /* pattern whose matches end a run each, or NULL; its group `profile` names
                          the profile */
    struct strings thresholds;
    const char *thresholds_file;
};

/* Runs that were found, and the plan they make. */
struct import;

/* Reads runner and logs. ERR_USAGE, ERR_CONFIG; ERR_MEASURE for logs that cannot be split. */
int import_new(struct import **im, const struct import_request *q, struct err *err);
void import_free(struct import *im); /* safe on NULL */

const struct plan *import_plan(const struct import *im);

/* What belongs to no run, for the person who asked. */
const struct strings *import_notes(const struct import *im);

struct import_options {
    const char *folder; /* of the archive; must not exist */
    bool identify;
    /* report.json for the archive as it stands; appended to `out`. */
    int (*report)(void *user, const char *folder, struct buf *out, struct err *err);
    void *user;
};

/* Measures all runs and writes the archive. */
int import_write(struct import *im, const struct import_options *o, char digest[65],
                 struct err *err);

#endif
