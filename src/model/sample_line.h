/*
 * sample_line: strict decoding of a line of samples.jsonl by a cursor, without a tree.
 *
 * json_scan has accepted the text before. A reader consumes the value at the cursor and returns 0,
 * or says what is wrong, naming file, line and JSON path, and returns -1 (ERR_ARCHIVE).
 */
#ifndef ABBA_MODEL_SAMPLE_LINE_H
#define ABBA_MODEL_SAMPLE_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json_cursor.h"
#include "model/sample.h"

#define LINE_DEPTH 4 /* keys from the root to the deepest value */

struct line {
    struct json_cursor c;
    const struct sample_source *from;
    struct arena *arena; /* of all texts that are kept */
    struct err *err;
    struct json_text way[LINE_DEPTH]; /* keys that lead to the value at the cursor */
    size_t depth;
};

int line_fault(struct line *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int line_wrong_kind(struct line *d, const char *wanted);

/* Steps on the way to a value, for messages. */
void line_enter(struct line *d, const struct json_text *key);
void line_leave(struct line *d);

/* The text in the arena, or `shared` (may be NULL) itself if it is equal. */
const char *line_keep(struct line *d, const struct json_text *t, const char *shared);

int line_text(struct line *d, const char *shared, const char **out);
int line_text_or_null(struct line *d, const char *shared, const char **out);
int line_uint(struct line *d, uint64_t min, uint64_t max, uint64_t *out);
int line_uint32(struct line *d, uint32_t min, uint32_t *out);
int line_small(struct line *d, int max, int *out); /* 0..max */
int line_number(struct line *d, double *out);
int line_not_negative(struct line *d, double *out);
int line_bool(struct line *d, bool *out);
int line_sha256(struct line *d, char out[65]);
int line_time(struct line *d, const char **out); /* as clock_format_utc writes it */

/* One of `count` words; stores its place. */
int line_word(struct line *d, const char *const names[], size_t count, size_t *out);

/* An object with fixed keys, at most 32. */
struct line_shape {
    const char *const *keys;
    size_t count;
    uint32_t required; /* bit i: keys[i] must be there */
};

/* Reads the value of keys[key] into what `into` points to. */
typedef int line_member(struct line *d, size_t key, void *into);

int line_object(struct line *d, const struct line_shape *shape, line_member *member, void *into);

/* Makes room for one more item of `size` bytes in an arena's array. */
void *line_grow(struct arena *arena, void *items, size_t count, size_t *room, size_t size);

#endif
