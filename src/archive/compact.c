#include "archive/compact.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/strings.h"

#define FLOW_SLOTS 9
#define TAILS_KEPT 8 /* of a variant under a profile: the report shows the first that counts */
#define HEAD_WORDS 3 /* kind, low halves of run and pair */

/*
 * What a figure is apart from its number. Runs of a series have few different lists of them. A list
 * has one entry more, which holds the number of all slots.
 */
struct shape_metric {
    const char *name, *unit;
    double floor;
    uint32_t status, slot; /* the first of its numbers */
};

/* What a run is apart from its numbers. */
struct kind {
    uint64_t run_high, pair_high; /* without the low 32 bits */
    const char *variant, *profile, *error, *backend, *tail;
    const char *links[ARCHIVE_FLOWS];
    uint32_t shape, slot, attempt, metrics, flows;
    uint32_t stage, status, flags;
};

enum kind_flag { NONZERO_EXIT = 1, PROGRAM_CHANGED = 2, NOISY = 4 };

/* ---- numbers: a code of two bits, then one word or two ---- */

enum code { CODE_COUNT, CODE_NANO, CODE_BITS };

struct numbers {
    uint32_t *codes;
    uint32_t *at; /* where the next one goes */
    size_t slot;
};

static void put(struct numbers *n, enum code code, uint64_t bits)
{
    n->codes[n->slot / 16] |= (uint32_t)code << (2 * (n->slot % 16));
    n->slot++;
    *n->at++ = (uint32_t)bits;
    if (code == CODE_BITS)
        *n->at++ = (uint32_t)(bits >> 32);
}

