/*
 * pattern: regular expressions, by PCRE2.
 *
 * Compiled for UTF with invalid UTF-8 tolerated (it never matches), ^ and $ at every line, any of
 * CR, LF, CRLF ending a line; JIT with a 1 MiB stack, limits on backtracking and heap, so that a
 * catastrophic pattern stops within milliseconds instead of hanging.
 */
#ifndef ABBA_BASE_PATTERN_H
#define ABBA_BASE_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct pattern;

/* A compiled pattern, to be freed; or NULL with ERR_CONFIG: what is wrong, at which column. */
struct pattern *pattern_new(const char *source, struct err *err);
void pattern_free(struct pattern *p); /* NULL is fine */

const char *pattern_source(const struct pattern *p);

/* The number of the named group, or -1. */
int pattern_group(const struct pattern *p, const char *name);
bool pattern_has_group(const struct pattern *p, const char *name);

#define PATTERN_GROUPS 16 /* groups whose spans are given, the whole match (0) included */

struct pattern_span {
    size_t start, end; /* bytes of the text; SIZE_MAX both: the group did not take part */
};

struct pattern_match {
    struct pattern_span group[PATTERN_GROUPS];
};

enum pattern_result { PATTERN_MATCH, PATTERN_NONE, PATTERN_GAVE_UP };

/*
 * The next match at or after *offset, which moves past it (an empty match too, so that a loop
 * ends). An offset of 0 begins a pass over a text. PATTERN_GAVE_UP: a limit was passed, and
 * nothing is known about the rest of the text.
 *
 *     size_t offset = 0;
 *     while ((r = pattern_next(p, text, len, &offset, &m)) == PATTERN_MATCH)
 *         ...
 */
enum pattern_result pattern_next(const struct pattern *p, const char *text, size_t len,
                                 size_t *offset, struct pattern_match *m);

/* Whether the text has a match at all. */
enum pattern_result pattern_search(const struct pattern *p, const char *text, size_t len);

/* Sets ERR_MEASURE "pattern 'SOURCE' gave up: it backtracks too much" with a hint. Returns -1. */
int pattern_gave_up(const struct pattern *p, struct err *err);

#endif
