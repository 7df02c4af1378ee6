/*
 * trace: what sch_netem itself did, seen through probes of the kernel's tracefs.
 *
 * One processor, so one stream in order. Needs KPROBE_EVENTS and the module loaded.
 */
#ifndef ABBA_TESTS_NETEM_TRACE_H
#define ABBA_TESTS_NETEM_TRACE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum trace_kind {
    TRACE_ENTER,  /* netem_enqueue is entered: once a packet, once more for its duplicate */
    TRACE_RETURN, /* and left */
    TRACE_NOW,    /* netem_enqueue read the clock: once for every packet that is put in */
    TRACE_LOOK,   /* netem_dequeue read the clock */
    TRACE_LEAVE,  /* netem_dequeue hands out a packet */
    TRACE_KINDS
};

struct trace_event {
    enum trace_kind kind;
    int64_t ns; /* NOW, LOOK: the clock (monotonic); LEAVE: the packet's time_to_send */
};

/* Sets the probes. */
int trace_open(struct err *err);

int trace_start(struct err *err);

/*
 * Stops and reads what was recorded; *events is the caller's, with free(). ERR_MEASURE if the
 * kernel lost an event.
 */
int trace_stop(struct trace_event **events, size_t *count, struct err *err);

#endif
