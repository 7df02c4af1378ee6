/*
 * events: names of performance counters, by libpfm4.
 *
 * That a name can be encoded proves nothing about this machine: the generic names always can.
 */
#ifndef ABBA_RUN_EVENTS_H
#define ABBA_RUN_EVENTS_H

#include <stddef.h>

#include "base/err.h"
#include "base/wire.h"

/*
 * Encodes a name for perf_event_open(2): type, config and the modes it counts in (user and kernel,
 * unless the name says otherwise). Everything else of the attr is zero. ERR_CONFIG if libpfm4 does
 * not know it.
 */
int event_encode(const char *name, unsigned char attr[WIRE_ATTR_BYTES], struct err *err);

/* Calls `each` for every name that libpfm4 offers on this machine, with its description. */
void event_list(void (*each)(void *user, const char *name, const char *description), void *user);

#endif
