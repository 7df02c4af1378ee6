#include "base/tar.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/files.h"
#include "base/mem.h"
#include "base/text.h"

#define TAR_BLOCK 10240
#define READ_BLOCK ((size_t)128 << 10)
#define LEVEL_THREAD_MAX 6
#define FIXED_TIME 315532800 /* 1980-01-01 UTC: tools warn of anything near 0 */

/* What libarchive says, made harmless. */
static int fault(enum err_code code, const char *name, struct archive *a, struct err *err)
{
    const char *said = archive_error_string(a);
    struct buf text = BUF_INIT;

    if (said)
        text_neutral(&text, said, strlen(said), 200);
    if (said && strncmp(said, "Truncated", 9) == 0)
        err_set(err, code, "'%s' is cut off", name);
    else
        err_set(err, code, "'%s': %s", name, said ? text.data : "unknown fault");
    buf_release(&text);
    return -1;
}

/* ---- writing ---- */

struct tar_writer {
    struct archive *tar, *zstd;
    struct archive_entry *entry;
    const char *name;
    int fd;
    int cause;    /* errno of the first write that failed */
    bool dropped; /* what still comes goes nowhere */
    bool ended;
    struct digest digest;
    uint64_t packed;
};

/* Never fails: what libarchive (3.6) has to give up it does not free. `cause` is asked instead. */
static la_ssize_t write_packed(struct archive *a, void *user, const void *data, size_t len)
{
    struct tar_writer *w = user;

    (void)a;
    if (!w->dropped && files_write_all(w->fd, data, len) < 0) {
        w->cause = errno;
        w->dropped = true;
    }
    w->packed += len;
    return (la_ssize_t)len;
}

static la_ssize_t write_tar(struct archive *a, void *user, const void *data, size_t len)
{
    struct tar_writer *w = user;

    if (w->dropped)
        return (la_ssize_t)len;
    digest_add(&w->digest, data, len);
    if (archive_write_data(w->zstd, data, len) < 0) {
        archive_set_error(a, EIO, "%s",
                          archive_error_string(w->zstd) ? archive_error_string(w->zstd) : "zstd");
        return -1;
    }
    return (la_ssize_t)len;
}

static int write_fault(struct tar_writer *w, struct archive *a, struct err *err)
{
    if (w->cause)
        return err_sys(err, ERR_SYSTEM, w->cause, "cannot write '%s'", w->name);
    return fault(ERR_SYSTEM, w->name, a, err);
}

/*
 * The outer stream: zstd around one nameless file. A thread of its own compresses; its buffers grow
 * with the level, so higher ones (which are slow anyway) go without.
 */
static int open_zstd(struct tar_writer *w, int level, struct err *err)
{
    char text[16];

    snprintf(text, sizeof text, "%d", level);
    archive_write_set_format_raw(w->zstd);
    if (archive_write_add_filter_zstd(w->zstd) != ARCHIVE_OK ||
        archive_write_set_filter_option(w->zstd, "zstd", "compression-level", text) != ARCHIVE_OK)
        return write_fault(w, w->zstd, err);
    if (level <= LEVEL_THREAD_MAX)
        archive_write_set_filter_option(w->zstd, "zstd", "threads", "1"); /* where it can */
    archive_write_set_bytes_in_last_block(w->zstd, 1);
    archive_entry_set_filetype(w->entry, AE_IFREG);
    archive_entry_set_pathname(w->entry, "tar");
    if (archive_write_open(w->zstd, w, NULL, write_packed, NULL) != ARCHIVE_OK ||
        archive_write_header(w->zstd, w->entry) != ARCHIVE_OK)
        return write_fault(w, w->zstd, err);
    return 0;
}

static int open_tar(struct tar_writer *w, struct err *err)
{
    archive_write_set_format_ustar(w->tar);
    archive_write_set_bytes_per_block(w->tar, TAR_BLOCK);
    archive_write_set_bytes_in_last_block(w->tar, TAR_BLOCK);
    if (archive_write_open(w->tar, w, NULL, write_tar, NULL) != ARCHIVE_OK)
        return write_fault(w, w->tar, err);
    return 0;
}

int tar_writer_new(struct tar_writer **out, int fd, const char *name, int level, struct err *err)
{
    struct tar_writer *w = xcalloc(1, sizeof *w);

    ABBA_ASSERT(level >= TAR_LEVEL_MIN && level <= TAR_LEVEL_MAX);
    w->fd = fd;
    w->name = name;
    w->tar = archive_write_new();
    w->zstd = archive_write_new();
    w->entry = archive_entry_new();
    digest_begin(&w->digest);
    *out = w;
    if (!w->tar || !w->zstd || !w->entry)
        mem_exhausted(sizeof *w);
    if (open_zstd(w, level, err) == 0 && open_tar(w, err) == 0)
        return 0;
    tar_writer_free(w);
    *out = NULL;
    return -1;
}

