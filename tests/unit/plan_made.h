/*
 * plan_made: folders with runners, profiles, thresholds and programs for tests of the plan room.
 */
#ifndef ABBA_TESTS_PLAN_MADE_H
#define ABBA_TESTS_PLAN_MADE_H

#include "check.h"

#include "base/mem.h"
#include "plan/plan.h"

/* A folder of its own below /tmp, which becomes the current one, with the files of plan_made.c. */
void made_folder_open(void);

/* Removes the folder. */
void made_folder_close(void);

/* A file in it, folders above it made; single quotes in `text` become double ones. */
void made_file(const char *path, const char *text);

/* A script of that name that may be executed. */
void made_program(const char *path, const char *text);

/* A request with nothing asked. */
struct plan_request made_request(const char *command);

/* The series of runner 'pair' under profile 'pair/a' with two programs. */
struct plan_request made_request_run(struct arena *arena, const char *profile);

/* A plan that must be built. */
void made_plan(struct plan *p, const struct plan_request *q, struct arena *arena);

#endif
