#include "model/sample_net.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/json_writer.h"
#include "base/mem.h"
#include "model/plan.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))
#define FLOW(member) offsetof(struct net_flow_proof, member)
#define COUNTER(member) offsetof(struct net_counters, member)

/* A count that may be unknown, by its key. */
struct count_member {
    const char *key;
    size_t offset;
};

static const struct count_member flow_counts[] = {
    {"offered", FLOW(offered)},
    {"delivered", FLOW(delivered)},
    {"lost", FLOW(lost)},
    {"limit", FLOW(limit)},
    {"duplicated", FLOW(duplicated)},
    {"corrupted", FLOW(corrupted)},
    {"reordered", FLOW(reordered)},
    {"ecn_marked", FLOW(ecn_marked)},
    {"queued", FLOW(queued)},
    {"high_water", FLOW(high_water)},
    {"unplanned", FLOW(unplanned)},
};
static const struct count_member namespace_counts[] = {
    {"udp_in_errors", COUNTER(udp_in_errors)},
    {"udp_rcvbuf_errors", COUNTER(udp_rcvbuf_errors)},
    {"udp_sndbuf_errors", COUNTER(udp_sndbuf_errors)},
    {"udp_csum_errors", COUNTER(udp_csum_errors)},
    {"tcp_retransmits", COUNTER(tcp_retransmits)},
};

/* ---- writing ---- */

static void put_count(struct json_writer *w, const char *key, uint64_t count)
{
    jw_key(w, key);
    if (count == NET_UNKNOWN)
        jw_null(w);
    else
        jw_uint(w, count);
}

static void put_counts(struct json_writer *w, const struct count_member *members, size_t count,
                       const void *from)
{
    for (size_t i = 0; i < count; i++)
        put_count(w, members[i].key, *(const uint64_t *)((const char *)from + members[i].offset));
}

static void put_ns(struct json_writer *w, const char *key, int64_t ns)
{
    put_count(w, key, ns < 0 ? NET_UNKNOWN : (uint64_t)ns);
}

static void put_flow(struct json_writer *w, const struct net_flow_proof *f)
{
    char seed[24];

    jw_object_begin(w);
    jw_key(w, "link"), jw_string(w, f->link);
    snprintf(seed, sizeof(seed), "%" PRIu64, f->seed);
    jw_key(w, "seed"), jw_string(w, seed);
    jw_key(w, "seeded"), jw_bool(w, f->seeded);
    put_counts(w, flow_counts, COUNT(flow_counts), f);
    put_ns(w, "late_p50_ns", f->late_p50_ns);
    put_ns(w, "late_p99_ns", f->late_p99_ns);
    put_ns(w, "late_max_ns", f->late_max_ns);
    if (f->has_loss_interval) {
        put_count(w, "lost_low", f->lost_low);
        put_count(w, "lost_high", f->lost_high);
    }
    jw_object_end(w);
}

static void put_namespace(struct json_writer *w, const struct net_counters *c)
{
    jw_object_begin(w);
    jw_key(w, "role"), jw_string(w, c->role);
    put_counts(w, namespace_counts, COUNT(namespace_counts), c);
    jw_object_end(w);
}

void sample_net_put(struct json_writer *w, const struct net_proof *net)
{
    if (!net->backend)
        return;
    jw_key(w, "net");
    jw_object_begin(w);
    jw_key(w, "backend"), jw_string(w, net->backend);
    jw_key(w, "failed"), jw_string(w, net->failed);
    jw_key(w, "shaper_cpu"), jw_double(w, net->shaper_cpu_s);
    jw_key(w, "flows");
    jw_array_begin(w);
    for (size_t i = 0; i < net->flow_count; i++)
        put_flow(w, &net->flows[i]);
    jw_array_end(w);
    jw_key(w, "counters");
    jw_array_begin(w);
    for (size_t i = 0; i < net->counter_count; i++)
        put_namespace(w, &net->counters[i]);
    jw_array_end(w);
    jw_object_end(w);
}

/* ---- reading ---- */

static int read_count(struct line *d, uint64_t *out)
{
    *out = NET_UNKNOWN;
    return jc_null(&d->c) ? 0 : line_uint(d, 0, UINT64_MAX - 1, out);
}

static int read_ns(struct line *d, int64_t *out)
{
    uint64_t ns = 0;

    *out = -1;
    if (jc_null(&d->c))
        return 0;
    if (line_uint(d, 0, INT64_MAX, &ns) < 0)
        return -1;
    *out = (int64_t)ns;
    return 0;
}

static int read_seed(struct line *d, uint64_t *out)
{
    const char *text;

    if (line_text(d, NULL, &text) < 0)
        return -1;
    return plan_parse_seed(text, out) ? 0 : line_fault(d, "not a seed");
}

