/*
 * cost: what this program itself costs beside the library: its pacing, and making and checking a
 * payload.
 */
#ifndef SRT_COST_H
#define SRT_COST_H

#include "options.h"

struct cost {
    uint64_t ticks;
    double pacing_s, pacing_cpu_s; /* time that a sender's loop ran, and CPU time that it took */
    double bare_cpu_s;        /* CPU time of as many sleeps of 1 ms with nothing between them */
    double make_ns, check_ns; /* a payload: with its checksum; checksum and sequence checked */
};

void cost_measure(const struct options *o, struct cost *c);

#endif
