#include "base/buf.h"
#include "base/mem.h"
#include "report/report.h"
#include "report_made.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef void maker(struct report *r, struct arena *arena);

static void made_compare(struct report *r, struct arena *arena)
{
    report_made_compare(r, 1, arena);
}

static void made_three(struct report *r, struct arena *arena)
{
    report_made_compare(r, 3, arena);
}

/* Ten metrics, twelve CPU sets and forty regimes with long names. */
static void made_many(struct report *r, struct arena *arena)
{
    report_made_variants(r, arena);
    struct report_regimes *g = r->regimes;
    g->regime_count = 40;
    g->regimes = arena_array(arena, 40, sizeof(*g->regimes));
    for (size_t i = 0; i < 40; i++) {
        g->regimes[i].regime = arena_printf(arena, "streams=%zu,size=%zuKiB,rate=320Mbit/s", i, i);
        for (size_t row = 0; row < g->row_count && i >= 3; row++)
            strings_add(&g->rows[row].signs, arena, i % 2 ? "better" : "undecided");
    }
    struct report_table *t = r->profiles[0].table;
    struct report_column *columns = arena_array(arena, 12, sizeof(*columns));
    for (size_t c = 0; c < 12; c++)
        columns[c] = t->columns[c % 4];
    t->columns = columns;
    t->column_count = 12;
    for (size_t row = 0; row < t->row_count; row++) {
        struct report_cell *cells = arena_array(arena, 12, sizeof(*cells));
        for (size_t c = 0; c < 12; c++)
            cells[c] = t->rows[row].cells[c % 4];
        t->rows[row].cells = cells;
        t->rows[row].cell_count = 12;
    }
    struct report_scaling *s = r->scalings;
    s->sets = arena_array(arena, 12, sizeof(*s->sets));
    s->set_count = 12;
    for (size_t i = 0; i < 12; i++)
        s->sets[i] = (struct report_cpu_set){arena_printf(arena, "0-%zu,64-%zu", i, 64 + i),
                                             (int)(2 * i + 2), "rtc/cores"};
    for (size_t row = 0; row < s->row_count; row++) {
        struct report_scaled_cell *cells = arena_array(arena, 12, sizeof(*cells));
        for (size_t i = 0; i < 12; i++)
            cells[i] = s->rows[row].cells[i % 2];
        s->rows[row].cells = cells;
        s->rows[row].cell_count = 12;
    }
}

static maker *const makers[] = {report_made,        made_compare,         made_three,
                                report_made_failed, report_made_variants, report_made_empty,
                                made_many};
#define MAKERS (sizeof(makers) / sizeof(makers[0]))

static char *text_of(maker *make, struct report_style style)
{
    struct arena arena = ARENA_INIT;
    struct report r;
    struct buf out = BUF_INIT;
    make(&r, &arena);
    report_text(&r, &style, &out);
    arena_release(&arena);
    return buf_detach(&out);
}

static void assert_has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("no '%s' in:\n%s", part, text);
}

static void assert_has_not(const char *text, const char *part)
{
    if (strstr(text, part))
        fail_msg("'%s' in:\n%s", part, text);
}

static void keeps_to_the_width(void **state)
{
    static const int widths[] = {80, 100, 140, 200};
    (void)state;
    for (size_t m = 0; m < MAKERS; m++) {
        for (size_t w = 0; w < sizeof(widths) / sizeof(widths[0]); w++) {
            for (int variant = 0; variant < 8; variant++) {
                char *text = text_of(makers[m], (struct report_style){.color = variant & 1,
                                                                      .utf8 = variant & 2,
                                                                      .verbose = variant & 4,
                                                                      .columns = widths[w]});
                assert_true(fits(text, (size_t)widths[w]));
                free(text);
            }
        }
    }
}

static void uses_a_wide_terminal(void **state)
{
    (void)state;
    char *narrow = text_of(report_made, (struct report_style){.utf8 = true, .columns = 80});
    char *wide = text_of(report_made, (struct report_style){.utf8 = true, .columns = 140});
    assert_has(wide, "± spread");
    assert_has(wide, "difference");
    assert_has(wide, "confirmed");
    assert_has(narrow, "limits     throughput -10%");
    assert_has_not(wide, "limits ");
    free(narrow);
    free(wide);
}

