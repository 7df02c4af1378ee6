#include "model/network_parts.h"

#include "model/decode.h"
#include "base/units.h"

#include <stdlib.h>
#include <string.h>

#define LATENESS_NS 2000000

static const char *const network_keys[] = {"topology", "backend", "impair", "bound", NULL};
static const char *const topologies[] = {"loopback", "pair", NULL};
static const char *const backends[] = {"auto", "kernel", "user", NULL};
static const char *const bound_keys[] = {"lateness_p99", NULL};
static const char *const impair_keys[] = {"delay",
                                          "jitter",
                                          "delay_correlation",
                                          "distribution",
                                          "keep_order",
                                          "loss",
                                          "duplicate",
                                          "duplicate_correlation",
                                          "corrupt",
                                          "corrupt_correlation",
                                          "reorder",
                                          "reorder_correlation",
                                          "gap",
                                          "rate",
                                          "slot",
                                          "ecn",
                                          "limit",
                                          NULL};
static const char *const loss_keys[] = {"random", "correlation", "state", "gemodel", NULL};
static const char *const state_keys[] = {"p13", "p31", "p32", "p23", "p14", NULL};
static const char *const gemodel_keys[] = {"p", "r", "1-h", "1-k", NULL};
static const char *const rate_keys[] = {"rate", "packet_overhead", "cell_size", "cell_overhead",
                                        NULL};
static const char *const slot_keys[] = {"min",    "max",     "distribution", "delay",
                                        "jitter", "packets", "bytes",        NULL};

/* ---- parts ---- */

static int share(const struct fields *f, const char *key, enum fields_need need,
                 struct arena *arena, struct net_share *out, struct err *err)
{
    double fraction = 0;
    struct fields at;

    if (fields_percent(f, key, need, &fraction, err) < 0 ||
        fields_child(f, key, need, &at, err) < 0)
        return -1;
    if (!at.value)
        return 0;
    if (fraction > 1)
        return fields_error(&at, err, "'%s' is over 100%%", json_string(at.value));
    *out = net_share_of(fraction, arena);
    return 0;
}

/* `of` and its correlation, which alone would do nothing. */
static int correlated(const struct fields *f, const char *key, const char *correlation_key,
                      struct arena *arena, struct net_share *of, struct net_share *correlation,
                      struct err *err)
{
    struct fields at;

    if (share(f, key, FIELDS_OPTIONAL, arena, of, err) < 0 ||
        share(f, correlation_key, FIELDS_OPTIONAL, arena, correlation, err) < 0 ||
        fields_child(f, correlation_key, FIELDS_OPTIONAL, &at, err) < 0)
        return -1;
    if (at.value && of->scaled == 0)
        return fields_error(&at, err, "a correlation needs '%s' beside it", key);
    return 0;
}

static int distribution(const struct fields *f, enum fields_need need, struct arena *arena,
                        const char **out, struct err *err)
{
    struct fields at;

    if (decode_text(f, "distribution", need, arena, out, err) < 0 ||
        fields_child(f, "distribution", need, &at, err) < 0)
        return -1;
    if (at.value && !decode_is_name(*out))
        return fields_error(&at, err,
                            "'%s' cannot name a distribution (uniform, normal, pareto, "
                            "paretonormal, or NAME of a file NAME.dist of tc's)",
                            *out);
    return 0;
}

/* A size that may be negative: "-14B". */
static int overhead(const struct fields *f, const char *key, int32_t *out, struct err *err)
{
    struct fields at;
    const char *text;
    uint64_t bytes;

    if (fields_child(f, key, FIELDS_OPTIONAL, &at, err) < 0)
        return -1;
    if (!at.value)
        return 0;
    if (fields_as_string(&at, &text, err) < 0)
        return -1;
    if (units_parse_size(text + (text[0] == '-'), &bytes, err) < 0)
        return fields_error(&at, err, "'%s' is no size in bytes such as \"14B\" or \"-14B\"", text);
    if (bytes > NET_OVERHEAD_MAX)
        return fields_error(&at, err, "'%s' is over %d bytes", text, NET_OVERHEAD_MAX);
    *out = text[0] == '-' ? -(int32_t)bytes : (int32_t)bytes;
    return 0;
}

static int count(const struct fields *f, const char *key, uint32_t *out, struct err *err)
{
    int64_t value = *out;

    if (fields_int(f, key, FIELDS_OPTIONAL, 1, INT32_MAX, &value, err) < 0)
        return -1;
    *out = (uint32_t)value;
    return 0;
}

