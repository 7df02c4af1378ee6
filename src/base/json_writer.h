/*
 * json_writer: writes JSON straight into a buf, without a tree.
 *
 * Calls come in document order; a call out of place is a programming error. The buf is borrowed;
 * its `overflow` says whether everything fitted. Text that is not UTF-8 is repaired with U+FFFD.
 *
 *     struct json_writer w;
 *     jw_init(&w, &line, false);
 *     jw_object_begin(&w);
 *     jw_key(&w, "run"), jw_int(&w, 1);
 *     jw_object_end(&w);
 */
#ifndef ABBA_BASE_JSON_WRITER_H
#define ABBA_BASE_JSON_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define JSON_DOUBLE_TEXT 32

/*
 * The shortest of %.15g, %.16g, %.17g that reads back as the same double; integers below 2^53
 * print as integers. The value must be finite. Returns the length.
 */
size_t json_format_double(double value, char out[JSON_DOUBLE_TEXT]);

struct json_writer {
    struct buf *out;
    bool pretty;
    bool after_key;   /* a key was written, its value is due */
    unsigned depth;   /* open objects and arrays, at most 64 */
    uint64_t objects; /* bit d: what is open at depth d is an object */
    uint64_t filled;  /* bit d: it has a member already */
};

/* Starts a document at the end of `out`. `pretty` indents by two spaces. */
void jw_init(struct json_writer *w, struct buf *out, bool pretty);

void jw_object_begin(struct json_writer *w);
void jw_object_end(struct json_writer *w);
void jw_array_begin(struct json_writer *w);
void jw_array_end(struct json_writer *w);
void jw_key(struct json_writer *w, const char *key);

void jw_string(struct json_writer *w, const char *s); /* NULL writes null */
void jw_double(struct json_writer *w, double value);  /* inf and nan write null */
void jw_int(struct json_writer *w, int64_t value);    /* beyond 2^53: written as a string */
void jw_uint(struct json_writer *w, uint64_t value);  /* beyond 2^53: written as a string */
void jw_bool(struct json_writer *w, bool value);
void jw_null(struct json_writer *w);

/* A value that is JSON text already; the caller vouches for it. */
void jw_raw(struct json_writer *w, const char *json, size_t n);

/* Adds `s` as a JSON string with its quotes and minimal escapes to a buf. */
void json_quote(struct buf *out, const char *s, size_t n);

#endif
