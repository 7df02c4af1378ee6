/*
 * cpus: sets of CPUs, as people write them ("0-3,8") and as the kernel takes them (bits).
 */
#ifndef ABBA_RUN_CPUS_H
#define ABBA_RUN_CPUS_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/wire.h"

struct cpus {
    uint64_t bits[WIRE_CPU_BYTES / 8];
    size_t bytes; /* of `bits` that are used: a multiple of 8; 0: no set was given */
};

/* Reads the list form. ERR_CONFIG if it is none, is empty, or names a CPU beyond 8191. */
int cpus_parse(struct cpus *set, const char *list, struct err *err);

/* Writes the list form of a mask. A list that does not fit ends in ",...". */
void cpus_format(const uint64_t *bits, size_t bytes, char *out, size_t size);

#endif