static void never_prints_nan(void **state)
{
    (void)state;
    for (size_t m = 0; m < MAKERS; m++) {
        char *text = text_of(makers[m], (struct report_style){.verbose = true, .columns = 140});
        for (char *p = text; *p; p++)
            *p = (char)(*p >= 'A' && *p <= 'Z' ? *p + 32 : *p);
        assert_has_not(text, "nan");
        free(text);
    }
}

static void passes_on_no_escape_of_a_child(void **state)
{
    (void)state;
    char *plain = text_of(report_made_failed, (struct report_style){.utf8 = true, .columns = 80});
    char *color = text_of(report_made_failed,
                          (struct report_style){.utf8 = true, .color = true, .columns = 80});
    assert_true(harmless(plain, false));
    assert_true(harmless(color, true));
    assert_has(plain, "\\x1b[31m");
    assert_has_not(color, "\033[31m<script>");
    free(plain);
    free(color);
}

static void has_no_escape_without_colour(void **state)
{
    (void)state;
    char *text = text_of(report_made, (struct report_style){.utf8 = true, .columns = 80});
    assert_null(strchr(text, '\033'));
    free(text);
}

static void is_ascii_without_utf8(void **state)
{
    (void)state;
    char *text = text_of(report_made, (struct report_style){.verbose = true, .columns = 140});
    for (const char *p = text; *p; p++)
        assert_true((unsigned char)*p < 0x80);
    assert_has(text, "worse");
    assert_has(text, "better");
    free(text);
}

static void marks_better_and_worse(void **state)
{
    (void)state;
    char *text = text_of(made_compare, (struct report_style){.utf8 = true, .columns = 80});
    assert_has(text, "⚡ -41.3%");
    assert_has(text, "💩 +31.0%");
    free(text);
}

static void failures_of_the_candidate_come_first(void **state)
{
    (void)state;
    char *text = text_of(report_made_failed, (struct report_style){.columns = 80});
    assert_int_equal(strncmp(text, "candidate failed in 2 runs", 26), 0);
    assert_has(text, "cannot open");
    assert_has_not(text, "only the candidate fails"); /* the note that says so again */
    assert_has(text, "6 of 8 pairs complete");
    assert_has(text, "outcome    baseline: pass, 8 of 8 runs ended well; throughput 50.0Mbit/s\n");
    assert_has(text, "candidate: fail, 0 of 8 runs ended well; throughput 50.0Mbit/s");
    free(text);
}

static void says_once_what_was_not_measured_and_why(void **state)
{
    (void)state;
    char *text = text_of(made_three, (struct report_style){.columns = 100});
    const char *first = strstr(text, "note       not measured: cycles, cache_misses");
    assert_non_null(first);
    assert_null(strstr(strchr(first, '\n'), "no PMU here"));
    free(text);
}

static void has_a_block_for_every_candidate(void **state)
{
    (void)state;
    char *text = text_of(made_three, (struct report_style){.columns = 80});
    assert_has(text, " candidate2 ");
    assert_has(text, " candidate3 ");
    free(text);
}

static void says_what_a_verdict_rests_on(void **state)
{
    (void)state;
    char *text = text_of(report_made, (struct report_style){0});
    assert_has(text, "cpu_per_gbit: median change +19.3% is beyond the limit of +15%, and so is "
                     "its bound (+17.2%): confirmed");
    assert_has(text, "throughput: median change -4.0%; the data do not exclude -13.0%, beyond the "
                     "limit of -10%");
    assert_has(text, "expected false alarms 0.013");
    free(text);
}

static void says_where_the_ratio_of_medians_differs_from_the_change(void **state)
{
    (void)state;
    char *text = text_of(report_made, (struct report_style){0});
    const char *note = strstr(text, "note       wall_time: change is the median of the pairs'");
    assert_non_null(note);
    assert_has_not(text, "throughput: change is the median");
    free(text);
}

static void ends_with_plan_archive_and_digest(void **state)
{
    (void)state;
    char *text =
        text_of(report_made, (struct report_style){.archive = "archive/x/", .digest = "0123abcd"});
    const char *end = strstr(text, "  plan       aaaa");
    assert_non_null(end);
    assert_has(end, "\n  archive    archive/x/\n");
    const char *last = "\n  digest     0123abcd\n";
    assert_string_equal(text + strlen(text) - strlen(last), last);
    free(text);
}

