#include "series/programs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/digest.h"
#include "base/mem.h"

struct program {
    const char *what;   /* "program", "input", "file" */
    const char *path;   /* borrowed */
    const char *sha256; /* borrowed */
    struct stat seen;
};

struct programs {
    struct program *items;
    size_t count, room;
    bool changed;
    char text[512];
};

static bool stat_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Looks at one file again; false, with the text, if its content is not the plan's. */
static bool program_same(struct program *p, char *text, size_t size)
{
    struct err err = {0};
    struct stat now;
    char hex[DIGEST_HEX];

    if (stat(p->path, &now) != 0) {
        snprintf(text, size, "%s '%s' is gone", p->what, p->path);
        return false;
    }
    if (stat_same(&now, &p->seen))
        return true;
    if (digest_sha256_file(p->path, hex, NULL, &err) != 0) {
        snprintf(text, size, "%.500s", err.msg);
        return false;
    }
    if (strcmp(hex, p->sha256) != 0) {
        snprintf(text, size, "%s '%s' changed during the series: SHA-256 was %.16s..., is %.16s...",
                 p->what, p->path, p->sha256, hex);
        return false;
    }
    p->seen = now;
    return true;
}

static struct program *add(struct programs *p)
{
    if (p->count == p->room) {
        p->room = p->room ? 2 * p->room : 16;
        p->items = xreallocarray(p->items, p->room, sizeof(*p->items));
    }
    return &p->items[p->count++];
}

static void watch(struct programs *p, const char *what, const char *path, const char *sha256)
{
    if (path && sha256[0])
        *add(p) = (struct program){.what = what, .path = path, .sha256 = sha256};
}

const char *programs_sha256(const struct programs *p, const struct stat *file)
{
    for (size_t i = 0; i < p->count; i++)
        if (stat_same(&p->items[i].seen, file))
            return p->items[i].sha256;
    return NULL;
}

void programs_watch(struct programs *p, const char *what, const char *path, const char *sha256,
                    const struct stat *seen)
{
    if (programs_sha256(p, seen))
        return;
    *add(p) = (struct program){.what = what, .path = path, .sha256 = sha256, .seen = *seen};
}

void programs_changed(struct programs *p, const char *text)
{
    if (!p->changed)
        snprintf(p->text, sizeof(p->text), "%s", text);
    p->changed = true;
}

/* Files that a variant, or its part for one role, brings along. */
static void watch_part(struct programs *p, const struct variant *v)
{
    watch(p, "program", v->path, v->sha256);
    for (size_t i = 0; i < v->file_count; i++)
        watch(p, "file", v->files[i].path, v->files[i].sha256);
}

int programs_new(struct programs **out, const struct plan *plan, struct err *err)
{
    struct programs *p = xcalloc(1, sizeof(*p));
    char text[sizeof(p->text)];

    for (size_t i = 0; i < plan->variant_count; i++) {
        watch_part(p, &plan->variants[i]);
        for (size_t k = 0; k < plan->variants[i].role_count; k++)
            watch_part(p, &plan->variants[i].roles[k].part);
    }
    watch(p, "input", plan->input_path, plan->input_sha256);
    watch(p, "library", plan->heap_library, plan->heap_sha256);
    *out = p;
    if (programs_same(p, p->text, sizeof(p->text)))
        return 0;
    snprintf(text, sizeof(text), "%s", p->text);
    programs_free(p);
    *out = NULL;
    return err_set(err, ERR_CONFIG, "between planning and the first run: %s", text);
}

void programs_free(struct programs *p)
{
    if (!p)
        return;
    free(p->items);
    free(p);
}

bool programs_same(struct programs *p, char *text, size_t size)
{
    for (size_t i = 0; i < p->count && !p->changed; i++)
        p->changed = !program_same(&p->items[i], p->text, sizeof(p->text));
    if (p->changed && text != p->text)
        snprintf(text, size, "%s", p->text);
    return !p->changed;
}
