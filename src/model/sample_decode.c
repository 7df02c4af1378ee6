/*
 * Reading one line of samples.jsonl. An archive may hold ten thousand of them with forty metrics
 * each, so the line is scanned once and then walked by a cursor, without a tree; texts that an
 * earlier sample has too (names, units, reasons) are shared with it.
 */
#include "model/sample.h"

#include <string.h>

#include "base/mem.h"
#include "model/sample_line.h"
#include "model/sample_net.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* ---- values ---- */

enum value_key {
    VALUE_NUMBER,
    VALUE_UNIT,
    VALUE_STATUS,
    VALUE_REASON,
    VALUE_COVERAGE,
    VALUE_FLOOR
};
static const char *const value_keys[] = {"value", "unit", "status", "reason", "coverage", "floor"};
static const struct line_shape metric_shape = {value_keys, COUNT(value_keys), 0x7};
static const struct line_shape reading_shape = {value_keys, COUNT(value_keys), 0x5};

struct value_draft {
    struct sample_metric m;
    const struct sample_metric *like;
    bool null, with_unit;
};

static int read_status(struct line *d, enum value_status *status)
{
    struct json_text t;
    char word[16];

    if (!jc_string(&d->c, &t))
        return line_wrong_kind(d, "a string");
    if (t.len >= sizeof word)
        return line_fault(d, "unknown status");
    memcpy(word, t.data, t.len);
    word[t.len] = '\0';
    return value_status_parse(word, status) ? 0 : line_fault(d, "unknown status '%s'", word);
}

static int read_value_member(struct line *d, size_t key, void *into)
{
    struct value_draft *v = into;

    switch ((enum value_key)key) {
    case VALUE_NUMBER:
        v->null = jc_null(&d->c);
        return v->null ? 0 : line_number(d, &v->m.value.number);
    case VALUE_UNIT:
        if (!v->with_unit)
            return line_fault(d, "unknown key");
        return line_text(d, v->like ? v->like->unit : NULL, &v->m.unit);
    case VALUE_STATUS:
        return read_status(d, &v->m.value.status);
    case VALUE_REASON:
        return line_text(d, v->like ? v->like->value.reason : NULL, &v->m.value.reason);
    case VALUE_COVERAGE:
        if (line_number(d, &v->m.value.coverage) < 0)
            return -1;
        return v->m.value.coverage >= 0 && v->m.value.coverage <= 1
                   ? 0
                   : line_fault(d, "coverage %g is not within 0 and 1", v->m.value.coverage);
    case VALUE_FLOOR:
        return v->with_unit ? line_not_negative(d, &v->m.floor) : line_fault(d, "unknown key");
    }
    return -1;
}

static int read_value(struct line *d, const struct line_shape *shape, struct value_draft *v)
{
    v->m.value.coverage = 1;
    v->with_unit = shape == &metric_shape;
    if (line_object(d, shape, read_value_member, v) < 0)
        return -1;

    bool has_number = v->m.value.status == VALUE_OK || v->m.value.status == VALUE_SCALED;
    if (has_number == v->null)
        return line_fault(d, "status '%s' %s a value", value_status_name(v->m.value.status),
                          v->null ? "without" : "with");
    if ((v->m.value.status == VALUE_OK) == (v->m.value.reason != NULL))
        return line_fault(d, "status '%s' %s a reason", value_status_name(v->m.value.status),
                          v->m.value.reason ? "with" : "without");
    return 0;
}

static int read_reading(struct line *d, const struct value *like, struct value *out)
{
    struct sample_metric twin = {.value = *like};
    struct value_draft v = {.like = &twin};

    if (read_value(d, &reading_shape, &v) < 0)
        return -1;
    *out = v.m.value;
    return 0;
}

static int read_metrics(struct line *d, struct sample *s)
{
    const struct sample *like = d->from->like;
    size_t room = like && like->metric_count ? like->metric_count : 16;
    struct json_text key;

    s->metrics = arena_array(d->arena, room, sizeof *s->metrics);
    if (!jc_enter_object(&d->c))
        return line_wrong_kind(d, "an object");
    while (jc_next_key(&d->c, &key)) {
        const struct sample_metric *twin =
            like && s->metric_count < like->metric_count ? &like->metrics[s->metric_count] : NULL;
        struct value_draft v = {.like = twin};

        line_enter(d, &key);
        if (read_value(d, &metric_shape, &v) < 0)
            return -1;
        line_leave(d);
        v.m.name = line_keep(d, &key, twin ? twin->name : NULL);
        s->metrics = line_grow(d->arena, s->metrics, s->metric_count, &room, sizeof *s->metrics);
        s->metrics[s->metric_count++] = v.m;
    }
    return 0;
}

