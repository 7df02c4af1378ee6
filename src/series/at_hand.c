#include "series/at_hand.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/mem.h"

#define HOME_WORD "HOME" /* archive/redact.h */

static bool has_placeholder(const char *path)
{
    static const char *const words[] = {"/USER/", "/HOST/", "/ADDRESS/"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(path, words[i]))
            return true;
    return false;
}

const char *at_hand_path(const struct loaded_file *f, struct arena *arena)
{
    const char *home = getenv("HOME");

    if (has_placeholder(f->path))
        return NULL;
    if (f->path[0] == '/')
        return f->path;
    if (strncmp(f->path, HOME_WORD "/", strlen(HOME_WORD "/")) != 0 || !home)
        return NULL;
    return arena_printf(arena, "%s%s", home, f->path + strlen(HOME_WORD));
}

const char *at_hand_fault(const struct loaded_file *f, struct arena *arena)
{
    const char *path = f->sha256 ? at_hand_path(f, arena) : NULL;
    const char *kind = f->soname ? "library" : "file";
    struct err err = {0};
    char hex[DIGEST_HEX];

    if (!path)
        return NULL;
    if (digest_sha256_file(path, hex, NULL, &err) < 0)
        return err.sys_errno == ENOENT ? arena_printf(arena, "%s '%s' is missing", kind, path)
                                       : arena_strdup(arena, err.msg);
    if (strcmp(hex, f->sha256) == 0)
        return NULL;
    return arena_printf(arena, "%s '%s' has SHA-256 %.16s..., had %.16s...", kind, path, hex,
                        f->sha256);
}

void at_hand_differences(const struct loaded *l, struct strings *out, struct arena *arena)
{
    for (size_t i = 0; i < l->file_count; i++) {
        const char *fault = at_hand_fault(&l->files[i], arena);

        if (fault)
            strings_add(out, arena, fault);
    }
}
