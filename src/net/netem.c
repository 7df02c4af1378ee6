#include "net/netem.h"

#include "base/mem.h"
#include "net/rtnl.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/netlink.h>
#include <linux/pkt_sched.h>
#include <stdlib.h>
#include <string.h>

#define TICK_SHIFT 6      /* a tick of tc_netem_qopt is 64 ns (PSCHED_SHIFT) */
#define TYPE_MASK 0x3fffu /* NLA_TYPE_MASK, unsigned */
#define ATTR_PRNG_SEED 14 /* TCA_NETEM_PRNG_SEED, since Linux 6.4 */

/* ---- figures ---- */

static void set_loss(struct netem_figures *f, const struct net_loss *loss)
{
    switch (loss->model) {
    case LOSS_STATE:
        f->loss_kind = NETEM_LOSS_GI;
        f->state[0] = loss->p13.scaled;
        f->state[1] = loss->p31.scaled;
        f->state[2] = loss->p32.scaled;
        f->state[3] = loss->p14.scaled;
        f->state[4] = loss->p23.scaled;
        break;
    case LOSS_GEMODEL:
        f->loss_kind = NETEM_LOSS_GE;
        f->state[0] = loss->p.scaled;
        f->state[1] = loss->r.scaled;
        f->state[2] = loss->h.scaled;
        f->state[3] = loss->k.scaled;
        break;
    case LOSS_RANDOM:
        f->loss = loss->random.scaled;
        f->loss_corr = loss->correlation.scaled;
        break;
    default:
        break;
    }
}

static void set_slot(struct netem_figures *f, const struct net_slot *slot)
{
    f->slot_min_ns = slot->min_ns;
    f->slot_max_ns = slot->max_ns;
    f->slot_delay_ns = slot->delay_ns;
    f->slot_jitter_ns = slot->jitter_ns;
    f->slot_packets = (int32_t)slot->packets;
    f->slot_bytes = (int32_t)slot->bytes;
}

void netem_figures_of(struct netem_figures *f, const struct net_impair *impair, uint64_t seed,
                      uint32_t limit)
{
    memset(f, 0, sizeof(*f));
    f->latency_ns = impair->delay_ns;
    f->jitter_ns = impair->jitter_ns > INT_MAX ? INT_MAX : impair->jitter_ns;
    f->limit = limit;
    f->duplicate = impair->duplicate.scaled;
    f->delay_corr = impair->delay_correlation.scaled;
    f->duplicate_corr = impair->duplicate_correlation.scaled;
    f->reorder = impair->reorder.scaled;
    f->reorder_corr = impair->reorder_correlation.scaled;
    f->gap = impair->gap || !impair->reorder.scaled ? impair->gap : 1;
    if (f->gap && !f->reorder)
        f->reorder = UINT32_MAX; /* a gap alone reorders for certain */
    f->corrupt = impair->corrupt.scaled;
    f->corrupt_corr = impair->corrupt_correlation.scaled;
    set_loss(f, &impair->loss);
    f->rate_bytes_s = impair->rate.bit_s / 8;
    f->packet_overhead = impair->rate.packet_overhead;
    f->cell_bytes = impair->rate.cell_bytes;
    f->cell_overhead = impair->rate.cell_overhead;
    f->ecn = impair->ecn;
    set_slot(f, &impair->slot);
    f->has_seed = true;
    f->seed = seed;
}

/* ---- encoding ---- */

struct writer {
    unsigned char *out;
    size_t size, len;
    bool full;
};

static void put_raw(struct writer *w, const void *data, size_t len)
{
    size_t padded = NLMSG_ALIGN(len);

    if (w->full || padded > w->size - w->len) {
        w->full = true;
        return;
    }
    memset(w->out + w->len, 0, padded);
    memcpy(w->out + w->len, data, len);
    w->len += padded;
}

static void put(struct writer *w, unsigned type, const void *data, size_t len)
{
    struct nlattr attr = {.nla_type = (uint16_t)type};

    if (len > UINT16_MAX - sizeof(attr)) {
        w->full = true;
        return;
    }
    attr.nla_len = (uint16_t)(sizeof(attr) + len);
    put_raw(w, &attr, sizeof(attr));
    put_raw(w, data, len);
}

