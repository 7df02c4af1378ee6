#include "model/report_shape.h"

#include "base/fields.h"
#include "base/json_writer.h"
#include "model/report.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#define FORMAT 1

/* Words of an enum whose first value is "none" and written as null. */
static const char *const grade_words[] = {NULL, "confirmed", "likely", "unsure"};
static const char *const mark_words[] = {NULL, "better", "worse"};

/* ---- writing ---- */

static void write_figure(struct json_writer *w, double figure)
{
    if (isinf(figure))
        jw_string(w, figure > 0 ? "inf" : "-inf");
    else
        jw_double(w, figure); /* NaN becomes null */
}

static void write_strings(struct json_writer *w, const struct strings *list)
{
    jw_array_begin(w);
    for (size_t i = 0; i < list->count; i++)
        jw_string(w, list->items[i]);
    jw_array_end(w);
}

static void write_range(struct json_writer *w, const double range[2])
{
    jw_array_begin(w);
    write_figure(w, range[0]);
    write_figure(w, range[1]);
    jw_array_end(w);
}

static void write_object(struct json_writer *w, const struct shape *shape, const void *object);

static void write_list(struct json_writer *w, const struct member *m, const char *owner)
{
    const char *items = *(const char *const *)(const void *)(owner + m->offset);
    size_t count = *(const size_t *)(const void *)(owner + m->count_offset);

    jw_array_begin(w);
    for (size_t i = 0; i < count; i++)
        write_object(w, m->items, items + i * m->items->size);
    jw_array_end(w);
}

static void write_member(struct json_writer *w, const struct member *m, const char *owner)
{
    const void *at = owner + m->offset;

    switch (m->kind) {
    case KIND_FORMAT:
        return jw_int(w, FORMAT);
    case KIND_TEXT:
    case KIND_MAYBE:
        return jw_string(w, *(const char *const *)at);
    case KIND_SHA256:
        return jw_string(w, at);
    case KIND_COUNT:
        return jw_int(w, *(const int *)at);
    case KIND_COUNT64:
        return jw_uint(w, *(const uint64_t *)at);
    case KIND_BOOL:
        return jw_bool(w, *(const bool *)at);
    case KIND_FIGURE:
        return write_figure(w, *(const double *)at);
    case KIND_RANGE:
        return write_range(w, at);
    case KIND_VERDICT:
        return jw_string(w, verdict_name(*(const enum verdict *)at));
    case KIND_GRADE:
        return jw_string(w, grade_words[*(const enum grade *)at]);
    case KIND_MARK:
        return jw_string(w, mark_words[*(const enum mark *)at]);
    case KIND_BETTER:
        return jw_string(w, metric_better_name(*(const enum metric_better *)at));
    case KIND_STRINGS:
        return write_strings(w, at);
    case KIND_LIST:
    case KIND_LIST_IF_ANY:
        return write_list(w, m, owner);
    case KIND_OBJECT:
    case KIND_OBJECT_IF_ANY:
        if (!*(const void *const *)at)
            return jw_null(w);
        return write_object(w, m->items, *(const void *const *)at);
    }
}

static bool is_optional(const struct member *m)
{
    return m->kind == KIND_LIST_IF_ANY || m->kind == KIND_OBJECT_IF_ANY;
}

static bool is_left_out(const struct member *m, const void *object)
{
    const char *at = object;

    if (m->kind == KIND_OBJECT_IF_ANY)
        return !*(const void *const *)(const void *)(at + m->offset);
    return m->kind == KIND_LIST_IF_ANY &&
           *(const size_t *)(const void *)(at + m->count_offset) == 0;
}

static void write_object(struct json_writer *w, const struct shape *shape, const void *object)
{
    jw_object_begin(w);
    for (size_t i = 0; i < shape->count; i++) {
        if (is_left_out(&shape->members[i], object))
            continue;
        jw_key(w, shape->members[i].key);
        write_member(w, &shape->members[i], object);
    }
    jw_object_end(w);
}

