/*
 * execute: from a request for a plan to a printed report: what compare and run have in common.
 *
 * The series is written to an archive first; its report is computed by reading that archive. An
 * archive that nobody asked to keep lies in a temporary folder, which is gone when this returns.
 */
#ifndef ABBA_CLI_EXECUTE_H
#define ABBA_CLI_EXECUTE_H

#include "base/err.h"
#include "plan/plan.h"

#include <stdbool.h>

struct archive;
struct report;
struct resumption;
struct settings;

/* What is done with a report instead of printing it; returns the exit status or -1. */
typedef int execute_done(void *user, const struct report *now, const struct archive *a,
                         const char *folder, const char *digest, struct err *err);

struct execute_options {
    bool keep;          /* an archive is kept also without --archive */
    bool must_judge;    /* a series that judges nothing is incomplete */
    execute_done *done; /* in place of printing the report; NULL: print */
    void *user;
};

/*
 * Plans, and unless --plan was given runs, judges and prints. `request` has what only the
 * sub-command knows; the common options are filled in here. Returns an exit status or -1.
 */
int execute(struct settings *s, struct plan_request *request, const struct execute_options *options,
            struct err *err);

/*
 * Goes on with an archive that resume_open opened, or prints its plan (--plan), and judges and
 * prints the whole. Returns an exit status or -1.
 */
int execute_resume(struct settings *s, struct resumption *r, struct err *err);

/*
 * Runs one comparison of a lab: the plan into a new archive, or (`go_on`) what is left of it into
 * the one that is there. It is closed also where a signal ends it (*interrupted). `where` stands in
 * front of the progress. `like` (may be NULL): an archive with whose network back ends it is run.
 * Prints no report.
 */
int execute_comparison(struct settings *s, const struct plan *plan, const char *folder,
                       const char *where, const struct archive *like, bool go_on, bool *interrupted,
                       struct err *err);

/* A place that cannot be written to is told before the runs, not after them. */
int execute_check_output(const struct settings *s, struct err *err);

/* So is a key that cannot sign; `kept`: there will be an archive. */
int execute_check_key(const struct settings *s, bool kept, struct err *err);

/*
 * Runs the plan of the archive `like` (with programs found here) into a new archive, with the
 * network back ends that it had, and calls `done`. Returns what that returns, or -1.
 */
int execute_again(struct settings *s, const struct plan *plan, const struct archive *like,
                  execute_done *done, void *user, struct err *err);

/* The variants of --baseline and --candidate, the baseline first. ERR_USAGE. */
int variants_given(struct settings *s, struct strings *variants, struct err *err);

/* Prints a report in the format and to the place that the settings ask for; `a` is what it was
 * judged from, `archive` its folder if it is kept. */
int execute_print(const struct settings *s, const struct report *r, const struct archive *a,
                  const char *archive, const char *digest, struct err *err);

/*
 * Pairs that fit: `duration_ms` for each of `count` variants, when one run of each took `took_s`.
 * Even, 6 to 5000.
 */
int execute_fit_pairs(int64_t duration_ms, const double *took_s, size_t count);

#endif
