/*
 * lab: several comparisons that a series file describes, run one after the other into one folder,
 * and reported together.
 *
 * Nothing is remembered but the folder: which comparisons are there, and whole, is read from their
 * archives, so the same command, or `abba resume`, goes on where an earlier one ended.
 */
#ifndef ABBA_CLI_LAB_H
#define ABBA_CLI_LAB_H

#include "archive/reader.h"
#include "model/lab_report.h"

struct settings;

/* `abba run --series`: plans, and unless --plan was given runs what is missing and reports.
 * Returns an exit status or -1. */
int lab_run(struct settings *s, struct err *err);

/* `abba resume` of a lab's folder: the same with the plans that are there. */
int lab_go_on(struct settings *s, const char *folder, struct err *err);

/* What is done with the lab's report instead of printing it; returns the exit status or -1. */
typedef int lab_done(void *user, const struct lab_archive *l, const struct lab_report *r,
                     const char *folder, const char *digest, struct err *err);

/* Runs all of a sealed lab into a new folder, comparison i with the network back ends of likes[i],
 * and calls `done`. Returns what that returns, or -1. */
int lab_run_again(struct settings *s, const struct lab *lab, const struct archive *const *likes,
                  lab_done *done, void *user, struct err *err);

/* `abba rerun` of a lab's folder. */
int lab_rerun(struct settings *s, const char *folder, struct err *err);

/* `abba report` of a lab's folder. */
int lab_report(struct settings *s, const char *folder, struct err *err);

/* The exit status of a lab: of its verdict. `must_judge`: 3 where nothing is judged, unless all
 * comparisons are A/A. */
int lab_status(const struct lab_report *r, bool must_judge);

#endif
