#include "model/network_words.h"

#include "model/network_parts.h"

#include "base/buf.h"
#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct unit {
    const char *name; /* in any case */
    double factor;
};

/* ---- errors ---- */

/* About the word at hand. */
int netem_words_refuse(struct netem_words *p, const char *what, const char *allowed)
{
    struct buf shown = BUF_INIT;

    text_neutral(&shown, p->words[p->at], strlen(p->words[p->at]), 60);
    err_set(p->err, ERR_USAGE, "impairment: '%s' (word %zu) is no %s: allowed is %s", shown.data,
            p->at + 1, what, allowed);
    buf_release(&shown);
    return -1;
}

/* Steps to the next word, which must be there. */
int netem_words_next(struct netem_words *p, const char *what)
{
    if (p->at + 1 < p->count) {
        p->at++;
        return 0;
    }
    return err_set(p->err, ERR_USAGE, "impairment: '%s' (word %zu) lacks its %s", p->words[p->at],
                   p->at + 1, what);
}

/* ---- numbers, as tc reads them ---- */

/* Whether a further optional number follows: a word that starts with a digit. */
bool netem_words_number_follows(const struct netem_words *p)
{
    return p->at + 1 < p->count && isdigit((unsigned char)p->words[p->at + 1][0]);
}

bool netem_words_signed_follows(const struct netem_words *p)
{
    return netem_words_number_follows(p) || (p->at + 1 < p->count && p->words[p->at + 1][0] == '-');
}

/* A finite number that is not negative, and what follows it. */
static bool read_number(const char *text, double *value, const char **unit)
{
    char *end;

    *value = strtod(text, &end);
    *unit = end;
    return end != text && isfinite(*value) && *value >= 0;
}

static bool apply_unit(const struct unit *units, const char *name, double bare, double *value)
{
    if (*name == '\0') {
        *value *= bare;
        return true;
    }
    for (; units->name; units++)
        if (strcasecmp(units->name, name) == 0) {
            *value *= units->factor;
            return true;
        }
    return false;
}

/* bare_ns is what a number without a unit counts: microseconds for a delay, ns for a slot. */
int netem_words_time(struct netem_words *p, double bare_ns, int64_t *ns)
{
    static const struct unit units[] = {
        {"s", 1e9},     {"sec", 1e9}, {"secs", 1e9}, {"ms", 1e6},    {"msec", 1e6},
        {"msecs", 1e6}, {"us", 1e3},  {"usec", 1e3}, {"usecs", 1e3}, {"ns", 1},
        {"nsec", 1},    {"nsecs", 1}, {NULL, 0},
    };
    const char *unit;
    double value;

    if (!read_number(p->words[p->at], &value, &unit) || !apply_unit(units, unit, bare_ns, &value) ||
        value > (double)NET_DELAY_MAX_NS)
        return netem_words_refuse(
            p, "time",
            bare_ns > 1 ? "a number with s, ms, us or ns, or of microseconds; at most an "
                          "hour"
                        : "a number with s, ms, us or ns, or of nanoseconds; at most an "
                          "hour");
    *ns = (int64_t)rint(value);
    return 0;
}

int netem_words_fraction(struct netem_words *p, double *fraction)
{
    const char *unit;

    if (!read_number(p->words[p->at], fraction, &unit) || *fraction / 100. > 1 ||
        (*unit && strcmp(unit, "%") != 0))
        return netem_words_refuse(p, "percentage", "0% to 100%, with or without the sign");
    *fraction /= 100.;
    return 0;
}

int netem_words_share(struct netem_words *p, struct net_share *share)
{
    double fraction;

    if (netem_words_fraction(p, &fraction) < 0)
        return -1;
    *share = net_share_of(fraction, p->arena);
    return 0;
}

/* A share that may be there: *share is left alone where it is not. */
int netem_words_optional_share(struct netem_words *p, struct net_share *share)
{
    if (!netem_words_number_follows(p))
        return 0;
    p->at++;
    return netem_words_share(p, share);
}

/* A whole number in decimal, octal or hexadecimal. */
int netem_words_whole(struct netem_words *p, long min, long max, const char *what,
                      const char *allowed, long *value)
{
    char *end;

    errno = 0;
    *value = strtol(p->words[p->at], &end, 0);
    if (end == p->words[p->at] || *end || errno || *value < min || *value > max)
        return netem_words_refuse(p, what, allowed);
    return 0;
}

/* get_size of tc: powers of 1024. */
int netem_words_size(struct netem_words *p, const char *what, const char *allowed, uint32_t *size)
{
    static const struct unit units[] = {
        {"b", 1},         {"k", 1024},         {"kb", 1024},       {"m", 1048576},
        {"mb", 1048576},  {"g", 1073741824},   {"gb", 1073741824}, {"kbit", 128},
        {"mbit", 131072}, {"gbit", 134217728}, {NULL, 0},
    };
    const char *unit;
    double value;

    if (!read_number(p->words[p->at], &value, &unit) || !apply_unit(units, unit, 1, &value) ||
        value < 1 || value > INT32_MAX)
        return netem_words_refuse(p, what, allowed);
    *size = (uint32_t)value;
    return 0;
}

/* get_rate of tc: bits, and "...bps" bytes, a second. */
int netem_words_rate(struct netem_words *p, uint64_t *bit_s)
{
    static const struct unit units[] = {
        {"bit", 1},
        {"Kibit", 1024.},
        {"kbit", 1000.},
        {"mibit", 1048576.},
        {"mbit", 1e6},
        {"gibit", 1073741824.},
        {"gbit", 1e9},
        {"tibit", 1099511627776.},
        {"tbit", 1e12},
        {"Bps", 8.},
        {"KiBps", 8192.},
        {"KBps", 8e3},
        {"MiBps", 8388608.},
        {"MBps", 8e6},
        {"GiBps", 8589934592.},
        {"GBps", 8e9},
        {"TiBps", 8796093022208.},
        {"TBps", 8e12},
        {NULL, 0},
    };
    const char *unit;
    char name[16];
    double value;
    size_t len;

    if (!read_number(p->words[p->at], &value, &unit))
        return netem_words_refuse(p, "rate",
                                  "a number with bit, kbit, mbit, gbit, or of bits, a second");
    len = strlen(unit);
    if (len > 5 && len < sizeof(name) && strcasecmp(unit + len - 5, "bit/s") == 0)
        len -= 2;
    if (len >= sizeof(name))
        len = sizeof(name) - 1;
    memcpy(name, unit, len);
    name[len] = '\0';
    if (!apply_unit(units, name, 1, &value) || value > 8e15 ||
        (value > 0 && value < NET_RATE_MIN_BIT_S))
        return netem_words_refuse(
            p, "rate",
            "8bit and more: bit, kbit, mbit, gbit, tbit (kibit ...), or in bytes Bps, "
            "KBps, MBps, GBps");
    *bit_s = (uint64_t)value;
    return 0;
}
