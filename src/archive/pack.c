#include "archive/pack.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive/checksums.h"
#include "archive/folder.h"
#include "archive/names.h"
#include "archive/pack_parts.h"
#include "base/files.h"

#define PIECE ((size_t)128 << 10)

/* An archive while it is packed. */
struct packing {
    struct folder folder;
    struct tar_writer *tar;
    const volatile sig_atomic_t *stop;
    struct pack_result *result;
    char piece[PIECE];
};

bool pack_path_ok(const char *path)
{
    size_t len = strlen(path);

    if (len == 0 || len > PACK_PATH_MAX || path[0] == '/' || strcmp(path, CHECKSUMS_NAME) == 0)
        return false;
    for (const char *at = path;; at++) {
        size_t n = strcspn(at, "/");

        if (n == 0 || n > 100 || at[0] == '.')
            return false;
        for (; n > 0; n--, at++)
            if ((unsigned char)*at <= ' ' || (unsigned char)*at >= 0x7f || *at == '\\')
                return false;
        if (!*at)
            return true;
    }
}

static int stopped(const struct packing *p, struct err *err)
{
    return p->stop && *p->stop ? err_set(err, ERR_INTERRUPTED, "interrupted") : 0;
}

/* ---- one file ---- */

static int not_listed(const struct packing *p, const char *path, struct err *err)
{
    return err_set(err, ERR_ARCHIVE, "'%s/%s' is not the file that " CHECKSUMS_NAME " lists",
                   p->folder.path, path);
}

/* Opens a file of the archive, through no link. */
static int open_file(const struct packing *p, const char *path, uint64_t *size, struct err *err)
{
    struct stat st;
    int fd = files_open_below(p->folder.fd, path, O_NONBLOCK);

    if (fd < 0)
        return err_sys(err, ERR_ARCHIVE, errno, "cannot read '%s/%s'", p->folder.path, path);
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
        close(fd);
        return err_set(err, ERR_ARCHIVE, "'%s/%s' is not a regular file", p->folder.path, path);
    }
    *size = (uint64_t)st.st_size;
    return fd;
}

/* The bytes of a file into the pack and into its digest. */
static int copy(struct packing *p, int fd, const char *path, uint64_t size, struct digest *d,
                struct err *err)
{
    while (d->size < size) {
        size_t want = size - d->size < PIECE ? (size_t)(size - d->size) : PIECE;
        ssize_t n = read(fd, p->piece, want);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_sys(err, ERR_ARCHIVE, errno, "cannot read '%s/%s'", p->folder.path, path);
        if (n == 0) /* it became shorter */
            return not_listed(p, path, err);
        digest_add(d, p->piece, (size_t)n);
        if (stopped(p, err) < 0 || tar_writer_data(p->tar, p->piece, (size_t)n, err) < 0)
            return -1;
    }
    return 0;
}

/* Adds one file. `hex`: what its digest must be; an empty text takes what it is. */
static int add_file(struct packing *p, const char *path, char hex[DIGEST_HEX], struct err *err)
{
    char entry[TAR_NAME_MAX + 1], found[DIGEST_HEX];
    uint64_t size;
    struct digest d;
    int fd = open_file(p, path, &size, err);

    if (fd < 0)
        return -1;
    snprintf(entry, sizeof entry, PACK_TOP "%.16s/%s", p->result->digest, path);
    digest_begin(&d);
    int rc = tar_writer_file(p->tar, entry, size, err);
    if (rc == 0)
        rc = copy(p, fd, path, size, &d, err);
    digest_finish(&d, found);
    close(fd);
    if (rc == 0 && hex[0] && strcmp(found, hex) != 0)
        rc = not_listed(p, path, err);
    memcpy(hex, found, sizeof found);
    p->result->files++;
    return rc;
}

/* ---- all files ---- */

