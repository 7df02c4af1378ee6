/*
 * heap: what the library of a memory pass left of a role's processes, as text and as figures.
 *
 * Each process has a record (base/heap_record.h) below {scratch}/heap/ROLE. Their text, which is
 * archived and is the stream "heap" of a runner's metrics, has for each process, in the order of
 * their ids,
 *
 *     process=12 program=peers calls=24123 bytes=1785744 frees=21105
 *     window=1 calls=24000 bytes=1776000 frees=21000
 *     fault=a window was open when the process ended
 *
 * with a line of the second kind for every window that the program marked, and of the third where
 * the figures must not be believed. Records come from the programs under test: nothing in them is
 * trusted.
 */
#ifndef ABBA_MEASURE_HEAP_H
#define ABBA_MEASURE_HEAP_H

#include <stddef.h>
#include <stdint.h>

#include "base/heap_record.h"
#include "measure/derive.h"
#include "model/runner.h"

#define HEAP_PROCESSES_MAX 10000 /* of a role; more of them leave it without figures */

struct heap_role {
    const char *text; /* "" where there is none */
    size_t len;
    struct value status;      /* ok, or why there are no figures */
    uint64_t windows;         /* that were marked */
    struct heap_sums marked;  /* in all of them */
    struct heap_sums process; /* of all processes, from start to end */
};

/*
 * Reads the records of all roles of a run. `obstacles` of each: why there may be none; or NULL. All
 * of it is the arena's.
 */
struct heap_role *heap_read(const char *scratch, const struct outcome *o,
                            const char *const *obstacles, struct arena *arena);

/*
 * Adds heap_bytes and heap_calls of all roles, of the windows where any role has some, else of
 * whole processes. Where the runner has told one of both by another counter, there is no second
 * one.
 */
void heap_derive(struct metric_list *f, const struct heap_role *roles, size_t count);

/* Withholds every figure that is not of a heap: what the library slows down is for nobody's eyes.
 */
void heap_withhold(struct metric_list *f, const struct runner *runner);

#endif
