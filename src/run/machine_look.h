/*
 * machine_look: what the parts of machine.c share.
 */
#ifndef ABBA_RUN_MACHINE_LOOK_H
#define ABBA_RUN_MACHINE_LOOK_H

#include "base/mem.h"
#include "run/machine.h"

#define SETTINGS_MAX 64

/* A look at the machine below `root`. */
struct look {
    struct machine *m;
    const char *root;
    struct arena *arena;
};

/* A small file's text in the arena, or NULL. */
const char *look_read(const struct look *l, const char *path);

/* Adds a setting; NULL: this machine does not say. Both are borrowed. */
void look_set(const struct look *l, const char *name, const char *value);

/* What the kernel does about each flaw of the processor. */
void look_at_mitigations(const struct look *l);

/* What abba's cgroup, or one above it, may use; and whether this is a container. */
void look_at_limits(const struct look *l);

/* The variables that can change how programs run. */
void look_at_environment(const struct look *l);

#endif