/* ---- roles ---- */

enum file_key { FILE_PATH, FILE_BYTES, FILE_CUT, FILE_SHA256 };
static const char *const file_keys[] = {"path", "bytes", "cut", "sha256"};
static const struct line_shape file_shape = {file_keys, COUNT(file_keys), 0xf};

/* Only names that the writer gives: below raw/, one level, no path that leads elsewhere. */
static bool is_raw_path(const char *path)
{
    if (strncmp(path, "raw/", 4) != 0 || path[4] == '.' || path[4] == '\0')
        return false;
    for (const char *p = path + 4; *p; p++)
        if (*p == '/' || *p <= ' ' || *p > '~' || *p == '\\')
            return false;
    return true;
}

static int read_file_member(struct line *d, size_t key, void *into)
{
    struct sample_file *f = into;

    switch ((enum file_key)key) {
    case FILE_PATH:
        if (line_text(d, NULL, &f->path) < 0)
            return -1;
        return is_raw_path(f->path) ? 0 : line_fault(d, "not the name of a file below raw/");
    case FILE_BYTES:
        return line_uint(d, 0, UINT64_MAX, &f->bytes);
    case FILE_CUT:
        return line_uint(d, 0, UINT64_MAX, &f->cut);
    case FILE_SHA256:
        return line_sha256(d, f->sha256);
    }
    return -1;
}

static int read_files(struct line *d, struct sample_role *r, size_t expected)
{
    size_t room = 0;

    if (expected > 0) {
        room = expected;
        r->files = arena_array(d->arena, room, sizeof *r->files);
    }
    if (!jc_enter_array(&d->c))
        return line_wrong_kind(d, "an array");
    while (jc_next_item(&d->c)) {
        r->files = line_grow(d->arena, r->files, r->file_count, &room, sizeof *r->files);
        if (line_object(d, &file_shape, read_file_member, &r->files[r->file_count]) < 0)
            return -1;
        r->file_count++;
    }
    return 0;
}

enum role_key {
    ROLE_END,
    ROLE_EXIT_CODE,
    ROLE_SIGNAL,
    ROLE_ERROR,
    ROLE_WALL,
    ROLE_USER,
    ROLE_SYSTEM,
    ROLE_CGROUP,
    ROLE_DIFFER,
    ROLE_PEAK_RSS,
    ROLE_SAMPLED_RSS,
    ROLE_MAX_RSS,
    ROLE_PROCESSES,
    ROLE_LEFTOVERS,
    ROLE_RSS_SAMPLES,
    ROLE_MISSED_TICKS,
    ROLE_CPUS,
    ROLE_STDERR_TAIL,
    ROLE_FILES,
};
static const char *const role_keys[] = {
    "end",
    "exit_code",
    "signal",
    "error",
    "wall_time",
    "user_time",
    "system_time",
    "cgroup_cpu_time",
    "cpu_sources_differ",
    "peak_rss",
    "sampled_rss",
    "max_rss",
    "processes",
    "leftovers",
    "rss_samples",
    "missed_ticks",
    "cpus",
    "stderr_tail",
    "files",
};
#define ROLE_OPTIONAL (1u << ROLE_SIGNAL | 1u << ROLE_ERROR | 1u << ROLE_STDERR_TAIL)
#define ROLE_REQUIRED (((1u << COUNT(role_keys)) - 1) & ~ROLE_OPTIONAL)
#define ROLE_OF_IMPORTED (1u << ROLE_END | 1u << ROLE_FILES)
static const struct line_shape role_shape = {role_keys, COUNT(role_keys), ROLE_OF_IMPORTED};

static const char *const end_names[] = {
    "not_started", "start_failed", "exited", "signaled", "stopped", "killed", SAMPLE_END_IMPORTED};

struct role_draft {
    struct sample_role r;
    const struct sample_role *like; /* never NULL; empty without an earlier sample */
    uint32_t seen;
};

static int read_end(struct line *d, const char **out)
{
    size_t i;

    if (line_word(d, end_names, COUNT(end_names), &i) < 0)
        return -1;
    *out = end_names[i];
    return 0;
}

