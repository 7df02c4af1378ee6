#include "archive/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "archive/checksums.h"
#include "archive/compact.h"
#include "archive/folder.h"
#include "archive/names.h"
#include "base/buf.h"
#include "base/digest.h"
#include "base/fields.h"
#include "base/json.h"
#include "base/mem.h"

#define SERIES_MAX_BYTES ((size_t)32 << 20)
#define LOADED_MAX_BYTES ((size_t)32 << 20)
#define PROBES_MAX_BYTES ((size_t)32 << 20)
#define REPORT_MAX_BYTES ((size_t)32 << 20)
#define SAMPLES_MAX_BYTES ((uint64_t)1 << 40)
#define LINE_MAX_BYTES ((size_t)8 << 20)
#define CHUNK_BYTES ((size_t)256 << 10)

/* An open archive, and what holds its memory. */
struct archive_store {
    struct archive shown; /* first: the caller's pointer is ours */
    struct folder folder;
    struct arena arena;
    struct json *series; /* texts of plan and machine are borrowed from it */
    struct buf report;
    struct compact compact;
};

static struct archive_store *store_of(struct archive *a)
{
    return (struct archive_store *)(void *)a;
}

/* ---- series.json ---- */

/* A plan that was altered, or whose hash was, has no verdict of this archive. */
static int check_plan_hash(const struct fields *f, const struct json *tree, struct plan *plan,
                           struct err *err)
{
    const char *stated;
    char hex[DIGEST_HEX];
    struct buf canonical = BUF_INIT;
    int rc = -1;

    if (fields_string(f, "plan_sha256", FIELDS_REQUIRED, &stated, err) < 0)
        return -1;
    if (json_write_canonical(tree, &canonical, err) < 0 || plan_seal(plan, err) < 0)
        goto out;
    digest_sha256(canonical.data, canonical.len, hex);
    if (strcmp(hex, stated) != 0)
        err_set(err, ERR_ARCHIVE,
                "'%s': the plan is not the one that was hashed: plan_sha256 is "
                "%.16s..., the plan's is %.16s...",
                f->file, stated, hex);
    else if (strcmp(hex, plan->sha256) != 0)
        err_set(err, ERR_ARCHIVE, "'%s': this abba reads another plan than was hashed", f->file);
    else
        rc = 0;
out:
    buf_release(&canonical);
    return rc;
}

static int read_format(const struct fields *f, struct err *err)
{
    int64_t format;

    if (fields_int(f, "abba", FIELDS_REQUIRED, 1, JSON_MAX_INTEGER, &format, err) < 0)
        return -1;
    if (format == ARCHIVE_FORMAT)
        return 0;
    err_set(err, ERR_ARCHIVE, "'%s': archive format %lld is not known", f->file, (long long)format);
    return err_hint(err, "it was made by a later abba");
}

static int read_report_keys(const struct fields *f, struct archive *a, struct err *err)
{
    int64_t keys = 1;

    if (fields_int(f, "report", FIELDS_OPTIONAL, 1, JSON_MAX_INTEGER, &keys, err) < 0)
        return -1;
    a->has_tables = keys >= ARCHIVE_REPORT_KEYS;
    if (keys <= ARCHIVE_REPORT_KEYS)
        return 0;
    err_set(err, ERR_ARCHIVE, "'%s': a report with the keys %lld is not known", f->file,
            (long long)keys);
    return err_hint(err, "it was made by a later abba");
}

