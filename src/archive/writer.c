#include "archive/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "archive/checksums.h"
#include "archive/folder.h"
#include "archive/mend.h"
#include "archive/names.h"
#include "archive/redact.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/digest.h"
#include "base/files.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "base/version.h"

#define SECRET_LEAST 6   /* characters: shorter ones are words that stand anywhere */
#define FILES_PER_ROLE 3 /* stdout, stderr, rss.csv */

struct archive_writer {
    struct folder folder;
    int samples_fd;
    uint64_t samples_bytes;        /* whole lines in samples.jsonl */
    struct digest samples_digest;  /* of those lines */
    struct checksums sums;         /* of everything that is complete */
    struct redaction redaction;    /* empty: nothing is replaced */
    const struct earlier *earlier; /* for series.json */
    size_t earlier_count;
    struct buf line, table; /* reused from run to run */
    int64_t synced_ns;      /* CLOCK_MONOTONIC of the last fdatasync */
    bool unsynced;
    bool has_series;
    bool has_loaded;
    char loaded_sha256[DIGEST_HEX];
    uint64_t loaded_bytes;
    bool closed; /* finished, or in a state that must not be added to */
};

/* ---- opening ---- */

static struct archive_writer *writer_new(void)
{
    struct archive_writer *w = xcalloc(1, sizeof *w);

    w->folder = (struct folder)FOLDER_NONE;
    w->samples_fd = -1;
    buf_init(&w->line, 0);
    buf_init(&w->table, 0);
    digest_begin(&w->samples_digest);
    return w;
}

int archive_writer_new(struct archive_writer **out, const char *folder, struct err *err)
{
    struct archive_writer *w = writer_new();

    *out = NULL;
    if (folder_make(&w->folder, folder, err) < 0 || folder_hold(&w->folder, 0, err) < 0 ||
        (w->samples_fd = folder_create(&w->folder, ARCHIVE_SAMPLES, err)) < 0) {
        archive_writer_free(w);
        return -1;
    }
    *out = w;
    return 0;
}

/* The lines that are there enter the digest, as if they had just been written. */
static int take_up_samples(struct archive_writer *w, struct err *err)
{
    char piece[65536];
    ssize_t n;

    w->samples_fd = folder_append(&w->folder, ARCHIVE_SAMPLES, err);
    if (w->samples_fd < 0)
        return -1;
    while ((n = read(w->samples_fd, piece, sizeof piece)) > 0) {
        digest_add(&w->samples_digest, piece, (size_t)n);
        w->samples_bytes += (uint64_t)n;
    }
    if (n == 0)
        return 0;
    return err_sys(err, ERR_SYSTEM, errno, "cannot read '%s/" ARCHIVE_SAMPLES "'", w->folder.path);
}

/* Enters a file that is there in the list of checksums. */
static int take_up(struct archive_writer *w, const char *name, struct err *err)
{
    char hex[DIGEST_HEX];
    uint64_t size;
    int fd = folder_file(&w->folder, name, &size, err);

    if (fd < 0)
        return -1;
    int rc = digest_sha256_fd(fd, name, hex, &size, err);
    close(fd);
    if (rc == 0)
        checksums_add(&w->sums, name, hex, size);
    return rc;
}

static int take_up_raw(void *user, const char *entry, struct err *err)
{
    char name[300];

    snprintf(name, sizeof name, ARCHIVE_RAW "%s", entry);
    return take_up(user, name, err);
}

static int take_up_kept(void *user, const char *entry, struct err *err)
{
    char name[300];

    snprintf(name, sizeof name, ARCHIVE_PROGRAMS "%s", entry);
    return take_up(user, name, err);
}

/* How long what is left of a killed writer, such as its network, may hold the folder. */
#define HOLD_MS 3000

int archive_writer_open(struct archive_writer **out, const char *folder, struct err *err)
{
    struct archive_writer *w = writer_new();

    *out = NULL;
    if (folder_open(&w->folder, folder, err) < 0 || folder_hold(&w->folder, HOLD_MS, err) < 0) {
        archive_writer_free(w);
        return -1;
    }
    *out = w;
    return 0;
}

