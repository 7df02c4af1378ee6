/* Comments keep to their size, stay whole as markup, and can be found again. */
#include "check.h"

#include "base/buf.h"
#include "report/comment.h"

#include <string.h>

#define END "Commit 0123."

static struct buf made;

static const char *make(const char *name, const char *markdown, size_t max)
{
    buf_clear(&made);
    comment_make(name, markdown, strlen(markdown), END, max, &made);
    assert_true(made.len <= max);
    return made.data;
}

static size_t count(const char *text, const char *word)
{
    size_t n = 0;

    for (; (text = strstr(text, word)) != NULL; text += strlen(word))
        n++;
    return n;
}

static int clear(void **state)
{
    (void)state;
    buf_release(&made);
    return 0;
}

static void what_fits_is_taken_over(void **state)
{
    (void)state;
    assert_string_equal(make("gate", "### verdict\n\n- x\n", 1000),
                        "<!-- abba: gate -->\n### verdict\n\n- x\n\n" END "\n");
}

static void a_name_cannot_end_the_marker(void **state)
{
    (void)state;
    assert_int_equal(strncmp(make("a --> <b>@c", "x\n", 1000), "<!-- abba: a ___ _b__c -->\n", 27),
                     0);
}

/* Any size: a prefix of whole lines, every fold closed, the end line there. */
static void detail_goes_last_first(void **state)
{
    struct buf text = BUF_INIT;

    (void)state;
    buf_addstr(&text, "### verdict\n\n<details open><summary>a</summary>\n\n");
    for (int i = 0; i < 60; i++)
        buf_printf(&text, "- line %d: `<details>`\n", i);
    buf_addstr(&text, "<details><summary>b</summary>\n\n");
    for (int i = 60; i < 99; i++)
        buf_printf(&text, "- line %d: `</details>`\n", i);
    buf_addstr(&text, "\n</details>\n\n</details>\n");
    for (size_t max = 1000; max < text.len + 500; max += 7) {
        const char *c = make("x", text.data, max);
        const char *lines = strstr(c, "### verdict");
        assert_non_null(lines);
        assert_int_equal(count(c, "\n<details"), count(c, "\n</details>"));
        assert_non_null(strstr(c, "\n" END "\n"));
        bool all = strstr(c, "line 98:") != NULL;
        assert_true(all || strstr(c, "left out here; the archive has them"));
        for (int i = 1; i < 99; i++) {
            char line[32], before[32];
            snprintf(line, sizeof(line), "- line %d:", i);
            snprintf(before, sizeof(before), "- line %d:", i - 1);
            assert_true(!strstr(c, line) || strstr(c, before));
        }
    }
    assert_non_null(strstr(made.data, "line 98:"));
    buf_release(&text);
}

static void a_monstrous_line_costs_only_itself(void **state)
{
    struct buf text = BUF_INIT;

    (void)state;
    buf_addstr(&text, "### verdict\n- ");
    buf_fill(&text, '`', 10 << 20);
    buf_addstr(&text, "\n- after\n");
    assert_non_null(strstr(make("x", text.data, 1000), "- after"));
    assert_non_null(strstr(made.data, "10485762 bytes of detail are left out"));
    buf_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(what_fits_is_taken_over, clear),
        cmocka_unit_test_teardown(a_name_cannot_end_the_marker, clear),
        cmocka_unit_test_teardown(detail_goes_last_first, clear),
        cmocka_unit_test_teardown(a_monstrous_line_costs_only_itself, clear),
    };

    return cmocka_run_group_tests_name("comment", tests, NULL, NULL);
}