static uint32_t ticks(int64_t ns)
{
    int64_t n = ns >> TICK_SHIFT;

    return n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
}

static void put_loss(struct writer *w, const struct netem_figures *f)
{
    size_t count = f->loss_kind == NETEM_LOSS_GI ? 5 : 4;
    struct {
        struct nlattr head;
        uint32_t state[5];
    } model = {.head = {.nla_len = (uint16_t)(sizeof(struct nlattr) + count * sizeof(uint32_t)),
                        .nla_type = (uint16_t)f->loss_kind}};

    memcpy(model.state, f->state, count * sizeof(uint32_t));
    put(w, TCA_NETEM_LOSS | NLA_F_NESTED, &model, model.head.nla_len);
}

static void put_rate(struct writer *w, const struct netem_figures *f)
{
    struct tc_netem_rate rate = {.packet_overhead = f->packet_overhead,
                                 .cell_size = f->cell_bytes,
                                 .cell_overhead = f->cell_overhead};

    if (f->rate_bytes_s > UINT32_MAX) {
        put(w, TCA_NETEM_RATE64, &f->rate_bytes_s, sizeof(f->rate_bytes_s));
        rate.rate = UINT32_MAX;
    } else {
        rate.rate = (uint32_t)f->rate_bytes_s;
    }
    put(w, TCA_NETEM_RATE, &rate, sizeof(rate));
}

static bool has_slot(const struct netem_figures *f)
{
    return f->slot_min_ns || f->slot_max_ns || f->slot_delay_ns || f->slot_jitter_ns;
}

static void put_slot(struct writer *w, const struct netem_figures *f)
{
    struct tc_netem_slot slot = {.min_delay = f->slot_min_ns,
                                 .max_delay = f->slot_max_ns,
                                 .max_packets = f->slot_packets,
                                 .max_bytes = f->slot_bytes,
                                 .dist_delay = f->slot_delay_ns,
                                 .dist_jitter = f->slot_jitter_ns};

    put(w, TCA_NETEM_SLOT, &slot, sizeof(slot));
}

static void put_shares(struct writer *w, const struct netem_figures *f)
{
    struct tc_netem_corr corr = {f->delay_corr, f->loss_corr, f->duplicate_corr};
    struct tc_netem_reorder reorder = {f->reorder, f->reorder_corr};
    struct tc_netem_corrupt corrupt = {f->corrupt, f->corrupt_corr};

    if (f->delay_corr || f->loss_corr || f->duplicate_corr)
        put(w, TCA_NETEM_CORR, &corr, sizeof(corr));
    if (f->reorder)
        put(w, TCA_NETEM_REORDER, &reorder, sizeof(reorder));
    if (f->corrupt)
        put(w, TCA_NETEM_CORRUPT, &corrupt, sizeof(corrupt));
    if (f->loss_kind)
        put_loss(w, f);
}

size_t netem_encode(const struct netem_figures *f, const struct fate_table *delay,
                    const struct fate_table *slot, unsigned char *out, size_t size)
{
    struct writer w = {.out = out, .size = size};
    struct tc_netem_qopt head = {.latency = ticks(f->latency_ns),
                                 .limit = f->limit,
                                 .loss = f->loss,
                                 .gap = f->gap,
                                 .duplicate = f->duplicate,
                                 .jitter = ticks(f->jitter_ns)};

    put_raw(&w, &head, sizeof(head));
    put_shares(&w, f);
    if (f->rate_bytes_s)
        put_rate(&w, f);
    if (f->ecn)
        put(&w, TCA_NETEM_ECN, &f->ecn, sizeof(f->ecn));
    put(&w, TCA_NETEM_LATENCY64, &f->latency_ns, sizeof(f->latency_ns));
    put(&w, TCA_NETEM_JITTER64, &f->jitter_ns, sizeof(f->jitter_ns));
    if (has_slot(f))
        put_slot(&w, f);
    if (f->has_seed)
        put(&w, ATTR_PRNG_SEED, &f->seed, sizeof(f->seed));
    if (delay->count)
        put(&w, TCA_NETEM_DELAY_DIST, delay->values, delay->count * sizeof(int16_t));
    if (slot->count)
        put(&w, TCA_NETEM_SLOT_DIST, slot->values, slot->count * sizeof(int16_t));
    return w.full ? 0 : w.len;
}

