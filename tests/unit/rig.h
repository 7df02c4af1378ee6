/*
 * rig: runs programs through the run room, for tests.
 */
#ifndef ABBA_TESTS_RIG_H
#define ABBA_TESTS_RIG_H

#include <sys/types.h>

#include "base/mem.h"
#include "run/run.h"

struct rig {
    struct run_host *host;
    struct arena arena;
    struct run_options options;
    uint64_t timeout_ns; /* of every run: 20 s */
    enum run_look look;  /* in every run: not at all */
};

/* Opens a host for up to `roles` roles; fails the test if it cannot. */
void rig_open(struct rig *r, enum isolation isolation, bool users, size_t roles);
void rig_close(struct rig *r);

/* build/cost/NAME, in the arena. */
const char *rig_program(struct rig *r, const char *name);

/* A role that runs a program of tests/cost (a name) or any other (a path), with a NULL-terminated
 * list of arguments. The rest of it is plain, and may be changed. */
struct run_role rig_role(struct rig *r, const char *role, const char *program, ...)
    __attribute__((sentinel));

/* Runs and returns the outcome; fails the test if abba itself could not go on. */
const struct outcome *rig_run(struct rig *r, const struct run_role *roles, size_t count);

/* One role, one program. */
#define rig_run_one(r, ...)                                                                        \
    rig_run((r), (struct run_role[]){rig_role((r), "program", __VA_ARGS__, NULL)}, 1)

/* The number behind "KEY=" in what a role wrote to standard output; fails the test if absent. */
double rig_number(const struct role_outcome *o, const char *key);

/* Whether standard output has this text. */
bool rig_says(const struct role_outcome *o, const char *text);

/* Running processes called `name` that this test process started (zombies left out). */
int rig_count_processes(const char *name);

/* Running processes of a zygote that abba process `owner` has started. */
int rig_count_zygotes(pid_t owner);

#endif
