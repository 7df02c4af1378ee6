/*
 * report_shape: the JSON of structs that are reports. One table an object says its keys, in the
 * order in which they are written, and what each is in memory; writing and reading both walk it, so
 * they cannot differ.
 *
 * A table is made with OWNER defined as the struct:
 *
 *     #define OWNER report_worst
 *     static const struct member worst_members[] = {{"metric", KIND_TEXT, AT(metric), 0, NULL}};
 *     static const struct shape worst_shape = SHAPE(worst_members, report_worst);
 *     #undef OWNER
 */
#ifndef ABBA_MODEL_REPORT_SHAPE_H
#define ABBA_MODEL_REPORT_SHAPE_H

#include <stddef.h>

#include "base/err.h"

struct arena;
struct buf;
struct json;

enum kind {
    KIND_FORMAT,        /* the number of this format, 1; no member in memory */
    KIND_TEXT,          /* const char * */
    KIND_MAYBE,         /* const char *, NULL is null */
    KIND_SHA256,        /* char[65] */
    KIND_COUNT,         /* int, not negative */
    KIND_COUNT64,       /* uint64_t */
    KIND_BOOL,          /* bool */
    KIND_FIGURE,        /* double: NaN is null, infinities are the strings "inf" and "-inf" */
    KIND_RANGE,         /* two doubles one after the other: an array of two figures */
    KIND_VERDICT,       /* enum verdict */
    KIND_GRADE,         /* enum grade, none is null */
    KIND_MARK,          /* enum mark, none is null */
    KIND_BETTER,        /* enum metric_better */
    KIND_STRINGS,       /* struct strings */
    KIND_LIST,          /* pointer to structs, counted beside it */
    KIND_LIST_IF_ANY,   /* the same, left out where it is empty */
    KIND_OBJECT,        /* pointer to a struct, NULL is null */
    KIND_OBJECT_IF_ANY, /* the same, left out where it is NULL */
};

struct shape;

struct member {
    const char *key;
    enum kind kind;
    size_t offset;
    size_t count_offset;       /* KIND_LIST: of the size_t */
    const struct shape *items; /* KIND_LIST, KIND_OBJECT */
};

struct shape {
    const struct member *members;
    size_t count;
    size_t size; /* of the struct */
};

#define AT(field) offsetof(struct OWNER, field)
#define SHAPE(table, owner)                                                                        \
    {                                                                                              \
        table, sizeof table / sizeof *table, sizeof(struct owner)                                  \
    }

/* Appends the object with two spaces of indent, and a newline. */
void shape_write(const struct shape *shape, const void *object, struct buf *out);

/* Reads it into a zeroed struct. Everything belongs to the arena. ERR_ARCHIVE on a fault. */
int shape_read(const struct shape *shape, const struct json *root, const char *file, void *object,
               struct arena *arena, struct err *err);

#endif
