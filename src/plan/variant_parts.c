#include "plan/variants.h"

#include "base/digest.h"
#include "base/files.h"
#include "base/mem.h"
#include "base/text.h"
#include "model/decode.h"
#include "plan/home.h"
#include "plan/lookup.h"
#include "plan/program.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- environment ---- */

static void set_env(struct env_setting *env, size_t *count, struct env_setting s)
{
    for (size_t i = 0; i < *count; i++)
        if (strcmp(env[i].name, s.name) == 0) {
            env[i].value = s.value;
            return;
        }
    env[(*count)++] = s;
}

int env_resolve(const struct strings *settings, struct env_setting **env, size_t *count,
                struct arena *arena, struct err *err)
{
    struct env_setting *all = arena_array(arena, *count + settings->count + 1, sizeof(*all));

    if (*count)
        memcpy(all, *env, *count * sizeof(*all));
    *env = all;
    for (size_t i = 0; i < settings->count; i++) {
        const char *text = settings->items[i];
        const char *equals = strchr(text, '=');
        const char *name = arena_strndup(arena, text, equals ? (size_t)(equals - text) : 0);

        if (!equals || !variant_env_name_ok(name)) {
            err_set(err, ERR_USAGE, "'%s' is no setting of an environment variable", text);
            return err_hint(err, strncmp(name, "ABBA_PAD", 8) == 0
                                     ? "ABBA_PAD is set by abba itself"
                                     : "write NAME=VALUE");
        }
        set_env(all, count,
                (struct env_setting){name, home_hide(arena_strdup(arena, equals + 1), arena)});
    }
    decode_sort(all, *count, sizeof(*all));
    return 0;
}

/* ---- programs ---- */

/* The runner whose program a variant is: its own, or that of the profiles. */
static const struct runner *variant_runner(const struct plan *p, const struct variant *v)
{
    return plan_runner(p, &p->profiles[0], v);
}

static bool one_runner(const struct plan *p)
{
    for (size_t i = 1; i < p->profile_count; i++)
        if (strcmp(p->profiles[i].runner, p->profiles[0].runner) != 0)
            return false;
    return true;
}

static const char *current_folder(struct arena *arena)
{
    char *here = getcwd(NULL, 0);
    const char *folder = arena_strdup(arena, here ? here : "/");

    free(here);
    return folder;
}

static int unknown_role(const struct runner *r, const char *name, struct err *err)
{
    const char *names[16], *near;
    size_t n = 0;

    for (; n < r->role_count && n < 16; n++)
        names[n] = r->roles[n].name;
    err_set(err, ERR_CONFIG, "runner '%s' has no role '%s'", r->name, name);
    near = text_nearest(name, names, n);
    return err_hint(err, "it has '%s'%s", near ? near : names[0],
                    near || n == 1 ? "" : " and others");
}

/* `more` over what is there, by name. */
static void merge_env(struct variant *part, const struct variant *v, struct arena *arena)
{
    struct env_setting *all = arena_array(arena, part->env_count + v->env_count + 1, sizeof(*all));
    size_t count = v->env_count;

    if (count)
        memcpy(all, v->env, count * sizeof(*all));
    for (size_t i = 0; i < part->env_count; i++)
        set_env(all, &count, part->env[i]);
    part->env = all;
    part->env_count = count;
    decode_sort(all, count, sizeof(*all));
}

static void merge_files(struct variant *part, const struct variant *v, struct arena *arena)
{
    struct variant_file *all =
        arena_array(arena, part->file_count + v->file_count + 1, sizeof(*all));
    size_t count = part->file_count;

    if (count)
        memcpy(all, part->files, count * sizeof(*all));
    for (size_t i = 0; i < v->file_count; i++) {
        bool there = false;

        for (size_t k = 0; k < part->file_count; k++)
            there = there || strcmp(part->files[k].name, v->files[i].name) == 0;
        if (!there)
            all[count++] = v->files[i];
    }
    part->files = all;
    part->file_count = count;
    decode_sort(all, count, sizeof(*all));
}

