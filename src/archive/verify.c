#include "archive/verify.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "archive/checksums.h"
#include "archive/folder.h"
#include "archive/names.h"
#include "archive/sequence.h"
#include "base/buf.h"
#include "base/digest.h"
#include "base/mem.h"
#include "base/strings.h"

/* An archive while it is checked. */
struct check {
    const struct archive *archive;
    struct folder folder;
    struct checksums disk;   /* of the files that are there, SHA256SUMS excepted */
    struct checksums stated; /* in SHA256SUMS */
};

static int differs(const struct check *c, const char *name, const char *what, struct err *err)
{
    return err_set(err, ERR_ARCHIVE, "'%s/%s' %s", c->folder.path, name, what);
}

/* ---- what is on disk ---- */

static int hash_file(struct check *c, const char *name, struct err *err)
{
    char hex[DIGEST_HEX];
    uint64_t size;
    int fd = folder_file(&c->folder, name, &size, err);

    if (fd < 0)
        return -1;
    int rc = digest_sha256_fd(fd, name, hex, &size, err);
    close(fd);
    if (rc < 0)
        return err_wrap(err, "'%s'", c->folder.path);
    checksums_add(&c->disk, name, hex, size);
    return 0;
}

/* The list and its signature cannot stand in the list. */
static bool is_apart(const struct check *c, const char *entry)
{
    return strcmp(entry, CHECKSUMS_NAME) == 0 ||
           (c->archive->finished && strcmp(entry, ARCHIVE_SIGNATURE) == 0);
}

/* Names with control characters could not stand in SHA256SUMS; the writer makes none. */
static bool is_plain(const char *name)
{
    for (; *name; name++)
        if ((unsigned char)*name < ' ' || *name == 0x7f || *name == '\\')
            return false;
    return true;
}

/* A file that a crash may have left half made. */
static bool is_draft(const struct check *c, const char *name)
{
    size_t len = strlen(name);

    return !c->archive->finished && len > 4 && strcmp(name + len - 4, ".new") == 0;
}

static int hash_entry(struct check *c, const char *prefix, const char *entry, struct err *err)
{
    char name[300];

    if (strcmp(entry, ".") == 0 || strcmp(entry, "..") == 0 || is_draft(c, entry))
        return 0;
    if (!*prefix &&
        (strcmp(entry, "raw") == 0 || strcmp(entry, "programs") == 0 || is_apart(c, entry)))
        return 0;
    if (!is_plain(entry))
        return err_set(err, ERR_ARCHIVE, "'%s/%s' holds a file with a name that abba never makes",
                       c->folder.path, prefix);
    snprintf(name, sizeof name, "%s%s", prefix, entry);
    return hash_file(c, name, err);
}

/* All entries of one folder; `fd` stays open. */
static int hash_folder(struct check *c, int fd, const char *prefix, struct err *err)
{
    int own = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = own < 0 ? NULL : fdopendir(own);
    const struct dirent *entry;
    int rc = 0;

    if (!dir) {
        err_sys(err, ERR_ARCHIVE, errno, "cannot list '%s/%s'", c->folder.path, prefix);
        if (own >= 0)
            close(own);
        return -1;
    }
    while (rc == 0 && (entry = readdir(dir)) != NULL)
        rc = hash_entry(c, prefix, entry->d_name, err);
    closedir(dir);
    return rc;
}

static int hash_all(struct check *c, struct err *err)
{
    if (hash_folder(c, c->folder.fd, "", err) < 0)
        return -1;
    if (c->folder.raw_fd >= 0 && hash_folder(c, c->folder.raw_fd, ARCHIVE_RAW, err) < 0)
        return -1;
    if (c->folder.kept_fd >= 0 && hash_folder(c, c->folder.kept_fd, ARCHIVE_PROGRAMS, err) < 0)
        return -1;
    checksums_sort(&c->disk);
    return 0;
}

/* ---- SHA256SUMS ---- */

/* The first file that one list has and the other has not, or has with another checksum. */
static int compare_lists(const struct check *c, struct err *err)
{
    for (size_t i = 0; i < c->stated.count; i++) {
        const struct checksum *there = checksums_find(&c->disk, c->stated.items[i].path);

        if (!there)
            return differs(c, c->stated.items[i].path, "is missing", err);
        if (strcmp(there->sha256, c->stated.items[i].sha256) != 0)
            return differs(c, there->path, "is not the file that " CHECKSUMS_NAME " lists", err);
    }
    for (size_t i = 0; i < c->disk.count; i++)
        if (!checksums_find(&c->stated, c->disk.items[i].path))
            return differs(c, c->disk.items[i].path, "is not listed in " CHECKSUMS_NAME, err);
    return 0;
}