static int read_role_member(struct line *d, size_t key, void *into)
{
    struct role_draft *draft = into;
    struct sample_role *r = &draft->r;

    draft->seen |= (uint32_t)1 << key;
    switch ((enum role_key)key) {
    case ROLE_END:
        return read_end(d, &r->end);
    case ROLE_EXIT_CODE:
        return line_small(d, 255, &r->exit_code);
    case ROLE_SIGNAL:
        return line_small(d, 127, &r->signal);
    case ROLE_ERROR:
        return line_text(d, draft->like->error, &r->error);
    case ROLE_WALL:
        return line_not_negative(d, &r->wall_s);
    case ROLE_USER:
        return line_not_negative(d, &r->user_s);
    case ROLE_SYSTEM:
        return line_not_negative(d, &r->system_s);
    case ROLE_CGROUP:
        return read_reading(d, &draft->like->cgroup_cpu_s, &r->cgroup_cpu_s);
    case ROLE_DIFFER:
        return line_bool(d, &r->cpu_differs);
    case ROLE_PEAK_RSS:
        return line_uint(d, 0, UINT64_MAX, &r->peak_rss_bytes);
    case ROLE_SAMPLED_RSS:
        return line_uint(d, 0, UINT64_MAX, &r->sampled_rss_bytes);
    case ROLE_MAX_RSS:
        return line_uint(d, 0, UINT64_MAX, &r->max_rss_bytes);
    case ROLE_PROCESSES:
        return line_uint32(d, 0, &r->processes);
    case ROLE_LEFTOVERS:
        return line_uint32(d, 0, &r->leftovers);
    case ROLE_RSS_SAMPLES:
        return line_uint32(d, 0, &r->rss_samples);
    case ROLE_MISSED_TICKS:
        return line_uint32(d, 0, &r->missed_ticks);
    case ROLE_CPUS:
        return line_text(d, draft->like->cpus, &r->cpus);
    case ROLE_STDERR_TAIL:
        return line_text(d, draft->like->stderr_tail, &r->stderr_tail);
    case ROLE_FILES:
        return read_files(d, r, draft->like->file_count);
    }
    return -1;
}

/* A role that abba did not run has an end and files, any other one all that is measured. */
static int check_role(struct line *d, const struct role_draft *draft)
{
    bool imported = strcmp(draft->r.end, SAMPLE_END_IMPORTED) == 0;
    uint32_t missing = ROLE_REQUIRED & ~draft->seen;

    if (imported)
        return draft->seen == ROLE_OF_IMPORTED
                   ? 0
                   : line_fault(d, "an imported role has only 'end' and 'files'");
    for (size_t i = 0; i < COUNT(role_keys); i++)
        if (missing & ((uint32_t)1 << i))
            return line_fault(d, "key '%s' is missing", role_keys[i]);
    return 0;
}

static int read_each_role(struct line *d, struct sample *s)
{
    static const struct sample_role nothing;
    const struct sample *like = d->from->like;
    struct json_text key;
    size_t room = like && like->role_count ? like->role_count : 1;

    s->roles = arena_array(d->arena, room, sizeof *s->roles);
    if (!jc_enter_object(&d->c))
        return line_wrong_kind(d, "an object");
    while (jc_next_key(&d->c, &key)) {
        const struct sample_role *twin =
            like && s->role_count < like->role_count ? &like->roles[s->role_count] : &nothing;
        struct role_draft draft = {.like = twin};

        line_enter(d, &key);
        if (line_object(d, &role_shape, read_role_member, &draft) < 0 || check_role(d, &draft) < 0)
            return -1;
        line_leave(d);
        draft.r.name = line_keep(d, &key, twin->name);
        s->nonzero_exit |= draft.r.exit_code != 0;
        s->roles = line_grow(d->arena, s->roles, s->role_count, &room, sizeof *s->roles);
        s->roles[s->role_count++] = draft.r;
    }
    return 0;
}

static int read_roles(struct line *d, struct sample *s)
{
    struct arena *of_all = d->arena;

    if (d->from->roles)
        d->arena = d->from->roles;
    int rc = read_each_role(d, s);
    d->arena = of_all;
    return rc;
}

/* ---- noise ---- */

static const char *const noise_keys[] = {"psi_cpu",   "others",    "steal",
                                         "throttled", "frequency", "load"};
static const struct line_shape noise_shape = {noise_keys, COUNT(noise_keys), 0x3f};

static struct value *noise_member(struct noise_reading *n, size_t key)
{
    struct value *const members[] = {&n->psi_cpu,   &n->others,    &n->steal,
                                     &n->throttled, &n->frequency, &n->load};
    return members[key];
}

static int read_noise_member(struct line *d, size_t key, void *into)
{
    static struct noise_reading nothing;
    const struct sample *like = d->from->like;
    struct noise_reading twins = like ? like->noise : nothing;

    return read_reading(d, noise_member(&twins, key), noise_member(into, key));
}

