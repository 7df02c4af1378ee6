#include "base/json_scan.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json_escapes.h"
#include "base/json_keys.h"
#include "base/mem.h"
#include "base/swar.h"
#include "base/text.h"

struct scan {
    const char *text, *at, *end;
    const char *name;
    struct json_rules rules;
    struct err *err;
    struct json_keys keys;
    struct arena undone; /* keys that had escapes */
    unsigned depth;
};

static size_t line_of(const struct scan *s, const char *at, size_t *column)
{
    size_t line = s->rules.line;
    const char *start = s->text;

    for (const char *p = s->text; p < at; p++) {
        if (*p == '\n') {
            line++;
            start = p + 1;
        }
    }
    *column = 1;
    for (const char *p = start; p < at; p++)
        *column += ((unsigned char)*p & 0xC0) != 0x80;
    return line;
}

static int fault(struct scan *s, const char *at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static int fault(struct scan *s, const char *at, const char *fmt, ...)
{
    char what[256];
    size_t column;
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    size_t line = line_of(s, at, &column);
    return err_set(s->err, s->rules.code, "'%s' line %zu column %zu: %s", s->name, line, column,
                   what);
}

/* What stands at `at`, as a person would name it. */
static const char *found(const struct scan *s, const char *at, char out[24])
{
    if (at >= s->end)
        return "the end of the text";
    unsigned char c = (unsigned char)*at;
    if (c > 0x20 && c < 0x7F)
        snprintf(out, 24, "'%c'", c);
    else
        snprintf(out, 24, "byte 0x%02x", c);
    return out;
}

static void hint_for(struct scan *s, const char *at)
{
    char c = at < s->end ? *at : '\0';

    if (c == '/' || c == '#')
        err_hint(s->err, "JSON has no comments");
    else if (c == '\'')
        err_hint(s->err, "strings stand in double quotes");
    else if (c == 'N' || c == 'I' || c == 'i')
        err_hint(s->err, "JSON has no NaN and no infinity: write null");
    else if (c == 'T' || c == 'F')
        err_hint(s->err, "write true and false in lower case");
    else if (c == '+' || c == '.')
        err_hint(s->err, "a number starts with a digit or a minus sign");
}

static int expected(struct scan *s, const char *what)
{
    char text[24];

    fault(s, s->at, "expected %s, found %s", what, found(s, s->at, text));
    hint_for(s, s->at);
    return -1;
}

static inline void skip_space(struct scan *s)
{
    const char *p = s->at;

    while (p < s->end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t'))
        p++;
    s->at = p;
}

/* ---- strings ---- */

/* At the 'u' of \uXXXX; moves behind it, and behind the low half of a pair. */
static int unicode_escape(struct scan *s)
{
    const char *start = s->at - 1;
    int code = json_hex4(s->at + 1, s->end);

    if (code < 0)
        return fault(s, start, "\\u needs four hex digits");
    if (code == 0)
        return fault(s, start, "\\u0000 is not allowed");
    if (code >= 0xDC00 && code <= 0xDFFF)
        return fault(s, start, "lone surrogate \\u%04x", (unsigned)code);
    s->at += 5;
    if (code < 0xD800 || code > 0xDBFF)
        return 0;
    int low = -1;
    if (s->end - s->at >= 2 && s->at[0] == '\\' && s->at[1] == 'u')
        low = json_hex4(s->at + 2, s->end);
    if (low < 0xDC00 || low > 0xDFFF)
        return fault(s, start, "lone surrogate \\u%04x", (unsigned)code);
    s->at += 6;
    return 0;
}

static int escape(struct scan *s)
{
    s->at++;
    if (s->at >= s->end)
        return 0; /* reported as a string without its end */
    switch (*s->at) {
    case '"':
    case '\\':
    case '/':
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't':
        s->at++;
        return 0;
    case 'u':
        return unicode_escape(s);
    default:
        return fault(s, s->at - 1, "unknown escape in a string");
    }
}

/* A byte that is not plain: backslash, control character, or not ASCII. */
static int special(struct scan *s, bool *escaped)
{
    unsigned char c = (unsigned char)*s->at;
    uint32_t code;

    if (c == '\\') {
        *escaped = true;
        return escape(s);
    }
    if (c < 0x20) {
        fault(s, s->at, "control character 0x%02x in a string", c);
        return c == '\n' ? err_hint(s->err, "a string ends on its line; is a quote missing?") : -1;
    }
    size_t n = text_decode(s->at, (size_t)(s->end - s->at), &code);
    if (n == 0)
        return fault(s, s->at, "byte 0x%02x is not UTF-8", c);
    s->at += n;
    return 0;
}

/* At the opening quote; moves behind the closing one. */
static int scan_string(struct scan *s, bool *escaped)
{
    const char *start = s->at++;

    *escaped = false;
    for (;;) {
        s->at = swar_plain(s->at, s->end);
        if (s->at >= s->end)
            return fault(s, start, "string without its closing quote");
        if (*s->at == '"') {
            s->at++;
            return 0;
        }
        if (special(s, escaped) < 0)
            return -1;
    }
}

/* ---- keys ---- */

static int duplicate(struct scan *s, const struct json_key *key, const struct json_key *first)
{
    struct buf shown = BUF_INIT;
    size_t column;

    text_neutral(&shown, key->text, key->len, 80);
    fault(s, key->at, "duplicate key \"%s\" (first on line %zu)", shown.data,
          line_of(s, first->at, &column));
    buf_release(&shown);
    return -1;
}

static int scan_key(struct scan *s, size_t base)
{
    bool escaped;
    struct json_key key = {.at = s->at};

    if (s->at >= s->end || *s->at != '"')
        return expected(s, "a key in double quotes");
    if (scan_string(s, &escaped) < 0)
        return -1;
    key.text = key.at + 1;
    key.len = (size_t)(s->at - key.text) - 1;
    if (escaped) {
        struct buf b = BUF_INIT;
        json_undo_escapes(key.text, key.len, &b);
        key.text = arena_strndup(&s->undone, b.data, b.len);
        key.len = b.len;
        buf_release(&b);
    }
    const struct json_key *first = json_keys_add(&s->keys, s->depth, base, &key);
    return first != NULL ? duplicate(s, &key, first) : 0;
}

/* ---- numbers and literals ---- */

static const char *digits(const char *p, const char *end)
{
    while (p < end && *p >= '0' && *p <= '9')
        p++;
    return p;
}

static int too_large(struct scan *s, const char *start)
{
    char copy[JSON_MAX_NUMBER + 1];
    size_t n = (size_t)(s->at - start);

    memcpy(copy, start, n);
    copy[n] = '\0';
    if (isinf(strtod(copy, NULL)))
        return fault(s, start, "number %s is beyond what a double holds", copy);
    return 0;
}

/* At most 63 digits, all of them read: compares with 2^53 - 1. */
static bool integer_too_big(const char *p, const char *end)
{
    uint64_t value = 0;

    if (end - p > 16)
        return true;
    for (; p < end; p++)
        value = value * 10 + (uint64_t)(*p - '0');
    return value > (uint64_t)JSON_MAX_INTEGER;
}

static int scan_number(struct scan *s)
{
    const char *start = s->at;
    const char *whole = *start == '-' ? start + 1 : start;
    const char *p = digits(whole, s->end);
    bool integer = true;
    bool exponent = false;

    s->at = p;
    if (p == whole)
        return expected(s, "a digit");
    if (*whole == '0' && p > whole + 1)
        return fault(s, start, "number with a leading zero");
    const char *whole_end = p;
    if (p < s->end && *p == '.') {
        s->at = p + 1;
        p = digits(p + 1, s->end);
        if (p == s->at)
            return expected(s, "a digit after the decimal point");
        integer = false;
    }
    if (p < s->end && (*p | 32) == 'e') {
        s->at = p + 1;
        if (s->at < s->end && (*s->at == '+' || *s->at == '-'))
            s->at++;
        p = digits(s->at, s->end);
        if (p == s->at)
            return expected(s, "a digit in the exponent");
        exponent = true;
    }
    s->at = p;
    if (p - start > JSON_MAX_NUMBER)
        return fault(s, start, "number of more than %d characters", JSON_MAX_NUMBER);
    if (integer && !exponent && !s->rules.big_integers && whole_end - whole >= 16 &&
        integer_too_big(whole, whole_end)) {
        fault(s, start, "integer %.*s is beyond 2^53 - 1", (int)(p - start), start);
        return err_hint(s->err, "write it as a string");
    }
    return exponent ? too_large(s, start) : 0;
}

static int scan_literal(struct scan *s, const char *word, size_t len)
{
    if ((size_t)(s->end - s->at) < len || memcmp(s->at, word, len) != 0)
        return expected(s, "a value");
    s->at += len;
    return 0;
}

/* ---- values ---- */

static int scan_value(struct scan *s);

static int enter(struct scan *s)
{
    if (s->depth == s->rules.max_depth)
        return fault(s, s->at, "nested more than %u deep", s->rules.max_depth);
    s->depth++;
    s->at++;
    skip_space(s);
    return 0;
}

static int scan_members(struct scan *s, size_t base)
{
    for (;;) {
        if (scan_key(s, base) < 0)
            return -1;
        skip_space(s);
        if (s->at >= s->end || *s->at != ':')
            return expected(s, "':' after the key");
        s->at++;
        if (scan_value(s) < 0)
            return -1;
        skip_space(s);
        if (s->at < s->end && *s->at == '}')
            return 0;
        if (s->at >= s->end || *s->at != ',')
            return expected(s, "',' or '}' after a member");
        s->at++;
        skip_space(s);
    }
}

static int scan_object(struct scan *s)
{
    size_t base = s->keys.count;

    if (enter(s) < 0)
        return -1;
    if ((s->at >= s->end || *s->at != '}') && scan_members(s, base) < 0)
        return -1;
    json_keys_drop(&s->keys, s->depth, base);
    s->depth--;
    s->at++;
    return 0;
}

static int scan_array(struct scan *s)
{
    if (enter(s) < 0)
        return -1;
    bool more = s->at >= s->end || *s->at != ']';
    while (more) {
        if (scan_value(s) < 0)
            return -1;
        skip_space(s);
        if (s->at < s->end && *s->at == ']')
            break;
        if (s->at >= s->end || *s->at != ',')
            return expected(s, "',' or ']' after an item");
        s->at++;
    }
    s->depth--;
    s->at++;
    return 0;
}

static int scan_value(struct scan *s)
{
    bool escaped;

    skip_space(s);
    switch (s->at < s->end ? *s->at : '\0') {
    case '{':
        return scan_object(s);
    case '[':
        return scan_array(s);
    case '"':
        return scan_string(s, &escaped);
    case 't':
        return scan_literal(s, "true", 4);
    case 'f':
        return scan_literal(s, "false", 5);
    case 'n':
        return scan_literal(s, "null", 4);
    case '-':
    case '0' ... '9':
        return scan_number(s);
    default:
        return expected(s, "a value");
    }
}

static int scan_document(struct scan *s)
{
    if (s->end - s->text >= 3 && memcmp(s->text, "\xEF\xBB\xBF", 3) == 0)
        return fault(s, s->text, "the text starts with a byte order mark");
    if (scan_value(s) < 0)
        return -1;
    skip_space(s);
    return s->at == s->end ? 0 : expected(s, "nothing after the value");
}

static void scan_release(struct scan *s)
{
    json_keys_release(&s->keys);
    arena_release(&s->undone);
}

static void rules_or_defaults(struct json_rules *to, const struct json_rules *from)
{
    *to = from != NULL ? *from : (struct json_rules){0};
    if (to->max_bytes == 0)
        to->max_bytes = JSON_MAX_BYTES;
    if (to->max_depth == 0 || to->max_depth > JSON_MAX_DEPTH)
        to->max_depth = JSON_MAX_DEPTH;
    if (to->line == 0)
        to->line = 1;
    if (to->code == ERR_NONE)
        to->code = ERR_CONFIG;
}

int json_scan(const char *text, size_t len, const char *name, const struct json_rules *rules,
              struct err *err)
{
    struct scan s;

    s.text = s.at = text;
    s.end = text + len;
    s.name = name;
    s.err = err;
    s.depth = 0;
    json_keys_init(&s.keys);
    arena_init(&s.undone);
    rules_or_defaults(&s.rules, rules);
    if (len > s.rules.max_bytes)
        return err_set(err, s.rules.code, "'%s' is too large: %zu bytes, at most %zu", name, len,
                       s.rules.max_bytes);
    int rc = scan_document(&s);
    scan_release(&s);
    return rc;
}
