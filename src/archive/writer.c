#include "archive/writer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "archive/mend.h"
#include "archive/names.h"
#include "archive/writer_parts.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/mem.h"

#define SECRET_LEAST 6 /* characters: shorter ones are words that stand anywhere */

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
    return rc == 0 ? listing_add(&w->sums, name, hex, size, err) : -1;
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
    listing_release(&w->sums);
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

/* ---- what its parts share ---- */

int writer_put_file(struct archive_writer *w, const char *name, const char *text, size_t len,
                    struct err *err)
{
    char hex[DIGEST_HEX];

    if (folder_replace(&w->folder, name, text, len, err) < 0)
        return -1;
    digest_sha256(text, len, hex);
    return listing_add(&w->sums, name, hex, len, err);
}

int writer_still_open(const struct archive_writer *w, struct err *err)
{
    if (!w->closed)
        return 0;
    return err_set(err, ERR_SYSTEM, "archive '%s' takes no more after an earlier error",
                   w->folder.path);
}

void writer_redact(const struct archive_writer *w, const char **text, struct arena *arena)
{
    struct buf room = BUF_INIT;

    if (*text && redaction_apply(&w->redaction, *text, strlen(*text), &room))
        *text = arena_strndup(arena, room.data, room.len);
    buf_release(&room);
}

/* ---- samples.jsonl ---- */

/* Names in messages; the names of metrics, roles, variants and profiles are the plan's. */
static void redact_sample(const struct archive_writer *w, struct sample *s, struct arena *arena)
{
    if (w->redaction.count == 0)
        return;
    writer_redact(w, &s->error, arena);
    for (size_t i = 0; i < s->metric_count; i++)
        writer_redact(w, &s->metrics[i].value.reason, arena);
    for (size_t i = 0; i < s->role_count; i++) {
        writer_redact(w, &s->roles[i].error, arena);
        writer_redact(w, &s->roles[i].stderr_tail, arena);
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

/* Once a sample is there, its raw files belong to the archive. */
static int list_raws(struct archive_writer *w, const struct sample *s, struct err *err)
{
    for (size_t r = 0; r < s->role_count; r++)
        for (size_t i = 0; i < s->roles[r].file_count; i++) {
            const struct sample_file *f = &s->roles[r].files[i];

            if (listing_add(&w->sums, f->path, f->sha256, f->bytes, err) < 0) {
                w->closed = true; /* a list that lacks a file must not be finished */
                return -1;
            }
        }
    return 0;
}

int archive_writer_sample(struct archive_writer *w, struct sample *s, const struct outcome *o,
                          struct arena *arena, struct err *err)
{
    if (writer_still_open(w, err) < 0)
        return -1;
    if (writer_put_raws(w, s, o, arena, err) == 0) {
        buf_clear(&w->line);
        redact_sample(w, s, arena);
        sample_encode(s, &w->line);
        if (append_line(w, err) == 0)
            return list_raws(w, s, err);
    }
    writer_remove_raws(w, s);
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

/* ---- the end ---- */

#define LIST_PIECE ((size_t)64 << 10)

/* Writes what there is of the text, if it is enough or the last. */
static int write_piece(int fd, struct buf *text, struct digest *d, size_t enough)
{
    if (text->len < enough)
        return 0;
    digest_add(d, text->data, text->len);
    int rc = files_write_all(fd, text->data, text->len);
    buf_clear(text);
    return rc;
}

/* *rc: -1, with errno, where writing failed. */
static int write_list(struct listing *sums, int fd, struct digest *d, int *rc, struct err *err)
{
    struct buf text = BUF_INIT;
    int more;

    while ((more = listing_next(sums, err)) > 0 && *rc == 0) {
        buf_printf(&text, "%s  %s\n", sums->entry.sha256, sums->entry.path);
        *rc = write_piece(fd, &text, d, LIST_PIECE);
    }
    if (more == 0 && *rc == 0)
        *rc = write_piece(fd, &text, d, 1);
    buf_release(&text);
    return more < 0 ? -1 : 0;
}

static int put_checksums(struct archive_writer *w, char digest[DIGEST_HEX], struct err *err)
{
    struct digest d;
    int rc = 0, fd = folder_draft(&w->folder, CHECKSUMS_NAME, err);

    if (fd < 0)
        return -1;
    digest_begin(&d);
    if (write_list(&w->sums, fd, &d, &rc, err) < 0) {
        digest_abandon(&d);
        close(fd);
        folder_remove(&w->folder, CHECKSUMS_NAME ".new");
        return -1;
    }
    digest_finish(&d, digest);
    return folder_place(&w->folder, CHECKSUMS_NAME, fd, rc, err);
}

int archive_writer_finish(struct archive_writer *w, const char *report, size_t report_len,
                          char digest[65], struct err *err)
{
    char hex[DIGEST_HEX];

    ABBA_ASSERT(w->has_series);
    if (writer_still_open(w, err) < 0 || archive_writer_sync(w, 0, err) < 0)
        return -1;
    w->closed = true;
    digest_finish(&w->samples_digest, hex);
    w->samples_digest.context = NULL;
    if (listing_add(&w->sums, ARCHIVE_SAMPLES, hex, w->samples_bytes, err) < 0 ||
        writer_list_probes(w, err) < 0)
        return -1;
    if (w->has_loaded &&
        listing_add(&w->sums, ARCHIVE_LOADED, w->loaded_sha256, w->loaded_bytes, err) < 0)
        return -1;
    if (writer_put_file(w, ARCHIVE_REPORT, report, report_len, err) < 0)
        return -1;
    return put_checksums(w, digest, err);
}
