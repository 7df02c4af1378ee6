#include "report_made.h"

#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A metric with everything that is not a parameter unknown. */
static struct report_metric metric(const char *name, const char *unit, double base, double change,
                                   double half)
{
    return (struct report_metric){
        .candidate = "candidate",
        .metric = name,
        .unit = unit,
        .better = strcmp(name, "throughput") == 0 ? BETTER_HIGHER : BETTER_LOWER,
        .complete_pairs = 8,
        .baseline_median = base,
        .candidate_median = base * (1 + change),
        .baseline_spread = base * half / 2,
        .candidate_spread = base * half / 2,
        .baseline_min = base * (1 - half),
        .baseline_max = base * (1 + half),
        .candidate_min = base * (1 + change - half),
        .candidate_max = base * (1 + change + half),
        .median_change = change,
        .median_difference = base * change,
        .interval_low = change - half,
        .interval_high = change + half,
        .level = 0.96484375,
        .threshold = NAN,
        .verdict = VERDICT_NOT_JUDGED,
        .mark = change - half > 0.01    ? MARK_WORSE
                : change + half < -0.01 ? MARK_BETTER
                                        : MARK_NONE,
        .hodges_lehmann = change,
        .hl_low = change - half,
        .hl_high = change + half,
        .hl_level = 0.96,
        .p = 0.0078125,
        .holm_p = 0.0234375,
        .sigma = half,
        .sees = 1.26 * half,
        .slot_effect = 0.001,
        .slot_p = 0.69,
        .balanced_median = NAN,
        .false_alarm = 0.001,
    };
}

static void judge(struct report_metric *m, double threshold, enum verdict verdict, enum grade grade)
{
    m->threshold = threshold;
    m->verdict = verdict;
    m->grade = grade;
}

static void absent(struct report_metric *m, const char *name, const char *reason,
                   struct arena *arena)
{
    *m = metric(name, "count", NAN, NAN, NAN);
    m->mark = MARK_NONE;
    m->complete_pairs = 0;
    strings_add(&m->missing, arena, reason);
}

static void names(struct report *r, size_t candidates, struct arena *arena)
{
    strings_add(&r->variants, arena, "baseline");
    strings_add(&r->displays, arena, "flow --io single");
    for (size_t i = 0; i < candidates; i++) {
        strings_add(&r->variants, arena,
                    i == 0 ? "candidate" : arena_printf(arena, "candidate%zu", i + 1));
        strings_add(&r->displays, arena, arena_printf(arena, "flow --io batch%zu", i));
    }
}

#define NO_PMU "unsupported: no PMU here (virtual machine?)"

static void profile_first(struct report_profile *p, struct arena *arena)
{
    struct report_metric *m = arena_array(arena, 8, sizeof(*m));
    m[0] = metric("throughput", "Mbit/s", 320, 0.0002, 0.001);
    judge(&m[0], 0.10, VERDICT_PASSED, GRADE_CONFIRMED);
    m[1] = metric("wall_time", "s", 1.012, 0.001, 0.003);
    m[2] = metric("cpu_time", "s", 0.52, 0.19, 0.03);
    m[3] = metric("cpu_per_gbit", "CPU-s/Gbit", 1.62, 0.193, 0.021);
    judge(&m[3], 0.15, VERDICT_REGRESSED, GRADE_CONFIRMED);
    m[4] = metric("peak_rss", "B", 4.2e6, -0.12, 0.01);
    judge(&m[4], 0.15, VERDICT_PASSED, GRADE_CONFIRMED);
    m[5] = metric("messages_per_second", "1/s", 39062, 0.0002, 0.001);
    absent(&m[6], "cycles", NO_PMU, arena);
    absent(&m[7], "instructions", NO_PMU, arena);
    *p = (struct report_profile){.profile = "flow/streams,streams=10",
                                 .verdict = VERDICT_REGRESSED,
                                 .stage = "confirm",
                                 .main_verdict = "regressed",
                                 .pairs = 8,
                                 .complete_pairs = 8,
                                 .min_complete = 8,
                                 .order = "4 AB, 4 BA",
                                 .level = 0.96484375,
                                 .metrics = m,
                                 .metric_count = 8};
    strings_add(&p->notes, arena, "peaks of the roles may fall at different times");
}

