#include "base/json_scan.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/swar.h"
#include "base/text.h"

/* A key of an object that is still open. */
struct key {
    uint64_t hash;
    const char *text; /* escapes undone */
    size_t len;
    const char *at; /* where it stands, for the message */
};

/* Objects with many keys get a hash set of indexes into `keys`; the others are searched. */
#define FEW_KEYS 12
struct key_set {
    uint32_t *slots; /* index + 1, 0 is free */
    size_t cap;      /* power of two, or 0 */
    bool in_use;
};

struct scan {
    const char *text, *at, *end;
    const char *name;
    struct json_rules rules;
    struct err *err;
    struct key *keys; /* a stack: keys of outer objects first */
    size_t key_count, key_cap;
    struct key few[32];
    struct key_set sets[JSON_MAX_DEPTH + 1];
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

static int hex4(const char *p, const char *end)
{
    int code = 0;

    if (end - p < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        char c = p[i];
        if (c >= '0' && c <= '9')
            code = code * 16 + (c - '0');
        else if ((c | 32) >= 'a' && (c | 32) <= 'f')
            code = code * 16 + ((c | 32) - 'a' + 10);
        else
            return -1;
    }
    return code;
}

/* At the 'u' of \uXXXX; moves behind it, and behind the low half of a pair. */
static int unicode_escape(struct scan *s)
{
    const char *start = s->at - 1;
    int code = hex4(s->at + 1, s->end);

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
        low = hex4(s->at + 2, s->end);
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

static uint64_t hash_of(const char *p, size_t n)
{
    uint64_t h = 0x9E3779B97F4A7C15U ^ n;

    for (; n >= 8; p += 8, n -= 8) {
        uint64_t word;
        memcpy(&word, p, 8);
        h = (h ^ word) * 0xD6E8FEB86659FD93U;
        h ^= h >> 32;
    }
    uint64_t rest = 0;
    memcpy(&rest, p, n);
    h = (h ^ rest) * 0xD6E8FEB86659FD93U;
    return h ^ (h >> 29);
}

static bool same_key(const struct key *a, const struct key *b)
{
    return a->hash == b->hash && a->len == b->len && memcmp(a->text, b->text, a->len) == 0;
}

static void set_put(struct scan *s, struct key_set *set, size_t index)
{
    size_t i = s->keys[index].hash & (set->cap - 1);

    while (set->slots[i] != 0)
        i = (i + 1) & (set->cap - 1);
    set->slots[i] = (uint32_t)index + 1;
}

/* (Re)builds the set of the innermost object, whose keys start at `base`. */
static void set_build(struct scan *s, struct key_set *set, size_t base)
{
    size_t cap = set->cap < 64 ? 64 : set->cap;

    while (cap < (s->key_count - base) * 4)
        cap *= 2;
    if (cap != set->cap) {
        set->slots = xreallocarray(set->slots, cap, sizeof *set->slots);
        set->cap = cap;
    }
    memset(set->slots, 0, cap * sizeof *set->slots);
    for (size_t i = base; i < s->key_count; i++)
        set_put(s, set, i);
    set->in_use = true;
}

static const struct key *find_key(const struct scan *s, size_t base, const struct key *key)
{
    const struct key_set *set = &s->sets[s->depth];

    if (!set->in_use) {
        for (size_t i = base; i < s->key_count; i++) {
            if (same_key(&s->keys[i], key))
                return &s->keys[i];
        }
        return NULL;
    }
    for (size_t i = key->hash & (set->cap - 1); set->slots[i] != 0; i = (i + 1) & (set->cap - 1)) {
        if (same_key(&s->keys[set->slots[i] - 1], key))
            return &s->keys[set->slots[i] - 1];
    }
    return NULL;
}

static void push_key(struct scan *s, size_t base, const struct key *key)
{
    struct key_set *set = &s->sets[s->depth];

    if (s->key_count == s->key_cap) {
        size_t cap = s->key_cap * 2;
        struct key *keys = xreallocarray(s->keys == s->few ? NULL : s->keys, cap, sizeof *keys);
        if (s->keys == s->few)
            memcpy(keys, s->few, s->key_count * sizeof *keys);
        s->keys = keys;
        s->key_cap = cap;
    }
    s->keys[s->key_count++] = *key;
    size_t count = s->key_count - base;
    if (count <= FEW_KEYS)
        return;
    if (!set->in_use || count * 2 > set->cap)
        set_build(s, set, base);
    else
        set_put(s, set, s->key_count - 1);
}

static char undone_escape(char c)
{
    switch (c) {
    case 'b':
        return '\b';
    case 'f':
        return '\f';
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 't':
        return '\t';
    default:
        return c;
    }
}

/* A \uXXXX, at its hex digits; returns behind it, or behind the low half of a pair. */
static const char *undo_unicode(const char *p, const char *end, struct buf *out)
{
    uint32_t code = (uint32_t)hex4(p, end);

    p += 4;
    if (code >= 0xD800 && code <= 0xDBFF) {
        uint32_t low = (uint32_t)hex4(p + 2, end);
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
        p += 6;
    }
    text_encode(out, code);
    return p;
}

int json_undo_escapes(const char *text, size_t len, struct buf *out)
{
    const char *end = text + len;

    for (const char *p = text; p < end;) {
        const char *plain = memchr(p, '\\', (size_t)(end - p));
        if (plain == NULL)
            plain = end;
        buf_add(out, p, (size_t)(plain - p));
        if (plain == end)
            break;
        p = plain + 2;
        if (plain[1] == 'u')
            p = undo_unicode(p, end, out);
        else
            buf_addch(out, undone_escape(plain[1]));
    }
    return out->overflow ? -1 : 0;
}

static int duplicate(struct scan *s, const struct key *key, const struct key *first)
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
    struct key key = {.at = s->at};

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
    key.hash = hash_of(key.text, key.len);
    const struct key *first = find_key(s, base, &key);
    if (first != NULL)
        return duplicate(s, &key, first);
    push_key(s, base, &key);
    return 0;
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
    size_t base = s->key_count;

    if (enter(s) < 0)
        return -1;
    if ((s->at >= s->end || *s->at != '}') && scan_members(s, base) < 0)
        return -1;
    s->key_count = base;
    s->sets[s->depth].in_use = false;
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
    for (size_t i = 0; i <= JSON_MAX_DEPTH; i++)
        free(s->sets[i].slots);
    if (s->keys != s->few)
        free(s->keys);
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
    s.keys = s.few;
    s.key_count = 0;
    s.key_cap = sizeof s.few / sizeof *s.few;
    s.depth = 0;
    memset(s.sets, 0, sizeof s.sets);
    arena_init(&s.undone);
    rules_or_defaults(&s.rules, rules);
    if (len > s.rules.max_bytes)
        return err_set(err, s.rules.code, "'%s' is too large: %zu bytes, at most %zu", name, len,
                       s.rules.max_bytes);
    int rc = scan_document(&s);
    scan_release(&s);
    return rc;
}
