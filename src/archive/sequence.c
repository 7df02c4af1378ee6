#include "archive/sequence.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "archive/names.h"
#include "model/order.h"

/* Where a run stands: step `n` (0..) of a stage of a profile. */
struct place {
    size_t profile;
    enum sample_stage stage;
    uint64_t n;
    uint32_t attempt;
};

__attribute__((format(printf, 4, 5))) static int fault(const struct archive *a, size_t i,
                                                       struct err *err, const char *fmt, ...)
{
    char what[400];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    return err_set(err, ERR_ARCHIVE, "'%s/" ARCHIVE_SAMPLES "' line %zu: %s", a->folder, i + 1,
                   what);
}

/* The first step of a profile that is not empty. */
static enum sample_stage first_stage(const struct plan *plan, size_t profile)
{
    return order_count(plan, profile, STAGE_WARMUP) > 0 ? STAGE_WARMUP : STAGE_MAIN;
}

/* Warm-ups have no pair number: they are counted on from the sample before. */
static uint64_t warmup_step(const struct archive *a, size_t i, const struct place *before)
{
    const struct archive_run run = archive_run(a, i), *s = &run;

    if (i == 0 || before->stage != STAGE_WARMUP ||
        strcmp(archive_run(a, i - 1).profile, s->profile) != 0)
        return s->slot - 1;
    if (s->attempt > before->attempt) /* the block begins again */
        return before->n - before->n % a->plan->variant_count + s->slot - 1;
    return before->n + 1;
}

static int find_place(const struct archive *a, size_t i, const struct place *before,
                      struct place *out, struct err *err)
{
    const struct plan *plan = a->plan;
    const struct archive_run run = archive_run(a, i), *s = &run;
    const struct profile *profile = plan_find_profile(plan, s->profile);

    if (!profile)
        return fault(a, i, err, "profile '%s' is not in the plan", s->profile);
    *out = (struct place){
        .profile = (size_t)(profile - plan->profiles), .stage = s->stage, .attempt = s->attempt};
    if (s->slot > plan->variant_count)
        return fault(a, i, err, "slot %u of %zu", s->slot, plan->variant_count);
    if (s->stage == STAGE_WARMUP) {
        out->n = warmup_step(a, i, before);
    } else {
        uint64_t first =
            s->stage == STAGE_CONFIRM ? (uint64_t)plan_pairs(plan, profile) + 1 : UINT64_C(1);

        if (s->pair < first)
            return fault(a, i, err, "pair %llu is none of stage '%s'", (unsigned long long)s->pair,
                         sample_stage_name(s->stage));
        out->n = (s->pair - first) * plan->variant_count + s->slot - 1;
    }
    if (out->n >= order_count(plan, out->profile, out->stage))
        return fault(a, i, err, "one run more than the plan has for '%s' in stage '%s'", s->profile,
                     sample_stage_name(s->stage));
    return 0;
}

static bool starts_profile(const struct plan *plan, const struct place *p)
{
    return p->n == 0 && p->attempt == 1 && p->stage == first_stage(plan, p->profile);
}

static bool follows(const struct plan *plan, const struct place *a, const struct place *b)
{
    uint64_t k = plan->variant_count;
    bool whole = a->n + 1 == order_count(plan, a->profile, a->stage);

    if (b->profile == a->profile && b->stage == a->stage) {
        if (b->n / k == a->n / k && b->attempt != a->attempt)
            return b->n % k == 0 && b->attempt == a->attempt + 1;
        return b->n == a->n + 1 && (b->n % k != 0 || b->attempt == 1);
    }
    if (!whole || b->n != 0 || b->attempt != 1)
        return false;
    if (b->profile == a->profile)
        return (int)b->stage == (int)a->stage + 1;
    return b->profile > a->profile && a->stage != STAGE_WARMUP && starts_profile(plan, b);
}

/* The variant in the slot is the one that the plan's order puts there. */
static int check_variant(const struct archive *a, size_t i, const struct place *at, struct err *err)
{
    const struct archive_run run = archive_run(a, i), *s = &run;
    struct order_step step = order_step(a->plan, at->profile, at->stage, at->n);
    const char *planned = a->plan->variants[step.variant].name;

    if (strcmp(s->variant, planned) == 0 && s->slot == step.slot)
        return 0;
    return fault(a, i, err, "slot %u of pair %llu is '%s'; the plan's order has '%s' in slot %u",
                 s->slot, (unsigned long long)s->pair, s->variant, planned, step.slot);
}

/* What the runs of the last block, in its last attempt, were like. */
struct block {
    bool interrupted; /* one of them by abba */
    bool failed;      /* one of them by itself */
};

static void add_to_block(struct block *b, const struct archive_run *s)
{
    if (s->status == SAMPLE_INTERRUPTED)
        b->interrupted = true;
    else if (s->status != SAMPLE_OK)
        b->failed = true;
}

static bool same_stage(const struct place *a, const struct place *b)
{
    return a->profile == b->profile && a->stage == b->stage;
}