static void profile_second(struct report_profile *p, struct arena *arena)
{
    struct report_metric *m = arena_array(arena, 2, sizeof(*m));
    m[0] = metric("throughput", "Mbit/s", 12.5, -0.04, 0.09);
    judge(&m[0], 0.10, VERDICT_INCONCLUSIVE, GRADE_NONE);
    m[1] = metric("wall_time", "s", 0.0321, 0.04, 0.09);
    m[1].candidate_median *= 1.2; /* the medians' ratio is not the pairs' change */
    *p = (struct report_profile){.profile = "flow/pingpong",
                                 .verdict = VERDICT_INCONCLUSIVE,
                                 .stage = "main",
                                 .pairs = 8,
                                 .complete_pairs = 8,
                                 .min_complete = 8,
                                 .order = "4 AB, 4 BA",
                                 .level = 0.96484375,
                                 .noisy_pairs = 2,
                                 .metrics = m,
                                 .metric_count = 2};
    (void)arena;
}

void report_made(struct report *r, struct arena *arena)
{
    *r = (struct report){.series = "flow",
                         .analysis = 1,
                         .verdict = VERDICT_REGRESSED,
                         .rule = "bounded",
                         .thresholds = "default",
                         .finished = true,
                         .runs_done = 32,
                         .runs_planned = 32,
                         .profile_count = 2,
                         .gating_verdicts = 4,
                         .expected_false_alarms = 0.013,
                         .any_false_alarm = 0.0129,
                         .marks_tested = 8,
                         .host_note = "2 CPUs, Linux 6.18.44 x86_64, no PMU"};
    memset(r->plan_sha256, 'a', 64);
    names(r, 1, arena);
    r->profiles = arena_array(arena, 2, sizeof(*r->profiles));
    profile_first(&r->profiles[0], arena);
    profile_second(&r->profiles[1], arena);
    r->worst = arena_array(arena, 1, sizeof(*r->worst));
    r->worst_count = 1;
    r->worst[0] = (struct report_worst){"candidate", "throughput", "flow/pingpong", -0.04};
}

void report_made_compare(struct report *r, size_t candidates, struct arena *arena)
{
    struct report_profile *p = arena_array(arena, 1, sizeof(*p));
    *r = (struct report){.series = "compare",
                         .analysis = 1,
                         .verdict = VERDICT_NOT_JUDGED,
                         .rule = "bounded",
                         .thresholds = "none",
                         .finished = true,
                         .profiles = p,
                         .profile_count = 1};
    memset(r->plan_sha256, 'b', 64);
    names(r, candidates, arena);
    struct report_metric *m = arena_array(arena, candidates * 8, sizeof(*m));
    size_t n = 0;
    for (size_t c = 0; c < candidates; c++) {
        m[n++] = metric("wall_time", "s", 0.0452, -0.413, 0.01);
        m[n++] = metric("cpu_time", "s", 0.0401, -0.2, 0.02);
        m[n++] = metric("user_time", "s", 0.0301, -0.2, 0.02);
        m[n++] = metric("peak_rss", "B", 1.43e6, 0.31, 0.02);
        m[n++] = metric("context_switches", "count", 12, 0.5, 0.6);
        absent(&m[n++], "cycles", NO_PMU, arena);
        absent(&m[n++], "cache_misses", NO_PMU, arena);
        for (size_t i = n - 7; i < n; i++)
            m[i].candidate = r->variants.items[c + 1];
    }
    *p = (struct report_profile){.profile = "compare",
                                 .stage = "main",
                                 .pairs = 38,
                                 .complete_pairs = 38,
                                 .min_complete = 38,
                                 .order = "19 AB, 19 BA",
                                 .level = 0.954,
                                 .metrics = m,
                                 .metric_count = n};
    strings_add(&p->unmeasured, arena, "not measured: cycles, cache_misses (" NO_PMU ")");
}

