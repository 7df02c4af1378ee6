#include "base/units.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Scales of one unit, smallest first. */
struct scale {
    double factor;
    const char *suffix;
};

struct scaling {
    const char *unit;
    struct scale scales[6];
};

static const struct scaling scalings[] = {
    {"s", {{1e-9, "ns"}, {1e-6, "us"}, {1e-3, "ms"}, {1, "s"}}},
    {"us", {{1e-3, "ns"}, {1, "us"}, {1e3, "ms"}, {1e6, "s"}}},
    {"ns", {{1, "ns"}, {1e3, "us"}, {1e6, "ms"}, {1e9, "s"}}},
    {"B", {{1, "B"}, {1e3, "kB"}, {1e6, "MB"}, {1e9, "GB"}, {1e12, "TB"}}},
    {"bit/s", {{1, "bit/s"}, {1e3, "kbit/s"}, {1e6, "Mbit/s"}, {1e9, "Gbit/s"}, {1e12, "Tbit/s"}}},
    {"Mbit/s",
     {{1e-6, "bit/s"}, {1e-3, "kbit/s"}, {1, "Mbit/s"}, {1e3, "Gbit/s"}, {1e6, "Tbit/s"}}},
    {"CPU-s/Gbit", {{1, " CPU-s/Gbit"}}},
    {"1/s", {{1, "/s"}, {1e3, "K/s"}, {1e6, "M/s"}, {1e9, "G/s"}, {1e12, "T/s"}}},
    {"count", {{1, ""}, {1e3, "K"}, {1e6, "M"}, {1e9, "G"}, {1e12, "T"}}},
};

#define COUNT_SCALING (&scalings[sizeof scalings / sizeof *scalings - 1])

/* Decimals that give three significant digits; 1000 and more have none. */
static int decimals_for(double size)
{
    int decimals = 2;

    if (size >= 99.95)
        return 0;
    if (size >= 9.995)
        return 1;
    for (double least = 0.9995; size < least && decimals < 9; least /= 10)
        decimals++;
    return decimals;
}

static const struct scaling *scaling_of(const char *unit)
{
    if (unit[0] == '\0')
        return COUNT_SCALING;
    for (size_t i = 0; i < sizeof scalings / sizeof *scalings; i++) {
        if (strcmp(scalings[i].unit, unit) == 0)
            return &scalings[i];
    }
    return NULL;
}

static const struct scale *scale_for(const struct scaling *scaling, double value)
{
    const struct scale *scale = scaling->scales;

    /* 999.5 and more would be printed as 1000. */
    while (scale[1].suffix != NULL && fabs(value) / scale->factor >= 999.5)
        scale++;
    return scale;
}

void units_scale(double value, const char *unit, struct units_scaled *out)
{
    const struct scaling *known = scaling_of(unit);
    const struct scaling *scaling = known != NULL ? known : COUNT_SCALING;
    const struct scale *scale = scale_for(scaling, value);
    bool smallest = scale == scaling->scales;

    out->value = value / scale->factor;
    if (smallest && fabs(out->value) < 1e15 && rint(out->value) == out->value)
        out->decimals = 0;
    else
        out->decimals = decimals_for(fabs(out->value));
    if (known != NULL)
        snprintf(out->suffix, sizeof out->suffix, "%s", scale->suffix);
    else
        snprintf(out->suffix, sizeof out->suffix, "%s %s", scale->suffix, unit);
}

/* Beyond what a column of digits says: hundreds of them, or nothing but zeros. */
static bool is_extreme(double scaled)
{
    return scaled != 0 && (fabs(scaled) >= 1e12 || fabs(scaled) < 1e-7);
}

void units_digits(const struct units_scaled *scaled, char out[UNITS_TEXT])
{
    if (is_extreme(scaled->value))
        snprintf(out, UNITS_TEXT, "%.2e", scaled->value);
    else
        snprintf(out, UNITS_TEXT, "%.*f", scaled->decimals, scaled->value + 0.0); /* no -0 */
}