void shape_write(const struct shape *shape, const void *object, struct buf *out)
{
    struct json_writer w;

    jw_init(&w, out, true);
    write_object(&w, shape, object);
    buf_addch(out, '\n');
}

/* ---- reading ---- */

static int read_figure(const struct fields *f, double *out, struct err *err)
{
    enum json_kind kind = json_kind(f->value);

    if (kind == JSON_NULL) {
        *out = NAN;
        return 0;
    }
    if (kind != JSON_STRING)
        return fields_as_number(f, -DBL_MAX, DBL_MAX, out, err);
    if (strcmp(json_string(f->value), "inf") != 0 && strcmp(json_string(f->value), "-inf") != 0)
        return fields_error(f, err, "expected a number, null, \"inf\" or \"-inf\"");
    *out = json_string(f->value)[0] == '-' ? -INFINITY : INFINITY;
    return 0;
}

static int read_range(const struct fields *f, double range[2], struct err *err)
{
    struct fields item = {0};

    if (fields_as_array(f, err) < 0)
        return -1;
    if (json_count(f->value) != 2)
        return fields_error(f, err, "expected two figures, found %zu", json_count(f->value));
    for (size_t i = 0; fields_next(f, &item); i++)
        if (read_figure(&item, &range[i], err) < 0)
            return -1;
    return 0;
}

static int read_text(const struct fields *f, struct arena *arena, const char **out, struct err *err)
{
    if (fields_as_string(f, out, err) < 0)
        return -1;
    *out = arena_strdup(arena, *out);
    return 0;
}

static int read_strings(const struct fields *f, struct arena *arena, struct strings *out,
                        struct err *err)
{
    struct fields item = {0};
    const char *text;

    if (fields_as_array(f, err) < 0)
        return -1;
    while (fields_next(f, &item)) {
        if (read_text(&item, arena, &text, err) < 0)
            return -1;
        strings_add(out, arena, text);
    }
    return 0;
}

static int read_sha256(const struct fields *f, char out[65], struct err *err)
{
    const char *text;

    if (fields_as_string(f, &text, err) < 0)
        return -1;
    if (strlen(text) != 64 || strspn(text, "0123456789abcdef") != 64)
        return fields_error(f, err, "expected a SHA-256");
    memcpy(out, text, 65);
    return 0;
}

/* A word of a list whose first entry stands for null. */
static int read_word(const struct fields *f, const char *const words[], size_t count, int *out,
                     struct err *err)
{
    if (json_kind(f->value) == JSON_NULL) {
        *out = 0;
        return 0;
    }
    const char *text;
    if (fields_as_string(f, &text, err) < 0)
        return -1;
    for (size_t i = 1; i < count; i++) {
        if (strcmp(text, words[i]) == 0) {
            *out = (int)i;
            return 0;
        }
    }
    return fields_error(f, err, "unknown word");
}

static int read_verdict(const struct fields *f, enum verdict *out, struct err *err)
{
    const char *text;

    if (fields_as_string(f, &text, err) < 0)
        return -1;
    return verdict_parse(text, out) ? 0 : fields_error(f, err, "unknown verdict");
}

static int read_better(const struct fields *f, enum metric_better *out, struct err *err)
{
    const char *text;

    if (fields_as_string(f, &text, err) < 0)
        return -1;
    return metric_better_parse(text, out)
               ? 0
               : fields_error(f, err, "expected \"lower\" or \"higher\"");
}

static int read_object(const struct fields *f, const struct shape *shape, void *object,
                       struct arena *arena, struct err *err);

static int read_list(const struct fields *f, const struct member *m, char *owner,
                     struct arena *arena, struct err *err)
{
    struct fields item = {0};

    if (fields_as_array(f, err) < 0)
        return -1;

    size_t count = json_count(f->value), i = 0;
    char *items = arena_array(arena, count, m->items->size);
    for (; fields_next(f, &item); i++)
        if (read_object(&item, m->items, items + i * m->items->size, arena, err) < 0)
            return -1;
    *(char **)(void *)(owner + m->offset) = items;
    *(size_t *)(void *)(owner + m->count_offset) = count;
    return 0;
}