static int add_listed(struct packing *p, struct err *err)
{
    struct checksum_lines lines;
    uint64_t size;
    int rc, fd = open_file(p, CHECKSUMS_NAME, &size, err);

    if (fd < 0)
        return -1;
    checksum_lines_open(&lines, fd, CHECKSUMS_NAME);
    while ((rc = checksum_lines_next(&lines, err)) > 0) {
        if (!pack_path_ok(lines.path))
            rc = err_set(err, ERR_ARCHIVE, "'%s' line %zu: a path that abba never makes",
                         CHECKSUMS_NAME, lines.number);
        else
            rc = add_file(p, lines.path, lines.sha256, err);
        if (rc < 0)
            break;
    }
    checksum_lines_close(&lines);
    return rc;
}

/* Counts the files below a folder, which is closed. No link is followed. */
static int count_files(int fd, unsigned depth, uint64_t *count, struct err *err)
{
    DIR *dir = fdopendir(fd);
    const struct dirent *e;
    int rc = 0;

    if (!dir) {
        close(fd);
        return err_sys(err, ERR_ARCHIVE, errno, "cannot list the archive");
    }
    while (rc == 0 && (e = readdir(dir)) != NULL) {
        struct stat st;

        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        if (fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode)) {
            int below =
                openat(dirfd(dir), e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
            if (below < 0 || depth == 0)
                rc = err_set(err, ERR_ARCHIVE, "cannot list '%s' in the archive", e->d_name);
            else
                rc = count_files(below, depth - 1, count, err);
            if (below >= 0 && depth == 0)
                close(below);
        } else {
            ++*count;
        }
    }
    closedir(dir);
    return rc;
}

/* A file that nobody listed would be lost on the way. */
static int check_count(const struct packing *p, struct err *err)
{
    uint64_t count = 0;
    int fd = openat(p->folder.fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0)
        return err_sys(err, ERR_ARCHIVE, errno, "cannot list '%s'", p->folder.path);
    if (count_files(fd, 8, &count, err) < 0)
        return err_wrap(err, "'%s'", p->folder.path);
    if (count == p->result->files)
        return 0;
    err_set(err, ERR_ARCHIVE, "'%s' holds %llu files, " CHECKSUMS_NAME " lists others",
            p->folder.path, (unsigned long long)count);
    return err_hint(err, "`abba verify` names the first difference");
}

/* SHA256SUMS is hashed beforehand: its digest is in the name of every entry. */
static int name_archive(struct packing *p, struct err *err)
{
    uint64_t size;

    if (!folder_has(&p->folder, CHECKSUMS_NAME)) {
        bool archive = folder_has(&p->folder, ARCHIVE_SAMPLES);

        err_set(err, archive ? ERR_UNFINISHED : ERR_ARCHIVE, "'%s' %s", p->folder.path,
                archive ? "is unfinished: it has no " CHECKSUMS_NAME : "is not an archive");
        return err_hint(err, archive
                                 ? "only a finished archive can be packed"
                                 : "an archive is the folder that `abba run` prints at its end");
    }
    int fd = open_file(p, CHECKSUMS_NAME, &size, err);
    if (fd < 0)
        return -1;
    int rc = digest_sha256_fd(fd, CHECKSUMS_NAME, p->result->digest, NULL, err);
    close(fd);
    return rc;
}

static int add_all(struct packing *p, struct err *err)
{
    char digest[DIGEST_HEX], any[DIGEST_HEX] = "";

    memcpy(digest, p->result->digest, sizeof digest);
    if (add_file(p, CHECKSUMS_NAME, digest, err) < 0 || add_listed(p, err) < 0)
        return -1;
    if (folder_has(&p->folder, PACK_SIGNATURE) && add_file(p, PACK_SIGNATURE, any, err) < 0)
        return -1;
    if (check_count(p, err) < 0)
        return -1;
    return tar_writer_finish(p->tar, &p->result->sum, err);
}

int pack_write(const char *folder, int fd, const char *name, int level,
               const volatile sig_atomic_t *stop, struct pack_result *result, struct err *err)
{
    struct packing p = {.stop = stop, .result = result};
    int rc = -1;

    *result = (struct pack_result){0};
    if (folder_open(&p.folder, folder, err) < 0)
        return -1;
    if (name_archive(&p, err) == 0 && tar_writer_new(&p.tar, fd, name, level, err) == 0)
        rc = add_all(&p, err);
    tar_writer_free(p.tar);
    folder_release(&p.folder);
    return rc;
}
