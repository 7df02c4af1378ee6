#include "base/units.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/text.h"

/* Enough for a decimal of 19 digits times any unit below. */
typedef unsigned __int128 wide;

struct unit {
    const char *name;
    uint64_t factor; /* in ns, bit/s or bytes */
};

struct quantity {
    const char *what;    /* "time" */
    const char *article; /* "a time" */
    const char *whole;   /* what the result is a whole number of */
    const char *allowed; /* for messages */
    const struct unit *units;
    bool any_case;
};

static const struct unit time_units[] = {
    {"ns", 1},
    {"nsec", 1},
    {"nsecs", 1},
    {"us", 1000},
    {"usec", 1000},
    {"usecs", 1000},
    {"ms", 1000000},
    {"msec", 1000000},
    {"msecs", 1000000},
    {"s", 1000000000},
    {"sec", 1000000000},
    {"secs", 1000000000},
    {"min", 60000000000},
    {"h", 3600000000000},
    {NULL, 0},
};

/* Rates of bits, whose case does not matter; a "/s" behind them is taken off first. */
static const struct unit bit_units[] = {
    {"bit", 1},
    {"kbit", 1000},
    {"mbit", 1000000},
    {"gbit", 1000000000},
    {"tbit", 1000000000000},
    {"kibit", 1ULL << 10},
    {"mibit", 1ULL << 20},
    {"gibit", 1ULL << 30},
    {"tibit", 1ULL << 40},
    {NULL, 0},
};

static const struct unit byte_rate_units[] = {
    {"B/s", 8},
    {"kB/s", 8000},
    {"MB/s", 8000000},
    {"GB/s", 8000000000},
    {"TB/s", 8000000000000},
    {"KiB/s", 8ULL << 10},
    {"MiB/s", 8ULL << 20},
    {"GiB/s", 8ULL << 30},
    {"TiB/s", 8ULL << 40},
    {NULL, 0},
};

static const struct unit size_units[] = {
    {"B", 1},
    {"kB", 1000},
    {"MB", 1000000},
    {"GB", 1000000000},
    {"TB", 1000000000000},
    {"KiB", 1ULL << 10},
    {"MiB", 1ULL << 20},
    {"GiB", 1ULL << 30},
    {"TiB", 1ULL << 40},
    {NULL, 0},
};

static const struct quantity time_quantity = {
    "time", "a time", "nanoseconds", "ns, us, ms, s, min, h", time_units, false};
static const struct quantity bit_quantity = {
    "rate",
    "a rate",
    "bits a second",
    "bit/s, kbit/s, Mbit/s, Gbit/s, Tbit/s, Kibit/s, Mibit/s, Gibit/s, B/s, kB/s, MB/s, GB/s, "
    "KiB/s, MiB/s, GiB/s",
    bit_units,
    true};
static const struct quantity size_quantity = {
    "size", "a size", "bytes", "B, kB, MB, GB, TB, KiB, MiB, GiB, TiB", size_units, false};
static const struct quantity percent_quantity = {"percentage", "a percentage", "",
                                                 "%",          NULL,           false};

static int refuse(const struct quantity *q, const char *text, const char *why, struct err *err)
{
    struct buf shown = BUF_INIT;

    text_neutral(&shown, text, strlen(text), 60);
    err_set(err, ERR_CONFIG, "'%s' is not %s: %s (allowed units: %s)", shown.data, q->article, why,
            q->allowed);
    buf_release(&shown);
    return -1;
}

/* The end of "digits [. digits]" at the start of `text`, or NULL. */
static const char *number_end(const char *text)
{
    size_t whole = strspn(text, "0123456789");
    const char *p = text + whole;

    if (whole == 0)
        return NULL;
    if (*p != '.')
        return p;
    size_t fraction = strspn(p + 1, "0123456789");
    return fraction > 0 ? p + 1 + fraction : NULL;
}

static int check_number(const struct quantity *q, const char *text, const char **unit,
                        struct err *err)
{
    *unit = number_end(text);
    if (*unit == NULL && (*text == '-' || strncmp(text, "\u2212", 3) == 0))
        return refuse(q, text, "it is negative", err);
    if (*unit == NULL)
        return refuse(q, text, "it does not start with a plain number", err);
    if (**unit == '\0')
        return refuse(q, text, "the unit is missing", err);
    if (**unit == ' ')
        return refuse(q, text, "no space may stand before the unit", err);
    return 0;
}

/*
 * number * factor, exactly. Returns 0, or why not: more digits than 19, no whole number, or more
 * than INT64_MAX.
 */
static const char *multiply(const char *number, const char *end, uint64_t factor, uint64_t *out)
{
    uint64_t mantissa = 0;
    uint64_t power = 1; /* the number is mantissa / power */
    uint64_t zeros = 1; /* of the fraction, held back: they may be the last digits */
    bool fraction = false;

    for (const char *p = number; p < end; p++) {
        if (*p == '.') {
            fraction = true;
            continue;
        }
        uint64_t step = fraction ? zeros * 10 : 10;
        if (fraction && *p == '0') {
            if (step > 1000000000000000000)
                return "it has too many digits";
            zeros = step;
            continue;
        }
        if (__builtin_mul_overflow(mantissa, step, &mantissa) ||
            __builtin_add_overflow(mantissa, (uint64_t)(*p - '0'), &mantissa) ||
            (fraction && __builtin_mul_overflow(power, step, &power)))
            return "it has too many digits";
        zeros = 1;
    }
    wide product = (wide)mantissa * factor;
    if (product % power != 0)
        return "it is no whole number of";
    if (product / power > INT64_MAX)
        return "it is too large";
    *out = (uint64_t)(product / power);
    return NULL;
}

