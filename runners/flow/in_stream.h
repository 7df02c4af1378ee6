/*
 * in_stream: the receiving half of one stream: puts datagrams in order, checks every byte as
 * they are consumed, and says what to acknowledge. Memory is a ring of fixed size; what does not
 * fit is never promised to the sender.
 */
#ifndef FLOW_IN_STREAM_H
#define FLOW_IN_STREAM_H

#include "payload.h"
#include "wire.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct in_stream {
    uint32_t id;
    uint32_t slots;
    uint32_t ack_every; /* acknowledge so many datagrams at once */
    struct cut cut;
    uint32_t *len;     /* ring by sequence number: payload length, 0 where nothing is */
    uint8_t *data;     /* ring of payloads, cut.fragment bytes each */
    uint64_t received; /* everything below was received */
    uint64_t highest;  /* one past the highest received */
    uint64_t consumed; /* everything below was consumed */
    uint64_t promised; /* the limit last told to the sender */
    uint32_t unacknowledged;
    bool due;                 /* acknowledge as soon as what is there has been read */
    int64_t due_ns;           /* else acknowledge at this time; 0: nothing to say */
    uint64_t messages, bytes; /* consumed */
    uint64_t duplicates, out_of_order, beyond, corrupt;
};

enum { ACK_DELAY_NS = 1000000, ACK_EVERY_MOST = 32 };

/* Takes and touches the memory of `slots` datagrams, of which the sender leaves at most `flight`
 * unacknowledged. Returns 0, or -1 without memory. */
int in_stream_init(struct in_stream *s, uint32_t id, uint32_t slots, uint32_t flight,
                   const struct cut *cut);
void in_stream_release(struct in_stream *s);

/* A datagram has come. eager: nothing limits the consumer, so what is in order is consumed from
 * where it lies. */
void in_stream_accept(struct in_stream *s, const struct wire_packet *p, bool eager, int64_t now);

/* Consumes what is in order, up to *budget bytes, which shrinks by what was consumed. */
void in_stream_consume(struct in_stream *s, uint64_t *budget);

/* Whether an acknowledgement shall be sent now. */
bool in_stream_due(const struct in_stream *s, int64_t now);

/* Fills in the acknowledgement; the stream counts it as sent. */
void in_stream_acknowledge(struct in_stream *s, struct wire_ack *a);

#endif
