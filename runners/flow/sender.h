/*
 * sender: offers messages on all streams of one session until the duration or the count is
 * reached, and ends when the receiver has said that it delivered all of them.
 */
#ifndef FLOW_SENDER_H
#define FLOW_SENDER_H

#include "../common/err.h"
#include "options.h"
#include "../common/timing.h"

#include <stdbool.h>
#include <stdint.h>

struct sender_result {
    uint64_t messages, bytes; /* that all streams sent */
    uint64_t datagrams;       /* first transmissions */
    uint64_t retransmissions, timeouts, probes;
    uint64_t receive_calls, send_calls;
    uint32_t slots, flight; /* the window granted, in datagrams a stream */
    bool intact;            /* as the receiver says */
    struct histogram rtt;   /* pingpong: of messages; stream: of datagrams sent once */
};

/* Returns 0 when the receiver has delivered everything, or -1. */
int sender_run(const struct options *o, struct sender_result *r, struct err *e);

#endif