/* ---- decoding ---- */

/* Copies a payload of at least `want` bytes. */
static bool take(void *to, size_t want, const unsigned char *payload, size_t len)
{
    if (len < want)
        return false;
    memcpy(to, payload, want);
    return true;
}

static bool take_loss(struct netem_figures *f, const unsigned char *payload, size_t len)
{
    struct nlattr head;
    size_t count;

    if (!take(&head, sizeof(head), payload, len))
        return false;
    count = head.nla_type == NETEM_LOSS_GI ? 5 : 4;
    f->loss_kind = head.nla_type;
    return (f->loss_kind == NETEM_LOSS_GI || f->loss_kind == NETEM_LOSS_GE) &&
           take(f->state, count * sizeof(uint32_t), payload + sizeof(head), len - sizeof(head));
}

static bool take_rate(struct netem_figures *f, const unsigned char *payload, size_t len)
{
    struct tc_netem_rate rate;

    if (!take(&rate, sizeof(rate), payload, len))
        return false;
    if (rate.rate != UINT32_MAX) /* else RATE64 has it */
        f->rate_bytes_s = rate.rate;
    f->packet_overhead = rate.packet_overhead;
    f->cell_bytes = rate.cell_size;
    f->cell_overhead = rate.cell_overhead;
    return true;
}

static bool take_slot(struct netem_figures *f, const unsigned char *payload, size_t len)
{
    struct tc_netem_slot slot;

    if (!take(&slot, sizeof(slot), payload, len))
        return false;
    f->slot_min_ns = slot.min_delay;
    f->slot_max_ns = slot.max_delay;
    f->slot_delay_ns = slot.dist_delay;
    f->slot_jitter_ns = slot.dist_jitter;
    f->slot_packets = slot.max_packets;
    f->slot_bytes = slot.max_bytes;
    return true;
}

/* The three structs of shares are all u32s that lie one behind the other in the figures. */
static bool take_attr(struct netem_figures *f, unsigned type, const unsigned char *p, size_t len)
{
    switch (type) {
    case TCA_NETEM_CORR:
        return take(&f->delay_corr, 4, p, len) && take(&f->loss_corr, 4, p + 4, len - 4) &&
               take(&f->duplicate_corr, 4, p + 8, len - 8);
    case TCA_NETEM_REORDER:
        return take(&f->reorder, 4, p, len) && take(&f->reorder_corr, 4, p + 4, len - 4);
    case TCA_NETEM_CORRUPT:
        return take(&f->corrupt, 4, p, len) && take(&f->corrupt_corr, 4, p + 4, len - 4);
    case TCA_NETEM_LOSS:
        return take_loss(f, p, len);
    case TCA_NETEM_RATE:
        return take_rate(f, p, len);
    case TCA_NETEM_RATE64:
        return take(&f->rate_bytes_s, sizeof(f->rate_bytes_s), p, len);
    case TCA_NETEM_ECN:
        return take(&f->ecn, sizeof(f->ecn), p, len);
    case TCA_NETEM_LATENCY64:
        return take(&f->latency_ns, sizeof(f->latency_ns), p, len);
    case TCA_NETEM_JITTER64:
        return take(&f->jitter_ns, sizeof(f->jitter_ns), p, len);
    case TCA_NETEM_SLOT:
        return take_slot(f, p, len);
    case ATTR_PRNG_SEED:
        f->has_seed = true;
        return take(&f->seed, sizeof(f->seed), p, len);
    default:
        return true;
    }
}