static void changes_from_zero_have_words(void **state)
{
    (void)state;
    char *text = text_of(report_made_empty, (struct report_style){.columns = 80});
    assert_has(text, "from 0 to 500ms");
    free(text);
}

static void variants_stand_side_by_side_in_the_width_that_is_there(void **state)
{
    static const char narrow[] =
        "                            messages   heap_bytes\n"
        "                          per_second  per_message\n"
        "  usrsctp                    71.2K/s       1.20kB\n"
        "  pion                   invalid (1)       9.80kB\n"
        "  node-datachannel-0.33      48.3K/s       1.21kB\n"
        "  dying                   failed (2)   failed (2)\n"
        "\n"
        "                          window_cpu\n"
        "                         per_message    peak_rss  verdict\n"
        "  usrsctp                     13.7us      3.10MB\n"
        "  pion                        29.2us      31.0MB  incomplete\n"
        "  node-datachannel-0.33       26.6us      62.0MB  regressed\n"
        "  dying                   failed (2)  failed (2)  incomplete\n"
        "\n"
        "                                     messages            heap_bytes\n"
        "  ratio to usrsctp                 per_second           per_message\n"
        "  pion                                      -     8.17 [8.15, 8.19]\n"
        "  node-datachannel-0.33  0.678 [0.658, 0.698]  1.006 [0.986, 1.026]\n"
        "  dying                                     -                     -\n"
        "\n"
        "                                window_cpu\n"
        "  ratio to usrsctp             per_message           peak_rss\n"
        "  pion                   2.13 [2.11, 2.15]  10.0 [10.0, 10.0]\n"
        "  node-datachannel-0.33  1.94 [1.92, 1.96]  20.0 [20.0, 20.0]\n"
        "  dying                                  -                  -\n";
    static const char wide[] =
        "                            messages   heap_bytes   window_cpu\n"
        "                          per_second  per_message  per_message    peak_rss  verdict\n"
        "  usrsctp                    71.2K/s       1.20kB       13.7us      3.10MB\n"
        "  pion                   invalid (1)       9.80kB       29.2us      31.0MB  incomplete\n"
        "  node-datachannel-0.33      48.3K/s       1.21kB       26.6us      62.0MB  regressed\n"
        "  dying                   failed (2)   failed (2)   failed (2)  failed (2)  incomplete\n"
        "\n"
        "                                     messages            heap_bytes         window_cpu\n"
        "  ratio to usrsctp                 per_second           per_message        per_message    "
        "       peak_rss\n"
        "  pion                                      -     8.17 [8.15, 8.19]  2.13 [2.11, 2.15]  "
        "10.0 [10.0, 10.0]\n"
        "  node-datachannel-0.33  0.678 [0.658, 0.698]  1.006 [0.986, 1.026]  1.94 [1.92, 1.96]  "
        "20.0 [20.0, 20.0]\n"
        "  dying                                     -                     -                  -    "
        "              -\n";
    (void)state;
    char *text = text_of(report_made_variants, (struct report_style){.utf8 = true, .columns = 80});
    assert_has(text, narrow);
    assert_has(text, "each of its bounds holds with 96.4%");
    assert_has(text, "(1)        messages_per_second of pion: invalid in 8 of 8 runs: the runner");
    assert_has(text,
               "(2)        dying: failed in 8 of 8 runs: peer said \\x1b[31m<b>|@all\\r\\n`x`");
    assert_has(text, "  regressed  node-datachannel-0.33: messages_per_second -32.2%\n");
    assert_has(text, "pairs vary by 7.8 % against a threshold of 15% (and 1\n");
    assert_has_not(text, "10.1 %");
    assert_has(text, "peaks of the roles");
    assert_has_not(text, "Hodges");
    free(text);
    text = text_of(report_made_variants, (struct report_style){.utf8 = true, .columns = 140});
    assert_has(text, wide);
    free(text);
}

static void one_wide_table_where_there_is_no_limit(void **state)
{
    (void)state;
    char *text = text_of(report_made_variants, (struct report_style){.columns = 0});
    assert_has(text, "  node-datachannel-0.33      48.3K/s 0.678 [0.658, 0.698]       1.21kB "
                     "1.006 [0.986, 1.026]");
    assert_has_not(text, "ratio to usrsctp ");
    free(text);
}

