/*
 * decode: what the decoders of the files share: text that outlives the JSON tree, names, and
 * members kept by byte order of their keys.
 *
 * Getters work as those of base/fields.h; what they store belongs to the arena.
 */
#ifndef ABBA_MODEL_DECODE_H
#define ABBA_MODEL_DECODE_H

#include "base/fields.h"
#include "base/strings.h"

/* A string. */
int decode_text(const struct fields *f, const char *key, enum fields_need need, struct arena *arena,
                const char **out, struct err *err);

/* The same where the key must be there: null gives NULL. */
int decode_text_or_null(const struct fields *f, const char *key, struct arena *arena,
                        const char **out, struct err *err);

/* A list of strings. */
int decode_strings(const struct fields *f, const char *key, enum fields_need need,
                   struct arena *arena, struct strings *out, struct err *err);

/* A percentage, as written and as a fraction. */
int decode_percent(const struct fields *f, const char *key, enum fields_need need,
                   struct arena *arena, const char **text, double *fraction, struct err *err);

/* An int within a range. */
int decode_int(const struct fields *f, const char *key, enum fields_need need, int min, int max,
               int *out, struct err *err);

/* A time within a range, ns. */
int decode_time(const struct fields *f, const char *key, enum fields_need need, int64_t min_ns,
                int64_t max_ns, int64_t *out, struct err *err);

/* Whether `name` may name a thing: a letter or digit, then those and . _ - up to 64 characters. */
bool decode_is_name(const char *name);

/* The same where names have folders: "flow/pingpong". */
bool decode_is_path_name(const char *name);

/* Refuses the member's key if it is not a name. `what` says of what, for the message. */
int decode_key_is_name(const struct fields *member, const char *what, struct err *err);

/*
 * Room for as many items as the list or object has members, or one: never NULL. *count is the
 * number of members.
 */
void *decode_room(const struct fields *f, struct arena *arena, size_t size, size_t *count);

/*
 * Sorts items whose first member is their name (const char *). JSON objects have no order; with
 * this one a copy of a file in a plan, whose keys are sorted, decodes to the same as the file.
 */
void decode_sort(void *items, size_t count, size_t size);

/* Says that `found` is not known, which is, and what may have been meant. Returns -1. */
int decode_unknown(const struct fields *f, struct err *err, const char *what, const char *found,
                   const struct strings *known);

#endif
