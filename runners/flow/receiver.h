/*
 * receiver: takes one session from one sender, then ends.
 */
#ifndef FLOW_RECEIVER_H
#define FLOW_RECEIVER_H

#include "../common/err.h"
#include "netstat.h"
#include "options.h"

#include <stdbool.h>
#include <stdint.h>

struct receiver_result {
    uint64_t message_size;    /* bytes, as the sender announced it */
    uint64_t messages, bytes; /* delivered: in order and consumed */
    int64_t delivery_ns;      /* from the first payload received to the last consumed */
    uint64_t duplicates, out_of_order, damaged, corrupt;
    uint64_t receive_calls, send_calls;
    uint32_t slots, flight; /* the window granted, in datagrams a stream */
    uint64_t granted;       /* socket buffer as the kernel counts it */
    uint32_t drops;         /* by this socket, for lack of room */
    struct netstat errors;  /* difference over the session, whole namespace */
};

/* `ready` is called with the port once the socket is bound. Returns 0 when everything that the
 * sender sent was delivered, with corrupt telling whether it was intact; -1 with what had been
 * delivered until then. */
int receiver_run(const struct options *o, void (*ready)(uint16_t port), struct receiver_result *r,
                 struct err *e);

#endif