/* ---- the line ---- */

enum sample_key {
    SAMPLE_RUN,
    SAMPLE_PAIR,
    SAMPLE_SLOT,
    SAMPLE_ATTEMPT,
    SAMPLE_STAGE,
    SAMPLE_VARIANT,
    SAMPLE_PROFILE,
    SAMPLE_STATUS,
    SAMPLE_ERROR,
    SAMPLE_PROGRAM_CHANGED,
    SAMPLE_STARTED,
    SAMPLE_METRICS,
    SAMPLE_ROLES,
    SAMPLE_NET,
    SAMPLE_NOISE,
};
static const char *const sample_keys[] = {
    "run",     "pair",    "slot",   "attempt", "stage",
    "variant", "profile", "status", "error",   "program_changed",
    "started", "metrics", "roles",  "net",     "noise",
};
static const struct line_shape sample_shape = {
    sample_keys, COUNT(sample_keys),
    ((1u << COUNT(sample_keys)) - 1) & ~(1u << SAMPLE_PROGRAM_CHANGED | 1u << SAMPLE_NET)};

static int read_stage(struct line *d, enum sample_stage *out)
{
    const char *const names[] = {sample_stage_name(STAGE_WARMUP), sample_stage_name(STAGE_MAIN),
                                 sample_stage_name(STAGE_CONFIRM)};
    size_t i;

    if (line_word(d, names, COUNT(names), &i) < 0)
        return -1;
    *out = (enum sample_stage)i;
    return 0;
}

static int read_sample_status(struct line *d, enum sample_status *out)
{
    const char *names[SAMPLE_INTERRUPTED + 1];
    size_t i;

    for (i = 0; i < COUNT(names); i++)
        names[i] = sample_status_name((enum sample_status)i);
    if (line_word(d, names, COUNT(names), &i) < 0)
        return -1;
    *out = (enum sample_status)i;
    return 0;
}

static int read_sample_member(struct line *d, size_t key, void *into)
{
    static const struct sample nothing;
    const struct sample *like = d->from->like ? d->from->like : &nothing;
    struct sample *s = into;

    switch ((enum sample_key)key) {
    case SAMPLE_RUN:
        return line_uint(d, 1, UINT64_MAX, &s->run);
    case SAMPLE_PAIR:
        return line_uint(d, 0, UINT64_MAX, &s->pair);
    case SAMPLE_SLOT:
        return line_uint32(d, 1, &s->slot);
    case SAMPLE_ATTEMPT:
        return line_uint32(d, 1, &s->attempt);
    case SAMPLE_STAGE:
        return read_stage(d, &s->stage);
    case SAMPLE_VARIANT:
        return line_text(d, like->variant, &s->variant);
    case SAMPLE_PROFILE:
        return line_text(d, like->profile, &s->profile);
    case SAMPLE_STATUS:
        return read_sample_status(d, &s->status);
    case SAMPLE_ERROR:
        return line_text_or_null(d, like->error, &s->error);
    case SAMPLE_PROGRAM_CHANGED:
        return line_bool(d, &s->program_changed);
    case SAMPLE_STARTED:
        return line_time(d, &s->started);
    case SAMPLE_METRICS:
        return read_metrics(d, s);
    case SAMPLE_ROLES:
        return read_roles(d, s);
    case SAMPLE_NET:
        return sample_net_read(d, &like->net, &s->net);
    case SAMPLE_NOISE:
        return line_object(d, &noise_shape, read_noise_member, &s->noise);
    }
    return -1;
}

int sample_decode(struct sample *s, const char *line, size_t len, const struct sample_source *from,
                  struct arena *arena, struct err *err)
{
    struct json_rules rules = {.line = from->line, .code = ERR_ARCHIVE};
    struct line d = {.from = from, .arena = arena, .err = err};
    struct sample read = {0};

    if (json_scan(line, len, from->file, &rules, err) < 0)
        return -1;
    jc_init(&d.c, line, len);
    if (line_object(&d, &sample_shape, read_sample_member, &read) < 0)
        return -1;
    if ((read.status == SAMPLE_OK) != (read.error == NULL))
        return line_fault(&d, "status '%s' %s an error", sample_status_name(read.status),
                          read.error ? "with" : "without");
    if ((read.stage == STAGE_WARMUP) != (read.pair == 0))
        return line_fault(&d, "pair %llu in stage '%s'", (unsigned long long)read.pair,
                          sample_stage_name(read.stage));
    *s = read;
    return 0;
}
