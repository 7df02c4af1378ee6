#include "plan/git_variants.h"

#include "base/json_writer.h"
#include "base/words.h"
#include "model/decode.h"
#include "plan/build.h"
#include "plan/home.h"

#include <string.h>
#include <unistd.h>

#define PREFIX "git:"

/* All of them while they are built. */
struct gathering {
    struct plan *plan;
    const struct plan_request *q;
    struct repository repository;
    struct revision *revisions; /* as the request's variants, then the control */
    const char *ancestor_of;    /* the baseline is the common ancestor of "main and HEAD" */
    struct git_variant *out;
    struct arena *arena;
};

/* ---- words ---- */

/* The text behind "NAME=". */
static const char *without_name(const char *text, struct arena *arena)
{
    const char *equals = strchr(text, '=');

    if (!equals || !decode_is_name(arena_strndup(arena, text, (size_t)(equals - text))))
        return text;
    return equals + 1;
}

/* Whether the text of a variant (without NAME=) is a revision. */
static bool is_revision(const char *text)
{
    return strncmp(text, PREFIX, sizeof PREFIX - 1) == 0 || strcmp(text, "worktree") == 0;
}

static const char *variant_text(const struct gathering *g, size_t i)
{
    return without_name(g->q->variants.items[i], g->arena);
}

static bool any_revision(const struct gathering *g)
{
    for (size_t i = 0; i < g->q->variants.count; i++)
        if (is_revision(variant_text(g, i)))
            return true;
    return false;
}

/* Options that would be without effect. */
static int check_unused(const struct plan_request *q, struct err *err)
{
    const char *option = q->build                   ? "--build"
                         : q->product               ? "--product"
                         : q->control               ? "--control"
                         : q->files.count           ? "--file"
                         : q->build_writes.count    ? "--build-writes"
                         : q->candidate_roles.count ? "--candidate-role"
                         : q->no_merge_base         ? "--no-merge-base"
                                                    : NULL;

    if (!option)
        return 0;
    err_set(err, ERR_USAGE, "option '%s' is for variants of a git repository, and there is none",
            option);
    return err_hint(err, "--baseline git:REVISION --candidate git:REVISION, or worktree");
}

static int check_options(const struct plan_request *q, struct err *err)
{
    if (q->control && !q->build)
        return err_set(err, ERR_USAGE, "option '--control' needs '--build' to be another one");
    for (size_t i = 0; i < q->files.count; i++) {
        const char *equals = strchr(q->files.items[i], '=');

        if (equals && equals != q->files.items[i] && equals[1])
            continue;
        err_set(err, ERR_USAGE, "option '--file': '%s' is no file of a build", q->files.items[i]);
        return err_hint(err, "NAME=PATH, such as lib=build/libfoo.so");
    }
    if (q->product || q->files.count || strcmp(q->command, "compare") == 0)
        return 0;
    err_set(err, ERR_USAGE, "nothing says what a revision's program is");
    return err_hint(err, "--product PATH names it, --file NAME=PATH a library; both relative to "
                         "the top of the repository");
}

/* ---- revisions ---- */

static int find_revision(struct gathering *g, size_t i, struct err *err)
{
    const char *text = variant_text(g, i);

    g->out[i].is_git = is_revision(text);
    if (!g->out[i].is_git)
        return 0;
    if (text[0] == 'w')
        return repository_worktree(&g->repository, &g->revisions[i], err);
    return repository_find(&g->repository, text + sizeof PREFIX - 1, &g->revisions[i], err);
}

/* Changes that are in no commit are easily thought to be measured. */
static int note_dirty(struct gathering *g, size_t i, struct err *err)
{
    const struct revision *v = &g->revisions[i];
    struct revision head;
    size_t count = 0;

    if (i == 0 || v->worktree || g->repository.bare)
        return 0;
    if (repository_find(&g->repository, "HEAD", &head, err) < 0 ||
        repository_is_dirty(&g->repository, &count, err) < 0)
        return -1;
    if (count && strcmp(head.commit, v->commit) == 0)
        strings_add(&g->plan->notes, g->arena,
                    arena_printf(g->arena,
                                 "the work tree has changes (%zu file%s) that are not in '%s'; "
                                 "--candidate worktree has them",
                                 count, count == 1 ? "" : "s", v->asked));
    return 0;
}

