/*
 * report_made: reports made by hand for the tests of what shows them.
 */
#ifndef ABBA_TESTS_REPORT_MADE_H
#define ABBA_TESTS_REPORT_MADE_H

#include "base/mem.h"
#include "model/report.h"

#include <stdbool.h>

/* Two profiles: the first regressed in cpu_per_gbit, the second inconclusive in throughput. */
void report_made(struct report *r, struct arena *arena);

/* One profile of a compare that judges nothing; `candidates` of them. */
void report_made_compare(struct report *r, size_t candidates, struct arena *arena);

/* A profile in which the candidate failed twice, writing what no report must pass on. */
void report_made_failed(struct report *r, struct arena *arena);

/* Three candidates side by side, on two CPU sets and in three regimes; one lost messages, one
 * crashed writing what no report must pass on. */
void report_made_variants(struct report *r, struct arena *arena);

/* Nothing but figures that do not exist, and changes from zero. */
void report_made_empty(struct report *r, struct arena *arena);

/* Whether every line is at most that wide; names the first that is not. Escapes do not count. */
bool fits(const char *text, size_t width);

/* Whether all text is printable: no control character but newline and, if allowed, ANSI colour. */
bool harmless(const char *text, bool color);

#endif
