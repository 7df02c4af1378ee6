#include "judge/regimes.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/strings.h"
#include "judge/table.h"

/* ---- regimes ---- */

static bool was_compared(const struct report_profile *p)
{
    return p->metric_count > 0 && p->verdict != VERDICT_NEW && p->verdict != VERDICT_IDENTICAL;
}

/* Whether all profiles that name no regime come from one matrix: their place in it is enough. */
static bool one_matrix(const struct plan *plan)
{
    const char *of = NULL;

    for (size_t i = 0; i < plan->profile_count; i++) {
        const struct profile *p = &plan->profiles[i];

        if (p->regime || p->pass == PASS_MEMORY)
            continue;
        if (!p->combination_of || (of && strcmp(of, p->combination_of) != 0))
            return false;
        of = p->combination_of;
    }
    return of != NULL;
}

/* A memory pass belongs to the profile that it was made of, if the plan has it. */
static const struct profile *timed_of(const struct plan *plan, const struct profile *p)
{
    size_t len = strlen(p->name), tail = strlen(PROFILE_MEMORY_SUFFIX);

    for (size_t i = 0; p->pass == PASS_MEMORY && i < plan->profile_count; i++) {
        const char *name = plan->profiles[i].name;

        if (len > tail && strlen(name) == len - tail && strncmp(name, p->name, len - tail) == 0)
            return &plan->profiles[i];
    }
    return p;
}

static const char *regime_of(const struct plan *plan, const struct profile *of, bool place,
                             struct arena *arena)
{
    const struct profile *p = timed_of(plan, of);
    const char *text = NULL;

    if (p->regime)
        return p->regime;
    for (size_t i = 0; place && i < p->combination_count; i++)
        text = arena_printf(arena, "%s%s%s=%s", text ? text : "", text ? "," : "",
                            p->combination[i].name, p->combination[i].text);
    return text ? text : p->name;
}

static void add_profile(struct report_regimes *g, const char *regime, const char *profile,
                        struct arena *arena)
{
    size_t i = 0;

    while (i < g->regime_count && strcmp(g->regimes[i].regime, regime) != 0)
        i++;
    if (i == g->regime_count)
        g->regimes[g->regime_count++].regime = regime;
    strings_add(&g->regimes[i].profiles, arena, profile);
}

static void find_regimes(struct report_regimes *g, const struct report *r, const struct judging *j)
{
    bool place = one_matrix(j->plan);

    g->regimes = arena_array(j->arena, r->profile_count, sizeof(*g->regimes));
    for (size_t i = 0; i < r->profile_count; i++)
        if (was_compared(&r->profiles[i]))
            add_profile(g, regime_of(j->plan, &j->plan->profiles[i], place, j->arena),
                        r->profiles[i].profile, j->arena);
}

/* ---- metrics ---- */

static bool is_gate(const struct report_metric *m)
{
    return !isnan(m->threshold) && !m->control;
}

/* Cores in use are neither good nor bad: what they were used for has metrics of its own. */
static bool has_direction(const char *metric)
{
    return strstr(metric, "effective_cores") == NULL;
}

/* What is judged anywhere; where nothing is, what a table of variants would show. */
static void find_metrics(struct strings *metrics, const struct report *r,
                         const struct assessment *x, const struct judging *j)
{
    for (size_t i = 0; i < r->profile_count; i++)
        for (size_t m = 0; m < r->profiles[i].metric_count; m++)
            if (is_gate(&r->profiles[i].metrics[m]))
                strings_add_new(metrics, j->arena, r->profiles[i].metrics[m].metric);
    for (size_t i = 0; i < r->profile_count && r->gating_verdicts == 0; i++) {
        struct report_column *columns;
        size_t count = 0;

        if (was_compared(&r->profiles[i]))
            table_columns(&columns, &count, x, i, j);
        for (size_t c = 0; c < count; c++)
            if (has_direction(columns[c].metric))
                strings_add_new(metrics, j->arena, columns[c].metric);
    }
}

/* ---- signs ---- */

/* Of two profiles of a regime the later one counts: what is worse in one is no win. */
enum sign { NONE, NO_CHANGE, BETTER, UNDECIDED, WORSE, MIXED };

static const char *const words[] = {
    [NONE] = "none",           [NO_CHANGE] = "no_change", [BETTER] = "better",
    [UNDECIDED] = "undecided", [WORSE] = "worse",         [MIXED] = "mixed",
};

/* A memory pass says nothing of what it did not count. */
static enum sign sign_of(const struct report_profile *p, bool memory, const struct report_metric *m)
{
    if (!m || (memory && !metric_is_heap(m->metric)))
        return NONE;
    if (p->verdict == VERDICT_INVALID || m->verdict == VERDICT_INVALID ||
        m->verdict == VERDICT_INCOMPLETE || isnan(m->interval_low))
        return UNDECIDED;
    if (m->mark == MARK_BETTER)
        return BETTER;
    if (m->mark == MARK_WORSE || (m->verdict == VERDICT_REGRESSED && m->grade != GRADE_UNSURE))
        return WORSE;
    if (m->verdict == VERDICT_INCONCLUSIVE || m->verdict == VERDICT_REGRESSED)
        return UNDECIDED;
    return NO_CHANGE;
}

