#include "archive/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/files.h"
#include "base/mem.h"

#define RAW "raw"
#define KEPT "programs"

/* ---- the folder ---- */

static int open_folder_at(int at, const char *name, int flags)
{
    return openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags);
}

static int make_parents(const char *path, struct err *err)
{
    struct arena arena = ARENA_INIT;
    int rc = files_mkdirs(files_dirname(&arena, path), err);

    arena_release(&arena);
    return rc;
}

/*
 * The folder with raw/ in it, at once: whoever finds the folder, after a SIGKILL at any moment,
 * finds an archive. -1 with errno.
 */
static int make_whole(const char *path)
{
    struct arena arena = ARENA_INIT;
    const char *making = arena_printf(&arena, "%s.new-%ld", path, (long)getpid());
    const char *raw = arena_printf(&arena, "%s/" RAW, making);
    int rc = mkdir(making, 0777);

    if (rc == 0 && ((rc = mkdir(raw, 0777)) < 0 || (rc = files_take_name(making, path)) < 0)) {
        int saved = errno;

        rmdir(raw);
        rmdir(making);
        errno = saved;
    }
    arena_release(&arena);
    return rc;
}

int folder_make(struct folder *f, const char *path, struct err *err)
{
    *f = (struct folder)FOLDER_NONE;
    if (make_parents(path, err) < 0)
        return -1;
    if (make_whole(path) < 0) {
        if (errno == EEXIST) {
            err_set(err, ERR_USAGE, "archive folder exists: '%s'", path);
            return err_hint(err, "give another one with --archive; a series never adds to an old "
                                 "archive");
        }
        return err_sys(err, ERR_SYSTEM, errno, "cannot make the archive folder '%s'", path);
    }
    f->path = xstrdup(path);
    f->fd = open_folder_at(AT_FDCWD, path, O_NOFOLLOW);
    if (f->fd < 0 || (f->raw_fd = open_folder_at(f->fd, RAW, O_NOFOLLOW)) < 0) {
        err_sys(err, ERR_SYSTEM, errno, "cannot open '%s/" RAW "'", path);
        folder_release(f);
        return -1;
    }
    return 0;
}

int folder_open(struct folder *f, const char *path, struct err *err)
{
    *f = (struct folder)FOLDER_NONE;
    f->path = xstrdup(path);
    f->fd = open_folder_at(AT_FDCWD, path, 0);
    if (f->fd < 0) {
        int cause = errno;
        err_sys(err, ERR_ARCHIVE, cause, "no archive at '%s'", path);
        if (cause == ENOTDIR)
            err_hint(err, "an archive is the folder that `abba run` prints at its end");
        folder_release(f);
        return -1;
    }
    f->raw_fd = open_folder_at(f->fd, RAW, O_NOFOLLOW);
    if (f->raw_fd < 0 && errno != ENOENT) {
        err_sys(err, ERR_ARCHIVE, errno, "'%s/" RAW "' is not a folder", path);
        folder_release(f);
        return -1;
    }
    f->kept_fd = open_folder_at(f->fd, KEPT, O_NOFOLLOW);
    if (f->kept_fd < 0 && errno != ENOENT) {
        err_sys(err, ERR_ARCHIVE, errno, "'%s/" KEPT "' is not a folder", path);
        folder_release(f);
        return -1;
    }
    return 0;
}

int folder_make_kept(struct folder *f, struct err *err)
{
    if (f->kept_fd >= 0)
        return 0;
    if (mkdirat(f->fd, KEPT, 0777) == 0)
        f->kept_fd = open_folder_at(f->fd, KEPT, O_NOFOLLOW);
    if (f->kept_fd >= 0)
        return 0;
    return err_sys(err, ERR_SYSTEM, errno, "cannot make '%s/" KEPT "'", f->path);
}

#define HOLD_RETRY_MS 20

int folder_hold(const struct folder *f, int wait_ms, struct err *err)
{
    while (flock(f->fd, LOCK_EX | LOCK_NB) < 0) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return 0;
        if (wait_ms <= 0) {
            err_set(err, ERR_USAGE, "archive '%s' is being written by another abba", f->path);
            return err_hint(err, "wait for that series to end, or end it with Ctrl-C");
        }
        poll(NULL, 0, HOLD_RETRY_MS);
        wait_ms -= HOLD_RETRY_MS;
    }
    return 0;
}