static bool take_head(struct netem_figures *f, const unsigned char *options, size_t len)
{
    struct tc_netem_qopt head;

    if (!take(&head, sizeof(head), options, len))
        return false;
    f->latency_ns = (int64_t)head.latency << TICK_SHIFT;
    f->jitter_ns = (int64_t)head.jitter << TICK_SHIFT;
    f->limit = head.limit;
    f->loss = head.loss;
    f->gap = head.gap;
    f->duplicate = head.duplicate;
    return true;
}

int netem_decode(struct netem_figures *f, const unsigned char *options, size_t len, struct err *err)
{
    size_t at = sizeof(struct tc_netem_qopt);
    struct nlattr attr;

    memset(f, 0, sizeof(*f));
    if (!take_head(f, options, len))
        return err_set(err, ERR_SYSTEM, "netem's figures are cut short");
    while (at < len && take(&attr, sizeof(attr), options + at, len - at)) {
        if (attr.nla_len < sizeof(attr) || attr.nla_len > len - at ||
            !take_attr(f, attr.nla_type & TYPE_MASK, options + at + sizeof(attr),
                       attr.nla_len - sizeof(attr)))
            return err_set(err, ERR_SYSTEM, "netem's attribute %u is malformed",
                           attr.nla_type & TYPE_MASK);
        at += NLMSG_ALIGN((size_t)attr.nla_len);
    }
    return 0;
}

/* ---- comparing ---- */

int netem_compare(const struct netem_figures *asked, const struct netem_figures *found,
                  struct err *err)
{
#define FIGURE(name)                                                                               \
    {                                                                                              \
#name, (int64_t)asked->name, (int64_t)found->name                                          \
    }
    const struct {
        const char *name;
        int64_t asked, found;
    } figures[] = {
        FIGURE(latency_ns),     FIGURE(jitter_ns),     FIGURE(limit),
        FIGURE(loss),           FIGURE(gap),           FIGURE(duplicate),
        FIGURE(delay_corr),     FIGURE(loss_corr),     FIGURE(duplicate_corr),
        FIGURE(reorder),        FIGURE(reorder_corr),  FIGURE(corrupt),
        FIGURE(corrupt_corr),   FIGURE(loss_kind),     FIGURE(state[0]),
        FIGURE(state[1]),       FIGURE(state[2]),      FIGURE(state[3]),
        FIGURE(state[4]),       FIGURE(rate_bytes_s),  FIGURE(packet_overhead),
        FIGURE(cell_bytes),     FIGURE(cell_overhead), FIGURE(ecn),
        FIGURE(slot_min_ns),    FIGURE(slot_max_ns),   FIGURE(slot_delay_ns),
        FIGURE(slot_jitter_ns), FIGURE(slot_packets),  FIGURE(slot_bytes),
    };
#undef FIGURE

    for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++)
        if (figures[i].asked != figures[i].found)
            return err_set(err, ERR_MEASURE,
                           "the kernel's netem has %s %" PRId64 " where %" PRId64 " was asked",
                           figures[i].name, figures[i].found, figures[i].asked);
    if (asked->has_seed && found->has_seed && asked->seed != found->seed)
        return err_set(err, ERR_MEASURE, "the kernel's netem has another seed than was asked");
    return 0;
}

/* ---- the kernel ---- */

static int read_back(struct rtnl *r, const char *device, const struct netem_figures *asked,
                     bool *seeded, struct err *err)
{
    struct rtnl_qdisc qdisc = {.options = xmalloc(RTNL_OPTIONS_MAX)};
    struct netem_figures found;
    int status = -1;

    if (rtnl_qdisc_get(r, device, &qdisc, err) < 0)
        goto out;
    if (strcmp(qdisc.kind, "netem") != 0) {
        err_set(err, ERR_MEASURE, "device '%s' has discipline '%s' instead of netem", device,
                qdisc.kind);
        goto out;
    }
    if (netem_decode(&found, qdisc.options, qdisc.options_len, err) < 0 ||
        netem_compare(asked, &found, err) < 0)
        goto out;
    *seeded = found.has_seed;
    status = 0;
out:
    free(qdisc.options);
    return status;
}

