/* What this machine can run: CPUs, and networks of runs. */
#include "plan/plan_parts.h"

#include "base/buf.h"
#include "base/mem.h"
#include "model/network_text.h"
#include "plan/profiles.h"
#include "plan/support.h"

#include <sched.h>
#include <string.h>

/* ---- CPUs ---- */

int plan_check_cpus(struct plan *p, const struct plan_request *q, struct arena *arena,
                    struct err *err)
{
    cpu_set_t allowed;
    size_t kept = 0;
    const char *missing = NULL;

    if (sched_getaffinity(0, sizeof(allowed), &allowed) < 0)
        return 0;
    for (size_t i = 0; i < p->profile_count; i++) {
        const char *list = profile_missing_cpus(&p->profiles[i], &allowed);

        if (!list) {
            p->profiles[kept++] = p->profiles[i];
            continue;
        }
        missing = list;
        if (q->cpus || q->unsupported_fail)
            break;
        strings_add(&p->notes, arena,
                    arena_printf(arena,
                                 "profile '%s' is left out: not all of its CPUs (%s) may be "
                                 "used here",
                                 p->profiles[i].name, list));
    }
    if (!missing || (kept && !q->cpus && !q->unsupported_fail)) {
        p->profile_count = kept;
        return 0;
    }
    err_set(err, q->cpus ? ERR_USAGE : ERR_CONFIG, "not all of the CPUs '%s' may be used here",
            missing);
    return err_hint(err,
                    q->cpus ? "`taskset -cp $$` shows those that may" : "--cpus LIST takes others");
}

/* ---- networks ---- */

/* tc's words make a loopback network for every profile that has none. */
int plan_apply_impair(struct plan *p, const struct plan_request *q, struct arena *arena,
                      struct err *err)
{
    struct network quick = {.topology = NET_LOOPBACK};

    if (!q->impair)
        return 0;
    network_defaults(&quick);
    if (net_impair_parse_words(&quick.impair, q->impair, arena, err) < 0) {
        err->code = ERR_USAGE;
        return err_wrap(err, "option '--impair'");
    }
    quick.has_impair = net_impair_any(&quick.impair);
    for (size_t i = 0; i < p->profile_count; i++) {
        if (p->profiles[i].network.topology != NET_HOST)
            return err_set(err, ERR_USAGE,
                           "option '--impair': profile '%s' has a network of its own",
                           p->profiles[i].name);
        p->profiles[i].network = quick;
    }
    return 0;
}

static int no_network(const struct profile *one, const char *reason, struct err *err)
{
    return err_set(err, ERR_CONFIG, "profile '%s': its network is not to be had here: %s",
                   one->name, reason);
}

/* What is allowed and seldom meant. */
static void note_impair(struct plan *p, const struct profile *one, const struct net_impair *impair,
                        struct arena *arena)
{
    struct buf text = BUF_INIT;

    network_say_effective(impair, &text);
    if (text.len)
        strings_add(&p->notes, arena,
                    arena_printf(arena, "profile '%s': %s", one->name, text.data));
    if (impair->jitter_ns > impair->delay_ns)
        strings_add(&p->notes, arena,
                    arena_printf(arena,
                                 "profile '%s': the jitter is above the delay: what would leave "
                                 "before it came leaves at once",
                                 one->name));
    buf_release(&text);
}

static void note_network(struct plan *p, const struct profile *one, struct arena *arena)
{
    if (one->network.has_impair)
        note_impair(p, one, &one->network.impair, arena);
    for (size_t i = 0; i < one->network.link_count; i++)
        note_impair(p, one, &one->network.links[i].impair, arena);
}

int plan_check_networks(struct plan *p, const struct plan_request *q, struct arena *arena,
                        struct err *err)
{
    const size_t count = p->profile_count;
    const char **why = arena_array(arena, count, sizeof(*why));
    struct profile *all = arena_array(arena, count, sizeof(*all));
    size_t kept = 0;

    memcpy(all, p->profiles, count * sizeof(*all));
    for (size_t i = 0; i < count; i++) {
        why[i] = NULL;
        if (all[i].network.topology != NET_HOST && q->look_at_network &&
            q->look_at_network(q->user, &all[i], &why[i], &p->isolation, arena, err) < 0)
            return -1;
    }
    for (size_t i = 0; i < count; i++) {
        if (why[i] && (q->impair || q->unsupported_fail || (i + 1 == count && kept == 0)))
            return no_network(&all[i], why[i], err);
        if (why[i]) {
            support_note(p, all, why, count, i, "is left out: its network is not to be had here",
                         "are left out: their networks are not to be had here", arena);
            continue;
        }
        p->profiles[kept++] = all[i];
        note_network(p, &p->profiles[kept - 1], arena);
    }
    p->profile_count = kept;
    return 0;
}
