#include "base/json_writer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/json_scan.h"
#include "base/swar.h"
#include "base/text.h"

static size_t format_uint(uint64_t value, char *out)
{
    char digits[20];
    size_t n = 0;

    do {
        digits[n++] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    for (size_t i = 0; i < n; i++)
        out[i] = digits[n - 1 - i];
    return n;
}

/* m / 10^places as plain decimals, places being at least 1 and m having no trailing zero. */
static size_t format_decimal(uint64_t m, int places, char *out)
{
    char digits[20];
    size_t n = format_uint(m, digits);
    size_t after = (size_t)places;
    size_t at = 0;

    if (n > after) {
        memcpy(out, digits, n - after);
        at = n - after;
    } else {
        out[at++] = '0';
    }
    out[at++] = '.';
    for (size_t zeros = n; zeros < after; zeros++)
        out[at++] = '0';
    size_t fraction = n < after ? n : after;
    memcpy(out + at, digits + n - fraction, fraction);
    return at + fraction;
}

static const uint64_t powers_of_five[] = {1,
                                          5,
                                          25,
                                          125,
                                          625,
                                          3125,
                                          15625,
                                          78125,
                                          390625,
                                          1953125,
                                          9765625,
                                          48828125,
                                          244140625,
                                          1220703125,
                                          6103515625,
                                          30517578125,
                                          152587890625,
                                          762939453125,
                                          3814697265625,
                                          19073486328125,
                                          95367431640625};

static const double powers_of_ten[] = {1e-4, 1e-3, 1e-2, 1e-1, 1e0,  1e1,  1e2,  1e3,  1e4, 1e5,
                                       1e6,  1e7,  1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14};

/* A positive normal double as f * 2^e, f having 53 bits. */
struct binary {
    uint64_t f;
    int e;
};

static struct binary take_apart(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    return (struct binary){(bits & 0xFFFFFFFFFFFFFU) | 1ULL << 52, (int)(bits >> 52) - 1075};
}

/*
 * The value times 10^places, rounded to an integer, ties to even; and whether that decimal reads
 * back as the value: its distance is then at most half the gap to the next double (a tie reads as
 * the even one; below a power of two the gap is half as wide). All of it exact: for values from
 * 1e-4 to 1e15 and at most 17 digits, value * 10^places = f * 5^places / 2^shift with shift > 0
 * and a product below 2^100.
 */
static uint64_t round_decimal(struct binary v, int places, bool *reads_back)
{
    unsigned __int128 product = (unsigned __int128)v.f * powers_of_five[places];
    int shift = -(v.e + places);
    unsigned __int128 unit = (unsigned __int128)1 << shift;
    unsigned __int128 rest = product & (unit - 1);
    uint64_t n = (uint64_t)(product >> shift);
    bool up = rest > unit / 2 || (rest == unit / 2 && (n & 1) != 0);
    unsigned __int128 distance = up ? unit - rest : rest;
    unsigned __int128 gap = powers_of_five[places];

    distance *= !up && v.f == 1ULL << 52 ? 4 : 2;
    *reads_back = distance < gap || (distance == gap && (v.f & 1) == 0);
    return n + up;
}

/* What %.15g, %.16g or %.17g would print, whichever is the first to read back, for fractions of
 * ordinary size; 0 for others. */
static size_t format_short(double value, char *out)
{
    int magnitude = 0;
    bool reads_back = false;
    uint64_t m = 0;
    int places = 0;

    if (value < 1e-4 || value >= 1e15)
        return 0;
    while (magnitude < 18 && value >= powers_of_ten[magnitude + 1])
        magnitude++;
    struct binary v = take_apart(value);
    for (int digits = 15; digits <= 17 && !reads_back; digits++) {
        places = digits - 1 - (magnitude - 4);
        m = round_decimal(v, places, &reads_back);
    }
    for (; m % 10 == 0; places--)
        m /= 10;
    return format_decimal(m, places, out);
}

/*
 * Between 2^53 and 1e17 %.17g prints an integer, which strict readers refuse as one that may have
 * been rounded; the same digits with an exponent say that it is a double.
 */
static size_t format_long(double value, char *out, size_t size)
{
    int len = 0;

    for (int digits = 15; digits <= 17; digits++) {
        if (fabs(value) >= 0x1p53 && fabs(value) < 1e17)
            len = snprintf(out, size, "%.*e", digits - 1, value);
        else
            len = snprintf(out, size, "%.*g", digits, value);
        if (strtod(out, NULL) == value)
            break;
    }
    return (size_t)len;
}

size_t json_format_double(double value, char out[JSON_DOUBLE_TEXT])
{
    size_t at = 0;

    ABBA_ASSERT(isfinite(value));
    if (signbit(value))
        out[at++] = '-';
    double size = fabs(value);
    size_t n = 0;
    if (size < 0x1p53 && size == (double)(uint64_t)size)
        n = format_uint((uint64_t)size, out + at);
    if (n == 0)
        n = format_short(size, out + at);
    if (n == 0)
        n = format_long(size, out + at, JSON_DOUBLE_TEXT - at);
    out[at + n] = '\0';
    return at + n;
}

/* ---- strings ---- */

static void quote_special(struct buf *out, const char **p, const char *end)
{
    unsigned char c = (unsigned char)**p;
    static const char short_forms[] = "btn?fr"; /* from 8 on; 11 has none */
    uint32_t code;

    if (c == '"' || c == '\\') {
        char text[2] = {'\\', (char)c};
        buf_add(out, text, 2);
    } else if (c >= 8 && c <= 13 && c != 11) {
        char text[2] = {'\\', short_forms[c - 8]};
        buf_add(out, text, 2);
    } else if (c < 0x20) {
        buf_printf(out, "\\u%04x", c);
    } else {
        size_t n = text_decode(*p, (size_t)(end - *p), &code);
        if (n == 0)
            buf_addstr(out, "\xEF\xBF\xBD");
        else
            buf_add(out, *p, n);
        *p += n > 0 ? n : 1;
        return;
    }
    (*p)++;
}

void json_quote(struct buf *out, const char *s, size_t n)
{
    const char *end = s + n;

    buf_addch(out, '"');
    while (s < end) {
        const char *plain = swar_plain(s, end);
        buf_add(out, s, (size_t)(plain - s));
        s = plain;
        if (s < end)
            quote_special(out, &s, end);
    }
    buf_addch(out, '"');
}

/* ---- the writer ---- */

#define BIT(d) ((uint64_t)1 << ((d)-1))

void jw_init(struct json_writer *w, struct buf *out, bool pretty)
{
    *w = (struct json_writer){.out = out, .pretty = pretty};
}

static void new_line(struct json_writer *w)
{
    if (!w->pretty)
        return;
    buf_addch(w->out, '\n');
    buf_fill(w->out, ' ', (size_t)w->depth * 2);
}

static bool in_object(const struct json_writer *w)
{
    return w->depth > 0 && (w->objects & BIT(w->depth)) != 0;
}

/* A comma, if due, and a new line before the next member or item. */
static void next_entry(struct json_writer *w)
{
    if (w->depth == 0)
        return;
    if (w->filled & BIT(w->depth))
        buf_addch(w->out, ',');
    w->filled |= BIT(w->depth);
    new_line(w);
}

static void before_value(struct json_writer *w)
{
    ABBA_ASSERT(in_object(w) == w->after_key);
    if (!w->after_key)
        next_entry(w);
    w->after_key = false;
}

static void begin(struct json_writer *w, bool object)
{
    before_value(w);
    ABBA_ASSERT(w->depth < JSON_MAX_DEPTH);
    w->depth++;
    w->filled &= ~BIT(w->depth);
    w->objects &= ~BIT(w->depth);
    if (object)
        w->objects |= BIT(w->depth);
    buf_addch(w->out, object ? '{' : '[');
}

static void end(struct json_writer *w, bool object)
{
    ABBA_ASSERT(w->depth > 0 && in_object(w) == object && !w->after_key);
    bool filled = (w->filled & BIT(w->depth)) != 0;
    w->depth--;
    if (filled)
        new_line(w);
    buf_addch(w->out, object ? '}' : ']');
}

void jw_object_begin(struct json_writer *w)
{
    begin(w, true);
}

void jw_object_end(struct json_writer *w)
{
    end(w, true);
}

void jw_array_begin(struct json_writer *w)
{
    begin(w, false);
}

void jw_array_end(struct json_writer *w)
{
    end(w, false);
}

void jw_key(struct json_writer *w, const char *key)
{
    ABBA_ASSERT(in_object(w) && !w->after_key);
    next_entry(w);
    json_quote(w->out, key, strlen(key));
    buf_add(w->out, ": ", w->pretty ? 2 : 1);
    w->after_key = true;
}

void jw_raw(struct json_writer *w, const char *json, size_t n)
{
    before_value(w);
    buf_add(w->out, json, n);
}

void jw_string(struct json_writer *w, const char *s)
{
    if (s == NULL) {
        jw_null(w);
        return;
    }
    before_value(w);
    json_quote(w->out, s, strlen(s));
}

void jw_double(struct json_writer *w, double value)
{
    char text[JSON_DOUBLE_TEXT];

    if (!isfinite(value))
        jw_null(w);
    else
        jw_raw(w, text, json_format_double(value, text));
}

static void write_integer(struct json_writer *w, bool negative, uint64_t size)
{
    char text[24];
    size_t n = 0;
    bool quoted = size > (uint64_t)JSON_MAX_INTEGER;

    if (quoted)
        text[n++] = '"';
    if (negative)
        text[n++] = '-';
    n += format_uint(size, text + n);
    if (quoted)
        text[n++] = '"';
    jw_raw(w, text, n);
}

void jw_int(struct json_writer *w, int64_t value)
{
    write_integer(w, value < 0, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void jw_uint(struct json_writer *w, uint64_t value)
{
    write_integer(w, false, value);
}

void jw_bool(struct json_writer *w, bool value)
{
    jw_raw(w, value ? "true" : "false", value ? 4 : 5);
}

void jw_null(struct json_writer *w)
{
    jw_raw(w, "null", 4);
}
