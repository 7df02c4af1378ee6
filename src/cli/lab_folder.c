#include "cli/lab_folder.h"

#include "archive/reader.h"
#include "base/files.h"
#include "cli/archives.h"
#include "cli/settings.h"
#include "cli/terminal.h"
#include "judge/lab.h"

#include <dirent.h>
#include <string.h>

static bool is_empty(const char *folder)
{
    DIR *dir = opendir(folder);
    const struct dirent *entry;
    bool empty = true;

    while (dir && (entry = readdir(dir)) != NULL)
        empty = empty && entry->d_name[0] == '.';
    if (dir)
        closedir(dir);
    return dir && empty;
}

/* A folder that was named: none yet, or this lab's. */
static int choose_named(const char *folder, const struct lab *lab, bool *fresh, struct err *err)
{
    struct lab_archive *l = NULL;
    int rc = 0;

    *fresh = !files_exists(folder) || is_empty(folder);
    if (*fresh)
        return 0;
    if (!lab_is_one(folder))
        return err_set(err, ERR_USAGE,
                       "option '--archive': '%s' exists already, and is not the folder of a lab",
                       folder);
    if (lab_open(&l, folder, err) < 0)
        return -1;
    if (strcmp(l->lab->sha256, lab->sha256) != 0) {
        rc = err_set(err, ERR_USAGE,
                     "option '--archive': '%s' holds another lab, %.16s..., not %.16s...", folder,
                     l->lab->sha256, lab->sha256);
        err_hint(err, "programs, profiles, thresholds and options must be those that it was begun "
                      "with");
    }
    lab_close(l);
    return rc;
}

/* Whether it is this lab, and comparisons of it are still to be run. */
static bool is_unfinished(const char *folder, const struct lab *lab)
{
    struct arena arena = ARENA_INIT;
    struct lab_archive *l = NULL;
    struct lab_report r;
    struct err ignored = {0};
    bool found = lab_is_one(folder) && lab_open(&l, folder, &ignored) == 0 &&
                 strcmp(l->lab->sha256, lab->sha256) == 0 &&
                 judge_lab(l, &r, &arena, &ignored) == 0 && !r.finished;

    lab_close(l);
    arena_release(&arena);
    return found;
}

/* The newest unfinished folder of this lab, or NULL. Names begin with the time. */
static const char *find_unfinished(const struct lab *lab, struct arena *arena)
{
    const char *tail = arena_printf(arena, "-%.8s", lab->sha256), *found = NULL;
    DIR *dir = opendir(ARCHIVES);
    const struct dirent *entry;

    while (dir && (entry = readdir(dir)) != NULL) {
        size_t len = strlen(entry->d_name);
        const char *folder;

        if (len < 9 || strcmp(entry->d_name + len - 9, tail) != 0)
            continue;
        folder = files_join(arena, ARCHIVES, entry->d_name);
        if ((!found || strcmp(folder, found) > 0) && is_unfinished(folder, lab))
            found = folder;
    }
    if (dir)
        closedir(dir);
    return found;
}

int lab_folder_choose(struct settings *s, const struct lab *lab, const char **folder, bool *fresh,
                      struct err *err)
{
    if (s->archive) {
        *folder = s->archive;
        return choose_named(s->archive, lab, fresh, err);
    }
    *folder = find_unfinished(lab, &s->arena);
    *fresh = *folder == NULL;
    if (*fresh)
        *folder = archives_dated(lab->name, lab->sha256, &s->arena);
    else
        terminal_note(s, arena_printf(&s->arena, "goes on in %s", *folder));
    return 0;
}

int lab_folder_new(struct settings *s, const struct lab *lab, const char **folder, struct err *err)
{
    *folder = s->archive ? s->archive : archives_dated(lab->name, lab->sha256, &s->arena);
    if (!files_exists(*folder) || is_empty(*folder))
        return 0;
    err_set(err, ERR_USAGE, "option '--archive': '%s' exists already", *folder);
    return err_hint(err, "a lab that is run again goes into a folder of its own");
}
