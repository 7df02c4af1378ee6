#include "plan/variants.h"

#include "base/buf.h"
#include "base/digest.h"
#include "base/files.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/url.h"
#include "base/words.h"
#include "model/decode.h"
#include "plan/fetch.h"
#include "plan/git_variants.h"
#include "plan/home.h"
#include "plan/load.h"
#include "plan/profiles.h"
#include "plan/program.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_VARIANTS 26 /* the baseline included */

/* ---- one variant ---- */

/* A variant's default name by its place. */
static const char *place_name(size_t index, struct arena *arena)
{
    if (index == 0)
        return "baseline";
    return index == 1 ? "candidate" : arena_printf(arena, "candidate-%zu", index);
}

/* Cuts "NAME=" off the front; NULL if there is none. */
static const char *split_name(const char **text, struct arena *arena)
{
    const char *equals = strchr(*text, '=');
    const char *name;

    if (!equals || equals[1] == '\0')
        return NULL;
    name = arena_strndup(arena, *text, (size_t)(equals - *text));
    if (!decode_is_name(name))
        return NULL;
    *text = equals + 1;
    return name;
}

/* Whether a command starts a shell itself, whose characters these then are. */
static bool is_shell(const char *program)
{
    static const char *const shells[] = {"sh", "bash", "dash", "ksh", "zsh"};
    const char *slash = strrchr(program, '/'), *name = slash ? slash + 1 : program;

    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++) {
        if (strcmp(name, shells[i]) == 0)
            return true;
    }
    return false;
}

static int from_command(struct plan *p, struct variant *v, const char *text, struct arena *arena,
                        struct err *err)
{
    char shell = words_shell_character(text);
    char **words;
    size_t count;

    if (words_split(arena, text, &words, &count, err) < 0) {
        err->code = ERR_USAGE;
        return err_wrap(err, "command '%.200s'", text);
    }
    if (count == 0)
        return err_set(err, ERR_USAGE, "command '%s' is empty", text);
    v->program = words[0];
    for (size_t i = 1; i < count; i++)
        strings_add(&v->args, arena, words[i]);
    v->display = arena_strdup(arena, text);
    if (shell && !is_shell(v->program) && !url_looks_like(v->program))
        strings_add(
            &p->notes, arena,
            arena_printf(arena,
                         "'%c' in %s is a plain character: no shell runs (sh -c '...' would be "
                         "one)",
                         shell, variant_display_masked(v, arena)));
    return 0;
}

/* A variant that one of the profiles' runners ships under that name. */
static const char *find_shipped(const struct plan *p, const char *name, struct arena *arena)
{
    const char *path;
    struct err ignored;

    for (size_t i = 0; i < p->profile_count; i++) {
        const char *full = arena_printf(arena, "%s/%s", p->profiles[i].runner, name);

        if (lookup_file(LOOKUP_VARIANT, full, &path, arena, &ignored) == 0)
            return full;
    }
    return NULL;
}

/* A variant that exactly one of all runners ships under that name, which is no program in PATH. */
static const char *find_shipped_elsewhere(const char *name, struct arena *arena)
{
    struct strings all = {0};
    const char *found = NULL;
    struct err ignored;
    char *path;

    if (files_resolve_program(name, getenv("PATH"), arena, &path, &ignored) == 0)
        return NULL;
    lookup_names(LOOKUP_VARIANT, &all, arena);
    for (size_t i = 0; i < all.count; i++) {
        if (strcmp(files_basename(all.items[i]), name) != 0)
            continue;
        if (found)
            return NULL;
        found = all.items[i];
    }
    return found;
}

/* The name under which `text` is a variant's file, or NULL: then it is a program. */
static const char *variant_file(const struct plan *p, const char *text, struct arena *arena)
{
    size_t len = strlen(text);
    const char *path;
    struct err ignored;

    if (url_looks_like(text))
        return NULL;
    if (len > 5 && strcmp(text + len - 5, ".json") == 0)
        return text;
    if (!strchr(text, '/')) {
        const char *shipped = find_shipped(p, text, arena);

        return shipped ? shipped : find_shipped_elsewhere(text, arena);
    }
    if (lookup_is_path(LOOKUP_VARIANT, text) || files_exists(text))
        return NULL;
    return lookup_file(LOOKUP_VARIANT, text, &path, arena, &ignored) == 0 ? text : NULL;
}

/* "RUNNER/NAME" of another runner than the profiles' is that runner's, said or not. */
static void adopt_runner(const struct plan *p, const char *file, struct variant *v,
                         struct arena *arena)
{
    const char *slash = strchr(file, '/');

