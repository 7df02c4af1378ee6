/*
 * reader: an archive's plan, machine and samples, strictly read. judge/ and report/ see only this.
 *
 * An unfinished archive opens too (`finished` is false); a last line without its newline is
 * ignored and counted as torn. Anything else that does not fit is ERR_ARCHIVE, naming file and
 * line.
 *
 * Roles are what judge/ and report/ need least and what takes the most room in a long series:
 * whoever opens an archive says whose roles are kept.
 */
#ifndef ABBA_ARCHIVE_READER_H
#define ABBA_ARCHIVE_READER_H

#include "base/err.h"
#include "model/lab.h"
#include "model/loaded.h"
#include "model/earlier.h"
#include "model/machine.h"
#include "model/plan.h"
#include "model/probes.h"
#include "model/sample.h"

/* Of which runs the roles are kept: of those that did not end well, or of all. */
enum archive_roles { ROLES_OF_FAILED, ROLES_OF_ALL };

struct archive {
    const char *folder;
    const struct plan *plan;
    const struct machine *machine;
    const char *tool;        /* "abba 0.1.0" that made it */
    const char *started;     /* when series.json was written: UTC, ISO 8601 */
    struct earlier *earlier; /* series of the same plan that lay beside it, the oldest first */
    size_t earlier_count;
    struct sample *samples; /* in the order of the file */
    size_t sample_count;
    enum archive_roles roles;    /* those that the samples have */
    bool finished;               /* SHA256SUMS is there */
    bool torn;                   /* the last line of samples.jsonl had no newline */
    char digest[65];             /* SHA-256 of SHA256SUMS, "" if unfinished */
    const struct loaded *loaded; /* what really ran; NULL: nothing was recorded */
    const struct probes *probes; /* of the profiles' networks; NULL: none was probed */
    const char *report;          /* text of report.json, NULL if there is none */
    size_t report_len;
};

/*
 * Opens and reads a whole archive; the plan's hash is made again and compared. ERR_ARCHIVE if it is
 * damaged or none, ERR_UNFINISHED if it ended before its plan was written.
 */
int archive_open(struct archive **a, const char *folder, enum archive_roles roles, struct err *err);
void archive_close(struct archive *a); /* safe on NULL */

/* The folder of a lab: an archive a comparison, and the plans of all. */
struct lab_archive {
    const char *folder;
    const struct lab *lab;
    struct archive **archives; /* one a comparison; NULL: it has not begun */
    bool finished;             /* SHA256SUMS is there */
    char digest[65];           /* SHA-256 of SHA256SUMS, "" if unfinished */
    const char *report;        /* text of report.json, NULL if there is none */
    size_t report_len;
};

/* Whether the folder is that of a lab; false also for what is not there. */
bool lab_is_one(const char *folder);

/*
 * Opens a lab and all archives that it has. An archive of another plan than lab.json gives for its
 * comparison is ERR_ARCHIVE, as is anything damaged.
 */
int lab_open(struct lab_archive **l, const char *folder, enum archive_roles roles, struct err *err);
void lab_close(struct lab_archive *l); /* safe on NULL */

#endif
