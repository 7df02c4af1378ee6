#include "series/import_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
    if (im->profile_count == IMPORT_PROFILES)
        return err_set(err, ERR_MEASURE, "the logs name more than %d profiles", IMPORT_PROFILES);
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
    int number = ++im->numbers[(profile * im->variant_count + variant) * 2 + warmup];

    if (im->run_count == im->run_room) {
        im->run_room = im->run_room ? 2 * im->run_room : 16;
        im->runs = xreallocarray(im->runs, im->run_room, sizeof *im->runs);
    }
    struct found_run *r = &im->runs[im->run_count++];
    *r = (struct found_run){
        .variant = variant, .profile = profile, .warmup = warmup, .number = number};
    r->out = arena_array(&im->arena, 2 * im->runner.role_count, sizeof *r->out);
    r->err = r->out + im->runner.role_count;
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
    const struct log_source *from;
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

static uint64_t changed_ns(const struct stat *st)
{
    return (uint64_t)st->st_mtim.tv_sec * 1000000000u + (uint64_t)st->st_mtim.tv_nsec;
}

/* It is read more than once: for its digest, for what splits it, and run by run. */
static int look_at_file(struct import *im, struct log_file *f, struct err *err)
{
    struct log_source *from = arena_alloc(&im->arena, sizeof *from);
    struct stat st;

    if (stat(f->path, &st) < 0)
        return err_sys(err, ERR_USAGE, errno, "cannot read '%s'", f->path);
    if (S_ISDIR(st.st_mode))
        return err_sys(err, ERR_USAGE, EISDIR, "cannot read '%s'", f->path);
    if (!S_ISREG(st.st_mode)) {
        err_set(err, ERR_USAGE, "'%s' is no regular file, and a log is read more than once",
                f->path);
        return err_hint(err, "write what comes out of it to a file");
    }
    if ((uint64_t)st.st_size > IMPORT_LOG_MAX)
        return err_set(err, ERR_USAGE, "'%s' has more than %zu bytes", f->path, IMPORT_LOG_MAX);
    *from = (struct log_source){f->path, (uint64_t)st.st_size, changed_ns(&st)};
    f->from = from;
    return 0;
}

/* The bytes of a stretch behind those of `out`; -1 with errno, 0 where the file ends before. */
static int read_stretch(int fd, const struct text *t, struct buf *out)
{
    while (out->len < t->len) {
        ssize_t n =
            pread(fd, out->data + out->len, t->len - out->len, (off_t)(t->offset + out->len));

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return (int)n;
        out->len += (size_t)n;
    }
    return 1;
}

int import_read(const struct text *t, struct buf *out, struct err *err)
{
    struct stat st;
    int rc;

    buf_clear(out);
    buf_reserve(out, t->len + 1);
    if (!t->from)
        return 0;
    int fd = open(t->from->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &st) < 0)
        rc = -1;
    else if ((uint64_t)st.st_size != t->from->bytes || changed_ns(&st) != t->from->changed_ns)
        rc = 0;
    else
        rc = read_stretch(fd, t, out);
    if (rc < 0)
        err_sys(err, ERR_USAGE, errno, "cannot read '%s'", t->from->path);
    else if (rc == 0)
        err_set(err, ERR_USAGE, "'%s' changed while it was imported", t->from->path);
    if (fd >= 0)
        close(fd);
    out->data[out->len] = '\0';
    return rc == 1 ? 0 : -1;
}

/* ---- a log that holds several runs ---- */

static bool is_blank(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (!strchr(" \t\r\n", text[i]))
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

static int add_section(struct import *im, size_t variant, const struct log_file *f,
                       const struct buf *log, size_t start, size_t end,
                       const struct pattern_match *m, int *seen, struct err *err)
{
    const char *name;
    size_t profile;

    if (section_profile(im, log->data, m, &name, err) < 0 ||
        find_profile(im, name, &profile, err) < 0)
        return -1;
    struct found_run *r = add_run(im, variant, profile, seen[profile]++ < im->sacrifice);
    r->started_ns = f->from->changed_ns;
    (f->is_err ? r->err : r->out)[f->role] = (struct text){f->from, start, end - start};
    return 0;
}

static int split_text(struct import *im, size_t variant, const struct log_file *f,
                      const struct buf *log, struct err *err)
{
    struct pattern_match m;
    size_t offset = 0, start = 0, found = 0;
    int *seen = arena_array(&im->arena, IMPORT_PROFILES, sizeof *seen);
    enum pattern_result result;

    while ((result = pattern_next(im->split, log->data, log->len, &offset, &m)) == PATTERN_MATCH) {
        size_t end = m.group[0].end;
        const char *newline = memchr(log->data + end, '\n', log->len - end);

        end = newline ? (size_t)(newline - log->data) + 1 : log->len;
        if (end <= start) /* another match on the same line */
            continue;
        if (add_section(im, variant, f, log, start, end, &m, seen, err) < 0)
            return err_wrap(err, "'%s'", f->path);
        start = end;
        found++;
    }
    if (result == PATTERN_GAVE_UP)
        return pattern_gave_up(im->split, err);
    if (found == 0)
        return err_set(err, ERR_MEASURE, "'%s' has no match for '%.200s', which should end a run",
                       f->path, pattern_source(im->split));
    if (!is_blank(log->data + start, log->len - start))
        strings_add(&im->notes, &im->arena,
                    arena_printf(&im->arena, "'%s': %zu bytes behind its last run belong to none",
                                 files_basename(f->path), log->len - start));
    return 0;
}

/* Each match ends a run, together with the rest of its line; the lines before it belong to it. */
static int split_log(struct import *im, size_t variant, const struct log_file *f, struct err *err)
{
    const struct text all = {f->from, 0, (size_t)f->from->bytes};
    struct buf log;
    int rc;

    buf_init(&log, 0);
    rc = import_read(&all, &log, err);
    if (rc == 0)
        rc = split_text(im, variant, f, &log, err);
    buf_release(&log);
    return rc;
}

/* ---- logs ---- */

int import_take_log(struct import *im, size_t variant, const char *spec, struct err *err)
{
    struct log_file files[LOG_FILES];
    size_t count, profile;

    if (split_spec(im, spec, files, &count, err) < 0)
        return -1;
    for (size_t i = 0; i < count; i++)
        if (look_at_file(im, &files[i], err) < 0)
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
        const struct log_source *from = files[i].from;

        (files[i].is_err ? r->err : r->out)[files[i].role] =
            (struct text){from, 0, (size_t)from->bytes};
        r->started_ns = from->changed_ns > r->started_ns ? from->changed_ns : r->started_ns;
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
