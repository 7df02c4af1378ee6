/*
 * sample: what a run yields, also when it fails; one line of samples.jsonl.
 */
#ifndef ABBA_MODEL_SAMPLE_H
#define ABBA_MODEL_SAMPLE_H

#include "base/err.h"
#include "model/metric.h"
#include "model/netproof.h"
#include "model/outcome.h"

#include <stdint.h>

struct arena;
struct buf;

enum sample_status { SAMPLE_OK, SAMPLE_FAILED, SAMPLE_TIMEOUT, SAMPLE_INVALID, SAMPLE_INTERRUPTED };
enum sample_stage { STAGE_WARMUP, STAGE_MAIN, STAGE_CONFIRM };

struct sample_metric {
    const char *name;
    const char *unit; /* base unit */
    struct value value;
    double floor; /* differences up to this count as no change; 0 for most */
};

#define SAMPLE_END_IMPORTED "imported"

/* The reason of figures that a memory pass withholds. */
#define SAMPLE_MEMORY_PASS "a memory pass tells what heaps were asked for, and nothing of time"

/* A raw file of the run, below raw/. */
struct sample_file {
    const char *path; /* relative to the archive: "raw/000001-receiver.stdout" */
    uint64_t bytes;   /* of the file */
    uint64_t cut;     /* bytes of the stream that were not kept */
    char sha256[65];
};

struct sample_role {
    const char *name;
    const char *end; /* SAMPLE_END_IMPORTED: the files are all there is; "exited", "signaled",
                        "stopped", "killed", "start_failed", "not_started" */
    int exit_code, signal;
    const char *error; /* NULL or one line */
    double wall_s, user_s, system_s;
    struct value cgroup_cpu_s;
    bool cpu_differs;
    uint64_t peak_rss_bytes, sampled_rss_bytes, max_rss_bytes;
    uint32_t processes, leftovers, rss_samples, missed_ticks;
    const char *cpus;
    const char *stderr_tail; /* last lines when the run failed, neutralised; else NULL */
    const char *heap; /* of a memory pass: the text of its records, to be kept raw; or NULL */
    size_t heap_len;
    struct sample_file *files;
    size_t file_count;
};

struct sample {
    uint64_t run;  /* 1.. over the series */
    uint64_t pair; /* 1.. over the profile; warm-ups: 0 */
    uint32_t slot; /* 1.. within the pair or block */
    uint32_t attempt;
    enum sample_stage stage;
    const char *variant;
    const char *profile;
    enum sample_status status;
    const char *error;    /* NULL if ok; one line */
    bool nonzero_exit;    /* as read: a role exited with a status other than 0 */
    bool program_changed; /* a file under test is not the plan's any more: the series is invalid */
    const char *started;  /* UTC, ISO 8601 */
    struct sample_metric *metrics;
    size_t metric_count;
    struct sample_role *roles;
    size_t role_count;
    struct net_proof net; /* backend NULL: the run had no network of its own */
    struct noise_reading noise;
};

/*
 * Appends the sample as one line of JSON, newline included. A value that is neither ok nor scaled
 * is written as null with its reason; one that is no finite number is written as missing.
 */
void sample_encode(const struct sample *s, struct buf *out);

/* Where a line comes from, and what can be shared with it. */
struct sample_source {
    const char *file;          /* for messages */
    size_t line;               /* its number in the file, from 1 */
    const struct sample *like; /* an earlier one of the arena, or NULL: equal texts are shared */
    struct arena *roles; /* of the roles alone, for a reader who does not keep them; or NULL */
};

/*
 * Reads one line (a newline at its end may be there or not). Everything belongs to the arena,
 * roles to their own if there is one.
 * ERR_ARCHIVE on a fault, naming file, line and JSON path.
 */
int sample_decode(struct sample *s, const char *line, size_t len, const struct sample_source *from,
                  struct arena *arena, struct err *err);

const struct sample_metric *sample_find_metric(const struct sample *s, const char *name);
const char *sample_status_name(enum sample_status status);
const char *sample_stage_name(enum sample_stage stage);

#endif
