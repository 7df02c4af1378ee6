/*
 * machine: looks at where abba runs: kernel, CPUs, settings that disturb measurements.
 */
#ifndef ABBA_RUN_MACHINE_H
#define ABBA_RUN_MACHINE_H

#include "model/machine.h"

/*
 * Fills in everything but isolation and counters, which a run host knows. `root` is "" for the
 * real /proc and /sys; tests give a folder that holds a copy. Everything belongs to the arena.
 */
void machine_look(struct machine *m, const char *root, bool identify, struct arena *arena);

#endif
