#include "series/import.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "archive/writer.h"
#include "base/buf.h"
#include "base/digest.h"
#include "base/files.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "base/pattern.h"
#include "base/text.h"
#include "measure/measure.h"
#include "model/decode.h"
#include "plan/imported.h"

struct text {
    const char *data;
    size_t len;
};

/* What one run printed, and where it belongs. */
struct found_run {
    size_t variant, profile;
    bool warmup;
    int number; /* of its profile, variant and kind: 1.. */
    uint64_t started_ns;
    struct text *out, *err; /* one a role */
};

struct import {
    struct runner runner;
    struct plan plan;
    struct variant *variants;
    size_t variant_count;
    struct imported_profile *profiles;
    size_t profile_count, profile_room;
    struct found_run *runs;
    size_t run_count, run_room;
    struct pattern *split;
    int profile_group; /* of `split`; -1: none */
    int sacrifice;     /* runs at the front of a log that do not count, when it is split */
    struct strings notes;
    struct arena arena;
};

/* ---- profiles and runs ---- */

static int find_profile(struct import *im, const char *name, size_t *out, struct err *err)
{
    for (*out = 0; *out < im->profile_count; ++*out)
        if (strcmp(im->profiles[*out].name, name) == 0)
            return 0;
    if (im->profile_count == 1000)
        return err_set(err, ERR_MEASURE, "the logs name more than 1000 profiles");
    if (im->profile_count == im->profile_room) {
        im->profile_room = im->profile_room ? 2 * im->profile_room : 8;
        im->profiles = xreallocarray(im->profiles, im->profile_room, sizeof *im->profiles);
    }
    im->profiles[im->profile_count++] =
        (struct imported_profile){.name = arena_strdup(&im->arena, name)};
    return 0;
}

/* Adds a run and counts it. */
static struct found_run *add_run(struct import *im, size_t variant, size_t profile, bool warmup)
{
    struct imported_profile *p = &im->profiles[profile];
    int number = 1;

    for (size_t i = 0; i < im->run_count; i++)
        number += im->runs[i].variant == variant && im->runs[i].profile == profile &&
                  im->runs[i].warmup == warmup;
    if (im->run_count == im->run_room) {
        im->run_room = im->run_room ? 2 * im->run_room : 16;
        im->runs = xreallocarray(im->runs, im->run_room, sizeof *im->runs);
    }
    struct found_run *r = &im->runs[im->run_count++];
    *r = (struct found_run){
        .variant = variant, .profile = profile, .warmup = warmup, .number = number};
    r->out = arena_array(&im->arena, im->runner.role_count, sizeof *r->out);
    r->err = arena_array(&im->arena, im->runner.role_count, sizeof *r->err);
    int *most = warmup ? &p->warmup : &p->pairs;
    *most = number > *most ? number : *most;
    return r;
}

/* ---- files of a log ---- */

/* One file of a log: which stream of which role it is. */
struct log_file {
    size_t role;
    bool is_err;
    const char *path;
    struct text text;
    uint64_t changed_ns;
};

#define LOG_FILES 16

/* The role that a file without one belongs to: the only one, or the one that has all metrics. */
static int usual_role(const struct import *im, size_t *role, struct err *err)
{
    const struct runner *r = &im->runner;
    const char *name = r->role_count == 1    ? r->roles[0].name
                       : r->metric_count > 0 ? r->metrics[0].from.role
                                             : NULL;

    for (size_t i = 0; name && i < r->metric_count; i++)
        if (strcmp(r->metrics[i].from.role, name) != 0)
            name = NULL;
    for (*role = 0; name && *role < r->role_count; ++*role)
        if (strcmp(r->roles[*role].name, name) == 0)
            return 0;
    err_set(err, ERR_USAGE, "runner '%s' reads several roles: a log must say which", r->name);
    return err_hint(err, "write it as ROLE=FILE,ROLE=FILE, such as %s=FILE", r->roles[0].name);
}