int archive_writer_go_on(struct archive_writer *w, const struct archive *a, struct err *err)
{
    ABBA_ASSERT(!w->has_series && w->samples_fd < 0);
    if (mend_archive(&w->folder, a, err) < 0 || take_up_samples(w, err) < 0 ||
        take_up(w, ARCHIVE_SERIES, err) < 0 ||
        folder_each(&w->folder, ARCHIVE_RAW, take_up_raw, w, err) < 0 ||
        folder_each(&w->folder, ARCHIVE_PROGRAMS, take_up_kept, w, err) < 0)
        return -1;
    w->has_series = true;
    return 0;
}

void archive_writer_free(struct archive_writer *w)
{
    if (!w)
        return;
    if (w->samples_fd >= 0)
        close(w->samples_fd);
    if (w->samples_digest.context)
        digest_abandon(&w->samples_digest);
    folder_release(&w->folder);
    checksums_release(&w->sums);
    redaction_release(&w->redaction);
    buf_release(&w->line);
    buf_release(&w->table);
    free(w);
}

void archive_writer_anonymize(struct archive_writer *w)
{
    redaction_add_host(&w->redaction);
}

void archive_writer_hide(struct archive_writer *w, const char *text)
{
    if (strlen(text) >= SECRET_LEAST)
        redaction_add(&w->redaction, text, "SECRET");
}

/* Adds a whole file, put in place by rename, to the list of checksums. */
static int put_file(struct archive_writer *w, const char *name, const char *text, size_t len,
                    struct err *err)
{
    char hex[DIGEST_HEX];

    if (folder_replace(&w->folder, name, text, len, err) < 0)
        return -1;
    digest_sha256(text, len, hex);
    checksums_add(&w->sums, name, hex, len);
    return 0;
}

static int still_open(const struct archive_writer *w, struct err *err)
{
    if (!w->closed)
        return 0;
    return err_set(err, ERR_SYSTEM, "archive '%s' takes no more after an earlier error",
                   w->folder.path);
}

/* ---- names that stay out ---- */

static void redact_text(const struct archive_writer *w, const char **text, struct arena *arena)
{
    struct buf room = BUF_INIT;

    if (*text && redaction_apply(&w->redaction, *text, strlen(*text), &room))
        *text = arena_strndup(arena, room.data, room.len);
    buf_release(&room);
}

static const char *redacted(const struct archive_writer *w, const char *text, struct arena *arena)
{
    redact_text(w, &text, arena);
    return text;
}

/* ---- series.json ---- */

/* The document in one line; `plan` is its canonical JSON. */
static void encode_earlier(const struct archive_writer *writer, struct json_writer *w)
{
    if (writer->earlier_count == 0)
        return;
    jw_key(w, "earlier");
    jw_array_begin(w);
    for (size_t i = 0; i < writer->earlier_count; i++) {
        const struct earlier *e = &writer->earlier[i];

        jw_object_begin(w);
        jw_key(w, "archive"), jw_string(w, e->archive);
        jw_key(w, "started"), jw_string(w, e->started);
        jw_key(w, "verdict"), jw_string(w, e->verdict);
        jw_key(w, "digest"), jw_string(w, e->digest);
        jw_object_end(w);
    }
    jw_array_end(w);
}

void archive_writer_earlier(struct archive_writer *w, const struct earlier *earlier, size_t count)
{
    w->earlier = earlier;
    w->earlier_count = count;
}

static void encode_series(const struct archive_writer *writer, const struct plan *plan,
                          const struct buf *plan_text, const struct machine *machine,
                          struct buf *out)
{
    struct json_writer w;
    char started[CLOCK_TEXT];
    struct buf tool = BUF_INIT;

