#include "judge/collect.h"

#include <string.h>

#include "base/mem.h"
#include "base/strings.h"

/* ---- runs ---- */

static size_t variant_index(const struct plan *p, const char *name)
{
    for (size_t i = 0; i < p->variant_count; i++) {
        if (strings_same(p->variants[i].name, name))
            return i;
    }
    return p->variant_count;
}

/* Block of a sample; s->blocks if it does not belong to the stage. */
static size_t block_of(const struct stage *s, const struct sample *sample)
{
    uint64_t before = 0;

    if (sample->stage != s->which || !strings_same(sample->profile, s->profile->name))
        return s->blocks;
    if (s->which == STAGE_CONFIRM)
        before = (uint64_t)plan_pairs(s->plan, s->profile);
    if (sample->pair <= before || sample->pair - before > s->blocks)
        return s->blocks;
    return (size_t)(sample->pair - before - 1);
}

/* Attempts are made of whole blocks: the last one that was begun is the one that counts. */
static void place_runs(struct stage *s, const struct archive *a, struct arena *arena)
{
    uint32_t *attempt = arena_array(arena, s->blocks, sizeof(*attempt));

    for (size_t i = 0; i < a->sample_count; i++) {
        const struct sample *sample = &a->samples[i];
        size_t block = block_of(s, sample), variant = variant_index(s->plan, sample->variant);

        if (block == s->blocks || variant == s->variants || sample->attempt < attempt[block])
            continue;
        if (sample->attempt > attempt[block]) {
            for (size_t v = 0; v < s->variants; v++)
                s->run[block * s->variants + v] = NULL;
            attempt[block] = sample->attempt;
        }
        s->run[block * s->variants + variant] = sample;
    }
    for (size_t i = 0; i < s->blocks * s->variants; i++)
        s->present += s->run[i] ? 1 : 0;
    for (size_t b = 0; b < s->blocks; b++)
        s->repeated += attempt[b] > 1 ? 1 : 0;
}

/* ---- names of metrics ---- */

static void add_name(struct stage *s, const char *name, size_t guess, struct arena *arena)
{
    if (guess < s->metric_count && strings_same(s->metrics[guess], name))
        return;
    for (size_t i = 0; i < s->metric_count; i++) {
        if (strings_same(s->metrics[i], name))
            return;
    }
    if (s->metric_count == s->metric_room) {
        size_t room = s->metric_room * 2 + 32;
        const char **more = arena_array(arena, room, sizeof(*more));

        if (s->metric_count)
            memcpy(more, s->metrics, s->metric_count * sizeof(*more));
        s->metrics = more;
        s->metric_room = room;
    }
    s->metrics[s->metric_count++] = name;
}

/* Runs that ended well come first: theirs is the full list, in its order. */
static void name_metrics(struct stage *s, struct arena *arena)
{
    for (int good = 1; good >= 0; good--) {
        for (size_t i = 0; i < s->blocks * s->variants; i++) {
            const struct sample *run = s->run[i];

            if (!run || (run->status == SAMPLE_OK) != (good == 1))
                continue;
            for (size_t m = 0; m < run->metric_count; m++)
                add_name(s, run->metrics[m].name, m, arena);
        }
    }
}

void stage_require(struct stage *s, const char *metric, struct arena *arena)
{
    add_name(s, metric, s->metric_count, arena);
}

void stage_collect(struct stage *s, const struct archive *a, size_t profile,
                   enum sample_stage which, struct arena *arena)
{
    const struct profile *p = &a->plan->profiles[profile];
    int pairs = plan_pairs(a->plan, p), least = plan_min_complete(a->plan, p);
    int blocks = which == STAGE_CONFIRM ? plan_confirm(a->plan, p) : pairs;

    *s = (struct stage){.plan = a->plan, .profile = p, .which = which};
    s->blocks = blocks > 0 ? (size_t)blocks : 0;
    s->variants = a->plan->variant_count;
    /* A confirming stage may lack as many pairs as the main stage may. */
    least = blocks - (pairs - least);
    s->min_complete = least > 1 ? (size_t)least : 1;
    s->run = arena_array(arena, s->blocks * s->variants, sizeof(*s->run));
    place_runs(s, a, arena);
    name_metrics(s, arena);
}