/* The descriptor of "" , "raw/" or "programs/". */
static int sub_folder(const struct folder *f, const char *in)
{
    return !*in ? f->fd : strcmp(in, RAW "/") == 0 ? f->raw_fd : f->kept_fd;
}

int folder_each(const struct folder *f, const char *in,
                int (*each)(void *user, const char *entry, struct err *err), void *user,
                struct err *err)
{
    int from = sub_folder(f, in), own = from < 0 ? -1 : open_folder_at(from, ".", 0);
    DIR *dir = own < 0 ? NULL : fdopendir(own);
    const struct dirent *entry;
    int rc = 0;

    if (from < 0)
        return 0;
    if (!dir) {
        err_sys(err, ERR_ARCHIVE, errno, "cannot list '%s/%s'", f->path, in);
        if (own >= 0)
            close(own);
        return -1;
    }
    while (rc == 0 && (entry = readdir(dir)) != NULL)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            rc = each(user, entry->d_name, err);
    closedir(dir);
    return rc;
}

void folder_release(struct folder *f)
{
    if (f->fd >= 0)
        close(f->fd);
    if (f->raw_fd >= 0)
        close(f->raw_fd);
    if (f->kept_fd >= 0)
        close(f->kept_fd);
    free(f->path);
    *f = (struct folder)FOLDER_NONE;
}

/* ---- names ---- */

/* The descriptor a name is relative to; cuts "raw/" or "programs/" off. -1 with errno
 * ENOENT where there is no such folder. */
static int place(const struct folder *f, const char **name)
{
    int fd = f->fd;

    if (strncmp(*name, RAW "/", sizeof RAW) == 0) {
        *name += sizeof RAW;
        fd = f->raw_fd;
    } else if (strncmp(*name, KEPT "/", sizeof KEPT) == 0) {
        *name += sizeof KEPT;
        fd = f->kept_fd;
    }
    ABBA_ASSERT(**name && !strchr(*name, '/'));
    if (fd < 0)
        errno = ENOENT;
    return fd;
}

