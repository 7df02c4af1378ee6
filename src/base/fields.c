#include "base/fields.h"

#include <stdio.h>
#include <string.h>

#include "base/json_writer.h"
#include "base/text.h"
#include "base/units.h"

/* ---- where, and what ---- */

void fields_path(const struct fields *f, struct buf *out)
{
    if (f->parent == NULL) {
        buf_addch(out, '$');
        return;
    }
    fields_path(f->parent, out);
    if (f->key == NULL) {
        buf_printf(out, "[%zu]", f->index);
        return;
    }
    buf_addch(out, '.');
    text_neutral(out, f->key, strlen(f->key), 80);
}

int fields_error(const struct fields *f, struct err *err, const char *fmt, ...)
{
    struct buf path = BUF_INIT;
    char what[sizeof err->msg];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    fields_path(f, &path);
    err_set(err, ERR_CONFIG, "'%s': %.300s: %s", f->file, path.data, what);
    buf_release(&path);
    return -1;
}

/* What stands there, short enough for a message. */
static void describe(const struct json *j, struct buf *out)
{
    char number[JSON_DOUBLE_TEXT];

    switch (json_kind(j)) {
    case JSON_STRING:
        buf_addstr(out, "\"");
        text_neutral(out, json_string(j), strlen(json_string(j)), 60);
        buf_addstr(out, "\"");
        break;
    case JSON_NUMBER:
        json_format_double(json_number(j), number);
        buf_addstr(out, number);
        break;
    case JSON_BOOL:
        buf_addstr(out, json_bool(j) ? "true" : "false");
        break;
    case JSON_NULL:
        buf_addstr(out, "null");
        break;
    default:
        buf_printf(out, "an %s", json_kind_name(json_kind(j)));
    }
}

static int unexpected(const struct fields *f, const char *wanted, struct err *err)
{
    struct buf found = BUF_INIT;

    describe(f->value, &found);
    fields_error(f, err, "found %s, expected %s", found.data, wanted);
    buf_release(&found);
    return -1;
}

static void add_list(struct buf *out, const char *const names[])
{
    for (size_t i = 0; names[i] != NULL; i++)
        buf_printf(out, "%s%s", i > 0 ? ", " : "", names[i]);
}

static void offer_nearest(const char *word, const char *const names[], struct err *err)
{
    size_t count = 0;

    while (names[count] != NULL)
        count++;
    const char *nearest = text_nearest(word, names, count);
    if (nearest != NULL)
        err_hint(err, "did you mean \"%s\"?", nearest);
}

/* ---- walking ---- */

int fields_init(struct fields *f, const char *file, const struct json *root, struct err *err)
{
    *f = (struct fields){.value = root, .file = file};
    return fields_as_object(f, err);
}

static int unknown_key(const struct fields *f, const char *key, const char *const keys[],
                       struct err *err)
{
    struct buf allowed = BUF_INIT;
    struct buf shown = BUF_INIT;

    add_list(&allowed, keys);
    text_neutral(&shown, key, strlen(key), 60);
    fields_error(f, err, "unknown key \"%s\" (allowed: %s)", shown.data, allowed.data);
    offer_nearest(key, keys, err);
    buf_release(&shown);
    buf_release(&allowed);
    return -1;
}

static bool is_listed(const char *word, const char *const names[])
{
    for (; *names != NULL; names++) {
        if (strcmp(word, *names) == 0)
            return true;
    }
    return false;
}

int fields_known(const struct fields *f, const char *const keys[], struct err *err)
{
    if (f->value == NULL)
        return 0;
    for (const struct json *j = json_first(f->value); j != NULL; j = json_next(j)) {
        if (!is_listed(json_key(j), keys))
            return unknown_key(f, json_key(j), keys, err);
    }
    return 0;
}

bool fields_has(const struct fields *f, const char *key)
{
    return f->value != NULL && json_get(f->value, key) != NULL;
}

bool fields_next(const struct fields *f, struct fields *item)
{
    bool first = item->value == NULL;
    const struct json *j = f->value;

    if (j != NULL)
        j = first ? json_first(j) : json_next(item->value);
    if (j == NULL)
        return false;
    size_t index = first ? 0 : item->index + 1;
    bool member = json_kind(f->value) == JSON_OBJECT;
    *item = (struct fields){j, f, member ? json_key(j) : NULL, index, f->file};
    return true;
}

