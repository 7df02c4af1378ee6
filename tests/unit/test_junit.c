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

static char *junit_of(void (*make)(struct report *, struct arena *))
{
    struct arena arena = ARENA_INIT;
    struct report r;
    struct buf out = BUF_INIT;
    make(&r, &arena);
    report_junit(&r, &out);
    arena_release(&arena);
    return buf_detach(&out);
}

static size_t times(const char *text, const char *part)
{
    size_t n = 0;
    for (const char *p = strstr(text, part); p; p = strstr(p + 1, part))
        n++;
    return n;
}

/* Tags nest, attributes are quoted, no bare & or < stands in a value. */
static void assert_well_formed(const char *text)
{
    char open[8][32];
    size_t depth = 0;
    for (const char *p = strchr(text + 5, '<'); p; p = strchr(p, '<')) {
        bool closing = p[1] == '/', quoted = false;
        const char *q = p + 1 + closing;
        size_t len = strcspn(q, " />");
        assert_true(len > 0 && len < 32);
        const char *end = q + len;
        for (; *end && (quoted || *end != '>'); end++) {
            if (*end == '"')
                quoted = !quoted;
            assert_true(*end != '<');
            if (*end == '&')
                assert_true(strcspn(end, ";") < 7);
        }
        assert_int_equal(*end, '>');
        if (closing) {
            assert_true(depth > 0);
            depth--;
            assert_int_equal(strncmp(open[depth], q, len), 0);
        } else if (end[-1] != '/') {
            assert_true(depth < 8);
            snprintf(open[depth++], 32, "%.*s", (int)len, q);
        }
        p = end;
    }
    assert_int_equal(depth, 0);
}

static void a_judged_metric_is_a_test_case(void **state)
{
    (void)state;
    char *text = junit_of(report_made);
    assert_int_equal(times(text, "<testsuite "), 2);
    assert_int_equal(times(text, "<testcase"), 4 + 2); /* and one a profile */
    assert_non_null(strstr(text, "classname=\"flow/streams,streams=10.candidate\" "
                                 "name=\"cpu_per_gbit\">\n      <failure message=\"regressed: "
                                 "change +19.3% [+17.2, +21.4], limit +15%\""));
    free(text);
}

static void counts_agree_with_the_cases(void **state)
{
    (void)state;
    char *text = junit_of(report_made);
    assert_non_null(strstr(text, "<testsuites name=\"flow\" tests=\"6\" failures=\"2\" "
                                 "errors=\"0\" skipped=\"2\">"));
    assert_int_equal(times(text, "<failure"), 2);
    assert_int_equal(times(text, "<skipped"), 2);
    free(text);
}

static void is_xml_whatever_a_child_printed(void **state)
{
    (void)state;
    char *text = junit_of(report_made_failed);
    assert_true(harmless(text, false));
    assert_null(strstr(text, "<script"));
    assert_well_formed(text);
    free(text);
}

static void is_xml_without_any_figure(void **state)
{
    (void)state;
    char *text = junit_of(report_made_empty);
    assert_well_formed(text);
    assert_null(strstr(text, "nan"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_judged_metric_is_a_test_case),
        cmocka_unit_test(counts_agree_with_the_cases),
        cmocka_unit_test(is_xml_whatever_a_child_printed),
        cmocka_unit_test(is_xml_without_any_figure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