    clock_format_utc(clock_real_ns(), started);
    buf_printf(&tool, "abba %s", abba_version());
    jw_init(&w, out, false);
    jw_object_begin(&w);
    jw_key(&w, "abba");
    jw_int(&w, ARCHIVE_FORMAT);
    jw_key(&w, "tool");
    jw_string(&w, tool.data);
    jw_key(&w, "started");
    jw_string(&w, started);
    jw_key(&w, "machine");
    machine_encode(machine, &w);
    jw_key(&w, "plan_sha256");
    jw_string(&w, plan->sha256);
    jw_key(&w, "plan");
    jw_raw(&w, plan_text->data, plan_text->len);
    encode_earlier(writer, &w);
    jw_object_end(&w);
    buf_release(&tool);
}

int archive_writer_series(struct archive_writer *w, const struct plan *plan,
                          const struct machine *machine, struct err *err)
{
    struct buf plan_text = BUF_INIT, line = BUF_INIT, text = BUF_INIT;
    struct json *tree = NULL;
    int rc = -1;

    ABBA_ASSERT(!w->has_series && plan->sha256[0]);
    if (still_open(w, err) < 0 || plan_encode(plan, &plan_text, err) < 0)
        goto out;
    encode_series(w, plan, &plan_text, machine, &line);
    tree = json_parse(line.data, line.len, ARCHIVE_SERIES, err);
    if (!tree)
        goto out;
    json_write_pretty(tree, &text);
    buf_addch(&text, '\n');
    rc = put_file(w, ARCHIVE_SERIES, text.data, text.len, err);
    w->has_series = rc == 0;
out:
    json_free(tree);
    buf_release(&plan_text);
    buf_release(&line);
    buf_release(&text);
    return rc;
}

/* ---- loaded.json ---- */

/* A copy without names of this host and user. */
static struct loaded_file redacted_file(const struct archive_writer *w, const struct loaded_file *f,
                                        struct arena *arena)
{
    struct loaded_file copy = *f;

    copy.path = redacted(w, f->path, arena);
    copy.soname = redacted(w, f->soname, arena);
    copy.package = redacted(w, f->package, arena);
    copy.compilers = (struct strings){0};
    for (size_t i = 0; i < f->compilers.count; i++)
        strings_add(&copy.compilers, arena, redacted(w, f->compilers.items[i], arena));
    return copy;
}

int archive_writer_loaded(struct archive_writer *w, const struct loaded *loaded, struct err *err)
{
    struct arena arena = ARENA_INIT;
    struct loaded copy = *loaded;
    struct buf text = BUF_INIT;

    if (still_open(w, err) < 0)
        return -1;
    copy.files = arena_array(&arena, loaded->file_count, sizeof *copy.files);
    for (size_t i = 0; i < loaded->file_count; i++)
        copy.files[i] = redacted_file(w, &loaded->files[i], &arena);
    loaded_encode(&copy, &text);
    int rc = folder_replace(&w->folder, ARCHIVE_LOADED, text.data, text.len, err);
    if (rc == 0) {
        digest_sha256(text.data, text.len, w->loaded_sha256);
        w->loaded_bytes = text.len;
        w->has_loaded = true;
    }
    buf_release(&text);
    arena_release(&arena);
    return rc;
}

/* ---- probes.json ---- */

#define PROBES_MAX_BYTES ((size_t)32 << 20)

/* The probes that the archive has up to now, with room for one more. */
static int read_probes(const struct archive_writer *w, struct probes *p, struct arena *arena,
                       struct err *err)
{
    struct buf text = BUF_INIT;
    struct json *tree = NULL;
    int rc = -1;

    *p = (struct probes){.items = arena_alloc(arena, sizeof *p->items)};
    if (!folder_has(&w->folder, ARCHIVE_PROBES))
        return 0;
    if (folder_read(&w->folder, ARCHIVE_PROBES, PROBES_MAX_BYTES, &text, err) == 0 &&
        (tree = json_parse(text.data, text.len, ARCHIVE_PROBES, err)) != NULL)
        rc = probes_decode(p, tree, ARCHIVE_PROBES, arena, err);
    json_free(tree);
    buf_release(&text);
    return rc;
}

