#include "plan/repository.h"

#include "base/files.h"
#include "base/spawn.h"
#include "base/text.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OUTPUT_MAX ((size_t)64 << 20)
#define ERRORS_MAX ((size_t)64 << 10)
#define ARGS_MAX 64

/* ---- executing git ---- */

/* One execution: what is asked, and what came back. */
struct question {
    const char *index; /* GIT_INDEX_FILE, or NULL */
    bool own_objects;  /* new objects go to our folder */
    struct buf out, errors;
    struct spawn_end end;
};

#define QUESTION                                                                                   \
    {                                                                                              \
        .out = BUF_INIT_MAX(OUTPUT_MAX), .errors = BUF_INIT_MAX(ERRORS_MAX)                        \
    }

static void question_release(struct question *q)
{
    buf_release(&q->out);
    buf_release(&q->errors);
}

/* A variable of ours, as it is, or nothing. */
static void keep(struct strings *env, struct arena *arena, const char *name)
{
    const char *value = getenv(name);

    if (value)
        strings_add(env, arena, arena_printf(arena, "%s=%s", name, value));
}

/* What git sees of this process' environment, and what makes it deaf to configuration. */
static void git_environment(const struct repository *r, const struct question *q,
                            struct strings *env)
{
    static const char *const fixed[] = {"LC_ALL=C",
                                        "GIT_CONFIG_NOSYSTEM=1",
                                        "GIT_CONFIG_SYSTEM=/dev/null",
                                        "GIT_ATTR_NOSYSTEM=1",
                                        "GIT_CONFIG_GLOBAL=/dev/null",
                                        "GIT_OPTIONAL_LOCKS=0",
                                        "GIT_TERMINAL_PROMPT=0",
                                        "GIT_NO_REPLACE_OBJECTS=1"};
    struct arena *a = r->arena;

    keep(env, a, "PATH");
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        strings_add(env, a, fixed[i]);
    if (q->index)
        strings_add(env, a, arena_printf(a, "GIT_INDEX_FILE=%s", q->index));
    if (!r->scratch || !r->objects)
        return;
    strings_add(env, a, arena_printf(a, "GIT_OBJECT_DIRECTORY=%s/objects", r->scratch));
    strings_add(env, a, arena_printf(a, "GIT_ALTERNATE_OBJECT_DIRECTORIES=%s", r->objects));
}

static void git_words(const struct repository *r, const char *const *args, struct strings *argv)
{
    static const char *const settings[] = {
        "core.hooksPath=/dev/null",    "core.fsmonitor=false",      "core.attributesFile=/dev/null",
        "core.excludesFile=/dev/null", "core.quotePath=false",      "core.pager=cat",
        "log.showSignature=false",     "advice.detachedHead=false", "gc.auto=0"};
    struct arena *a = r->arena;

    strings_add(argv, a, r->git);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        strings_add(argv, a, "-c");
        strings_add(argv, a, settings[i]);
    }
    for (size_t i = 0; i < r->safe.count; i++) {
        strings_add(argv, a, "-c");
        strings_add(argv, a, arena_printf(a, "safe.directory=%s", r->safe.items[i]));
    }
    for (size_t i = 0; args[i]; i++)
        strings_add(argv, a, args[i]);
}

/* Executes git in the repository. Its status is in q->end; -1: it could not be started. */
static int ask(const struct repository *r, struct question *q, const char *const *args,
               struct err *err)
{
    struct strings argv = {0}, env = {0};
    struct spawn s = {.cwd = r->top, .output_fd = -1};

    git_words(r, args, &argv);
    git_environment(r, q, &env);
    s.argv = argv.items;
    s.envp = env.items;
    buf_clear(&q->out);
    buf_clear(&q->errors);
    return spawn_run(&s, &q->out, &q->errors, &q->end, err);
}

/* git's own words, in one line: the last that it said. */
static int git_failed(const struct question *q, enum err_code code, const char *what,
                      struct err *err)
{
    struct buf said = BUF_INIT;
    const char *text = q->errors.data;
    size_t len = q->errors.len;