/* "ROLE=" or "ROLE.stderr=" at the front: its length, or 0. */
static size_t role_prefix(const struct import *im, const char *text, struct log_file *f)
{
    for (size_t i = 0; i < im->runner.role_count; i++) {
        size_t n = strlen(im->runner.roles[i].name);

        if (strncmp(text, im->runner.roles[i].name, n) != 0)
            continue;
        f->role = i;
        f->is_err = strncmp(text + n, ".stderr=", 8) == 0;
        if (f->is_err || text[n] == '=')
            return n + (f->is_err ? 8 : 1);
    }
    return 0;
}

/* Where the next file begins behind a comma, or the end. */
static size_t file_end(const struct import *im, const char *text)
{
    struct log_file ignored;
    size_t n = 0;

    for (; text[n]; n++)
        if (text[n] == ',' && role_prefix(im, text + n + 1, &ignored) > 0)
            break;
    return n;
}

static int split_spec(struct import *im, const char *spec, struct log_file *files, size_t *count,
                      struct err *err)
{
    *count = 0;
    if (role_prefix(im, spec, &files[0]) == 0) {
        files[0] = (struct log_file){.path = spec};
        *count = 1;
        return usual_role(im, &files[0].role, err);
    }
    while (*spec) {
        struct log_file *f = &files[*count];

        if (++*count > LOG_FILES)
            return err_set(err, ERR_USAGE, "a log has more than %d files", LOG_FILES);
        *f = (struct log_file){0};
        spec += role_prefix(im, spec, f);
        size_t n = file_end(im, spec);
        f->path = arena_strndup(&im->arena, spec, n);
        spec += n + (spec[n] == ',');
    }
    return 0;
}

