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
#include "archive/listing.h"
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
    struct listing disk; /* the files that are there, SHA256SUMS excepted */
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
    return listing_add(&c->disk, name, hex, size, err);
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
    return 0;
}

/* ---- SHA256SUMS ---- */

/* SHA256SUMS, line by line, beside what is there; `made` gets what it ought to be. */
struct beside {
    struct checksum_lines stated;
    struct digest made;
};

/* Files that are there and come before the stated one, or are left at the end, are not listed. */
static int check_line(struct check *c, struct beside *b, const char *stated, struct err *err)
{
    const struct listed *there = &c->disk.entry;
    int order = !c->disk.given ? 1 : stated ? strcmp(there->path, stated) : -1;

    if (order < 0)
        return differs(c, there->path, "is not listed in " CHECKSUMS_NAME, err);
    if (order > 0)
        return differs(c, stated, "is missing", err);
    if (strcmp(there->sha256, b->stated.sha256) != 0)
        return differs(c, stated, "is not the file that " CHECKSUMS_NAME " lists", err);
    digest_add(&b->made, there->sha256, strlen(there->sha256));
    digest_add(&b->made, "  ", 2);
    digest_add(&b->made, there->path, strlen(there->path));
    digest_add(&b->made, "\n", 1);
    return 0;
}

static int compare_lists(struct check *c, struct beside *b, struct err *err)
{
    int line, file;

    for (;;) {
        line = checksum_lines_next(&b->stated, err);
        file = line < 0 ? -1 : listing_next(&c->disk, err);
        if (line < 0 || file < 0)
            return -1;
        if (line == 0 && file == 0)
            return 0;
        if (check_line(c, b, line ? b->stated.path : NULL, err) < 0)
            return -1;
    }
}

static int open_lines(const struct check *c, struct checksum_lines *l, struct err *err)
{
    int fd = folder_file(&c->folder, CHECKSUMS_NAME, NULL, err);

    if (fd < 0)
        return -1;
    checksum_lines_open(l, fd, CHECKSUMS_NAME);
    return 0;
}

/* Every line is one, and they are in order. */
static int check_form(const struct check *c, struct err *err)
{
    struct checksum_lines l;
    int rc;

    if (open_lines(c, &l, err) < 0)
        return -1;
    while ((rc = checksum_lines_next(&l, err)) > 0)
        continue;
    checksum_lines_close(&l);
    return rc;
}

static int digest_list(const struct check *c, char hex[DIGEST_HEX], struct err *err)
{
    int fd = folder_file(&c->folder, CHECKSUMS_NAME, NULL, err), rc;

    if (fd < 0)
        return -1;
    rc = digest_sha256_fd(fd, CHECKSUMS_NAME, hex, NULL, err);
    close(fd);
    return rc;
}

/* The list as it is, and as it comes out again from what is there. */
static int check_sums(struct check *c, const char *digest, struct err *err)
{
    struct beside b;
    char hex[DIGEST_HEX], made[DIGEST_HEX];

    if (check_form(c, err) < 0 || digest_list(c, hex, err) < 0 || open_lines(c, &b.stated, err) < 0)
        return -1;
    digest_begin(&b.made);
    int rc = compare_lists(c, &b, err);
    digest_finish(&b.made, made);
    checksum_lines_close(&b.stated);
    if (rc == 0 && strcmp(made, hex) != 0)
        return differs(c, CHECKSUMS_NAME, "is not what comes out again", err);
    if (rc == 0 && digest && strcmp(hex, digest) != 0) {
        err_set(err, ERR_ARCHIVE, "the digest of '%s' is %s, not %s", c->folder.path, hex, digest);
        return err_hint(err, "it is another archive, or all of it was written anew");
    }
    return rc;
}

/* ---- raw files against samples ---- */

/* A file that a run names is one of its own. */
static int check_name(const struct sample *s, const struct sample_role *role,
                      const struct sample_file *f, struct err *err)
{
    char prefix[300];

    snprintf(prefix, sizeof prefix, ARCHIVE_RAW "%06llu-%s.", (unsigned long long)s->run,
             role->name);
    if (strncmp(f->path, prefix, strlen(prefix)) == 0 && is_plain(f->path))
        return 0;
    return err_set(err, ERR_ARCHIVE, "run %llu names '%s', which is not a file of its own",
                   (unsigned long long)s->run, f->path);
}

