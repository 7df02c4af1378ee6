/*
 * probes: what a probe of each profile's network found before the profile's first run; probes.json
 * of an archive. A profile whose probe says why it is unfit was not run.
 */
#ifndef ABBA_MODEL_PROBES_H
#define ABBA_MODEL_PROBES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct arena;
struct buf;
struct json;

/* Round trips and losses against the model; what the user back end passes here, what is offered. */
struct net_probe {
    const char *profile; /* NULL: of none that has a name */
    const char *backend; /* "kernel", "user", "none" */
    int sent, received;
    double rtt_min_s, rtt_p50_s, rtt_p99_s; /* NaN: none came back */
    double expected_rtt_s;
    double loss, expected_loss;  /* fractions */
    uint64_t capacity_packets_s; /* of the user back end on this machine; 0: kernel back end */
    uint64_t offered_packets_s;  /* by the profile's load; 0: not known */
    bool agrees;                 /* with the model */
    const char *reason;          /* why the profile is unfit; NULL: it is fit */
};

struct probes {
    struct net_probe *items;
    size_t count;
};

/* Appends the whole document. */
void probes_encode(const struct probes *p, struct buf *out);

/* Reads it back, strictly; `items` has room for one more. Everything belongs to the arena.
 * ERR_CONFIG on a fault. */
int probes_decode(struct probes *p, const struct json *root, const char *file, struct arena *arena,
                  struct err *err);

/* Why the profile was not run, or NULL. `p` may be NULL. The last probe counts. */
const char *probes_unfit(const struct probes *p, const char *profile);

#endif
