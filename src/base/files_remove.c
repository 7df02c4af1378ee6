#include "base/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * A tree that somebody else made may be of any depth, so folders below MAX_DEPTH are moved up to
 * the top and removed from there: the number of open descriptors stays small.
 */
#define MAX_DEPTH 24

struct removal {
    int top;          /* the folder itself */
    dev_t device;     /* its file system */
    unsigned moved;   /* folders moved up so far */
    const char *path; /* for messages */
    struct err *err;
};

static int failed(const struct removal *r, const char *name)
{
    return err_sys(r->err, ERR_SYSTEM, errno, "cannot remove '%s' below '%s'", name, r->path);
}

/* A folder that its owner made unreadable. The descriptor keeps to the folder itself, so that no
 * link is followed. */
static void make_readable(int dir, const char *name)
{
    char proc[64];
    int fd = openat(dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (fd < 0)
        return;
    snprintf(proc, sizeof proc, "/proc/self/fd/%d", fd);
    (void)!chmod(proc, 0700);
    close(fd);
}

static int open_folder(int dir, const char *name)
{
    const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    int fd = openat(dir, name, flags);

    if (fd < 0 && errno == EACCES) {
        make_readable(dir, name);
        fd = openat(dir, name, flags);
    }
    return fd;
}

static int empty_folder(struct removal *r, int fd, int depth);

static int move_up(struct removal *r, int dir, const char *name)
{
    char temp[64];

    do {
        snprintf(temp, sizeof temp, ".removing-%u", r->moved++);
        if (renameat2(dir, name, r->top, temp, RENAME_NOREPLACE) == 0)
            return 0;
    } while (errno == EEXIST);
    return failed(r, name);
}

static int remove_folder(struct removal *r, int dir, const char *name, int depth)
{
    struct stat st;

    if (depth == MAX_DEPTH)
        return move_up(r, dir, name);
    int fd = open_folder(dir, name);
    if (fd < 0)
        return failed(r, name);
    if (fstat(fd, &st) < 0 || st.st_dev != r->device) {
        close(fd);
        return err_set(r->err, ERR_SYSTEM, "'%s' below '%s' is another file system", name, r->path);
    }
    if (empty_folder(r, fd, depth + 1) < 0)
        return -1;
    return unlinkat(dir, name, AT_REMOVEDIR) == 0 ? 0 : failed(r, name);
}

static int remove_entry(struct removal *r, int dir, const char *name, int depth)
{
    if (unlinkat(dir, name, 0) == 0 || errno == ENOENT)
        return 0;
    if (errno == EACCES && depth == 0)
        return failed(r, name);
    if (errno != EISDIR && errno != EPERM)
        return failed(r, name);
    return remove_folder(r, dir, name, depth);
}

/* Removes what is in the folder; takes over the descriptor. */
static int empty_folder(struct removal *r, int fd, int depth)
{
    DIR *d = fdopendir(fd);
    struct dirent *entry;
    int rc = 0;

    if (d == NULL) {
        close(fd);
        return failed(r, ".");
    }
    if (faccessat(dirfd(d), ".", W_OK | X_OK, 0) < 0)
        (void)!fchmod(dirfd(d), 0700);
    while (rc == 0 && (entry = readdir(d)) != NULL) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            rc = remove_entry(r, dirfd(d), entry->d_name, depth);
    }
    closedir(d);
    return rc;
}

/* Passes over the top until nothing was moved up to it. */
static int empty_top(struct removal *r)
{
    unsigned before;

    do {
        before = r->moved;
        int fd = openat(r->top, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0)
            return failed(r, ".");
        if (empty_folder(r, fd, 0) < 0)
            return -1;
    } while (r->moved != before);
    return 0;
}

int files_remove_tree(const char *path, struct err *err)
{
    struct removal r = {.path = path, .err = err};
    struct stat st;

    r.top = open_folder(AT_FDCWD, path);
    if (r.top < 0 && errno == ENOENT)
        return 0;
    if (r.top < 0) { /* a link or a file */
        if (unlink(path) == 0)
            return 0;
        return err_sys(err, ERR_SYSTEM, errno, "cannot remove '%s'", path);
    }
    int rc = fstat(r.top, &st);
    r.device = st.st_dev;
    rc = rc < 0 ? failed(&r, ".") : empty_top(&r);
    close(r.top);
    if (rc == 0 && rmdir(path) < 0 && errno != ENOENT)
        rc = err_sys(err, ERR_SYSTEM, errno, "cannot remove '%s'", path);
    return rc;
}