    if (v->runner || lookup_is_path(LOOKUP_VARIANT, file))
        return;
    file = arena_strndup(arena, file, (size_t)(slash - file));
    for (size_t i = 0; i < p->profile_count; i++)
        if (strcmp(p->profiles[i].runner, file) != 0)
            v->runner = file;
}

/* A revision's program and files; where only some roles are replaced, for these. */
static int from_git(const struct plan_request *q, const struct git_variant *g, size_t index,
                    struct variant *v, struct arena *arena, struct err *err)
{
    struct variant part = {.program = g->program, .files = g->files, .file_count = g->file_count};
    size_t first = 0;

    v->source_json = g->source_json;
    v->display = g->display;
    if (strcmp(q->command, "compare") == 0 && !part.program) {
        if (q->args.count == 0)
            return err_set(err, ERR_USAGE, "no program: neither --product nor words behind '--'");
        part.program = q->args.items[first++];
    }
    if (index == 0 || q->candidate_roles.count == 0) {
        v->program = part.program;
        v->files = part.files;
        v->file_count = part.file_count;
        for (size_t i = first; i < q->args.count; i++)
            strings_add(&v->args, arena, q->args.items[i]);
        return 0;
    }
    v->roles = arena_array(arena, q->candidate_roles.count, sizeof(*v->roles));
    for (size_t i = 0; i < q->candidate_roles.count; i++)
        v->roles[v->role_count++] =
            (struct variant_role){.name = q->candidate_roles.items[i], .part = part};
    decode_sort(v->roles, v->role_count, sizeof(*v->roles));
    return 0;
}

static int resolve_one(struct plan *p, const struct plan_request *q, const char *text,
                       const struct git_variant *git, size_t index, struct variant *v,
                       struct arena *arena, struct err *err)
{
    bool command = plan_find_runner(p, p->profiles[0].runner)->is_command;
    bool compare = strcmp(p->command, "compare") == 0;
    const char *given = compare && !git->is_git ? NULL : split_name(&text, arena);
    const char *file = compare || git->is_git ? NULL : variant_file(p, text, arena);

    *v = (struct variant){0};
    if (text[0] == '\0')
        return err_set(err, ERR_USAGE, "a variant is empty");
    if (git->is_git) {
        v->name = given ? given : place_name(index, arena);
        return from_git(q, git, index, v, arena, err);
    }
    if (file) {
        if (load_variant(file, v, NULL, arena, err) < 0)
            return -1;
        adopt_runner(p, file, v, arena);
        v->name = given ? given : v->name;
        return 0;
    }
    v->name = given ? given : place_name(index, arena);
    if (command && from_command(p, v, text, arena, err) < 0)
        return -1;
    if (command) {
        for (size_t i = 0; i < q->args.count; i++)
            strings_add(&v->args, arena, q->args.items[i]);
        if (q->args.count)
            v->display = variant_display(v, arena);
        return 0;
    }
    v->program = arena_strdup(arena, text);
    v->display = v->program;
    return 0;
}

/* A variant without a program of its own runs the runner's: people are shown that, unless it is a
 * revision, of which they are shown the commit. */
static void display_program(const struct plan *p, struct variant *v, struct arena *arena)
{
    struct variant shown = *v;

    if (v->program || (v->source_json && v->display))
        return;
    shown.program = plan_find_runner(p, v->runner ? v->runner : p->profiles[0].runner)->program;
    v->display = variant_display(&shown, arena);
}

/* The plan is archived as it is: it does not tell whose home the files lie in. */
static void hide_home(struct variant *v, struct arena *arena)
{
    for (size_t i = 0; i < v->file_count; i++)
        v->files[i].file = home_hide(v->files[i].file, arena);
    for (size_t i = 0; i < v->role_count; i++)
        hide_home(&v->roles[i].part, arena);
    v->program = home_hide(v->program, arena);
    v->display = home_hide(variant_display_masked(v, arena), arena);
    for (size_t i = 0; i < v->args.count; i++)
        v->args.items[i] = home_hide(v->args.items[i], arena);
    for (size_t i = 0; i < v->env_count; i++)
        v->env[i].value = home_hide(v->env[i].value, arena);
}

/* A program that was not found may have been meant as a variant that the runner ships, or for a
 * shell. */
static int hint_variant(const struct plan *p, const struct variant *v, struct arena *arena,
                        struct err *err)
{
    struct strings names = {0}, own = {0};
    const char *near;