int tar_writer_file(struct tar_writer *w, const char *name, uint64_t size, struct err *err)
{
    struct archive_entry *e = archive_entry_clear(w->entry);

    archive_entry_set_pathname(e, name);
    archive_entry_set_filetype(e, AE_IFREG);
    archive_entry_set_perm(e, 0644);
    archive_entry_set_uid(e, 0);
    archive_entry_set_gid(e, 0);
    archive_entry_set_mtime(e, FIXED_TIME, 0);
    archive_entry_set_size(e, (la_int64_t)size);
    int rc = archive_write_header(w->tar, e);
    if (rc == ARCHIVE_OK && !w->cause)
        return 0;
    return w->cause ? write_fault(w, w->tar, err) : fault(ERR_ARCHIVE, name, w->tar, err);
}

int tar_writer_data(struct tar_writer *w, const void *data, size_t len, struct err *err)
{
    bool written = archive_write_data(w->tar, data, len) == (la_ssize_t)len;

    return written && !w->cause ? 0 : write_fault(w, w->tar, err);
}

int tar_writer_finish(struct tar_writer *w, struct tar_sum *sum, struct err *err)
{
    if (archive_write_close(w->tar) != ARCHIVE_OK)
        return write_fault(w, w->tar, err);
    if (archive_write_close(w->zstd) != ARCHIVE_OK || w->cause)
        return write_fault(w, w->zstd, err);
    sum->bytes = w->digest.size;
    digest_finish(&w->digest, sum->sha256);
    w->ended = true;
    sum->packed = w->packed;
    return 0;
}

void tar_writer_free(struct tar_writer *w)
{
    if (!w)
        return;
    w->dropped = true; /* freeing writes what is still held */
    if (!w->ended)
        digest_abandon(&w->digest);
    archive_write_free(w->tar);
    archive_write_free(w->zstd);
    archive_entry_free(w->entry);
    free(w);
}

/* ---- reading ---- */

struct tar_reader {
    struct archive *tar, *zstd;
    const char *name;
    struct tar_limits limits;
    struct err why; /* what a callback found; libarchive only knows that it failed */
    struct digest digest;
    uint64_t entries, bytes, at; /* `at`: bytes of this file so far */
    uint64_t size;               /* of this file */
    uint64_t expected;           /* bytes of the tar up to the end of this file */
    uint64_t filled;             /* bytes up to the last one that is not 0 */
    bool ended;
    char *block;
    char entry[TAR_NAME_MAX + 1];
};

static int refuse(struct tar_reader *r, struct err *err, const char *what)
{
    return err_set(err, ERR_ARCHIVE, "'%s' %s", r->name, what);
}

static int check_limits(struct tar_reader *r)
{
    uint64_t packed = (uint64_t)archive_filter_bytes(r->zstd, -1);
    const struct tar_limits *l = &r->limits;

    if (r->bytes > l->bytes)
        return err_set(&r->why, ERR_ARCHIVE, "'%s' holds more than the %llu bytes that are allowed",
                       r->name, (unsigned long long)l->bytes);
    if (r->bytes > l->free && packed > 0 && r->bytes / packed >= l->ratio)
        return err_set(&r->why, ERR_ARCHIVE,
                       "'%s' grows more than %llu times as it is unpacked, beyond %llu bytes",
                       r->name, (unsigned long long)l->ratio, (unsigned long long)l->free);
    return 0;
}

/* The next bytes of the tar, counted and hashed: their number, 0 at the end, -1. */
static la_ssize_t pull(struct tar_reader *r)
{
    la_ssize_t n = archive_read_data(r->zstd, r->block, READ_BLOCK);

    if (n < 0) {
        fault(ERR_ARCHIVE, r->name, r->zstd, &r->why);
        return -1;
    }
    for (la_ssize_t i = n; i > 0; i--) {
        if (r->block[i - 1]) {
            r->filled = r->bytes + (uint64_t)i;
            break;
        }
    }
    r->bytes += (uint64_t)n;
    digest_add(&r->digest, r->block, (size_t)n);
    return check_limits(r) < 0 ? -1 : n;
}

static la_ssize_t read_tar(struct archive *a, void *user, const void **data)
{
    struct tar_reader *r = user;
    la_ssize_t n = pull(r);

    *data = r->block;
    if (n < 0)
        archive_set_error(a, EIO, "cannot read");
    return n;
}

static int read_fault(struct tar_reader *r, struct err *err)
{
    if (r->why.code == ERR_NONE)
        return fault(ERR_ARCHIVE, r->name, r->tar, err);
    *err = r->why;
    return -1;
}

static int open_streams(struct tar_reader *r, int fd, struct err *err)
{
    struct archive_entry *ignored;

    archive_read_support_filter_zstd(r->zstd);
    archive_read_support_format_raw(r->zstd);
    archive_read_support_format_tar(r->tar);
    if (archive_read_open_fd(r->zstd, fd, READ_BLOCK) != ARCHIVE_OK ||
        archive_read_next_header(r->zstd, &ignored) != ARCHIVE_OK)
        return refuse(r, err, "is no pack: nothing can be read from it");
    if (archive_read_open(r->tar, r, NULL, read_tar, NULL) != ARCHIVE_OK)
        return read_fault(r, err);
    return 0;
}

