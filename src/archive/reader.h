/*
 * reader: an archive's plan, machine and runs, strictly read. judge/ and report/ see only this.
 *
 * An unfinished archive opens too (`finished` is false); a last line without its newline is
 * ignored and counted as torn. Anything else that does not fit is ERR_ARCHIVE, naming file and
 * line.
 *
 * Runs are kept in little memory (archive/compact.h), and asked for by functions. Who needs whole
 * samples has them read once more, one by one.
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

struct compact;

struct archive {
    const char *folder;
    const struct plan *plan;
    const struct machine *machine;
    const char *tool;        /* "abba 0.1.0" that made it */
    const char *started;     /* when series.json was written: UTC, ISO 8601 */
    bool has_tables;         /* its report has tables; one of an older abba has none */
    struct earlier *earlier; /* series of the same plan that lay beside it, the oldest first */
    size_t earlier_count;
    struct compact *compact;     /* the runs, in the order of the file */
    struct sample *samples;      /* whole ones that somebody made, without `compact`; or NULL */
    size_t sample_count;         /* of the runs */
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
int archive_open(struct archive **a, const char *folder, struct err *err);
void archive_close(struct archive *a); /* safe on NULL */

/* ---- its runs, 0 .. sample_count - 1 ---- */

#define ARCHIVE_FLOWS 2 /* directions that a network has at most */

/* A run without its figures. Texts are the archive's. */
struct archive_run {
    uint64_t run, pair;
    uint32_t slot, attempt;
    enum sample_stage stage;
    const char *variant, *profile;
    enum sample_status status;
    const char *error;
    const char *stderr_tail; /* of one of the first runs of its variant that failed, or NULL */
    bool nonzero_exit, program_changed;
    bool noisy; /* it passed a limit for noise of its profile */
    size_t metric_count;
    const char *backend; /* of its network, or NULL */
    size_t flow_count;
};

struct archive_run archive_run(const struct archive *a, size_t run);

/* Where the runs of a profile stand: from *first to before *end, others perhaps between them. */
void archive_span(const struct archive *a, const char *profile, size_t *first, size_t *end);

/* The back end of the networks of a profile's runs, as the first that tells has it; NULL: none
 * does. */
const char *archive_backend(const struct archive *a, const char *profile);

/* Its figure `m`. */
void archive_metric(const struct archive *a, size_t run, size_t m, struct sample_metric *out);

/* Its figure of that name, which is probably the one at `guess`. False: it has none. */
bool archive_find_metric(const struct archive *a, size_t run, const char *name, size_t guess,
                         struct sample_metric *out);

/* What packets met in a direction: link, offered to corrupted, and lateness. */
void archive_flow(const struct archive *a, size_t run, size_t flow, struct net_flow_proof *out);

/* Roles that runs have, each of a variant under a profile once, in the order of the runs. */
struct archive_role {
    const char *variant, *profile, *role;
};
size_t archive_role_count(const struct archive *a);
const struct archive_role *archive_role(const struct archive *a, size_t i);

/* Whether any run has raw files. */
bool archive_has_files(const struct archive *a);

/* Of a sample: the end of a role's standard error; whether it passed a limit of its profile. */
const char *archive_stderr_tail(const struct sample *s);
bool archive_is_noisy(const struct sample *s, const struct plan *plan);

/*
 * Reads the samples once more and shows each, whole, for the time of the call. Ends with the first
 * -1 of `visit`, which has set `err`.
 */
typedef int archive_visit(void *user, const struct sample *s, struct err *err);
int archive_each(const struct archive *a, archive_visit *visit, void *user, struct err *err);

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
int lab_open(struct lab_archive **l, const char *folder, struct err *err);
void lab_close(struct lab_archive *l); /* safe on NULL */

#endif