static int decode_earlier(struct archive_store *s, const struct fields *f, struct err *err)
{
    static const char *const keys[] = {"archive", "started", "verdict", "digest", NULL};
    struct archive *a = &s->shown;
    struct fields list, item = {0};

    if (fields_array(f, "earlier", FIELDS_OPTIONAL, &list, err) < 0)
        return -1;
    a->earlier_count = list.value ? json_count(list.value) : 0;
    a->earlier = arena_array(&s->arena, a->earlier_count + 1, sizeof *a->earlier);
    for (size_t i = 0; fields_next(&list, &item); i++) {
        struct earlier *e = &a->earlier[i];

        if (fields_as_object(&item, err) < 0 || fields_known(&item, keys, err) < 0 ||
            fields_string(&item, "archive", FIELDS_REQUIRED, &e->archive, err) < 0 ||
            fields_string(&item, "started", FIELDS_REQUIRED, &e->started, err) < 0 ||
            fields_string(&item, "verdict", FIELDS_REQUIRED, &e->verdict, err) < 0 ||
            fields_string(&item, "digest", FIELDS_REQUIRED, &e->digest, err) < 0)
            return -1;
    }
    return 0;
}

static int decode_series(struct archive_store *s, const char *file, struct err *err)
{
    static const char *const keys[] = {"abba", "tool",    "started", "machine", "plan_sha256",
                                       "plan", "earlier", "report",  NULL};
    struct archive *a = &s->shown;
    struct plan *plan = arena_alloc(&s->arena, sizeof *plan);
    struct machine *machine = arena_alloc(&s->arena, sizeof *machine);
    struct fields f, plan_part, machine_part;

    if (fields_init(&f, file, s->series, err) < 0 || read_format(&f, err) < 0 ||
        fields_known(&f, keys, err) < 0 || read_report_keys(&f, a, err) < 0 ||
        fields_string(&f, "tool", FIELDS_REQUIRED, &a->tool, err) < 0 ||
        fields_string(&f, "started", FIELDS_REQUIRED, &a->started, err) < 0 ||
        decode_earlier(s, &f, err) < 0 ||
        fields_object(&f, "machine", FIELDS_REQUIRED, &machine_part, err) < 0 ||
        fields_object(&f, "plan", FIELDS_REQUIRED, &plan_part, err) < 0)
        return -1;
    if (machine_decode(machine, machine_part.value, file, &s->arena, err) < 0 ||
        plan_decode(plan, plan_part.value, file, &s->arena, err) < 0 ||
        check_plan_hash(&f, plan_part.value, plan, err) < 0)
        return -1;
    a->machine = machine;
    a->plan = plan;
    return 0;
}

static const char *full_name(struct archive_store *s, const char *name)
{
    return arena_printf(&s->arena, "%s/%s", s->folder.path, name);
}

/* What to say of a folder without a series.json. */
static int no_series(const struct archive_store *s, struct err *err)
{
    if (s->folder.raw_fd >= 0) {
        err_set(err, ERR_UNFINISHED, "unfinished: '%s' ended before its plan was written",
                s->folder.path);
        return err_hint(err, "only warm-up runs can be in it");
    }
    err_set(err, ERR_ARCHIVE, "'%s' is not an archive: it has no " ARCHIVE_SERIES, s->folder.path);
    return err_hint(err, "an archive is the folder that `abba run` prints at its end");
}

static int read_series(struct archive_store *s, struct err *err)
{
    struct buf text = BUF_INIT;
    const char *file = full_name(s, ARCHIVE_SERIES);
    const struct json_rules rules = {.max_bytes = SERIES_MAX_BYTES, .code = ERR_ARCHIVE};
    int rc = -1;

    if (!folder_has(&s->folder, ARCHIVE_SERIES))
        return no_series(s, err);
    if (folder_read(&s->folder, ARCHIVE_SERIES, SERIES_MAX_BYTES, &text, err) == 0) {
        s->series = json_parse_with(text.data, text.len, file, &rules, err);
        if (s->series)
            rc = decode_series(s, file, err);
    }
    buf_release(&text);
    if (rc < 0)
        err->code = ERR_ARCHIVE; /* decoders of configuration files say ERR_CONFIG */
    return rc;
}

/* ---- samples.jsonl ---- */

/* Lines of the file, and what is done with each. */
struct lines {
    const char *file;
    size_t number; /* of the next line, from 1 */
    bool torn;     /* there was a rest without a newline */
    int (*take)(void *user, const char *line, size_t len, const struct lines *at, struct err *err);
    void *user;
};

