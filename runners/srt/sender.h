/*
 * sender: offers payloads on every stream for a while, then says how many there were (FIN) until
 * the receiver has confirmed it on each.
 */
#ifndef SRT_SENDER_H
#define SRT_SENDER_H

#include "session.h"
#include "stats.h"

struct sender_result {
    uint64_t payloads, bytes;
    uint64_t ticks, full_ticks; /* ticks in which a stream's pending payloads were at the limit */
    int64_t offered_ns;         /* how long payloads were offered */
    struct stats stats;
    /* The stream that may fail, as long as it was there. */
    struct stats watched;
    int64_t watched_ns;
    bool watched_lost;
};

/* Runs on connected links. -1 if a connection is lost or the receiver does not confirm. */
int sender_run(struct session *s, struct sender_result *r, struct err *e);

#endif
