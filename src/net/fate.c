#include "net/fate_parts.h"

#include <string.h>

#define LIMIT_MIN 1000           /* tc's default */
#define UNKNOWN_PACKETS_S 200000 /* what a queue is made for where no rate is known */

/* ---- set-up ---- */

/* The longest that a packet is meant to stay, in seconds; slots hold packets too. */
static double stay_s(const struct net_impair *impair)
{
    const struct net_slot *slot = &impair->slot;
    double stay_ns = (double)impair->delay_ns + (double)impair->jitter_ns;

    stay_ns += slot->distribution ? (double)slot->delay_ns + (double)slot->jitter_ns
                                  : (double)slot->max_ns;
    return stay_ns / 1e9;
}

uint32_t fate_limit(const struct net_impair *impair, uint64_t rate_bit_s, uint32_t packet_bytes)
{
    double packets_s = UNKNOWN_PACKETS_S;
    double packets;

    if (rate_bit_s)
        packets_s = (double)rate_bit_s / 8.0 / (packet_bytes ? packet_bytes : 1);
    packets = 1.5 * packets_s * stay_s(impair);
    if (packets > INT32_MAX)
        return INT32_MAX;
    return packets > LIMIT_MIN ? (uint32_t)packets : LIMIT_MIN;
}

static int read_tables(struct fate *f, struct arena *arena, struct err *err)
{
    const struct net_impair *impair = f->impair;

    if (impair->distribution && impair->jitter_ns &&
        fate_table_read(&f->delay_table, impair->distribution, arena, err) < 0)
        return -1;
    if (impair->slot.distribution &&
        fate_table_read(&f->slot_table, impair->slot.distribution, arena, err) < 0)
        return -1;
    return 0;
}

static void correlate(struct fate *f, struct fate_correlated *c, const struct net_share *rho)
{
    c->rho = rho->scaled;
    c->last = fate_random_next(&f->aside);
}

static void open_slots(struct fate *f)
{
    const struct net_slot *slot = &f->impair->slot;

    if (!(slot->min_ns | slot->max_ns | slot->jitter_ns))
        return;
    f->slot_next_ns = 1; /* long ago: the first packet opens the first slot */
    f->slot_packets_left = slot->packets ? (int32_t)slot->packets : INT32_MAX;
    f->slot_bytes_left = slot->bytes ? (int32_t)slot->bytes : INT32_MAX;
}

int fate_init(struct fate *f, const struct net_impair *impair, uint64_t seed, uint32_t packet_bytes,
              struct arena *arena, struct err *err)
{
    memset(f, 0, sizeof(*f));
    f->impair = impair;
    if (read_tables(f, arena, err) < 0)
        return -1;
    fate_random_seed(&f->random, seed);
    fate_random_seed(&f->aside, ~seed);
    correlate(f, &f->delay, &impair->delay_correlation);
    correlate(f, &f->loss, &impair->loss.correlation);
    correlate(f, &f->duplicate, &impair->duplicate_correlation);
    correlate(f, &f->corrupt, &impair->corrupt_correlation);
    correlate(f, &f->reorder, &impair->reorder_correlation);
    f->loss_state = 1;
    f->jitter_ns = impair->jitter_ns > INT32_MAX ? INT32_MAX : (uint32_t)impair->jitter_ns;
    f->rate_bytes_s = impair->rate.bit_s / 8;
    f->limit = impair->limit ? impair->limit : fate_limit(impair, impair->rate.bit_s, packet_bytes);
    open_slots(f);
    return 0;
}

/* ---- decisions ---- */

/* A packet on its way through the decisions. */
struct passing {
    struct fate *f;
    int64_t now_ns;
    uint32_t bytes;
    bool ecn_capable;
    struct fate_queue *q;
    struct fate_copy *copies;
    int count;
};

static bool happens(struct fate *f, const struct net_share *share, struct fate_correlated *c)
{
    return share->scaled && share->scaled >= fate_correlated_next(c, &f->random);
}

/* With a rate, the last packet in the queue is the reference: the line is busy until then. */
static int64_t due_ns(struct passing *p)
{
    struct fate *f = p->f;
    int64_t from_ns = p->now_ns;
    int64_t delay_ns =
        fate_spread_ns(f->impair->delay_ns, f->jitter_ns, &f->delay, &f->random, &f->delay_table);

    if (f->rate_bytes_s) {
        if (p->q->length) {
            delay_ns -= p->q->last_due_ns - from_ns;
            delay_ns = delay_ns > 0 ? delay_ns : 0;
            from_ns = p->q->last_due_ns;
        }
        delay_ns = (int64_t)((uint64_t)delay_ns + fate_packet_time_ns(f, p->bytes));
    } else if (f->impair->keep_order && p->q->length && from_ns + delay_ns < p->q->last_due_ns) {
        return p->q->last_due_ns;
    }
    return (int64_t)((uint64_t)from_ns + (uint64_t)delay_ns);
}

static void put(struct passing *p, struct fate_copy *copy)
{
    struct fate *f = p->f;
    uint32_t gap = f->impair->gap;

    if (gap == 0 || f->counter < gap - 1 ||
        f->impair->reorder.scaled < fate_correlated_next(&f->reorder, &f->random)) {
        copy->due_ns = due_ns(p);
        f->counter++;
    } else {
        copy->due_ns = p->now_ns;
        copy->at_head = true;
        f->counter = 0;
    }
    if (p->q->length && (copy->at_head || copy->due_ns < p->q->last_due_ns))
        f->counts.reordered++;
    if (p->q->length == 0 || copy->due_ns > p->q->last_due_ns)
        p->q->last_due_ns = copy->due_ns;
    p->q->length++;
    p->copies[p->count++] = *copy;
}

/*
 * netem_enqueue, for the packet as it came or for the duplicate that it makes on its way. Returns
 * whether the packet's data is marked: a duplicate shares them with an original that was not
 * corrupted (and so copied) before.
 */
static bool pass(struct passing *p, bool is_duplicate, bool marked)
{
    struct fate *f = p->f;
    struct fate_copy copy = {.ecn_mark = marked};
    int count = 1;

    if (!is_duplicate && happens(f, &f->impair->duplicate, &f->duplicate)) {
        count++;
        f->counts.duplicated++;
    }
    if (fate_loss_event(f)) {
        if (f->impair->ecn && p->ecn_capable) {
            copy.ecn_mark = true;
            f->counts.ecn_marked++;
        } else {
            count--;
            f->counts.lost++;
        }
    }
    if (count == 0)
        return false;
    if (happens(f, &f->impair->corrupt, &f->corrupt)) {
        copy.corrupt = true;
        copy.bit = (uint32_t)((uint64_t)fate_random_next(&f->aside) * p->bytes * 8 >> 32);
    }
    if (p->q->length >= f->limit) {
        f->counts.limit += (uint64_t)count;
        return copy.ecn_mark;
    }
    f->counts.corrupted += copy.corrupt;
    if (count > 1 && pass(p, true, copy.ecn_mark) && !copy.corrupt)
        copy.ecn_mark = true;
    put(p, &copy);
    return copy.ecn_mark;
}

int fate_decide(struct fate *f, int64_t now_ns, uint32_t bytes, bool ecn_capable,
                struct fate_queue *q, struct fate_copy copies[FATE_COPIES])
{
    struct passing p = {f, now_ns, bytes, ecn_capable, q, copies, 0};

    f->counts.offered++;
    pass(&p, false, false);
    return p.count;
}
