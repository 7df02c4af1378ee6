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

/* A table's rows have as many cells as its head. */
static void rows_have_the_cells_of_their_head(void **state)
{
    (void)state;
    char *text = markdown_of(report_made_failed), *save = NULL;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verdict_comes_first),
        cmocka_unit_test(regressions_are_open_and_the_rest_is_folded),
        cmocka_unit_test(words_of_a_child_become_no_markup),
        cmocka_unit_test(a_unit_becomes_no_markup),
        cmocka_unit_test(rows_have_the_cells_of_their_head),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
