#include "judge/notes.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "judge/notes_gate.h"
#include "judge/notes_memory.h"
#include "judge/notes_network.h"
#include "judge/power.h"

#define SIGNIFICANT 0.05  /* p of a slot effect that is told */
#define BYTES_DIFFER 0.01 /* change of delivered bytes from which totals mislead */

/* A list of notes under construction. */
struct notes {
    struct strings *list;
    struct arena *arena;
};

static void add(struct notes *n, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void add(struct notes *n, const char *fmt, ...)
{
    char text[1024];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    strings_add(n->list, n->arena, arena_strdup(n->arena, text));
}

/* ---- what did not end well ---- */

/* Failures of a candidate alone are the first thing that anyone wants to know. */
static void note_failures(struct notes *n, const struct report_profile *p, const struct judging *j)
{
    bool baseline = report_failure_of(p, j->plan->variants[0].name) != NULL;

    for (size_t i = 0; i < p->failure_count && !baseline; i++)
        add(n, "only the candidate fails: '%s' in %d runs, the baseline in none",
            p->failures[i].variant, p->failures[i].count);
    for (size_t i = 0; i < p->failure_count && baseline; i++)
        add(n, "'%s' failed in %d runs", p->failures[i].variant, p->failures[i].count);
}

static void note_completeness(struct notes *n, const struct report_profile *p,
                              const struct assessment *x)
{
    if (x->changed)
        add(n, "run %llu: %s", (unsigned long long)x->changed->run,
            x->changed->error ? x->changed->error : "a file under test has changed");
    if (x->mixed)
        add(n,
            "run %llu: the back end of its network was '%s', of the first run's '%s': what they "
            "do to packets has not the same cost",
            (unsigned long long)x->mixed->run, x->mixed->backend, x->backend);
    if (p->complete_pairs < p->min_complete && p->verdict != VERDICT_IDENTICAL)
        add(n, "%d of %d pairs are complete; %d are needed", p->complete_pairs, p->pairs,
            p->min_complete);
    if (x->confirm_missing)
        add(n, "the main stage says %s, and the confirming stage that has to decide was not run",
            p->main_verdict);
    if (x->interrupted)
        add(n, "%zu runs were interrupted", x->interrupted);
    if (x->repeated)
        add(n, "%zu %s interrupted and run again: attempt 2 or the last one counts", x->repeated,
            x->repeated == 1 ? "pair was" : "pairs were");
    if (x->bad_warmup)
        add(n, "a warm-up run of '%s' did not end well: %s", x->bad_warmup->variant,
            x->bad_warmup->error ? x->bad_warmup->error
                                 : sample_status_name(x->bad_warmup->status));
}

/* ---- how far the figures carry ---- */

static void note_count(struct notes *n, const struct report_profile *p, bool judged)
{
    if (p->complete_pairs > 0 && p->complete_pairs < 5)
        add(n, "fewer than 5 pairs give no bounds");
    if (p->complete_pairs == 5 && judged)
        add(n, "five pairs are not statistical assurance");
    if (p->complete_pairs % 2 && p->complete_pairs > 1)
        add(n,
            "an odd count (%s) leaves a part of any slot effect in the medians; the balanced "
            "median is free of it",
            p->order);
}

static void note_noise(struct notes *n, const struct report_profile *p, const struct profile *of)
{
    if (p->noisy_pairs)
        add(n,
            "%d of %d pairs were noisy: other processes took more than %s of the CPUs, or the "
            "hypervisor more than %s; they are judged like the rest",
            p->noisy_pairs, p->pairs, of->noise_others_text, of->noise_steal_text);
}

/* "12.3 %"; what is out of all proportion, or a change from 0, is no figure. */
static const char *share(const struct notes *n, double fraction)
{
    const double percent = 100.0 * fabs(fraction);

    if (!(percent <= 1e6))
        return "more than 1000000 %";
    return arena_printf(n->arena, "%.1f %%", percent);
}

/* Two variants: how much the place in a pair matters, where that is seen or could matter. */
static void note_slot(struct notes *n, const struct report_metric *m, const struct gate *g)
{
    bool seen = m->slot_p <= SIGNIFICANT; /* not for nan */

    if (isnan(m->slot_effect) || !(seen || fabs(m->slot_effect) >= g->threshold / 2.0))
        return;
    add(n, "%s: the second run of a pair reads %s %s (%s); the verdict is not corrected for it",
        m->metric, share(n, m->slot_effect), m->slot_effect < 0 ? "lower" : "higher",
        seen ? "significant" : "at least half the threshold");
}

static void note_sizing(struct notes *n, const struct report_metric *m, const struct gate *g,
                        const struct judging *j, const struct profile *of)
{
    enum power_advice advice;

    if (isnan(m->sigma))
        return;
    advice = power_sizing(m->sigma, g->threshold);
    if (advice == ADVICE_HOPELESS)
        add(n, "%s: the threshold of %s is inside the noise of this machine (pairs vary by %s); %s",
            m->metric, g->threshold_text, share(n, m->sigma),
            m->grade == GRADE_CONFIRMED ? "this verdict is clear of it, a closer one would not be"
                                        : "this gate cannot be trusted here");
    else if (advice == ADVICE_CONFIRM && plan_confirm(j->plan, of) == 0 && g->pairs < 16)
        add(n,
            "%s: pairs vary by %s against a threshold of %s: 8 pairs and 16 to confirm "
            "are advised",
            m->metric, share(n, m->sigma), g->threshold_text);
}

static const struct report_metric *row(const struct report_profile *p, const char *candidate,
                                       const char *metric)
{
    for (size_t i = 0; i < p->metric_count; i++) {
        if (strcmp(p->metrics[i].metric, metric) == 0 &&
            strcmp(p->metrics[i].candidate, candidate) == 0)
            return &p->metrics[i];
    }
    return NULL;
}

/* A count that gates is only fair while both deliver the same. */
static void note_counter(struct notes *n, const struct report_profile *p,
                         const struct report_metric *m)
{
    const struct metric_def *def = metric_find(m->metric);
    const struct report_metric *bytes = row(p, m->candidate, "delivered_bytes");

    if (!def || def->kind != METRIC_COUNTER)
        return;
    if (bytes && fabs(bytes->median_change) > BYTES_DIFFER)
        add(n, "%s is judged as a total, and delivered bytes differ by %s: judge %s_per_byte",
            m->metric, share(n, bytes->median_change), m->metric);
    if (strcmp(m->metric, "instructions") == 0)
        add(n, "a change of instructions overstates the change of time");
}

static void note_gates(struct notes *n, const struct report_profile *p, const struct assessment *x,
                       const struct judging *j)
{
    for (size_t i = 0; i < p->metric_count; i++) {
        const struct report_metric *m = &p->metrics[i];

        if (!x->decided.gates[i].judged)
            continue;
        if (j->plan->variant_count == 2)
            note_slot(n, m, &x->decided.gates[i]);
        note_sizing(n, m, &x->decided.gates[i], j, x->decided.stage.profile);
        note_counter(n, p, m);
    }
}

/* ---- what was not measured ---- */

/* What a memory pass does not give, and what only one side's heap tells, is nobody's loss. */
static bool is_no_loss(const struct report_profile *p, const struct judging *j, size_t i)
{
    const struct profile *of = plan_find_profile(j->plan, p->profile);

    return of && of->pass == PASS_MEMORY &&
           (notes_memory_withheld(p->metrics[i].missing.items[0]) ||
            !plan_yields(j->plan, of, p->metrics[i].metric));
}

/* The one reason why a metric of the first candidate has no figure at all, or NULL. */
static const char *reason_of(const struct report_profile *p, const struct judging *j, size_t i)
{
    const struct report_metric *m = &p->metrics[i];

    if (m->complete_pairs > 0 || m->missing.count == 0 ||
        strcmp(m->candidate, j->plan->variants[1].name) != 0 || is_no_loss(p, j, i))
        return NULL;
    return m->missing.items[0];
}

/* One note a reason, naming all metrics that it cost. */
static void note_unmeasured(struct notes *n, const struct report_profile *p,
                            const struct judging *j)
{
    for (size_t i = 0; i < p->metric_count; i++) {
        const char *reason = reason_of(p, j, i), *names = "";
        bool said = false;

        for (size_t k = 0; reason && k < p->metric_count; k++) {
            const char *other = reason_of(p, j, k);

            if (!other || strcmp(other, reason) != 0)
                continue;
            said = said || k < i;
            names =
                arena_printf(n->arena, "%s%s%s", names, *names ? ", " : "", p->metrics[k].metric);
        }
        if (reason && !said)
            strings_add(n->list, n->arena,
                        arena_printf(n->arena, "not measured: %s (%s)", names, reason));
    }
}

static bool has_gate(const struct assessment *x)
{
    for (size_t i = 0; i < x->decided.metric_count; i++) {
        if (x->decided.gates[i].judged)
            return true;
    }
    return false;
}

static void note_one_side(struct notes *n, const struct profile *p)
{
    if (p->only_in)
        add(n, "only the %s's revision has this profile: there is nothing to compare with",
            p->only_in);
}

void notes_profile(struct report_profile *out, const struct assessment *x, const struct judging *j)
{
    struct notes n = {&out->notes, j->arena}, failures = {&out->failure_notes, j->arena};
    struct notes unmeasured = {&out->unmeasured, j->arena};
    const struct profile *of = x->decided.stage.profile;

    if (of->only_in) {
        note_one_side(&n, of);
        return;
    }
    note_failures(&failures, out, j);
    note_completeness(&n, out, x);
    if (of->pass == PASS_TIMES) {
        note_count(&n, out, has_gate(x));
        note_noise(&n, out, of);
    }
    notes_memory(out, x, j);
    notes_network(out, x, j);
    note_gates(&n, out, x, j);
    notes_controls(out, j);
    note_unmeasured(&unmeasured, out, j);
}

/* ---- the series ---- */

static void note_idle_limits(struct notes *n, const struct judging *j)
{
    const struct thresholds *t = j->limits;

    for (size_t i = 0; i < t->limit_count; i++) {
        if (t->limits[i].worse_text && !plan_yields_anywhere(j->plan, t->limits[i].metric))
            add(n, "no profile of the series yields '%s': its threshold judges nothing",
                t->limits[i].metric);
    }
}

/* A claimed improvement has to hold in every profile, or to name those in which it does. */
static void note_claims(struct notes *n, const struct report *r)
{
    for (size_t p = 0; p < r->profile_count; p++) {
        for (size_t i = 0; i < r->profiles[p].metric_count; i++) {
            const struct report_metric *m = &r->profiles[p].metrics[i];

            if (m->claim && strcmp(m->claim, "not_shown") == 0 && r->profile_count > 1)
                add(n,
                    "the claimed improvement of %s by '%s' is not shown under '%s': claim it "
                    "only for the profiles that show it",
                    m->metric, m->candidate, r->profiles[p].profile);
        }
    }
}

static void note_candidate_failures(struct notes *n, const struct report *r,
                                    const struct judging *j)
{
    for (size_t v = 1; v < j->plan->variant_count; v++) {
        int runs = 0, baseline = 0;

        for (size_t p = 0; p < r->profile_count; p++) {
            const struct report_failure *f =
                report_failure_of(&r->profiles[p], j->plan->variants[v].name);
            const struct report_failure *b =
                report_failure_of(&r->profiles[p], j->plan->variants[0].name);

            runs += f ? f->count : 0;
            baseline += b ? b->count : 0;
        }
        if (runs && !baseline)
            add(n, "only the candidate fails: '%s' in %d runs, the baseline in none",
                j->plan->variants[v].name, runs);
    }
}

static void note_programs(struct notes *n, const struct judging *j)
{
    const struct variant *v = j->plan->variants;

    for (size_t i = 1; i < j->plan->variant_count && !j->plan->aa; i++) {
        if (v[0].sha256[0] && strcmp(v[0].sha256, v[i].sha256) == 0)
            add(n, "'%s' and '%s' are the same program file", v[0].name, v[i].name);
    }
    if (j->plan->aa)
        add(n, "A/A: both sides are the same; what differs is the noise of this machine");
}

/* With --allow-failures a failing command is measured like any other; that is told. */
static void note_allowed_exits(struct notes *n, const struct judging *j)
{
    const struct archive *a = j->archive;

    for (size_t v = 0; v < j->plan->variant_count && j->plan->allow_failures; v++) {
        size_t runs = 0;

        for (size_t i = 0; i < a->sample_count; i++) {
            const struct archive_run run = archive_run(a, i);

            runs += run.nonzero_exit && run.status == SAMPLE_OK &&
                    strcmp(run.variant, j->plan->variants[v].name) == 0;
        }
        if (runs)
            add(n, "'%s' exited with a status other than 0 in %zu of its runs, as was allowed",
                j->plan->variants[v].name, runs);
    }
}

static void note_import(struct notes *n, const struct plan *plan)
{
    if (plan->import)
        add(n, "imported: abba read what these runs printed and did not make them; machine, time, "
               "order and what went on beside them are not known");
    if (plan->import == IMPORT_UNPAIRED)
        add(n,
            "unpaired: the logs give no pairs, so that no change is computed and nothing judged");
    if (plan->import == IMPORT_PAIRED)
        add(n, "pairs are as whoever imported them listed them");
}

static bool several_roles(const struct judging *j)
{
    for (size_t i = 0; i < j->plan->runner_count; i++) {
        if (j->plan->runners[i].role_count > 1)
            return true;
    }
    return false;
}

/* One line about the machine, as far as it bears on the figures. */
static const char *host_note(const struct machine *m, struct arena *arena)
{
    bool asked = false, counts = false, denied = false;

    if (!m)
        return NULL;
    for (size_t i = 0; i < m->counter_count; i++) {
        if (strstr(m->counters[i].event, "_SW_"))
            continue;
        asked = true;
        counts = counts || m->counters[i].status == VALUE_OK;
        denied = denied || m->counters[i].status == VALUE_DENIED;
    }
    return arena_printf(arena, "%d CPU%s, %s%s", m->cpus, m->cpus == 1 ? "" : "s",
                        m->kernel ? m->kernel : "kernel unknown",
                        !asked || counts ? ""
                        : denied         ? ", hardware counters not allowed"
                                         : ", no hardware counters");
}

/* Counters that hold less than they might. */
static void note_counters(struct notes *n, const struct machine *m)
{
    for (size_t i = 0; m && i < m->counter_count; i++) {
        if (m->counters[i].status == VALUE_OK && m->counters[i].reason) {
            add(n, "counters: %s", m->counters[i].reason);
            return;
        }
    }
}

void notes_series(struct report *r, const struct assessment *x, const struct judging *j)
{
    struct notes n = {&r->notes, j->arena}, failures = {&r->failure_notes, j->arena};
    bool changed = false;

    notes_attempts(r, j);
    note_candidate_failures(&failures, r, j);
    for (size_t i = 0; i < r->profile_count; i++)
        changed = changed || x[i].changed;
    if (changed)
        add(&n, "a file under test changed during the series, which is invalid");
    if (j->exploratory)
        add(&n, "exploratory: these thresholds were not in the plan");
    notes_accepted(r, j);
    note_idle_limits(&n, j);
    note_claims(&n, r);
    note_programs(&n, j);
    note_allowed_exits(&n, j);
    note_import(&n, j->plan);
    note_counters(&n, j->archive->machine);
    if (r->gating_verdicts)
        add(&n, "a true change equal to the threshold is flagged about half the time; the "
                "verdicts hold for this machine and these profiles");
    if (several_roles(j) && !j->plan->import)
        add(&n, "peak_rss sums the peaks of the roles, which may fall at different times");
    r->host_note = j->plan->import ? NULL : host_note(j->archive->machine, j->arena);
}
