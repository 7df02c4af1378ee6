#include "check.h"
#include "made_series.h"

#include <string.h>

#include "judge/judge.h"

#define PAIRS 8

static struct made_series s;

static int release(void **state)
{
    (void)state;
    made_release(&s);
    return 0;
}

static void begin(size_t variants)
{
    made_init(&s, variants, PAIRS, 0);
    s.archive.has_tables = true;
}

static struct report judged(void)
{
    struct err e = {0};
    struct report r;

    assert_int_equal(judge_archive(&s.archive, &r, &s.arena, &e), 0);
    return r;
}

/* Whole blocks, the same figure of a variant in each; 0 ends the list. */
static void flat(size_t profile, const char *metric, const double *figures)
{
    for (uint64_t pair = 1; pair <= PAIRS; pair++)
        for (size_t v = 0; v < s.plan.variant_count; v++) {
            struct sample *run = made_find(&s, profile, STAGE_MAIN, pair, v);

            if (!run)
                run = made_run(&s, profile, STAGE_MAIN, pair, v);
            made_figure(&s, run, metric, figures[v]);
        }
}

static const struct report_cell *cell(const struct report_table *t, const char *variant,
                                      const char *metric)
{
    for (size_t row = 0; row < t->row_count; row++)
        for (size_t c = 0; c < t->column_count; c++)
            if (strcmp(t->rows[row].variant, variant) == 0 &&
                strcmp(t->columns[c].metric, metric) == 0)
                return &t->rows[row].cells[c];
    fail_msg("no cell of '%s' for '%s'", variant, metric);
    return NULL;
}

/* "a,b" of the columns' metrics. */
static const char *columns(const struct report_table *t)
{
    const char *text = "";

    for (size_t c = 0; c < t->column_count; c++)
        text = arena_printf(&s.arena, "%s%s%s", text, c ? "," : "", t->columns[c].metric);
    return text;
}

/* ---- variants side by side ---- */

static void two_variants_or_an_older_archive_have_no_table(void **state)
{
    static const double figures[] = {100, 110, 120};

    (void)state;
    begin(2);
    flat(0, "throughput", figures);
    assert_null(judged().profiles[0].table);
    made_release(&s);
    begin(3);
    s.archive.has_tables = false;
    flat(0, "throughput", figures);
    assert_null(judged().profiles[0].table);
    assert_null(judged().regimes);
}

static void a_control_is_no_further_candidate(void **state)
{
    static const double figures[] = {100, 110, 120};

    (void)state;
    begin(3);
    s.plan.variants[2].control = true;
    flat(0, "throughput", figures);
    assert_null(judged().profiles[0].table);
}

static void each_variant_has_figures_of_its_own(void **state)
{
    static const double figures[] = {100, 110, 120};
    const struct report_table *t;

    (void)state;
    begin(3);
    flat(0, "throughput", figures);
    made_find(&s, 0, STAGE_MAIN, 2, 0)->metrics[0].value.number = 90; /* the baseline's own */
    t = judged().profiles[0].table;
    assert_int_equal(t->row_count, 3);
    assert_string_equal(t->rows[0].variant, "baseline");
    check_same(cell(t, "baseline", "throughput")->median, 100);
    check_same(cell(t, "baseline", "throughput")->low, 90);
    check_same(cell(t, "third", "throughput")->median, 120);
    assert_int_equal(cell(t, "third", "throughput")->runs, PAIRS);
    assert_string_equal(cell(t, "third", "throughput")->status, "ok");
}

/* What a variant lacks is its own affair: the others keep their figures. */
static void a_cell_without_a_figure_says_why(void **state)
{
    static const double figures[] = {100, 110, 120};
    static const double faults[] = {5, 5, 5};
    const struct report_table *t;

    (void)state;
    begin(3);
    flat(0, "throughput", figures);
    flat(0, "cpu_time", faults);
    for (uint64_t pair = 1; pair <= PAIRS; pair++) {
        struct sample *run = made_find(&s, 0, STAGE_MAIN, pair, 1);

        run->metrics[0].value = value_none(VALUE_INVALID, "not all delivered");
        if (pair <= 3) {
            run = made_find(&s, 0, STAGE_MAIN, pair, 2);
            run->status = pair == 1 ? SAMPLE_TIMEOUT : SAMPLE_FAILED;
            run->error = pair == 1 ? "took 60 s" : "exited with status 7";
        }
    }
    made_find(&s, 0, STAGE_MAIN, 8, 2)->status = SAMPLE_INTERRUPTED;
    t = judged().profiles[0].table;
    assert_string_equal(cell(t, "candidate", "throughput")->status, "invalid");
    assert_string_equal(cell(t, "candidate", "throughput")->reason, "not all delivered");
    assert_int_equal(cell(t, "candidate", "throughput")->runs, 0);
    assert_true(isnan(cell(t, "candidate", "throughput")->median));
    check_same(cell(t, "candidate", "cpu_time")->median, 5);
    assert_int_equal(cell(t, "third", "throughput")->runs, 4);
    assert_int_equal(cell(t, "third", "throughput")->of, 7);
    assert_string_equal(cell(t, "third", "throughput")->status, "failed"); /* most of the three */
    assert_string_equal(cell(t, "third", "throughput")->reason, "exited with status 7");
    check_same(cell(t, "third", "throughput")->median, 120);
    check_same(cell(t, "baseline", "throughput")->median, 100);
}

