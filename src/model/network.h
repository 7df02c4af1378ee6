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
 * rint(fraction * UINT32_MAX), as tc does it.
 */
struct net_share {
    uint32_t scaled;
    const char *text; /* the shortest percentage that gives it, "0.1%"; NULL where 0 */
};

/* fraction is 0..1. The text belongs to the arena. */
struct net_share net_share_of(double fraction, struct arena *arena);

#define NET_SHARE_TEXT 16
void net_share_format(uint32_t scaled, char out[NET_SHARE_TEXT]);

struct net_loss {
    enum loss_model model;
    struct net_share random, correlation;     /* LOSS_RANDOM */
    struct net_share p13, p31, p32, p23, p14; /* LOSS_STATE, order of tc's command line */
    struct net_share p, r, h,
        k; /* LOSS_GEMODEL: h is 1 - "1-h", k is "1-k", as the kernel takes them */
};

struct net_rate {
    uint64_t bit_s;          /* 0: no limit; the kernel takes whole bytes/s: bit_s / 8 */
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

/*
 * What happens to the packets of one direction. As the kernel wants it: with `reorder` there is a
 * gap of at least 1, and a gap has a `reorder`; a correlation stands only beside what it
 * correlates. Jitter may be above the delay: what would leave before it came leaves at once.
 */
struct net_impair {
    int64_t delay_ns, jitter_ns;
    struct net_share delay_correlation;
    const char *distribution; /* "normal", "pareto", ...; NULL: uniform */
    bool keep_order; /* abba's own: jitter never lets a packet pass another. What netem does where a
                        rate is set: in the kernel it is a rate too high to be felt. */
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
 * Decodes the value of a profile's "network" (`at` is that object):
 *     { "topology": "loopback", "backend": "auto", "bound": {"lateness_p99": "2ms"},
 *       "impair": { "delay": "20ms", "jitter": "5ms", "loss": "0.1%", ... } }
 * A pair may say more for one direction, inside "impair": "sender->receiver": { ... }, which then
 * holds alone there. ERR_CONFIG for unknown keys, shares over 100 %, negative times, reorder
 * without delay, conflicting loss models. Whether the roles of a link exist is checked by the plan,
 * which knows them; whether a distribution's table does, by the back end.
 */
int network_decode(struct network *n, const struct fields *at, struct arena *arena,
                   struct err *err);

/* What holds where a file does not say: the bounds. */
void network_defaults(struct network *n);

/* Writes it in the same schema, defaults left out, so that equal networks give equal text. */
void network_encode(const struct network *n, struct json_writer *w);

/*
 * tc's netem words, "delay 20ms 5ms 25% distribution normal loss 0.1%", parsed as tc parses them
 * (iproute2's tc/q_netem.c: abbreviations, synonyms, units of bare numbers, defaults), into an
 * impairment for every direction. ERR_USAGE naming the word and what tc allows there. Differences:
 * times keep their nanoseconds where tc cuts to whole microseconds; `limit` is computed where it is
 * not given; a correlation of duplicates counts even where tc forgets to send it; "50Mbit/s" is a
 * rate too; what could only be a mistake (limit 0, a rate below 8 bit/s, `seed`) is refused.
 */
int net_impair_parse_words(struct net_impair *impair, const char *words, struct arena *arena,
                           struct err *err);

/* The impairment of the direction, or NULL where packets pass untouched. */
const struct net_impair *network_direction(const struct network *n, const char *from,
                                           const char *to);

/* Whether an impairment does anything at all. */
bool net_impair_any(const struct net_impair *impair);

/*
 * The share of packets that is really lost, 0..1, in the long run. Random loss with correlation
 * loses far less than asked: netem's correlated numbers are an average, so they gather around the
 * middle and seldom fall below a small share (their distribution is computed here, to about 1e-6).
 * The Markov models lose what their stationary distribution says. `asked` (may be NULL) gets the
 * figure as written: the random model's share, for the others the result.
 */
double net_loss_effective(const struct net_loss *loss, double *asked);

/* Address of each role of a pair, in the runner's order. */
#define NET_PAIR_ROLES 2
#define NET_PAIR_ADDRESS_1 "10.213.0.1"
#define NET_PAIR_ADDRESS_2 "10.213.0.2"

/* Under which address the role of that index is reached by the others. */
const char *network_role_address(enum net_topology topology, size_t role);

const char *net_topology_name(enum net_topology t);
const char *net_backend_name(enum net_backend b);

/* The one of that name; AUTO for any other name, as "none" of a sample. */
enum net_backend net_backend_of(const char *name);

#endif