static int check_bytes(struct check *c, const struct buf *stated, struct err *err)
{
    struct buf made = BUF_INIT;

    checksums_write(&c->disk, &made);
    bool same = made.len == stated->len && memcmp(made.data, stated->data, made.len) == 0;
    buf_release(&made);
    return same ? 0 : differs(c, CHECKSUMS_NAME, "is not what comes out again", err);
}

static int check_sums(struct check *c, const char *digest, struct err *err)
{
    struct buf stated = BUF_INIT;
    char hex[DIGEST_HEX];
    int rc = -1;

    if (folder_read(&c->folder, CHECKSUMS_NAME, CHECKSUMS_MAX_BYTES, &stated, err) == 0 &&
        checksums_parse(&c->stated, stated.data, stated.len, CHECKSUMS_NAME, err) == 0 &&
        compare_lists(c, err) == 0)
        rc = check_bytes(c, &stated, err);
    digest_sha256(stated.data, stated.len, hex);
    buf_release(&stated);
    if (rc == 0 && digest && strcmp(hex, digest) != 0) {
        err_set(err, ERR_ARCHIVE, "the digest of '%s' is %s, not %s", c->folder.path, hex, digest);
        return err_hint(err, "it is another archive, or all of it was written anew");
    }
    return rc;
}

/* ---- raw files against samples ---- */

static int check_raw_file(const struct check *c, const struct sample *s,
                          const struct sample_role *role, const struct sample_file *f,
                          struct err *err)
{
    const struct checksum *there = checksums_find(&c->disk, f->path);
    char prefix[300];

    snprintf(prefix, sizeof prefix, ARCHIVE_RAW "%06llu-%s.", (unsigned long long)s->run,
             role->name);
    if (strncmp(f->path, prefix, strlen(prefix)) != 0)
        return err_set(err, ERR_ARCHIVE, "run %llu names '%s', which is not a file of its own",
                       (unsigned long long)s->run, f->path);
    if (!there)
        return differs(c, f->path, "is missing", err);
    if (there->bytes != f->bytes || strcmp(there->sha256, f->sha256) != 0)
        return differs(c, f->path, "is not the file that its run's sample describes", err);
    return 0;
}

/* Which files on disk samples know. */
struct describing {
    const struct check *check;
    bool *known; /* one a file of check->disk */
};

static int describe(void *user, const struct sample *s, struct err *err)
{
    struct describing *d = user;

    for (size_t r = 0; r < s->role_count; r++) {
        for (size_t k = 0; k < s->roles[r].file_count; k++) {
            const struct sample_file *f = &s->roles[r].files[k];

            if (check_raw_file(d->check, s, &s->roles[r], f, err) < 0)
                return -1;
            d->known[checksums_find(&d->check->disk, f->path) - d->check->disk.items] = true;
        }
    }
    return 0;
}

/* Whether the file can be there without a sample that names it. */
static bool may_be_alone(const struct check *c, const char *path)
{
    if (strncmp(path, ARCHIVE_RAW, strlen(ARCHIVE_RAW)) != 0)
        return true;
    /* a run that a crash ended has files and no line */
    return !c->archive->finished ||
           strncmp(path, ARCHIVE_RAW "torn-", strlen(ARCHIVE_RAW "torn-")) == 0;
}

static int check_raws(const struct check *c, struct err *err)
{
    struct describing d = {c, xcalloc(c->disk.count + 1, sizeof *d.known)};
    int rc = archive_has_files(c->archive) ? archive_each(c->archive, describe, &d, err) : 0;

    for (size_t i = 0; rc == 0 && i < c->disk.count; i++) {
        const char *path = c->disk.items[i].path;

        if (!may_be_alone(c, path) && !d.known[i])
            rc = differs(c, path, "belongs to no run", err);
    }
    free(d.known);
    return rc;
}

/* ---- what really ran ---- */

static const struct loaded_role *find_role(const struct loaded *l, const struct archive_role *s)
{
    for (size_t i = 0; i < l->role_count; i++)
        if (strings_same(l->roles[i].variant, s->variant) &&
            strings_same(l->roles[i].profile, s->profile) &&
            strings_same(l->roles[i].role, s->role))
            return &l->roles[i];
    return NULL;
}

/* The run in which a role was first seen is one of its own. Where the machine went down the line of
 * that run may be lost, which reaches the disk later than loaded.json. */
static int check_seen(const struct check *c, const struct loaded_role *r, struct err *err)
{
    const struct archive *a = c->archive;

    if (r->run == 0 || (!a->finished && r->run > a->sample_count))
        return 0;
    if (r->run <= a->sample_count) {
        const struct archive_run run = archive_run(a, r->run - 1);

        if (strings_same(run.variant, r->variant) && strings_same(run.profile, r->profile))
            return 0;
    }
    return err_set(err, ERR_ARCHIVE,
                   "'%s/" ARCHIVE_LOADED "': role '%s' of '%s' under '%s' was seen in run %llu, "
                   "which is none of its own",
                   c->folder.path, r->role, r->variant, r->profile, (unsigned long long)r->run);
}

