/*
 * build: a revision's files, exported into a clean folder and built there, once.
 *
 * Builds lie below $XDG_CACHE_HOME/abba/builds (~/.cache/abba/builds), each in a folder named by
 * 40 hex digits, so that all paths are equally long: the key is the hash of the tree, the command,
 * the variables that name compilers and flags, and what the compiler says of itself. What was
 * built is kept and found again; the folder may be removed at any time.
 *
 * A build may write below its own folder only (where the kernel has Landlock), and gets neither
 * GIT_* nor ABBA_* nor make's own variables, TMPDIR of its own, SOURCE_DATE_EPOCH, CCACHE_DISABLE
 * and no repository above it.
 */
#ifndef ABBA_PLAN_BUILD_H
#define ABBA_PLAN_BUILD_H

#include "plan/repository.h"

struct build_request {
    const char *command;          /* split into words, no shell; NULL: the files as they are */
    const struct strings *writes; /* more folders that it may write to */
    void (*note)(void *user, const char *text);     /* what goes on; NULL: nobody asks */
    void (*log_line)(void *user, const char *line); /* the end of a failed build's log */
    void *user;
    int (*stopped)(void); /* whether a signal asks for the end; NULL: never */
};

struct built {
    const char *folder;              /* of the revision's files, absolute */
    const char *compiler;            /* what the compiler says of itself, first line; "" */
    struct strings words;            /* of the command */
    struct strings environment;      /* "CFLAGS=-O2": compilers and flags that were set */
    struct strings compile_commands; /* as the build showed them, the folder as "." */
    size_t commands_cut;             /* those that were not kept */
    bool confined;                   /* it could not write elsewhere */
    bool kept;                       /* it was made earlier */
    const char *log;                 /* file of its output */
};

/*
 * Builds the revision, or finds the build. `who` is for messages ("baseline"). A command that
 * cannot be split is ERR_USAGE; a build that fails is ERR_MEASURE, naming its log;
 * one that a signal ended is ERR_INTERRUPTED.
 */
int build_revision(const struct build_request *q, struct repository *r, const struct revision *v,
                   const char *who, struct built *out, struct err *err);

/*
 * The absolute path of a file that the build left, by its path relative to the top. ERR_USAGE: an
 * absolute path; ERR_MEASURE: there is no such file, or it leads out of the build.
 */
int build_product(const struct built *b, const char *path, const char **out, struct arena *arena,
                  struct err *err);

#endif
