/*
 * names: what the files of an archive are called, and the number of its format.
 */
#ifndef ABBA_ARCHIVE_NAMES_H
#define ABBA_ARCHIVE_NAMES_H

/* "report" in series.json: which keys report.json may have, so that it can be made again byte for
 * byte. 1, where series.json has none: without tables of variants, CPU sets and regimes. */
#define ARCHIVE_REPORT_KEYS 2
#define ARCHIVE_FORMAT 1 /* "abba" in series.json; a change of keys or meaning raises it */

#define ARCHIVE_SERIES "series.json"
#define ARCHIVE_LOADED "loaded.json"
#define ARCHIVE_PROBES "probes.json"
#define ARCHIVE_SAMPLES "samples.jsonl"
#define ARCHIVE_REPORT "report.json"
/* The signature of SHA256SUMS, which cannot list it. */
#define ARCHIVE_SIGNATURE "SHA256SUMS.sig"
#define ARCHIVE_RAW "raw/"
#define ARCHIVE_PROGRAMS "programs/" /* --keep-programs: files that ran, named by their SHA-256 */
#define LAB_FILE "lab.json"

#endif
