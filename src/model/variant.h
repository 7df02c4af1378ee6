/*
 * variant: a program under test, with its arguments and environment.
 */
#ifndef ABBA_MODEL_VARIANT_H
#define ABBA_MODEL_VARIANT_H

#include "base/err.h"
#include "base/strings.h"

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct json;
struct json_writer;

struct env_setting {
    const char *name;
    const char *value;
};

/* A file that the variant brings beside its program, such as a library: {NAME} in templates. */
struct variant_file {
    const char *name;
    const char *file;    /* as given */
    const char *path;    /* absolute; never part of the plan's hash */
    char sha256[65];     /* "" while unknown; in a file: what it must be */
    uint64_t size_bytes; /* of the file */
};

struct variant_role;

struct variant {
    const char *name;        /* "baseline", "candidate", or as given; unique in a series */
    const char *description; /* may be NULL */
    const char *runner;      /* NULL: the profile's */
    const char *program;     /* as given; NULL: the runner's own */
    struct strings args;     /* appended to every role's command; runner `command`: its own rest */
    struct env_setting *env;
    size_t env_count;
    const char *source_json;    /* `source` as given, compact JSON; NULL if none */
    struct variant_file *files; /* by name */
    size_t file_count;
    struct variant_role *roles; /* roles that run something else, by name */
    size_t role_count;
    bool control;        /* the baseline's source built otherwise: shown, never judged */
    const char *display; /* for people: the command line, or the program and its arguments */

    /* Found before the first run. */
    const char *path;    /* absolute path of the program; never part of the plan's hash */
    char sha256[65];     /* of the program file; "" while unknown; in a file: what it must be */
    uint64_t size_bytes; /* of the program file */
    /* 0, or, where what a program loads depends on where it lies (a script, libraries beside it)
     * and that is not the baseline's place: the first variant (index) whose place it is. */
    int place;

    /* Where an archive's own libraries lie, and its loader that takes them (else LD_LIBRARY_PATH
     * does); NULL: those of this machine. Never part of the plan. */
    const char *library_path, *loader;
};

/*
 * What one role runs instead. Of `part` count program, args, env and files; what a file leaves out
 * is the variant's own once the programs are found (has_args: arguments were given, if only none).
 */
struct variant_role {
    const char *name;
    struct variant part;
    bool has_args;
};

/* What a role runs: the variant itself, or its part for that role. */
const struct variant *variant_of_role(const struct variant *v, const char *role);

/* Decodes a variant file (or its copy in a plan). ERR_CONFIG on a fault. */
int variant_decode(struct variant *v, const struct json *root, const char *file,
                   struct arena *arena, struct err *err);

/* Writes it without `path`, and without secrets in arguments, environment and source
 * (base/secrets.h): *** stands for them. */
void variant_encode(const struct variant *v, struct json_writer *w);

/* Environment, program and arguments as a person would type them; the name if there is nothing. */
const char *variant_display(const struct variant *v, struct arena *arena);

/* Whether a secret was taken out of its arguments or environment: it cannot be run again. */
bool variant_lacks_secret(const struct variant *v);

/* Adds the secrets in its arguments, environment and source. */
void variant_secrets(const struct variant *v, struct strings *found, struct arena *arena);
void env_secrets(const struct env_setting *env, size_t count, struct strings *found,
                 struct arena *arena);

/* Its display without them; NULL where it has none. */
const char *variant_display_masked(const struct variant *v, struct arena *arena);

/* The member "env" of an object; the plan has one too. */
struct fields;
int env_decode(const struct fields *f, struct env_setting **env, size_t *count, struct arena *arena,
               struct err *err);
void env_encode(const struct env_setting *env, size_t count, struct json_writer *w);

/* Whether both run the same bytes in the same way: runner, program, arguments, environment. Never
 * where there is a secret: an archive could not tell. */
bool variant_identical(const struct variant *a, const struct variant *b);

/* Whether an environment variable may have that name: not empty, no '=', and not ABBA_PAD... */
bool variant_env_name_ok(const char *name);

#endif
