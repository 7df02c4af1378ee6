#include "base/buf.h"
#include "base/mem.h"
#include "report/report.h"
#include "report_made.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char *markdown_of(void (*make)(struct report *, struct arena *))
{
    struct arena arena = ARENA_INIT;
    struct report r;
    struct buf out = BUF_INIT;
    struct report_style style = {.utf8 = true, .archive = "archive/x/", .digest = "0123"};
    make(&r, &arena);
    report_markdown(&r, &style, &out);
    arena_release(&arena);
    return buf_detach(&out);
}

static void verdict_comes_first(void **state)
{
    (void)state;
    char *text = markdown_of(report_made);
    const char *head = "### ❌ abba: regressed\n";
    assert_int_equal(strncmp(text, head, strlen(head)), 0);
    free(text);
}

static void regressions_are_open_and_the_rest_is_folded(void **state)
{
    (void)state;
    char *text = markdown_of(report_made);
    const char *fold = strstr(text, "<details>");
    const char *open = strstr(text, "`cpu_per_gbit`");
    const char *quiet = strstr(text, "`peak_rss`");
    assert_non_null(fold);
    assert_true(open && open < fold);
    assert_true(quiet && quiet > fold);
    assert_non_null(strstr(fold, "| bounds (96.4% each) |"));
    assert_string_equal(text + strlen(text) - strlen("\n</details>\n"), "\n</details>\n");
    free(text);
}

/* Outside of code spans nothing of the child may be active. */
static void words_of_a_child_become_no_markup(void **state)
{
    (void)state;
    char *text = markdown_of(report_made_failed);
    assert_null(strstr(text, "<script"));
    assert_null(strstr(text, "@everyone"));
    assert_null(strstr(text, "[x](http"));
    assert_null(strstr(text, "\033"));
    assert_true(harmless(text, false));
    free(text);
}

static void with_a_unit_of_a_childs(struct report *r, struct arena *arena)
{
    report_made(r, arena);
    r->profiles[0].metrics[0].unit = "@all";
    r->profiles[0].metrics[0].baseline_median = 5000; /* from a thousand on it stands behind it */
}

static void a_unit_becomes_no_markup(void **state)
{
    (void)state;
    char *text = markdown_of(with_a_unit_of_a_childs);
    assert_null(strstr(text, "@all"));
    assert_non_null(strstr(text, "5.00K @\u200ball"));
    free(text);
}

static void assert_has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("no '%s' in:\n%s", part, text);
}

static void variants_profiles_and_regimes_stand_in_the_open(void **state)
{
    static const char table[] =
        "`rtc/message`:\n"
        "\n"
        "| | `messages_per_second` | `heap_bytes_per_message` | `window_cpu_per_message` | "
        "`peak_rss` | verdict |\n"
        "|---|---:|---:|---:|---:|---|\n"
        "| `usrsctp` | 71.2K/s | 1.20kB | 13.7us | 3.10MB |  |\n"
        "| `pion` | invalid (1) | 9.80kB<br>×8.17 \\[8.15, 8.19\\] | 29.2us<br>×2.13 \\[2.11, "
        "2.15\\] | 31.0MB<br>×10.0 \\[10.0, 10.0\\] | incomplete |\n"
        "| `node-datachannel-0.33` | 48.3K/s<br>×0.678 \\[0.658, 0.698\\] | 1.21kB<br>×1.006 "
        "\\[0.986, 1.026\\] | 26.6us<br>×1.94 \\[1.92, 1.96\\] | 62.0MB<br>×20.0 \\[20.0, 20.0\\] "
        "| regressed |\n"
        "| `dying` | failed (2) | failed (2) | failed (2) | failed (2) | incomplete |\n"
        "\n";
    static const char scaling[] = "`messages_per_second` of `rtc/cores`:\n"
                                  "\n"
                                  "| | 1 CPU \\(0\\) | all CPUs |\n"
                                  "|---|---:|---:|\n"
                                  "| `usrsctp` | 71.2K/s | 89.0K/s<br>×1.25 |\n"
                                  "| `pion` | invalid (1) | invalid (1) |\n"
                                  "| `node-datachannel-0.33` | 48.3K/s | 60.4K/s<br>×1.25 |\n"
                                  "| `dying` | failed (2) | failed (2) |\n"
                                  "\n";
    static const char grid[] = "| candidate | metric | latency\\-bound | CPU\\-bound | 1800 B \\| "
                               "&lt;i&gt;@​x&lt;/i&gt; |\n"
                               "|---|---|:-:|:-:|:-:|\n"
                               "| `pion` | `messages_per_second` | + | - | ± |\n"
                               "| `pion` | `peak_rss` | = | ? |  |\n"
                               "| `node-datachannel-0.33` | `messages_per_second` | + | = | + |\n"
                               "| `node-datachannel-0.33` | `peak_rss` | = | = | - |\n"
                               "\n";
    (void)state;
    char *text = markdown_of(report_made_variants);
    char *fold = strstr(text, "<details>");
    assert_non_null(fold);
    *fold = '\0';
    assert_has(text, table);
    assert_has(text, scaling);
    assert_has(text, grid);
    assert_has(text,
               "- ⚠️ messages\\_per\\_second of pion:\u200b wins in latency\\-bound, loses in "
               "CPU\\-bound\n");
    assert_has(text, "(2) dying:\u200b failed in 8 of 8 runs");
    assert_null(strstr(text, "<b>"));
    assert_null(strstr(text, "@all"));
    assert_null(strstr(text, "<i>"));
    free(text);
}

static void assert_rows_fit_heads(void (*make)(struct report *, struct arena *))
{
    char *text = markdown_of(make), *save = NULL;
    size_t head = 0;
    for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        size_t bars = 0;
        for (const char *p = line; *p; p++)
            bars += *p == '|' && (p == line || p[-1] != '\\');
        if (line[0] != '|') {
            head = 0;
            continue;
        }
        head = head ? head : bars;
        assert_int_equal(bars, head);
    }
    free(text);
}

/* A table's rows have as many cells as its head. */
static void rows_have_the_cells_of_their_head(void **state)
{
    (void)state;
    assert_rows_fit_heads(report_made_failed);
    assert_rows_fit_heads(report_made_variants);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verdict_comes_first),
        cmocka_unit_test(regressions_are_open_and_the_rest_is_folded),
        cmocka_unit_test(words_of_a_child_become_no_markup),
        cmocka_unit_test(a_unit_becomes_no_markup),
        cmocka_unit_test(variants_profiles_and_regimes_stand_in_the_open),
        cmocka_unit_test(rows_have_the_cells_of_their_head),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