    while (len && text[len - 1] == '\n')
        len--;
    text_neutral(&said, text, len, 400);
    if (said.len)
        err_set(err, code, "git %s: %s", what, said.data);
    else
        err_set(err, code, "git %s failed", what);
    buf_release(&said);
    return -1;
}

/* The same as ask(); a status other than 0 is an error. */
static int demand(const struct repository *r, struct question *q, const char *const *args,
                  enum err_code code, struct err *err)
{
    if (ask(r, q, args, err) < 0)
        return -1;
    return q->end.status == 0 ? 0 : git_failed(q, code, args[0], err);
}

/* The first line of what git printed. */
static const char *line_of(const struct repository *r, const struct question *q)
{
    return arena_strndup(r->arena, q->out.data, strcspn(q->out.data, "\n"));
}

#define ARGS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* ---- opening ---- */

/* Whose repositories git may work in: the only thing that is taken from the user's settings. */
static int read_safe(struct repository *r, const char *scope, struct err *err)
{
    const char *argv[] = {r->git, "config", scope, "--get-all", "safe.directory", NULL};
    struct strings env = {0};
    struct question q = QUESTION;
    struct spawn s = {.argv = argv, .cwd = "/", .output_fd = -1};
    int rc;

    keep(&env, r->arena, "PATH");
    keep(&env, r->arena, "HOME");
    keep(&env, r->arena, "XDG_CONFIG_HOME");
    keep(&env, r->arena, "GIT_CONFIG_GLOBAL");
    strings_add(&env, r->arena, "LC_ALL=C");
    s.envp = env.items;
    rc = spawn_run(&s, &q.out, &q.errors, &q.end, err);
    for (char *p = q.out.data; rc == 0 && *p;) {
        size_t len = strcspn(p, "\n");

        strings_add(&r->safe, r->arena, arena_strndup(r->arena, p, len));
        p += len + (p[len] == '\n');
    }
    question_release(&q);
    return rc;
}

static int make_scratch(struct repository *r, struct err *err)
{
    const char *tmp = getenv("TMPDIR");
    char *folder =
        arena_printf(r->arena, "%s/abba-git-XXXXXX", tmp && tmp[0] == '/' ? tmp : "/tmp");

    if (!mkdtemp(folder))
        return err_sys(err, ERR_SYSTEM, errno, "cannot make a temporary folder '%s'", folder);
    r->scratch = folder;
    return files_mkdirs(files_join(r->arena, folder, "objects"), err);
}

static int look_around(struct repository *r, struct question *q, struct err *err)
{
    if (ask(r, q, ARGS("rev-parse", "--is-bare-repository", "--absolute-git-dir"), err) < 0)
        return -1;
    if (q->end.status != 0) {
        git_failed(q, ERR_CONFIG, "finds no repository here", err);
        return err_hint(err, "git:REVISION and worktree are of the repository of this folder");
    }
    r->bare = strncmp(q->out.data, "true", 4) == 0;
    r->git_dir = strchr(q->out.data, '\n') + 1;
    r->git_dir = arena_strndup(r->arena, r->git_dir, strcspn(r->git_dir, "\n"));
    if (demand(r, q, ARGS("rev-parse", "--is-shallow-repository"), ERR_CONFIG, err) < 0)
        return -1;
    r->shallow = strncmp(q->out.data, "true", 4) == 0;
    if (demand(r, q, ARGS("rev-parse", "--path-format=absolute", "--git-path", "objects"),
               ERR_CONFIG, err) < 0)
        return -1;
    r->objects = line_of(r, q);
    if (r->bare) {
        r->top = r->git_dir;
        return 0;
    }
    if (demand(r, q, ARGS("rev-parse", "--show-toplevel"), ERR_CONFIG, err) < 0)
        return -1;
    r->top = line_of(r, q);
    return 0;
}

int repository_open(struct repository *r, struct arena *arena, struct err *err)
{
    struct question q = QUESTION;
    char *git;
    int rc = -1;

    *r = (struct repository){.arena = arena};
    if (files_resolve_program("git", getenv("PATH"), arena, &git, err) < 0) {
        err_wrap(err, "git revisions need git");
        goto out;
    }
    r->git = git;
    if (read_safe(r, "--global", err) < 0 || read_safe(r, "--system", err) < 0 ||
        look_around(r, &q, err) < 0)
        goto out;
    rc = make_scratch(r, err);
out:
    question_release(&q);
    return rc;
}

