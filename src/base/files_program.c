#include "base/files.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define USUAL_PATH "/usr/local/bin:/usr/bin:/bin"

enum program { PROGRAM_FINE, PROGRAM_ABSENT, PROGRAM_FOLDER, PROGRAM_NOT_EXECUTABLE };

static enum program check(const char *path)
{
    struct stat st;

    if (stat(path, &st) < 0)
        return errno == EACCES ? PROGRAM_NOT_EXECUTABLE : PROGRAM_ABSENT;
    if (S_ISDIR(st.st_mode))
        return PROGRAM_FOLDER;
    /* root may "execute" anything by access(2), but execve wants one x bit. */
    bool any_x = (st.st_mode & (S_IXUSR | S_IXGRP | S_IXOTH)) != 0;
    return S_ISREG(st.st_mode) && any_x && access(path, X_OK) == 0 ? PROGRAM_FINE
                                                                   : PROGRAM_NOT_EXECUTABLE;
}

static int refuse(enum program state, const char *name, const char *path, struct err *err)
{
    if (state == PROGRAM_FOLDER)
        return err_set(err, ERR_CONFIG, "program '%s' is a folder", path);
    if (state == PROGRAM_NOT_EXECUTABLE) {
        err_set(err, ERR_CONFIG, "program '%s' is not executable", path);
        return err_hint(err, "chmod +x '%s'", path);
    }
    if (strchr(name, '/') != NULL)
        return err_set(err, ERR_CONFIG, "program '%s' does not exist", name);
    err_set(err, ERR_CONFIG, "program '%s' is not in PATH", name);
    return check(name) == PROGRAM_FINE ? err_hint(err, "did you mean './%s'?", name) : -1;
}

static char *absolute(struct arena *arena, const char *path)
{
    char cwd[PATH_MAX];

    while (path[0] == '.' && path[1] == '/') {
        path += 2;
        path += strspn(path, "/");
    }
    if (path[0] == '/' || getcwd(cwd, sizeof cwd) == NULL)
        return arena_strdup(arena, path);
    return files_join(arena, cwd, path);
}

/* As execvp: an empty entry is the current folder; what cannot be executed is passed over, but
 * remembered for the message. */
static int search_path(const char *name, const char *search, struct arena *arena, char **out,
                       struct err *err)
{
    enum program worst = PROGRAM_ABSENT;
    const char *seen = name;

    for (const char *p = search;; p++) {
        size_t len = strcspn(p, ":");
        const char *dir = len > 0 ? arena_strndup(arena, p, len) : ".";
        char *path = files_join(arena, dir, name);
        enum program state = check(path);
        if (state == PROGRAM_FINE) {
            *out = absolute(arena, path);
            return 0;
        }
        if (state == PROGRAM_NOT_EXECUTABLE && worst == PROGRAM_ABSENT && files_exists(path)) {
            worst = state;
            seen = path;
        }
        p += len;
        if (*p == '\0')
            return refuse(worst, name, seen, err);
    }
}

int files_resolve_program(const char *name, const char *search, struct arena *arena, char **out,
                          struct err *err)
{
    if (name[0] == '\0')
        return err_set(err, ERR_CONFIG, "the name of the program is empty");
    if (strchr(name, '/') == NULL)
        return search_path(name, search != NULL ? search : USUAL_PATH, arena, out, err);
    enum program state = check(name);
    if (state != PROGRAM_FINE)
        return refuse(state, name, name, err);
    *out = absolute(arena, name);
    return 0;
}