int fields_child(const struct fields *f, const char *key, enum fields_need need, struct fields *out,
                 struct err *err)
{
    const struct json *j = f->value != NULL ? json_get(f->value, key) : NULL;

    *out = (struct fields){j, f, key, 0, f->file};
    if (j == NULL && need == FIELDS_REQUIRED)
        return fields_error(f, err, "key \"%s\" is missing", key);
    return 0;
}

int fields_object(const struct fields *f, const char *key, enum fields_need need,
                  struct fields *out, struct err *err)
{
    if (fields_child(f, key, need, out, err) < 0)
        return -1;
    return out->value != NULL ? fields_as_object(out, err) : 0;
}

int fields_array(const struct fields *f, const char *key, enum fields_need need, struct fields *out,
                 struct err *err)
{
    if (fields_child(f, key, need, out, err) < 0)
        return -1;
    return out->value != NULL ? fields_as_array(out, err) : 0;
}

/* ---- values ---- */

int fields_as_object(const struct fields *f, struct err *err)
{
    return json_kind(f->value) == JSON_OBJECT ? 0 : unexpected(f, "an object", err);
}

int fields_as_array(const struct fields *f, struct err *err)
{
    return json_kind(f->value) == JSON_ARRAY ? 0 : unexpected(f, "a list", err);
}

int fields_as_string(const struct fields *f, const char **out, struct err *err)
{
    if (json_kind(f->value) != JSON_STRING)
        return unexpected(f, "a string", err);
    *out = json_string(f->value);
    return 0;
}

int fields_as_bool(const struct fields *f, bool *out, struct err *err)
{
    if (json_kind(f->value) != JSON_BOOL)
        return unexpected(f, "true or false", err);
    *out = json_bool(f->value);
    return 0;
}

int fields_as_int(const struct fields *f, int64_t min, int64_t max, int64_t *out, struct err *err)
{
    char wanted[96];
    int64_t value;

    if (json_integer(f->value, &value) && value >= min && value <= max) {
        *out = value;
        return 0;
    }
    if (max >= JSON_MAX_INTEGER && min <= -JSON_MAX_INTEGER)
        snprintf(wanted, sizeof wanted, "an integer");
    else if (max >= JSON_MAX_INTEGER)
        snprintf(wanted, sizeof wanted, "an integer of at least %lld", (long long)min);
    else
        snprintf(wanted, sizeof wanted, "an integer from %lld to %lld", (long long)min,
                 (long long)max);
    return unexpected(f, wanted, err);
}

int fields_as_number(const struct fields *f, double min, double max, double *out, struct err *err)
{
    char wanted[96];

    if (json_kind(f->value) == JSON_NUMBER && json_number(f->value) >= min &&
        json_number(f->value) <= max) {
        *out = json_number(f->value);
        return 0;
    }
    snprintf(wanted, sizeof wanted, "a number from %g to %g", min, max);
    return unexpected(f, wanted, err);
}

static int as_choice(const struct fields *f, const char *const names[], int *out, struct err *err)
{
    const char *word = "";
    struct buf wanted = BUF_INIT;

    if (json_kind(f->value) == JSON_STRING)
        word = json_string(f->value);
    for (int i = 0; names[i] != NULL; i++) {
        if (strcmp(word, names[i]) == 0 && json_kind(f->value) == JSON_STRING) {
            *out = i;
            return 0;
        }
    }
    buf_addstr(&wanted, "one of: ");
    add_list(&wanted, names);
    unexpected(f, wanted.data, err);
    offer_nearest(word, names, err);
    buf_release(&wanted);
    return -1;
}

static int as_string_list(const struct fields *f, struct arena *arena, const char *const **out,
                          size_t *count, struct err *err)
{
    struct fields item = {0};
    size_t n = 0;

    if (fields_as_array(f, err) < 0)
        return -1;
    const char **list = arena_array(arena, json_count(f->value) + 1, sizeof *list);
    while (fields_next(f, &item)) {
        if (fields_as_string(&item, &list[n++], err) < 0)
            return -1;
    }
    *out = list;
    *count = n;
    return 0;
}