static const struct unit *find_unit(const struct unit *units, const char *name, size_t len,
                                    bool any_case)
{
    for (; units->name != NULL; units++) {
        if (strlen(units->name) != len)
            continue;
        if (any_case ? strncasecmp(units->name, name, len) == 0
                     : strncmp(units->name, name, len) == 0)
            return units;
    }
    return NULL;
}

static int apply(const struct quantity *q, const char *text, const char *unit_text,
                 const struct unit *unit, uint64_t *out, struct err *err)
{
    char why[64];
    const char *problem = multiply(text, unit_text, unit->factor, out);

    if (problem == NULL)
        return 0;
    bool whole = strstr(problem, "whole") != NULL;
    snprintf(why, sizeof why, "%s%s%s", problem, whole ? " " : "", whole ? q->whole : "");
    return refuse(q, text, why, err);
}

static int unknown_unit(const struct quantity *q, const char *text, struct err *err)
{
    return refuse(q, text, "the unit is unknown", err);
}

static int parse(const struct quantity *q, const char *text, uint64_t *out, struct err *err)
{
    const char *name;

    if (check_number(q, text, &name, err) < 0)
        return -1;
    const struct unit *unit = find_unit(q->units, name, strlen(name), q->any_case);
    if (unit == NULL)
        return unknown_unit(q, text, err);
    return apply(q, text, name, unit, out, err);
}

int units_parse_time(const char *text, int64_t *ns, struct err *err)
{
    uint64_t value;

    if (parse(&time_quantity, text, &value, err) < 0)
        return -1;
    *ns = (int64_t)value;
    return 0;
}

int units_parse_size(const char *text, uint64_t *bytes, struct err *err)
{
    return parse(&size_quantity, text, bytes, err);
}

int units_parse_rate(const char *text, uint64_t *bps, struct err *err)
{
    const struct quantity *q = &bit_quantity;
    const char *name;

    if (check_number(q, text, &name, err) < 0)
        return -1;
    size_t len = strlen(name);
    const struct unit *unit = find_unit(byte_rate_units, name, len, false);
    if (unit == NULL && len > 2 && strcmp(name + len - 2, "/s") == 0)
        len -= 2;
    if (unit == NULL)
        unit = find_unit(bit_units, name, len, true);
    if (unit != NULL)
        return apply(q, text, name, unit, bps, err);
    unknown_unit(q, text, err);
    if (len >= 3 && strcasecmp(name + len - 3, "bps") == 0)
        err_hint(err, "tc reads 'mbps' as megabytes and others as megabits: "
                      "write Mbit/s or MB/s");
    return -1;
}

int units_parse_percent(const char *text, double *fraction, struct err *err)
{
    const struct quantity *q = &percent_quantity;
    const char *unit;

    if (check_number(q, text, &unit, err) < 0)
        return -1;
    if (strcmp(unit, "%") != 0)
        return unknown_unit(q, text, err);
    if (unit - text > 24)
        return refuse(q, text, "it has too many digits", err);
    *fraction = strtod(text, NULL) / 100;
    return 0;
}

/* ---- canonical text ---- */

static const struct unit canonical_times[] = {
    {"s", 1000000000}, {"ms", 1000000}, {"us", 1000}, {"ns", 1}, {NULL, 0}};

static const struct unit canonical_rates[] = {
    {"Tbit/s", 1000000000000}, {"Gbit/s", 1000000000}, {"Mbit/s", 1000000},
    {"kbit/s", 1000},          {"bit/s", 1},           {NULL, 0}};

static const struct unit canonical_sizes[] = {{"TiB", 1ULL << 40},
                                              {"GiB", 1ULL << 30},
                                              {"MiB", 1ULL << 20},
                                              {"KiB", 1ULL << 10},
                                              {"TB", 1000000000000},
                                              {"GB", 1000000000},
                                              {"MB", 1000000},
                                              {"kB", 1000},
                                              {"B", 1},
                                              {NULL, 0}};

/* The shortest of the exact ones; the first of equals. */
static void canonical(uint64_t value, const struct unit *units, const char *zero,
                      char out[UNITS_TEXT])
{
    size_t best = SIZE_MAX;
    char text[UNITS_TEXT];

    if (value == 0) {
        snprintf(out, UNITS_TEXT, "0%s", zero);
        return;
    }
    for (; units->name != NULL; units++) {
        if (value % units->factor != 0)
            continue;
        int len = snprintf(text, sizeof text, "%llu%s", (unsigned long long)(value / units->factor),
                           units->name);
        if ((size_t)len < best) {
            best = (size_t)len;
            memcpy(out, text, best + 1);
        }
    }
}

void units_canonical_time(int64_t ns, char out[UNITS_TEXT])
{
    ABBA_ASSERT(ns >= 0);
    canonical((uint64_t)ns, canonical_times, "s", out);
}

void units_canonical_rate(uint64_t bps, char out[UNITS_TEXT])
{
    canonical(bps, canonical_rates, "bit/s", out);
}

void units_canonical_size(uint64_t bytes, char out[UNITS_TEXT])
{
    canonical(bytes, canonical_sizes, "B", out);
}
