/*
 * program: whether a file can be executed, and what of it depends on its place, as far as that
 * shows without executing it.
 */
#ifndef ABBA_PLAN_PROGRAM_H
#define ABBA_PLAN_PROGRAM_H

#include "base/err.h"

#include <stdbool.h>

struct arena;

/*
 * `path` is a regular file with an x bit. Checks that a script's interpreter and an ELF program's
 * dynamic linker are there (execve(2): ENOENT would blame the program), and that the file is one
 * of both, unless the kernel has further formats (binfmt_misc). ERR_CONFIG on a fault; 0 also where
 * the file may be executed but not read.
 */
int program_check(const char *path, struct arena *arena, struct err *err);

/*
 * Whether what it loads depends on where it lies: a script may look beside itself, and an ELF
 * program says if its libraries are looked for there ($ORIGIN). True also where it cannot be read.
 */
bool program_depends_on_place(const char *path);

/* Why a library for this machine's own programs cannot be preloaded to that one. */
struct preload_obstacle {
    const char *reason; /* NULL: nothing stands against it, as far as the file shows */
    bool fatal;         /* the program would not even start with it */
};
struct preload_obstacle program_preload_obstacle(const char *path);

/* Whether the file is an ELF program that asks for a dynamic linker. */
bool program_is_dynamic(const char *path);

#endif
