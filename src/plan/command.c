#include "plan/command.h"

#include "base/heap_record.h"
#include "base/mem.h"
#include "plan/home.h"
#include "plan/program.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PAD_BYTES 100000 /* of one setting */

/* The widest that values of a run can be, so that a command has one size for all runs. */
static struct template_values widest(const struct template_values *v)
{
    struct template_values w = *v;

    w.port = UINT16_MAX;
    w.run = UINT64_MAX;
    w.seed = UINT64_MAX;
    return w;
}

/* What a command is made of. */
struct context {
    const struct plan *plan;
    const struct profile *profile;
    const struct variant *variant; /* what the role runs */
    const struct runner_role *role;
    const struct template_values *values;
    bool counted; /* by the library of a memory pass */
};

/* ---- environment ---- */

/* What programs need to find their way, and nothing that changes what they do. */
static bool passes(const char *setting)
{
    static const char *const names[] = {"HOME", "LOGNAME", "PATH", "TMPDIR", "TZ", "USER"};
    size_t len = strcspn(setting, "=");

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strlen(names[i]) == len && memcmp(names[i], setting, len) == 0)
            return true;
    return false;
}

/* "NAME=VALUE" in place of an earlier setting of the name. */
static void put(struct strings *env, struct arena *arena, const char *setting)
{
    size_t len = strcspn(setting, "=") + 1;

    for (size_t i = 0; i < env->count; i++)
        if (strncmp(env->items[i], setting, len) == 0) {
            env->items[i] = setting;
            return;
        }
    strings_add(env, arena, setting);
}

