/*
 * fields: strict decoding of the objects of a file.
 *
 * A `struct fields` is a value of the file's tree together with the way that led there, so that
 * every complaint names the file, the JSON path ($.roles.sender.after[0]), what was found and what
 * is allowed. Everything is borrowed: file name, tree, parents. All errors are ERR_CONFIG.
 *
 * A getter stores into `out` only if the key is there: put the default into `out` beforehand. An
 * absent key is an error with FIELDS_REQUIRED, and 0 with FIELDS_OPTIONAL.
 */
#ifndef ABBA_BASE_FIELDS_H
#define ABBA_BASE_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"

struct fields {
    const struct json *value; /* the object, list or item; NULL where an optional one is absent */
    const struct fields *parent; /* NULL at the root */
    const char *key;             /* its key in the parent, NULL for the root or an item of a list */
    size_t index;                /* its place in a list */
    const char *file;            /* for messages */
};

enum fields_need { FIELDS_OPTIONAL, FIELDS_REQUIRED };

/* The root of a file, which must be an object. */
int fields_init(struct fields *f, const char *file, const struct json *root, struct err *err);

/* Refuses keys that are not in the NULL-terminated list: names the nearest and all allowed ones. */
int fields_known(const struct fields *f, const char *const keys[], struct err *err);

bool fields_has(const struct fields *f, const char *key);

/*
 * Visits the items of a list or the members of an object with free keys, in order:
 *     struct fields item = {0};
 *     while (fields_next(&list, &item)) ...
 * An absent optional list has no items.
 */
bool fields_next(const struct fields *f, struct fields *item);

/* The value of a key, of any kind; out->value is NULL if it is absent and optional. */
int fields_child(const struct fields *f, const char *key, enum fields_need need, struct fields *out,
                 struct err *err);
int fields_object(const struct fields *f, const char *key, enum fields_need need,
                  struct fields *out, struct err *err);
int fields_array(const struct fields *f, const char *key, enum fields_need need, struct fields *out,
                 struct err *err);

/* Borrowed from the tree. */
int fields_string(const struct fields *f, const char *key, enum fields_need need, const char **out,
                  struct err *err);
int fields_int(const struct fields *f, const char *key, enum fields_need need, int64_t min,
               int64_t max, int64_t *out, struct err *err);
int fields_bool(const struct fields *f, const char *key, enum fields_need need, bool *out,
                struct err *err);

/* One of the NULL-terminated names; stores its place in the list. */
int fields_choice(const struct fields *f, const char *key, enum fields_need need,
                  const char *const names[], int *out, struct err *err);

/* A list of strings, as a NULL-terminated array in the arena; strings borrowed from the tree. */
int fields_string_list(const struct fields *f, const char *key, enum fields_need need,
                       struct arena *arena, const char *const **out, size_t *count,
                       struct err *err);

/* Quantities: strings with a unit (units.h). */
int fields_time_ns(const struct fields *f, const char *key, enum fields_need need, int64_t *out,
                   struct err *err);
int fields_rate_bps(const struct fields *f, const char *key, enum fields_need need, uint64_t *out,
                    struct err *err);
int fields_size_bytes(const struct fields *f, const char *key, enum fields_need need, uint64_t *out,
                      struct err *err);
/* "10%" gives 0.1: strtod of the number, divided by 100. */
int fields_percent(const struct fields *f, const char *key, enum fields_need need, double *out,
                   struct err *err);

/* The same for a value itself, such as an item of a list. */
int fields_as_object(const struct fields *f, struct err *err);
int fields_as_array(const struct fields *f, struct err *err);
int fields_as_string(const struct fields *f, const char **out, struct err *err);
int fields_as_int(const struct fields *f, int64_t min, int64_t max, int64_t *out, struct err *err);
int fields_as_number(const struct fields *f, double min, double max, double *out, struct err *err);
int fields_as_bool(const struct fields *f, bool *out, struct err *err);

/* A complaint of the caller's about this value: "'FILE': PATH: ...". Returns -1. */
int fields_error(const struct fields *f, struct err *err, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Adds the JSON path of the value. */
void fields_path(const struct fields *f, struct buf *out);

#endif