bool folder_has(const struct folder *f, const char *name)
{
    const char *short_name = name;
    int fd = place(f, &short_name);

    return fd >= 0 && faccessat(fd, short_name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

void folder_remove(const struct folder *f, const char *name)
{
    const char *short_name = name;
    int fd = place(f, &short_name);

    if (fd >= 0)
        unlinkat(fd, short_name, 0);
}

/* ---- reading ---- */

int folder_file(const struct folder *f, const char *name, uint64_t *size, struct err *err)
{
    const char *short_name = name;
    int at = place(f, &short_name);
    struct stat st;

    /* O_NONBLOCK: a fifo in the place of a file must not hold us. */
    int fd = at < 0 ? -1 : openat(at, short_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) {
        if (errno == ELOOP)
            return err_set(err, ERR_ARCHIVE, "'%s/%s' is a link, not a file", f->path, name);
        return err_sys(err, ERR_ARCHIVE, errno, "cannot read '%s/%s'", f->path, name);
    }
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
        close(fd);
        return err_set(err, ERR_ARCHIVE, "'%s/%s' is not a regular file", f->path, name);
    }
    if (size)
        *size = (uint64_t)st.st_size;
    return fd;
}

static ssize_t read_some(int fd, void *into, size_t size)
{
    ssize_t n;

    do
        n = read(fd, into, size);
    while (n < 0 && errno == EINTR);
    return n;
}

int folder_read(const struct folder *f, const char *name, size_t max, struct buf *out,
                struct err *err)
{
    uint64_t size;
    ssize_t n = 0;
    size_t start = out->len;
    int fd = folder_file(f, name, &size, err);

    if (fd < 0)
        return -1;
    if (size <= max && buf_reserve(out, (size_t)size + 1) == 0) {
        char piece[16384];
        while ((n = read_some(fd, piece, sizeof piece)) > 0 && out->len - start <= max)
            buf_add(out, piece, (size_t)n);
    }
    int cause = errno;
    close(fd);
    if (n < 0)
        return err_sys(err, ERR_ARCHIVE, cause, "cannot read '%s/%s'", f->path, name);
    if (size > max || out->len - start > max || out->overflow)
        return err_set(err, ERR_ARCHIVE, "'%s/%s' is larger than %zu bytes", f->path, name, max);
    return 0;
}

/* ---- writing ---- */

static int create(const struct folder *f, const char *name, int flags, struct err *err)
{
    const char *short_name = name;
    int at = place(f, &short_name);
    int fd = at < 0 ? -1
                    : openat(at, short_name,
                             O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | flags, 0666);

    if (fd < 0)
        err_sys(err, ERR_SYSTEM, errno, "cannot make '%s/%s'", f->path, name);
    return fd;
}

int folder_create(const struct folder *f, const char *name, struct err *err)
{
    return create(f, name, O_APPEND, err);
}

int folder_append(const struct folder *f, const char *name, struct err *err)
{
    const char *short_name = name;
    int at = place(f, &short_name);
    int fd = at < 0
                 ? -1
                 : openat(at, short_name, O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

    if (fd < 0)
        err_sys(err, ERR_SYSTEM, errno, "cannot write '%s/%s'", f->path, name);
    return fd;
}

int folder_rename_raw(const struct folder *f, const char *from, const char *to, struct err *err)
{
    int rc = renameat2(f->raw_fd, from, f->raw_fd, to, RENAME_NOREPLACE);

    if (rc < 0 && (errno == EINVAL || errno == ENOSYS)) /* this file system cannot */
        rc = renameat(f->raw_fd, from, f->raw_fd, to);
    if (rc < 0)
        return err_sys(err, ERR_SYSTEM, errno, "cannot rename '%s/" RAW "/%s'", f->path, from);
    return 0;
}

int folder_sync(const struct folder *f, struct err *err)
{
    if (f->passing || (fsync(f->fd) == 0 && (f->raw_fd < 0 || fsync(f->raw_fd) == 0) &&
                       (f->kept_fd < 0 || fsync(f->kept_fd) == 0)))
        return 0;
    return err_sys(err, ERR_SYSTEM, errno, "cannot write '%s'", f->path);
}

static int write_parts(int fd, const struct folder_part *parts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (parts[i].len > 0 && files_write_all(fd, parts[i].data, parts[i].len) < 0)
            return -1;
    return 0;
}

/* Closes; keeps the first failure's errno. */
static int close_written(int fd, int rc)
{
    int cause = errno;

    if (close(fd) < 0 && rc == 0)
        return -1;
    errno = cause;
    return rc;
}

int folder_write(const struct folder *f, const char *name, const struct folder_part *parts,
                 size_t count, struct err *err)
{
    int fd = create(f, name, 0, err);

    if (fd < 0)
        return -1;
    if (close_written(fd, write_parts(fd, parts, count)) < 0) {
        err_sys(err, ERR_SYSTEM, errno, "cannot write '%s/%s'", f->path, name);
        folder_remove(f, name);
        return -1;
    }
    return 0;
}

static void draft_name(const char *name, char draft[64])
{
    int n = snprintf(draft, 64, "%s.new", name);

    ABBA_ASSERT(n > 0 && n < 64 && !strchr(name, '/'));
}

int folder_draft(const struct folder *f, const char *name, struct err *err)
{
    char draft[64];

    draft_name(name, draft);
    folder_remove(f, draft);
    return create(f, draft, 0, err);
}

int folder_place(const struct folder *f, const char *name, int fd, int rc, struct err *err)
{
    char draft[64];

    draft_name(name, draft);
    if (rc == 0 && !f->passing)
        rc = fsync(fd);
    if (close_written(fd, rc) < 0 || renameat(f->fd, draft, f->fd, name) < 0 ||
        (!f->passing && fsync(f->fd) < 0)) {
        err_sys(err, ERR_SYSTEM, errno, "cannot write '%s/%s'", f->path, name);
        folder_remove(f, draft);
        return -1;
    }
    return 0;
}

int folder_replace(const struct folder *f, const char *name, const void *data, size_t len,
                   struct err *err)
{
    const struct folder_part all = {data, len};
    int fd = folder_draft(f, name, err);

    return fd < 0 ? -1 : folder_place(f, name, fd, write_parts(fd, &all, 1), err);
}
