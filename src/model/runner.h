/*
 * runner: how a workload is started and read, as runners/NAME/runner.json says it.
 *
 * One decoder serves the file and the copy inside a plan; the writer gives the same schema back,
 * so that decode(encode(r)) is r. Everything belongs to the arena given to the decoder.
 */
#ifndef ABBA_MODEL_RUNNER_H
#define ABBA_MODEL_RUNNER_H

#include "base/err.h"
#include "base/strings.h"
#include "model/metric.h"
#include "model/variant.h"

#include <stdint.h>

struct arena;
struct json;
struct json_writer;

enum load_type {
    LOAD_INTEGER,
    LOAD_STRING,
    LOAD_TIME,
    LOAD_RATE,
    LOAD_SIZE,
    LOAD_PERCENT,
    LOAD_BOOL
};

/* A load parameter that a profile may set. */
struct load_param {
    const char *name;
    enum load_type type;
    int64_t min, max; /* of the base unit: ns, bit/s, B, or the integer itself; default 0 .. */
    struct strings choices;   /* of a string; empty: anything */
    const char *default_text; /* as written in the file; NULL: the profile must set it */
    const char *description;  /* may be NULL */
};

enum ready_kind { READY_AT_ONCE, READY_STDOUT, READY_STDERR, READY_TCP, READY_UDP };

#define READY_TIMEOUT_NS 10000000000LL /* where the runner says nothing */

/* How a role shows that the next may start. */
struct ready_spec {
    enum ready_kind kind;
    const char *pattern; /* stdout, stderr */
    const char *port;    /* tcp, udp: a template such as "{port}" */
    int64_t timeout_ns;
};

struct runner_role {
    const char *name;
    struct strings command; /* templates; "{program}" is the variant's program */
    struct ready_spec ready;
    struct env_setting *env; /* of this role's processes; values are templates */
    size_t env_count;
    struct strings after; /* roles that must be ready first */
    int stop_signal;      /* sent when the other roles have ended; 0: the role ends by itself */
};

/* How numbers are written in a runner's output; declared, never guessed. */
struct number_format {
    const char *decimal; /* one character, UTF-8 */
    const char *group;   /* one character, UTF-8, "" for none, or NUMBER_BLANKS for any one of it */
};

#define NUMBER_BLANKS " \xc2\xa0\xe2\x80\xaf"

/* SOURCE_HEAP: what the library of a memory pass told of a role's processes, see measure/heap.h. */
enum metric_source { SOURCE_STDOUT, SOURCE_STDERR, SOURCE_HEAP, SOURCE_FILE };
enum match_which { MATCH_ONE, MATCH_FIRST, MATCH_LAST, MATCH_ALL };
enum match_reduce { REDUCE_MEAN, REDUCE_MEDIAN, REDUCE_SUM, REDUCE_MIN, REDUCE_MAX, REDUCE_LAST };

/* Where in a role's output a text is looked for: a pattern, or a JSON pointer. */
struct extraction {
    const char *role; /* never NULL once decoded: the only role where the file names none */
    enum metric_source source;
    const char *file;    /* SOURCE_FILE: a template such as "{scratch}/stats.json" */
    const char *pattern; /* PCRE2, with a group named "value" where a number is wanted; or NULL */
    const char *json;    /* RFC 6901 pointer; or NULL */
};

struct runner_metric {
    const char *name;
    struct extraction from;
    const char *unit; /* as the program prints it; converted to the metric's base unit */
    enum metric_better better;
    enum match_which match;
    int sacrifice; /* matches left out at the front (MATCH_ALL) */
    enum match_reduce reduce;
    const char *counts; /* of a managed heap: by whose word, and what it counts; NULL: no such */
    bool required;      /* default true: without it the sample is failed; never SOURCE_HEAP */
    const struct number_format *numbers; /* NULL: the runner's */
};

struct runner_invalid {
    struct extraction from;
    struct strings metrics; /* empty: the whole sample */
};

/* "ratio" of two metrics equals a third within a tolerance. */
struct runner_check {
    const char *numerator, *denominator;
    const char *equals;
    const char *within_text; /* as written: "1%" */
    double within;           /* fraction */
};

struct runner {
    const char *name;
    const char *description;
    const char *program;  /* {program} where a variant names none; default: the runner's name */
    const char *built_by; /* the command that builds it, in its source tree; may be NULL */
    struct runner_role *roles; /* by name */
    size_t role_count;
    struct load_param *load;
    size_t load_count;
    struct number_format numbers;
    struct runner_metric *metrics;
    size_t metric_count;
    struct extraction *integrity; /* each must match exactly once or more */
    size_t integrity_count;
    struct runner_invalid *invalid;
    size_t invalid_count;
    struct runner_check *checks;
    size_t check_count;
    struct strings table; /* metrics that tables of variants show, in their order; none: judge's own
                             choice */
    struct strings supports; /* templates: asks a variant's program whether it can run a load, once
                                beforehand; empty: it can */
    bool is_command; /* the runner `command`: one role, whose command is the variant itself */
};

/*
 * Decodes a runner.json. `file` is its name for messages. Checks all that can be checked without
 * other files: known keys, types, roles named by others, cycles in `after`, patterns that compile
 * and have their group, metric units. ERR_CONFIG on a fault.
 */
int runner_decode(struct runner *r, const struct json *root, const char *file, struct arena *arena,
                  struct err *err);

/* Writes the runner in the file's schema; defaults are written out, so equal runners give equal
 * text. */
void runner_encode(const struct runner *r, struct json_writer *w);

/* "integer", "string", "time", "rate", "size", "percent" or "bool". */
const char *load_type_name(enum load_type type);

/*
 * Whether `text` is a value that the parameter takes: type, unit, range, choices. `value` (may be
 * NULL) gets it in the base unit: ns, bit/s, bytes, the integer itself, 0 or 1; 0 for strings and
 * percentages. ERR_CONFIG says what is allowed, without naming file or parameter.
 */
int load_param_check(const struct load_param *p, const char *text, int64_t *value, struct err *err);

const struct runner_role *runner_find_role(const struct runner *r, const char *name);
const struct load_param *runner_find_load(const struct runner *r, const char *name);
const struct runner_metric *runner_find_metric(const struct runner *r, const char *name);

/* Whether only a memory pass has the metric: by its library, or by a managed heap's own counter. */
bool runner_metric_is_memory(const struct runner_metric *m);

/* The metric of that name where runs that give times have it, too. */
const struct runner_metric *runner_timed_metric(const struct runner *r, const char *name);

#endif
