#include "model/network_parts.h"

#include "base/buf.h"
#include "base/json_writer.h"
#include "base/units.h"

#include <stdio.h>

static void text(struct json_writer *w, const char *key, const char *value)
{
    jw_key(w, key);
    jw_string(w, value);
}

static void always_time(struct json_writer *w, const char *key, int64_t ns)
{
    char out[UNITS_TEXT];

    units_canonical_time(ns, out);
    text(w, key, out);
}

static void encode_time(struct json_writer *w, const char *key, int64_t ns)
{
    if (ns)
        always_time(w, key, ns);
}

static void encode_size(struct json_writer *w, const char *key, int64_t bytes)
{
    char out[UNITS_TEXT];

    if (bytes == 0)
        return;
    if (bytes < 0)
        snprintf(out, sizeof(out), "%lldB", (long long)bytes);
    else
        units_canonical_size((uint64_t)bytes, out);
    text(w, key, out);
}

static void always_share(struct json_writer *w, const char *key, uint32_t scaled)
{
    char out[NET_SHARE_TEXT];

    net_share_format(scaled, out);
    text(w, key, out);
}

static void encode_share(struct json_writer *w, const char *key, const struct net_share *share)
{
    if (share->scaled)
        always_share(w, key, share->scaled);
}

static void encode_random(struct json_writer *w, const struct net_loss *loss)
{
    if (loss->correlation.scaled == 0) {
        encode_share(w, "loss", &loss->random);
        return;
    }
    jw_key(w, "loss");
    jw_object_begin(w);
    always_share(w, "random", loss->random.scaled);
    always_share(w, "correlation", loss->correlation.scaled);
    jw_object_end(w);
}

/* The Markov models in full: their defaults depend on each other. */
static void encode_markov(struct json_writer *w, const struct net_loss *loss)
{
    jw_key(w, "loss");
    jw_object_begin(w);
    jw_key(w, loss->model == LOSS_STATE ? "state" : "gemodel");
    jw_object_begin(w);
    if (loss->model == LOSS_STATE) {
        always_share(w, "p13", loss->p13.scaled);
        always_share(w, "p31", loss->p31.scaled);
        always_share(w, "p32", loss->p32.scaled);
        always_share(w, "p23", loss->p23.scaled);
        always_share(w, "p14", loss->p14.scaled);
    } else {
        always_share(w, "p", loss->p.scaled);
        always_share(w, "r", loss->r.scaled);
        always_share(w, "1-h", UINT32_MAX - loss->h.scaled);
        always_share(w, "1-k", loss->k.scaled);
    }
    jw_object_end(w);
    jw_object_end(w);
}

static void encode_rate(struct json_writer *w, const struct net_rate *rate)
{
    char out[UNITS_TEXT];

    if (rate->bit_s == 0)
        return;
    units_canonical_rate(rate->bit_s, out);
    if (rate->packet_overhead == 0 && rate->cell_bytes == 0) {
        text(w, "rate", out);
        return;
    }
    jw_key(w, "rate");
    jw_object_begin(w);
    text(w, "rate", out);
    encode_size(w, "packet_overhead", rate->packet_overhead);
    encode_size(w, "cell_size", rate->cell_bytes);
    encode_size(w, "cell_overhead", rate->cell_overhead);
    jw_object_end(w);
}

static void encode_slot(struct json_writer *w, const struct net_slot *slot)
{
    if (slot->max_ns == 0 && slot->jitter_ns == 0)
        return;
    jw_key(w, "slot");
    jw_object_begin(w);
    if (slot->distribution) {
        text(w, "distribution", slot->distribution);
        always_time(w, "delay", slot->delay_ns);
        always_time(w, "jitter", slot->jitter_ns);
    } else {
        always_time(w, "min", slot->min_ns);
        always_time(w, "max", slot->max_ns);
    }
    if (slot->packets)
        jw_key(w, "packets"), jw_int(w, slot->packets);
    encode_size(w, "bytes", slot->bytes);
    jw_object_end(w);
}

static void encode_members(struct json_writer *w, const struct net_impair *impair)
{
    encode_time(w, "delay", impair->delay_ns);
    encode_time(w, "jitter", impair->jitter_ns);
    encode_share(w, "delay_correlation", &impair->delay_correlation);
    if (impair->distribution)
        text(w, "distribution", impair->distribution);
    if (impair->keep_order)
        jw_key(w, "keep_order"), jw_bool(w, true);
    if (impair->loss.model == LOSS_RANDOM)
        encode_random(w, &impair->loss);
    else if (impair->loss.model != LOSS_NONE)
        encode_markov(w, &impair->loss);
    encode_share(w, "duplicate", &impair->duplicate);
    encode_share(w, "duplicate_correlation", &impair->duplicate_correlation);
    encode_share(w, "corrupt", &impair->corrupt);
    encode_share(w, "corrupt_correlation", &impair->corrupt_correlation);
    encode_share(w, "reorder", &impair->reorder);
    encode_share(w, "reorder_correlation", &impair->reorder_correlation);
    if (impair->gap)
        jw_key(w, "gap"), jw_int(w, impair->gap);
    encode_rate(w, &impair->rate);
    encode_slot(w, &impair->slot);
    if (impair->ecn)
        jw_key(w, "ecn"), jw_bool(w, true);
    if (impair->limit)
        jw_key(w, "limit"), jw_int(w, impair->limit);
}

static void encode_link(struct json_writer *w, const struct net_link *link)
{
    struct buf key = BUF_INIT;

    buf_printf(&key, "%s->%s", link->from, link->to);
    jw_key(w, key.data);
    buf_release(&key);
    jw_object_begin(w);
    encode_members(w, &link->impair);
    jw_object_end(w);
}

void network_encode(const struct network *n, struct json_writer *w)
{
    jw_object_begin(w);
    text(w, "topology", net_topology_name(n->topology));
    text(w, "backend", net_backend_name(n->backend));
    if (n->has_impair || n->link_count) {
        jw_key(w, "impair");
        jw_object_begin(w);
        encode_members(w, &n->impair);
        for (size_t i = 0; i < n->link_count; i++)
            encode_link(w, &n->links[i]);
        jw_object_end(w);
    }
    jw_key(w, "bound");
    jw_object_begin(w);
    encode_time(w, "lateness_p99", n->bound.lateness_p99_ns);
    jw_object_end(w);
    jw_object_end(w);
}
