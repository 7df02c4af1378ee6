/*
 * fault: deliberate faults for tests, applied to what a role receives (drop, duplicate, reorder,
 * damage) or to what a sender fills in (corrupt). Decisions come from a seeded generator.
 */
#ifndef FLOW_FAULT_H
#define FLOW_FAULT_H

#include "../common/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct datagram {
    const uint8_t *data;
    size_t len;
};

struct fault {
    double drop, duplicate, reorder, damage, corrupt; /* percent of datagrams */
    uint64_t seed;
    bool active;
    uint8_t *held; /* a datagram kept back, to come after the next */
    size_t held_len;
    uint8_t *spoilt;
};

enum { FAULT_MOST = 4 }; /* datagrams that one may become */

/* Reads "drop=2%,duplicate=1%,reorder=5%,damage=1%,corrupt=1%,seed=7" (any of them). */
int fault_parse(struct fault *f, const char *text, struct err *e);

/* Takes the memory that the faults need. fault_release gives it back. */
int fault_init(struct fault *f, struct err *e);
void fault_release(struct fault *f);

/* What becomes of a datagram: 0 to FAULT_MOST of them, valid until the next call. */
size_t fault_apply(struct fault *f, struct datagram in, struct datagram out[FAULT_MOST]);

/* Whether the sender shall spoil the payload that it is filling in. */
bool fault_corrupts(struct fault *f);

#endif