/* What a role's part leaves out is the variant's own. */
static void fill_part(struct variant_role *role, const struct variant *v, struct arena *arena)
{
    role->part.name = v->name;
    role->part.runner = v->runner;
    if (!role->part.program)
        role->part.program = v->program;
    if (!role->has_args)
        role->part.args = v->args;
    role->has_args = true;
    merge_env(&role->part, v, arena);
    merge_files(&role->part, v, arena);
}

/* The digest of a file, which must be `want` where that is known already. */
static int hash_file(const char *path, char sha256[65], uint64_t *size_bytes, struct err *err)
{
    char hex[DIGEST_HEX];

    if (digest_sha256_file(path, hex, size_bytes, err) < 0)
        return -1;
    if (sha256[0] && strcmp(sha256, hex) != 0)
        return err_set(err, ERR_CONFIG, "the SHA-256 of '%s' is %.16s..., and must be %.16s...",
                       path, hex, sha256);
    memcpy(sha256, hex, sizeof(hex));
    return 0;
}

static int resolve_files(struct variant *v, struct arena *arena, struct err *err)
{
    for (size_t i = 0; i < v->file_count; i++) {
        struct variant_file *file = &v->files[i];
        const char *shown = home_show(file->file, arena);
        char *real = realpath(shown, NULL);

        if (!real)
            return err_sys(err, ERR_CONFIG, errno, "file '%s': '%s'", file->name, shown);
        free(real);
        /* Not the real path: a library is found by the name that it has there. */
        file->path = shown[0] == '/' ? shown : files_join(arena, current_folder(arena), shown);
        if (files_is_dir(file->path))
            return err_set(err, ERR_CONFIG, "file '%s': '%s' is a folder", file->name, shown);
        if (hash_file(file->path, file->sha256, &file->size_bytes, err) < 0)
            return err_wrap(err, "file '%s'", file->name);
    }
    return 0;
}

/* Finds the program. A runner may know how its own is built. */
static int find_program(const struct runner *r, struct variant *v, struct arena *arena,
                        struct err *err)
{
    const char *program = home_show(v->program ? v->program : r->program, arena);

    if (lookup_program(r->name, program, &v->path, arena, err) == 0)
        return 0;
    if (v->program || !r->built_by)
        return -1;
    return err_hint(err, "`%s` builds it, in the source tree of runner '%s'", r->built_by, r->name);
}

/* Program and files of a variant or of its part for one role. */
static int resolve_part(const struct runner *r, struct variant *v, struct arena *arena,
                        struct err *err)
{
    if (find_program(r, v, arena, err) < 0 || program_check(v->path, arena, err) < 0 ||
        hash_file(v->path, v->sha256, &v->size_bytes, err) < 0)
        return -1;
    return resolve_files(v, arena, err);
}

static int resolve_roles(const struct runner *r, struct variant *v, struct arena *arena,
                         struct err *err)
{
    for (size_t i = 0; i < v->role_count; i++) {
        struct variant_role *role = &v->roles[i];

        if (!runner_find_role(r, role->name))
            return unknown_role(r, role->name, err);
        fill_part(role, v, arena);
        if (resolve_part(r, &role->part, arena, err) < 0)
            return err_wrap(err, "role '%s'", role->name);
    }
    return 0;
}

int variant_resolve_program(struct plan *p, struct variant *v, struct arena *arena, struct err *err)
{
    const struct runner *r = variant_runner(p, v);

    if (!v->program && r->is_command)
        return err_set(err, ERR_CONFIG, "variant '%s' has no program", v->name);
    if (!v->program && !v->runner && !one_runner(p))
        return err_set(err, ERR_CONFIG,
                       "variant '%s' names no program, and the profiles are of several runners",
                       v->name);
    if (resolve_part(r, v, arena, err) == 0 && resolve_roles(r, v, arena, err) == 0)
        return 0;
    err->code = ERR_CONFIG;
    return err_wrap(err, "variant '%s'", v->name);
}