static int add_line(void *user, const char *line, size_t len, const struct lines *at,
                    struct err *err)
{
    struct archive_store *s = user;
    struct sample_source from = {.file = at->file, .line = at->number};
    struct arena passing = ARENA_INIT;
    struct sample sample;

    from.like = compact_like(&s->compact);
    int rc = sample_decode(&sample, line, len, &from, &passing, err);
    if (rc == 0)
        rc = compact_add(&s->compact, &sample, s->shown.plan, err);
    s->shown.sample_count += rc == 0;
    arena_release(&passing);
    return rc;
}

/* Takes whole lines from the front of `text`; what is left of it is moved to the front. */
static int take_lines(struct lines *l, struct buf *text, struct err *err)
{
    size_t start = 0;
    const char *newline;

    while ((newline = memchr(text->data + start, '\n', text->len - start)) != NULL) {
        size_t len = (size_t)(newline - text->data) - start;

        if (l->take(l->user, text->data + start, len, l, err) < 0)
            return -1;
        start += len + 1;
        l->number++;
    }
    size_t left = text->len - start;
    if (left > LINE_MAX_BYTES)
        return err_set(err, ERR_ARCHIVE, "'%s' line %zu: longer than %zu bytes", l->file, l->number,
                       LINE_MAX_BYTES);
    if (start > 0)
        memmove(text->data, text->data + start, left);
    buf_truncate(text, left);
    return 0;
}

static int read_lines(struct lines *l, int fd, struct err *err)
{
    struct buf text = BUF_INIT;
    int rc = 0;

    while (rc == 0) {
        buf_reserve(&text, CHUNK_BYTES + 1);
        ssize_t n = read(fd, text.data + text.len, CHUNK_BYTES);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            rc = err_sys(err, ERR_ARCHIVE, errno, "cannot read '%s'", l->file);
        if (n <= 0)
            break;
        text.len += (size_t)n;
        text.data[text.len] = '\0';
        rc = take_lines(l, &text, err);
    }
    l->torn = text.len > 0;
    buf_release(&text);
    return rc;
}

static int read_file(const struct folder *folder, struct lines *l, struct err *err)
{
    uint64_t size;
    int fd = folder_file(folder, ARCHIVE_SAMPLES, &size, err);

    if (fd < 0)
        return -1;
    l->number = 1;
    int rc = size <= SAMPLES_MAX_BYTES ? read_lines(l, fd, err)
                                       : err_set(err, ERR_ARCHIVE, "'%s' is larger than %llu bytes",
                                                 l->file, (unsigned long long)SAMPLES_MAX_BYTES);
    close(fd);
    return rc;
}

static int read_samples(struct archive_store *s, struct err *err)
{
    struct lines lines = {.file = full_name(s, ARCHIVE_SAMPLES), .take = add_line, .user = s};
    int rc = read_file(&s->folder, &lines, err);

    s->shown.compact = &s->compact;
    s->shown.torn = lines.torn;
    return rc;
}

/* ---- the same, one by one ---- */

struct visiting {
    const struct archive *archive;
    archive_visit *visit;
    void *user;
};

static int visit_line(void *user, const char *line, size_t len, const struct lines *at,
                      struct err *err)
{
    const struct visiting *v = user;
    struct sample_source from = {.file = at->file, .line = at->number};
    struct arena passing = ARENA_INIT;
    struct sample sample;

    if (at->number > v->archive->sample_count)
        return 0;
    from.like = compact_like(v->archive->compact);
    int rc = sample_decode(&sample, line, len, &from, &passing, err);
    if (rc == 0)
        rc = v->visit(v->user, &sample, err);
    arena_release(&passing);
    return rc;
}

int archive_each(const struct archive *a, archive_visit *visit, void *user, struct err *err)
{
    const struct archive_store *s = (const struct archive_store *)(const void *)a;
    struct visiting v = {a, visit, user};
    struct buf name = BUF_INIT;

    buf_printf(&name, "%s/%s", s->folder.path, ARCHIVE_SAMPLES);
    struct lines lines = {.file = name.data, .take = visit_line, .user = &v};
    int rc = read_file(&s->folder, &lines, err);
    buf_release(&name);
    return rc;
}

