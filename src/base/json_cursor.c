#include "base/json_cursor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_escapes.h"
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

static const uint64_t powers_of_ten[] = {1,
                                         10,
                                         100,
                                         1000,
                                         10000,
                                         100000,
                                         1000000,
                                         10000000,
                                         100000000,
                                         1000000000,
                                         10000000000,
                                         100000000000,
                                         1000000000000,
                                         10000000000000,
                                         100000000000000,
                                         1000000000000000,
                                         10000000000000000,
                                         100000000000000000,
                                         1000000000000000000};

#define MOST_PLACES 18

/*
 * m / 10^places, correctly rounded. Where m is an exact double so is 10^places, and one division
 * rounds correctly (Clinger 1990). Otherwise m has 54 bits or more and m * 2^64 / 10^places at
 * least 58, which is enough to round by hand: to 53 bits, ties to even.
 */
static double divided(uint64_t m, int places)
{
    const uint64_t divisor = powers_of_ten[places];

    if (m <= 1ULL << 53)
        return (double)m / (double)divisor;
    unsigned __int128 scaled = (unsigned __int128)m << 64;
    unsigned __int128 quotient = scaled / divisor;
    bool exact = quotient * divisor == scaled;
    int bits = quotient >> 64 != 0 ? 128 - __builtin_clzll((uint64_t)(quotient >> 64))
                                   : 64 - __builtin_clzll((uint64_t)quotient);
    int shift = bits - 53;
    unsigned __int128 half = (unsigned __int128)1 << (shift - 1);
    unsigned __int128 rest = quotient & (2 * half - 1);
    uint64_t f = (uint64_t)(quotient >> shift);
    if (rest > half || (rest == half && (!exact || (f & 1) != 0)))
        f++;
    return ldexp((double)f, shift - 64);
}

/* Plain decimals of up to 19 digits are read here; anything else is for strtod. */
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
        if (*p < '0' || *p > '9' || m > UINT64_MAX / 10 - 1)
            return slow_double(start, end);
        m = m * 10 + (uint64_t)(*p - '0');
        places += point;
    }
    if (places > MOST_PLACES)
        return slow_double(start, end);
    double value = divided(m, places);
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
