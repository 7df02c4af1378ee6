/*
 * series: runs a plan from the first run to the last, in order, and writes the archive.
 *
 * It owns signals, the host-wide lock, pauses, warm-ups and the confirming stage. It does not
 * judge: whether a profile needs its confirming stage is asked of the caller, who reads the
 * archive.
 */
#ifndef ABBA_SERIES_SERIES_H
#define ABBA_SERIES_SERIES_H

#include "base/err.h"
#include "model/plan.h"
#include "model/sample.h"

struct archive;
struct buf;
struct resumption;

/* What a person may want to see while it runs. */
struct series_progress {
    const struct plan *plan;
    const struct profile *profile;
    const struct variant *variant; /* that runs now */
    enum sample_stage stage;
    uint64_t pair, pairs;         /* of this profile and stage */
    uint64_t run, runs;           /* of the series; runs grows if a stage is added */
    uint64_t elapsed_ns, left_ns; /* left_ns is 0 while unknown */
    const struct sample *last;    /* the run before, or NULL */
};

struct series_options {
    const char *archive_folder;
    bool lock; /* wait for other series on this host */
    bool identify;
    bool temporary;     /* the archive is removed at the end */
    bool keep_programs; /* copies of all that ran; an archive that was begun so goes on so */
    void (*progress)(void *user, const struct series_progress *p);
    void (*note)(void *user, const char *text); /* waiting for the lock, ... */
    /* Whether the profile must be confirmed, from the archive so far: 1, 0, or -1 on error. */
    int (*needs_confirm)(void *user, const char *folder, const char *profile, struct err *err);
    /* compare: sets the pair count from the warm-up runs' wall times (s), before the plan is
     * sealed; NULL: fixed. */
    void (*fix_pairs)(void *user, struct plan *plan, const double *wall_s, size_t count);
    /* report.json for the archive as it stands; appended to `out`. */
    int (*report)(void *user, const char *folder, struct buf *out, struct err *err);
    void *user;
    /* The archive to go on with, opened by resume_open: `archive_folder` is its folder and the plan
     * its plan. NULL: a new archive. */
    struct resumption *resume;
    /* An archive whose runs' back ends of networks are to be had again, or NULL. */
    const struct archive *like;
};

struct series_result {
    bool interrupted;
    int signal;      /* that interrupted it */
    uint64_t runs;   /* in the archive */
    char digest[65]; /* of SHA256SUMS */
};

/*
 * Runs the series. A failing program does not end it. -1: abba itself could not go on (disk full,
 * zygote lost, lock refused); what was measured is on disk.
 */
int series_run(struct plan *plan, const struct series_options *options,
               struct series_result *result, struct err *err);

#endif
