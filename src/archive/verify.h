/*
 * verify: whether an archive is whole: structure, checksums, plan hash, every run once and in
 * order.
 *
 * That report.json comes out of it again is checked by the caller, who knows judge/.
 */
#ifndef ABBA_ARCHIVE_VERIFY_H
#define ABBA_ARCHIVE_VERIFY_H

#include "archive/reader.h"

/*
 * 0: whole. -1 with ERR_ARCHIVE naming the first difference, or ERR_UNFINISHED
 * ("unfinished: 37 of 120 runs") for an archive without SHA256SUMS that is sound as far as it goes.
 * `digest` (64 hex digits, or NULL) is what SHA256SUMS must hash to. The archive was opened by
 * archive_open, which made the plan's hash again.
 */
int archive_verify(const struct archive *a, const char *digest, struct err *err);

/*
 * The same of a lab: each of its archives, and the lab's own files. A lab that was closed before
 * all comparisons had begun is whole as far as it goes.
 */
int lab_verify(const struct lab_archive *l, const char *digest, struct err *err);

/* 0: the plans and samples of what is closed are those that the lists of checksums name. */
int lab_check_sources(const struct lab_archive *l, struct err *err);

/* 0: the plan and the samples of a finished archive are those that SHA256SUMS lists, so that what
 * is computed from them belongs to its digest. ERR_ARCHIVE names the file that is not. */
int archive_check_sources(const struct archive *a, struct err *err);

#endif
