/*
 * mend: puts an archive whose series ended before its time into the state from which its writer
 * goes on.
 *
 * Nothing that was measured is thrown away. What a crash left half made is moved to raw/torn-N (the
 * end of samples.jsonl from the first line that does not count) and raw/torn-N-NAME (raw files that
 * belong to no line); N is 1 for the first such mending, 2 for the next. SHA256SUMS,
 * its signature and report.json of a series that was closed early are removed: they are made again.
 * Killed at any moment, the archive can be mended again.
 */
#ifndef ABBA_ARCHIVE_MEND_H
#define ABBA_ARCHIVE_MEND_H

#include "archive/folder.h"
#include "archive/reader.h"

/*
 * Number of samples whose raw files are all there in full length. After a power cut the last lines
 * may have reached the disk and their files not: only the lines before the first such one count.
 * ERR_ARCHIVE if a run from there on failed by itself, which can be neither kept nor run again.
 */
int mend_whole_samples(const struct archive *a, size_t *count, struct err *err);

/*
 * Mends. The caller holds the folder. What `a` has samples of stays; its other lines do not count.
 */
int mend_archive(const struct folder *f, const struct archive *a, struct err *err);

#endif