static void columns_are_the_usual_ones_and_what_is_judged(void **state)
{
    static const double figures[] = {100, 110, 120};

    (void)state;
    begin(3);
    flat(0, "minor_faults", figures);
    flat(0, "peak_rss", figures);
    flat(0, "cpu_time", figures);
    flat(0, "wall_time", figures);
    assert_string_equal(columns(judged().profiles[0].table), "wall_time,cpu_time,peak_rss");
    flat(0, "throughput", figures);
    flat(0, "cpu_per_gbit", figures);
    made_limit(&s, "minor_faults", "10%", 0.1);
    assert_string_equal(columns(judged().profiles[0].table),
                        "throughput,cpu_per_gbit,peak_rss,minor_faults");
}

static void the_runner_may_name_the_columns(void **state)
{
    static const double figures[] = {100, 110, 120};

    (void)state;
    begin(3);
    strings_add(&s.plan.runners[0].table, &s.arena, "answers");
    strings_add(&s.plan.runners[0].table, &s.arena, "delivery_time"); /* no run has it */
    strings_add(&s.plan.runners[0].table, &s.arena, "throughput");
    flat(0, "throughput", figures);
    flat(0, "answers", figures);
    flat(0, "peak_rss", figures);
    assert_string_equal(columns(judged().profiles[0].table), "answers,throughput");
}

/* Its runs give no times; those of the profile that it belongs to do not count. */
static void what_a_heap_was_asked_for_comes_from_the_memory_pass(void **state)
{
    static const double times[] = {100, 110, 120}, bytes[] = {7, 8, 9};
    const struct report_table *t;
    struct report r;

    (void)state;
    begin(3);
    made_profile(&s);
    s.plan.profiles[1].name = "made/1" PROFILE_MEMORY_SUFFIX;
    s.plan.profiles[1].pass = PASS_MEMORY;
    s.plan.profiles[1].pairs = PAIRS;
    flat(0, "throughput", times);
    flat(1, "heap_bytes", bytes);
    flat(1, "throughput", times); /* as not counted, had it been measured */
    for (size_t i = 0; i < s.archive.sample_count; i++)
        if (s.archive.samples[i].metric_count == 2)
            s.archive.samples[i].metrics[1].value = value_none(VALUE_NOT_COUNTED, "memory pass");
    r = judged();
    t = r.profiles[0].table;
    assert_string_equal(columns(t), "throughput,heap_bytes");
    assert_null(t->columns[0].profile);
    assert_string_equal(t->columns[1].profile, "made/1,pass=memory");
    check_same(cell(t, "third", "heap_bytes")->median, 9);
    assert_string_equal(columns(r.profiles[1].table), "heap_bytes");
    assert_null(r.regimes); /* it is no regime of its own */
}

/* ---- CPU sets ---- */

static void on_cpus(size_t profile, const char *of, const char *cpus, const char *size)
{
    struct profile *p = &s.plan.profiles[profile];

    p->combination_of = of;
    p->combination = arena_array(&s.arena, 2, sizeof(*p->combination));
    p->combination[0] = (struct load_setting){"cpus", cpus, LOAD_AS_STRING};
    p->combination[1] = (struct load_setting){"size", size, LOAD_AS_STRING};
    p->combination_count = size ? 2 : 1;
}

