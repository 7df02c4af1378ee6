/*
 * stats: srt_bstats of the connections, summed.
 */
#ifndef SRT_STATS_H
#define SRT_STATS_H

#include "session.h"

struct stats {
    uint32_t links; /* that were read; srt_bstats fails on a broken connection */
    int64_t sent, received, retransmitted;
    int64_t send_lost, receive_lost;       /* reported lost; found missing */
    int64_t send_dropped, receive_dropped; /* too late */
    int64_t naks_sent, naks_received;
    int64_t belated, undecrypted;
    int64_t filter_extra, filter_rebuilt, filter_lost;
    double rtt_ms; /* sum over the links */
};

/* Adds a link's. Nothing is added where libsrt gives none. */
void stats_add(struct stats *sum, const struct session *s, const struct link *l);

#endif
