/*
 * arrivals: what came of one stream, payload by payload.
 */
#ifndef SRT_ARRIVALS_H
#define SRT_ARRIVALS_H

#include <stdbool.h>
#include <stdint.h>

enum { REMEMBERED = 1024 }; /* sequence numbers below the next one that are known one by one */

struct arrivals {
    uint64_t next;     /* one above the highest sequence number that came */
    uint64_t received; /* payloads, each once */
    uint64_t duplicates, out_of_order;
    uint64_t seen[REMEMBERED / 64]; /* bit n % REMEMBERED: whether payload n came */
    bool ended;
    uint64_t sent; /* payloads that were sent, once `ended` */
};

/* Takes note of payload number `sequence`. False if it had come before. */
bool arrivals_add(struct arrivals *a, uint64_t sequence);

/* Payloads that were sent, or must have been, and did not come. */
uint64_t arrivals_missing(const struct arrivals *a);

#endif