static int read_tables(const struct net_impair *impair, struct fate_table *delay,
                       struct fate_table *slot, struct arena *arena, struct err *err)
{
    *delay = *slot = (struct fate_table){NULL, 0};
    if (impair->distribution && impair->jitter_ns &&
        fate_table_read(delay, impair->distribution, arena, err) < 0)
        return -1;
    if (impair->slot.distribution &&
        fate_table_read(slot, impair->slot.distribution, arena, err) < 0)
        return -1;
    return 0;
}

static int add(struct rtnl *r, const char *device, const struct netem_figures *asked,
               const struct fate_table *delay, const struct fate_table *slot, struct arena *arena,
               struct err *err)
{
    unsigned char *options = arena_alloc(arena, RTNL_OPTIONS_MAX);
    size_t len = netem_encode(asked, delay, slot, options, RTNL_OPTIONS_MAX);

    if (!len)
        return err_set(err, ERR_CONFIG,
                       "the tables of delay and slots together are too long for "
                       "one message to the kernel");
    if (rtnl_qdisc_add(r, device, "netem", options, len, err) < 0) {
        if (err->sys_errno == ENOENT) {
            err_set(err, ERR_CONFIG, "the kernel has no sch_netem");
            err_hint(err,
                     "load the module sch_netem, or let the profile say \"backend\": \"user\"");
        }
        return -1;
    }
    return 0;
}

int netem_install(struct rtnl *r, const char *device, const struct net_impair *impair,
                  uint64_t seed, uint32_t packet_bytes, bool *seeded, struct err *err)
{
    struct arena arena = ARENA_INIT;
    struct fate_table delay, slot;
    struct netem_figures asked;
    int status = -1;

    netem_figures_of(&asked, impair, seed,
                     impair->limit ? impair->limit
                                   : fate_limit(impair, impair->rate.bit_s, packet_bytes));
    if (impair->keep_order)
        err_set(err, ERR_CONFIG,
                "the kernel's netem does not keep the order of packets with jitter: "
                "\"keep_order\" needs \"backend\": \"user\"");
    else if (read_tables(impair, &delay, &slot, &arena, err) == 0 &&
             add(r, device, &asked, &delay, &slot, &arena, err) == 0)
        status = read_back(r, device, &asked, seeded, err);
    arena_release(&arena);
    return status;
}

bool netem_there(struct rtnl *r, const char *device)
{
    struct tc_netem_qopt head = {.limit = 1000};
    struct err err;

    return rtnl_qdisc_add(r, device, "netem", &head, sizeof(head), &err) == 0;
}

static uint64_t unknown_if(bool asked)
{
    return asked ? NET_UNKNOWN : 0;
}

int netem_read(struct rtnl *r, const char *device, const struct net_impair *impair,
               struct net_flow_proof *out, struct err *err)
{
    struct rtnl_qdisc qdisc = {.options = xmalloc(RTNL_OPTIONS_MAX)};
    int status = rtnl_qdisc_get(r, device, &qdisc, err);

    free(qdisc.options);
    if (status < 0)
        return -1;
    if (!qdisc.has_basic || !qdisc.has_queue)
        return err_set(err, ERR_MEASURE, "the kernel gives no statistics of netem on '%s'", device);
    out->delivered = qdisc.packets;
    out->lost = qdisc.drops;
    out->queued = qdisc.queued;
    out->offered =
        impair->duplicate.scaled ? NET_UNKNOWN : out->delivered + out->lost + out->queued;
    out->limit = NET_UNKNOWN;
    out->high_water = NET_UNKNOWN;
    out->duplicated = unknown_if(impair->duplicate.scaled);
    out->corrupted = unknown_if(impair->corrupt.scaled);
    out->reordered = unknown_if(impair->reorder.scaled || impair->gap || impair->jitter_ns);
    out->ecn_marked = unknown_if(impair->ecn);
    out->late_p50_ns = out->late_p99_ns = out->late_max_ns = -1;
    return 0;
}