/* Whether the block in which `last` is the last run is to be run again. */
static bool begins_again(const struct plan *plan, const struct block *b, const struct place *last)
{
    bool whole = (last->n + 1) % plan->variant_count == 0;

    return !b->failed && (b->interrupted || !whole);
}

/* A block begins: whether the one before it has ended as it must. */
static int check_begin(const struct archive *a, size_t i, const struct block *b,
                       const struct place *last, const struct place *at, struct err *err)
{
    const struct archive_run run = archive_run(a, i), *s = &run;
    uint64_t k = a->plan->variant_count;
    bool again = same_stage(last, at) && last->n / k == at->n / k;

    if (again == begins_again(a->plan, b, last))
        return 0;
    if (!again)
        return fault(a, i, err, "the runs before were interrupted, and not run again");
    return fault(a, i, err, "attempt %u of what abba did not interrupt%s", s->attempt,
                 b->failed ? ": a failed run is never run again" : "");
}

/*
 * Imported runs come by profile, stage, pair and slot, as many as were listed; the variants' slots
 * are those of the plan. Warm-ups have no pair.
 */
static int check_imported(const struct archive *a, size_t i, const struct place *before,
                          struct place *at, struct err *err)
{
    const struct archive_run run = archive_run(a, i), *s = &run;
    const struct profile *profile = plan_find_profile(a->plan, s->profile);
    uint64_t k = a->plan->variant_count;
    bool warmup = s->stage == STAGE_WARMUP;

    if (!profile || s->slot > k || s->stage == STAGE_CONFIRM || s->attempt != 1 ||
        (s->pair == 0) != warmup || (!warmup && s->pair > (uint64_t)plan_pairs(a->plan, profile)))
        return fault(a, i, err, "not a run that can have been imported");
    *at = (struct place){.profile = (size_t)(profile - a->plan->profiles), .stage = s->stage};
    at->n = warmup ? before->n + 1 : s->pair * k + s->slot;
    if (strcmp(s->variant, a->plan->variants[s->slot - 1].name) != 0)
        return fault(a, i, err, "slot %u is not that of '%s'", s->slot, s->variant);
    if (i == 0 || at->profile > before->profile)
        return 0;
    if (at->profile == before->profile &&
        (at->stage != before->stage ? at->stage > before->stage : at->n > before->n))
        return 0;
    return fault(a, i, err, "does not follow from the run before");
}

static int check_run(const struct archive *a, size_t i, const struct place *before,
                     struct block *block, struct place *at, struct err *err)
{
    const struct archive_run run = archive_run(a, i), *s = &run;

    if (s->run != i + 1)
        return fault(a, i, err, "run %llu stands where run %zu should", (unsigned long long)s->run,
                     i + 1);
    if (a->plan->import)
        return check_imported(a, i, before, at, err);
    if (find_place(a, i, before, at, err) < 0)
        return -1;
    if (i == 0 ? !starts_profile(a->plan, at) : !follows(a->plan, before, at))
        return fault(a, i, err,
                     "slot %u of pair %llu of '%s' (stage '%s', attempt %u) does "
                     "not follow from the run before",
                     s->slot, (unsigned long long)s->pair, s->profile, sample_stage_name(s->stage),
                     s->attempt);
    if (at->n % a->plan->variant_count == 0) {
        if (i > 0 && check_begin(a, i, block, before, at, err) < 0)
            return -1;
        *block = (struct block){0};
    }
    add_to_block(block, s);
    return check_variant(a, i, at, err);
}

/* Checks all; `last` and `block` tell of the last run, if there is one. */
static int check_all(const struct archive *a, struct place *last, struct block *block,
                     struct err *err)
{
    struct place at;

    *block = (struct block){0};
    *last = (struct place){0};
    for (size_t i = 0; i < a->sample_count; i++, *last = at)
        if (check_run(a, i, last, block, &at, err) < 0)
            return -1;
    return 0;
}

int sequence_check(const struct archive *a, struct err *err)
{
    struct place last;
    struct block block;

    return check_all(a, &last, &block, err);
}

int sequence_next(const struct archive *a, struct sequence_next *next, struct err *err)
{
    struct place last;
    struct block block;
    uint64_t k = a->plan->variant_count;

    if (check_all(a, &last, &block, err) < 0)
        return -1;
    *next = (struct sequence_next){.stage = first_stage(a->plan, 0), .attempt = 1};
    if (a->sample_count == 0)
        return 0;
    *next = (struct sequence_next){.profile = last.profile, .stage = last.stage, .n = last.n + 1};
    if (begins_again(a->plan, &block, &last)) {
        next->n = last.n - last.n % k;
        next->attempt = last.attempt + 1;
    } else {
        next->attempt = next->n % k ? last.attempt : 1;
    }
    return 0;
}

uint64_t sequence_left(const struct plan *plan, const struct sequence_next *next)
{
    uint64_t left = order_count(plan, next->profile, next->stage) - next->n;

    if (next->stage == STAGE_WARMUP)
        left += order_count(plan, next->profile, STAGE_MAIN);
    for (size_t i = next->profile + 1; i < plan->profile_count; i++)
        left += order_count(plan, i, STAGE_WARMUP) + order_count(plan, i, STAGE_MAIN);
    return left;
}