/* ---- the rest ---- */

static int read_checksums(struct archive_store *s, struct err *err)
{
    struct archive *a = &s->shown;
    int fd, rc;

    a->finished = folder_has(&s->folder, CHECKSUMS_NAME);
    if (!a->finished)
        return 0;
    fd = folder_file(&s->folder, CHECKSUMS_NAME, NULL, err);
    if (fd < 0)
        return -1;
    rc = digest_sha256_fd(fd, CHECKSUMS_NAME, a->digest, NULL, err);
    close(fd);
    return rc;
}

static int read_report(struct archive_store *s, struct err *err)
{
    if (!folder_has(&s->folder, ARCHIVE_REPORT))
        return 0;
    if (folder_read(&s->folder, ARCHIVE_REPORT, REPORT_MAX_BYTES, &s->report, err) < 0)
        return -1;
    s->shown.report = s->report.data;
    s->shown.report_len = s->report.len;
    return 0;
}

static int read_probes(struct archive_store *s, struct err *err)
{
    const struct json_rules rules = {.max_bytes = PROBES_MAX_BYTES, .code = ERR_ARCHIVE};
    const char *file = full_name(s, ARCHIVE_PROBES);
    struct probes *probes = arena_alloc(&s->arena, sizeof *probes);
    struct buf text = BUF_INIT;
    struct json *tree = NULL;
    int rc = -1;

    if (!folder_has(&s->folder, ARCHIVE_PROBES))
        return 0;
    if (folder_read(&s->folder, ARCHIVE_PROBES, PROBES_MAX_BYTES, &text, err) == 0 &&
        (tree = json_parse_with(text.data, text.len, file, &rules, err)) != NULL) {
        rc = probes_decode(probes, tree, file, &s->arena, err);
        if (rc < 0)
            err->code = ERR_ARCHIVE;
    }
    json_free(tree);
    buf_release(&text);
    s->shown.probes = probes;
    return rc;
}

static int read_loaded(struct archive_store *s, struct err *err)
{
    const struct json_rules rules = {.max_bytes = LOADED_MAX_BYTES, .code = ERR_ARCHIVE};
    const char *file = full_name(s, ARCHIVE_LOADED);
    struct loaded *loaded = arena_alloc(&s->arena, sizeof *loaded);
    struct buf text = BUF_INIT;
    struct json *tree = NULL;
    int rc = -1;

    if (!folder_has(&s->folder, ARCHIVE_LOADED))
        return 0;
    if (folder_read(&s->folder, ARCHIVE_LOADED, LOADED_MAX_BYTES, &text, err) == 0 &&
        (tree = json_parse_with(text.data, text.len, file, &rules, err)) != NULL) {
        rc = loaded_decode(loaded, tree, file, &s->arena, err);
        if (rc < 0)
            err->code = ERR_ARCHIVE;
    }
    json_free(tree);
    buf_release(&text);
    s->shown.loaded = loaded;
    return rc;
}

int archive_open(struct archive **out, const char *folder, struct err *err)
{
    struct archive_store *s = xcalloc(1, sizeof *s);

    *out = NULL;
    arena_init(&s->arena);
    buf_init(&s->report, 0);
    if (folder_open(&s->folder, folder, err) < 0 || read_series(s, err) < 0 ||
        read_loaded(s, err) < 0 || read_probes(s, err) < 0 || read_samples(s, err) < 0 ||
        read_checksums(s, err) < 0 || read_report(s, err) < 0) {
        archive_close(&s->shown);
        return -1;
    }
    s->shown.folder = s->folder.path;
    *out = &s->shown;
    return 0;
}

void archive_close(struct archive *a)
{
    if (!a)
        return;
    struct archive_store *s = store_of(a);

    compact_release(&s->compact);
    json_free(s->series);
    buf_release(&s->report);
    folder_release(&s->folder);
    arena_release(&s->arena);
    free(s);
}
