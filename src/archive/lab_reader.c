#include <stdlib.h>
#include <string.h>

#include "archive/checksums.h"
#include "archive/folder.h"
#include "archive/names.h"
#include "archive/reader.h"
#include "base/buf.h"
#include "base/digest.h"
#include "base/files.h"
#include "base/json.h"
#include "base/mem.h"

#define LAB_MAX_BYTES ((size_t)64 << 20)
#define REPORT_MAX_BYTES ((size_t)64 << 20)

/* An open lab, and what holds its memory. */
struct lab_store {
    struct lab_archive shown; /* first: the caller's pointer is ours */
    struct folder folder;
    struct arena arena;
    struct json *tree; /* texts of the lab are borrowed from it */
    struct lab lab;
    struct buf report;
};

bool lab_is_one(const char *folder)
{
    struct arena arena = ARENA_INIT;
    bool found = files_exists(files_join(&arena, folder, LAB_FILE));

    arena_release(&arena);
    return found;
}

static int read_lab(struct lab_store *s, struct err *err)
{
    const char *file = files_join(&s->arena, s->folder.path, LAB_FILE);
    struct buf text = BUF_INIT;
    int rc = folder_read(&s->folder, LAB_FILE, LAB_MAX_BYTES, &text, err);

    if (rc == 0) {
        s->tree = json_parse(text.data, text.len, file, err);
        rc = s->tree ? lab_decode(&s->lab, s->tree, file, &s->arena, err) : -1;
    }
    buf_release(&text);
    if (rc < 0)
        err->code = ERR_ARCHIVE;
    return rc;
}

/* An archive in the place of another comparison would be judged under a false name. */
static int check_plan(const struct lab_comparison *c, const struct archive *a, struct err *err)
{
    if (strcmp(c->plan.sha256, a->plan->sha256) == 0)
        return 0;
    return err_set(err, ERR_ARCHIVE,
                   "'%s' is not the archive of comparison '%s': its plan is %.16s..., " LAB_FILE
                   " gives %.16s...",
                   a->folder, c->name, a->plan->sha256, c->plan.sha256);
}

static int open_archives(struct lab_store *s, struct err *err)
{
    size_t count = s->lab.comparison_count;

    s->shown.archives = arena_array(&s->arena, count, sizeof(struct archive *));
    for (size_t i = 0; i < count; i++) {
        const struct lab_comparison *c = &s->lab.comparisons[i];
        const char *path = files_join(&s->arena, s->folder.path, c->folder);

        if (!folder_has(&s->folder, c->folder))
            continue;
        if (archive_open(&s->shown.archives[i], path, err) < 0 ||
            check_plan(c, s->shown.archives[i], err) < 0)
            return err_wrap(err, "comparison '%s'", c->name);
    }
    return 0;
}

static int read_end(struct lab_store *s, struct err *err)
{
    struct lab_archive *l = &s->shown;
    struct buf text = BUF_INIT;
    int rc = 0;

    l->finished = folder_has(&s->folder, CHECKSUMS_NAME);
    if (l->finished) {
        rc = folder_read(&s->folder, CHECKSUMS_NAME, CHECKSUMS_MAX_BYTES, &text, err);
        digest_sha256(text.data, text.len, l->digest);
    }
    buf_release(&text);
    if (rc < 0 || !folder_has(&s->folder, ARCHIVE_REPORT))
        return rc;
    rc = folder_read(&s->folder, ARCHIVE_REPORT, REPORT_MAX_BYTES, &s->report, err);
    l->report = s->report.data;
    l->report_len = s->report.len;
    return rc;
}

int lab_open(struct lab_archive **out, const char *folder, struct err *err)
{
    struct lab_store *s = xcalloc(1, sizeof *s);

    *out = NULL;
    s->folder = (struct folder)FOLDER_NONE;
    arena_init(&s->arena);
    buf_init(&s->report, 0);
    if (folder_open(&s->folder, folder, err) < 0 || read_lab(s, err) < 0 ||
        open_archives(s, err) < 0 || read_end(s, err) < 0) {
        lab_close(&s->shown);
        return -1;
    }
    s->shown.folder = s->folder.path;
    s->shown.lab = &s->lab;
    *out = &s->shown;
    return 0;
}

void lab_close(struct lab_archive *l)
{
    if (!l)
        return;
    struct lab_store *s = (struct lab_store *)(void *)l;

    for (size_t i = 0; l->archives && i < s->lab.comparison_count; i++)
        archive_close(l->archives[i]);
    json_free(s->tree);
    buf_release(&s->report);
    folder_release(&s->folder);
    arena_release(&s->arena);
    free(s);
}
