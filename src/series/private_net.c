#include "series/private_net.h"

#include "base/mem.h"
#include "series/seed.h"

#include <inttypes.h>

#define PROBE_PACKETS 200
#define PROBES 3          /* so many may be disturbed by something else */
#define PACKET_BYTES 1472 /* of UDP payload in an MTU of 1500 */

static void set_seed(struct net_request *q, size_t i, uint64_t series_seed,
                     const struct profile *profile, uint64_t pair, const char *link)
{
    q->seeds[i] = seed_of_pair(series_seed, profile->name, pair, link);
}

void private_net_request(struct net_request *q, uint64_t series_seed, const struct profile *profile,
                         const struct runner *runner, uint64_t pair, int user_ns,
                         struct arena *arena)
{
    const char **roles = arena_array(arena, runner->role_count, sizeof(*roles));

    for (size_t i = 0; i < runner->role_count; i++)
        roles[i] = runner->roles[i].name;
    *q = (struct net_request){.network = &profile->network,
                              .roles = roles,
                              .role_count = runner->role_count,
                              .user_ns = user_ns};
    if (profile->network.topology != NET_PAIR) {
        set_seed(q, 0, series_seed, profile, pair, "lo");
        return;
    }
    for (size_t i = 0; i < NET_PAIR_ROLES && i < runner->role_count; i++)
        set_seed(q, i, series_seed, profile, pair,
                 arena_printf(arena, "%s->%s", roles[i], roles[NET_PAIR_ROLES - 1 - i]));
}

/* ---- before a profile's runs ---- */

/* A load parameter's value in its base unit; 0: it has none of that type. */
static uint64_t load_value(const struct profile *profile, const struct runner *runner,
                           const char *name, enum load_type type)
{
    const struct load_param *param = runner_find_load(runner, name);
    const char *text = profile_load(profile, name);
    struct err ignored;
    int64_t value = 0;

    if (!param || param->type != type || !text ||
        load_param_check(param, text, &value, &ignored) < 0)
        return 0;
    return (uint64_t)value;
}

/* How many full packets a second the load offers in its direction; 0: not known. */
static uint64_t offered(const struct profile *profile, const struct runner *runner)
{
    uint64_t bytes = load_value(profile, runner, "payload", LOAD_SIZE);
    uint64_t rate = load_value(profile, runner, "rate", LOAD_RATE);

    if (bytes == 0)
        bytes = load_value(profile, runner, "message", LOAD_SIZE);
    if (bytes == 0 || bytes > PACKET_BYTES)
        bytes = PACKET_BYTES;
    return rate / 8 / bytes;
}

/* Whether the shaper is known, or has just been found, to pass less than the load offers. */
static bool too_much(const struct net_probe *probe)
{
    return probe->capacity_packets_s && probe->offered_packets_s > probe->capacity_packets_s;
}

/* Probes until one agrees. */
static int probe_often(struct net_probe *probe, const struct net_request *q, struct arena *arena,
                       struct err *err)
{
    for (int i = 0; i < PROBES; i++) {
        if (network_probe(probe, q, PROBE_PACKETS, arena, err) < 0)
            return -1;
        if (probe->agrees)
            break;
    }
    return 0;
}

int private_net_check(const struct net_request *q, const struct profile *profile,
                      const struct runner *runner, struct net_probe *probe, struct arena *arena,
                      struct err *err)
{
    struct net_request anew = *q;
    uint64_t asked = offered(profile, runner);

    if (probe_often(probe, q, arena, err) < 0)
        return -1;
    probe->offered_packets_s = asked;
    anew.measure_anew = true; /* nobody is turned away by an earlier figure */
    if (probe->agrees && too_much(probe) && probe_often(probe, &anew, arena, err) < 0)
        return -1;
    probe->profile = profile->name;
    probe->offered_packets_s = asked;
    if (!probe->agrees)
        probe->reason = arena_printf(arena, "a probe of its network found that %s", probe->reason);
    else if (too_much(probe))
        probe->reason =
            arena_printf(arena,
                         "it offers %" PRIu64 " packets/s, and the shaper passes %" PRIu64
                         " packets/s on this machine",
                         asked, probe->capacity_packets_s);
    return 0;
}

/* ---- after a run ---- */

/* What is wrong with the roles' part of it, or NULL. */
static const char *leaver(const struct outcome *outcome, struct arena *arena)
{
    for (size_t i = 0; i < outcome->role_count; i++)
        if (outcome->roles[i].left_network)
            return arena_printf(arena,
                                "role '%s' was in a network namespace of its own, not in the run's",
                                outcome->roles[i].name);
    return NULL;
}

/* What is wrong with the network's part of the run, or NULL. */
static const char *fault(struct net *net, enum net_backend *first, const struct outcome *outcome,
                         struct net_proof *proof, struct arena *arena)
{
    const char *left = leaver(outcome, arena);
    enum net_backend backend = network_backend(net);
    struct err err = {0};

    if (network_prove(net, proof, arena, &err) < 0) {
        *proof = (struct net_proof){
            .backend = backend == NET_BACKEND_AUTO ? "none" : net_backend_name(backend),
            .failed = arena_strdup(arena, err.msg)};
        return proof->failed;
    }
    if (*first == NET_BACKEND_AUTO)
        *first = backend;
    if (*first != backend && !proof->failed)
        proof->failed = arena_printf(arena, "the back end was '%s', and '%s' in the runs before",
                                     net_backend_name(backend), net_backend_name(*first));
    if (left)
        proof->failed = left; /* whatever else: it explains more */
    return proof->failed;
}

/* The shaper is no stranger: what it used is not taken for noise. */
static void discount(struct value *others, double cpu_s, double share_s)
{
    if (others->status != VALUE_OK || !(share_s > 0))
        return;
    others->number -= cpu_s / share_s;
    if (others->number < 0)
        others->number = 0;
}

void private_net_prove(struct net *net, enum net_backend *backend, const struct outcome *outcome,
                       double share_s, struct sample *sample, struct arena *arena)
{
    const char *wrong = fault(net, backend, outcome, &sample->net, arena);

    discount(&sample->noise.others, sample->net.shaper_cpu_s, share_s);
    if (!wrong || sample->status != SAMPLE_OK)
        return;
    sample->status = SAMPLE_INVALID;
    sample->error = arena_printf(arena, "network: %s", wrong);
}
