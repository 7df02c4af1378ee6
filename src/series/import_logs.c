#include "series/import_parts.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/digest.h"
#include "base/files.h"
#include "base/json_writer.h"
#include "model/decode.h"

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

int import_take_log(struct import *im, size_t variant, const char *spec, struct err *err)
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
int import_describe(struct import *im, const struct import_variant *from, struct variant *v,
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
