#include "model/network_parts.h"

#include "base/mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- shares ---- */

static uint32_t scale(double fraction)
{
    return (uint32_t)rint(fraction * UINT32_MAX);
}

/* 8 decimals of a percentage tell 2^32 shares apart; mostly fewer do. */
void net_share_format(uint32_t scaled, char out[NET_SHARE_TEXT])
{
    double percent = (double)scaled * 100 / UINT32_MAX;

    for (int decimals = 0; decimals <= 9; decimals++) {
        snprintf(out, NET_SHARE_TEXT, "%.*f%%", decimals, percent);
        if (scale(strtod(out, NULL) / 100) == scaled)
            return;
    }
}

struct net_share net_share_of(double fraction, struct arena *arena)
{
    struct net_share share = {scale(fraction), NULL};
    char text[NET_SHARE_TEXT];

    if (share.scaled) {
        net_share_format(share.scaled, text);
        share.text = arena_strdup(arena, text);
    }
    return share;
}

void net_loss_set_h(struct net_loss *loss, struct net_share not_h, struct arena *arena)
{
    char text[NET_SHARE_TEXT];

    loss->h = (struct net_share){UINT32_MAX - not_h.scaled, NULL};
    if (loss->h.scaled) {
        net_share_format(loss->h.scaled, text);
        loss->h.text = arena_strdup(arena, text);
    }
}

/* ---- sense ---- */

static const char *check_order(const struct net_impair *impair, const char **key)
{
    *key = impair->reorder.scaled ? "reorder" : "gap";
    if ((impair->reorder.scaled || impair->gap) && impair->delay_ns == 0)
        return "reordering needs a delay: the other packets must wait for one to pass them";
    if (impair->gap && impair->reorder.scaled == 0)
        return "a gap needs a share of packets to reorder";
    return NULL;
}

static const char *check_times(const struct net_impair *impair, const char **key)
{
    *key = "delay";
    if (impair->delay_ns > NET_DELAY_MAX_NS)
        return "a delay is at most 1h";
    *key = "jitter";
    if (impair->jitter_ns > NET_JITTER_MAX_NS)
        return "jitter is at most 2147483647ns, the kernel's limit";
    *key = "distribution";
    if (impair->distribution && (impair->delay_ns == 0 || impair->jitter_ns == 0))
        return "a distribution needs a delay and a jitter";
    return NULL;
}

static const char *check_slot(const struct net_slot *slot, const char **key)
{
    *key = "slot";
    if (slot->max_ns < slot->min_ns)
        return "a slot's longest wait is below its shortest";
    if (slot->max_ns > NET_DELAY_MAX_NS || slot->delay_ns > NET_DELAY_MAX_NS)
        return "a slot's wait is at most 1h";
    if (slot->jitter_ns > NET_JITTER_MAX_NS)
        return "a slot's jitter is at most 2147483647ns, the kernel's limit";
    if (slot->distribution && slot->jitter_ns == 0)
        return "a slot's distribution needs a jitter";
    if (slot->packets > INT32_MAX || slot->bytes > INT32_MAX)
        return "a slot's budget is at most 2147483647";
    return NULL;
}

static const char *check_rate(const struct net_rate *rate, const char **key)
{
    *key = "rate";
    if (rate->bit_s && rate->bit_s < NET_RATE_MIN_BIT_S)
        return "a rate is at least 8bit/s";
    if (rate->packet_overhead < NET_OVERHEAD_MIN || rate->packet_overhead > NET_OVERHEAD_MAX)
        return "a packet's overhead is -42 to 65535 bytes";
    if (rate->cell_bytes > NET_CELL_MAX)
        return "a cell has at most 65535 bytes";
    if (rate->cell_overhead > NET_OVERHEAD_MAX ||
        (rate->cell_bytes && rate->cell_overhead <= -(int64_t)rate->cell_bytes))
        return "a cell's overhead is at most 65535 bytes, and leaves something of the cell";
    return NULL;
}

static void drop_correlation(const struct net_share *of, struct net_share *correlation)
{
    if (of->scaled == 0)
        *correlation = (struct net_share){0, NULL};
}

/* What has no effect is left out, so that equal networks are equal. */
static void leave_out(struct net_impair *impair)
{
    if (impair->jitter_ns == 0)
        impair->delay_correlation = (struct net_share){0, NULL};
    if (impair->distribution && strcmp(impair->distribution, "uniform") == 0)
        impair->distribution = NULL;
    if (impair->loss.model == LOSS_RANDOM && impair->loss.random.scaled == 0)
        memset(&impair->loss, 0, sizeof(impair->loss));
    drop_correlation(&impair->duplicate, &impair->duplicate_correlation);
    drop_correlation(&impair->corrupt, &impair->corrupt_correlation);
    drop_correlation(&impair->reorder, &impair->reorder_correlation);
    if (impair->rate.bit_s == 0)
        memset(&impair->rate, 0, sizeof(impair->rate));
    if (impair->rate.cell_bytes == 0)
        impair->rate.cell_overhead = 0;
    if (impair->slot.max_ns == 0 && impair->slot.jitter_ns == 0)
        memset(&impair->slot, 0, sizeof(impair->slot));
}

const char *net_impair_settle(struct net_impair *impair, const char **key)
{
    const char *why;

    if ((why = check_times(impair, key)) || (why = check_order(impair, key)) ||
        (why = check_slot(&impair->slot, key)) || (why = check_rate(&impair->rate, key)))
        return why;
    if (impair->reorder.scaled && impair->gap == 0)
        impair->gap = 1;
    leave_out(impair);
    *key = "ecn";
    if (impair->ecn && impair->loss.model == LOSS_NONE)
        return "ecn marks packets instead of losing them: it needs a loss";
    return NULL;
}

/* ---- questions ---- */

const struct net_impair *network_direction(const struct network *n, const char *from,
                                           const char *to)
{
    for (size_t i = 0; i < n->link_count; i++)
        if (strcmp(n->links[i].from, from) == 0 && strcmp(n->links[i].to, to) == 0)
            return net_impair_any(&n->links[i].impair) ? &n->links[i].impair : NULL;
    return n->has_impair && net_impair_any(&n->impair) ? &n->impair : NULL;
}

bool net_impair_any(const struct net_impair *impair)
{
    return impair->delay_ns || impair->jitter_ns || impair->loss.model != LOSS_NONE ||
           impair->duplicate.scaled || impair->corrupt.scaled || impair->rate.bit_s ||
           impair->slot.max_ns || impair->slot.jitter_ns || impair->limit;
}

const char *net_topology_name(enum net_topology t)
{
    return t == NET_LOOPBACK ? "loopback" : t == NET_PAIR ? "pair" : "host";
}

const char *net_backend_name(enum net_backend b)
{
    return b == NET_BACKEND_KERNEL ? "kernel" : b == NET_BACKEND_USER ? "user" : "auto";
}

enum net_backend net_backend_of(const char *name)
{
    if (strcmp(name, "kernel") == 0)
        return NET_BACKEND_KERNEL;
    return strcmp(name, "user") == 0 ? NET_BACKEND_USER : NET_BACKEND_AUTO;
}

const char *network_role_address(enum net_topology topology, size_t role)
{
    static const char *const pair[NET_PAIR_ROLES] = {NET_PAIR_ADDRESS_1, NET_PAIR_ADDRESS_2};

    return topology == NET_PAIR && role < NET_PAIR_ROLES ? pair[role] : "127.0.0.1";
}
