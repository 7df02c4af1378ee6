/*
 * lab_writer: the files of a lab's folder beside its archives.
 *
 * lab.json comes first and is never changed. SHA256SUMS names lab.json, report.json and the
 * SHA256SUMS of every archive that has one, so that it vouches for all files below. It is not there
 * while comparisons run.
 */
#ifndef ABBA_ARCHIVE_LAB_WRITER_H
#define ABBA_ARCHIVE_LAB_WRITER_H

#include "base/err.h"
#include "model/lab.h"

/* Makes the folder, and lab.json in it. ERR_USAGE where a lab is there already. ERR_SYSTEM. */
int lab_begin(const char *folder, const struct lab *lab, struct err *err);

/* Keeps other abbas from running it, until *fd is closed. ERR_USAGE where another one does. */
int lab_hold(const char *folder, int *fd, struct err *err);

/* Takes SHA256SUMS and its signature away: comparisons will be added. */
int lab_reopen(const char *folder, struct err *err);

/* Writes report.json and SHA256SUMS; `digest` gets the latter's SHA-256. */
int lab_finish(const char *folder, const struct lab *lab, const char *report, size_t report_len,
               char digest[65], struct err *err);

#endif
