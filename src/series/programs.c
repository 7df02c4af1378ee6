#include "series/programs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/digest.h"
#include "base/mem.h"

struct program {
    const struct variant *variant;
    struct stat seen;
};

struct programs {
    struct program *items;
    size_t count;
    bool changed;
    char text[512];
};

static bool stat_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Looks at one program again; false, with the text, if its content is not the plan's. */
static bool program_same(struct program *p, char *text, size_t size)
{
    struct err err = {0};
    struct stat now;
    char hex[DIGEST_HEX];

    if (stat(p->variant->path, &now) != 0) {
        snprintf(text, size, "program '%s' is gone", p->variant->path);
        return false;
    }
    if (stat_same(&now, &p->seen))
        return true;
    if (digest_sha256_file(p->variant->path, hex, NULL, &err) != 0) {
        snprintf(text, size, "%.500s", err.msg);
        return false;
    }
    if (strcmp(hex, p->variant->sha256) != 0) {
        snprintf(text, size,
                 "program '%s' changed during the series: SHA-256 was %.16s..., is %.16s...",
                 p->variant->path, p->variant->sha256, hex);
        return false;
    }
    p->seen = now;
    return true;
}

int programs_new(struct programs **out, const struct plan *plan, struct err *err)
{
    struct programs *p = xcalloc(1, sizeof(*p));

    p->items = xcalloc(plan->variant_count, sizeof(*p->items));
    for (size_t i = 0; i < plan->variant_count; i++)
        if (plan->variants[i].path && plan->variants[i].sha256[0])
            p->items[p->count++].variant = &plan->variants[i];
    *out = p;
    if (programs_same(p, p->text, sizeof(p->text)))
        return 0;
    programs_free(p);
    *out = NULL;
    return err_set(err, ERR_CONFIG, "a program changed between planning and the first run");
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