static uint64_t bits_of(double x)
{
    uint64_t bits;

    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static double of_bits(uint64_t bits)
{
    double x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

static void put_count(struct numbers *n, uint64_t count)
{
    put(n, count <= UINT32_MAX ? CODE_COUNT : CODE_BITS, count);
}

static void put_double(struct numbers *n, double x)
{
    uint32_t count = x >= 0 && x <= (double)UINT32_MAX ? (uint32_t)x : 0;
    uint32_t nano = x > 0 && x < 4 ? (uint32_t)llround(x * 1e9) : 0;

    if (bits_of((double)count) == bits_of(x))
        put(n, CODE_COUNT, count);
    else if (bits_of((double)nano / 1e9) == bits_of(x))
        put(n, CODE_NANO, nano);
    else
        put(n, CODE_BITS, bits_of(x));
}

/* Every figure before it takes a word, and one more where its bits are kept. */
static enum code find(const uint32_t *record, size_t slots, size_t slot, uint64_t *bits)
{
    const uint32_t *codes = record + HEAD_WORDS, *at = codes + (slots + 15) / 16 + slot;
    size_t word = slot / 16, bit = 2 * (slot % 16);
    enum code code = (enum code)(codes[word] >> bit & 3);

    for (size_t i = 0; i < word; i++)
        at += __builtin_popcount(codes[i] & UINT32_C(0xaaaaaaaa));
    at += __builtin_popcount(codes[word] & UINT32_C(0xaaaaaaaa) & ((UINT32_C(1) << bit) - 1));
    *bits = code == CODE_BITS ? at[0] | (uint64_t)at[1] << 32 : at[0];
    return code;
}

static uint64_t get_count(const uint32_t *record, size_t slots, size_t slot)
{
    uint64_t bits;

    find(record, slots, slot, &bits);
    return bits;
}

static double get_double(const uint32_t *record, size_t slots, size_t slot)
{
    uint64_t bits;

    switch (find(record, slots, slot, &bits)) {
    case CODE_COUNT:
        return (double)bits;
    case CODE_NANO:
        return (double)bits / 1e9;
    case CODE_BITS:
        break;
    }
    return of_bits(bits);
}

/* ---- texts ---- */

static const char *text_at(const struct compact *c, uint32_t number)
{
    return intern_at(&c->texts, number);
}

/* `like` is a text of ours that is probably the same, or NULL. */
static const char *keep(struct compact *c, const char *text, const char *like)
{
    if (!text || text == like)
        return text;
    return text_at(c, intern_text(&c->texts, text));
}

/* ---- shapes ---- */

static bool has_number(enum value_status status)
{
    return status == VALUE_OK || status == VALUE_SCALED;
}

/* ok: number; scaled: number, coverage, reason; any other: reason. */
static uint32_t slots_of(enum value_status status)
{
    return status == VALUE_SCALED ? 3 : 1;
}

static const struct sample_metric *like_metric(const struct compact *c, size_t m)
{
    return m < c->like.metric_count ? &c->like.metrics[m] : NULL;
}

/* Returns the number of slots. */
static uint32_t make_shape(struct compact *c, const struct sample *s, struct shape_metric *out)
{
    uint32_t slot = 0;

    for (size_t i = 0; i < s->metric_count; i++) {
        const struct sample_metric *m = &s->metrics[i], *like = like_metric(c, i);

        out[i].name = keep(c, m->name, like ? like->name : NULL);
        out[i].unit = keep(c, m->unit, like ? like->unit : NULL);
        out[i].floor = m->floor;
        out[i].status = m->value.status;
        out[i].slot = slot;
        slot += slots_of(m->value.status);
    }
    out[s->metric_count].slot = slot;
    return slot;
}

static uint32_t reason_number(struct compact *c, size_t m, const char *reason)
{
    const struct sample_metric *like = like_metric(c, m);

    if (like && reason && reason == like->value.reason)
        return c->like_reasons[m];
    return intern_text(&c->texts, reason ? reason : "");
}

static size_t run_count(const struct compact *c)
{
    return c->runs ? c->runs->count : 0;
}

/* The next run shares the texts of this one, if it has not those of the one before. */
static void renew_like(struct compact *c, const struct kind *k, const struct sample *s,
                       const uint32_t *reasons)
{
    const struct shape_metric *shape = intern_at(&c->shapes, k->shape);

    c->like.variant = k->variant;
    c->like.profile = k->profile;
    c->like.error = k->error;
    if (run_count(c) > 0 && k->shape == c->like_shape)
        return;
    c->like_shape = k->shape;
    arena_release(&c->like_memory);
    c->like.metrics = arena_array(&c->like_memory, s->metric_count, sizeof *c->like.metrics);
    c->like_reasons = arena_array(&c->like_memory, s->metric_count, sizeof *c->like_reasons);
    c->like.metric_count = s->metric_count;
    for (size_t i = 0; i < s->metric_count; i++) {
        c->like.metrics[i].name = shape[i].name;
        c->like.metrics[i].unit = shape[i].unit;
        c->like_reasons[i] = reasons[i];
        if (shape[i].status != VALUE_OK)
            c->like.metrics[i].value.reason = text_at(c, reasons[i]);
    }
}

/* ---- kinds ---- */

static bool above(const struct value *v, double limit)
{
    return value_usable(v) && v->number > limit;
}

bool archive_is_noisy(const struct sample *s, const struct plan *plan)
{
    const struct profile *p = plan_find_profile(plan, s->profile);

    return p &&
           (above(&s->noise.psi_cpu, p->noise_psi) || above(&s->noise.others, p->noise_others) ||
            above(&s->noise.steal, p->noise_steal));
}

/* Whether another end of stderr of that variant is kept. */
static bool take_tail(struct compact *c, const struct kind *k)
{
    size_t i = 0;

    while (i < c->tail_count &&
           (c->tails[i].variant != k->variant || c->tails[i].profile != k->profile))
        i++;
    if (i == c->tail_count) {
        c->tails = xreallocarray(c->tails, ++c->tail_count, sizeof *c->tails);
        c->tails[i] = (struct tails){k->variant, k->profile, 0};
    }
    return c->tails[i].count++ < TAILS_KEPT;
}

static void fill_kind(struct compact *c, struct kind *k, const struct sample *s,
                      const struct plan *plan)
{
    const char *tail = archive_stderr_tail(s);

    k->run_high = s->run & ~(uint64_t)UINT32_MAX;
    k->pair_high = s->pair & ~(uint64_t)UINT32_MAX;
    k->variant = keep(c, s->variant, c->like.variant);
    k->profile = keep(c, s->profile, c->like.profile);
    k->error = keep(c, s->error, c->like.error);
    k->backend = keep(c, s->net.backend, NULL);
    k->slot = s->slot;
    k->attempt = s->attempt;
    k->metrics = (uint32_t)s->metric_count;
    k->flows = (uint32_t)(s->net.flow_count < ARCHIVE_FLOWS ? s->net.flow_count : ARCHIVE_FLOWS);
    for (size_t i = 0; i < k->flows; i++)
        k->links[i] = keep(c, s->net.flows[i].link, NULL);
    k->stage = s->stage;
    k->status = s->status;
    k->flags = (s->nonzero_exit ? NONZERO_EXIT : 0) | (s->program_changed ? PROGRAM_CHANGED : 0) |
               (archive_is_noisy(s, plan) ? NOISY : 0);
    if (tail && s->status != SAMPLE_OK && take_tail(c, k))
        k->tail = keep(c, tail, NULL);
}

/* ---- a run ---- */

static void add_roles(struct compact *c, const struct kind *k, const struct sample *s)
{
    for (size_t i = 0; i < s->role_count; i++) {
        struct archive_role role = {k->variant, k->profile, keep(c, s->roles[i].name, NULL)};

        intern_add(&c->roles, &role, sizeof role);
        c->files = c->files || s->roles[i].file_count > 0;
    }
}

static void put_flow(struct numbers *n, const struct net_flow_proof *f)
{
    put_count(n, f->offered);
    put_count(n, f->lost);
    put_count(n, f->limit);
    put_count(n, f->reordered);
    put_count(n, f->duplicated);
    put_count(n, f->corrupted);
    put_count(n, (uint64_t)f->late_p50_ns);
    put_count(n, (uint64_t)f->late_p99_ns);
    put_count(n, (uint64_t)f->late_max_ns);
}

static void put_numbers(struct compact *c, struct numbers *n, const struct kind *k,
                        const struct sample *s, uint32_t *reasons)
{
    for (size_t i = 0; i < s->metric_count; i++) {
        const struct value *v = &s->metrics[i].value;

        if (has_number(v->status))
            put_double(n, v->number);
        if (v->status == VALUE_SCALED)
            put_double(n, v->coverage);
        if (v->status == VALUE_OK)
            continue;
        reasons[i] = reason_number(c, i, v->reason);
        put_count(n, reasons[i]);
    }
    for (size_t i = 0; i < k->flows; i++)
        put_flow(n, &s->net.flows[i]);
}

/* Runs of a profile stand together, as a rule. */
static void extend_span(struct compact *c, const char *profile)
{
    size_t run = run_count(c), i = c->span_count;

    while (i > 0 && c->spans[i - 1].profile != profile)
        i--;
    if (i == 0) {
        c->spans = xreallocarray(c->spans, ++c->span_count, sizeof *c->spans);
        i = c->span_count;
        c->spans[i - 1] = (struct span){profile, run, run};
    }
    c->spans[i - 1].end = run + 1;
}

static uint32_t *make_room(struct compact *c, size_t words, struct err *err)
{
    if (words > SPILL_RECORD_WORDS) {
        err_set(err, ERR_ARCHIVE, "a run has more figures than there is room for");
        return NULL;
    }
    if (!c->runs)
        c->runs = xcalloc(1, sizeof *c->runs);
    return spill_begin(c->runs, words, err);
}

/* Numbers of the run into its record; returns how many words it has. */
static size_t fill_record(struct compact *c, uint32_t *record, size_t slots, const struct kind *k,
                          const struct sample *s, uint32_t *reasons)
{
    struct numbers n = {record + HEAD_WORDS, record + HEAD_WORDS + (slots + 15) / 16, 0};

    record[0] = intern_add(&c->kinds, k, sizeof *k);
    record[1] = (uint32_t)s->run;
    record[2] = (uint32_t)s->pair;
    put_numbers(c, &n, k, s, reasons);
    return (size_t)(n.at - record);
}

int compact_add(struct compact *c, const struct sample *s, const struct plan *plan, struct err *err)
{
    struct shape_metric *shape = xcalloc(s->metric_count + 1, sizeof *shape);
    uint32_t *reasons = xcalloc(s->metric_count + 1, sizeof *reasons);
    struct kind kind;

    memset(&kind, 0, sizeof kind);
    size_t slots = make_shape(c, s, shape);
    kind.shape = intern_add(&c->shapes, shape, (s->metric_count + 1) * sizeof *shape);
    fill_kind(c, &kind, s, plan);
    slots += kind.flows * FLOW_SLOTS;
    uint32_t *record = make_room(c, HEAD_WORDS + (slots + 15) / 16 + 2 * slots, err);

    if (record) {
        size_t words = fill_record(c, record, slots, &kind, s, reasons);

        add_roles(c, &kind, s);
        renew_like(c, &kind, s, reasons);
        extend_span(c, kind.profile);
        spill_end(c->runs, words);
    }
    free(reasons);
    free(shape);
    return record ? 0 : -1;
}

/* ---- reading ---- */

static const uint32_t *record_of(const struct compact *c, size_t run)
{
    return spill_at(c->runs, run);
}

static const struct kind *kind_of(const struct compact *c, const uint32_t *record)
{
    return intern_at(&c->kinds, record[0]);
}

static const struct shape_metric *shape_of(const struct compact *c, const struct kind *k)
{
    return intern_at(&c->shapes, k->shape);
}

struct archive_run compact_run(const struct compact *c, size_t run)
{
    const uint32_t *record = record_of(c, run);
    const struct kind *k = kind_of(c, record);

    return (struct archive_run){
        .run = k->run_high | record[1],
        .pair = k->pair_high | record[2],
        .slot = k->slot,
        .attempt = k->attempt,
        .stage = (enum sample_stage)k->stage,
        .variant = k->variant,
        .profile = k->profile,
        .status = (enum sample_status)k->status,
        .error = k->error,
        .stderr_tail = k->tail,
        .nonzero_exit = k->flags & NONZERO_EXIT,
        .program_changed = k->flags & PROGRAM_CHANGED,
        .noisy = k->flags & NOISY,
        .metric_count = k->metrics,
        .backend = k->backend,
        .flow_count = k->flows,
    };
}

static void read_metric(const struct compact *c, const uint32_t *record, const struct kind *k,
                        size_t m, struct sample_metric *out)
{
    const struct shape_metric *shape = shape_of(c, k), *at = &shape[m];
    size_t slots = shape[k->metrics].slot + k->flows * FLOW_SLOTS;
    enum value_status status = (enum value_status)at->status;

    *out = (struct sample_metric){.name = at->name, .unit = at->unit, .floor = at->floor};
    out->value = (struct value){.status = status, .coverage = 1};
    if (has_number(status))
        out->value.number = get_double(record, slots, at->slot);
    if (status == VALUE_SCALED)
        out->value.coverage = get_double(record, slots, at->slot + 1);
    if (status != VALUE_OK)
        out->value.reason =
            text_at(c, (uint32_t)get_count(record, slots, at->slot + slots_of(status) - 1));
}

void compact_metric(const struct compact *c, size_t run, size_t m, struct sample_metric *out)
{
    const uint32_t *record = record_of(c, run);

    read_metric(c, record, kind_of(c, record), m, out);
}

bool compact_find(const struct compact *c, size_t run, const char *name, size_t guess,
                  struct sample_metric *out)
{
    const uint32_t *record = record_of(c, run);
    const struct kind *k = kind_of(c, record);
    const struct shape_metric *shape = shape_of(c, k);
    size_t m = guess;

    if (m >= k->metrics || !strings_same(shape[m].name, name))
        for (m = 0; m < k->metrics && !strings_same(shape[m].name, name);)
            m++;
    if (m == k->metrics)
        return false;
    read_metric(c, record, k, m, out);
    return true;
}

void compact_flow(const struct compact *c, size_t run, size_t flow, struct net_flow_proof *out)
{
    const uint32_t *record = record_of(c, run);
    const struct kind *k = kind_of(c, record);
    size_t metric_slots = shape_of(c, k)[k->metrics].slot;
    size_t slots = metric_slots + k->flows * FLOW_SLOTS;
    uint64_t n[FLOW_SLOTS];

    for (size_t i = 0; i < FLOW_SLOTS; i++)
        n[i] = get_count(record, slots, metric_slots + flow * FLOW_SLOTS + i);
    *out = (struct net_flow_proof){
        .link = k->links[flow],
        .offered = n[0],
        .lost = n[1],
        .limit = n[2],
        .reordered = n[3],
        .duplicated = n[4],
        .corrupted = n[5],
        .late_p50_ns = (int64_t)n[6],
        .late_p99_ns = (int64_t)n[7],
        .late_max_ns = (int64_t)n[8],
    };
}

void compact_span(const struct compact *c, const char *profile, size_t *first, size_t *end)
{
    *first = *end = 0;
    for (size_t i = 0; i < c->span_count; i++)
        if (strings_same(c->spans[i].profile, profile)) {
            *first = c->spans[i].first;
            *end = c->spans[i].end;
        }
}

const struct sample *compact_like(const struct compact *c)
{
    return run_count(c) ? &c->like : NULL;
}

void compact_release(struct compact *c)
{
    intern_release(&c->texts);
    intern_release(&c->shapes);
    intern_release(&c->kinds);
    intern_release(&c->roles);
    arena_release(&c->like_memory);
    if (c->runs)
        spill_release(c->runs);
    free(c->runs);
    free(c->spans);
    free(c->tails);
    *c = (struct compact){0};
}
