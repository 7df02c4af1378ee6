#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "archive/lab_sums.h"
#include "archive/names.h"
#include "archive/verify.h"
#include "base/buf.h"

/* ---- what may be there ---- */

static bool is_known(const struct lab_archive *l, const char *name)
{
    static const char *const own[] = {
        ".", "..", LAB_FILE, ARCHIVE_REPORT, CHECKSUMS_NAME, ARCHIVE_SIGNATURE};
    size_t len = strlen(name);

    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strcmp(name, own[i]) == 0)
            return true;
    for (size_t i = 0; i < l->lab->comparison_count; i++)
        if (strcmp(name, l->lab->comparisons[i].folder) == 0)
            return true;
    /* a file or folder that a crash may have left half made */
    return !l->finished && len > 4 && strcmp(name + len - 4, ".new") == 0;
}

static int check_names(const struct lab_archive *l, const struct folder *f, struct err *err)
{
    int own = openat(f->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = own < 0 ? NULL : fdopendir(own);
    const struct dirent *entry;
    int rc = 0;

    if (!dir) {
        err_sys(err, ERR_ARCHIVE, errno, "cannot list '%s'", l->folder);
        if (own >= 0)
            close(own);
        return -1;
    }
    while (rc == 0 && (entry = readdir(dir)) != NULL)
        if (!is_known(l, entry->d_name))
            rc = err_set(err, ERR_ARCHIVE, "'%s/%s' does not belong to a lab", l->folder,
                         entry->d_name);
    closedir(dir);
    return rc;
}

/* ---- SHA256SUMS ---- */

static int differs(const struct lab_archive *l, const char *name, const char *what, struct err *err)
{
    return err_set(err, ERR_ARCHIVE, "'%s/%s' %s", l->folder, name, what);
}

/* The first file in which the two lists differ. */
static int compare_sums(const struct lab_archive *l, const struct checksums *stated,
                        const struct checksums *made, struct err *err)
{
    for (size_t i = 0; i < stated->count; i++) {
        const struct checksum *there = checksums_find(made, stated->items[i].path);

        if (!there)
            return differs(l, stated->items[i].path, "is missing", err);
        if (strcmp(there->sha256, stated->items[i].sha256) != 0)
            return differs(l, there->path, "is not the file that " CHECKSUMS_NAME " lists", err);
    }
    for (size_t i = 0; i < made->count; i++)
        if (!checksums_find(stated, made->items[i].path))
            return differs(l, made->items[i].path, "is not listed in " CHECKSUMS_NAME, err);
    return 0;
}

static int check_sums(const struct lab_archive *l, const struct folder *f, const char *digest,
                      struct err *err)
{
    struct checksums stated = {0}, made = {0};
    struct buf text = BUF_INIT;
    int rc = -1;

    if (folder_read(f, CHECKSUMS_NAME, CHECKSUMS_MAX_BYTES, &text, err) == 0 &&
        checksums_parse(&stated, text.data, text.len, CHECKSUMS_NAME, err) == 0 &&
        lab_sums(f, l->lab, &made, err) == 0)
        rc = compare_sums(l, &stated, &made, err);
    buf_release(&text);
    checksums_release(&stated);
    checksums_release(&made);
    if (rc == 0 && digest && strcmp(l->digest, digest) != 0) {
        err_set(err, ERR_ARCHIVE, "the digest of '%s' is %s, not %s", l->folder, l->digest, digest);
        return err_hint(err, "it is another lab, or all of it was written anew");
    }
    return rc;
}

/* ---- the whole ---- */

static int unfinished(const struct lab_archive *l, struct err *err)
{
    size_t closed = 0;

    for (size_t i = 0; i < l->lab->comparison_count; i++)
        closed += l->archives[i] && l->archives[i]->finished;
    return err_set(err, ERR_UNFINISHED, "unfinished: %zu of %zu comparisons", closed,
                   l->lab->comparison_count);
}

/* An archive that a kill left unfinished is a fault only of a lab that says it is finished. */
static int verify_archives(const struct lab_archive *l, struct err *err)
{
    for (size_t i = 0; i < l->lab->comparison_count; i++) {
        if (!l->archives[i] || archive_verify(l->archives[i], NULL, err) == 0)
            continue;
        if (err->code == ERR_UNFINISHED && !l->finished)
            continue;
        return err_wrap(err, "comparison '%s'", l->lab->comparisons[i].name);
    }
    return 0;
}

int lab_verify(const struct lab_archive *l, const char *digest, struct err *err)
{
    struct folder f = FOLDER_NONE;
    int rc = -1;

    if (folder_open(&f, l->folder, err) < 0)
        return -1;
    if (check_names(l, &f, err) == 0 && (!l->finished || check_sums(l, &f, digest, err) == 0) &&
        verify_archives(l, err) == 0)
        rc = l->finished ? 0 : unfinished(l, err);
    folder_release(&f);
    return rc;
}

int lab_check_sources(const struct lab_archive *l, struct err *err)
{
    for (size_t i = 0; i < l->lab->comparison_count; i++) {
        const struct archive *a = l->archives[i];

        if (a && a->finished && archive_check_sources(a, err) < 0)
            return err_wrap(err, "comparison '%s'", l->lab->comparisons[i].name);
    }
    return 0;
}