void report_made_failed(struct report *r, struct arena *arena)
{
    static struct report_failure failure = {
        .variant = "candidate",
        .count = 2,
        .error = "exited with status 3 \033[31m<script>alert(1)</script> @everyone | [x](http://y)",
        .stderr_tail = "cannot open \xff\xfe]]>\nsecond `line` & <b>\x1b]0;title\x07",
        .run = 2,
    };
    static struct report_figure figures[] = {
        {.metric = "throughput", .unit = "Mbit/s", .median = 50, .low = 49, .high = 51, .runs = 8},
        {.metric = "minor_faults", .unit = "count", .median = 7, .low = 7, .high = 7, .runs = 8},
    };
    static struct report_outcome outcomes[] = {
        {.variant = "baseline", .runs = 8, .ended_well = 8, .figures = figures, .figure_count = 2},
        {.variant = "candidate", .failed = true, .runs = 8, .figures = figures, .figure_count = 1},
    };
    report_made(r, arena);
    struct report_profile *p = &r->profiles[0];
    p->verdict = r->verdict = VERDICT_INCOMPLETE;
    p->complete_pairs = 6;
    p->failures = &failure;
    p->outcomes = outcomes;
    p->outcome_count = 2;
    p->failure_count = 1;
    strings_add(&r->failure_notes, arena,
                "only the candidate fails: 'candidate' in 2 runs, the baseline in none");
    for (size_t i = 0; i < p->metric_count; i++) {
        p->metrics[i].complete_pairs = 6;
        if (!isnan(p->metrics[i].threshold)) {
            judge(&p->metrics[i], p->metrics[i].threshold, VERDICT_INCOMPLETE, GRADE_NONE);
            p->metrics[i].note = "2 of 8 pairs have no value";
        }
    }
}

#define HOSTILE "peer said \033[31m<b>|@all\r\n`x`"

static const char *const stacks[] = {"usrsctp", "pion", "node-datachannel-0.33", "dying"};
static const char *const shown[] = {"messages_per_second", "heap_bytes_per_message",
                                    "window_cpu_per_message", "peak_rss"};
static const char *const units[] = {"1/s", "B", "us", "B"};
static const double of_stacks[4][4] = {
    {71200, 1200, 13.7, 3.1e6}, {0, 9800, 29.2, 31e6}, {48300, 1207, 26.6, 62e6}, {0}};

static struct report_cell made_cell(size_t row, size_t column)
{
    double value = of_stacks[row][column];
    struct report_cell c = {.median = value,
                            .low = value * 0.98,
                            .high = value * 1.02,
                            .runs = 8,
                            .of = 8,
                            .status = "ok"};

    if (value > 0)
        return c;
    c.median = c.low = c.high = NAN;
    c.runs = 0;
    c.status = row == 3 ? "failed" : "invalid";
    c.reason = row == 3 ? HOSTILE : "the runner says 'not all messages delivered'";
    return c;
}

static struct report_row *made_rows(size_t columns, struct arena *arena)
{
    struct report_row *rows = arena_array(arena, 4, sizeof(*rows));

    for (size_t i = 0; i < 4; i++) {
        rows[i] = (struct report_row){.variant = stacks[i], .cell_count = columns};
        rows[i].cells = arena_array(arena, columns, sizeof(*rows[i].cells));
        for (size_t c = 0; c < columns; c++)
            rows[i].cells[c] = made_cell(i, c);
    }
    return rows;
}

static struct report_metric stack_metric(size_t row, size_t column)
{
    double base = of_stacks[0][column], value = of_stacks[row][column];
    struct report_metric m =
        metric(shown[column], units[column], base, value > 0 ? value / base - 1 : NAN, 0.02);

    m.candidate = stacks[row];
    m.better = column == 0 ? BETTER_HIGHER : BETTER_LOWER;
    m.mark = value <= 0 ? MARK_NONE : (value > base) == (column == 0) ? MARK_BETTER : MARK_WORSE;
    if (column == 0)
        judge(&m, 0.10, value > 0 ? VERDICT_REGRESSED : VERDICT_INCOMPLETE,
              value > 0 ? GRADE_CONFIRMED : GRADE_NONE);
    return m;
}

