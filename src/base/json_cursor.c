#include "base/json_cursor.h"

#include <stdlib.h>
#include <string.h>

#include "base/swar.h"

void jc_init(struct json_cursor *c, const char *text, size_t len)
{
    *c = (struct json_cursor){.at = text, .end = text + len, .first = false};
}

static char peek(struct json_cursor *c)
{
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\n' || *c->at == '\r' || *c->at == '\t'))
        c->at++;
    return c->at < c->end ? *c->at : '\0';
}

enum json_kind jc_kind(struct json_cursor *c)
{
    switch (peek(c)) {
    case '{':
        return JSON_OBJECT;
    case '[':
        return JSON_ARRAY;
    case '"':
        return JSON_STRING;
    case 't':
    case 'f':
        return JSON_BOOL;
    case 'n':
        return JSON_NULL;
    default:
        return JSON_NUMBER;
    }
}

static bool enter(struct json_cursor *c, char open)
{
    if (peek(c) != open)
        return false;
    c->at++;
    c->first = true;
    return true;
}

/* Moves behind a comma, or behind the end. */
static bool next(struct json_cursor *c, char close)
{
    char ahead = peek(c);
    bool first = c->first;

    c->first = false;
    if (ahead == '\0')
        return false;
    if (ahead == close) {
        c->at++;
        return false;
    }
    if (!first)
        c->at++;
    return true;
}

bool jc_enter_object(struct json_cursor *c)
{
    return enter(c, '{');
}

bool jc_enter_array(struct json_cursor *c)
{
    return enter(c, '[');
}

bool jc_next_item(struct json_cursor *c)
{
    return next(c, ']');
}

bool jc_next_key(struct json_cursor *c, struct json_text *key)
{
    if (!next(c, '}') || !jc_string(c, key))
        return false;
    if (peek(c) == ':')
        c->at++;
    return true;
}

bool jc_string(struct json_cursor *c, struct json_text *out)
{
    if (peek(c) != '"')
        return false;
    const char *start = c->at + 1;
    const char *p = start;
    bool escaped = false;
    for (;;) {
        p = swar_plain(p, c->end);
        if (p >= c->end || *p == '"')
            break;
        if (*p == '\\') {
            escaped = true;
            p++;
        }
        p++;
    }
    if (p > c->end)
        p = c->end;
    *out = (struct json_text){start, (size_t)(p - start), escaped};
    c->at = p < c->end ? p + 1 : p;
    return true;
}

static const double powers_of_ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                       1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                       1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

static const char *number_end(const char *p, const char *end)
{
    while (p < end && ((*p >= '0' && *p <= '9') || *p == '.' || *p == '-' || *p == '+' ||
                       *p == 'e' || *p == 'E'))
        p++;
    return p;
}

static double slow_double(const char *p, const char *end)
{
    char copy[JSON_MAX_NUMBER + 1];
    size_t n = (size_t)(end - p);

    if (n > JSON_MAX_NUMBER)
        n = JSON_MAX_NUMBER;
    memcpy(copy, p, n);
    copy[n] = '\0';
    return strtod(copy, NULL);
}

/*
 * Digits that make an integer below 2^53, and a power of ten up to 22, are both exact doubles, so
 * one multiplication or division rounds correctly (Clinger 1990); anything else is for strtod.
 */
static double read_double(const char *p, const char *end)
{
    const char *start = p;
    bool negative = *p == '-';
    uint64_t m = 0;
    int places = 0;
    bool point = false;

    for (p += negative; p < end; p++) {
        if (*p == '.') {
            point = true;
            continue;
        }
        if (*p < '0' || *p > '9' || m > (uint64_t)JSON_MAX_INTEGER / 10 - 1)
            return slow_double(start, end);
        m = m * 10 + (uint64_t)(*p - '0');
        places += point;
    }
    if (places > 22)
        return slow_double(start, end);
    double value = (double)m / powers_of_ten[places];
    return negative ? -value : value;
}

bool jc_double(struct json_cursor *c, double *out)
{
    char ahead = peek(c);

    if (ahead != '-' && (ahead < '0' || ahead > '9'))
        return false;
    const char *end = number_end(c->at, c->end);
    *out = read_double(c->at, end);
    c->at = end;
    return true;
}

bool jc_int(struct json_cursor *c, int64_t *out)
{
    const char *start = c->at;
    double value;

    if (!jc_double(c, &value))
        return false;
    if (value < -(double)JSON_MAX_INTEGER || value > (double)JSON_MAX_INTEGER ||
        (double)(int64_t)value != value) {
        c->at = start;
        return false;
    }
    *out = (int64_t)value;
    return true;
}

bool jc_bool(struct json_cursor *c, bool *out)
{
    char ahead = peek(c);

    if (ahead != 't' && ahead != 'f')
        return false;
    *out = ahead == 't';
    c->at += *out ? 4 : 5;
    return true;
}

bool jc_null(struct json_cursor *c)
{
    if (peek(c) != 'n')
        return false;
    c->at += 4;
    return true;
}

static void skip_nested(struct json_cursor *c)
{
    struct json_text text;
    int depth = 0;

    while (c->at < c->end) {
        char ch = *c->at;
        if (ch == '"') {
            jc_string(c, &text);
            continue;
        }
        c->at++;
        if (ch == '{' || ch == '[')
            depth++;
        else if ((ch == '}' || ch == ']') && --depth == 0)
            break;
    }
}

void jc_skip(struct json_cursor *c, struct json_text *raw)
{
    struct json_text text;
    char ahead = peek(c);
    const char *start = c->at;

    if (ahead == '{' || ahead == '[')
        skip_nested(c);
    else if (ahead == '"')
        jc_string(c, &text);
    else if (ahead == 't' || ahead == 'n')
        c->at += 4;
    else if (ahead == 'f')
        c->at += 5;
    else
        c->at = number_end(c->at, c->end);
    if (raw != NULL)
        *raw = (struct json_text){start, (size_t)(c->at - start), false};
}

bool json_text_is(const struct json_text *t, const char *s)
{
    size_t len = strlen(s);

    if (!t->escaped)
        return t->len == len && memcmp(t->data, s, len) == 0;
    struct buf undone = BUF_INIT;
    json_undo_escapes(t->data, t->len, &undone);
    bool same = undone.len == len && memcmp(undone.data, s, len) == 0;
    buf_release(&undone);
    return same;
}

int json_text_add(const struct json_text *t, struct buf *out)
{
    return t->escaped ? json_undo_escapes(t->data, t->len, out) : buf_add(out, t->data, t->len);
}
