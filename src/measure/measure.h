/*
 * measure: turns a raw outcome into a sample: metrics out of output, derived metrics, checks.
 *
 * A `struct meter` holds what is prepared once per runner: compiled patterns, units, the list of
 * metrics. Measuring happens between runs, never while one is timed.
 */
#ifndef ABBA_MEASURE_MEASURE_H
#define ABBA_MEASURE_MEASURE_H

#include "model/outcome.h"
#include "model/runner.h"
#include "model/sample.h"

struct arena;
struct meter;

/* Compiles the runner's patterns. `ncpu` sets the floor of ru_maxrss figures. */
int meter_new(struct meter **m, const struct runner *runner, long page_bytes, int ncpu,
              struct err *err);
void meter_free(struct meter *m);

struct measure_context {
    const char *scratch; /* folder of the run, for metrics out of files; NULL if none */
    bool allow_failures; /* a non-zero exit is not a failure */
    /* Of a memory pass, which gives no times: why the library may not have counted each role, NULL
     * where nothing is known to stand against it. NULL: of another run. */
    const char *const *heap_obstacles;
};

/*
 * Fills in status, error, metrics, roles and noise of `s` from the outcome; run, pair, slot,
 * variant, profile and files are the caller's. Text belongs to the arena, which the caller clears
 * after the sample was written.
 */
void meter_measure(struct meter *m, const struct outcome *o, const struct measure_context *context,
                   struct sample *s, struct arena *arena);

#endif
