#include "judge/notes_network.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/strings.h"
#include "model/network_text.h"

/* One direction over all runs of the stage. */
struct sum {
    const char *link;
    size_t runs;
    uint64_t offered, lost, limit, reordered, duplicated, corrupted;
    int64_t p50_ns, p99_ns, max_ns; /* the largest of the runs' */
};

#define SUMS ARCHIVE_FLOWS

static void keep(struct report_profile *out, const struct judging *j, const struct buf *text)
{
    strings_add(&out->notes, j->arena, arena_strdup(j->arena, text->data));
}

/* ---- what was found beforehand ---- */

static void note_unfit(struct report_profile *out, const struct judging *j)
{
    const char *why = probes_unfit(j->archive->probes, out->profile);

    if (why)
        strings_add(&out->notes, j->arena, arena_printf(j->arena, "not run: %s", why));
}

/* ---- what was asked ---- */

static void note_asked(struct report_profile *out, const struct assessment *x,
                       const struct judging *j, const char *backend)
{
    const struct profile *p = x->decided.stage.profile;
    const struct runner *r = plan_find_runner(j->plan, p->runner);
    bool pair = p->network.topology == NET_PAIR && r && r->role_count == NET_PAIR_ROLES;
    struct buf text = BUF_INIT;

    buf_addstr(&text, "network ");
    network_say(&p->network, pair ? r->roles[0].name : NULL, pair ? r->roles[1].name : NULL, &text);
    if (backend && strcmp(backend, "none") != 0)
        buf_printf(&text, "; back end '%s'", backend);
    keep(out, j, &text);
    buf_clear(&text);
    network_say_effective(p->network.has_impair ? &p->network.impair : NULL, &text);
    for (size_t i = 0; i < p->network.link_count && text.len == 0; i++)
        network_say_effective(&p->network.links[i].impair, &text);
    if (text.len)
        keep(out, j, &text);
    buf_release(&text);
}

/* ---- what happened ---- */

static void add(uint64_t *to, uint64_t count)
{
    if (count == NET_UNKNOWN || *to == NET_UNKNOWN)
        *to = NET_UNKNOWN;
    else
        *to += count;
}

static void largest(int64_t *to, int64_t ns)
{
    if (ns > *to)
        *to = ns;
}

static void add_flow(struct sum *s, const struct net_flow_proof *f)
{
    if (s->runs++ == 0) {
        s->link = f->link;
        s->p50_ns = s->p99_ns = s->max_ns = -1;
    }
    add(&s->offered, f->offered);
    add(&s->lost, f->lost);
    add(&s->limit, f->limit);
    add(&s->reordered, f->reordered);
    add(&s->duplicated, f->duplicated);
    add(&s->corrupted, f->corrupted);
    largest(&s->p50_ns, f->late_p50_ns);
    largest(&s->p99_ns, f->late_p99_ns);
    largest(&s->max_ns, f->late_max_ns);
}

/* Sums over all runs with a proof; returns the back end of the first, or NULL. */
static const char *add_runs(const struct stage *stage, struct sum sums[SUMS])
{
    const char *backend = NULL;

    for (size_t i = 0; i < stage->blocks * stage->variants; i++) {
        struct archive_run run;
        struct net_flow_proof flow;

        if (!stage_run(stage, i / stage->variants, i % stage->variants, &run) || !run.backend)
            continue;
        if (!backend)
            backend = run.backend;
        for (size_t f = 0; f < run.flow_count && f < SUMS; f++) {
            archive_flow(stage->archive, stage->run[i] - 1, f, &flow);
            add_flow(&sums[f], &flow);
        }
    }
    return backend;
}

static void say_count(struct buf *text, const struct sum *s, uint64_t count, const char *what)
{
    if (count == NET_UNKNOWN)
        buf_printf(text, ", %s: not known", what);
    else if (count > 0 && s->offered != NET_UNKNOWN && s->offered > 0)
        buf_printf(text, ", %" PRIu64 " %s (%.3g%%)", count, what,
                   100.0 * (double)count / (double)s->offered);
    else if (count > 0)
        buf_printf(text, ", %" PRIu64 " %s", count, what);
}

/* Programs with namespaces of their own, or that talk by other means, are not measured in it. */
static void note_unused(struct report_profile *out, const struct judging *j,
                        const struct sum sums[SUMS])
{
    uint64_t offered = 0;
    size_t runs = 0;

    for (size_t i = 0; i < SUMS; i++) {
        runs += sums[i].runs;
        add(&offered, sums[i].offered);
    }
    if (runs && offered == 0)
        strings_add(&out->notes, j->arena,
                    "no packet passed the network: the programs do not use it, or are in network "
                    "namespaces of their own");
}

static void note_flow(struct report_profile *out, const struct judging *j, const struct sum *s)
{
    struct buf text = BUF_INIT;

    buf_printf(&text, "network, %s, all runs: ", s->link);
    if (s->offered == NET_UNKNOWN)
        buf_addstr(&text, "packets not counted");
    else
        buf_printf(&text, "%" PRIu64 " packets", s->offered);
    if (s->lost == 0)
        buf_addstr(&text, ", none lost");
    say_count(&text, s, s->lost, s->limit == NET_UNKNOWN ? "lost or over the limit" : "lost");
    if (s->limit != NET_UNKNOWN)
        say_count(&text, s, s->limit, "dropped over the queue's limit");
    say_count(&text, s, s->reordered, "reordered");
    say_count(&text, s, s->duplicated, "duplicated");
    say_count(&text, s, s->corrupted, "corrupted");
    if (s->p99_ns >= 0)
        buf_printf(&text, "; lateness in the worst run: p50 %.3g us, p99 %.3g us, largest %.3g us",
                   (double)s->p50_ns / 1e3, (double)s->p99_ns / 1e3, (double)s->max_ns / 1e3);
    keep(out, j, &text);
    buf_release(&text);
}

/* ---- common random numbers ---- */

static void note_pairing(struct report_profile *out, const struct assessment *x,
                         const struct judging *j)
{
    struct buf text = BUF_INIT;

    for (size_t i = 0; i < out->metric_count; i++) {
        const struct report_metric *m = &out->metrics[i];

        if (!x->decided.gates[i].judged || !isfinite(m->pairing_gain))
            continue;
        buf_printf(&text, "%s%s %.2f", text.len ? ", " : "", m->metric, m->pairing_gain);
        if (j->plan->variant_count > 2)
            buf_printf(&text, " (%s)", m->candidate);
    }
    if (text.len)
        strings_add(&out->notes, j->arena,
                    arena_printf(j->arena,
                                 "both runs of a pair met the same random numbers; variance of the "
                                 "paired change as a share of that of unpaired runs: %s",
                                 text.data));
    buf_release(&text);
}

void notes_network(struct report_profile *out, const struct assessment *x, const struct judging *j)
{
    struct sum sums[SUMS] = {0};
    const char *backend;

    if (x->decided.stage.profile->network.topology == NET_HOST)
        return;
    note_unfit(out, j);
    backend = add_runs(&x->decided.stage, sums);
    note_asked(out, x, j, backend);
    for (size_t i = 0; i < SUMS; i++)
        if (sums[i].runs)
            note_flow(out, j, &sums[i]);
    note_unused(out, j, sums);
    note_pairing(out, x, j);
}
