/*
 * packs: what pack, unpack and prune share.
 */
#ifndef ABBA_CLI_PACKS_H
#define ABBA_CLI_PACKS_H

#include "archive/pack.h"

#include <signal.h>

struct arena;
struct buf;

/* A path without the slashes at its end. */
const char *packs_trim(const char *path, struct arena *arena);

/* What became of a pack, for people. */
void packs_say(struct buf *out, const char *name, const struct pack_result *r);

/* "1.02MB" */
void packs_say_bytes(struct buf *out, uint64_t bytes);

/* 64 hex digits, "sha256:" in front or not, in lower case. ERR_USAGE names the option. */
int packs_digest(const char *text, struct arena *arena, const char **out, struct err *err);

/* SIGINT, SIGTERM and SIGHUP set a flag from now on, so that nothing half is left. */
int packs_hold_signals(struct err *err);
const volatile sig_atomic_t *packs_stop(void);

/* As before; a signal that came is raised again when all is closed. */
void packs_release_signals(void);

#endif
