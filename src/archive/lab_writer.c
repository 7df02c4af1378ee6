#include "archive/lab_writer.h"

#include <errno.h>
#include <stdio.h>
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

int lab_reopen(const char *folder, struct err *err)
{
    struct arena arena = ARENA_INIT;
    const char *sums = files_join(&arena, folder, CHECKSUMS_NAME);
    int rc = 0;

    if (unlink(sums) < 0 && errno != ENOENT)
        rc = err_sys(err, ERR_SYSTEM, errno, "cannot remove '%s'", sums);
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
