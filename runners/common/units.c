#include "units.h"

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct unit {
    const char *name;
    double factor;
};

static const struct unit size_units[] = {
    {"", 1},        {"B", 1},         {"kB", 1e3},   {"KB", 1e3},      {"MB", 1e6},
    {"GB", 1e9},    {"K", 1024},      {"KiB", 1024}, {"M", 1048576.0}, {"MiB", 1048576.0},
    {"G", 1 << 30}, {"GiB", 1 << 30}, {NULL, 0},
};

static const struct unit rate_units[] = {
    {"bit", 1}, {"Kbit", 1e3}, {"Mbit", 1e6}, {"Gbit", 1e9}, {NULL, 0},
};

static const struct unit time_units[] = {
    {"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"min", 60e9}, {NULL, 0},
};

/* The number at the start of text (digits with an optional fraction); *rest is what follows. */
static int leading_number(const char *text, double *number, const char **rest)
{
    char *end;

    if (!isdigit((unsigned char)text[0]) || (text[0] == '0' && tolower(text[1]) == 'x'))
        return -1;
    *number = strtod(text, &end);
    if (*number > 1e18)
        return -1;
    *rest = end;
    return 0;
}

static int scaled(const char *text, const struct unit *units, int fold_case, double *value)
{
    const char *rest;
    double number;

    if (leading_number(text, &number, &rest))
        return -1;
    for (const struct unit *u = units; u->name; u++) {
        if (fold_case ? strcasecmp(rest, u->name) : strcmp(rest, u->name))
            continue;
        *value = number * u->factor;
        return *value <= 1e18 ? 0 : -1;
    }
    if (number > 0 || *rest)
        return -1;
    *value = 0;
    return 0;
}

int parse_size(const char *text, uint64_t *bytes)
{
    double value;

    if (scaled(text, size_units, 0, &value))
        return -1;
    *bytes = (uint64_t)value;
    return 0;
}

int parse_rate(const char *text, uint64_t *bps)
{
    size_t len = strlen(text);
    char copy[64];
    double value;

    if (strcmp(text, "unpaced") == 0) {
        *bps = 0;
        return 0;
    }
    if (len >= sizeof(copy))
        return -1;
    memcpy(copy, text, len + 1);
    if (len > 2 && strcmp(copy + len - 2, "/s") == 0)
        copy[len - 2] = '\0';
    if (scaled(copy, rate_units, 1, &value))
        return -1;
    *bps = (uint64_t)value;
    return 0;
}

int parse_time(const char *text, int64_t *ns)
{
    double value;

    if (scaled(text, time_units, 0, &value))
        return -1;
    *ns = (int64_t)value;
    return 0;
}

int parse_percent(const char *text, double *percent)
{
    const char *rest;

    if (leading_number(text, percent, &rest))
        return -1;
    if (*rest == '%')
        rest++;
    return *rest || *percent > 100 ? -1 : 0;
}

int parse_integer(const char *text, uint64_t min, uint64_t max, uint64_t *value)
{
    unsigned long long number;
    char *end;

    if (!isdigit((unsigned char)text[0]))
        return -1;
    errno = 0;
    number = strtoull(text, &end, 10);
    if (errno || *end || number < min || number > max)
        return -1;
    *value = number;
    return 0;
}
