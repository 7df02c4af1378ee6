/*
 * netem: the kernel back end: an impairment in sch_netem's own words (linux/pkt_sched.h), and back.
 *
 * Encodes what goes inside TCA_OPTIONS, decodes what the kernel shows of it, compares the two. No
 * I/O besides netem_install() and netem_read(), which go through rtnl.
 */
#ifndef ABBA_NET_NETEM_H
#define ABBA_NET_NETEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "model/netproof.h"
#include "model/network.h"
#include "net/fate.h"

struct rtnl;

/* Every figure of a netem discipline, in the kernel's units (times in ns, rates in bytes/s). */
struct netem_figures {
    int64_t latency_ns, jitter_ns;
    uint32_t limit, loss, gap, duplicate;
    uint32_t delay_corr, loss_corr, duplicate_corr;
    uint32_t reorder, reorder_corr, corrupt, corrupt_corr;
    uint32_t loss_kind; /* 0: random; NETEM_LOSS_GI, NETEM_LOSS_GE */
    uint32_t state[5];  /* p13 p31 p32 p14 p23, or p r h k1 */
    uint64_t rate_bytes_s;
    int32_t packet_overhead, cell_overhead;
    uint32_t cell_bytes, ecn;
    int64_t slot_min_ns, slot_max_ns, slot_delay_ns, slot_jitter_ns;
    int32_t slot_packets, slot_bytes;
    bool has_seed;
    uint64_t seed;
};

/* What is asked for; `limit` as fate_limit() computes it where the impairment has none. */
void netem_figures_of(struct netem_figures *f, const struct net_impair *impair, uint64_t seed,
                      uint32_t limit);

/* Writes the attributes; the tables may be empty. Returns the length, or 0 if `size` is too small.
 */
size_t netem_encode(const struct netem_figures *f, const struct fate_table *delay,
                    const struct fate_table *slot, unsigned char *out, size_t size);

/* Reads attributes, as sent or as dumped. ERR_SYSTEM if they are malformed. */
int netem_decode(struct netem_figures *f, const unsigned char *options, size_t len,
                 struct err *err);

/*
 * Whether the kernel has what was asked. ERR_MEASURE naming the first figure that differs. A seed
 * that it does not show (before Linux 6.4 it takes and ignores one) is no difference: see has_seed.
 */
int netem_compare(const struct netem_figures *asked, const struct netem_figures *found,
                  struct err *err);

/*
 * Puts the impairment at the root of the device, reads it back and compares. *seeded: whether the
 * kernel has the seed. ERR_CONFIG if the kernel has no sch_netem.
 */
int netem_install(struct rtnl *r, const char *device, const struct net_impair *impair,
                  uint64_t seed, uint32_t packet_bytes, bool *seeded, struct err *err);

/* What the discipline counted. ERR_MEASURE where a statistic is missing. */
int netem_read(struct rtnl *r, const char *device, const struct net_impair *impair,
               struct net_flow_proof *out, struct err *err);

/* Whether the kernel has sch_netem: tries on the device. */
bool netem_there(struct rtnl *r, const char *device);

#endif
