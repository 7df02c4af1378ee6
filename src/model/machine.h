/*
 * machine: where a series ran, as series.json records it.
 *
 * run/machine.c looks at the machine; the archive keeps it; reports print one line of it.
 * Host name, user, home folder and addresses never enter, unless --identify.
 */
#ifndef ABBA_MODEL_MACHINE_H
#define ABBA_MODEL_MACHINE_H

#include "base/err.h"
#include "base/strings.h"
#include "model/metric.h"

struct arena;
struct json;
struct json_writer;

/* A setting that disturbs measurements, with what was found: {"aslr", "2"}, {"governor",
 * "performance"}. */
struct machine_setting {
    const char *name;
    const char *value; /* NULL: this machine does not say */
};

/* What came of trying each counter on this machine. */
struct machine_counter {
    const char *event;
    enum value_status status;
    const char *reason; /* NULL if ok */
};

struct machine {
    const char *kernel;    /* "Linux 6.18.44 x86_64" */
    const char *cpu_model; /* as /proc/cpuinfo names it */
    int cpus;              /* online */
    int allowed_cpus;      /* that abba may use */
    long page_bytes;
    long memory_mib;
    const char *isolation; /* "pid-namespace" or "subreaper" */
    struct machine_setting *settings;
    size_t setting_count;
    struct machine_counter *counters;
    size_t counter_count;
    /* Of abba's own environment what can change how programs run, by an allowlist; no secrets. */
    struct machine_setting *environment;
    size_t environment_count;
    const char *host; /* NULL unless --identify */
};

/* Writes the machine as an object. */
void machine_encode(const struct machine *m, struct json_writer *w);

/* Reads it back, strictly. Everything belongs to the arena. ERR_CONFIG on a fault. */
int machine_decode(struct machine *m, const struct json *root, const char *file,
                   struct arena *arena, struct err *err);

/*
 * What of it differs from `then`, a text each ("kernel was ..., is ..."), in the arena. What
 * changes by itself (load) and what is said differently (reasons) is not compared, memory to 1 %;
 * the host's name only where both have it.
 */
void machine_differences(const struct machine *then, const struct machine *now, struct strings *out,
                         struct arena *arena);

#endif