    if (err->hint[0] || !v->program || v->path)
        return -1;
    if (p->runners[0].is_command && words_shell_character(v->display))
        return err_hint(err, "no shell runs: where one is meant, write sh -c '...'");
    if (strchr(v->program, '/'))
        return -1;
    lookup_names(LOOKUP_VARIANT, &names, arena);
    for (size_t i = 0; i < names.count; i++) {
        const char *slash = strchr(names.items[i], '/');
        const char *runner = arena_strndup(arena, names.items[i], (size_t)(slash - names.items[i]));

        if (plan_find_runner(p, runner))
            strings_add(&own, arena, slash + 1);
    }
    near = text_nearest(v->program, own.items, own.count);
    return near ? err_hint(err, "did you mean the variant '%s'?", near) : -1;
}

/* ---- all variants ---- */

/* A program with an address is in the cache afterwards. A query may hold a secret, such as that of
 * a signed URL: the plan, which is archived, does without. */
static int fetch_variant(const struct plan_request *q, struct variant *v, struct arena *arena,
                         struct err *err)
{
    const char *shown;

    if (!v->program || !url_looks_like(v->program))
        return 0;
    if (fetch_program(v->program, q->fetch, &v->path, arena, err) < 0)
        return err_wrap(err, "variant '%s'", v->name);
    shown = fetch_shown(v->program, arena);
    if (strcmp(shown, v->program) == 0)
        return 0;
    v->program = shown;
    v->display = variant_display(v, arena);
    return 0;
}

static int fetch_all(const struct plan_request *q, struct variant *v, struct arena *arena,
                     struct err *err)
{
    for (size_t i = 0; i < v->role_count; i++)
        if (fetch_variant(q, &v->roles[i].part, arena, err) < 0)
            return -1;
    return fetch_variant(q, v, arena, err);
}

static int add_settings(struct variant *v, const struct strings *args, const struct strings *env,
                        struct arena *arena, struct err *err)
{
    struct strings all = {0};

    if (args->count == 0 && env->count == 0)
        return 0;
    for (size_t i = 0; i < v->args.count; i++)
        strings_add(&all, arena, v->args.items[i]);
    for (size_t i = 0; i < args->count; i++)
        strings_add(&all, arena, args->items[i]);
    v->args = all;
    if (env_resolve(env, &v->env, &v->env_count, arena, err) < 0)
        return err_wrap(err, "variant '%s'", v->name);
    if (!v->source_json || !v->display)
        v->display = variant_display(v, arena);
    return 0;
}

static int check_names(const struct plan *p, struct err *err)
{
    for (size_t i = 0; i < p->variant_count; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(p->variants[i].name, p->variants[k].name) == 0) {
                err_set(err, ERR_USAGE, "two variants are named '%s'", p->variants[i].name);
                return err_hint(err,
                                "NAME=VARIANT gives a name; --aa compares a variant with itself");
            }
    return 0;
}

/* The baseline once more, under another name. */
static void copy_baseline(struct plan *p)
{
    p->variants[1] = p->variants[0];
    p->variants[1].name =
        strcmp(p->variants[0].name, "candidate") == 0 ? "candidate-2" : "candidate";
    p->variant_count = 2;
}

static int check_count(const struct plan_request *q, struct err *err)
{
    if (q->aa && q->variants.count > 1) {
        err_set(err, ERR_USAGE,
                "--aa compares the baseline with itself: no candidate may be given");
        return -1;
    }
    if (q->variants.count == 0)
        return err_set(err, ERR_USAGE, "no baseline is given");
    if (!q->aa && q->variants.count < 2)
        return err_set(err, ERR_USAGE, "no candidate is given: a comparison needs two variants");
    if (q->variants.count > MAX_VARIANTS)
        return err_set(err, ERR_USAGE, "%zu variants: at most %d can be compared",
                       q->variants.count, MAX_VARIANTS);
    return 0;
}

/* Whether whatever `a` gives `b` gives too, in the same unit and direction; but for what a memory
 * pass has, where each stack may have a heap of its own kind. */
static int gives_same_metrics(const struct runner *a, const struct runner *b, struct err *err)
{
    for (size_t i = 0; i < a->metric_count; i++) {
        const struct runner_metric *m = runner_find_metric(b, a->metrics[i].name);

        if (!m && runner_metric_is_memory(&a->metrics[i]))
            continue;
        if (!m)
            return err_set(err, ERR_CONFIG, "runner '%s' gives '%s', runner '%s' does not", a->name,
                           a->metrics[i].name, b->name);
        if (m->better != a->metrics[i].better ||
            (!metric_find(m->name) && strcmp(m->unit, a->metrics[i].unit) != 0))
            return err_set(err, ERR_CONFIG, "'%s' of runner '%s' has another unit or direction",
                           m->name, b->name);
    }
    return 0;
}

