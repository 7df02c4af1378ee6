#include "plan/load.h"

#include "base/files.h"
#include "base/json.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define FILE_MAX_BYTES ((size_t)4 << 20)

/* The tree of a file, to be freed. */
static struct json *read_json(const char *path, struct err *err)
{
    struct buf text = BUF_INIT;
    struct json *tree = NULL;

    if (files_read(path, FILE_MAX_BYTES, &text, err) < 0)
        err->code = ERR_CONFIG;
    else
        tree = json_parse(text.data, text.len, path, err);
    buf_release(&text);
    return tree;
}

/* Finds and reads; *path gets the file. NULL on a fault. */
static struct json *open_file(enum lookup_kind kind, const char *name, const char **path,
                              struct arena *arena, struct err *err)
{
    if (lookup_file(kind, name, path, arena, err) < 0)
        return NULL;
    return read_json(*path, err);
}

/* Names of files are their ids. */
static int check_name(enum lookup_kind kind, const char *asked, const char *found, const char *path,
                      const char *key, struct err *err)
{
    if (lookup_is_path(kind, asked) || strcmp(asked, found) == 0)
        return 0;
    err_set(err, ERR_CONFIG, "'%s': $.%s: found '%s': a file's name is its id, here '%s'", path,
            key, found, asked);
    return -1;
}

int load_runner(const char *name, struct runner *out, const char **file, struct arena *arena,
                struct err *err)
{
    const char *path;
    struct json *tree = open_file(LOOKUP_RUNNER, name, &path, arena, err);
    int status = tree ? runner_decode(out, tree, path, arena, err) : -1;

    json_free(tree);
    if (file)
        *file = path;
    return status < 0 ? -1 : check_name(LOOKUP_RUNNER, name, out->name, path, "runner", err);
}

int load_plan_runner(struct plan *p, const char *name, struct arena *arena, struct err *err)
{
    struct runner *all;

    if (plan_find_runner(p, name))
        return 0;
    all = arena_array(arena, p->runner_count + 1, sizeof(*all));
    if (p->runner_count)
        memcpy(all, p->runners, p->runner_count * sizeof(*all));
    if (load_runner(name, &all[p->runner_count], NULL, arena, err) < 0)
        return -1;
    p->runners = all;
    p->runner_count++;
    return 0;
}

int load_profile(const char *name, struct profile *out, const char **file, struct arena *arena,
                 struct err *err)
{
    const char *path;
    struct json *tree = open_file(LOOKUP_PROFILE, name, &path, arena, err);
    int status = tree ? profile_decode(out, tree, path, arena, err) : -1;

    json_free(tree);
    if (file)
        *file = path;
    return status < 0 ? -1 : check_name(LOOKUP_PROFILE, name, out->name, path, "profile", err);
}

int load_thresholds(const char *name, struct thresholds *out, const char **file,
                    struct arena *arena, struct err *err)
{
    const char *path;
    struct json *tree = open_file(LOOKUP_THRESHOLDS, name, &path, arena, err);
    int status = tree ? thresholds_decode(out, tree, path, arena, err) : -1;

    json_free(tree);
    if (file)
        *file = path;
    return status < 0 ? -1
                      : check_name(LOOKUP_THRESHOLDS, name, out->name, path, "thresholds", err);
}

int load_variant(const char *name, struct variant *out, const char **file, struct arena *arena,
                 struct err *err)
{
    const char *slash = strchr(name, '/');
    const char *path;
    struct json *tree = open_file(LOOKUP_VARIANT, name, &path, arena, err);
    int status = tree ? variant_decode(out, tree, path, arena, err) : -1;

    json_free(tree);
    if (file)
        *file = path;
    if (status < 0 || lookup_is_path(LOOKUP_VARIANT, name))
        return status;
    return check_name(LOOKUP_VARIANT, slash + 1, out->name, path, "variant", err);
}

int load_series(const char *name, struct lab_file *out, const char **file, struct arena *arena,
                struct err *err)
{
    struct json *tree = open_file(LOOKUP_SERIES, name, file, arena, err);
    int status = tree ? lab_file_decode(out, tree, *file, arena, err) : -1;

    json_free(tree);
    return status < 0 ? -1 : check_name(LOOKUP_SERIES, name, out->name, *file, "series", err);
}

int load_accepted(const char *name, struct accepted *out, const char **file, struct arena *arena,
                  struct err *err)
{
    const char *path;
    struct json *tree = open_file(LOOKUP_ACCEPTED, name, &path, arena, err);
    int status = tree ? accepted_decode(out, tree, path, arena, err) : -1;

    json_free(tree);
    if (file)
        *file = path;
    return status < 0 ? -1 : check_name(LOOKUP_ACCEPTED, name, out->name, path, "accepted", err);
}
