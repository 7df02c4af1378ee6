/*
 * shape: the two ways in which messages are sent: so many of them with so many under way, as fast
 * as they come through; or pairs that are kept full between two marks of their send buffers.
 */
#ifndef USRSCTP_SHAPE_H
#define USRSCTP_SHAPE_H

#include <stdbool.h>
#include <stdint.h>

#include "options.h"

/* A repeat, or a phase: `bytes` and `messages` are what arrived. */
struct result {
    uint64_t repeat; /* from 1 */
    uint64_t messages, sent, lost, bytes;
    double seconds, cpu_seconds;
};

struct shape_user {
    void *user;
    void (*ready)(void *user);
    void (*lowered)(void *user, uint64_t to, uint64_t from, double projected_s);
    void (*result)(void *user, const struct result *r);
};

/*
 * Runs the shape. *intact: every message was whole, and what delivery promises held. Returns 0, or
 * -1 with the message where it could not be run to its end.
 */
int shape_message(const struct options *o, const struct shape_user *user, bool *intact,
                  struct err *e);
int shape_flow(const struct options *o, const struct shape_user *user, bool *intact, struct err *e);

#endif
