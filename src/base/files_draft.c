#include "base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

bool files_is_special(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

/* Makes the entry itself last through a crash. Not every file system can; then nothing is lost. */
static void sync_folder_of(const char *path)
{
    struct arena arena = ARENA_INIT;
    int fd = open(files_dirname(&arena, path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    arena_release(&arena);
    if (fd < 0)
        return;
    (void)!fsync(fd);
    close(fd);
}

/* A new file beside the one that it will replace. */
static int open_beside(struct files_draft *d)
{
    struct buf temp = BUF_INIT;

    for (int i = 0; i < 100 && d->fd < 0; i++) {
        buf_clear(&temp);
        buf_printf(&temp, "%s.%ld-%d.tmp", d->path, (long)getpid(), i);
        d->fd = open(temp.data, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (d->fd < 0 && errno != EEXIST)
            break;
    }
    int why = errno;
    d->temp = d->fd >= 0 ? xstrdup(temp.data) : NULL;
    buf_release(&temp);
    errno = why;
    return d->fd;
}

static int fail(const struct files_draft *d, int why, struct err *err)
{
    return err_sys(err, ERR_SYSTEM, why, "cannot write '%s'", d->path);
}

int files_draft_open(struct files_draft *d, const char *path, struct err *err)
{
    const bool special = files_is_special(path);
    char *real =
        special ? NULL : realpath(path, NULL); /* a link stays, what it names is replaced */
    int rc;

    *d = (struct files_draft){.fd = -1, .path = real ? real : xstrdup(path)};
    if (special)
        d->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if ((special ? d->fd : open_beside(d)) >= 0)
        return 0;
    rc = fail(d, errno, err);
    files_draft_drop(d);
    return rc;
}

int files_draft_write(struct files_draft *d, const void *data, size_t len, struct err *err)
{
    return files_write_all(d->fd, data, len) == 0 ? 0 : fail(d, errno, err);
}

int files_draft_place(struct files_draft *d, struct err *err)
{
    int failed = d->temp && fsync(d->fd) < 0 ? errno : 0;

    if (close(d->fd) < 0 && failed == 0)
        failed = errno;
    d->fd = -1;
    if (d->temp && failed == 0 && rename(d->temp, d->path) < 0)
        failed = errno;
    if (failed == 0 && d->temp) {
        free(d->temp);
        d->temp = NULL;
        sync_folder_of(d->path);
    }
    int rc = failed == 0 ? 0 : fail(d, failed, err);
    files_draft_drop(d);
    return rc;
}

void files_draft_drop(struct files_draft *d)
{
    if (d->fd >= 0)
        close(d->fd);
    if (d->temp)
        unlink(d->temp);
    free(d->temp);
    free(d->path);
    *d = (struct files_draft){.fd = -1};
}

int files_write_atomic(const char *path, const void *data, size_t len, struct err *err)
{
    struct files_draft d;

    if (files_draft_open(&d, path, err) < 0)
        return -1;
    if (files_draft_write(&d, data, len, err) == 0)
        return files_draft_place(&d, err);
    files_draft_drop(&d);
    return -1;
}
