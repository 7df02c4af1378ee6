#include "model/metric.h"

#include "base/strings.h"
#include "base/text.h"

#include <string.h>

/* A counter and its shares of the work done. */
#define COUNTER(name, help)                                                                        \
    {name, "count", BETTER_LOWER, METRIC_COUNTER, true, help}, {name "_per_byte",                  \
                                                                "1/B",                             \
                                                                BETTER_LOWER,                      \
                                                                METRIC_DERIVED,                    \
                                                                true,                              \
                                                                help ", per delivered byte"},      \
    {                                                                                              \
        name "_per_message", "1/message", BETTER_LOWER, METRIC_DERIVED, true,                      \
            help ", per delivered message"                                                         \
    }

static const struct metric_def table[] = {
    {"wall_time", "s", BETTER_LOWER, METRIC_MEASURED, true,
     "from the start of the last role to its end"},
    {"delivery_time", "s", BETTER_LOWER, METRIC_REPORTED, true,
     "time in which the payload was delivered, as the runner reports it"},
    {"cpu_time", "s", BETTER_LOWER, METRIC_MEASURED, true,
     "user and system CPU time of all roles, whole process trees"},
    {"user_time", "s", BETTER_LOWER, METRIC_MEASURED, false, "the user part of cpu_time"},
    {"system_time", "s", BETTER_LOWER, METRIC_MEASURED, false, "the system part of cpu_time"},
    {"effective_cores", "cores", BETTER_LOWER, METRIC_DERIVED, true, "cpu_time over wall_time"},
    {"peak_rss", "B", BETTER_LOWER, METRIC_MEASURED, true,
     "sum over the roles of each one's highest resident memory"},
    {"throughput", "Mbit/s", BETTER_HIGHER, METRIC_REPORTED, true,
     "payload bits received in full over delivery_time"},
    {"cpu_per_gbit", "CPU-s/Gbit", BETTER_LOWER, METRIC_DERIVED, true,
     "cpu_time per delivered Gbit"},
    {"delivered_bytes", "B", BETTER_HIGHER, METRIC_REPORTED, true,
     "payload bytes that arrived in full"},
    {"delivered_messages", "count", BETTER_HIGHER, METRIC_REPORTED, true,
     "messages that arrived in full"},
    {"messages_per_second", "1/s", BETTER_HIGHER, METRIC_REPORTED, true,
     "delivered_messages over delivery_time"},
    {"cpu_per_message", "us", BETTER_LOWER, METRIC_DERIVED, true, "cpu_time per delivered message"},
    {"heap_bytes", "B", BETTER_LOWER, METRIC_REPORTED, true,
     "bytes asked of the heap (freed or not), by a memory pass, else as the runner reports them"},
    {"heap_calls", "count", BETTER_LOWER, METRIC_REPORTED, true,
     "allocations, by a memory pass, else as the runner reports them"},
    {"heap_bytes_per_message", "B", BETTER_LOWER, METRIC_REPORTED, true,
     "heap_bytes per delivered message"},
    {"heap_calls_per_message", "1/message", BETTER_LOWER, METRIC_REPORTED, true,
     "heap_calls per delivered message"},
    COUNTER("cycles", "CPU cycles spent"),
    COUNTER("instructions", "instructions retired"),
    COUNTER("cache_references", "cache references; what counts as one differs by vendor"),
    COUNTER("cache_misses", "cache misses; what counts as one differs by vendor"),
    COUNTER("branch_misses", "mispredicted branches"),
    {"context_switches", "count", BETTER_LOWER, METRIC_MEASURED, true,
     "voluntary and involuntary context switches"},
    {"cpu_migrations", "count", BETTER_LOWER, METRIC_COUNTER, true,
     "moves of a thread to another CPU"},
    {"minor_faults", "count", BETTER_LOWER, METRIC_MEASURED, true,
     "page faults served without I/O"},
    {"major_faults", "count", BETTER_LOWER, METRIC_MEASURED, true, "page faults that needed I/O"},
};

#define TABLE_COUNT (sizeof(table) / sizeof(table[0]))

const struct metric_def *metric_table(size_t *count)
{
    *count = TABLE_COUNT;
    return table;
}

const struct metric_def *metric_find(const char *name)
{
    for (size_t i = 0; i < TABLE_COUNT; i++)
        if (strings_same(table[i].name, name))
            return &table[i];
    return NULL;
}

bool metric_is_heap(const char *name)
{
    static const char *const names[] = {"heap_bytes", "heap_calls", "heap_bytes_per_message",
                                        "heap_calls_per_message"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strings_same(names[i], name))
            return true;
    return false;
}

const char *metric_nearest(const char *name)
{
    const char *names[TABLE_COUNT];

    for (size_t i = 0; i < TABLE_COUNT; i++)
        names[i] = table[i].name;
    return text_nearest(name, names, TABLE_COUNT);
}