static int size(const struct fields *f, const char *key, uint32_t max, uint32_t *out,
                struct err *err)
{
    uint64_t bytes = *out;
    struct fields at;

    if (fields_size_bytes(f, key, FIELDS_OPTIONAL, &bytes, err) < 0 ||
        fields_child(f, key, FIELDS_OPTIONAL, &at, err) < 0)
        return -1;
    if (at.value && (bytes == 0 || bytes > max))
        return fields_error(&at, err, "'%s' is out of range: allowed are 1B to %uB",
                            json_string(at.value), max);
    *out = (uint32_t)bytes;
    return 0;
}

/* ---- loss ---- */

/* Defaults as tc has them: leaving the burst is what does not enter it. */
static int decode_state(const struct fields *f, struct net_loss *loss, struct arena *arena,
                        struct err *err)
{
    double p13 = 0;

    if (fields_as_object(f, err) < 0 || fields_known(f, state_keys, err) < 0 ||
        share(f, "p13", FIELDS_REQUIRED, arena, &loss->p13, err) < 0 ||
        fields_percent(f, "p13", FIELDS_REQUIRED, &p13, err) < 0)
        return -1;
    loss->model = LOSS_STATE;
    loss->p31 = net_share_of(1 - p13, arena);
    loss->p23 = net_share_of(1, arena);
    if (share(f, "p31", FIELDS_OPTIONAL, arena, &loss->p31, err) < 0 ||
        share(f, "p32", FIELDS_OPTIONAL, arena, &loss->p32, err) < 0 ||
        share(f, "p23", FIELDS_OPTIONAL, arena, &loss->p23, err) < 0 ||
        share(f, "p14", FIELDS_OPTIONAL, arena, &loss->p14, err) < 0)
        return -1;
    return 0;
}

static int decode_gemodel(const struct fields *f, struct net_loss *loss, struct arena *arena,
                          struct err *err)
{
    struct net_share not_h = net_share_of(1, arena);
    double p = 0;

    if (fields_as_object(f, err) < 0 || fields_known(f, gemodel_keys, err) < 0 ||
        share(f, "p", FIELDS_REQUIRED, arena, &loss->p, err) < 0 ||
        fields_percent(f, "p", FIELDS_REQUIRED, &p, err) < 0)
        return -1;
    loss->model = LOSS_GEMODEL;
    loss->r = net_share_of(1 - p, arena);
    if (share(f, "r", FIELDS_OPTIONAL, arena, &loss->r, err) < 0 ||
        share(f, "1-h", FIELDS_OPTIONAL, arena, &not_h, err) < 0 ||
        share(f, "1-k", FIELDS_OPTIONAL, arena, &loss->k, err) < 0)
        return -1;
    net_loss_set_h(loss, not_h, arena);
    return 0;
}

static int decode_models(const struct fields *f, struct net_loss *loss, struct arena *arena,
                         struct err *err)
{
    struct fields state, gemodel;
    int models;

    if (fields_as_object(f, err) < 0 || fields_known(f, loss_keys, err) < 0 ||
        fields_child(f, "state", FIELDS_OPTIONAL, &state, err) < 0 ||
        fields_child(f, "gemodel", FIELDS_OPTIONAL, &gemodel, err) < 0)
        return -1;
    models = fields_has(f, "random") + fields_has(f, "state") + fields_has(f, "gemodel");
    if (models != 1)
        return fields_error(f, err, "has %s loss model: one of random, state, gemodel is wanted",
                            models ? "more than one" : "no");
    if (!fields_has(f, "random") && fields_has(f, "correlation"))
        return fields_error(f, err, "only random loss has a 'correlation'");
    if (state.value)
        return decode_state(&state, loss, arena, err);
    if (gemodel.value)
        return decode_gemodel(&gemodel, loss, arena, err);
    loss->model = LOSS_RANDOM;
    return correlated(f, "random", "correlation", arena, &loss->random, &loss->correlation, err);
}

/* "0.1%", or an object with a model. */
static int decode_loss(const struct fields *f, struct net_loss *loss, struct arena *arena,
                       struct err *err)
{
    struct fields at;

    if (fields_child(f, "loss", FIELDS_OPTIONAL, &at, err) < 0)
        return -1;
    if (!at.value)
        return 0;
    if (json_kind(at.value) != JSON_STRING)
        return decode_models(&at, loss, arena, err);
    loss->model = LOSS_RANDOM;
    return share(f, "loss", FIELDS_OPTIONAL, arena, &loss->random, err);
}

/* ---- an impairment ---- */