int archive_writer_probe(struct archive_writer *w, const struct net_probe *probe, struct err *err)
{
    struct arena arena = ARENA_INIT;
    struct buf text = BUF_INIT;
    struct probes all;
    int rc = -1;

    if (still_open(w, err) == 0 && read_probes(w, &all, &arena, err) == 0) {
        all.items[all.count] = *probe;
        redact_text(w, &all.items[all.count++].reason, &arena);
        probes_encode(&all, &text);
        rc = folder_replace(&w->folder, ARCHIVE_PROBES, text.data, text.len, err);
    }
    buf_release(&text);
    arena_release(&arena);
    return rc;
}

/* Enters the file, whoever wrote it, into the checksums. */
static int list_probes(struct archive_writer *w, struct err *err)
{
    struct buf text = BUF_INIT;
    char hex[DIGEST_HEX];

    if (!folder_has(&w->folder, ARCHIVE_PROBES))
        return 0;
    if (folder_read(&w->folder, ARCHIVE_PROBES, PROBES_MAX_BYTES, &text, err) < 0)
        return -1;
    digest_sha256(text.data, text.len, hex);
    checksums_add(&w->sums, ARCHIVE_PROBES, hex, text.len);
    buf_release(&text);
    return 0;
}

/* ---- raw files ---- */

/* Writes one raw file of the sample's role and enters it there; an empty one is left out. */
static int put_raw(struct archive_writer *w, const struct sample *s, struct sample_role *role,
                   const char *kind, const struct folder_part parts[2], uint64_t cut,
                   struct arena *arena, struct err *err)
{
    struct sample_file *f = &role->files[role->file_count];
    struct digest digest;

    if (parts[0].len + parts[1].len == 0)
        return 0;
    f->path = arena_printf(arena, ARCHIVE_RAW "%06llu-%s.%s", (unsigned long long)s->run,
                           role->name, kind);
    f->bytes = parts[0].len + parts[1].len;
    f->cut = cut;
    digest_begin(&digest);
    digest_add(&digest, parts[0].data, parts[0].len);
    digest_add(&digest, parts[1].data, parts[1].len);
    digest_finish(&digest, f->sha256);
    if (folder_write(&w->folder, f->path, parts, 2, err) < 0)
        return -1;
    role->file_count++;
    checksums_add(&w->sums, f->path, f->sha256, f->bytes);
    return 0;
}

/* Replaces names in one piece of a stream; `room` holds the new text if there is one. */
static void redact_part(const struct archive_writer *w, struct folder_part *part, struct buf *room)
{
    if (redaction_apply(&w->redaction, part->data, part->len, room))
        *part = (struct folder_part){room->data, room->len};
}

static int put_capture(struct archive_writer *w, const struct sample *s, struct sample_role *role,
                       const char *kind, const struct capture *c, struct arena *arena,
                       struct err *err)
{
    struct folder_part parts[2] = {{c->head, c->head_len}, {c->tail, c->tail_len}};
    struct buf whole = BUF_INIT, rooms[2] = {BUF_INIT, BUF_INIT};

    if (w->redaction.count > 0 && c->cut == 0 && c->tail_len > 0) {
        capture_text(c, &whole); /* a name may stand where head and tail meet */
        parts[0] = (struct folder_part){whole.data, whole.len};
        parts[1] = (struct folder_part){NULL, 0};
    }
    for (size_t i = 0; i < 2; i++)
        redact_part(w, &parts[i], &rooms[i]);
    int rc = put_raw(w, s, role, kind, parts, c->cut, arena, err);
    buf_release(&whole);
    buf_release(&rooms[0]);
    buf_release(&rooms[1]);
    return rc;
}

static int put_rss(struct archive_writer *w, const struct sample *s, struct sample_role *role,
                   const struct role_outcome *o, struct arena *arena, struct err *err)
{
    struct buf *table = &w->table;

    buf_clear(table);
    if (o->rss_count > 0)
        buf_addstr(table, "at_ns,bytes\n");
    for (size_t i = 0; i < o->rss_count; i++)
        buf_printf(table, "%llu,%llu\n", (unsigned long long)o->rss[i].at_ns,
                   (unsigned long long)o->rss[i].bytes);

    const struct folder_part parts[2] = {{table->data, table->len}, {NULL, 0}};
    return put_raw(w, s, role, "rss.csv", parts, 0, arena, err);
}