void repository_close(struct repository *r)
{
    struct err ignored = {0};

    if (r->scratch)
        files_remove_tree(r->scratch, &ignored);
    r->scratch = NULL;
}

/* ---- revisions ---- */

static int fetch_hint(const struct repository *r, const char *asked, struct err *err)
{
    if (r->shallow)
        return err_hint(err, "the clone is shallow; fetch its history: git fetch --unshallow%s",
                        asked ? " origin" : "");
    return err_hint(err, "`git fetch origin` brings what others have; `git branch -a` lists names");
}

/* Tree and subject of a commit. */
static int describe(struct repository *r, const char *commit, struct revision *out, struct err *err)
{
    struct question q = QUESTION;
    int rc = demand(r, &q, ARGS("show", "--no-patch", "--format=%T%n%s", commit), ERR_CONFIG, err);

    if (rc == 0) {
        const char *subject = strchr(q.out.data, '\n');

        out->commit = commit;
        out->tree = line_of(r, &q);
        out->subject = arena_strndup(r->arena, subject ? subject + 1 : "",
                                     subject ? strcspn(subject + 1, "\n") : 0);
    }
    question_release(&q);
    return rc;
}

int repository_find(struct repository *r, const char *asked, struct revision *out, struct err *err)
{
    struct question q = QUESTION;
    const char *name = arena_printf(r->arena, "%s^{commit}", asked);
    int rc = -1;

    *out = (struct revision){.asked = arena_strdup(r->arena, asked)};
    if (asked[0] == '\0')
        err_set(err, ERR_USAGE, "'git:' names no revision");
    else if (ask(r, &q, ARGS("rev-parse", "--verify", "--quiet", "--end-of-options", name), err) ==
                 0 &&
             q.end.status == 0)
        rc = describe(r, line_of(r, &q), out, err);
    else if (err->code == ERR_NONE) {
        err_set(err, ERR_USAGE, "'%s' is no revision of the repository '%s'", asked, r->top);
        fetch_hint(r, asked, err);
    }
    question_release(&q);
    return rc;
}

/* Nothing may be half merged: such a file has no content. */
static int refuse_unmerged(struct repository *r, struct err *err)
{
    struct question q = QUESTION;
    int rc = demand(r, &q, ARGS("diff", "--name-only", "--diff-filter=U"), ERR_CONFIG, err);

    if (rc == 0 && q.out.len) {
        rc = err_set(err, ERR_USAGE, "the work tree has unmerged files, such as '%s'",
                     line_of(r, &q));
        err_hint(err, "finish or abort the merge first");
    }
    question_release(&q);
    return rc;
}

static int write_worktree(struct repository *r, struct revision *out, struct err *err)
{
    struct question q = QUESTION;
    int rc = -1;

    q.index = files_join(r->arena, r->scratch, "worktree-index");
    if (demand(r, &q, ARGS("read-tree", out->commit), ERR_CONFIG, err) == 0 &&
        demand(r, &q, ARGS("add", "--all"), ERR_CONFIG, err) == 0 &&
        demand(r, &q, ARGS("write-tree"), ERR_CONFIG, err) == 0) {
        const char *tree = line_of(r, &q);

        out->changed = strcmp(tree, out->tree) != 0;
        out->tree = tree;
        rc = 0;
    }
    question_release(&q);
    return rc;
}

int repository_worktree(struct repository *r, struct revision *out, struct err *err)
{
    if (r->bare)
        return err_set(err, ERR_USAGE, "'%s' is a bare repository: it has no work tree", r->top);
    if (repository_find(r, "HEAD", out, err) < 0 || refuse_unmerged(r, err) < 0 ||
        write_worktree(r, out, err) < 0)
        return err_wrap(err, "worktree");
    out->asked = "worktree";
    out->worktree = true;
    return 0;
}