const char *metric_of_event(const char *event)
{
    static const char *const standard[][2] = {
        {"PERF_COUNT_HW_CPU_CYCLES", "cycles"},
        {"PERF_COUNT_HW_INSTRUCTIONS", "instructions"},
        {"PERF_COUNT_HW_CACHE_REFERENCES", "cache_references"},
        {"PERF_COUNT_HW_CACHE_MISSES", "cache_misses"},
        {"PERF_COUNT_HW_BRANCH_MISSES", "branch_misses"},
        {"PERF_COUNT_SW_CPU_MIGRATIONS", "cpu_migrations"},
    };

    for (size_t i = 0; i < sizeof(standard) / sizeof(standard[0]); i++)
        if (strcmp(event, standard[i][0]) == 0)
            return standard[i][1];
    return event;
}

/* ---- units ---- */

enum family { TIME, SIZE, RATE, FREQUENCY, COUNT, CPU_PER_BIT };

/* One of the unit is num / den of its family's base; both exact, so that a division rounds once. */
struct unit_def {
    const char *name;
    enum family family;
    double num, den;
};

#define KI 1024.0
static const struct unit_def units[] = {
    {"ns", TIME, 1, 1e9},
    {"us", TIME, 1, 1e6},
    {"ms", TIME, 1, 1e3},
    {"s", TIME, 1, 1},
    {"min", TIME, 60, 1},
    {"h", TIME, 3600, 1},
    {"B", SIZE, 1, 1},
    {"kB", SIZE, 1e3, 1},
    {"MB", SIZE, 1e6, 1},
    {"GB", SIZE, 1e9, 1},
    {"TB", SIZE, 1e12, 1},
    {"KiB", SIZE, KI, 1},
    {"MiB", SIZE, KI *KI, 1},
    {"GiB", SIZE, KI *KI *KI, 1},
    {"TiB", SIZE, KI *KI *KI *KI, 1},
    {"bit/s", RATE, 1, 1},
    {"kbit/s", RATE, 1e3, 1},
    {"Mbit/s", RATE, 1e6, 1},
    {"Gbit/s", RATE, 1e9, 1},
    {"Tbit/s", RATE, 1e12, 1},
    {"Kibit/s", RATE, KI, 1},
    {"Mibit/s", RATE, KI *KI, 1},
    {"Gibit/s", RATE, KI *KI *KI, 1},
    {"B/s", RATE, 8, 1},
    {"kB/s", RATE, 8e3, 1},
    {"MB/s", RATE, 8e6, 1},
    {"GB/s", RATE, 8e9, 1},
    {"KiB/s", RATE, 8 * KI, 1},
    {"MiB/s", RATE, 8 * KI *KI, 1},
    {"GiB/s", RATE, 8 * KI *KI *KI, 1},
    {"1/s", FREQUENCY, 1, 1},
    {"k/s", FREQUENCY, 1e3, 1},
    {"M/s", FREQUENCY, 1e6, 1},
    {"1/ms", FREQUENCY, 1e3, 1},
    {"1/us", FREQUENCY, 1e6, 1},
    {"1/min", FREQUENCY, 1, 60},
    {"count", COUNT, 1, 1},
    {"", COUNT, 1, 1},
    {"k", COUNT, 1e3, 1},
    {"M", COUNT, 1e6, 1},
    {"%", COUNT, 1, 100},
    {"CPU-s/Gbit", CPU_PER_BIT, 1, 1},
    {"CPU-ms/Gbit", CPU_PER_BIT, 1, 1e3},
};

static const struct unit_def *unit_find(const char *name)
{
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (strcmp(units[i].name, name) == 0)
            return &units[i];
    return NULL;
}

bool metric_convert(double number, const char *from, const char *to, double *out)
{
    const struct unit_def *a = unit_find(from), *b = unit_find(to);

    if (strcmp(from, to) == 0) {
        *out = number;
        return true;
    }
    if (!a || !b || a->family != b->family)
        return false;
    *out = number * (a->num * b->den) / (a->den * b->num);
    return true;
}

/* ---- directions and values ---- */

const char *metric_better_name(enum metric_better better)
{
    return better == BETTER_HIGHER ? "higher" : "lower";
}

bool metric_better_parse(const char *text, enum metric_better *better)
{
    if (strcmp(text, "lower") == 0)
        *better = BETTER_LOWER;
    else if (strcmp(text, "higher") == 0)
        *better = BETTER_HIGHER;
    else
        return false;
    return true;
}

struct value value_ok(double number)
{
    return (struct value){.number = number, .status = VALUE_OK, .coverage = 1};
}

struct value value_none(enum value_status status, const char *reason)
{
    return (struct value){.status = status, .reason = reason};
}

bool value_usable(const struct value *v)
{
    return v->status == VALUE_OK || (v->status == VALUE_SCALED && v->coverage >= 0.99);
}

static const char *const status_names[] = {
    [VALUE_OK] = "ok",
    [VALUE_SCALED] = "scaled",
    [VALUE_NOT_COUNTED] = "not_counted",
    [VALUE_UNSUPPORTED] = "unsupported",
    [VALUE_DENIED] = "denied",
    [VALUE_INVALID] = "invalid",
    [VALUE_MISSING] = "missing",
};

const char *value_status_name(enum value_status status)
{
    return status_names[status];
}

bool value_status_parse(const char *text, enum value_status *status)
{
    for (size_t i = 0; i < sizeof(status_names) / sizeof(status_names[0]); i++) {
        if (strcmp(text, status_names[i]) != 0)
            continue;
        *status = (enum value_status)i;
        return true;
    }
    return false;
}