static int put_raws(struct archive_writer *w, struct sample *s, const struct outcome *o,
                    struct arena *arena, struct err *err)
{
    ABBA_ASSERT(s->role_count == o->role_count);
    for (size_t i = 0; i < s->role_count; i++) {
        struct sample_role *role = &s->roles[i];
        const struct role_outcome *from = &o->roles[i];

        role->files = arena_array(arena, FILES_PER_ROLE, sizeof *role->files);
        role->file_count = 0;
        if (put_capture(w, s, role, "stdout", &from->out, arena, err) < 0 ||
            put_capture(w, s, role, "stderr", &from->err, arena, err) < 0 ||
            put_rss(w, s, role, from, arena, err) < 0)
            return -1;
    }
    return 0;
}

static void remove_raws(struct archive_writer *w, struct sample *s)
{
    for (size_t i = 0; i < s->role_count; i++) {
        for (size_t j = 0; j < s->roles[i].file_count; j++)
            folder_remove(&w->folder, s->roles[i].files[j].path);
        s->roles[i].file_count = 0;
    }
}

/* ---- samples.jsonl ---- */

/* Names in messages; the names of metrics, roles, variants and profiles are the plan's. */
static void redact_sample(const struct archive_writer *w, struct sample *s, struct arena *arena)
{
    if (w->redaction.count == 0)
        return;
    redact_text(w, &s->error, arena);
    for (size_t i = 0; i < s->metric_count; i++)
        redact_text(w, &s->metrics[i].value.reason, arena);
    for (size_t i = 0; i < s->role_count; i++) {
        redact_text(w, &s->roles[i].error, arena);
        redact_text(w, &s->roles[i].stderr_tail, arena);
    }
}

/* Appends the line, or leaves the file as it was. */
static int append_line(struct archive_writer *w, struct err *err)
{
    if (files_write_all(w->samples_fd, w->line.data, w->line.len) < 0) {
        err_sys(err, ERR_SYSTEM, errno, "cannot write '%s/" ARCHIVE_SAMPLES "'", w->folder.path);
        if (ftruncate(w->samples_fd, (off_t)w->samples_bytes) < 0)
            w->closed = true; /* readers ignore the torn line as long as nothing follows it */
        return -1;
    }
    w->samples_bytes += w->line.len;
    digest_add(&w->samples_digest, w->line.data, w->line.len);
    w->unsynced = true;
    return 0;
}

int archive_writer_sample(struct archive_writer *w, struct sample *s, const struct outcome *o,
                          struct arena *arena, struct err *err)
{
    size_t listed = w->sums.count;

    if (still_open(w, err) < 0)
        return -1;
    if (put_raws(w, s, o, arena, err) == 0) {
        buf_clear(&w->line);
        redact_sample(w, s, arena);
        sample_encode(s, &w->line);
        if (append_line(w, err) == 0)
            return 0;
    }
    remove_raws(w, s);
    checksums_truncate(&w->sums, listed);
    return -1;
}

void archive_writer_passing(struct archive_writer *w)
{
    w->folder.passing = true;
}

int archive_writer_sync(struct archive_writer *w, int64_t every_ns, struct err *err)
{
    int64_t at = clock_mono_ns();

    if (!w->unsynced || w->folder.passing || at - w->synced_ns < every_ns)
        return 0;
    if (fdatasync(w->samples_fd) < 0)
        return err_sys(err, ERR_SYSTEM, errno, "cannot write '%s/" ARCHIVE_SAMPLES "'",
                       w->folder.path);
    w->synced_ns = at;
    w->unsynced = false;
    return 0;
}

/* ---- programs/ ---- */

int archive_writer_keeps(struct archive_writer *w, struct err *err)
{
    return folder_make_kept(&w->folder, err);
}

bool archive_writer_is_keeping(const struct archive_writer *w)
{
    return w->folder.kept_fd >= 0;
}