static int describe(void *user, const struct sample *s, struct err *err)
{
    struct listing *named = user;

    for (size_t r = 0; r < s->role_count; r++) {
        for (size_t k = 0; k < s->roles[r].file_count; k++) {
            const struct sample_file *f = &s->roles[r].files[k];

            if (check_name(s, &s->roles[r], f, err) < 0 ||
                listing_add(named, f->path, f->sha256, f->bytes, err) < 0)
                return -1;
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

static int check_described(const struct check *c, const struct listed *there,
                           const struct listed *named, struct err *err)
{
    if (there->bytes == named->bytes && strcmp(there->sha256, named->sha256) == 0)
        return 0;
    return differs(c, named->path, "is not the file that its run's sample describes", err);
}

/* Every file that is named, in the order of what is there. */
static int compare_named(struct check *c, struct listing *named, struct err *err)
{
    int rc, there;

    while ((rc = listing_next(named, err)) > 0) {
        there = listing_find(&c->disk, named->entry.path, err);
        if (there < 0)
            return -1;
        if (there == 0)
            return differs(c, named->entry.path, "is missing", err);
        if (check_described(c, &c->disk.entry, &named->entry, err) < 0)
            return -1;
    }
    return rc;
}

/* Every file that is there, in the order of what is named. */
static int compare_there(struct check *c, struct listing *named, struct err *err)
{
    int rc, known;

    while ((rc = listing_next(&c->disk, err)) > 0) {
        if (may_be_alone(c, c->disk.entry.path))
            continue;
        known = listing_find(named, c->disk.entry.path, err);
        if (known < 0)
            return -1;
        if (known == 0)
            return differs(c, c->disk.entry.path, "belongs to no run", err);
    }
    return rc;
}

static int check_raws(struct check *c, struct err *err)
{
    struct listing named = LISTING_INIT;
    int rc = archive_has_files(c->archive) ? archive_each(c->archive, describe, &named, err) : 0;

    if (rc == 0 && listing_rewind(&c->disk, err) == 0 && compare_named(c, &named, err) == 0 &&
        listing_rewind(&c->disk, err) == 0 && listing_rewind(&named, err) == 0)
        rc = compare_there(c, &named, err);
    else
        rc = -1;
    listing_release(&named);
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

/* Whether abba makes files of that name; a copy of a program is named by its checksum. */
static int check_place(const struct check *c, const struct listed *f, struct err *err)
{
    static const char *const top[] = {ARCHIVE_SERIES, ARCHIVE_LOADED, ARCHIVE_PROBES,
                                      ARCHIVE_SAMPLES, ARCHIVE_REPORT};

    if (strncmp(f->path, ARCHIVE_RAW, strlen(ARCHIVE_RAW)) == 0)
        return 0;
    if (strncmp(f->path, ARCHIVE_PROGRAMS, strlen(ARCHIVE_PROGRAMS)) == 0)
        return strcmp(f->path + strlen(ARCHIVE_PROGRAMS), f->sha256) == 0
                   ? 0
                   : differs(c, f->path, "is not the file that its name says", err);
    for (size_t k = 0; k < sizeof top / sizeof *top; k++)
        if (strcmp(f->path, top[k]) == 0)
            return 0;
    return differs(c, f->path, "does not belong to an archive", err);
}

/* Files that must be there, and nothing but what an archive has. */
static int check_structure(struct check *c, struct err *err)
{
    int rc;

    if (c->archive->finished && !folder_has(&c->folder, ARCHIVE_REPORT))
        return differs(c, ARCHIVE_REPORT, "is missing", err);
    if (listing_rewind(&c->disk, err) < 0)
        return -1;
    while ((rc = listing_next(&c->disk, err)) > 0)
        if (check_place(c, &c->disk.entry, err) < 0)
            return -1;
    if (rc == 0 && c->archive->finished && c->archive->torn)
        return differs(c, ARCHIVE_SAMPLES, "ends in the middle of a line", err);
    return rc;
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
    struct check c = {.archive = a, .disk = LISTING_INIT};

    if (folder_open(&c.folder, a->folder, err) < 0)
        return -1;
    int rc = check_all(&c, digest, err);
    listing_release(&c.disk);
    folder_release(&c.folder);
    return rc;
}

/* Of what a verdict comes from. */
static const char *const sources[] = {ARCHIVE_PROBES, ARCHIVE_SAMPLES, ARCHIVE_SERIES};

#define SOURCES (sizeof sources / sizeof *sources)

static int check_source(const struct check *c, const struct checksum_lines *l, struct err *err)
{
    char hex[DIGEST_HEX];
    int fd = folder_file(&c->folder, l->path, NULL, err);

    if (fd < 0)
        return -1;
    int rc = digest_sha256_fd(fd, l->path, hex, NULL, err);
    close(fd);
    if (rc == 0 && strcmp(hex, l->sha256) != 0)
        return differs(c, l->path, "is not the file that " CHECKSUMS_NAME " lists", err);
    return rc;
}

static int check_sources(const struct check *c, struct checksum_lines *l, struct err *err)
{
    bool found[SOURCES] = {false};
    int rc;

    while ((rc = checksum_lines_next(l, err)) > 0)
        for (size_t i = 0; i < SOURCES; i++) {
            if (strcmp(l->path, sources[i]) != 0)
                continue;
            found[i] = true;
            if (check_source(c, l, err) < 0)
                return -1;
        }
    for (size_t i = 0; rc == 0 && i < SOURCES; i++)
        if (!found[i] && folder_has(&c->folder, sources[i]))
            return differs(c, sources[i], "is not listed in " CHECKSUMS_NAME, err);
    return rc;
}

int archive_check_sources(const struct archive *a, struct err *err)
{
    struct check c = {.archive = a};
    struct checksum_lines lines;

    if (folder_open(&c.folder, a->folder, err) < 0)
        return -1;
    int rc = open_lines(&c, &lines, err);
    if (rc == 0) {
        rc = check_sources(&c, &lines, err);
        checksum_lines_close(&lines);
    }
    folder_release(&c.folder);
    return rc;
}
