#include "measure/number.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/text.h"

#define PLAIN_MAX 400 /* characters of a number; 1e308 written out has 309 digits */
#define MINUS_SIGN "\xe2\x88\x92"

/* What is left to read, and the plain form that strtod takes. */
struct reader {
    const char *at, *end;
    char plain[PLAIN_MAX + 1];
    size_t len;
    bool grouped;
};

static bool is_digit(const struct reader *r)
{
    return r->at < r->end && *r->at >= '0' && *r->at <= '9';
}

static bool put(struct reader *r, char c)
{
    if (r->len == PLAIN_MAX)
        return false;
    r->plain[r->len++] = c;
    return true;
}

/* Takes the text if it comes next. */
static bool take(struct reader *r, const char *text)
{
    size_t n = strlen(text);

    if (n == 0 || (size_t)(r->end - r->at) < n || memcmp(r->at, text, n) != 0)
        return false;
    r->at += n;
    return true;
}

/* Takes digits, at most `max`; the number of them, or 0 if they do not fit. */
static size_t take_digits(struct reader *r, size_t max)
{
    size_t n = 0;

    for (; n < max && is_digit(r); n++)
        if (!put(r, *r->at++))
            return 0;
    return n;
}

static bool read_sign(struct reader *r)
{
    if (take(r, "-") || take(r, MINUS_SIGN))
        return put(r, '-');
    take(r, "+");
    return true;
}

/* The first of the declared separators that comes next, alone; or NULL. */
static const char *separator(const struct reader *r, const char *group, char one[8])
{
    uint32_t code;

    for (size_t n; *group; group += n) {
        n = text_decode(group, strlen(group), &code);
        ABBA_ASSERT(n > 0 && n < 8);
        memcpy(one, group, n);
        one[n] = '\0';
        if ((size_t)(r->end - r->at) >= n && memcmp(r->at, one, n) == 0)
            return one;
    }
    return NULL;
}

static bool read_whole(struct reader *r, const char *groups)
{
    char one[8];
    size_t n = take_digits(r, PLAIN_MAX);

    if (n == 0)
        return false;
    const char *group = separator(r, groups, one); /* the same throughout */
    while (group && take(r, group)) {
        if (n > 3 && !r->grouped)
            return false;
        r->grouped = true;
        if (take_digits(r, 3) != 3 || is_digit(r))
            return false;
    }
    return true;
}

static bool read_fraction(struct reader *r, const char *decimal)
{
    if (!take(r, decimal))
        return true;
    return put(r, '.') && take_digits(r, PLAIN_MAX) > 0;
}

static bool read_exponent(struct reader *r)
{
    if (r->grouped || !(take(r, "e") || take(r, "E")))
        return true;
    if (!put(r, 'e'))
        return false;
    if (take(r, "-")) {
        if (!put(r, '-'))
            return false;
    } else {
        take(r, "+");
    }
    return take_digits(r, 5) > 0;
}

static bool read_number(struct reader *r, const struct number_format *f)
{
    return read_sign(r) && read_whole(r, f->group) && read_fraction(r, f->decimal) &&
           read_exponent(r) && r->at == r->end;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static int does_not_fit(const char *text, size_t len, const struct number_format *format,
                        struct err *err)
{
    struct buf shown = BUF_INIT;

    text_neutral(&shown, text, len, 60);
    if (format->group[0])
        err_set(err, ERR_MEASURE,
                "'%s' is no number in the declared format (decimal '%s', group "
                "'%s')",
                shown.data, format->decimal, format->group);
    else
        err_set(err, ERR_MEASURE,
                "'%s' is no number in the declared format (decimal '%s', no "
                "groups)",
                shown.data, format->decimal);
    buf_release(&shown);
    return -1;
}

/* Whether all digits before the exponent are 0: a figure too small for a double is no zero. */
static bool says_zero(const char *plain)
{
    return strcspn(plain, "123456789") >= strcspn(plain, "e");
}

int number_parse(const char *text, size_t len, const struct number_format *format, double *out,
                 struct err *err)
{
    struct reader r = {.at = text, .end = text + len};

    while (r.at < r.end && is_blank(*r.at))
        r.at++;
    while (r.end > r.at && is_blank(r.end[-1]))
        r.end--;
    if (!read_number(&r, format))
        return does_not_fit(text, len, format, err);
    r.plain[r.len] = '\0';
    double number = strtod(r.plain, NULL); /* in the C locale, which is never changed */
    if (!isfinite(number) || (number == 0 && !says_zero(r.plain)))
        return does_not_fit(text, len, format, err);
    *out = number;
    return 0;
}
