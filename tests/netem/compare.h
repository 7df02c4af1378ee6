/*
 * compare: fate's decisions for a stream of packets against what the kernel's netem did with them.
 */
#ifndef ABBA_TESTS_NETEM_COMPARE_H
#define ABBA_TESTS_NETEM_COMPARE_H

#include "trace.h"
#include "traffic.h"

#include "net/fate.h"

struct compare {
    /* in */
    const struct trace_event *events;
    size_t event_count;
    const struct traffic_arrival *arrivals;
    size_t arrival_count;
    uint32_t settle; /* packets at the beginning whose decisions hang on unseeded entropy */
    /* out: mismatches */
    uint32_t copies; /* packets of which another number of copies was put in */
    uint32_t order;  /* places in the order of arrival with another packet */
    uint32_t due;    /* packets whose due time is not the model's, to the nanosecond */
    uint32_t
        corrupt;   /* flipped where it was not to be, or not one bit, or not where it was to be */
    uint32_t mark; /* congestion marks likewise */
    uint32_t release; /* looks at the first packet: it left too early, or did not leave when due */
    /* out: figures */
    uint32_t offered, delivered, unsettled; /* unsettled: mismatches within the first `settle` */
    int64_t late_max_ns;                    /* of a packet, after its due time */
};

/* Walks the events with `f`, which was set up as the kernel's netem was. */
int compare_run(struct compare *c, struct fate *f, struct err *err);

#endif
