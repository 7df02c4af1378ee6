/*
 * hide: keeps secrets that this series knows out of what its programs print, and names out of what
 * it tells of the machine.
 */
#ifndef ABBA_SERIES_HIDE_H
#define ABBA_SERIES_HIDE_H

#include "archive/writer.h"
#include "model/plan.h"

/*
 * The secrets in the plan's arguments and settings, and the values of variables of this process'
 * environment whose names say so, are replaced wherever they stand in outputs and messages.
 */
void hide_secrets(struct archive_writer *w, const struct plan *plan);

/* The machine's environment without names of this host and user. */
void hide_host(struct machine *m, struct arena *arena);

#endif