/* The baseline becomes what it and the first candidate have in common; a work tree is meant as it
 * stands. */
static int take_ancestor(struct gathering *g, struct err *err)
{
    struct revision base;

    if (g->q->no_merge_base || !g->out[0].is_git || g->revisions[0].worktree)
        return 0;
    for (size_t i = 1; i < g->q->variants.count; i++) {
        if (!g->out[i].is_git)
            continue;
        if (repository_merge_base(&g->repository, &g->revisions[0], &g->revisions[i], &base, err) <
            0)
            return -1;
        if (strcmp(base.commit, g->revisions[0].commit) != 0)
            g->ancestor_of =
                arena_printf(g->arena, "%s and %s", g->revisions[0].asked, g->revisions[i].asked);
        g->revisions[0] = base;
        break;
    }
    return 0;
}

static int find_revisions(struct gathering *g, struct err *err)
{
    for (size_t i = 0; i < g->q->variants.count; i++)
        if (find_revision(g, i, err) < 0 || (g->out[i].is_git && note_dirty(g, i, err) < 0))
            return err_wrap(err, i ? "candidate" : "baseline");
    return take_ancestor(g, err);
}

/* ---- what goes into the plan ---- */

static void encode_strings(struct json_writer *w, const char *key, const struct strings *list,
                           struct arena *arena)
{
    jw_key(w, key);
    jw_array_begin(w);
    for (size_t i = 0; i < list->count; i++)
        jw_string(w, home_hide(list->items[i], arena));
    jw_array_end(w);
}

static void encode_build(struct json_writer *w, const struct built *b, struct arena *arena)
{
    jw_key(w, "build");
    jw_object_begin(w);
    encode_strings(w, "command", &b->words, arena);
    jw_key(w, "compiler"), jw_string(w, b->compiler);
    encode_strings(w, "environment", &b->environment, arena);
    encode_strings(w, "compile_commands", &b->compile_commands, arena);
    if (b->commands_cut)
        jw_key(w, "compile_commands_cut"), jw_uint(w, b->commands_cut);
    jw_key(w, "confined"), jw_bool(w, b->confined);
    jw_object_end(w);
}

static const char *source_json(const struct gathering *g, size_t i, const struct revision *v,
                               const struct built *b)
{
    struct buf text = BUF_INIT;
    struct json_writer w;
    const char *json;

    jw_init(&w, &text, false);
    jw_object_begin(&w);
    jw_key(&w, "revision"), jw_string(&w, v->asked);
    if (i == 0 && g->ancestor_of)
        jw_key(&w, "common_ancestor_of"), jw_string(&w, g->ancestor_of);
    jw_key(&w, "commit"), jw_string(&w, v->commit);
    jw_key(&w, "tree"), jw_string(&w, v->tree);
    if (v->worktree)
        jw_key(&w, "changed"), jw_bool(&w, v->changed);
    if (b->words.count)
        encode_build(&w, b, g->arena);
    jw_object_end(&w);
    json = arena_strdup(g->arena, text.data);
    buf_release(&text);
    return json;
}

static const char *display_of(const struct gathering *g, size_t i, const struct revision *v)
{
    const char *name = v->worktree ? v->asked : arena_printf(g->arena, PREFIX "%s", v->asked);

    if (i == 0 && g->ancestor_of)
        name = arena_printf(g->arena, "common ancestor of %s", g->ancestor_of);
    return arena_printf(g->arena, "%s (%.12s%s)", name, v->commit, v->changed ? " + changes" : "");
}

/* --product and --file, out of one build. */
static int take_products(struct gathering *g, struct git_variant *out, const struct built *b,
                         struct err *err)
{
    const struct plan_request *q = g->q;

    if (q->product && build_product(b, q->product, &out->program, g->arena, err) < 0)
        return err_wrap(err, "--product");
    if (q->product && access(out->program, X_OK) != 0)
        return err_set(err, ERR_MEASURE, "--product: '%s' of the build is not executable",
                       q->product);
    out->files = arena_array(g->arena, q->files.count + 1, sizeof(*out->files));
    for (size_t i = 0; i < q->files.count; i++) {
        const char *text = q->files.items[i], *equals = strchr(text, '=');
        struct variant_file *file = &out->files[out->file_count++];

        file->name = arena_strndup(g->arena, text, (size_t)(equals - text));
        if (!decode_is_name(file->name))
            return err_set(err, ERR_USAGE, "option '--file': '%s' cannot name a file", file->name);
        if (build_product(b, equals + 1, &file->file, g->arena, err) < 0)
            return err_wrap(err, "--file");
    }
    decode_sort(out->files, out->file_count, sizeof(*out->files));
    return 0;
}

