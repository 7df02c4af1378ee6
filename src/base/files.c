#include "base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- reading ---- */

/* read() that a signal does not end. */
static ssize_t read_some(int fd, void *p, size_t n)
{
    ssize_t got;

    do {
        got = read(fd, p, n);
    } while (got < 0 && errno == EINTR);
    return got;
}

static int read_all(int fd, const char *path, size_t max, struct buf *out, struct err *err)
{
    size_t start = out->len;
    size_t step = 65536;
    struct stat st;

    /* One byte more than the size, so that the end is seen without growing. */
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (uintmax_t)st.st_size < max)
        step = (size_t)st.st_size + 1;
    for (;;) {
        if (buf_reserve(out, step) < 0)
            return err_set(err, ERR_SYSTEM, "'%s' is too large for its buffer", path);
        ssize_t n = read_some(fd, out->data + out->len, step);
        if (n < 0)
            return err_sys(err, ERR_SYSTEM, errno, "cannot read '%s'", path);
        out->len += (size_t)n;
        out->data[out->len] = '\0';
        if (n == 0)
            return 0;
        if (out->len - start > max)
            return err_set(err, ERR_SYSTEM, "'%s' is too large: more than %zu bytes", path, max);
        step = 65536;
    }
}

int files_read(const char *path, size_t max, struct buf *out, struct err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return err_sys(err, ERR_SYSTEM, errno, "cannot open '%s'", path);
    int rc = read_all(fd, path, max, out, err);
    close(fd);
    return rc;
}

/* The first step of *path into `step`, and *path behind it. False at the last one. */
static bool next_step(const char **path, char step[256])
{
    size_t n = strcspn(*path, "/");
    bool more = (*path)[n] == '/';

    ABBA_ASSERT(n < 256);
    memcpy(step, *path, n);
    step[n] = '\0';
    *path += n + more;
    return more;
}

int files_open_below(int folder, const char *path, int flags)
{
    int at = folder;
    char step[256];
    bool more;

    do {
        more = next_step(&path, step);
        int next =
            openat(at, step, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | (more ? O_DIRECTORY : flags));
        int cause = errno;

        if (at != folder)
            close(at);
        errno = cause;
        at = next;
    } while (more && at >= 0);
    return at;
}

int files_take_name(const char *from, const char *to)
{
    struct stat there;

    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS) /* those: this file system cannot */
        return -1;
    if (lstat(to, &there) == 0) {
        errno = EEXIST;
        return -1;
    }
    return rename(from, to);
}

int files_read_small(const char *path, char *out, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t len = 0;
    ssize_t n = 0;

    if (fd < 0)
        return -1;
    while (len < size - 1 && (n = read_some(fd, out + len, size - 1 - len)) > 0)
        len += (size_t)n;
    int saved = errno;
    close(fd);
    if (n < 0) {
        errno = saved;
        return -1;
    }
    if (len > 0 && out[len - 1] == '\n')
        len--;
    out[len] = '\0';
    return (int)len;
}

/* ---- writing ---- */

int files_write_all(int fd, const void *data, size_t len)
{
    const char *p = data;

    while (len > 0) {
        ssize_t n = write(fd, p, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        p += n;
        len -= (size_t)n;
    }
    return 0;
}

int files_check_writable(const char *path, struct err *err)
{
    struct arena arena = ARENA_INIT;
    int why = 0;

    if (files_is_dir(path))
        why = EISDIR;
    else if (files_is_special(path))
        why = access(path, W_OK) < 0 ? errno : 0;
    else if (access(files_dirname(&arena, path), W_OK | X_OK) < 0)
        why = errno;
    arena_release(&arena);
    return why == 0 ? 0 : err_sys(err, ERR_SYSTEM, why, "cannot write '%s'", path);
}

static int make_folder(const char *path, struct err *err)
{
    if (mkdir(path, 0777) == 0)
        return 0;
    int saved = errno;
    /* An existing folder on a read-only file system gives EROFS instead of EEXIST. */
    if (files_is_dir(path))
        return 0;
    return err_sys(err, ERR_SYSTEM, saved == EEXIST ? ENOTDIR : saved, "cannot make folder '%s'",
                   path);
}

int files_mkdirs(const char *path, struct err *err)
{
    char *copy = xstrdup(path);
    int rc = 0;

    for (char *slash = strchr(copy + 1, '/'); slash != NULL && rc == 0;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        rc = make_folder(copy, err);
        *slash = '/';
    }
    if (rc == 0)
        rc = make_folder(copy, err);
    free(copy);
    return rc;
}

/* ---- names ---- */

bool files_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

bool files_is_dir(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

char *files_join(struct arena *arena, const char *dir, const char *name)
{
    size_t len = strlen(dir);

    if (len == 0 || name[0] == '/')
        return arena_strdup(arena, name);
    return arena_printf(arena, "%s%s%s", dir, dir[len - 1] == '/' ? "" : "/", name);
}

const char *files_basename(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

char *files_dirname(struct arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/');

    if (slash == NULL)
        return arena_strdup(arena, ".");
    if (slash == path)
        return arena_strdup(arena, "/");
    return arena_strndup(arena, path, (size_t)(slash - path));
}

const char *files_large_folder(void)
{
    const char *folder = getenv("TMPDIR");

    return folder && folder[0] == '/' ? folder : "/var/tmp";
}

int files_open_nameless(const char *folder)
{
    struct buf name = BUF_INIT;
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

    if (fd >= 0 || errno == ENOENT || errno == ENOTDIR)
        return fd;
    buf_printf(&name, "%s/abba-XXXXXX", folder); /* not every file system has such files */
    fd = mkostemp(name.data, O_CLOEXEC);
    if (fd >= 0)
        unlink(name.data);
    buf_release(&name);
    return fd;
}
