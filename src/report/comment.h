/*
 * comment: a Markdown report as a comment of limited size that can be found again.
 *
 * Pure: texts in, text out. A comment begins with a marker that no reader sees; by it the next one
 * finds the comment that it replaces. What does not fit is left out from the end on, whole lines
 * at a time, so that markup stays whole: the verdict stands first and goes last.
 */
#ifndef ABBA_REPORT_COMMENT_H
#define ABBA_REPORT_COMMENT_H

#include <stddef.h>

struct buf;

/* The least that a comment is given: marker, verdict and the line at the end fit. */
#define COMMENT_MIN_BYTES 1000

/* A line of a report that is longer is left out by itself. */
#define COMMENT_MAX_LINE 4000

/* Adds the marker of a name, which may be any text: "<!-- abba: NAME -->". */
void comment_marker(const char *name, struct buf *out);

/*
 * Adds the marker, as much of `markdown` as fits, and a line `end` (Markdown; it always stays):
 * at most `max` bytes, COMMENT_MIN_BYTES or more. `end` is at most 500 bytes long.
 */
void comment_make(const char *name, const char *markdown, size_t len, const char *end, size_t max,
                  struct buf *out);

#endif
