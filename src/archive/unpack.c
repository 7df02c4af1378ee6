#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive/checksums.h"
#include "archive/names.h"
#include "archive/pack.h"
#include "archive/pack_parts.h"
#include "base/buf.h"
#include "base/files.h"
#include "base/mem.h"

/* SHA256SUMS has this name until all that it lists is there: half an archive never looks whole. */
#define SUMS_DRAFT "SHA256SUMS.new"

/* A pack while it is read. Its list is kept in a file, so that a long one takes no memory. */
struct unpacking {
    struct tar_reader *tar;
    struct tar_entry entry;
    const char *name; /* of the pack, for messages */
    const volatile sig_atomic_t *stop;
    struct pack_result *result;
    struct checksum_lines lines;
    int folder; /* where the files go; -1: nowhere */
    char top[sizeof PACK_TOP + 16 + 1];
};

static int fault(const struct unpacking *u, const char *path, const char *what, struct err *err)
{
    return err_set(err, ERR_ARCHIVE, "'%s': '%s' %s", u->name, path, what);
}

/* ---- where a file goes ---- */

static int make_above(const struct unpacking *u, const char *path, struct err *err)
{
    char above[PACK_PATH_MAX + 1];

    for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        memcpy(above, path, (size_t)(slash - path));
        above[slash - path] = '\0';
        if (mkdirat(u->folder, above, 0777) < 0 && errno != EEXIST)
            return err_sys(err, ERR_SYSTEM, errno, "cannot make '%s'", above);
    }
    return 0;
}

