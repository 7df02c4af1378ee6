/* A plan that is there already: what it runs is found here again. */
#include "plan/plan.h"

#include "base/digest.h"
#include "base/mem.h"
#include "plan/home.h"
#include "plan/variants.h"

#include <string.h>

int plan_find_input(struct plan *p, char sha256[65], struct arena *arena, struct err *err)
{
    p->input_path = home_show(p->input, arena);
    if (digest_sha256_file(p->input_path, sha256, NULL, err) == 0)
        return 0;
    err->code = ERR_CONFIG;
    return -1;
}

/* The input must be what it was. */
static int find_input(struct plan *p, struct arena *arena, struct err *err)
{
    char hex[DIGEST_HEX];

    if (!p->input)
        return 0;
    if (plan_find_input(p, hex, arena, err) < 0)
        return -1;
    if (strcmp(hex, p->input_sha256) == 0)
        return 0;
    return err_set(err, ERR_CONFIG,
                   "the input '%s' is not the one of the plan: its SHA-256 is "
                   "%.16s..., was %.16s...",
                   p->input_path, hex, p->input_sha256);
}

/* The library that counts must be what it was. */
static int find_heap_library(struct plan *p, struct arena *arena, struct err *err)
{
    char hex[DIGEST_HEX];

    if (!p->heap_sha256[0])
        return 0;
    if (plan_find_heap_library(p, hex, arena, err) < 0)
        return -1;
    if (strcmp(hex, p->heap_sha256) == 0)
        return 0;
    return err_set(err, ERR_CONFIG,
                   "the library '%s' is not the one that counted: its SHA-256 is %.16s..., was "
                   "%.16s...",
                   p->heap_library, hex, p->heap_sha256);
}

/* What was taken out of a plan cannot be given to a program again. */
static int check_secrets(const struct variant *v, struct err *err)
{
    if (!variant_lacks_secret(v))
        return 0;
    err_set(err, ERR_CONFIG, "variant '%s' was given a secret, and archives hold none", v->name);
    return err_hint(err, "run the series again with the command that it was begun with");
}

int plan_find_programs(struct plan *p, struct arena *arena, struct err *err)
{
    if (find_input(p, arena, err) < 0 || find_heap_library(p, arena, err) < 0)
        return -1;
    for (size_t i = 0; i < p->variant_count; i++)
        if (check_secrets(&p->variants[i], err) < 0 ||
            variant_resolve_program(p, &p->variants[i], arena, err) < 0)
            return -1;
    return 0;
}
