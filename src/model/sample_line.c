#include "model/sample_line.h"

#include <stdarg.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

/* ---- complaints ---- */

__attribute__((format(printf, 2, 3))) int line_fault(struct line *d, const char *fmt, ...)
{
    struct buf path = BUF_INIT_MAX(300), what = BUF_INIT_MAX(400);
    va_list ap;

    buf_addch(&path, '$');
    for (size_t i = 0; i < d->depth; i++) {
        buf_addch(&path, '.');
        text_neutral(&path, d->way[i].data, d->way[i].len, 60);
    }
    va_start(ap, fmt);
    buf_vprintf(&what, fmt, ap);
    va_end(ap);
    err_set(d->err, ERR_ARCHIVE, "'%s' line %zu: %s: %s", d->from->file, d->from->line, path.data,
            what.data);
    buf_release(&path);
    buf_release(&what);
    return -1;
}

int line_wrong_kind(struct line *d, const char *wanted)
{
    return line_fault(d, "expected %s, found %s", wanted, json_kind_name(jc_kind(&d->c)));
}

void line_enter(struct line *d, const struct json_text *key)
{
    ABBA_ASSERT(d->depth < LINE_DEPTH);
    d->way[d->depth++] = *key;
}

void line_leave(struct line *d)
{
    d->depth--;
}

/* ---- single values ---- */

const char *line_keep(struct line *d, const struct json_text *t, const char *shared)
{
    if (shared && json_text_is(t, shared))
        return shared;
    if (!t->escaped)
        return arena_strndup(d->arena, t->data, t->len);

    struct buf plain = BUF_INIT;
    json_text_add(t, &plain);
    const char *kept = arena_strndup(d->arena, plain.data, plain.len);
    buf_release(&plain);
    return kept;
}

int line_text(struct line *d, const char *shared, const char **out)
{
    struct json_text t;

    if (!jc_string(&d->c, &t))
        return line_wrong_kind(d, "a string");
    *out = line_keep(d, &t, shared);
    return 0;
}

int line_text_or_null(struct line *d, const char *shared, const char **out)
{
    *out = NULL;
    if (jc_null(&d->c))
        return 0;
    return line_text(d, shared, out);
}

int line_uint(struct line *d, uint64_t min, uint64_t max, uint64_t *out)
{
    int64_t n;

    if (!jc_int(&d->c, &n))
        return line_wrong_kind(d, "an integer");
    if (n < 0 || (uint64_t)n < min || (uint64_t)n > max)
        return line_fault(d, "%lld is out of range", (long long)n);
    *out = (uint64_t)n;
    return 0;
}

int line_uint32(struct line *d, uint32_t min, uint32_t *out)
{
    uint64_t n = 0;

    if (line_uint(d, min, UINT32_MAX, &n) < 0)
        return -1;
    *out = (uint32_t)n;
    return 0;
}

int line_small(struct line *d, int max, int *out)
{
    uint64_t n = 0;

    if (line_uint(d, 0, (uint64_t)max, &n) < 0)
        return -1;
    *out = (int)n;
    return 0;
}

int line_number(struct line *d, double *out)
{
    return jc_double(&d->c, out) ? 0 : line_wrong_kind(d, "a number");
}

int line_not_negative(struct line *d, double *out)
{
    if (line_number(d, out) < 0)
        return -1;
    return *out >= 0 ? 0 : line_fault(d, "%g is negative", *out);
}

int line_bool(struct line *d, bool *out)
{
    return jc_bool(&d->c, out) ? 0 : line_wrong_kind(d, "true or false");
}

static bool is_hex_digit(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

int line_sha256(struct line *d, char out[65])
{
    struct json_text t;

    if (!jc_string(&d->c, &t))
        return line_wrong_kind(d, "a string");
    if (t.len != 64)
        return line_fault(d, "not a SHA-256");
    for (size_t i = 0; i < 64; i++)
        if (!is_hex_digit(t.data[i]))
            return line_fault(d, "not a SHA-256");
    memcpy(out, t.data, 64);
    out[64] = '\0';
    return 0;
}

int line_word(struct line *d, const char *const names[], size_t count, size_t *out)
{
    struct json_text t;

    if (!jc_string(&d->c, &t))
        return line_wrong_kind(d, "a string");
    for (size_t i = 0; i < count; i++) {
        if (json_text_is(&t, names[i])) {
            *out = i;
            return 0;
        }
    }
    return line_fault(d, "unknown word of %zu letters", t.len);
}

/* As clock_format_utc writes it: "2024-05-06T07:08:09.123Z". */
static bool is_utc_time(const char *text)
{
    static const char form[] = "0000-00-00T00:00:00.000Z";

    if (strlen(text) != sizeof form - 1)
        return false;
    for (size_t i = 0; form[i]; i++)
        if (form[i] == '0' ? text[i] < '0' || text[i] > '9' : text[i] != form[i])
            return false;
    return true;
}

int line_time(struct line *d, const char **out)
{
    if (line_text(d, NULL, out) < 0)
        return -1;
    return is_utc_time(*out) ? 0 : line_fault(d, "not a time such as 2024-05-06T07:08:09.123Z");
}

/* ---- objects with fixed keys ---- */

/* Keys nearly always come in the order of the table, so the next one is tried first. */
static size_t find_key(const struct line_shape *shape, const struct json_text *key, size_t guess)
{
    if (guess < shape->count && json_text_is(key, shape->keys[guess]))
        return guess;
    for (size_t i = 0; i < shape->count; i++)
        if (json_text_is(key, shape->keys[i]))
            return i;
    return shape->count;
}

int line_object(struct line *d, const struct line_shape *shape, line_member *member, void *into)
{
    struct json_text key;
    uint32_t seen = 0;
    size_t next = 0;

    if (!jc_enter_object(&d->c))
        return line_wrong_kind(d, "an object");
    while (jc_next_key(&d->c, &key)) {
        size_t i = find_key(shape, &key, next);

        line_enter(d, &key);
        if (i == shape->count)
            return line_fault(d, "unknown key");
        if (member(d, i, into) < 0)
            return -1;
        line_leave(d);
        seen |= (uint32_t)1 << i;
        next = i + 1;
    }
    for (size_t i = 0; i < shape->count; i++)
        if (shape->required & ~seen & ((uint32_t)1 << i))
            return line_fault(d, "key '%s' is missing", shape->keys[i]);
    return 0;
}

/* Makes room for one more item of `size` bytes in an arena's array. */
void *line_grow(struct arena *arena, void *items, size_t count, size_t *room, size_t size)
{
    if (count < *room)
        return items;
    *room = *room ? 2 * *room : 4;
    void *more = arena_array(arena, *room, size);
    if (count > 0)
        memcpy(more, items, count * size);
    return more;
}
