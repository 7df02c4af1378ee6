#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "archive/names.h"
#include "archive/writer_parts.h"
#include "base/files.h"
#include "base/mem.h"

int archive_writer_keeps(struct archive_writer *w, struct err *err)
{
    return folder_make_kept(&w->folder, err);
}

bool archive_writer_is_keeping(const struct archive_writer *w)
{
    return w->folder.kept_fd >= 0;
}

/* Copies what is left of `from` into a new file; `hex` gets its digest. -1 with errno. */
static int copy(int from, int to, char hex[DIGEST_HEX], uint64_t *bytes)
{
    char piece[65536];
    struct digest d;
    ssize_t n;
    int rc = 0;

    digest_begin(&d);
    *bytes = 0;
    while (rc == 0 && (n = read(from, piece, sizeof piece)) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        rc = n < 0 ? -1 : files_write_all(to, piece, (size_t)n);
        if (rc == 0) {
            digest_add(&d, piece, (size_t)n);
            *bytes += (uint64_t)n;
        }
    }
    int saved = errno;
    digest_finish(&d, hex);
    errno = saved;
    return rc;
}

/* From one descriptor to programs/NAME, by a draft and rename. */
static int keep_open(struct archive_writer *w, int from, const char *path, const char *sha256,
                     struct err *err)
{
    char draft[100], name[100], hex[DIGEST_HEX];
    uint64_t bytes;
    int to, rc;

    snprintf(name, sizeof name, ARCHIVE_PROGRAMS "%s", sha256);
    snprintf(draft, sizeof draft, ARCHIVE_PROGRAMS "%s.new", sha256);
    folder_remove(&w->folder, draft);
    if ((to = folder_create(&w->folder, draft, err)) < 0)
        return -1;
    rc = copy(from, to, hex, &bytes);
    if (rc == 0 && !w->folder.passing)
        rc = fsync(to);
    if (close(to) < 0 || rc < 0)
        rc = err_sys(err, ERR_SYSTEM, errno, "cannot keep '%s'", path);
    else if (strcmp(hex, sha256) != 0)
        rc = err_set(err, ERR_MEASURE, "cannot keep '%s': it is not the file any more that ran",
                     path);
    else if (renameat(w->folder.kept_fd, draft + strlen(ARCHIVE_PROGRAMS), w->folder.kept_fd,
                      sha256) < 0)
        rc = err_sys(err, ERR_SYSTEM, errno, "cannot keep '%s'", path);
    if (rc < 0)
        folder_remove(&w->folder, draft);
    else
        rc = listing_add(&w->sums, name, hex, bytes, err);
    return rc;
}

int archive_writer_keep(struct archive_writer *w, const char *path, const char *sha256,
                        struct err *err)
{
    char name[100];

    ABBA_ASSERT(archive_writer_is_keeping(w) && strlen(sha256) == DIGEST_HEX - 1);
    snprintf(name, sizeof name, ARCHIVE_PROGRAMS "%s", sha256);
    if (writer_still_open(w, err) < 0 || folder_has(&w->folder, name))
        return w->closed ? -1 : 0;
    int from = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (from < 0)
        return err_sys(err, ERR_SYSTEM, errno, "cannot keep '%s'", path);
    int rc = keep_open(w, from, path, sha256, err);
    close(from);
    return rc;
}
