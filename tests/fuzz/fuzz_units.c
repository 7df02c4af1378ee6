/* Whatever the text: what units takes comes back from its canonical text, and the texts for people
 * fit their space. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"

static void must(bool ok)
{
    if (!ok)
        abort();
}

static void check_time(const char *text)
{
    char canonical[UNITS_TEXT];
    struct err err = {0};
    int64_t ns, back;

    if (units_parse_time(text, &ns, &err) < 0) {
        must(strstr(err.msg, "allowed units") != NULL);
        return;
    }
    must(ns >= 0);
    units_canonical_time(ns, canonical);
    must(units_parse_time(canonical, &back, &err) == 0 && back == ns);
}

static void check_unsigned(const char *text, int (*parse)(const char *, uint64_t *, struct err *),
                           void (*write)(uint64_t, char[UNITS_TEXT]))
{
    char canonical[UNITS_TEXT];
    struct err err = {0};
    uint64_t value, back;

    if (parse(text, &value, &err) < 0) {
        must(strstr(err.msg, "allowed units") != NULL);
        return;
    }
    must(value <= INT64_MAX);
    write(value, canonical);
    must(parse(canonical, &back, &err) == 0 && back == value);
}

static void check_percent(const char *text)
{
    struct err err = {0};
    double fraction;

    if (units_parse_percent(text, &fraction, &err) == 0)
        must(isfinite(fraction) && fraction >= 0);
}

static void check_people(const uint8_t *data, size_t size, const char *unit)
{
    struct units_scaled scaled;
    double value;

    if (size < sizeof value)
        return;
    memcpy(&value, data, sizeof value);
    if (!isfinite(value))
        return;
    units_scale(value, unit, &scaled);
    must(isfinite(scaled.value) && scaled.decimals >= 0);
    units_scale(value, "s", &scaled);
    units_scale(value, "Mbit/s", &scaled);
    must(strcmp(scaled.suffix, "Tbit/s") == 0 || fabs(scaled.value) < 999.5);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);

    memcpy(text, data, size);
    text[size] = '\0';
    check_time(text);
    check_unsigned(text, units_parse_rate, units_canonical_rate);
    check_unsigned(text, units_parse_size, units_canonical_size);
    check_percent(text);
    check_people(data, size, text);
    free(text);
    return 0;
}
