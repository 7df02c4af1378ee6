#include "plan/lookup.h"

#include "base/buf.h"
#include "base/files.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/url.h"
#include "model/decode.h"
#include "plan/fetch.h"

#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const kind_names[] = {"runner",  "profile", "thresholds",
                                         "variant", "series",  "accepted change"};

/* ---- where to look ---- */

/* The folder of this program, without a trailing slash; "" if the kernel does not say. */
static const char *program_folder(struct arena *arena)
{
    char path[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

    if (n <= 0)
        return "";
    path[n] = '\0';
    return files_dirname(arena, path);
}

static bool is_below(const char *path, const char *folder)
{
    size_t len = strlen(folder);

    return strncmp(path, folder, len) == 0 && (path[len] == '/' || path[len] == '\0');
}

/* The data that came with this program: the source tree it was built in, or the share folder. */
static const char *own_data(struct arena *arena)
{
    const char *folder = program_folder(arena);
    const char *beside = files_join(arena, folder, "../share/abba");

    if (is_below(folder, ABBA_SOURCE_DIR) && files_is_dir(ABBA_SOURCE_DIR))
        return ABBA_SOURCE_DIR;
    return folder[0] && files_is_dir(beside) ? beside : ABBA_SHARE_DIR;
}

static void search_roots(struct strings *roots, struct arena *arena)
{
    const char *path = getenv("ABBA_PATH");

    strings_add(roots, arena, "");
    while (path && *path) {
        size_t len = strcspn(path, ":");

        if (len)
            strings_add(roots, arena, arena_strndup(arena, path, len));
        path += len + (path[len] == ':');
    }
    strings_add(roots, arena, own_data(arena));
}

/* The file of a name below a root; NULL if the name cannot be one of that kind. */
static const char *file_below(const char *root, enum lookup_kind kind, const char *name,
                              struct arena *arena)
{
    const char *slash = strchr(name, '/');
    const char *relative = NULL;

    switch (kind) {
    case LOOKUP_RUNNER:
        relative = arena_printf(arena, "runners/%s/runner.json", name);
        break;
    case LOOKUP_PROFILE:
        relative = arena_printf(arena, "profiles/%s.json", name);
        break;
    case LOOKUP_THRESHOLDS:
        relative = arena_printf(arena, "thresholds/%s.json", name);
        break;
    case LOOKUP_ACCEPTED:
        relative = arena_printf(arena, "accepted/%s.json", name);
        break;
    case LOOKUP_VARIANT:
        if (!slash)
            return NULL;
        relative = arena_printf(arena, "runners/%.*s/variants/%s.json", (int)(slash - name), name,
                                slash + 1);
        break;
    case LOOKUP_SERIES:
        if (!slash)
            return NULL;
        relative = arena_printf(arena, "runners/%.*s/series/%s.json", (int)(slash - name), name,
                                slash + 1);
        break;
    }
    return root[0] ? files_join(arena, root, relative) : relative;
}

/* ---- one file ---- */

static bool ends_in(const char *text, const char *tail)
{
    size_t len = strlen(text), tail_len = strlen(tail);

    return len >= tail_len && strcmp(text + len - tail_len, tail) == 0;
}

bool lookup_is_path(enum lookup_kind kind, const char *name)
{
    if (ends_in(name, ".json") || name[0] == '.' || name[0] == '/')
        return true;
    return kind != LOOKUP_PROFILE && kind != LOOKUP_VARIANT && kind != LOOKUP_SERIES &&
           strchr(name, '/');
}

static int not_found(enum lookup_kind kind, const char *name, const struct strings *roots,
                     struct arena *arena, struct err *err)
{
    struct strings names = {0};
    struct buf where = BUF_INIT_MAX(400);
    const char *near;

    for (size_t i = 0; i < roots->count; i++)
        buf_printf(&where, "%s%s", i ? ", " : "", i ? roots->items[i] : "the current folder");
    err_set(err, ERR_CONFIG, "no %s '%s' below %s", kind_names[kind], name, where.data);
    buf_release(&where);
    lookup_names(kind, &names, arena);
    near = text_nearest(name, names.items, names.count);
    for (size_t i = 0; !near && i < names.count; i++)
        if (strcmp(files_basename(names.items[i]), name) == 0)
            near = names.items[i];
    if (near)
        return err_hint(err, "did you mean '%s'?", near);
    return err_hint(err, "`abba list` shows what there is; ABBA_PATH names more folders");
}

int lookup_file(enum lookup_kind kind, const char *name, const char **path, struct arena *arena,
                struct err *err)
{
    struct strings roots = {0};

    if (lookup_is_path(kind, name)) {
        *path = arena_strdup(arena, name);
        if (files_exists(name) && !files_is_dir(name))
            return 0;
        return err_set(err, ERR_CONFIG, "no %s file '%s'", kind_names[kind], name);
    }
    search_roots(&roots, arena);
    for (size_t i = 0; decode_is_path_name(name) && i < roots.count; i++) {
        *path = file_below(roots.items[i], kind, name, arena);
        if (*path && files_exists(*path) && !files_is_dir(*path))
            return 0;
    }
    return not_found(kind, name, &roots, arena, err);
}

/* ---- all names ---- */

typedef void visit_fn(const char *folder, const char *name, struct strings *names,
                      struct arena *arena);

/* Calls `visit` for every entry of a folder that does not begin with a dot. */
static void visit_folder(const char *folder, visit_fn *visit, struct strings *names,
                         struct arena *arena)
{
    DIR *dir = opendir(folder[0] ? folder : ".");
    struct dirent *entry;

    if (!dir)
        return;
    while ((entry = readdir(dir)))
        if (entry->d_name[0] != '.')
            visit(folder, arena_strdup(arena, entry->d_name), names, arena);
    closedir(dir);
}

static void add_name(const char *name, struct strings *names, struct arena *arena)
{
    if (decode_is_path_name(name))
        strings_add_new(names, arena, name);
}

static void visit_runner(const char *folder, const char *name, struct strings *names,
                         struct arena *arena)
{
    const char *file = arena_printf(arena, "%s/%s/runner.json", folder, name);

    if (files_exists(file))
        add_name(name, names, arena);
}

/* "NAME.json" as NAME. */
static void visit_json(const char *folder, const char *name, struct strings *names,
                       struct arena *arena)
{
    (void)folder;
    if (ends_in(name, ".json"))
        add_name(arena_strndup(arena, name, strlen(name) - 5), names, arena);
}

/* The .json files of folder/name/below as "name/FILE". */
static void add_group(const char *folder, const char *name, const char *below,
                      struct strings *names, struct arena *arena)
{
    struct strings found = {0};

    visit_folder(arena_printf(arena, "%s/%s%s", folder, name, below), visit_json, &found, arena);
    for (size_t i = 0; i < found.count; i++)
        add_name(arena_printf(arena, "%s/%s", name, found.items[i]), names, arena);
}

static void visit_profiles(const char *folder, const char *name, struct strings *names,
                           struct arena *arena)
{
    if (ends_in(name, ".json"))
        visit_json(folder, name, names, arena);
    else
        add_group(folder, name, "", names, arena);
}

static void visit_variants(const char *folder, const char *name, struct strings *names,
                           struct arena *arena)
{
    add_group(folder, name, "/variants", names, arena);
}

static void visit_series(const char *folder, const char *name, struct strings *names,
                         struct arena *arena)
{
    add_group(folder, name, "/series", names, arena);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void lookup_names(enum lookup_kind kind, struct strings *names, struct arena *arena)
{
    static const struct {
        const char *folder;
        visit_fn *visit;
    } kinds[] = {
        [LOOKUP_RUNNER] = {"runners", visit_runner},
        [LOOKUP_PROFILE] = {"profiles", visit_profiles},
        [LOOKUP_THRESHOLDS] = {"thresholds", visit_json},
        [LOOKUP_VARIANT] = {"runners", visit_variants},
        [LOOKUP_SERIES] = {"runners", visit_series},
        [LOOKUP_ACCEPTED] = {"accepted", visit_json},
    };
    struct strings roots = {0};

    search_roots(&roots, arena);
    for (size_t i = 0; i < roots.count; i++)
        visit_folder(files_join(arena, roots.items[i], kinds[kind].folder), kinds[kind].visit,
                     names, arena);
    if (names->count)
        qsort(names->items, names->count, sizeof(*names->items), by_text);
}

/* ---- programs ---- */

static bool runnable(const char *path)
{
    return files_exists(path) && !files_is_dir(path) && access(path, X_OK) == 0;
}

static bool readable(const char *path)
{
    return files_exists(path) && !files_is_dir(path) && access(path, R_OK) == 0;
}

/* A file beside this program: in build/ from there and from the folders of other build kinds and of
 * tests below it; in libexec of an installed one. NULL if there is none that is `good`. */
static const char *shipped(const char *file, bool (*good)(const char *path), struct arena *arena)
{
    const char *own = program_folder(arena);
    const char *places[] = {
        own,
        files_join(arena, own, ".."),
        files_join(arena, own, "../.."),
        files_join(arena, own, "../libexec/abba"),
        ABBA_SHARE_DIR "/../../libexec/abba",
        ABBA_SOURCE_DIR "/build",
    };

    for (size_t i = own[0] ? 0 : 4; i < sizeof(places) / sizeof(places[0]); i++) {
        const char *path = files_join(arena, places[i], file);
        char *real;

        if (!good(path))
            continue;
        real = realpath(path, NULL);
        if (!real)
            continue;
        path = arena_strdup(arena, real);
        free(real);
        return path;
    }
    return NULL;
}

/* A runner's program. */
static const char *shipped_program(const char *runner, const char *name, struct arena *arena)
{
    return shipped(arena_printf(arena, "runners/%s/%s", runner, name), runnable, arena);
}

int lookup_heap_library(const char **path, struct arena *arena, struct err *err)
{
    *path = shipped("libabba-heap.so", readable, arena);
    if (!*path)
        return err_set(err, ERR_CONFIG,
                       "the library of memory passes, 'libabba-heap.so', is not beside this abba");
    if (!strpbrk(*path, " :$"))
        return 0;
    err_set(err, ERR_CONFIG, "'%s' cannot be preloaded: the path holds a space, ':' or '$'", *path);
    return err_hint(err, "LD_PRELOAD separates paths by these (ld.so(8)); abba elsewhere does");
}

int lookup_program(const char *runner, const char *name, const char **path, struct arena *arena,
                   struct err *err)
{
    char *found;

    if (url_looks_like(name))
        return fetch_program(name, NULL, path, arena, err);
    if (!strchr(name, '/') && ((*path = shipped_program(runner, name, arena)) ||
                               (*path = shipped_program(name, name, arena))))
        return 0;
    if (files_resolve_program(name, getenv("PATH"), arena, &found, err) < 0)
        return -1;
    *path = found;
    return 0;
}
