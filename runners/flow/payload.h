/*
 * payload: the bytes of a fragment, a function of stream and sequence number alone, so that the
 * receiver can compare every byte without having been told. Also how a message is cut.
 */
#ifndef FLOW_PAYLOAD_H
#define FLOW_PAYLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How each message is cut: `fragments` pieces of `fragment` bytes, the last maybe shorter. */
struct cut {
    uint64_t message;   /* bytes in a message */
    uint32_t fragment;  /* bytes in a full piece */
    uint32_t fragments; /* pieces a message */
};

/* Cuts messages into pieces of at most max_payload bytes that differ by as little as can be. */
struct cut cut_make(uint64_t message, uint32_t max_payload);

/* The length of the datagram payload number seq of a stream. */
uint32_t cut_length(const struct cut *c, uint64_t seq);

/* Whether datagram seq ends its message. */
bool cut_ends_message(const struct cut *c, uint64_t seq);

void payload_fill(uint8_t *out, size_t len, uint32_t stream, uint64_t seq);

/* Whether all len bytes are what payload_fill makes. */
bool payload_matches(const uint8_t *data, size_t len, uint32_t stream, uint64_t seq);

#endif
