/*
 * out_stream: the sending half of one stream. It keeps every datagram until it was acknowledged
 * and decides which to send next: first those that are lost, then new ones within the window.
 *
 * A datagram is lost when one sent `reorder` transmissions later (3 at first; more after a
 * retransmission proved needless) has been acknowledged, or when the retransmission time-out
 * has passed. There is no congestion control: the offered rate and the window bound the load.
 */
#ifndef FLOW_OUT_STREAM_H
#define FLOW_OUT_STREAM_H

#include "fault.h"
#include "payload.h"
#include "../common/timing.h"
#include "wire.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum slot_state { SLOT_FREE, SLOT_FLYING, SLOT_LOST, SLOT_DONE };

struct slot {
    uint64_t transmission; /* the stream's count of transmissions when it was last sent */
    int64_t sent_ns;
    uint32_t len;
    uint8_t state;
    bool again; /* sent more than once: gives no round-trip sample (Karn) */
};

struct out_stream {
    uint32_t id;
    uint32_t slots; /* how many may be unacknowledged */
    size_t stride;
    struct slot *slot; /* ring by sequence number */
    uint8_t *data;     /* ring of datagrams, stride bytes each */
    uint64_t una;      /* the lowest not acknowledged */
    uint64_t next;     /* the next new one */
    uint64_t limit;    /* the receiver takes those below */
    uint64_t end;      /* where the stream ends; UINT64_MAX while that is open */
    uint64_t transmissions;
    uint64_t newest_acked; /* the highest transmission known to have arrived, plus 1 */
    uint64_t recover;      /* below this, something was retransmitted */
    uint64_t lost_from;    /* no lost datagram is below this */
    uint32_t lost;
    uint32_t reorder;
    uint32_t duplicates; /* as the receiver last said */
    uint64_t retransmissions_judged;
    struct rtt rtt;
    unsigned backoff;
    int64_t timer_ns; /* when the retransmission time-out strikes; 0: not running */
    uint64_t retransmissions, timeouts, probes;
};

/* Takes and touches the memory of `slots` datagrams, so that it is the same in every run; the
 * receiver takes those below `limit`. Returns 0, or -1 without memory. */
int out_stream_init(struct out_stream *s, uint32_t id, uint32_t slots, uint64_t limit,
                    uint32_t fragment);
void out_stream_release(struct out_stream *s);

/* Whether a new datagram may be sent now. */
bool out_stream_open(const struct out_stream *s);

/* Room for the payload of the next new datagram (sequence number s->next). */
uint8_t *out_stream_payload(const struct out_stream *s);

/* Seals and takes the next new datagram of len payload bytes; borrowed until acknowledged. */
struct datagram out_stream_new(struct out_stream *s, uint32_t session, uint32_t len, bool push,
                               int64_t now);

/* The first lost datagram, to be sent again. s->lost must not be 0. */
struct datagram out_stream_again(struct out_stream *s, int64_t now);

/* Takes an acknowledgement in; samples go to rtts, if not NULL. Returns whether it was news. */
bool out_stream_acked(struct out_stream *s, const struct wire_ack *a, int64_t now,
                      struct histogram *rtts);

/* To be called when timer_ns has come: marks what has to be sent again. Returns true if instead
 * the window is closed and the datagram in *probe shall be sent as a probe. */
bool out_stream_timeout(struct out_stream *s, int64_t now, struct datagram *probe);

/* Whether everything up to the end was acknowledged. */
bool out_stream_done(const struct out_stream *s);

#endif
