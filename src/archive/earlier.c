#include "archive/earlier.h"

#include "archive/checksums.h"
#include "archive/names.h"
#include "base/digest.h"
#include "base/fields.h"
#include "base/files.h"
#include "base/json.h"
#include "base/mem.h"
#include "model/report.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MAX ((size_t)32 << 20)
#define KEPT 100

/* The tree of a file of the neighbour, or NULL. */
static struct json *read_tree(const char *path)
{
    struct buf text = BUF_INIT;
    struct err ignored = {0};
    struct json *tree = NULL;

    if (files_exists(path) && files_read(path, FILE_MAX, &text, &ignored) == 0)
        tree = json_parse(text.data, text.len, path, &ignored);
    buf_release(&text);
    return tree;
}

static const char *text_of(const struct json *tree, const char *key)
{
    const struct json *member = tree && json_kind(tree) == JSON_OBJECT ? json_get(tree, key) : NULL;

    return member && json_kind(member) == JSON_STRING ? json_string(member) : "";
}

/* Whether the folder is an archive of that plan, and since when. */
static bool is_of_plan(const char *folder, const char *plan_sha256, struct earlier *e,
                       struct arena *arena)
{
    struct json *tree = read_tree(files_join(arena, folder, ARCHIVE_SERIES));
    bool same = strcmp(text_of(tree, "plan_sha256"), plan_sha256) == 0;

    if (same)
        e->started = arena_strdup(arena, text_of(tree, "started"));
    json_free(tree);
    return same;
}

static void read_verdict(const char *folder, struct earlier *e, struct arena *arena)
{
    const char *sums = files_join(arena, folder, CHECKSUMS_NAME);
    struct json *tree;
    struct err ignored = {0};
    enum verdict verdict;
    char hex[DIGEST_HEX];

    e->verdict = "unfinished";
    e->digest = "";
    if (!files_exists(sums) || digest_sha256_file(sums, hex, NULL, &ignored) < 0)
        return;
    e->digest = arena_strdup(arena, hex);
    tree = read_tree(files_join(arena, folder, ARCHIVE_REPORT));
    e->verdict =
        verdict_parse(text_of(tree, "verdict"), &verdict) ? verdict_name(verdict) : "unknown";
    json_free(tree);
}

static int by_time(const void *a, const void *b)
{
    const struct earlier *x = a, *y = b;
    int order = strcmp(x->started, y->started);

    return order ? order : strcmp(x->archive, y->archive);
}

/* One more; the oldest goes where there are too many. */
static void keep(struct earlier *list, size_t *count, const struct earlier *e)
{
    list[(*count)++] = *e;
    qsort(list, *count, sizeof *list, by_time);
    if (*count <= KEPT)
        return;
    memmove(list, list + 1, KEPT * sizeof *list);
    *count = KEPT;
}

void earlier_find(const char *archive, const char *plan_sha256, struct earlier **list,
                  size_t *count, struct arena *arena)
{
    const char *beside = files_dirname(arena, archive), *own = files_basename(archive);
    DIR *dir = opendir(beside);
    struct dirent *entry;

    *list = arena_array(arena, KEPT + 1, sizeof **list);
    *count = 0;
    while (dir && (entry = readdir(dir))) {
        const char *folder;
        struct earlier e;

        if (entry->d_name[0] == '.' || strcmp(entry->d_name, own) == 0 || entry->d_type == DT_REG)
            continue;
        folder = files_join(arena, beside, entry->d_name);
        if (!is_of_plan(folder, plan_sha256, &e, arena))
            continue;
        e.archive = arena_strdup(arena, entry->d_name);
        read_verdict(folder, &e, arena);
        keep(*list, count, &e);
    }
    if (dir)
        closedir(dir);
}
