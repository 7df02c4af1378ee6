/*
 * thresholds: how far a metric may go in the worse direction, and by which rule that is judged.
 *
 * As thresholds/NAME.json says it. Everything belongs to the arena given to the decoder.
 */
#ifndef ABBA_MODEL_THRESHOLDS_H
#define ABBA_MODEL_THRESHOLDS_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct json;
struct json_writer;

enum rule { RULE_BOUNDED, RULE_MEDIAN };

/* An improvement claimed beforehand. */
enum claim { CLAIM_NONE, CLAIM_BETTER };

struct limit {
    const char *metric;
    const char *worse_text; /* "10%"; NULL (null in the file): not judged */
    double worse;           /* strtod(percent) / 100 */
    enum claim claim;       /* "claim": "better": shown only if the bound is beyond zero */
    bool asked;             /* from --threshold: a metric that no profile yields is an error */
};

/* Limits for the profiles whose name matches a glob (fnmatch without FNM_PATHNAME). */
struct limit_override {
    const char *glob;
    struct limit *limits;
    size_t limit_count;
};

struct thresholds {
    const char *name;        /* "none" for a series that judges nothing */
    const char *description; /* may be NULL */
    enum rule rule;
    int pairs;   /* default 8 */
    int confirm; /* fresh pairs for a profile that does not pass; 0: none */
    struct limit *limits;
    size_t limit_count;
    struct limit_override *overrides;
    size_t override_count;
};

/* Decodes a thresholds file (or its copy in a plan). ERR_CONFIG on a fault. */
int thresholds_decode(struct thresholds *t, const struct json *root, const char *file,
                      struct arena *arena, struct err *err);
void thresholds_encode(const struct thresholds *t, struct json_writer *w);

/*
 * The limit of `metric` under `profile`, or NULL: an override whose glob matches goes before the
 * general limit; of several that match the most specific one (most characters that are no
 * wildcards) counts, then the last by byte order. The order in the file means nothing, as it should
 * for members of an object.
 */
const struct limit *thresholds_limit(const struct thresholds *t, const char *profile,
                                     const char *metric);

const char *rule_name(enum rule rule);

#endif
