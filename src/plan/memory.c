#include "plan/memory.h"

#include "base/digest.h"
#include "base/mem.h"
#include "plan/lookup.h"

#include <string.h>

/* A pass is no regime and no combination of others': the tables of these are of times. */
void memory_pass_make(struct profile *p, struct arena *arena)
{
    p->name = arena_printf(arena, "%s" PROFILE_MEMORY_SUFFIX, p->name);
    p->pass = PASS_MEMORY;
    p->pairs = p->memory_pass;
    p->memory_pass = 0;
    p->confirm = -1;
    p->min_complete = 0;
    p->warmup = 0;
    p->controls = NULL;
    p->control_count = 0;
    p->regime = NULL;
    p->combination_of = NULL;
    p->combination_count = 0;
}

/* Pairs of the pass that this profile is to have; 0: none; -1: as many as there are by default. */
static int pairs_asked(const struct profile *p, const struct plan_request *q)
{
    if (p->pass == PASS_MEMORY)
        return 0;
    if (q->memory_pairs > 0)
        return q->memory_pairs;
    if (p->memory_pass)
        return p->memory_pass;
    return q->memory_pass ? -1 : 0;
}

static void add_pass(struct plan *p, struct profile *all, const struct profile *of, int pairs,
                     struct arena *arena)
{
    struct profile pass = *of;

    pass.memory_pass = pairs < 0 ? 0 : pairs;
    memory_pass_make(&pass, arena);
    if (!plan_find_profile(p, pass.name)) /* it may have been asked for by its name */
        all[p->profile_count++] = pass;
}

int plan_find_heap_library(struct plan *p, char sha256[65], struct arena *arena, struct err *err)
{
    if (lookup_heap_library(&p->heap_library, arena, err) < 0)
        return -1;
    return digest_sha256_file(p->heap_library, sha256, NULL, err);
}

int memory_passes_add(struct plan *p, const struct plan_request *q, struct arena *arena,
                      struct err *err)
{
    const size_t count = p->profile_count;
    struct profile *all = arena_array(arena, 2 * count + 1, sizeof(*all));

    if (count)
        memcpy(all, p->profiles, count * sizeof(*all));
    p->profiles = all;
    for (size_t i = 0; i < count; i++) {
        int pairs = pairs_asked(&all[i], q);

        if (all[i].pass == PASS_MEMORY && q->memory_pairs > 0)
            all[i].pairs = q->memory_pairs;
        if (pairs)
            add_pass(p, all, &all[i], pairs, arena);
        all[i].memory_pass = 0;
    }
    return plan_has_memory_pass(p) ? plan_find_heap_library(p, p->heap_sha256, arena, err) : 0;
}

int memory_check_absent(const char *const *envp, struct err *err)
{
    for (size_t i = 0; envp[i]; i++) {
        if (strncmp(envp[i], "LD_PRELOAD=", 11) != 0 || !strstr(envp[i], "libabba-heap.so"))
            continue;
        err_set(err, ERR_CONFIG,
                "LD_PRELOAD names 'libabba-heap.so', and these runs are to give times");
        return err_hint(err, "--memory-pass has it in runs of its own");
    }
    return 0;
}