int tar_reader_new(struct tar_reader **out, int fd, const char *name,
                   const struct tar_limits *limits, struct err *err)
{
    struct tar_reader *r = xcalloc(1, sizeof *r);

    r->name = name;
    r->limits = *limits;
    r->block = xmalloc(READ_BLOCK);
    r->tar = archive_read_new();
    r->zstd = archive_read_new();
    if (!r->tar || !r->zstd)
        mem_exhausted(sizeof *r);
    digest_begin(&r->digest);
    *out = r;
    if (open_streams(r, fd, err) == 0)
        return 0;
    tar_reader_free(r);
    *out = NULL;
    return -1;
}

/* Each step of the path is a name. */
static bool name_ok(const char *name)
{
    for (const char *at = name;;) {
        size_t n = strcspn(at, "/");

        if (n == 0 || (at[0] == '.' && (n == 1 || (n == 2 && at[1] == '.'))))
            return false;
        if (!at[n])
            return true;
        at += n + 1;
    }
}

/* "'PACK': 'ENTRY' WHAT" */
static int refuse_entry(struct tar_reader *r, const char *entry, const char *what, struct err *err)
{
    struct buf shown = BUF_INIT;

    text_neutral(&shown, entry, strlen(entry), 160);
    err_set(err, ERR_ARCHIVE, "'%s': entry '%s' %s", r->name, shown.data, what);
    buf_release(&shown);
    return -1;
}

static int check_entry(struct tar_reader *r, struct archive_entry *e, struct err *err)
{
    const char *name = archive_entry_pathname(e);

    if (!name || strlen(name) > TAR_NAME_MAX)
        return refuse(r, err, "has an entry without a name, or with one that is too long");
    if (name[0] == '/')
        return refuse_entry(r, name, "has an absolute path", err);
    if (archive_entry_hardlink(e) || archive_entry_symlink(e))
        return refuse_entry(r, name, "is a link", err);
    if (archive_entry_filetype(e) != AE_IFREG)
        return refuse_entry(r, name, "is not a regular file", err);
    if (!name_ok(name))
        return refuse_entry(r, name, "leads out of its folder", err);
    if (archive_format(r->tar) != ARCHIVE_FORMAT_TAR_USTAR || archive_entry_sparse_count(e) > 0 ||
        !archive_entry_size_is_set(e) || archive_entry_size(e) < 0)
        return refuse_entry(r, name, "is not plain ustar", err);
    memcpy(r->entry, name, strlen(name) + 1);
    return 0;
}

int tar_reader_next(struct tar_reader *r, struct tar_entry *entry, struct err *err)
{
    struct archive_entry *e;
    int rc = archive_read_next_header(r->tar, &e);

    if (rc == ARCHIVE_EOF && r->why.code == ERR_NONE)
        return 0;
    if (rc != ARCHIVE_OK)
        return read_fault(r, err);
    if (++r->entries > r->limits.entries)
        return err_set(err, ERR_ARCHIVE, "'%s' holds more than the %llu files that are allowed",
                       r->name, (unsigned long long)r->limits.entries);
    if (check_entry(r, e, err) < 0)
        return -1;
    r->at = 0;
    r->size = (uint64_t)archive_entry_size(e);
    r->expected += 512 + (r->size + 511) / 512 * 512;
    *entry = (struct tar_entry){.name = r->entry, .size = r->size};
    return 1;
}

int tar_reader_data(struct tar_reader *r, const void **data, size_t *len, struct err *err)
{
    la_int64_t offset;
    int rc = archive_read_data_block(r->tar, data, len, &offset);

    if (rc == ARCHIVE_EOF)
        return r->at == r->size ? 0 : refuse_entry(r, r->entry, "is cut off", err);
    if (rc != ARCHIVE_OK)
        return read_fault(r, err);
    if (offset < 0 || (uint64_t)offset != r->at || *len > r->size - r->at)
        return refuse_entry(r, r->entry, "has a gap", err);
    r->at += *len;
    return 1;
}

/* Two empty blocks end the tar, which is then filled up with zeros; libarchive looks no further. */
static int check_end(struct tar_reader *r, struct err *err)
{
    uint64_t whole = (r->expected + 2 * 512 + TAR_BLOCK - 1) / TAR_BLOCK * TAR_BLOCK;
    la_ssize_t n;

    while ((n = pull(r)) > 0)
        ;
    if (n < 0)
        return read_fault(r, err);
    if (r->bytes > whole || r->filled > r->expected)
        return refuse(r, err, "goes on behind its end");
    return r->bytes == whole ? 0 : refuse(r, err, "is cut off");
}

int tar_reader_finish(struct tar_reader *r, struct tar_sum *sum, struct err *err)
{
    if (check_end(r, err) < 0)
        return -1;
    sum->bytes = r->digest.size;
    sum->packed = (uint64_t)archive_filter_bytes(r->zstd, -1);
    digest_finish(&r->digest, sum->sha256);
    r->ended = true;
    return 0;
}

void tar_reader_free(struct tar_reader *r)
{
    if (!r)
        return;
    archive_read_free(r->tar);
    archive_read_free(r->zstd);
    if (!r->ended)
        digest_abandon(&r->digest);
    free(r->block);
    free(r);
}