static void made_table(struct report_profile *p, struct arena *arena)
{
    struct report_metric *m = arena_array(arena, 12, sizeof(*m));
    struct report_table *t = arena_alloc(arena, sizeof(*t));
    static struct report_column columns[4];

    for (size_t c = 0; c < 4; c++)
        columns[c] =
            (struct report_column){shown[c], units[c], c == 0 ? BETTER_HIGHER : BETTER_LOWER, NULL};
    *t = (struct report_table){
        .columns = columns, .column_count = 4, .rows = made_rows(4, arena), .row_count = 4};
    for (size_t row = 1; row < 4; row++)
        for (size_t c = 0; c < 4; c++)
            m[(row - 1) * 4 + c] = stack_metric(row, c);
    *p = (struct report_profile){.profile = "rtc/message",
                                 .verdict = VERDICT_REGRESSED,
                                 .stage = "main",
                                 .pairs = 8,
                                 .complete_pairs = 8,
                                 .min_complete = 8,
                                 .order = "8 blocks of 4",
                                 .level = NAN,
                                 .metrics = m,
                                 .metric_count = 12,
                                 .table = t};
    strings_add(&p->notes, arena, "peak_rss: pairs vary by 7.8 % against a threshold of 15%");
    strings_add(&p->notes, arena, "peak_rss: pairs vary by 10.1 % against a threshold of 15%");
    strings_add(&p->notes, arena, "peaks of the roles may fall at different times");
}

static void made_scaling(struct report_scaling *s, struct arena *arena)
{
    static struct report_cpu_set sets[] = {{"0", 1, "rtc/cores,cpus=0"},
                                           {"all", 0, "rtc/cores,cpus=all"}};
    struct report_row *rows = made_rows(1, arena);

    *s = (struct report_scaling){
        .profile = "rtc/cores", .sets = sets, .set_count = 2, .row_count = 4};
    s->column = (struct report_column){shown[0], units[0], BETTER_HIGHER, NULL};
    s->rows = arena_array(arena, 4, sizeof(*s->rows));
    for (size_t i = 0; i < 4; i++) {
        s->rows[i].variant = rows[i].variant;
        s->rows[i].cell_count = 2;
        s->rows[i].cells = arena_array(arena, 2, sizeof(*s->rows[i].cells));
        s->rows[i].cells[0] = (struct report_scaled_cell){rows[i].cells[0], NAN};
        s->rows[i].cells[1] = (struct report_scaled_cell){rows[i].cells[0], NAN};
        s->rows[i].cells[1].cell.median *= 1.25;
        s->rows[i].cells[1].speedup = rows[i].cells[0].runs ? 1.25 : NAN;
    }
}

static struct report_signs made_signs(const char *candidate, const char *metric, const char *a,
                                      const char *b, const char *c, struct arena *arena)
{
    struct report_signs s = {.candidate = candidate, .metric = metric};

    strings_add(&s.signs, arena, a);
    strings_add(&s.signs, arena, b);
    strings_add(&s.signs, arena, c);
    return s;
}

static void made_regimes(struct report_regimes *g, struct arena *arena)
{
    static const char *const names_of[] = {"latency-bound", "CPU-bound", "1800 B | <i>@x</i>"};

    *g = (struct report_regimes){.regime_count = 3, .row_count = 4, .flip_count = 2};
    g->regimes = arena_array(arena, 3, sizeof(*g->regimes));
    for (size_t i = 0; i < 3; i++) {
        g->regimes[i].regime = names_of[i];
        strings_add(&g->regimes[i].profiles, arena, "rtc/message");
    }
    g->rows = arena_array(arena, 4, sizeof(*g->rows));
    g->rows[0] = made_signs(stacks[1], shown[0], "better", "worse", "mixed", arena);
    g->rows[1] = made_signs(stacks[1], shown[3], "no_change", "undecided", "none", arena);
    g->rows[2] = made_signs(stacks[2], shown[0], "better", "no_change", "better", arena);
    g->rows[3] = made_signs(stacks[2], shown[3], "no_change", "no_change", "worse", arena);
    g->flips = arena_array(arena, 2, sizeof(*g->flips));
    g->flips[0] = (struct report_flip){.candidate = stacks[1], .metric = shown[0]};
    strings_add(&g->flips[0].wins, arena, names_of[0]);
    strings_add(&g->flips[0].loses, arena, names_of[1]);
    g->flips[1] = (struct report_flip){.candidate = stacks[2]};
    strings_add(&g->flips[1].wins, arena, names_of[0]);
    strings_add(&g->flips[1].wins, arena, names_of[1]);
    strings_add(&g->flips[1].loses, arena, names_of[2]);
}

