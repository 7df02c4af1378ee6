/*
 * series_parts: what a series is made of, for src/series/series*.c alone: series.c goes through
 * profiles and stages, series_step.c makes one run, series_open.c opens and closes.
 */
#ifndef ABBA_SERIES_SERIES_PARTS_H
#define ABBA_SERIES_SERIES_PARTS_H

#include "archive/sequence.h"
#include "base/mem.h"
#include "model/machine.h"
#include "model/order.h"
#include "net/network.h"
#include "series/series.h"

/* A series while it runs. */
struct series {
    struct plan *plan;
    const struct series_options *options;
    int lock_fd;
    struct run_host *host;
    struct meter **meters; /* one a runner of the plan */
    struct machine machine;
    struct archive_writer *writer;
    struct programs *programs;
    struct identity *identity;
    struct request_set *requests;    /* of the profile that runs */
    size_t profile;                  /* its index */
    enum net_backend backend;        /* of its runs' networks, once one has run */
    enum net_backend pinned;         /* the only one that may be taken; AUTO: the profile says */
    struct net *leaving;             /* the last run's network; gone before the next run begins */
    char scratch[64];                /* folder of all runs, "" if none is needed */
    char scratch_run[80];            /* the one of a run: always the same path, made anew */
    uint64_t runs_done, runs_before; /* in the archive; when it was opened */
    struct sequence_next next;       /* where it goes on; passed once next.attempt is 0 */
    size_t unfit; /* profiles left out because their network was not what was asked */
    int64_t started_ns;
    struct series_progress progress;
    struct arena arena; /* as long as the series */
};

/*
 * Everything that runs need: the lock, the host, the meters, the archive. `plan`, `options` and
 * `lock_fd` (-1) are set. series_close is due after an error, too.
 */
int series_open(struct series *s, struct err *err);
void series_close(struct series *s);

/* Whether a signal asks for the end. */
bool series_interrupted(void);

/*
 * One step: pause, run, record. `attempt` is that of its block, from 1; `took_s` (may be NULL) gets
 * the time of it all, in seconds. A signal before the run ends it with nothing done, which is no
 * error.
 */
int series_step(struct series *s, const struct order_step *step, uint32_t attempt, double *took_s,
                struct err *err);

/*
 * After a whole block (a run of each variant): variants whose runs are too short to be seen are run
 * once more, traced. That run is none of the series; pairs stay back to back.
 */
int series_look_closer(struct series *s, enum sample_stage stage, uint64_t block, struct err *err);

/* One series never mixes back ends, and neither do a series and its repetition. */
void series_pin_backend(const struct series *s, struct net_request *q, struct arena *arena);

#endif
