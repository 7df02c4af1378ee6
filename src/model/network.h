/*
 * network: the private network that a profile asks for, and what is asked of its packets.
 *
 * The words and their meaning are netem's (tc-netem(8)). A figure for people is one-way; on a
 * `loopback` network both directions pass the same queue, so a round trip meets it twice. One
 * decoder serves a profile's file and its copy in a plan; everything belongs to the arena.
 */
#ifndef ABBA_MODEL_NETWORK_H
#define ABBA_MODEL_NETWORK_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct fields;
struct json_writer;

enum net_topology {
    NET_HOST,     /* no network of its own: the host's loopback as it is */
    NET_LOOPBACK, /* one private namespace: 127.0.0.1, ::1 and one ordinary address */
    NET_PAIR,     /* one namespace a role, joined by a link */
};

enum net_backend {
    NET_BACKEND_AUTO,   /* kernel where it has sch_netem, else user */
    NET_BACKEND_KERNEL, /* sch_netem, programmed over rtnetlink */
    NET_BACKEND_USER,   /* abba's own shaper, same semantics and random stream */
};

enum loss_model { LOSS_NONE, LOSS_RANDOM, LOSS_STATE, LOSS_GEMODEL };

/*
 * A probability or correlation as netem has it: 0 is never, UINT32_MAX is always.
 * rint(fraction * UINT32_MAX); `text` is as written ("0.1%"), NULL if it was not.
 */
struct net_share {
    uint32_t scaled;
    const char *text;
};

struct net_loss {
    enum loss_model model;
    struct net_share random, correlation;     /* LOSS_RANDOM */
    struct net_share p13, p31, p32, p23, p14; /* LOSS_STATE, order of tc's command line */
    struct net_share p, r, h,
        k; /* LOSS_GEMODEL: h is 1 - "1-h", k is "1-k", as the kernel takes them */
};

struct net_rate {
    uint64_t bit_s;          /* 0: no limit */
    int32_t packet_overhead; /* bytes added to each packet */
    uint32_t cell_bytes;     /* 0: no cells */
    int32_t cell_overhead;   /* bytes added to each cell */
};

struct net_slot {
    int64_t min_ns, max_ns;      /* 0, 0: no slots */
    int64_t delay_ns, jitter_ns; /* with a distribution instead of min and max */
    const char *distribution;
    uint32_t packets, bytes; /* a slot's budget; 0: none */
};

/* What happens to the packets of one direction. */
struct net_impair {
    int64_t delay_ns, jitter_ns;
    struct net_share delay_correlation;
    const char *distribution; /* "normal", "pareto", ...; NULL: uniform */
    bool keep_order;          /* abba's own: jitter never lets a packet pass another */
    struct net_loss loss;
    struct net_share duplicate, duplicate_correlation;
    struct net_share corrupt, corrupt_correlation;
    struct net_share reorder, reorder_correlation;
    uint32_t gap;
    struct net_rate rate;
    struct net_slot slot;
    bool ecn;
    uint32_t limit; /* packets in the queue; 0: computed from rate, delay and jitter */
};

/* An impairment for one direction of a pair: "sender->receiver". */
struct net_link {
    const char *from, *to;
    struct net_impair impair;
};

/* What a run's impairment must keep to, else the run is invalid. */
struct net_bound {
    int64_t lateness_p99_ns; /* of the user back end's packets; default 2 ms */
};

struct network {
    enum net_topology topology;
    enum net_backend backend;
    bool has_impair; /* `impair` holds for every direction without a link of its own */
    struct net_impair impair;
    struct net_link *links; /* pair only */
    size_t link_count;
    struct net_bound bound;
};

/*
 * Decodes the value of a profile's "network" (`at` is that object). ERR_CONFIG for unknown keys,
 * shares over 100 %, negative times, reorder without delay, a link of a role that is not there
 * (checked by the plan, which knows the roles), conflicting loss models.
 */
int network_decode(struct network *n, const struct fields *at, struct arena *arena,
                   struct err *err);

/* Writes it in the same schema, defaults left out, so that equal networks give equal text. */
void network_encode(const struct network *n, struct json_writer *w);

/*
 * tc's netem words, "delay 20ms 5ms 25% distribution normal loss 0.1%": parsed as tc parses them,
 * into an impairment for every direction. ERR_USAGE naming the word and what tc allows there.
 */
int net_impair_parse_words(struct net_impair *impair, const char *words, struct arena *arena,
                           struct err *err);

/* The impairment of the direction, or NULL where packets pass untouched. */
const struct net_impair *network_direction(const struct network *n, const char *from,
                                           const char *to);

/* Whether an impairment does anything at all. */
bool net_impair_any(const struct net_impair *impair);

/*
 * The share of packets that is really lost, 0..1, in the long run: the random model with
 * correlation loses less than asked (see NETEM on crandom); the Markov models from their
 * stationary distribution. `asked` (may be NULL) gets the figure as written.
 */
double net_loss_effective(const struct net_loss *loss, double *asked);

const char *net_topology_name(enum net_topology t);
const char *net_backend_name(enum net_backend b);

#endif