/* Whether the runner that a variant names itself can stand in for those of the profiles. */
static int check_other_runner(const struct plan *p, const struct variant *v, struct err *err)
{
    const struct runner *other = plan_find_runner(p, v->runner);

    for (size_t i = 0; i < p->profile_count; i++) {
        const struct runner *own = plan_find_runner(p, p->profiles[i].runner);

        if (own == other)
            continue;
        if (profile_fits(&p->profiles[i], other, err) < 0)
            return err_wrap(err, "variant '%s': runner '%s' cannot run profile '%s'", v->name,
                            other->name, p->profiles[i].name);
        if (gives_same_metrics(own, other, err) < 0 || gives_same_metrics(other, own, err) < 0)
            return err_wrap(err, "variant '%s' cannot be compared under profile '%s'", v->name,
                            p->profiles[i].name);
    }
    return 0;
}

/* The same bytes in two places are two programs where what they load depends on the place. */
static void note_places(struct plan *p)
{
    for (size_t i = 1; i < p->variant_count; i++) {
        struct variant *v = &p->variants[i];
        size_t first = 0;

        while (first < i && strcmp(p->variants[first].path, v->path) != 0)
            first++;
        v->place = first > 0 && strcmp(v->sha256, p->variants[0].sha256) == 0 &&
                           program_depends_on_place(v->path)
                       ? (int)first
                       : 0;
    }
}

/* A candidate that replaces some roles only is the baseline in the others. */
static void inherit_baseline(const struct plan *p, struct variant *v)
{
    const struct variant *base = &p->variants[0];

    if (v == base || v->role_count == 0 || v->program)
        return;
    v->program = base->program;
    v->runner = v->runner ? v->runner : base->runner;
    v->args = base->args;
    v->env = base->env;
    v->env_count = base->env_count;
    v->files = base->files;
    v->file_count = base->file_count;
}

static int resolve_variant(struct plan *p, const struct plan_request *q, size_t i,
                           const struct git_variant *git, struct arena *arena, struct err *err)
{
    struct variant *v = &p->variants[i];

    if (resolve_one(p, q, q->variants.items[i], &git[i], i, v, arena, err) < 0 ||
        (v->runner && load_plan_runner(p, v->runner, arena, err) < 0))
        return -1;
    inherit_baseline(p, v);
    if (add_settings(v, i ? &q->candidate_args : &q->baseline_args,
                     i ? &q->candidate_env : &q->baseline_env, arena, err) < 0 ||
        fetch_all(q, v, arena, err) < 0 || variant_resolve_program(p, v, arena, err) < 0)
        return -1;
    display_program(p, v, arena);
    hide_home(v, arena);
    p->variant_count++;
    return v->runner ? check_other_runner(p, v, err) : 0;
}

/* The baseline's source built otherwise, last of all. */
static int add_control(struct plan *p, const struct git_variant *git, struct arena *arena,
                       struct err *err)
{
    struct variant *v = &p->variants[p->variant_count];

    *v = p->variants[0];
    v->name = "control";
    v->control = true;
    v->sha256[0] = '\0';
    v->program = git->program ? git->program : v->program;
    v->files = git->files;
    v->file_count = git->file_count;
    v->source_json = git->source_json;
    v->display = git->display;
    if (variant_resolve_program(p, v, arena, err) < 0)
        return -1;
    hide_home(v, arena);
    p->variant_count++;
    return 0;
}

int variants_resolve(struct plan *p, const struct plan_request *q, struct arena *arena,
                     struct err *err)
{
    struct git_variant *git;

    if (check_count(q, err) < 0 || git_variants_build(p, q, &git, arena, err) < 0)
        return -1;
    p->variants = arena_array(arena, q->variants.count + 2, sizeof(*p->variants));
    for (size_t i = 0; i < q->variants.count; i++)
        if (resolve_variant(p, q, i, git, arena, err) < 0)
            return p->variant_count == i ? hint_variant(p, &p->variants[i], arena, err) : -1;
    if (q->aa)
        copy_baseline(p);
    if (git[q->variants.count].is_git && add_control(p, &git[q->variants.count], arena, err) < 0)
        return -1;
    note_places(p);
    return check_names(p, err);
}
