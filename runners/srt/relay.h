/*
 * relay: stands between one SRT caller and its listener, forwards every datagram as it is, and
 * injects loss reports (NAK) towards the listener, as a hostile receiver would send them. It reads
 * socket ids and the live range of sequence numbers from the packets that pass; a report outside of
 * that range would only make libsrt close the connection.
 */
#ifndef SRT_RELAY_H
#define SRT_RELAY_H

#include "options.h"

#include <stdbool.h>

struct relay_result {
    uint64_t forwarded, naks;
    int64_t flood_ns; /* from the first report to the last */
    bool short_of;    /* fewer than 9 in 10 of what was asked in that time */
};

/* Prints "ready port=N" when it listens, and runs until SIGTERM. */
int relay_run(const struct options *o, struct relay_result *r, struct err *e);

#endif