/* Copies what is left of `from` into a new file; `hex` gets its digest. -1 with errno. */
static int copy(int from, int to, char hex[DIGEST_HEX], uint64_t *bytes)
{
    char piece[65536];
    struct digest d;
    ssize_t n;
    int rc = 0;

    digest_begin(&d);
    *bytes = 0;
    while (rc == 0 && (n = read(from, piece, sizeof piece)) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        rc = n < 0 ? -1 : files_write_all(to, piece, (size_t)n);
        if (rc == 0) {
            digest_add(&d, piece, (size_t)n);
            *bytes += (uint64_t)n;
        }
    }
    int saved = errno;
    digest_finish(&d, hex);
    errno = saved;
    return rc;
}

/* From one descriptor to programs/NAME, by a draft and rename. */
static int keep_open(struct archive_writer *w, int from, const char *path, const char *sha256,
                     struct err *err)
{
    char draft[100], name[100], hex[DIGEST_HEX];
    uint64_t bytes;
    int to, rc;

    snprintf(name, sizeof name, ARCHIVE_PROGRAMS "%s", sha256);
    snprintf(draft, sizeof draft, ARCHIVE_PROGRAMS "%s.new", sha256);
    folder_remove(&w->folder, draft);
    if ((to = folder_create(&w->folder, draft, err)) < 0)
        return -1;
    rc = copy(from, to, hex, &bytes);
    if (rc == 0 && !w->folder.passing)
        rc = fsync(to);
    if (close(to) < 0 || rc < 0)
        rc = err_sys(err, ERR_SYSTEM, errno, "cannot keep '%s'", path);
    else if (strcmp(hex, sha256) != 0)
        rc = err_set(err, ERR_MEASURE, "cannot keep '%s': it is not the file any more that ran",
                     path);
    else if (renameat(w->folder.kept_fd, draft + strlen(ARCHIVE_PROGRAMS), w->folder.kept_fd,
                      sha256) < 0)
        rc = err_sys(err, ERR_SYSTEM, errno, "cannot keep '%s'", path);
    if (rc < 0)
        folder_remove(&w->folder, draft);
    else
        checksums_add(&w->sums, name, hex, bytes);
    return rc;
}

int archive_writer_keep(struct archive_writer *w, const char *path, const char *sha256,
                        struct err *err)
{
    char name[100];

    ABBA_ASSERT(archive_writer_is_keeping(w) && strlen(sha256) == DIGEST_HEX - 1);
    snprintf(name, sizeof name, ARCHIVE_PROGRAMS "%s", sha256);
    if (still_open(w, err) < 0 || folder_has(&w->folder, name))
        return w->closed ? -1 : 0;
    int from = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (from < 0)
        return err_sys(err, ERR_SYSTEM, errno, "cannot keep '%s'", path);
    int rc = keep_open(w, from, path, sha256, err);
    close(from);
    return rc;
}

/* ---- the end ---- */

static int put_checksums(struct archive_writer *w, char digest[DIGEST_HEX], struct err *err)
{
    struct buf text = BUF_INIT;

    checksums_sort(&w->sums);
    checksums_write(&w->sums, &text);
    int rc = folder_replace(&w->folder, CHECKSUMS_NAME, text.data, text.len, err);
    digest_sha256(text.data, text.len, digest);
    buf_release(&text);
    return rc;
}

int archive_writer_finish(struct archive_writer *w, const char *report, size_t report_len,
                          char digest[65], struct err *err)
{
    char hex[DIGEST_HEX];

    ABBA_ASSERT(w->has_series);
    if (still_open(w, err) < 0 || archive_writer_sync(w, 0, err) < 0)
        return -1;
    w->closed = true;
    digest_finish(&w->samples_digest, hex);
    w->samples_digest.context = NULL;
    checksums_add(&w->sums, ARCHIVE_SAMPLES, hex, w->samples_bytes);
    if (list_probes(w, err) < 0)
        return -1;
    if (w->has_loaded)
        checksums_add(&w->sums, ARCHIVE_LOADED, w->loaded_sha256, w->loaded_bytes);
    if (put_file(w, ARCHIVE_REPORT, report, report_len, err) < 0)
        return -1;
    return put_checksums(w, digest, err);
}
