#include "archive/mend.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "archive/checksums.h"
#include "archive/names.h"
#include "base/mem.h"

#define TORN_MAX_BYTES ((size_t)1 << 30)

/* ---- files that did not reach the disk ---- */

static bool file_whole(const struct folder *f, const struct sample_file *file, struct err *err)
{
    uint64_t size;
    int fd = folder_file(f, file->path, &size, err);

    if (fd < 0)
        return err->sys_errno != ENOENT; /* a link or the like: not the disk's doing */
    close(fd);
    return size >= file->bytes;
}

static bool sample_whole(const struct folder *f, const struct sample *s)
{
    struct err ignored = {0};

    for (size_t r = 0; r < s->role_count; r++)
        for (size_t i = 0; i < s->roles[r].file_count; i++)
            if (!file_whole(f, &s->roles[r].files[i], &ignored))
                return false;
    return true;
}

static bool failed(const struct sample *s)
{
    return s->status != SAMPLE_OK && s->status != SAMPLE_INTERRUPTED;
}

int mend_whole_samples(const struct archive *a, size_t *count, struct err *err)
{
    struct folder f;
    size_t n = 0;

    ABBA_ASSERT(a->samples || a->sample_count == 0);
    if (folder_open(&f, a->folder, err) < 0)
        return -1;
    while (n < a->sample_count && sample_whole(&f, &a->samples[n]))
        n++;
    folder_release(&f);
    *count = n;
    for (size_t i = n; i < a->sample_count; i++)
        if (failed(&a->samples[i])) {
            err_set(err, ERR_ARCHIVE,
                    "'%s': raw files of run %zu are missing or short, and run %zu failed by itself",
                    a->folder, n + 1, i + 1);
            return err_hint(err, "a failed run is never run again: this archive cannot go on");
        }
    return 0;
}

/* ---- what is left over ---- */

struct mending {
    const struct folder *folder;
    const struct archive *archive;
    struct checksums described; /* raw files of the samples that stay; checksums are not used */
    unsigned long torn;         /* N */
    struct arena arena;         /* names */
    struct strings raw;         /* entries of raw/ */
};

static int note_entry(void *user, const char *entry, struct err *err)
{
    struct mending *m = user;
    unsigned long n;

    (void)err;
    strings_add(&m->raw, &m->arena, arena_strdup(&m->arena, entry));
    if (strncmp(entry, "torn-", 5) == 0 && (n = strtoul(entry + 5, NULL, 10)) >= m->torn)
        m->torn = n + 1;
    return 0;
}

static void list_described(struct mending *m)
{
    static const char none[DIGEST_HEX] =
        "0000000000000000000000000000000000000000000000000000000000000000";

    for (size_t i = 0; i < m->archive->sample_count; i++) {
        const struct sample *s = &m->archive->samples[i];

        for (size_t r = 0; r < s->role_count; r++)
            for (size_t k = 0; k < s->roles[r].file_count; k++)
                checksums_add(&m->described, s->roles[r].files[k].path, none, 0);
    }
    checksums_sort(&m->described);
}

static int drop_draft(void *user, const char *entry, struct err *err)
{
    const struct mending *m = user;
    size_t len = strlen(entry);

    (void)err;
    if (len > 4 && strcmp(entry + len - 4, ".new") == 0)
        folder_remove(m->folder, entry);
    return 0;
}

/* A copy that had not ended. */
static int drop_kept_draft(void *user, const char *entry, struct err *err)
{
    const struct mending *m = user;
    size_t len = strlen(entry);
    char name[300];

    (void)err;
    snprintf(name, sizeof name, ARCHIVE_PROGRAMS "%s", entry);
    if (len > 4 && strcmp(entry + len - 4, ".new") == 0)
        folder_remove(m->folder, name);
    return 0;
}

/* Offset of line `n` (0..) of a text, or its length. */
static size_t line_start(const char *text, size_t len, size_t n)
{
    size_t at = 0;

    for (; n > 0 && at < len; n--) {
        const char *newline = memchr(text + at, '\n', len - at);

        at = newline ? (size_t)(newline - text) + 1 : len;
    }
    return at;
}

/* The lines that stay are on disk before the rest is cut off, and the rest lies in raw/ by then. */
static int move_tail(const struct mending *m, const struct buf *samples, size_t start,
                     struct err *err)
{
    const struct folder_part rest = {samples->data + start, samples->len - start};
    char name[40];
    int fd = -1, rc = -1;

    snprintf(name, sizeof name, ARCHIVE_RAW "torn-%lu", m->torn);
    if (folder_write(m->folder, name, &rest, 1, err) < 0 ||
        (fd = folder_append(m->folder, name, err)) < 0)
        return -1;
    if (fsync(fd) == 0 && folder_sync(m->folder, err) == 0) {
        close(fd);
        if ((fd = folder_append(m->folder, ARCHIVE_SAMPLES, err)) < 0)
            return -1;
        rc = ftruncate(fd, (off_t)start) == 0 && fsync(fd) == 0 ? 0 : -1;
    }
    if (rc < 0)
        err_sys(err, ERR_SYSTEM, errno, "cannot move the torn end of '%s/" ARCHIVE_SAMPLES "'",
                m->folder->path);
    close(fd);
    return rc;
}

static int mend_samples(const struct mending *m, struct err *err)
{
    struct buf samples = BUF_INIT;
    int rc = folder_read(m->folder, ARCHIVE_SAMPLES, TORN_MAX_BYTES, &samples, err);

    if (rc == 0) {
        size_t start = line_start(samples.data, samples.len, m->archive->sample_count);

        if (start < samples.len)
            rc = move_tail(m, &samples, start, err);
    }
    buf_release(&samples);
    return rc;
}

/* Raw files without a line make room for those of the run that takes the number. */
static int move_orphans(struct mending *m, struct err *err)
{
    for (size_t i = 0; i < m->raw.count; i++) {
        const char *entry = m->raw.items[i];

        if (strncmp(entry, "torn-", 5) == 0 ||
            checksums_find(&m->described, arena_printf(&m->arena, ARCHIVE_RAW "%s", entry)))
            continue;
        if (folder_rename_raw(m->folder, entry,
                              arena_printf(&m->arena, "torn-%lu-%s", m->torn, entry), err) < 0)
            return -1;
    }
    return 0;
}

static int mend(struct mending *m, struct err *err)
{
    folder_remove(m->folder, CHECKSUMS_NAME);
    folder_remove(m->folder, ARCHIVE_SIGNATURE);
    folder_remove(m->folder, ARCHIVE_REPORT);
    if (folder_has(m->folder, CHECKSUMS_NAME) || folder_has(m->folder, ARCHIVE_REPORT))
        return err_set(err, ERR_SYSTEM, "cannot write in '%s'", m->folder->path);
    if (folder_each(m->folder, "", drop_draft, m, err) < 0 ||
        folder_each(m->folder, ARCHIVE_PROGRAMS, drop_kept_draft, m, err) < 0 ||
        folder_each(m->folder, ARCHIVE_RAW, note_entry, m, err) < 0)
        return -1;
    list_described(m);
    if (mend_samples(m, err) < 0 || move_orphans(m, err) < 0)
        return -1;
    return folder_sync(m->folder, err);
}

int mend_archive(const struct folder *f, const struct archive *a, struct err *err)
{
    struct mending m = {.folder = f, .archive = a, .torn = 1, .arena = ARENA_INIT};
    int rc = mend(&m, err);

    checksums_release(&m.described);
    arena_release(&m.arena);
    return rc;
}
