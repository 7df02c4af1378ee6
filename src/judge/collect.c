#include "judge/collect.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
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
static size_t block_of(const struct stage *s, const struct archive_run *sample)
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
static void place_runs(struct stage *s, const struct archive *a)
{
    uint32_t *attempt = xcalloc(s->blocks + 1, sizeof(*attempt));
    size_t first, end;

    archive_span(a, s->profile->name, &first, &end);
    for (size_t i = first; i < end; i++) {
        const struct archive_run run = archive_run(a, i);
        size_t block = block_of(s, &run), variant = variant_index(s->plan, run.variant);

        if (block == s->blocks || variant == s->variants || run.attempt < attempt[block])
            continue;
        if (run.attempt > attempt[block]) {
            for (size_t v = 0; v < s->variants; v++)
                s->run[block * s->variants + v] = 0;
            attempt[block] = run.attempt;
        }
        s->run[block * s->variants + variant] = (uint32_t)i + 1;
    }
    for (size_t i = 0; i < s->blocks * s->variants; i++)
        s->present += s->run[i] ? 1 : 0;
    for (size_t b = 0; b < s->blocks; b++)
        s->repeated += attempt[b] > 1 ? 1 : 0;
    free(attempt);
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
            struct archive_run run;
            struct sample_metric metric;

            if (!stage_run(s, i / s->variants, i % s->variants, &run) ||
                (run.status == SAMPLE_OK) != (good == 1))
                continue;
            for (size_t m = 0; m < run.metric_count; m++) {
                archive_metric(s->archive, s->run[i] - 1, m, &metric);
                add_name(s, metric.name, m, arena);
            }
        }
    }
}

void stage_require(struct stage *s, const char *metric, struct arena *arena)
{
    add_name(s, metric, s->metric_count, arena);
}

void stage_collect(struct stage *s, const struct archive *a, size_t profile,
                   enum sample_stage which, struct arena *tables, struct arena *arena)
{
    const struct profile *p = &a->plan->profiles[profile];
    int pairs = plan_pairs(a->plan, p), least = plan_min_complete(a->plan, p);
    int blocks = which == STAGE_CONFIRM ? plan_confirm(a->plan, p) : pairs;

    *s = (struct stage){.archive = a, .plan = a->plan, .profile = p, .which = which};
    s->blocks = blocks > 0 ? (size_t)blocks : 0;
    s->variants = a->plan->variant_count;
    /* A confirming stage may lack as many pairs as the main stage may. */
    least = blocks - (pairs - least);
    s->min_complete = least > 1 ? (size_t)least : 1;
    s->run = arena_array(tables, s->blocks * s->variants, sizeof(*s->run));
    place_runs(s, a);
    name_metrics(s, arena);
}

/* ---- pairs ---- */

bool stage_run(const struct stage *s, size_t block, size_t variant, struct archive_run *out)
{
    uint32_t run = s->run[block * s->variants + variant];

    if (run)
        *out = archive_run(s->archive, run - 1);
    return run != 0;
}

bool stage_metric(const struct stage *s, size_t block, size_t variant, const char *name,
                  size_t guess, struct sample_metric *out)
{
    uint32_t run = s->run[block * s->variants + variant];

    return run && archive_find_metric(s->archive, run - 1, name, guess, out);
}

static bool ended_well(const struct stage *s, size_t block, size_t variant)
{
    struct archive_run run;

    return stage_run(s, block, variant, &run) && run.status == SAMPLE_OK;
}

size_t stage_complete(const struct stage *s, size_t candidate)
{
    size_t complete = 0;

    for (size_t b = 0; b < s->blocks; b++) {
        bool all = ended_well(s, b, 0);

        for (size_t v = 1; v < s->variants; v++) {
            if (candidate == 0 || v == candidate)
                all = all && ended_well(s, b, v);
        }
        complete += all ? 1 : 0;
    }
    return complete;
}

bool stage_block_noisy(const struct stage *s, size_t block)
{
    for (size_t v = 0; v < s->variants; v++) {
        struct archive_run run;

        if (stage_run(s, block, v, &run) && run.noisy)
            return true;
    }
    return false;
}

/* ---- columns ---- */

void columns_init(struct columns *c, const struct stage *s)
{
    *c = (struct columns){0};
    c->baseline = xcalloc(s->blocks + 1, sizeof(*c->baseline));
    c->candidate = xcalloc(s->blocks + 1, sizeof(*c->candidate));
    c->reversed = xcalloc(s->blocks + 1, sizeof(*c->reversed));
}

static void add_missing(struct columns *c, const struct sample_metric *m, struct arena *arena)
{
    struct buf text = BUF_INIT;

    if (!m)
        buf_addstr(&text, "missing: the run has no such figure");
    else if (m->value.status == VALUE_SCALED)
        buf_printf(&text, "scaled: counted during %.0f %% of the run", 100.0 * m->value.coverage);
    else if (m->value.reason)
        buf_printf(&text, "%s: %s", value_status_name(m->value.status), m->value.reason);
    else
        buf_addstr(&text, value_status_name(m->value.status));
    if (!strings_has(&c->missing, text.data))
        strings_add(&c->missing, arena, arena_strdup(arena, text.data));
    buf_release(&text);
}

void columns_release(struct columns *c)
{
    free(c->baseline);
    free(c->candidate);
    free(c->reversed);
}

/* The side of a pair. */
struct side {
    struct archive_run run;
    struct sample_metric metric;
};

/* Whether the run ended well and its value may be judged. */
static bool usable(struct columns *c, const struct stage *s, size_t block, size_t variant,
                   size_t metric, struct side *side, struct arena *arena)
{
    bool has;

    if (!stage_run(s, block, variant, &side->run) || side->run.status != SAMPLE_OK)
        return false;
    has = stage_metric(s, block, variant, s->metrics[metric], metric, &side->metric);
    if (has)
        c->unit = side->metric.unit;
    if (has && value_usable(&side->metric.value))
        return true;
    add_missing(c, has ? &side->metric : NULL, arena);
    return false;
}

static void add_pair(struct columns *c, const struct side *b, const struct side *k)
{
    c->baseline[c->n] = b->metric.value.number;
    c->candidate[c->n] = k->metric.value.number;
    c->reversed[c->n++] = k->run.slot < b->run.slot;
    if (b->metric.floor > c->floor)
        c->floor = b->metric.floor;
    if (k->metric.floor > c->floor)
        c->floor = k->metric.floor;
}

void columns_fill(struct columns *c, const struct stage *s, size_t metric, size_t candidate,
                  struct arena *arena)
{
    struct side b, k;

    c->n = 0;
    c->floor = 0.0;
    c->unit = NULL;
    c->missing = (struct strings){0};
    for (size_t block = 0; block < s->blocks; block++) {
        bool baseline = usable(c, s, block, 0, metric, &b, arena);
        bool other = usable(c, s, block, candidate, metric, &k, arena);

        if (baseline && other)
            add_pair(c, &b, &k);
    }
}