static enum sign sign_in(const struct report *r, const struct plan *plan,
                         const struct report_regime *g, const char *candidate, const char *metric)
{
    enum sign sign = NONE;
    bool better = false, worse = false;

    for (size_t i = 0; i < r->profile_count; i++) {
        const struct report_profile *p = &r->profiles[i];
        enum sign one;

        if (!strings_has(&g->profiles, p->profile))
            continue;
        one = sign_of(p, plan->profiles[i].pass == PASS_MEMORY,
                      report_metric_of(p, candidate, metric));
        better = better || one == BETTER;
        worse = worse || one == WORSE;
        sign = one > sign ? one : sign;
    }
    return better && worse ? MIXED : sign;
}

/* False: the candidate has the metric nowhere. */
static bool fill_signs(struct report_signs *row, const struct report *r, const struct plan *plan,
                       const struct report_regimes *g, enum sign *signs, struct arena *arena)
{
    bool any = false;

    for (size_t i = 0; i < g->regime_count; i++) {
        signs[i] = sign_in(r, plan, &g->regimes[i], row->candidate, row->metric);
        any = any || signs[i] != NONE;
    }
    for (size_t i = 0; any && i < g->regime_count; i++)
        strings_add(&row->signs, arena, words[signs[i]]);
    return any;
}

/* ---- flips ---- */

static bool wins(enum sign s)
{
    return s == BETTER || s == MIXED;
}

static bool loses(enum sign s)
{
    return s == WORSE || s == MIXED;
}

/* Keeps a flip if there is one. */
static bool add_flip(struct report_regimes *g, const char *candidate, const char *metric,
                     const bool *won, const bool *lost, struct arena *arena)
{
    struct report_flip flip = {.candidate = candidate, .metric = metric};

    for (size_t i = 0; i < g->regime_count; i++) {
        if (won[i])
            strings_add(&flip.wins, arena, g->regimes[i].regime);
        if (lost[i])
            strings_add(&flip.loses, arena, g->regimes[i].regime);
    }
    if (flip.wins.count == 0 || flip.loses.count == 0)
        return false;
    g->flips[g->flip_count++] = flip;
    return true;
}

/* Regimes of one candidate: over all its metrics, and of the metric at hand. */
struct tally {
    bool *won, *lost, *won_here, *lost_here;
    enum sign *signs;
};

static void tally_init(struct tally *t, size_t regimes, struct arena *arena)
{
    t->won = arena_array(arena, regimes, sizeof(*t->won));
    t->lost = arena_array(arena, regimes, sizeof(*t->lost));
    t->won_here = arena_array(arena, regimes, sizeof(*t->won_here));
    t->lost_here = arena_array(arena, regimes, sizeof(*t->lost_here));
    t->signs = arena_array(arena, regimes, sizeof(*t->signs));
}

static void count_signs(struct tally *t, size_t regimes)
{
    for (size_t i = 0; i < regimes; i++) {
        t->won_here[i] = wins(t->signs[i]);
        t->lost_here[i] = loses(t->signs[i]);
        t->won[i] = t->won[i] || t->won_here[i];
        t->lost[i] = t->lost[i] || t->lost_here[i];
    }
}

/* A regime that a candidate wins by one metric and loses by another is neither. */
static void keep_clear(struct tally *t, size_t regimes)
{
    for (size_t i = 0; i < regimes; i++) {
        bool both = t->won[i] && t->lost[i];

        t->won[i] = t->won[i] && !both;
        t->lost[i] = t->lost[i] && !both;
    }
}

static void fill_candidate(struct report_regimes *g, const struct report *r,
                           const struct judging *j, const char *candidate,
                           const struct strings *metrics)
{
    struct arena *arena = j->arena;
    struct tally t;
    bool flipped = false;

    tally_init(&t, g->regime_count, arena);
    for (size_t m = 0; m < metrics->count; m++) {
        struct report_signs row = {.candidate = candidate, .metric = metrics->items[m]};

        if (!fill_signs(&row, r, j->plan, g, t.signs, arena))
            continue;
        g->rows[g->row_count++] = row;
        count_signs(&t, g->regime_count);
        if (add_flip(g, candidate, row.metric, t.won_here, t.lost_here, arena))
            flipped = true;
    }
    keep_clear(&t, g->regime_count);
    if (!flipped)
        add_flip(g, candidate, NULL, t.won, t.lost, arena);
}

void regimes_fill(struct report *r, const struct assessment *x, const struct judging *j)
{
    struct report_regimes *g = arena_alloc(j->arena, sizeof(*g));
    struct strings metrics = {0};
    size_t rows;

    if (j->plan->aa)
        return;
    find_regimes(g, r, j);
    if (g->regime_count < 2)
        return;
    find_metrics(&metrics, r, x, j);
    rows = metrics.count * j->plan->variant_count;
    g->rows = arena_array(j->arena, rows + 1, sizeof(*g->rows));
    g->flips = arena_array(j->arena, rows + j->plan->variant_count + 1, sizeof(*g->flips));
    for (size_t v = 1; v < j->plan->variant_count; v++)
        if (!j->plan->variants[v].control)
            fill_candidate(g, r, j, j->plan->variants[v].name, &metrics);
    if (g->row_count)
        r->regimes = g;
}
