/*
 * units: quantities as people and tc write them. A number without its unit is taken for bytes
 * in a size, and refused in a rate or a time unless it is 0.
 */
#ifndef COMMON_UNITS_H
#define COMMON_UNITS_H

#include <stdint.h>

/* "1400", "1400B", "16KiB", "4MiB", "64kB". Returns 0, or -1 if it is not a size. */
int parse_size(const char *text, uint64_t *bytes);

/* "320Mbit/s", "320Mbit", "0bit/s"; "unpaced" is 0. Bits per second. */
int parse_rate(const char *text, uint64_t *bps);

/* "500ms", "10s", "20us", "1.5s", "2min". Nanoseconds. */
int parse_time(const char *text, int64_t *ns);

/* "2%" or "2": a percentage from 0 to 100. */
int parse_percent(const char *text, double *percent);

/* A plain decimal integer from min to max. */
int parse_integer(const char *text, uint64_t min, uint64_t max, uint64_t *value);

#endif
