/*
 * json_scan: is this text strict JSON, and if not, where is the fault?
 *
 * Grammar of RFC 8259, UTF-8 (no overlong forms, no surrogates), no duplicate keys, nesting of at
 * most `max_depth`, no \u0000, no lone surrogate escapes, numbers that a double holds, nothing but
 * white space after the value. Builds nothing.
 */
#ifndef ABBA_BASE_JSON_SCAN_H
#define ABBA_BASE_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

#define JSON_MAX_DEPTH 64
#define JSON_MAX_BYTES ((size_t)64 << 20)
#define JSON_MAX_NUMBER 63                  /* characters of one number, cJSON's limit */
#define JSON_MAX_INTEGER 9007199254740991LL /* 2^53 - 1: every integer up to it is exact */

struct json_rules {
    size_t max_bytes;   /* 0: JSON_MAX_BYTES */
    unsigned max_depth; /* 0: JSON_MAX_DEPTH, which is also the most */
    bool big_integers;  /* text of programs that are not ours: integers beyond 2^53 are rounded */
    size_t line;        /* number of the text's first line in its file; 0: 1 */
    enum err_code code; /* code of the errors; 0: ERR_CONFIG */
};

/* Returns 0, or -1 with a message like "'srt.json' line 3 column 7: ...". NULL rules: defaults. */
int json_scan(const char *text, size_t len, const char *name, const struct json_rules *rules,
              struct err *err);

#endif