/* ---- pairs ---- */

const struct sample *stage_run(const struct stage *s, size_t block, size_t variant)
{
    return s->run[block * s->variants + variant];
}

static bool ended_well(const struct sample *run)
{
    return run && run->status == SAMPLE_OK;
}

size_t stage_complete(const struct stage *s, size_t candidate)
{
    size_t complete = 0;

    for (size_t b = 0; b < s->blocks; b++) {
        bool all = ended_well(stage_run(s, b, 0));

        for (size_t v = 1; v < s->variants; v++) {
            if (candidate == 0 || v == candidate)
                all = all && ended_well(stage_run(s, b, v));
        }
        complete += all ? 1 : 0;
    }
    return complete;
}

static bool above(const struct value *v, double limit)
{
    return value_usable(v) && v->number > limit;
}

bool stage_block_noisy(const struct stage *s, size_t block)
{
    for (size_t v = 0; v < s->variants; v++) {
        const struct sample *run = stage_run(s, block, v);

        if (run && (above(&run->noise.psi_cpu, s->profile->noise_psi) ||
                    above(&run->noise.others, s->profile->noise_others) ||
                    above(&run->noise.steal, s->profile->noise_steal)))
            return true;
    }
    return false;
}

/* ---- columns ---- */

void columns_init(struct columns *c, const struct stage *s, struct arena *arena)
{
    *c = (struct columns){0};
    c->baseline = arena_array(arena, s->blocks, sizeof(*c->baseline));
    c->candidate = arena_array(arena, s->blocks, sizeof(*c->candidate));
    c->reversed = arena_array(arena, s->blocks, sizeof(*c->reversed));
}

/* Runs of a series list their metrics alike: the first guess is nearly always right. */
static const struct sample_metric *find_metric(const struct sample *run, const char *name,
                                               size_t guess)
{
    if (guess < run->metric_count && strings_same(run->metrics[guess].name, name))
        return &run->metrics[guess];
    return sample_find_metric(run, name);
}

static void add_missing(struct columns *c, const struct sample_metric *m, struct arena *arena)
{
    const char *text;

    if (!m)
        text = "missing: the run has no such figure";
    else if (m->value.status == VALUE_SCALED)
        text = arena_printf(arena, "scaled: counted during %.0f %% of the run",
                            100.0 * m->value.coverage);
    else if (m->value.reason)
        text = arena_printf(arena, "%s: %s", value_status_name(m->value.status), m->value.reason);
    else
        text = value_status_name(m->value.status);
    if (!strings_has(&c->missing, text))
        strings_add(&c->missing, arena, text);
}

/* The run's metric if the run ended well and the value may be judged. */
static const struct sample_metric *usable(struct columns *c, const struct sample *run,
                                          const char *name, size_t guess, struct arena *arena)
{
    const struct sample_metric *m;

    if (!ended_well(run))
        return NULL;
    m = find_metric(run, name, guess);
    if (m)
        c->unit = m->unit;
    if (m && value_usable(&m->value))
        return m;
    add_missing(c, m, arena);
    return NULL;
}

void columns_fill(struct columns *c, const struct stage *s, size_t metric, size_t candidate,
                  struct arena *arena)
{
    const char *name = s->metrics[metric];

    c->n = 0;
    c->floor = 0.0;
    c->unit = NULL;
    c->missing = (struct strings){0};
    for (size_t block = 0; block < s->blocks; block++) {
        const struct sample *rb = stage_run(s, block, 0), *rc = stage_run(s, block, candidate);
        const struct sample_metric *b = usable(c, rb, name, metric, arena);
        const struct sample_metric *k = usable(c, rc, name, metric, arena);

        if (!b || !k)
            continue;
        c->baseline[c->n] = b->value.number;
        c->candidate[c->n] = k->value.number;
        c->reversed[c->n++] = rc->slot < rb->slot;
        if (b->floor > c->floor)
            c->floor = b->floor;
        if (k->floor > c->floor)
            c->floor = k->floor;
    }
}