void report_made_variants(struct report *r, struct arena *arena)
{
    *r = (struct report){.series = "rtc",
                         .analysis = 1,
                         .verdict = VERDICT_REGRESSED,
                         .rule = "bounded",
                         .thresholds = "rtc",
                         .finished = true,
                         .profile_count = 1,
                         .scaling_count = 1,
                         .gating_verdicts = 3,
                         .expected_false_alarms = NAN,
                         .any_false_alarm = NAN};
    memset(r->plan_sha256, 'c', 64);
    for (size_t i = 0; i < 4; i++) {
        strings_add(&r->variants, arena, stacks[i]);
        strings_add(&r->displays, arena, stacks[i]);
    }
    r->profiles = arena_array(arena, 1, sizeof(*r->profiles));
    made_table(r->profiles, arena);
    r->scalings = arena_array(arena, 1, sizeof(*r->scalings));
    made_scaling(r->scalings, arena);
    r->regimes = arena_alloc(arena, sizeof(*r->regimes));
    made_regimes(r->regimes, arena);
}

void report_made_empty(struct report *r, struct arena *arena)
{
    report_made_compare(r, 1, arena);
    struct report_profile *p = &r->profiles[0];
    p->level = NAN;
    for (size_t i = 0; i < p->metric_count; i++) {
        struct report_metric *m = &p->metrics[i];
        const char *name = m->metric;
        *m = metric(name, m->unit, NAN, NAN, NAN);
        m->mark = MARK_NONE;
        m->level = m->p = m->holm_p = m->slot_effect = m->slot_p = NAN;
    }
    p->metrics[0].baseline_median = 0;
    p->metrics[0].candidate_median = 0.5;
    p->metrics[0].median_change = INFINITY;
    p->metrics[0].interval_low = 0;
    p->metrics[0].interval_high = INFINITY;
    p->metrics[0].note = "from 0 to 500ms";
    p->metrics[1].baseline_median = 0;
    p->metrics[1].candidate_median = 0;
    p->metrics[1].median_change = 0;
}

/* The length of an ANSI colour sequence at `p`, or 0. */
static size_t escape_length(const char *p)
{
    if (p[0] != '\033' || p[1] != '[')
        return 0;
    size_t n = 2 + strspn(p + 2, "0123456789;");
    return p[n] == 'm' ? n + 1 : 0;
}

bool fits(const char *text, size_t width)
{
    char line[8192];
    while (*text) {
        size_t n = 0;
        while (*text && *text != '\n' && n < sizeof(line) - 1) {
            size_t skip = escape_length(text);
            if (skip)
                text += skip;
            else
                line[n++] = *text++;
        }
        line[n] = '\0';
        if (text_width(line) > width) {
            fprintf(stderr, "%zu columns: %s\n", text_width(line), line);
            return false;
        }
        text += *text == '\n';
    }
    return true;
}

bool harmless(const char *text, bool color)
{
    if (!text_is_utf8(text, strlen(text)))
        return false;
    while (*text) {
        size_t skip = color ? escape_length(text) : 0;
        if (skip == 0 && (unsigned char)*text < 0x20 && *text != '\n')
            return false;
        if (*text == 0x7f)
            return false;
        text += skip ? skip : 1;
    }
    return true;
}