static int create(const struct unpacking *u, const char *path, struct err *err)
{
    if (make_above(u, path, err) < 0)
        return -1;
    int fd = openat(u->folder, path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    return fd >= 0 ? fd : err_sys(err, ERR_SYSTEM, errno, "cannot make '%s'", path);
}

/* ---- one file ---- */

/* The rest of the entry into `fd` (-1: nowhere) or `text` (may be NULL), and its digest. */
static int take(struct unpacking *u, int fd, struct buf *text, char hex[DIGEST_HEX],
                struct err *err)
{
    const void *data;
    size_t len;
    struct digest d;
    int rc;

    digest_begin(&d);
    while ((rc = tar_reader_data(u->tar, &data, &len, err)) > 0) {
        digest_add(&d, data, len);
        if (u->stop && *u->stop)
            rc = err_set(err, ERR_INTERRUPTED, "interrupted");
        else if (fd >= 0 && files_write_all(fd, data, len) < 0)
            rc = err_sys(err, ERR_SYSTEM, errno, "cannot write '%s'", u->entry.name);
        else if (text && buf_add(text, data, len) < 0)
            rc = fault(u, u->entry.name, "is too large", err);
        if (rc < 0)
            break;
    }
    digest_finish(&d, hex);
    u->result->files++;
    return rc;
}

/* The next entry, which must be this path below the top folder. */
static int expect(struct unpacking *u, const char *path, struct err *err)
{
    int rc = tar_reader_next(u->tar, &u->entry, err);
    size_t top = strlen(u->top);

    if (rc < 0)
        return -1;
    if (rc == 0)
        return fault(u, path, "is missing", err);
    if (strncmp(u->entry.name, u->top, top) == 0 && strcmp(u->entry.name + top, path) == 0)
        return 0;
    err_set(err, ERR_ARCHIVE, "'%s' has '%s' where '%s%s' should be", u->name, u->entry.name,
            u->top, path);
    return err_hint(err, "`abba pack` makes packs; a tar of another order is none");
}

static int take_listed(struct unpacking *u, struct err *err)
{
    char hex[DIGEST_HEX];
    int fd = -1;

    if (expect(u, u->lines.path, err) < 0)
        return -1;
    if (u->folder >= 0 && (fd = create(u, u->lines.path, err)) < 0)
        return -1;
    int rc = take(u, fd, NULL, hex, err);
    if (fd >= 0 && close(fd) < 0 && rc == 0)
        rc = err_sys(err, ERR_SYSTEM, errno, "cannot write '%s'", u->lines.path);
    if (rc == 0 && strcmp(hex, u->lines.sha256) != 0)
        rc = fault(u, u->lines.path, "is not the file that " CHECKSUMS_NAME " lists", err);
    return rc;
}

/* ---- the list ---- */

#define SUMS_MAX_BYTES ((uint64_t)PACK_MAX_ENTRIES * 128) /* read line by line, on disk */

/* SHA256SUMS comes first; the top folder has the name that its digest gives. */
static int take_sums(struct unpacking *u, int fd, struct err *err)
{
    char entry[TAR_NAME_MAX + 1];
    int rc = tar_reader_next(u->tar, &u->entry, err);

    if (rc < 0)
        return -1;
    const char *slash = rc ? strchr(u->entry.name, '/') : NULL;
    if (!slash || strcmp(slash + 1, CHECKSUMS_NAME) != 0) {
        err_set(err, ERR_ARCHIVE, "'%s' is no pack: " CHECKSUMS_NAME " does not come first",
                u->name);
        return err_hint(err, "`abba pack` makes packs");
    }
    memcpy(entry, u->entry.name, strlen(u->entry.name) + 1);
    if (u->entry.size > SUMS_MAX_BYTES)
        return fault(u, entry, "is too large", err);
    if (take(u, fd, NULL, u->result->digest, err) < 0)
        return -1;
    snprintf(u->top, sizeof u->top, PACK_TOP "%.16s/", u->result->digest);
    if (strncmp(entry, u->top, strlen(u->top)) != 0 || lseek(fd, 0, SEEK_SET) < 0)
        return fault(u, entry, "is not in the folder that its digest names", err);
    return 0;
}

/* A file for the list: in the folder, or one without a name. */
static int sums_file(const struct unpacking *u, struct err *err)
{
    if (u->folder >= 0)
        return create(u, SUMS_DRAFT, err);
    FILE *f = tmpfile();
    int fd = f ? dup(fileno(f)) : -1;

    if (f)
        fclose(f);
    return fd >= 0 ? fd : err_sys(err, ERR_SYSTEM, errno, "cannot make a temporary file");
}

static int open_list(struct unpacking *u, struct err *err)
{
    int fd = sums_file(u, err);

    if (fd < 0)
        return -1;
    if (take_sums(u, fd, err) < 0) {
        close(fd);
        return -1;
    }
    checksum_lines_open(&u->lines, fd, CHECKSUMS_NAME);
    return 0;
}

static int next_line(struct unpacking *u, struct err *err)
{
    int rc = checksum_lines_next(&u->lines, err);

    if (rc > 0 && !pack_path_ok(u->lines.path))
        return err_set(err, ERR_ARCHIVE,
                       "'%s': " CHECKSUMS_NAME " line %zu: a path that abba "
                       "never makes",
                       u->name, u->lines.number);
    return rc < 0 ? err_wrap(err, "'%s'", u->name) : rc;
}

/* ---- all ---- */

/* What may follow the listed files: the signature. */
static int take_signature(struct unpacking *u, struct err *err)
{
    char hex[DIGEST_HEX];
    int fd = -1, rc = tar_reader_next(u->tar, &u->entry, err);

    if (rc <= 0)
        return rc;
    size_t top = strlen(u->top);
    if (strncmp(u->entry.name, u->top, top) != 0 ||
        strcmp(u->entry.name + top, PACK_SIGNATURE) != 0 || u->entry.size > 65536)
        return fault(u, u->entry.name, "is not listed in " CHECKSUMS_NAME, err);
    if (u->folder >= 0 && (fd = create(u, PACK_SIGNATURE, err)) < 0)
        return -1;
    rc = take(u, fd, NULL, hex, err);
    if (fd >= 0)
        close(fd);
    if (rc < 0)
        return -1;
    rc = tar_reader_next(u->tar, &u->entry, err);
    return rc > 0 ? fault(u, u->entry.name, "is not listed in " CHECKSUMS_NAME, err) : rc;
}

static int check_digest(const struct unpacking *u, const char *digest, struct err *err)
{
    const struct pack_result *r = u->result;

    if (!digest || strcmp(digest, r->digest) == 0 || strcmp(digest, r->sum.sha256) == 0)
        return 0;
    return err_set(err, ERR_ARCHIVE, "the digest of '%s' is %s (of its tar: %s), not %s", u->name,
                   r->digest, r->sum.sha256, digest);
}

/* An archive has these, whatever else it has. */
static int check_needed(const struct unpacking *u, struct err *err)
{
    static const char *const needed[] = {ARCHIVE_SERIES, ARCHIVE_SAMPLES, ARCHIVE_REPORT};

    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (faccessat(u->folder, needed[i], F_OK, AT_SYMLINK_NOFOLLOW) < 0)
            return fault(u, needed[i], "is missing", err);
    if (mkdirat(u->folder, "raw", 0777) < 0 && errno != EEXIST)
        return err_sys(err, ERR_SYSTEM, errno, "cannot make 'raw'");
    return 0;
}

static int take_all(struct unpacking *u, const char *digest, struct err *err)
{
    int rc;

    if (open_list(u, err) < 0)
        return -1;
    while ((rc = next_line(u, err)) > 0)
        if (take_listed(u, err) < 0)
            return -1;
    if (rc < 0 || take_signature(u, err) < 0 ||
        tar_reader_finish(u->tar, &u->result->sum, err) < 0 || check_digest(u, digest, err) < 0 ||
        check_needed(u, err) < 0)
        return -1;
    if (renameat(u->folder, SUMS_DRAFT, u->folder, CHECKSUMS_NAME) < 0 || syncfs(u->folder) < 0)
        return err_sys(err, ERR_SYSTEM, errno, "cannot write '%s'", CHECKSUMS_NAME);
    return 0;
}

/* ---- the folder ---- */

/* Folders are made as mkdir makes them; mkdtemp's are for their owner alone. */
static int as_usual(int folder)
{
    mode_t mask = umask(0);

    umask(mask);
    return fchmod(folder, 0777 & ~mask);
}

static int put_in_place(int fd, const char *from, const char *to, struct err *err)
{
    if (as_usual(fd) == 0 && files_take_name(from, to) == 0)
        return 0;
    if (errno == EEXIST)
        return err_set(err, ERR_USAGE, "'%s' exists already", to);
    return err_sys(err, ERR_SYSTEM, errno, "cannot make '%s'", to);
}

static int unpack_into(struct unpacking *u, const char *temporary, const char *folder,
                       const char *digest, struct err *err)
{
    u->folder = open(temporary, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (u->folder < 0)
        return err_sys(err, ERR_SYSTEM, errno, "cannot open '%s'", temporary);
    int rc = take_all(u, digest, err);
    if (rc == 0)
        rc = put_in_place(u->folder, temporary, folder, err);
    checksum_lines_close(&u->lines);
    close(u->folder);
    return rc;
}

static struct tar_limits limits_of(const struct pack_limits *l)
{
    return (struct tar_limits){l->entries, l->bytes, l->ratio, PACK_RATIO_FREE};
}

int pack_read(int fd, const char *name, const char *folder, const char *digest,
              const struct pack_limits *limits, const volatile sig_atomic_t *stop,
              struct pack_result *result, struct err *err)
{
    struct unpacking u = {.name = name, .stop = stop, .result = result, .folder = -1};
    const struct tar_limits l = limits_of(limits);
    struct arena arena = ARENA_INIT;
    struct err ignored;
    struct stat st;
    int rc = -1;

    *result = (struct pack_result){0};
    if (lstat(folder, &st) == 0)
        return err_set(err, ERR_USAGE, "'%s' exists already", folder);
    if (tar_reader_new(&u.tar, fd, name, &l, err) < 0)
        return -1;
    char *temporary = arena_printf(&arena, "%s.unpack-XXXXXX", folder);
    if (!mkdtemp(temporary)) {
        err_sys(err, ERR_SYSTEM, errno, "cannot make a folder beside '%s'", folder);
    } else {
        rc = unpack_into(&u, temporary, folder, digest, err);
        if (rc < 0)
            files_remove_tree(temporary, &ignored);
    }
    tar_reader_free(u.tar);
    arena_release(&arena);
    return rc;
}

/* ---- a look into it ---- */

static int peek(struct unpacking *u, const char *file, struct buf *out, struct err *err)
{
    char hex[DIGEST_HEX];
    int rc;

    if (open_list(u, err) < 0)
        return -1;
    while ((rc = next_line(u, err)) > 0) {
        bool wanted = strcmp(u->lines.path, file) == 0;

        if (!wanted && take_listed(u, err) < 0)
            return -1;
        if (!wanted)
            continue;
        if (expect(u, file, err) < 0 || take(u, -1, out, hex, err) < 0)
            return -1;
        return strcmp(hex, u->lines.sha256) == 0
                   ? 0
                   : fault(u, file, "is not the file that " CHECKSUMS_NAME " lists", err);
    }
    return rc < 0 ? -1 : fault(u, file, "is missing", err);
}

int pack_peek(int fd, const char *name, const char *file, size_t max, struct buf *out,
              char digest[DIGEST_HEX], struct err *err)
{
    const struct pack_limits limits = {PACK_MAX_ENTRIES, PACK_MAX_BYTES, PACK_MAX_RATIO};
    const struct tar_limits l = limits_of(&limits);
    struct pack_result result = {0};
    struct unpacking u = {.name = name, .result = &result, .folder = -1};

    if (tar_reader_new(&u.tar, fd, name, &l, err) < 0)
        return -1;
    out->max = max;
    int rc = peek(&u, file, out, err);
    memcpy(digest, result.digest, DIGEST_HEX);
    checksum_lines_close(&u.lines);
    tar_reader_free(u.tar);
    return rc;
}
