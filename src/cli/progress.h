/*
 * progress: what a series is doing, while it does it.
 *
 * On a terminal one line on standard error, drawn over itself at most ten times a second and wiped
 * when the series ends; elsewhere a plain line now and then. It costs a clock reading a run. The
 * same for bytes that are carried.
 */
#ifndef ABBA_CLI_PROGRESS_H
#define ABBA_CLI_PROGRESS_H

#include "series/series.h"

#include <stdbool.h>
#include <stdint.h>

struct buf;

struct progress {
    bool quiet;
    bool terminal; /* standard error is one */
    bool utf8;
    bool drawn;        /* a line is on the screen */
    int64_t last_ns;   /* when something was last written */
    const void *stage; /* profile of the last plain line */
    int stage_kind;
    uint64_t failed;   /* runs that failed so far */
    const char *where; /* stands in front, such as the comparison; NULL: nothing */
    int64_t begun_ns;  /* of progress_bytes: the first call */
    uint64_t begun_at; /* and what was there by then */
};

void progress_init(struct progress *p, bool quiet);

/* As series_options.progress, with a struct progress as user. */
void progress_show(struct progress *p, const struct series_progress *now);

/* Bytes that are carried, of `all` (0: unknown): `what` is "sending" or "fetching". */
void progress_bytes(struct progress *p, const char *what, uint64_t done, uint64_t all);

/* Wipes the line, so that something else can be written. */
void progress_wipe(struct progress *p);

/* The line of a terminal that has `columns`; for tests. */
void progress_line(const struct progress *p, const struct series_progress *now, size_t columns,
                   struct buf *out);

#endif
