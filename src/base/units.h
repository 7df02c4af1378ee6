/*
 * units: quantities that carry their unit, in and out. Does no I/O.
 *
 * Text in files and options is a plain decimal number followed by a unit, without a space, as tc
 * writes it: "20ms", "320Mbit/s" or "320mbit", "16MiB", "0.1%". A number without a unit, a sign,
 * nan, inf, an exponent, or a value that is no whole number of ns, bit/s or bytes is an error
 * (ERR_CONFIG) that lists the units allowed.
 */
#ifndef ABBA_BASE_UNITS_H
#define ABBA_BASE_UNITS_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/*
 * time: ns us ms s min h, and tc's nsec usec msec sec (also with a plural s)
 * rate: bit/s kbit/s Mbit/s Gbit/s Tbit/s, Kibit/s Mibit/s Gibit/s, in any case and also without
 *       the /s as tc has them; B/s kB/s MB/s GB/s KiB/s MiB/s GiB/s. tc's "mbps" (megabytes) is
 *       refused, because most people read it as megabits.
 * size: B kB MB GB TB (powers of 1000), KiB MiB GiB TiB (powers of 1024)
 * percent: %; the fraction is strtod of the number, divided by 100
 * Results are at most INT64_MAX.
 */
int units_parse_time(const char *text, int64_t *ns, struct err *err);
int units_parse_rate(const char *text, uint64_t *bps, struct err *err);
int units_parse_size(const char *text, uint64_t *bytes, struct err *err);
int units_parse_percent(const char *text, double *fraction, struct err *err);

#define UNITS_TEXT 48

/* The shortest exact text that parses back to the same value: "20ms", "320Mbit/s", "16MiB". */
void units_canonical_time(int64_t ns, char out[UNITS_TEXT]);
void units_canonical_rate(uint64_t bps, char out[UNITS_TEXT]);
void units_canonical_size(uint64_t bytes, char out[UNITS_TEXT]);

/* A value of a metric, scaled for people. */
struct units_scaled {
    double value;    /* in the scaled unit */
    int decimals;    /* to be printed for three significant digits */
    char suffix[32]; /* "ms", "MB", "Mbit/s", "K/s", " CPU-s/Gbit", "" */
};

/*
 * Scales a finite value in a metric's unit, by 1000 as poop does: 4.52 "ms", 12.3 "MB", 1.23 "G".
 * Known are "s", "us", "ns", "B", "bit/s", "Mbit/s", "CPU-s/Gbit", "1/s", "count" and "" (a pure
 * number). Another unit is scaled as a count and stands behind a space in the suffix.
 */
void units_scale(double value, const char *unit, struct units_scaled *out);

/* The number alone, with its decimals; what they could not say as 1.23e+45. */
void units_digits(const struct units_scaled *scaled, char out[UNITS_TEXT]);

#endif
