/*
 * repository: what git knows, asked by executing git itself: revisions, common ancestors, files of
 * a tree. Nothing in the repository is changed: indexes and new objects lie in a folder of ours.
 *
 * git gets an environment made here (no GIT_* of the caller's but what is set here), no system or
 * user configuration but their `safe.directory`, and neither hooks nor monitors.
 */
#ifndef ABBA_PLAN_REPOSITORY_H
#define ABBA_PLAN_REPOSITORY_H

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/strings.h"

#include <stdbool.h>

struct repository {
    struct arena *arena;
    const char *git;     /* absolute path of the program */
    const char *top;     /* of the work tree, or of a bare repository */
    const char *git_dir; /* absolute */
    const char *objects; /* where its objects lie */
    const char *scratch; /* folder of ours, removed by repository_close */
    struct strings safe; /* -c safe.directory=... */
    bool bare;
    bool shallow; /* history ends early */
};

/* A commit, or the work tree as it stands. */
struct revision {
    const char *asked;   /* as a person named it; "worktree" */
    const char *commit;  /* 40 or 64 hex digits; of a work tree: what is checked out */
    const char *tree;    /* of its files */
    const char *subject; /* first line of the commit's message: hostile text */
    bool worktree;
    bool changed; /* worktree: its files are not the commit's */
};

/* The repository that the current folder is in. ERR_CONFIG: none, or git will not have it. */
int repository_open(struct repository *r, struct arena *arena, struct err *err);
void repository_close(struct repository *r); /* safe on a zeroed one */

/* A revision as git takes it. ERR_USAGE with a hint; of a shallow clone with the fetch command. */
int repository_find(struct repository *r, const char *asked, struct revision *out, struct err *err);

/*
 * The work tree: tracked files as they are, and new ones that are not ignored. Unmerged files are
 * an error (ERR_USAGE).
 */
int repository_worktree(struct repository *r, struct revision *out, struct err *err);

/* Whether tracked files differ from what is checked out; *count says how many. */
int repository_is_dirty(struct repository *r, size_t *count, struct err *err);

/* The best common ancestor of two commits, as `asked` of `a`. ERR_USAGE: there is none. */
int repository_merge_base(struct repository *r, const struct revision *a, const struct revision *b,
                          struct revision *out, struct err *err);

/* Writes the files of the revision below `folder`, which must be there and empty. */
int repository_export(struct repository *r, const struct revision *v, const char *folder,
                      struct err *err);

/* Whether the revision has that file; the path is relative to the top. -1 on an error. */
int repository_has(struct repository *r, const struct revision *v, const char *path,
                   struct err *err);

/* The path relative to the top, in the arena; NULL if it lies elsewhere. */
const char *repository_path(const struct repository *r, const char *path);

/*
 * The commits reachable from `bad` and not from any of `good` (full names), best first for a
 * bisection: those that halve what is left. The last name is the nearest to the ends.
 */
int repository_between(struct repository *r, const char *bad, const struct strings *good,
                       struct strings *commits, struct err *err);

/* The first parent of a commit; NULL for a root. */
int repository_parent(struct repository *r, const char *commit, const char **parent,
                      struct err *err);

#endif