/* ---- building ---- */

static int build_one(struct gathering *g, size_t i, const char *command, const char *who,
                     struct err *err)
{
    const struct revision *v = &g->revisions[i];
    const struct build_request request = {
        .command = command,
        .writes = &g->q->build_writes,
        .note = g->q->build_note,
        .log_line = g->q->build_log,
        .user = g->q->user,
        .stopped = g->q->build_stopped,
    };
    struct built built;

    if (build_revision(&request, &g->repository, v, who, &built, err) < 0 ||
        take_products(g, &g->out[i], &built, err) < 0) {
        /* A baseline that cannot be built is a wrong request, a candidate a failed check. */
        if (err->code == ERR_MEASURE || err->code == ERR_SYSTEM)
            err->code = strcmp(who, "candidate") == 0 ? ERR_MEASURE : ERR_CONFIG;
        return err_wrap(err, "%s %s", who, display_of(g, i, v));
    }
    if (command && !built.confined)
        strings_add(&g->plan->notes, g->arena,
                    "builds could not be kept from writing elsewhere: this kernel has no Landlock");
    g->out[i].source_json = source_json(g, i, v, &built);
    g->out[i].display = display_of(g, i, v);
    return 0;
}

static int build_control(struct gathering *g, struct err *err)
{
    size_t at = g->q->variants.count;

    if (!g->q->control)
        return 0;
    if (!g->out[0].is_git)
        return err_set(err, ERR_USAGE, "option '--control': the baseline is no git revision");
    g->revisions[at] = g->revisions[0];
    g->out[at].is_git = true;
    if (build_one(g, at, g->q->control, "control", err) < 0)
        return -1;
    g->out[at].display =
        arena_printf(g->arena, "%s, built by: %s", g->out[0].display, g->q->control);
    return 0;
}

static int build_all(struct gathering *g, struct err *err)
{
    for (size_t i = 0; i < g->q->variants.count; i++)
        if (g->out[i].is_git && build_one(g, i, g->q->build, i ? "candidate" : "baseline", err) < 0)
            return -1;
    return build_control(g, err);
}

/* ---- profiles of one side ---- */

/* Whether variant `i` has the file; one that is no revision has what lies here. */
static int has_file(struct gathering *g, size_t i, const char *path, struct err *err)
{
    return g->out[i].is_git ? repository_has(&g->repository, &g->revisions[i], path, err) : 1;
}

static int mark_profile(struct gathering *g, struct profile *one, struct err *err)
{
    const char *path = one->file ? repository_path(&g->repository, one->file) : NULL;
    int before, after;

    if (!path)
        return 0;
    before = has_file(g, 0, path, err);
    after = before < 0 ? -1 : has_file(g, g->q->variants.count - 1, path, err);
    if (after < 0)
        return -1;
    if (before != after)
        one->only_in = before ? "baseline" : "candidate";
    return 0;
}

static int mark_profiles(struct gathering *g, struct err *err)
{
    for (size_t i = 0; g->q->variants.count > 1 && i < g->plan->profile_count; i++)
        if (mark_profile(g, &g->plan->profiles[i], err) < 0)
            return -1;
    return 0;
}

int git_variants_build(struct plan *p, const struct plan_request *q, struct git_variant **out,
                       struct arena *arena, struct err *err)
{
    struct gathering g = {.plan = p, .q = q, .arena = arena};
    int rc = -1;

    g.out = arena_array(arena, q->variants.count + 1, sizeof(*g.out));
    g.revisions = arena_array(arena, q->variants.count + 1, sizeof(*g.revisions));
    *out = g.out;
    if (!any_revision(&g))
        return check_unused(q, err);
    if (check_options(q, err) == 0 && repository_open(&g.repository, arena, err) == 0 &&
        find_revisions(&g, err) == 0 && build_all(&g, err) == 0)
        rc = mark_profiles(&g, err);
    repository_close(&g.repository);
    return rc;
}