static void a_speed_up_is_of_a_variants_own_medians(void **state)
{
    static const double one[] = {100, 50}, two[] = {190, 50}, all[] = {380, 0};
    const struct report_scaling *c;
    struct report r;

    (void)state;
    begin(2);
    made_profile(&s);
    made_profile(&s);
    on_cpus(0, "made/cores", "0-1", NULL);
    on_cpus(1, "made/cores", "3", NULL);
    on_cpus(2, "made/cores", "all", NULL);
    flat(0, "throughput", two);
    flat(1, "throughput", one);
    flat(2, "throughput", all);
    for (uint64_t pair = 1; pair <= PAIRS; pair++)
        made_find(&s, 2, STAGE_MAIN, pair, 1)->status = SAMPLE_FAILED;
    r = judged();
    assert_int_equal(r.scaling_count, 1);
    c = &r.scalings[0];
    assert_string_equal(c->profile, "made/cores");
    assert_string_equal(c->column.metric, "throughput");
    assert_int_equal(c->set_count, 3);
    assert_int_equal(c->base, 1); /* one CPU, wherever it stands */
    assert_int_equal(c->sets[0].count, 2);
    assert_int_equal(c->sets[2].count, 0);
    check_near(c->rows[0].cells[0].speedup, 1.9, 1e-12);
    assert_true(isnan(c->rows[0].cells[1].speedup));
    check_near(c->rows[0].cells[2].speedup, 3.8, 1e-12);
    check_near(c->rows[1].cells[0].speedup, 1.0, 1e-12);
    assert_true(isnan(c->rows[1].cells[2].speedup)); /* it failed there */
    assert_string_equal(c->rows[1].cells[2].cell.status, "failed");
}

static void other_axes_part_the_tables(void **state)
{
    static const double figures[] = {100, 50};
    struct report r;

    (void)state;
    begin(2);
    for (int i = 0; i < 4; i++)
        made_profile(&s);
    on_cpus(0, "made/cores", "0", "1");
    on_cpus(1, "made/cores", "0-1", "1");
    on_cpus(2, "made/cores", "0", "2");
    on_cpus(3, "made/cores", "0-1", "2");
    on_cpus(4, "made/alone", "0", "1"); /* one set is nothing to compare */
    for (size_t i = 0; i < 5; i++)
        flat(i, "wall_time", figures);
    r = judged();
    assert_int_equal(r.scaling_count, 2);
    assert_string_equal(r.scalings[0].profile, "made/cores,size=1");
    assert_string_equal(r.scalings[1].profile, "made/cores,size=2");
    assert_string_equal(r.scalings[1].sets[1].profile, "made/4");
}

static void less_time_is_more_speed(void **state)
{
    static const double one[] = {8, 8}, two[] = {4, 8};
    struct report r;

    (void)state;
    begin(2);
    made_profile(&s);
    on_cpus(0, "made/cores", "0", NULL);
    on_cpus(1, "made/cores", "0-1", NULL);
    flat(0, "wall_time", one);
    flat(1, "wall_time", two);
    r = judged();
    check_near(r.scalings[0].rows[0].cells[1].speedup, 2.0, 1e-12);
    check_near(r.scalings[0].rows[1].cells[1].speedup, 1.0, 1e-12);
}

/* ---- regimes ---- */

static const char *signs(const struct report *r, const char *candidate, const char *metric)
{
    const char *text = "";

    for (size_t i = 0; i < r->regimes->row_count; i++) {
        const struct report_signs *row = &r->regimes->rows[i];

        if (strcmp(row->candidate, candidate) != 0 || strcmp(row->metric, metric) != 0)
            continue;
        for (size_t k = 0; k < row->signs.count; k++)
            text = arena_printf(&s.arena, "%s%s%s", text, k ? " " : "", row->signs.items[k]);
    }
    return text;
}

/* Two pairs of figures that differ by so much, with so much noise between pairs. */
static void noisy(size_t profile, const char *metric, double change, double noise)
{
    for (uint64_t pair = 1; pair <= PAIRS; pair++)
        for (size_t v = 0; v < 2; v++)
            made_figure(&s, made_run(&s, profile, STAGE_MAIN, pair, v), metric,
                        100 + (v ? change : 0) + (v && pair % 2 ? noise : 0) -
                            (v && pair % 2 == 0 ? noise : 0));
}

static void signs_rest_on_bounds_and_verdicts(void **state)
{
    struct report r;

    (void)state;
    begin(2);
    made_limit(&s, "cpu_time", "10%", 0.10);
    for (int i = 0; i < 5; i++)
        made_profile(&s);
    noisy(0, "cpu_time", -5, 1);  /* every bound is better */
    noisy(1, "cpu_time", 5, 1);   /* within the limit, and shown to be worse */
    noisy(2, "cpu_time", -3, 4);  /* a better median that bounds do not carry: no win */
    noisy(3, "cpu_time", 2, 15);  /* nobody can tell */
    noisy(4, "cpu_time", -50, 1); /* and this series is not to be believed */
    noisy(5, "cpu_time", 0.5, 0); /* less than 1 % */
    s.plan.profiles[4].controls = &(struct profile_control){"cpu_time", "1%", 0.01};
    s.plan.profiles[4].control_count = 1;
    r = judged();
    assert_int_equal(r.regimes->regime_count, 6);
    assert_string_equal(r.regimes->regimes[1].regime, "made/2");
    assert_string_equal(signs(&r, "candidate", "cpu_time"),
                        "better worse no_change undecided undecided no_change");
}