static int decode_rate(const struct fields *f, struct net_rate *rate, struct err *err)
{
    struct fields at;

    if (fields_child(f, "rate", FIELDS_OPTIONAL, &at, err) < 0)
        return -1;
    if (!at.value)
        return 0;
    if (json_kind(at.value) == JSON_STRING)
        return fields_rate_bps(f, "rate", FIELDS_OPTIONAL, &rate->bit_s, err);
    if (fields_as_object(&at, err) < 0 || fields_known(&at, rate_keys, err) < 0 ||
        fields_rate_bps(&at, "rate", FIELDS_REQUIRED, &rate->bit_s, err) < 0 ||
        overhead(&at, "packet_overhead", &rate->packet_overhead, err) < 0 ||
        size(&at, "cell_size", NET_CELL_MAX, &rate->cell_bytes, err) < 0 ||
        overhead(&at, "cell_overhead", &rate->cell_overhead, err) < 0)
        return -1;
    if (fields_has(&at, "cell_overhead") && rate->cell_bytes == 0)
        return fields_error(&at, err, "'cell_overhead' needs 'cell_size' beside it");
    return 0;
}

static int decode_slot(const struct fields *f, struct net_slot *slot, struct arena *arena,
                       struct err *err)
{
    struct fields at;
    bool spread;

    if (fields_object(f, "slot", FIELDS_OPTIONAL, &at, err) < 0)
        return -1;
    if (!at.value)
        return 0;
    spread = fields_has(&at, "distribution");
    if (fields_known(&at, slot_keys, err) < 0)
        return -1;
    if (spread ? fields_has(&at, "min") || fields_has(&at, "max")
               : fields_has(&at, "delay") || fields_has(&at, "jitter"))
        return fields_error(&at, err,
                            "wants 'min' and 'max', or 'distribution', 'delay' and "
                            "'jitter'");
    if (spread && (distribution(&at, FIELDS_REQUIRED, arena, &slot->distribution, err) < 0 ||
                   fields_time_ns(&at, "delay", FIELDS_REQUIRED, &slot->delay_ns, err) < 0 ||
                   fields_time_ns(&at, "jitter", FIELDS_REQUIRED, &slot->jitter_ns, err) < 0))
        return -1;
    if (!spread && fields_time_ns(&at, "min", FIELDS_REQUIRED, &slot->min_ns, err) < 0)
        return -1;
    slot->max_ns = slot->min_ns;
    if (fields_time_ns(&at, "max", FIELDS_OPTIONAL, &slot->max_ns, err) < 0 ||
        count(&at, "packets", &slot->packets, err) < 0 ||
        size(&at, "bytes", INT32_MAX, &slot->bytes, err) < 0)
        return -1;
    return 0;
}

static int decode_delay(const struct fields *f, struct net_impair *impair, struct arena *arena,
                        struct err *err)
{
    struct fields at;

    if (fields_time_ns(f, "delay", FIELDS_OPTIONAL, &impair->delay_ns, err) < 0 ||
        fields_time_ns(f, "jitter", FIELDS_OPTIONAL, &impair->jitter_ns, err) < 0 ||
        share(f, "delay_correlation", FIELDS_OPTIONAL, arena, &impair->delay_correlation, err) <
            0 ||
        fields_child(f, "delay_correlation", FIELDS_OPTIONAL, &at, err) < 0)
        return -1;
    if (at.value && impair->jitter_ns == 0)
        return fields_error(&at, err, "a correlation needs 'jitter' beside it");
    if (distribution(f, FIELDS_OPTIONAL, arena, &impair->distribution, err) < 0)
        return -1;
    return fields_bool(f, "keep_order", FIELDS_OPTIONAL, &impair->keep_order, err);
}

/* A gap alone reorders every packet that ends one. */
static int decode_order(const struct fields *f, struct net_impair *impair, struct arena *arena,
                        struct err *err)
{
    if (correlated(f, "reorder", "reorder_correlation", arena, &impair->reorder,
                   &impair->reorder_correlation, err) < 0 ||
        count(f, "gap", &impair->gap, err) < 0)
        return -1;
    if (impair->gap && !fields_has(f, "reorder"))
        impair->reorder = net_share_of(1, arena);
    return 0;
}

/* All but the keys that may stand there. */
static int decode_impair(const struct fields *f, struct net_impair *impair, struct arena *arena,
                         struct err *err)
{
    const char *why, *key;

