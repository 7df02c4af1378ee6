/*
 * receiver: takes what comes on every stream, checks each payload, and confirms the end of each.
 */
#ifndef SRT_RECEIVER_H
#define SRT_RECEIVER_H

#include "session.h"
#include "stats.h"

struct receiver_result {
    uint64_t payloads, bytes; /* that arrived intact, each once */
    uint64_t corrupt, duplicates, out_of_order, missing;
    uint64_t late;       /* delivered more than 100 ms after the latency was over */
    int64_t transit_ns;  /* sum over all payloads: from offered to delivered */
    int64_t delivery_ns; /* from the first payload to the last */
    uint32_t ended;      /* streams whose end was seen, with as many payloads as it said */
    struct stats stats;  /* read at the end of each stream */
};

/* Runs on connected links. -1 if a connection is lost or silent, or a payload has another size. */
int receiver_run(struct session *s, struct receiver_result *r, struct err *e);

/*
 * Whether everything is there: all streams ended, nothing corrupt or twice, nothing missing that
 * was not asked to be dropped when late.
 */
bool receiver_intact(const struct options *o, const struct receiver_result *r);

#endif
