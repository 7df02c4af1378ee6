/*
 * git_variants: variants that are revisions of the repository of the current folder.
 *
 * "git:REVISION" is a commit, "worktree" the files as they stand; "NAME=" may stand before either.
 * The baseline is its common ancestor with the candidate, unless that is declined. Each is built
 * in a clean folder (plan/build.h); program and files come out of that build.
 */
#ifndef ABBA_PLAN_GIT_VARIANTS_H
#define ABBA_PLAN_GIT_VARIANTS_H

#include "plan/plan.h"

/* A variant that came out of a build. */
struct git_variant {
    bool is_git;
    const char *program;        /* --product, absolute; NULL: none was asked for */
    struct variant_file *files; /* --file */
    size_t file_count;
    const char *source_json; /* revision, commit, tree, build */
    const char *display;     /* for people: "git:main (1a2b3c4d5e6f)" */
};

/*
 * Builds all that are revisions: *out has an item for each variant of the request, and behind them
 * one for the control (is_git only where one is asked for). Options that need a revision are an
 * error without one. A baseline that cannot be built is ERR_CONFIG, a candidate ERR_MEASURE.
 * Profiles whose file one side only has are marked.
 */
int git_variants_build(struct plan *p, const struct plan_request *q, struct git_variant **out,
                       struct arena *arena, struct err *err);

#endif