enum flow_key {
    FLOW_OFFERED, /* as flow_counts has them, up to */
    FLOW_UNPLANNED = COUNT(flow_counts) - 1,
    FLOW_LINK,
    FLOW_SEED,
    FLOW_SEEDED,
    FLOW_P50,
    FLOW_P99,
    FLOW_MAX,
    FLOW_LOW,
    FLOW_HIGH,
};
static const char *const flow_keys[] = {
    "offered",     "delivered",   "lost",       "limit",     "duplicated",
    "corrupted",   "reordered",   "ecn_marked", "queued",    "high_water",
    "unplanned",   "link",        "seed",       "seeded",    "late_p50_ns",
    "late_p99_ns", "late_max_ns", "lost_low",   "lost_high",
};
static const struct line_shape flow_shape = {flow_keys, COUNT(flow_keys), (1u << FLOW_LOW) - 1};

struct flow_draft {
    struct net_flow_proof *flow;
    const char *like_link;
};

static int read_flow_member(struct line *d, size_t key, void *into)
{
    struct flow_draft *draft = into;
    struct net_flow_proof *f = draft->flow;

    if (key <= FLOW_UNPLANNED)
        return read_count(d, (uint64_t *)((char *)f + flow_counts[key].offset));
    switch ((enum flow_key)key) {
    case FLOW_LINK:
        return line_text(d, draft->like_link, &f->link);
    case FLOW_SEED:
        return read_seed(d, &f->seed);
    case FLOW_SEEDED:
        return line_bool(d, &f->seeded);
    case FLOW_P50:
        return read_ns(d, &f->late_p50_ns);
    case FLOW_P99:
        return read_ns(d, &f->late_p99_ns);
    case FLOW_MAX:
        return read_ns(d, &f->late_max_ns);
    case FLOW_LOW:
        f->has_loss_interval = true;
        return read_count(d, &f->lost_low);
    case FLOW_HIGH:
        f->has_loss_interval = true;
        return read_count(d, &f->lost_high);
    default:
        return -1;
    }
}

static int read_flows(struct line *d, const struct net_proof *like, struct net_proof *net)
{
    size_t room = 0;

    if (!jc_enter_array(&d->c))
        return line_wrong_kind(d, "an array");
    while (jc_next_item(&d->c)) {
        net->flows = line_grow(d->arena, net->flows, net->flow_count, &room, sizeof *net->flows);
        net->flows[net->flow_count] = (struct net_flow_proof){0};
        struct flow_draft draft = {.flow = &net->flows[net->flow_count]};
        if (like && net->flow_count < like->flow_count)
            draft.like_link = like->flows[net->flow_count].link;
        if (line_object(d, &flow_shape, read_flow_member, &draft) < 0)
            return -1;
        net->flow_count++;
    }
    return 0;
}

static const char *const namespace_keys[] = {"udp_in_errors",     "udp_rcvbuf_errors",
                                             "udp_sndbuf_errors", "udp_csum_errors",
                                             "tcp_retransmits",   "role"};
static const struct line_shape namespace_shape = {namespace_keys, COUNT(namespace_keys), 0x3f};

static int read_namespace_member(struct line *d, size_t key, void *into)
{
    struct net_counters *c = into;

    if (key < COUNT(namespace_counts))
        return read_count(d, (uint64_t *)((char *)c + namespace_counts[key].offset));
    return line_text_or_null(d, NULL, &c->role);
}

static int read_namespaces(struct line *d, struct net_proof *net)
{
    size_t room = 0;

    if (!jc_enter_array(&d->c))
        return line_wrong_kind(d, "an array");
    while (jc_next_item(&d->c)) {
        net->counters =
            line_grow(d->arena, net->counters, net->counter_count, &room, sizeof *net->counters);
        net->counters[net->counter_count] = (struct net_counters){0};
        if (line_object(d, &namespace_shape, read_namespace_member,
                        &net->counters[net->counter_count]) < 0)
            return -1;
        net->counter_count++;
    }
    return 0;
}

enum net_key { NET_BACKEND, NET_FAILED, NET_CPU, NET_FLOWS, NET_COUNTERS };
static const char *const net_keys[] = {"backend", "failed", "shaper_cpu", "flows", "counters"};
static const struct line_shape net_shape = {net_keys, COUNT(net_keys), 0x1f};

struct net_draft {
    struct net_proof *net;
    const struct net_proof *like;
};

static int read_net_member(struct line *d, size_t key, void *into)
{
    struct net_draft *draft = into;

    switch ((enum net_key)key) {
    case NET_BACKEND:
        return line_text(d, draft->like ? draft->like->backend : NULL, &draft->net->backend);
    case NET_FAILED:
        return line_text_or_null(d, NULL, &draft->net->failed);
    case NET_CPU:
        return line_not_negative(d, &draft->net->shaper_cpu_s);
    case NET_FLOWS:
        return read_flows(d, draft->like, draft->net);
    case NET_COUNTERS:
        return read_namespaces(d, draft->net);
    }
    return -1;
}

int sample_net_read(struct line *d, const struct net_proof *like, struct net_proof *net)
{
    struct net_draft draft = {net, like};

    *net = (struct net_proof){0};
    return line_object(d, &net_shape, read_net_member, &draft);
}
