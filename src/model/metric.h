/*
 * metric: the names of all figures, and a figure that knows whether it can be trusted.
 *
 * One table names the standard metrics with unit, direction and meaning; a runner may add its own.
 * A figure is a `struct value`: nobody reads `number` without having looked at `status`.
 */
#ifndef ABBA_MODEL_METRIC_H
#define ABBA_MODEL_METRIC_H

#include <stdbool.h>
#include <stddef.h>

enum metric_better {
    BETTER_LOWER,
    BETTER_HIGHER,
};

/* What a metric is made from, which decides who fills it in. */
enum metric_kind {
    METRIC_REPORTED, /* by the runner's own output (rates, and what a memory pass tells: else by
                        abba) */
    METRIC_MEASURED, /* by abba, from outside; no runner may report it */
    METRIC_DERIVED,  /* from measured figures of the same sample; no runner may report it */
    METRIC_COUNTER,  /* a performance counter; no runner may report it */
};

struct metric_def {
    const char *name;
    const char *unit; /* base unit, as it stands in JSON: "s", "B", "Mbit/s", "CPU-s/Gbit", ... */
    enum metric_better better;
    enum metric_kind kind;
    bool judgeable; /* false: shown beside others, refused in thresholds (user_time, system_time) */
    const char *help; /* one line for `abba list metrics` */
};

/* The table, in the order in which reports print it. Sets *count. */
const struct metric_def *metric_table(size_t *count);

/* The standard metric of that name, or NULL. */
const struct metric_def *metric_find(const char *name);

/* Whether it tells what a heap was asked for: heap_bytes, heap_calls and their shares. */
bool metric_is_heap(const char *name);

/* The standard metric nearest to a mistyped name, or NULL. */
const char *metric_nearest(const char *name);

/*
 * The metric that holds a counter's reading: PERF_COUNT_HW_CPU_CYCLES is `cycles`; an event that
 * has no standard metric is a metric of its own name, a count of which less is better.
 */
const char *metric_of_event(const char *event);

/*
 * Converts a figure from the unit that a program prints to a metric's unit: "ms" to "s", "Mibit/s"
 * to "Mbit/s", "KiB" to "B", "k/s" to "1/s". Equal units convert whatever they are. False if the
 * units do not measure the same.
 */
bool metric_convert(double number, const char *from, const char *to, double *out);

/* "lower" or "higher". */
const char *metric_better_name(enum metric_better better);
bool metric_better_parse(const char *text, enum metric_better *better);

enum value_status {
    VALUE_OK = 0,
    VALUE_SCALED,      /* a counter that shared the PMU: number is scaled up, see coverage */
    VALUE_NOT_COUNTED, /* a counter that never ran */
    VALUE_UNSUPPORTED, /* this machine cannot */
    VALUE_DENIED,      /* this machine could, the kernel forbids */
    VALUE_INVALID,     /* a figure was found and must not be believed */
    VALUE_MISSING,     /* no figure was found */
};

struct value {
    double number; /* in the base unit; meaningless unless ok or scaled (invalid: as found) */
    enum value_status status;
    double coverage;    /* share of the run that was counted, 0..1; 1 unless scaled */
    const char *reason; /* why the status is not ok; NULL if ok; borrowed */
};

/* A good value. */
struct value value_ok(double number);

/* No value: `status` is not VALUE_OK, `reason` says why and is borrowed. */
struct value value_none(enum value_status status, const char *reason);

/* Whether the number may be judged: ok, or scaled with a coverage of at least 99 %. */
bool value_usable(const struct value *v);

/* "ok", "scaled", "not_counted", ... */
const char *value_status_name(enum value_status status);
bool value_status_parse(const char *text, enum value_status *status);

#endif
