#include "archive/lab_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

#include "archive/lab_sums.h"
#include "archive/names.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/mem.h"
#include "base/version.h"

static int write_file(const char *folder, const char *name, const struct buf *text, struct err *err)
{
    struct arena arena = ARENA_INIT;
    int rc = files_write_atomic(files_join(&arena, folder, name), text->data, text->len, err);

    arena_release(&arena);
    return rc;
}

int lab_begin(const char *folder, const struct lab *lab, struct err *err)
{
    struct buf text = BUF_INIT;
    char started[CLOCK_TEXT], tool[100];
    int rc;

    clock_format_utc(clock_real_ns(), started);
    snprintf(tool, sizeof tool, "abba %s", abba_version());
    rc = lab_encode(lab, tool, started, &text, err);
    if (rc == 0)
        rc = files_mkdirs(folder, err);
    if (rc == 0)
        rc = write_file(folder, LAB_FILE, &text, err);
    buf_release(&text);
    return rc;
}

int lab_hold(const char *folder, int *fd, struct err *err)
{
    struct arena arena = ARENA_INIT;
    const char *file = files_join(&arena, folder, LAB_FILE);
    int rc = 0;

    *fd = open(file, O_RDONLY | O_CLOEXEC);
    if (*fd < 0)
        rc = err_sys(err, ERR_SYSTEM, errno, "cannot open '%s'", file);
    else if (flock(*fd, LOCK_EX | LOCK_NB) < 0)
        rc = errno == EWOULDBLOCK
                 ? err_set(err, ERR_USAGE, "another abba runs the comparisons of '%s'", folder)
                 : err_sys(err, ERR_SYSTEM, errno, "cannot lock '%s'", file);
    arena_release(&arena);
    return rc;
}

int lab_reopen(const char *folder, struct err *err)
{
    static const char *const names[] = {ARCHIVE_SIGNATURE, CHECKSUMS_NAME};
    struct arena arena = ARENA_INIT;
    int rc = 0;

    for (size_t i = 0; i < sizeof names / sizeof *names && rc == 0; i++) {
        const char *path = files_join(&arena, folder, names[i]);

        if (unlink(path) < 0 && errno != ENOENT)
            rc = err_sys(err, ERR_SYSTEM, errno, "cannot remove '%s'", path);
    }
    arena_release(&arena);
    return rc;
}

int lab_finish(const char *folder, const struct lab *lab, const char *report, size_t report_len,
               char digest[65], struct err *err)
{
    struct folder f = FOLDER_NONE;
    struct checksums sums = {0};
    struct buf text = BUF_INIT;
    int rc = -1;

    if (folder_open(&f, folder, err) < 0 ||
        folder_replace(&f, ARCHIVE_REPORT, report, report_len, err) < 0 ||
        lab_sums(&f, lab, &sums, err) < 0)
        goto out;
    checksums_write(&sums, &text);
    digest_sha256(text.data, text.len, digest);
    rc = folder_replace(&f, CHECKSUMS_NAME, text.data, text.len, err);
out:
    buf_release(&text);
    checksums_release(&sums);
    folder_release(&f);
    return rc;
}