/* Reads an integer into an `int`, a `uint64_t` or, for the format's number, nowhere. */
static int read_count(const struct fields *f, enum kind kind, void *at, struct err *err)
{
    int64_t n;

    if (fields_as_int(f, 0, kind == KIND_COUNT ? INT_MAX : JSON_MAX_INTEGER, &n, err) < 0)
        return -1;
    if (kind == KIND_FORMAT)
        return n == FORMAT ? 0 : fields_error(f, err, "format %lld is not known", (long long)n);
    if (kind == KIND_COUNT)
        *(int *)at = (int)n;
    else
        *(uint64_t *)at = (uint64_t)n;
    return 0;
}

static int read_member(const struct fields *f, const struct member *m, char *owner,
                       struct arena *arena, struct err *err)
{
    void *at = owner + m->offset;
    int word = 0;

    switch (m->kind) {
    case KIND_FORMAT:
    case KIND_COUNT:
    case KIND_COUNT64:
        return read_count(f, m->kind, at, err);
    case KIND_MAYBE:
        if (json_kind(f->value) == JSON_NULL)
            return 0;
        return read_text(f, arena, at, err);
    case KIND_TEXT:
        return read_text(f, arena, at, err);
    case KIND_SHA256:
        return read_sha256(f, at, err);
    case KIND_BOOL:
        return fields_as_bool(f, at, err);
    case KIND_FIGURE:
        return read_figure(f, at, err);
    case KIND_RANGE:
        return read_range(f, at, err);
    case KIND_VERDICT:
        return read_verdict(f, at, err);
    case KIND_GRADE:
        if (read_word(f, grade_words, sizeof grade_words / sizeof *grade_words, &word, err) < 0)
            return -1;
        *(enum grade *)at = (enum grade)word;
        return 0;
    case KIND_MARK:
        if (read_word(f, mark_words, sizeof mark_words / sizeof *mark_words, &word, err) < 0)
            return -1;
        *(enum mark *)at = (enum mark)word;
        return 0;
    case KIND_BETTER:
        return read_better(f, at, err);
    case KIND_STRINGS:
        return read_strings(f, arena, at, err);
    case KIND_LIST:
    case KIND_LIST_IF_ANY:
        return read_list(f, m, owner, arena, err);
    case KIND_OBJECT:
    case KIND_OBJECT_IF_ANY:
        if (json_kind(f->value) == JSON_NULL)
            return 0;
        *(void **)at = arena_alloc(arena, m->items->size);
        return read_object(f, m->items, *(void **)at, arena, err);
    }
    return -1;
}

static int read_object(const struct fields *f, const struct shape *shape, void *object,
                       struct arena *arena, struct err *err)
{
    const char *keys[40];

    ABBA_ASSERT(shape->count < sizeof keys / sizeof *keys);
    for (size_t i = 0; i < shape->count; i++)
        keys[i] = shape->members[i].key;
    keys[shape->count] = NULL;
    if (fields_as_object(f, err) < 0 || fields_known(f, keys, err) < 0)
        return -1;
    for (size_t i = 0; i < shape->count; i++) {
        struct fields child = {0};

        if (is_optional(&shape->members[i]) && !fields_has(f, keys[i]))
            continue;
        if (fields_child(f, keys[i], FIELDS_REQUIRED, &child, err) < 0 ||
            read_member(&child, &shape->members[i], object, arena, err) < 0)
            return -1;
    }
    return 0;
}

int shape_read(const struct shape *shape, const struct json *root, const char *file, void *object,
               struct arena *arena, struct err *err)
{
    struct fields f;

    if (fields_init(&f, file, root, err) < 0 || read_object(&f, shape, object, arena, err) < 0) {
        err->code = ERR_ARCHIVE;
        return -1;
    }
    return 0;
}