static void what_wins_here_and_loses_there_is_flagged(void **state)
{
    struct report r;

    (void)state;
    begin(2);
    made_profile(&s);
    made_profile(&s);
    s.plan.profiles[0].regime = "latency-bound";
    s.plan.profiles[1].regime = "CPU-bound";
    s.plan.profiles[2].regime = "CPU-bound";
    noisy(0, "throughput", 20, 1);
    noisy(1, "throughput", 0, 4);
    noisy(2, "throughput", -20, 1);
    r = judged();
    assert_int_equal(r.regimes->regime_count, 2);
    assert_int_equal(r.regimes->regimes[1].profiles.count, 2);
    assert_string_equal(signs(&r, "candidate", "throughput"), "better worse");
    assert_int_equal(r.regimes->flip_count, 1);
    assert_string_equal(r.regimes->flips[0].metric, "throughput");
    assert_string_equal(r.regimes->flips[0].wins.items[0], "latency-bound");
    assert_string_equal(r.regimes->flips[0].loses.items[0], "CPU-bound");
}

static void within_one_regime_it_may_be_mixed(void **state)
{
    struct report r;

    (void)state;
    begin(2);
    made_profile(&s);
    made_profile(&s);
    s.plan.profiles[0].regime = s.plan.profiles[1].regime = "both";
    noisy(0, "throughput", 20, 1);
    noisy(1, "throughput", -20, 1);
    noisy(2, "throughput", 0, 1);
    r = judged();
    assert_string_equal(signs(&r, "candidate", "throughput"), "mixed no_change");
    assert_int_equal(r.regimes->flip_count, 1);
    assert_string_equal(r.regimes->flips[0].wins.items[0], "both");
    assert_string_equal(r.regimes->flips[0].loses.items[0], "both");
}

static void a_win_by_one_metric_and_a_loss_by_another_is_flagged_as_that(void **state)
{
    static const double same[] = {100, 100}, more[] = {100, 120};
    struct report r;

    (void)state;
    begin(2);
    made_profile(&s);
    flat(0, "throughput", more);
    flat(0, "peak_rss", same);
    flat(1, "throughput", same);
    flat(1, "peak_rss", more);
    r = judged();
    assert_int_equal(r.regimes->flip_count, 1);
    assert_null(r.regimes->flips[0].metric);
    assert_string_equal(r.regimes->flips[0].wins.items[0], "made/1");
    assert_string_equal(r.regimes->flips[0].loses.items[0], "made/2");
}

static void places_in_a_matrix_are_regimes(void **state)
{
    static const double same[] = {100, 100};
    struct report r;

    (void)state;
    begin(2);
    made_profile(&s);
    on_cpus(0, "made/cores", "0", "1");
    on_cpus(1, "made/cores", "0", "2");
    flat(0, "throughput", same);
    flat(1, "throughput", same);
    r = judged();
    assert_string_equal(r.regimes->regimes[0].regime, "cpus=0,size=1");
    assert_string_equal(r.regimes->regimes[1].regime, "cpus=0,size=2");
}

static void one_regime_or_the_baseline_against_itself_has_no_grid(void **state)
{
    static const double same[] = {100, 100};

    (void)state;
    begin(2);
    flat(0, "throughput", same);
    assert_null(judged().regimes);
    made_profile(&s);
    flat(1, "throughput", same);
    assert_non_null(judged().regimes);
    s.plan.profiles[0].regime = s.plan.profiles[1].regime = "one";
    assert_null(judged().regimes);
    s.plan.profiles[0].regime = "another";
    s.plan.aa = true;
    assert_null(judged().regimes);
}

#define CASE(name) cmocka_unit_test_teardown(name, release)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        CASE(two_variants_or_an_older_archive_have_no_table),
        CASE(a_control_is_no_further_candidate),
        CASE(each_variant_has_figures_of_its_own),
        CASE(a_cell_without_a_figure_says_why),
        CASE(columns_are_the_usual_ones_and_what_is_judged),
        CASE(the_runner_may_name_the_columns),
        CASE(what_a_heap_was_asked_for_comes_from_the_memory_pass),
        CASE(a_speed_up_is_of_a_variants_own_medians),
        CASE(other_axes_part_the_tables),
        CASE(less_time_is_more_speed),
        CASE(signs_rest_on_bounds_and_verdicts),
        CASE(what_wins_here_and_loses_there_is_flagged),
        CASE(within_one_regime_it_may_be_mixed),
        CASE(a_win_by_one_metric_and_a_loss_by_another_is_flagged_as_that),
        CASE(places_in_a_matrix_are_regimes),
        CASE(one_regime_or_the_baseline_against_itself_has_no_grid),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