static int read_log_file(struct import *im, struct log_file *f, struct err *err)
{
    struct buf text = BUF_INIT;
    struct stat st;

    buf_init(&text, 0);
    if (files_read(f->path, IMPORT_LOG_MAX, &text, err) < 0 || stat(f->path, &st) < 0) {
        err->code = ERR_USAGE;
        buf_release(&text);
        return -1;
    }
    char *kept = arena_alloc(&im->arena, text.len + 1);
    memcpy(kept, text.data, text.len);
    f->text = (struct text){kept, text.len};
    f->changed_ns = (uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec;
    buf_release(&text);
    return 0;
}

/* ---- a log that holds several runs ---- */

static bool is_blank(const struct text *t)
{
    for (size_t i = 0; i < t->len; i++)
        if (!strchr(" \t\r\n", t->data[i]))
            return false;
    return true;
}

/* "RUNNER/GROUP", or an error that quotes what cannot name a profile. */
static int section_profile(struct import *im, const char *text, const struct pattern_match *m,
                           const char **name, struct err *err)
{
    *name = arena_printf(&im->arena, "%s/imported", im->runner.name);
    if (im->profile_group < 0)
        return 0;
    const struct pattern_span *span = &m->group[im->profile_group];
    if (span->start == SIZE_MAX)
        return 0;
    const char *group = arena_strndup(&im->arena, text + span->start, span->end - span->start);
    if (!decode_is_name(group))
        return err_set(err, ERR_MEASURE, "option '--split': '%.80s' cannot name a profile", group);
    *name = arena_printf(&im->arena, "%s/%s", im->runner.name, group);
    return 0;
}

static int add_section(struct import *im, size_t variant, const struct log_file *f, size_t start,
                       size_t end, const struct pattern_match *m, int *seen, struct err *err)
{
    const char *name;
    size_t profile;

    if (section_profile(im, f->text.data, m, &name, err) < 0 ||
        find_profile(im, name, &profile, err) < 0)
        return -1;
    struct found_run *r = add_run(im, variant, profile, seen[profile]++ < im->sacrifice);
    char *own = arena_alloc(&im->arena, end - start + 1);
    memcpy(own, f->text.data + start, end - start);
    r->started_ns = f->changed_ns;
    (f->is_err ? r->err : r->out)[f->role] = (struct text){own, end - start};
    return 0;
}

/* Each match ends a run, together with the rest of its line; the lines before it belong to it. */
static int split_log(struct import *im, size_t variant, const struct log_file *f, struct err *err)
{
    struct pattern_match m;
    size_t offset = 0, start = 0, found = 0;
    int *seen = arena_array(&im->arena, 1000, sizeof *seen);
    enum pattern_result result;

    while ((result = pattern_next(im->split, f->text.data, f->text.len, &offset, &m)) ==
           PATTERN_MATCH) {
        size_t end = m.group[0].end;
        const char *newline = memchr(f->text.data + end, '\n', f->text.len - end);

        end = newline ? (size_t)(newline - f->text.data) + 1 : f->text.len;
        if (end <= start) /* another match on the same line */
            continue;
        if (add_section(im, variant, f, start, end, &m, seen, err) < 0)
            return err_wrap(err, "'%s'", f->path);
        start = end;
        found++;
    }
    if (result == PATTERN_GAVE_UP)
        return pattern_gave_up(im->split, err);
    if (found == 0)
        return err_set(err, ERR_MEASURE, "'%s' has no match for '%.200s', which should end a run",
                       f->path, pattern_source(im->split));
    const struct text left = {f->text.data + start, f->text.len - start};
    if (!is_blank(&left))
        strings_add(&im->notes, &im->arena,
                    arena_printf(&im->arena, "'%s': %zu bytes behind its last run belong to none",
                                 files_basename(f->path), left.len));
    return 0;
}

/* ---- logs ---- */

static int take_log(struct import *im, size_t variant, const char *spec, struct err *err)
{
    struct log_file files[LOG_FILES];
    size_t count, profile;

    if (split_spec(im, spec, files, &count, err) < 0)
        return -1;
    for (size_t i = 0; i < count; i++)
        if (read_log_file(im, &files[i], err) < 0)
            return -1;
    if (im->split && count > 1)
        return err_set(err, ERR_USAGE, "option '--split': a log of several files is one run");
    if (im->split)
        return split_log(im, variant, &files[0], err);
    if (find_profile(im, arena_printf(&im->arena, "%s/imported", im->runner.name), &profile, err) <
        0)
        return -1;
    struct found_run *r = add_run(im, variant, profile, false);
    for (size_t i = 0; i < count; i++) {
        (files[i].is_err ? r->err : r->out)[files[i].role] = files[i].text;
        r->started_ns = files[i].changed_ns > r->started_ns ? files[i].changed_ns : r->started_ns;
    }
    return 0;
}

/* Names and digests of the logs as they were, and how many there are. */
static int describe(struct import *im, const struct import_variant *from, struct variant *v,
                    struct err *err)
{
    struct buf source = BUF_INIT;
    struct json_writer w;
    struct log_file files[LOG_FILES];
    size_t count;
    int rc = 0;

    jw_init(&w, &source, false);
    jw_object_begin(&w);
    jw_key(&w, "logs");
    jw_array_begin(&w);
    for (size_t i = 0; rc == 0 && i < from->logs.count; i++) {
        rc = split_spec(im, from->logs.items[i], files, &count, err);
        for (size_t k = 0; rc == 0 && k < count; k++) {
            char hex[DIGEST_HEX];

            rc = digest_sha256_file(files[k].path, hex, NULL, err);
            jw_object_begin(&w);
            jw_key(&w, "file"), jw_string(&w, files_basename(files[k].path));
            jw_key(&w, "sha256"), jw_string(&w, hex);
            jw_object_end(&w);
        }
    }
    jw_array_end(&w);
    jw_object_end(&w);
    *v = (struct variant){
        .name = from->name,
        .source_json = arena_strdup(&im->arena, source.data),
        .display = arena_printf(&im->arena, "%zu imported log%s", from->logs.count,
                                from->logs.count == 1 ? "" : "s"),
    };
    buf_release(&source);
    return rc;
}

/* ---- the plan ---- */

static int compare_runs(const void *a, const void *b)
{
    const struct found_run *x = a, *y = b;

    if (x->profile != y->profile)
        return x->profile < y->profile ? -1 : 1;
    if (x->warmup != y->warmup)
        return x->warmup ? -1 : 1;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return x->variant < y->variant ? -1 : x->variant > y->variant;
}

/* Pairs need as many runs on each side. */
static int check_pairs(const struct import *im, struct err *err)
{
    for (size_t p = 0; p < im->profile_count; p++) {
        for (size_t v = 0; v < im->variant_count; v++) {
            int runs = 0;

            for (size_t i = 0; i < im->run_count; i++)
                runs += im->runs[i].profile == p && im->runs[i].variant == v && !im->runs[i].warmup;
            if (runs == im->profiles[p].pairs)
                continue;
            err_set(err, ERR_USAGE, "option '--paired': '%s' has %d runs of '%s', others have %d",
                    im->variants[v].name, runs, im->profiles[p].name, im->profiles[p].pairs);
            return err_hint(err, "the n-th logs of all variants make a pair; without --paired "
                                 "they are summed up as they are");
        }
    }
    return 0;
}

/* A split log has its sacrificial matches as runs of their own; those are warm-ups then. */
static void move_sacrifice(struct import *im)
{
    struct runner *r = &im->runner;
    struct runner_metric *metrics = arena_array(&im->arena, r->metric_count, sizeof *metrics);

    for (size_t i = 0; i < r->metric_count; i++) {
        metrics[i] = r->metrics[i];
        if (metrics[i].sacrifice > im->sacrifice)
            im->sacrifice = metrics[i].sacrifice;
        metrics[i].sacrifice = 0;
    }
    r->metrics = metrics;
}

static int open_split(struct import *im, const char *source, struct err *err)
{
    if (!source)
        return 0;
    im->split = pattern_new(source, err);
    if (!im->split) {
        err->code = ERR_USAGE;
        return err_wrap(err, "option '--split'");
    }
    im->profile_group = pattern_group(im->split, "profile");
    if (im->profile_group >= PATTERN_GROUPS)
        return err_set(err, ERR_USAGE, "option '--split': more than %d groups", PATTERN_GROUPS - 1);
    move_sacrifice(im);
    return 0;
}

static int read_all(struct import *im, const struct import_request *q, struct err *err)
{
    im->variants = arena_array(&im->arena, q->variant_count, sizeof *im->variants);
    im->variant_count = q->variant_count;
    for (size_t v = 0; v < q->variant_count; v++) {
        for (size_t i = 0; i < q->variants[v].logs.count; i++)
            if (take_log(im, v, q->variants[v].logs.items[i], err) < 0)
                return -1;
        if (describe(im, &q->variants[v], &im->variants[v], err) < 0)
            return -1;
    }
    qsort(im->runs, im->run_count, sizeof *im->runs, compare_runs);
    for (size_t p = 0; p < im->profile_count; p++)
        if (im->profiles[p].pairs == 0)
            return err_set(err, ERR_MEASURE,
                           "'%s': all of its runs are sacrificial: the runner '%s' leaves out the "
                           "first %d of a log",
                           im->profiles[p].name, im->runner.name, im->sacrifice);
    return q->paired ? check_pairs(im, err) : 0;
}

static int make_plan(struct import *im, const struct import_request *q, struct err *err)
{
    const struct imported_request request = {
        .runner = &im->runner,
        .profiles = im->profiles,
        .profile_count = im->profile_count,
        .variants = im->variants,
        .variant_count = im->variant_count,
        .paired = q->paired,
        .thresholds = q->thresholds,
        .thresholds_file = q->thresholds_file,
    };

    return imported_plan(&im->plan, &request, &im->arena, err);
}

int import_new(struct import **out, const struct import_request *q, struct err *err)
{
    struct import *im = xcalloc(1, sizeof *im);

    im->profile_group = -1;
    *out = im;
    if (imported_runner(q->runner, &im->runner, &im->arena, err) == 0 &&
        open_split(im, q->split, err) == 0 && read_all(im, q, err) == 0 &&
        make_plan(im, q, err) == 0)
        return 0;
    import_free(im);
    *out = NULL;
    return -1;
}

void import_free(struct import *im)
{
    if (!im)
        return;
    pattern_free(im->split);
    free(im->profiles);
    free(im->runs);
    arena_release(&im->arena);
    free(im);
}

const struct plan *import_plan(const struct import *im)
{
    return &im->plan;
}

const struct strings *import_notes(const struct import *im)
{
    return &im->notes;
}

/* ---- the archive ---- */

static struct capture capture_of(const struct text *t)
{
    static char nothing[1];

    return (struct capture){.head = t->data ? (char *)(uintptr_t)t->data : nothing,
                            .head_len = t->len,
                            .tail = nothing,
                            .total = t->len};
}

static void fill_outcome(const struct import *im, const struct found_run *r, struct outcome *o)
{
    const struct value unknown = value_none(VALUE_MISSING, "imported");

    *o = (struct outcome){.end = RUN_DONE, .started_unix_ns = r->started_ns, .roles = o->roles};
    o->role_count = im->runner.role_count;
    for (size_t i = 0; i < o->role_count; i++)
        o->roles[i] = (struct role_outcome){
            .name = im->runner.roles[i].name,
            .end = ROLE_IMPORTED,
            .ready = true,
            .cpu = {.cgroup_s = unknown, .sampled_s = unknown},
            .out = capture_of(&r->out[i]),
            .err = capture_of(&r->err[i]),
        };
    o->noise = (struct noise_reading){.psi_cpu = unknown,
                                      .others = unknown,
                                      .steal = unknown,
                                      .throttled = unknown,
                                      .frequency = unknown,
                                      .load = unknown};
}

static int write_run(struct import *im, struct archive_writer *w, struct meter *meter, size_t i,
                     struct outcome *o, struct err *err)
{
    const struct found_run *r = &im->runs[i];
    const struct measure_context context = {0};
    struct arena arena = ARENA_INIT;
    struct sample s = {
        .run = i + 1,
        .pair = r->warmup ? 0 : (uint64_t)r->number,
        .slot = (uint32_t)r->variant + 1,
        .attempt = 1,
        .stage = r->warmup ? STAGE_WARMUP : STAGE_MAIN,
        .variant = im->plan.variants[r->variant].name,
        .profile = im->plan.profiles[r->profile].name,
    };

    fill_outcome(im, r, o);
    meter_measure(meter, o, &context, &s, &arena);
    int rc = archive_writer_sample(w, &s, o, &arena, err);
    arena_release(&arena);
    return rc;
}

static int write_all(struct import *im, struct archive_writer *w, const struct import_options *o,
                     char digest[65], struct err *err)
{
    const struct machine unknown = {.isolation = "none"};
    struct outcome outcome = {0};
    struct meter *meter = NULL;
    struct buf report = BUF_INIT;
    int rc = archive_writer_series(w, &im->plan, &unknown, err);

    outcome.roles = arena_array(&im->arena, im->runner.role_count, sizeof *outcome.roles);
    if (rc == 0)
        rc = meter_new(&meter, &im->plan.runners[0], 4096, 1, err);
    for (size_t i = 0; rc == 0 && i < im->run_count; i++)
        rc = write_run(im, w, meter, i, &outcome, err);
    if (rc == 0)
        rc = o->report(o->user, o->folder, &report, err);
    if (rc == 0)
        rc = archive_writer_finish(w, report.data, report.len, digest, err);
    meter_free(meter);
    buf_release(&report);
    return rc;
}

int import_write(struct import *im, const struct import_options *o, char digest[65],
                 struct err *err)
{
    struct archive_writer *w;

    if (archive_writer_new(&w, o->folder, err) < 0)
        return -1;
    if (!o->identify)
        archive_writer_anonymize(w);
    int rc = write_all(im, w, o, digest, err);
    archive_writer_free(w);
    return rc;
}