static void put_all(struct strings *env, struct arena *arena, const struct env_setting *list,
                    size_t count)
{
    for (size_t i = 0; i < count; i++)
        put(env, arena,
            arena_printf(arena, "%s=%s", list[i].name, home_show(list[i].value, arena)));
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Kept libraries go before all others. */
static void put_libraries(struct strings *env, const char *folder, struct arena *arena)
{
    static const char name[] = "LD_LIBRARY_PATH=";
    const char *rest = "";

    for (size_t i = 0; i < env->count; i++)
        if (strncmp(env->items[i], name, sizeof(name) - 1) == 0)
            rest = env->items[i] + sizeof(name) - 1;
    put(env, arena, arena_printf(arena, "%s%s%s%s", name, folder, rest[0] ? ":" : "", rest));
}

/*
 * Counts what the role asks its heap for, into a folder of the run. The library goes before others
 * that were preloaded: the first one is called, and finds theirs below it.
 */
static void put_heap(struct strings *env, const struct context *c, struct arena *arena)
{
    static const char name[] = "LD_PRELOAD=";
    const char *rest = "";

    for (size_t i = 0; i < env->count; i++)
        if (strncmp(env->items[i], name, sizeof(name) - 1) == 0)
            rest = env->items[i] + sizeof(name) - 1;
    put(env, arena,
        arena_printf(arena, "%s%s%s%s", name, c->plan->heap_library, rest[0] ? ":" : "", rest));
    put(env, arena,
        arena_printf(arena, HEAP_FOLDER_ENV "=%s/" HEAP_FOLDER "/%s", c->values->scratch,
                     c->role->name));
}

/* Everything but ABBA_PAD, sorted. A runner's programs print in one language everywhere: the
 * numbers in their output are declared by the runner. */
static int build_environment(const struct context *c, bool inherit, struct strings *env,
                             struct arena *arena, struct err *err)
{
    const struct variant *v = c->variant;
    const char *value;

    for (char **e = environ; e && *e; e++)
        if (strchr(*e, '=') && strncmp(*e, "ABBA_PAD", 8) != 0 && (inherit || passes(*e)))
            put(env, arena, arena_strdup(arena, *e));
    if (!inherit)
        put(env, arena, "LC_ALL=C.UTF-8");
    put_all(env, arena, c->plan->env, c->plan->env_count);
    for (size_t i = 0; i < c->role->env_count; i++) {
        if (template_fill(c->role->env[i].value, c->plan, c->profile, v, c->values, &value, arena,
                          err) < 0)
            return err_wrap(err, "role '%s': env '%s'", c->role->name, c->role->env[i].name);
        put(env, arena, arena_printf(arena, "%s=%s", c->role->env[i].name, value));
    }
    for (size_t i = 0; i < v->env_count; i++) {
        value = home_show(template_fill_files(v->env[i].value, v, arena), arena);
        put(env, arena, arena_printf(arena, "%s=%s", v->env[i].name, value));
    }
    if (v->library_path && !v->loader)
        put_libraries(env, v->library_path, arena);
    if (c->counted)
        put_heap(env, c, arena);
    if (env->count)
        qsort(env->items, env->count, sizeof(*env->items), by_text);
    return 0;
}

/* ---- command ---- */

static int build_arguments(const struct context *c, const struct template_values *values,
                           struct strings *argv, struct arena *arena, struct err *err)
{
    const struct variant *v = c->variant;

    for (size_t i = 0; i < c->role->command.count; i++) {
        const char *item;

        if (template_fill(c->role->command.items[i], c->plan, c->profile, v, values, &item, arena,
                          err) < 0)
            return err_wrap(err, "role '%s': command[%zu]", c->role->name, i);
        if (i == 0 && v->loader && strcmp(item, v->path) == 0) {
            strings_add(argv, arena, v->loader);
            strings_add(argv, arena, "--library-path");
            strings_add(argv, arena, v->library_path);
        }
        strings_add(argv, arena, home_show(item, arena));
    }
    for (size_t i = 0; i < v->args.count; i++)
        strings_add(argv, arena, home_show(template_fill_files(v->args.items[i], v, arena), arena));
    return 0;
}

static size_t bytes_of(const struct strings *list)
{
    size_t bytes = 0;

    for (size_t i = 0; i < list->count; i++)
        bytes += strlen(list->items[i]) + 1;
    return bytes;
}

/* argv[0] must be the program itself: nothing is looked up in PATH later. */
static int check_program(const struct strings *argv, const struct runner_role *role,
                         struct err *err)
{
    if (argv->count == 0)
        return err_set(err, ERR_CONFIG, "role '%s' has no command", role->name);
    if (argv->items[0][0] == '/')
        return 0;
    err_set(err, ERR_CONFIG, "role '%s': command[0] is '%s': an absolute path is needed",
            role->name, argv->items[0]);
    return err_hint(err, "\"{program}\" is the variant's program");
}

/*
 * Adds settings that hold `pad` bytes together, with the names and terminators of all but the
 * last: the kernel takes no single string of more than 32 pages (execve(2)).
 */
static void add_padding(struct strings *env, size_t pad, struct arena *arena)
{
    for (unsigned n = 1;; n++) {
        const bool last = pad <= PAD_BYTES;
        char *name =
            last ? arena_strdup(arena, "ABBA_PAD=") : arena_printf(arena, "ABBA_PAD_%u=", n);
        size_t fill = last ? pad : PAD_BYTES - strlen(name) - 1;
        char *x = arena_alloc(arena, fill + 1);

        memset(x, 'x', fill);
        x[fill] = '\0';
        strings_add(env, arena, arena_printf(arena, "%s%s", name, x));
        if (last)
            return;
        pad -= PAD_BYTES;
    }
}

/* A loader that is named is dynamic whatever it says of itself. */
static struct preload_obstacle obstacle_of(const struct variant *v, const char *program)
{
    return program_preload_obstacle(v->loader && strcmp(program, v->loader) == 0 ? v->path
                                                                                 : program);
}

int plan_role_command(const struct plan *plan, const struct profile *profile,
                      const struct variant *variant, const struct runner_role *role,
                      const struct template_values *values, size_t pad, struct role_command *out,
                      struct arena *arena, struct err *err)
{
    struct template_values most = widest(values);
    struct context c = {plan, profile, variant_of_role(variant, role->name), role, values, false};
    struct strings argv = {0}, wide = {0}, env = {0};
    bool inherit = plan_runner(plan, profile, variant)->is_command;

    *out = (struct role_command){0};
    for (size_t i = 0; i < role->command.count; i++)
        out->varies |= template_varies(role->command.items[i]);
    for (size_t i = 0; i < role->env_count; i++)
        out->varies |= template_varies(role->env[i].value);
    if (build_arguments(&c, values, &argv, arena, err) < 0 ||
        build_arguments(&c, &most, &wide, arena, err) < 0 || check_program(&argv, role, err) < 0)
        return -1;
    if (profile->pass == PASS_MEMORY) {
        struct preload_obstacle obstacle = obstacle_of(c.variant, argv.items[0]);

        out->obstacle = obstacle.reason;
        out->varies = true;
        c.counted = values->scratch[0] && !obstacle.fatal; /* a run has a scratch folder */
    }
    if (build_environment(&c, inherit, &env, arena, err) < 0)
        return -1;
    add_padding(&env, pad + bytes_of(&wide) - bytes_of(&argv), arena);
    out->argv = argv.items;
    out->envp = env.items;
    out->bytes = bytes_of(&argv) + bytes_of(&env) + strlen(argv.items[0]) + 1;
    return 0;
}

/* ---- padding ---- */

/* Bytes of a variant's role without padding; 0 where its runner has no such role. */
static int unpadded(const struct plan *plan, const struct profile *profile, size_t variant,
                    size_t role, size_t *bytes, struct arena *arena, struct err *err)
{
    const struct variant *v = &plan->variants[variant];
    const struct runner *r = plan_runner(plan, profile, v);
    struct template_values values = {.scratch = ""};
    struct role_command command;

    *bytes = 0;
    if (role >= r->role_count)
        return 0;
    if (plan_role_command(plan, profile, v, &r->roles[role], &values, 0, &command, arena, err) < 0)
        return err_wrap(err, "variant '%s'", v->name);
    *bytes = command.bytes;
    return 0;
}

int plan_role_pads(const struct plan *plan, const struct profile *profile, size_t role,
                   size_t *pads, struct err *err)
{
    struct arena arena = ARENA_INIT;
    size_t most = 0;
    int status = 0;

    for (size_t i = 0; i < plan->variant_count && status == 0; i++) {
        status = unpadded(plan, profile, i, role, &pads[i], &arena, err);
        most = pads[i] > most ? pads[i] : most;
    }
    for (size_t i = 0; i < plan->variant_count && status == 0; i++)
        pads[i] = pads[i] ? most - pads[i] : 0;
    arena_release(&arena);
    return status;
}