int repository_is_dirty(struct repository *r, size_t *count, struct err *err)
{
    struct question q = QUESTION;
    int rc = 0;

    *count = 0;
    if (!r->bare)
        rc = demand(r, &q, ARGS("diff", "--name-only", "HEAD"), ERR_CONFIG, err);
    for (const char *p = q.out.data; *p; p++)
        *count += *p == '\n';
    question_release(&q);
    return rc;
}

int repository_merge_base(struct repository *r, const struct revision *a, const struct revision *b,
                          struct revision *out, struct err *err)
{
    struct question q = QUESTION;
    int rc = -1;

    if (r->shallow) {
        err_set(err, ERR_USAGE,
                "the clone is shallow: the common ancestor of '%s' and '%s' "
                "cannot be told",
                a->asked, b->asked);
        return err_hint(err,
                        "git fetch --unshallow origin (in CI: fetch-depth: 0, GIT_DEPTH: 0); "
                        "--no-merge-base takes '%s' itself",
                        a->asked);
    }
    *out = (struct revision){.asked = a->asked};
    if (ask(r, &q, ARGS("merge-base", a->commit, b->commit), err) == 0) {
        if (q.end.status == 0)
            rc = describe(r, line_of(r, &q), out, err);
        else {
            err_set(err, ERR_USAGE, "'%s' and '%s' have no common ancestor", a->asked, b->asked);
            err_hint(err, "--no-merge-base takes '%s' itself", a->asked);
        }
    }
    question_release(&q);
    return rc;
}

/* ---- files ---- */

int repository_export(struct repository *r, const struct revision *v, const char *folder,
                      struct err *err)
{
    struct question q = QUESTION;
    const char *prefix = arena_printf(r->arena, "--prefix=%s/", folder);
    int rc = -1;

    q.index = files_join(r->arena, r->scratch, "export-index");
    unlink(q.index);
    if (demand(r, &q, ARGS("read-tree", v->tree), ERR_CONFIG, err) == 0)
        rc = demand(r, &q, ARGS("checkout-index", "--all", "--force", prefix), ERR_CONFIG, err);
    question_release(&q);
    return rc;
}

int repository_has(struct repository *r, const struct revision *v, const char *path,
                   struct err *err)
{
    struct question q = QUESTION;
    int rc =
        ask(r, &q, ARGS("cat-file", "-e", arena_printf(r->arena, "%s:%s", v->tree, path)), err);

    if (rc == 0)
        rc = q.end.status == 0;
    question_release(&q);
    return rc;
}

const char *repository_path(const struct repository *r, const char *path)
{
    char *real = realpath(path, NULL), *top = realpath(r->top, NULL);
    const char *relative = NULL;
    size_t len = top ? strlen(top) : 0;

    if (real && top && strncmp(real, top, len) == 0 && real[len] == '/')
        relative = arena_strdup(r->arena, real + len + 1);
    free(real);
    free(top);
    return relative;
}

/* ---- for a bisection ---- */

int repository_between(struct repository *r, const char *bad, const struct strings *good,
                       struct strings *commits, struct err *err)
{
    struct question q = QUESTION;
    const char *args[ARGS_MAX + 8] = {"rev-list", "--bisect-all", bad, "--not"};
    size_t n = 4;
    int rc;

    for (size_t i = 0; i < good->count && n < ARGS_MAX; i++)
        args[n++] = good->items[i];
    rc = demand(r, &q, args, ERR_CONFIG, err);
    for (char *p = q.out.data; rc == 0 && *p;) {
        size_t len = strcspn(p, "\n");

        strings_add(commits, r->arena, arena_strndup(r->arena, p, strcspn(p, " \n")));
        p += len + (p[len] == '\n');
    }
    question_release(&q);
    return rc;
}

int repository_parent(struct repository *r, const char *commit, const char **parent,
                      struct err *err)
{
    struct question q = QUESTION;
    int rc =
        ask(r, &q, ARGS("rev-parse", "--verify", "--quiet", arena_printf(r->arena, "%s^1", commit)),
            err);

    *parent = rc == 0 && q.end.status == 0 ? line_of(r, &q) : NULL;
    question_release(&q);
    return rc;
}