/* Every role that ran has its entry, and there are no others. */
static int check_loaded(const struct check *c, struct err *err)
{
    const struct archive *a = c->archive;
    const struct loaded *l = a->loaded;

    for (size_t i = 0; l && i < l->role_count; i++)
        if (check_seen(c, &l->roles[i], err) < 0)
            return -1;
    for (size_t i = 0; l && a->finished && i < archive_role_count(a); i++) {
        const struct archive_role *role = archive_role(a, i);

        if (!find_role(l, role))
            return err_set(err, ERR_ARCHIVE,
                           "'%s/" ARCHIVE_LOADED "' has no role '%s' of '%s' under '%s'",
                           c->folder.path, role->role, role->variant, role->profile);
    }
    return 0;
}

/* ---- the whole ---- */

static int unfinished(const struct archive *a, struct err *err)
{
    uint64_t planned = plan_run_count(a->plan);
    unsigned long long done = a->sample_count;

    if (done <= planned)
        err_set(err, ERR_UNFINISHED, "unfinished: %llu of %llu runs", done,
                (unsigned long long)planned);
    else
        err_set(err, ERR_UNFINISHED, "unfinished: %llu runs", done);
    return -1;
}

/* Files that must be there, and nothing but what an archive has. */
static int check_structure(const struct check *c, struct err *err)
{
    static const char *const top[] = {ARCHIVE_SERIES, ARCHIVE_LOADED, ARCHIVE_PROBES,
                                      ARCHIVE_SAMPLES, ARCHIVE_REPORT};

    if (c->archive->finished && !checksums_find(&c->disk, ARCHIVE_REPORT))
        return differs(c, ARCHIVE_REPORT, "is missing", err);
    for (size_t i = 0; i < c->disk.count; i++) {
        const char *path = c->disk.items[i].path;
        bool known = strncmp(path, ARCHIVE_RAW, strlen(ARCHIVE_RAW)) == 0;

        for (size_t k = 0; k < sizeof top / sizeof *top; k++)
            known = known || strcmp(path, top[k]) == 0;
        if (strncmp(path, ARCHIVE_PROGRAMS, strlen(ARCHIVE_PROGRAMS)) == 0) {
            known = true;
            if (strcmp(path + strlen(ARCHIVE_PROGRAMS), c->disk.items[i].sha256) != 0)
                return differs(c, path, "is not the file that its name says", err);
        }
        if (!known)
            return differs(c, path, "does not belong to an archive", err);
    }
    if (c->archive->finished && c->archive->torn)
        return differs(c, ARCHIVE_SAMPLES, "ends in the middle of a line", err);
    return 0;
}

static int check_all(struct check *c, const char *digest, struct err *err)
{
    if (hash_all(c, err) < 0 || (c->archive->finished && check_sums(c, digest, err) < 0) ||
        check_structure(c, err) < 0 || check_raws(c, err) < 0 ||
        sequence_check(c->archive, err) < 0 || check_loaded(c, err) < 0)
        return -1;
    return c->archive->finished ? 0 : unfinished(c->archive, err);
}

int archive_verify(const struct archive *a, const char *digest, struct err *err)
{
    struct check c = {.archive = a};

    if (folder_open(&c.folder, a->folder, err) < 0)
        return -1;
    int rc = check_all(&c, digest, err);
    checksums_release(&c.disk);
    checksums_release(&c.stated);
    folder_release(&c.folder);
    return rc;
}

static int check_listed(struct check *c, const char *name, struct err *err)
{
    const struct checksum *there, *listed = checksums_find(&c->stated, name);

    if (hash_file(c, name, err) < 0)
        return -1;
    checksums_sort(&c->disk);
    there = checksums_find(&c->disk, name);
    if (listed && strcmp(listed->sha256, there->sha256) == 0)
        return 0;
    return differs(c, name, "is not the file that " CHECKSUMS_NAME " lists", err);
}

int archive_check_sources(const struct archive *a, struct err *err)
{
    struct check c = {.archive = a};
    struct buf stated = BUF_INIT;
    int rc = -1;

    if (folder_open(&c.folder, a->folder, err) < 0)
        return -1;
    if (folder_read(&c.folder, CHECKSUMS_NAME, CHECKSUMS_MAX_BYTES, &stated, err) == 0 &&
        checksums_parse(&c.stated, stated.data, stated.len, CHECKSUMS_NAME, err) == 0 &&
        check_listed(&c, ARCHIVE_SERIES, err) == 0)
        rc = check_listed(&c, ARCHIVE_SAMPLES, err);
    if (rc == 0 && folder_has(&c.folder, ARCHIVE_PROBES))
        rc = check_listed(&c, ARCHIVE_PROBES, err);
    buf_release(&stated);
    checksums_release(&c.disk);
    checksums_release(&c.stated);
    folder_release(&c.folder);
    return rc;
}