static void each_candidates_own_table_is_there_on_demand(void **state)
{
    (void)state;
    char *text = text_of(report_made_variants,
                         (struct report_style){.utf8 = true, .verbose = true, .columns = 140});
    assert_has(text, "ratio to usrsctp");
    assert_has(text, "Hodges-Lehmann");
    assert_has(text, "💩 -32.2%");
    assert_has_not(text, "with --verbose");
    free(text);
}

static void speed_ups_and_signs_of_all_profiles_come_last(void **state)
{
    static const char together[] =
        "CPUs  messages_per_second of rtc/cores\n"
        "                           1 CPU (0)     all CPUs\n"
        "  usrsctp                    71.2K/s      89.0K/s x1.25\n"
        "  pion                   invalid (1)  invalid (1)\n"
        "  node-datachannel-0.33      48.3K/s      60.4K/s x1.25\n"
        "  dying                   failed (2)   failed (2)\n"
        "  speed-up   over 1 CPU (0): the ratio of a variant's own medians under two\n"
        "             profiles; their runs are no pairs, so it has no bounds\n"
        "  (1)        pion: invalid in 8 of 8 runs: the runner says 'not all messages\n"
        "             delivered'\n"
        "  (2)        dying: failed in 8 of 8 runs: peer said \\x1b[31m<b>|@all\\r\\n`x`\n"
        "\n"
        "regimes  what was shown where\n"
        "  candidate              metric               (1)  (2)  (3)\n"
        "  pion                   messages_per_second  +    -    ±\n"
        "                         peak_rss             =    ?\n"
        "  node-datachannel-0.33  messages_per_second  +    =    +\n"
        "                         peak_rss             =    =    -\n"
        "  (1)        latency-bound\n"
        "  (2)        CPU-bound\n"
        "  (3)        1800 B | <i>@x</i>\n"
        "  signs      + better, - worse (both bounds beyond 1 %, or judged regressed), =\n"
        "             neither was shown, ? undecided\n"
        "  flips      messages_per_second of pion: wins in latency-bound, loses in\n"
        "             CPU-bound\n"
        "  flips      node-datachannel-0.33: wins in latency-bound, CPU-bound; loses in\n"
        "             1800 B | <i>@x</i> (by another metric)\n"
        "\n";
    (void)state;
    char *text = text_of(report_made_variants, (struct report_style){.utf8 = true, .columns = 80});
    char *color = text_of(report_made_variants,
                          (struct report_style){.utf8 = true, .color = true, .columns = 140});
    assert_has(text, together);
    assert_null(strchr(text, '\033'));
    assert_true(harmless(text, false));
    assert_true(harmless(color, true));
    assert_has(color, "latency-bound");    /* by name where there is room */
    assert_has(color, "\033[32m+\033[0m"); /* better */
    assert_has(color, "\033[31m-\033[0m"); /* worse */
    free(text);
    free(color);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_to_the_width),
        cmocka_unit_test(uses_a_wide_terminal),
        cmocka_unit_test(never_prints_nan),
        cmocka_unit_test(passes_on_no_escape_of_a_child),
        cmocka_unit_test(has_no_escape_without_colour),
        cmocka_unit_test(is_ascii_without_utf8),
        cmocka_unit_test(marks_better_and_worse),
        cmocka_unit_test(failures_of_the_candidate_come_first),
        cmocka_unit_test(says_once_what_was_not_measured_and_why),
        cmocka_unit_test(has_a_block_for_every_candidate),
        cmocka_unit_test(says_what_a_verdict_rests_on),
        cmocka_unit_test(says_where_the_ratio_of_medians_differs_from_the_change),
        cmocka_unit_test(ends_with_plan_archive_and_digest),
        cmocka_unit_test(variants_stand_side_by_side_in_the_width_that_is_there),
        cmocka_unit_test(one_wide_table_where_there_is_no_limit),
        cmocka_unit_test(each_candidates_own_table_is_there_on_demand),
        cmocka_unit_test(speed_ups_and_signs_of_all_profiles_come_last),
        cmocka_unit_test(changes_from_zero_have_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