    if (decode_delay(f, impair, arena, err) < 0 || decode_loss(f, &impair->loss, arena, err) < 0 ||
        correlated(f, "duplicate", "duplicate_correlation", arena, &impair->duplicate,
                   &impair->duplicate_correlation, err) < 0 ||
        correlated(f, "corrupt", "corrupt_correlation", arena, &impair->corrupt,
                   &impair->corrupt_correlation, err) < 0 ||
        decode_order(f, impair, arena, err) < 0 || decode_rate(f, &impair->rate, err) < 0 ||
        decode_slot(f, &impair->slot, arena, err) < 0 ||
        fields_bool(f, "ecn", FIELDS_OPTIONAL, &impair->ecn, err) < 0 ||
        count(f, "limit", &impair->limit, err) < 0)
        return -1;
    why = net_impair_settle(impair, &key);
    return why ? fields_error(f, err, "'%s': %s", key, why) : 0;
}

/* ---- directions ---- */

/* "from->to", or NULL for a key of the impairment itself. */
static const char *arrow(const char *key)
{
    return strstr(key, "->");
}

static int decode_link(const struct fields *item, struct net_link *link, struct arena *arena,
                       struct err *err)
{
    const char *at = arrow(item->key);

    link->from = arena_strndup(arena, item->key, (size_t)(at - item->key));
    link->to = arena_strdup(arena, at + 2);
    if (!decode_is_name(link->from) || !decode_is_name(link->to))
        return fields_error(item, err, "'%s' is no direction such as \"sender->receiver\"",
                            item->key);
    if (strcmp(link->from, link->to) == 0)
        return fields_error(item, err, "a direction has two different roles");
    if (fields_as_object(item, err) < 0 || fields_known(item, impair_keys, err) < 0)
        return -1;
    return decode_impair(item, &link->impair, arena, err);
}

/* Keys of the impairment; with directions among them, those too. */
static int check_keys(const struct fields *f, const struct network *n, size_t members,
                      struct arena *arena, struct err *err)
{
    const char **known = arena_array(arena, members + sizeof(impair_keys), sizeof(*known));
    struct fields item = {0};
    size_t at = 0;

    for (size_t i = 0; impair_keys[i]; i++)
        known[at++] = impair_keys[i];
    while (fields_next(f, &item)) {
        if (!arrow(item.key))
            continue;
        if (n->topology != NET_PAIR)
            return fields_error(&item, err, "directions are for the topology 'pair'");
        known[at++] = item.key;
    }
    return fields_known(f, known, err);
}

static int decode_impairs(const struct fields *f, struct network *n, struct arena *arena,
                          struct err *err)
{
    struct fields item = {0};
    size_t members;

    n->links = decode_room(f, arena, sizeof(*n->links), &members);
    if (check_keys(f, n, members, arena, err) < 0)
        return -1;
    while (fields_next(f, &item))
        if (arrow(item.key) && decode_link(&item, &n->links[n->link_count++], arena, err) < 0)
            return -1;
    if (decode_impair(f, &n->impair, arena, err) < 0)
        return -1;
    n->has_impair = net_impair_any(&n->impair);
    return 0;
}

static int by_direction(const void *a, const void *b)
{
    const struct net_link *x = a, *y = b;
    int order = strcmp(x->from, y->from);

    return order ? order : strcmp(x->to, y->to);
}

void network_defaults(struct network *n)
{
    n->bound.lateness_p99_ns = LATENESS_NS;
}

int network_decode(struct network *n, const struct fields *f, struct arena *arena, struct err *err)
{
    struct fields impair, bound;
    int topology = 0, backend = 0;

    *n = (struct network){0};
    network_defaults(n);
    if (fields_as_object(f, err) < 0 || fields_known(f, network_keys, err) < 0 ||
        fields_choice(f, "topology", FIELDS_OPTIONAL, topologies, &topology, err) < 0 ||
        fields_choice(f, "backend", FIELDS_OPTIONAL, backends, &backend, err) < 0 ||
        fields_object(f, "bound", FIELDS_OPTIONAL, &bound, err) < 0 ||
        fields_object(f, "impair", FIELDS_OPTIONAL, &impair, err) < 0)
        return -1;
    n->topology = topology == 0 ? NET_LOOPBACK : NET_PAIR;
    n->backend = (enum net_backend)backend;
    if (bound.value && (fields_known(&bound, bound_keys, err) < 0 ||
                        decode_time(&bound, "lateness_p99", FIELDS_OPTIONAL, 1000, 1000000000,
                                    &n->bound.lateness_p99_ns, err) < 0))
        return -1;
    if (impair.value && decode_impairs(&impair, n, arena, err) < 0)
        return -1;
    if (n->link_count)
        qsort(n->links, n->link_count, sizeof(*n->links), by_direction);
    return 0;
}