/* ---- values by key ---- */

/* The child at `key`: 1 if it is there, 0 if it is absent and may be, -1 if it is missing. */
static int find(const struct fields *f, const char *key, enum fields_need need,
                struct fields *child, struct err *err)
{
    if (fields_child(f, key, need, child, err) < 0)
        return -1;
    return child->value != NULL;
}

int fields_string(const struct fields *f, const char *key, enum fields_need need, const char **out,
                  struct err *err)
{
    struct fields child;
    int there = find(f, key, need, &child, err);

    return there > 0 ? fields_as_string(&child, out, err) : there;
}

int fields_int(const struct fields *f, const char *key, enum fields_need need, int64_t min,
               int64_t max, int64_t *out, struct err *err)
{
    struct fields child;
    int there = find(f, key, need, &child, err);

    return there > 0 ? fields_as_int(&child, min, max, out, err) : there;
}

int fields_bool(const struct fields *f, const char *key, enum fields_need need, bool *out,
                struct err *err)
{
    struct fields child;
    int there = find(f, key, need, &child, err);

    return there > 0 ? fields_as_bool(&child, out, err) : there;
}

int fields_choice(const struct fields *f, const char *key, enum fields_need need,
                  const char *const names[], int *out, struct err *err)
{
    struct fields child;
    int there = find(f, key, need, &child, err);

    return there > 0 ? as_choice(&child, names, out, err) : there;
}

int fields_string_list(const struct fields *f, const char *key, enum fields_need need,
                       struct arena *arena, const char *const **out, size_t *count, struct err *err)
{
    struct fields child;
    int there = find(f, key, need, &child, err);

    return there > 0 ? as_string_list(&child, arena, out, count, err) : there;
}

/* ---- quantities by key ---- */

/* As find; stores the text of the quantity, which is a string. */
static int find_quantity(const struct fields *f, const char *key, enum fields_need need,
                         const char *example, struct fields *child, const char **text,
                         struct err *err)
{
    char wanted[96];
    int there = find(f, key, need, child, err);

    if (there <= 0)
        return there;
    if (json_kind(child->value) != JSON_STRING) {
        snprintf(wanted, sizeof wanted, "a string with its unit, like \"%s\"", example);
        return unexpected(child, wanted, err);
    }
    *text = json_string(child->value);
    return 1;
}

/* What base/units says of a quantity does not name the place. */
static int with_place(const struct fields *f, struct err *err)
{
    struct buf path = BUF_INIT;

    fields_path(f, &path);
    err_wrap(err, "'%s': %.300s", f->file, path.data);
    buf_release(&path);
    return -1;
}

int fields_time_ns(const struct fields *f, const char *key, enum fields_need need, int64_t *out,
                   struct err *err)
{
    struct fields child;
    const char *text;
    int there = find_quantity(f, key, need, "20ms", &child, &text, err);

    if (there <= 0)
        return there;
    return units_parse_time(text, out, err) < 0 ? with_place(&child, err) : 0;
}

int fields_rate_bps(const struct fields *f, const char *key, enum fields_need need, uint64_t *out,
                    struct err *err)
{
    struct fields child;
    const char *text;
    int there = find_quantity(f, key, need, "320Mbit/s", &child, &text, err);

    if (there <= 0)
        return there;
    return units_parse_rate(text, out, err) < 0 ? with_place(&child, err) : 0;
}

int fields_size_bytes(const struct fields *f, const char *key, enum fields_need need, uint64_t *out,
                      struct err *err)
{
    struct fields child;
    const char *text;
    int there = find_quantity(f, key, need, "16MiB", &child, &text, err);

    if (there <= 0)
        return there;
    return units_parse_size(text, out, err) < 0 ? with_place(&child, err) : 0;
}

int fields_percent(const struct fields *f, const char *key, enum fields_need need, double *out,
                   struct err *err)
{
    struct fields child;
    const char *text;
    int there = find_quantity(f, key, need, "10%", &child, &text, err);

    if (there <= 0)
        return there;
    return units_parse_percent(text, out, err) < 0 ? with_place(&child, err) : 0;
}
