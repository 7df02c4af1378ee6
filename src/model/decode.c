#include "model/decode.h"

#include "base/text.h"
#include "base/units.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_BYTES 64
#define PATH_NAME_MAX_BYTES 200

int decode_text(const struct fields *f, const char *key, enum fields_need need, struct arena *arena,
                const char **out, struct err *err)
{
    const char *text = NULL;

    if (fields_string(f, key, need, &text, err) < 0)
        return -1;
    if (text)
        *out = arena_strdup(arena, text);
    return 0;
}

int decode_text_or_null(const struct fields *f, const char *key, struct arena *arena,
                        const char **out, struct err *err)
{
    struct fields child;

    *out = NULL;
    if (fields_child(f, key, FIELDS_REQUIRED, &child, err) < 0)
        return -1;
    if (json_kind(child.value) == JSON_NULL)
        return 0;
    return decode_text(f, key, FIELDS_REQUIRED, arena, out, err);
}

int decode_strings(const struct fields *f, const char *key, enum fields_need need,
                   struct arena *arena, struct strings *out, struct err *err)
{
    const char *const *list = NULL;
    size_t count = 0;

    if (fields_string_list(f, key, need, arena, &list, &count, err) < 0)
        return -1;
    for (size_t i = 0; i < count; i++)
        strings_add(out, arena, arena_strdup(arena, list[i]));
    return 0;
}

int decode_percent(const struct fields *f, const char *key, enum fields_need need,
                   struct arena *arena, const char **text, double *fraction, struct err *err)
{
    if (fields_percent(f, key, need, fraction, err) < 0)
        return -1;
    return decode_text(f, key, need, arena, text, err);
}

int decode_int(const struct fields *f, const char *key, enum fields_need need, int min, int max,
               int *out, struct err *err)
{
    int64_t value = *out;

    if (fields_int(f, key, need, min, max, &value, err) < 0)
        return -1;
    *out = (int)value;
    return 0;
}

int decode_time(const struct fields *f, const char *key, enum fields_need need, int64_t min_ns,
                int64_t max_ns, int64_t *out, struct err *err)
{
    char low[UNITS_TEXT], high[UNITS_TEXT];
    struct fields at;

    if (!fields_has(f, key) && need == FIELDS_OPTIONAL)
        return 0;
    if (fields_time_ns(f, key, need, out, err) < 0)
        return -1;
    if (*out >= min_ns && *out <= max_ns)
        return 0;
    units_canonical_time(min_ns, low);
    units_canonical_time(max_ns, high);
    if (fields_child(f, key, need, &at, err) < 0)
        return -1;
    return fields_error(&at, err, "'%s' is out of range: allowed are %s to %s",
                        json_string(at.value), low, high);
}

/* ---- names ---- */

static bool name_char(char c)
{
    return isalnum((unsigned char)c) || c == '.' || c == '_' || c == '-';
}

bool decode_is_name(const char *name)
{
    size_t len = strlen(name);

    if (len == 0 || len > NAME_MAX_BYTES || !isalnum((unsigned char)name[0]))
        return false;
    for (size_t i = 0; i < len; i++)
        if (!name_char(name[i]))
            return false;
    return true;
}

bool decode_is_path_name(const char *name)
{
    size_t len = strlen(name);

    if (len == 0 || len > PATH_NAME_MAX_BYTES)
        return false;
    for (size_t i = 0; i < len; i++) {
        bool starts = i == 0 || name[i - 1] == '/';

        if (starts ? !isalnum((unsigned char)name[i]) : !name_char(name[i]) && name[i] != '/')
            return false;
    }
    return name[len - 1] != '/';
}

int decode_key_is_name(const struct fields *member, const char *what, struct err *err)
{
    if (decode_is_name(member->key))
        return 0;
    return fields_error(member, err,
                        "'%s' cannot name a %s: allowed are letters, digits, '.', '_' and '-', "
                        "beginning with a letter or digit, at most %d characters",
                        member->key, what, NAME_MAX_BYTES);
}

/* ---- lists ---- */

void *decode_room(const struct fields *f, struct arena *arena, size_t size, size_t *count)
{
    *count = f->value ? json_count(f->value) : 0;
    return arena_array(arena, *count ? *count : 1, size);
}

static int by_name(const void *a, const void *b)
{
    const char *x, *y;

    memcpy(&x, a, sizeof(x));
    memcpy(&y, b, sizeof(y));
    return strcmp(x, y);
}

void decode_sort(void *items, size_t count, size_t size)
{
    if (count > 1)
        qsort(items, count, size, by_name);
}

int decode_unknown(const struct fields *f, struct err *err, const char *what, const char *found,
                   const struct strings *known)
{
    const char *near = text_nearest(found, known->items, known->count);
    struct buf list = BUF_INIT_MAX(400);

    for (size_t i = 0; i < known->count; i++)
        if (buf_printf(&list, "%s'%s'", i ? ", " : "", known->items[i]) < 0)
            break;
    fields_error(f, err, "unknown %s '%s'; known: %s%s", what, found,
                 known->count ? list.data : "none", list.overflow ? " ..." : "");
    buf_release(&list);
    if (near)
        err_hint(err, "did you mean '%s'?", near);
    return -1;
}
