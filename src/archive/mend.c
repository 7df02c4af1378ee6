#include "archive/mend.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "archive/listing.h"
#include "archive/names.h"
#include "base/files.h"
#include "base/sorted.h"

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

struct looking {
    const struct archive *archive;
    const struct folder *folder;
    size_t whole; /* samples before the first of which a file lacks */
    bool ended;
};

static int look_at_files(void *user, const struct sample *s, struct err *err)
{
    struct looking *l = user;

    if (!l->ended && sample_whole(l->folder, s)) {
        l->whole++;
        return 0;
    }
    l->ended = true;
    if (!failed(s))
        return 0;
    err_set(err, ERR_ARCHIVE,
            "'%s': raw files of run %zu are missing or short, and run %llu failed by itself",
            l->archive->folder, l->whole + 1, (unsigned long long)s->run);
    return err_hint(err, "a failed run is never run again: this archive cannot go on");
}

int mend_whole_samples(const struct archive *a, size_t *count, struct err *err)
{
    struct folder f;
    struct looking l = {.archive = a, .folder = &f};

    if (folder_open(&f, a->folder, err) < 0)
        return -1;
    int rc = archive_each(a, look_at_files, &l, err);
    folder_release(&f);
    *count = l.whole;
    return rc;
}

/* ---- what is left over ---- */

struct mending {
    const struct folder *folder;
    const struct archive *archive;
    struct listing described; /* raw files of the samples that stay */
    unsigned long torn;       /* N */
    struct sorted raw;        /* entries of raw/, with that */
};

static int note_entry(void *user, const char *entry, struct err *err)
{
    struct mending *m = user;
    unsigned long n;
    char name[300];

    if (strncmp(entry, "torn-", 5) == 0 && (n = strtoul(entry + 5, NULL, 10)) >= m->torn)
        m->torn = n + 1;
    snprintf(name, sizeof name, ARCHIVE_RAW "%s", entry);
    return sorted_add(&m->raw, name, err);
}

static int note_described(void *user, const struct sample *s, struct err *err)
{
    struct mending *m = user;

    for (size_t r = 0; r < s->role_count; r++)
        for (size_t k = 0; k < s->roles[r].file_count; k++) {
            const struct sample_file *f = &s->roles[r].files[k];

            if (listing_add(&m->described, f->path, f->sha256, f->bytes, err) < 0)
                return -1;
        }
    return 0;
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

/* Where line `n` (0..) of the file begins, or its end. */
static int line_start(int fd, size_t n, off_t *start)
{
    char piece[64 << 10];
    ssize_t got = 1;

    *start = 0;
    while (n > 0 && (got = read(fd, piece, sizeof piece)) > 0) {
        const char *at = piece, *end = piece + got, *newline;

        while (n > 0 && (newline = memchr(at, '\n', (size_t)(end - at))) != NULL) {
            at = newline + 1;
            n--;
        }
        *start += n > 0 ? got : at - piece;
    }
    return got < 0 ? -1 : 0;
}

/* What follows in `from` goes into `to`, and onto the disk. */
static int copy_rest(int from, int to)
{
    char piece[64 << 10];
    ssize_t n;

    while ((n = read(from, piece, sizeof piece)) > 0)
        if (files_write_all(to, piece, (size_t)n) < 0)
            return -1;
    return n < 0 ? -1 : fsync(to);
}

/* The rest lies in raw/ before it is cut off, and what stays is on disk by then. */
static int move_tail(const struct mending *m, int fd, off_t start, struct err *err)
{
    char name[40];
    int to, rc;

    snprintf(name, sizeof name, ARCHIVE_RAW "torn-%lu", m->torn);
    if (lseek(fd, start, SEEK_SET) < 0 || (to = folder_create(m->folder, name, err)) < 0)
        return -1;
    rc = copy_rest(fd, to);
    close(to);
    if (rc == 0 && folder_sync(m->folder, err) < 0)
        return -1;
    to = rc == 0 ? folder_append(m->folder, ARCHIVE_SAMPLES, err) : -1;
    if (rc == 0 && to < 0)
        return -1;
    if (rc < 0 || ftruncate(to, start) < 0 || fsync(to) < 0)
        rc = err_sys(err, ERR_SYSTEM, errno, "cannot move the torn end of '%s/" ARCHIVE_SAMPLES "'",
                     m->folder->path);
    if (to >= 0)
        close(to);
    return rc;
}

static int mend_samples(const struct mending *m, struct err *err)
{
    uint64_t size;
    off_t start;
    int rc, fd = folder_file(m->folder, ARCHIVE_SAMPLES, &size, err);

    if (fd < 0)
        return -1;
    if (line_start(fd, m->archive->sample_count, &start) < 0)
        rc = err_sys(err, ERR_SYSTEM, errno, "cannot read '%s/" ARCHIVE_SAMPLES "'",
                     m->folder->path);
    else
        rc = start < (off_t)size ? move_tail(m, fd, start, err) : 0;
    close(fd);
    return rc;
}

/* Raw files without a line make room for those of the run that takes the number. */
static int move_orphans(struct mending *m, struct err *err)
{
    const char *name, *entry;
    char torn[400];
    int rc, known;

    while ((rc = sorted_next(&m->raw, &name, err)) > 0) {
        entry = name + strlen(ARCHIVE_RAW);
        if (strncmp(entry, "torn-", 5) == 0)
            continue;
        known = listing_find(&m->described, name, err);
        snprintf(torn, sizeof torn, "torn-%lu-%s", m->torn, entry);
        if (known < 0 || (known == 0 && folder_rename_raw(m->folder, entry, torn, err) < 0))
            return -1;
    }
    return rc;
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
        folder_each(m->folder, ARCHIVE_RAW, note_entry, m, err) < 0 ||
        archive_each(m->archive, note_described, m, err) < 0)
        return -1;
    if (mend_samples(m, err) < 0 || move_orphans(m, err) < 0)
        return -1;
    return folder_sync(m->folder, err);
}

int mend_archive(const struct folder *f, const struct archive *a, struct err *err)
{
    struct mending m = {
        .folder = f, .archive = a, .torn = 1, .described = LISTING_INIT, .raw = SORTED_INIT};
    int rc = mend(&m, err);

    listing_release(&m.described);
    sorted_release(&m.raw);
    return rc;
}
