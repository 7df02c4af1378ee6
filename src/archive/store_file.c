/* store_file: a folder of this machine. */
#include "archive/store_parts.h"
#include "base/buf.h"
#include "base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int open_folder(struct store *s, struct err *err)
{
    return url_file_path(&s->url, &s->folder, &s->arena, err);
}

static int look(struct store *s, const struct store_file *file, enum store_presence *presence,
                struct err *err)
{
    const char *path = files_join(&s->arena, s->folder, file->name);
    struct stat st;

    (void)err;
    bool there = stat(path, &st) == 0 && S_ISREG(st.st_mode) && (uint64_t)st.st_size == file->bytes;
    *presence = there ? STORE_THERE : STORE_ABSENT;
    return 0;
}

static int copy(struct store *s, const struct store_file *file, int to, const char *path,
                struct err *err)
{
    const struct http_options *o = &s->options.http;
    char piece[65536];
    uint64_t done = 0;

    while (done < file->bytes) {
        ssize_t n = pread(file->fd, piece, sizeof(piece), (off_t)done);
        if (n <= 0)
            return err_sys(err, ERR_SYSTEM, n < 0 ? errno : EIO, "cannot read the pack");
        if (files_write_all(to, piece, (size_t)n) < 0)
            return err_sys(err, ERR_SYSTEM, errno, "cannot write '%s'", path);
        done += (uint64_t)n;
        if (o->progress)
            o->progress(o->user, done, file->bytes);
        if (o->stop && *o->stop)
            return err_set(err, ERR_INTERRUPTED, "stopped by a signal");
    }
    return 0;
}

static int put(struct store *s, const struct store_file *file, struct store_sent *sent,
               struct err *err)
{
    const char *path = files_join(&s->arena, s->folder, file->name);
    char *draft = arena_printf(&s->arena, "%s.new-XXXXXX", path);
    mode_t mask = umask(0);
    int rc;

    umask(mask);
    if (files_mkdirs(s->folder, err) != 0)
        return -1;
    int fd = mkostemp(draft, O_CLOEXEC);
    if (fd < 0)
        return err_sys(err, ERR_SYSTEM, errno, "cannot make '%s'", path);
    rc = copy(s, file, fd, path, err);
    if (rc == 0 && (fchmod(fd, 0666 & ~mask) < 0 || fsync(fd) < 0 || rename(draft, path) < 0))
        rc = err_sys(err, ERR_SYSTEM, errno, "cannot write '%s'", path);
    if (rc != 0)
        unlink(draft);
    close(fd);
    sent->bytes = file->bytes;
    return rc;
}

static int get(struct store *s, const char *name, int fd, struct http_response *r, struct err *err)
{
    struct http_request q = {.url = store_address(s, name, &s->arena), .to_file = true, .file = fd};

    return http_get_through(s->http, &q, r, err);
}

const struct store_kind store_kind_file = {open_folder, look, put, get};
