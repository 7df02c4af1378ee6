/* base/pattern: finds what it should, says where a pattern is wrong, and never hangs. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "base/pattern.h"

static struct pattern *compiled(const char *source)
{
    struct err err = {0};
    struct pattern *p = pattern_new(source, &err);

    if (p == NULL)
        fail_msg("%s", err.msg);
    return p;
}

/* All values of a group, in brackets; group 0 if it has no "value". */
static const char *matches(const char *source, const char *text, size_t len)
{
    static char out[512];
    struct pattern *p = compiled(source);
    int group = pattern_has_group(p, "value") ? pattern_group(p, "value") : 0;
    enum pattern_result r;
    struct pattern_match m;
    size_t offset = 0;
    size_t at = 0;

    out[0] = '\0';
    while ((r = pattern_next(p, text, len, &offset, &m)) == PATTERN_MATCH && at < 400) {
        struct pattern_span s = m.group[group];
        if (s.start == SIZE_MAX)
            at += (size_t)snprintf(out + at, sizeof out - at, "[unset]");
        else
            at += (size_t)snprintf(out + at, sizeof out - at, "[%.*s]", (int)(s.end - s.start),
                                   text + s.start);
    }
    if (r == PATTERN_GAVE_UP)
        snprintf(out + at, sizeof out - at, "gave up");
    pattern_free(p);
    return out;
}

#define MATCHES(source, text) matches(source, text, sizeof(text) - 1)

static void lines_end_in_any_usual_way(void **state)
{
    (void)state;
    assert_string_equal(MATCHES("^ready$", "no\nready\nyes"), "[ready]");
    assert_string_equal(MATCHES("^ready$", "no\r\nready\r\nyes"), "[ready]");
    assert_string_equal(MATCHES("^ready$", "no\rready\ryes"), "[ready]");
    assert_string_equal(MATCHES("^x=(?<value>\\d+)", "x=1\nx=22\n x=3\nx=\nx=4"), "[1][22][4]");
    assert_string_equal(MATCHES("a.b", "a\nb"), "");
}

static void groups_give_their_spans(void **state)
{
    struct pattern *p = compiled("(?<name>\\w+)=(?<value>[\\d.]+)(?<unit>ms)?");
    struct pattern_match m;
    size_t offset = 0;
    const char *text = "  rtt=12.5 x";

    (void)state;
    assert_true(pattern_has_group(p, "value"));
    assert_false(pattern_has_group(p, "values"));
    assert_int_equal(pattern_group(p, "name"), 1);
    assert_int_equal(pattern_group(p, "nothing"), -1);
    assert_int_equal(pattern_next(p, text, strlen(text), &offset, &m), PATTERN_MATCH);
    assert_int_equal(m.group[0].start, 2);
    assert_int_equal(m.group[2].start, 6);
    assert_int_equal(m.group[2].end, 10);
    assert_true(m.group[3].start == SIZE_MAX);
    assert_int_equal(offset, 10);
    assert_string_equal(pattern_source(p), "(?<name>\\w+)=(?<value>[\\d.]+)(?<unit>ms)?");
    pattern_free(p);
}

static void empty_matches_end(void **state)
{
    (void)state;
    assert_string_equal(MATCHES("a*", "baab"), "[][aa][][]");
    assert_string_equal(MATCHES("", "\u00e9x"), "[][][]");
    assert_string_equal(MATCHES("$", "a\n"), "[][]");
    assert_string_equal(MATCHES("(?=a)", "aa"), "[][]");
    assert_string_equal(MATCHES("a\\Kb?", "abab"), "[b][b]");
    assert_string_equal(MATCHES("x", ""), "");
}

static void text_that_is_not_utf_8_is_searched_around(void **state)
{
    (void)state;
    assert_string_equal(MATCHES("v=(?<value>\\d+)", "\xff\xfev=1\xc3\nv=2\x80 v=3\xf0\x9f"),
                        "[1][2][3]");
    assert_string_equal(MATCHES("v=(?<value>\\d+)", "v=1\0v=2"), "[1][2]");
    assert_string_equal(MATCHES("[\\d\u00a0\u202f]+", "28\u202f801 x"), "[28\u202f801]");
    assert_string_equal(MATCHES("", "\xff\xff"), "[][][]");
}

static void assert_no_pattern(const char *source, const char *message)
{
    struct err err = {0};

    assert_null(pattern_new(source, &err));
    if (strstr(err.msg, message) == NULL)
        fail_msg("'%s' says: %s", source, err.msg);
    assert_int_equal(err.code, ERR_CONFIG);
}

static void a_broken_pattern_is_refused_with_its_column(void **state)
{
    (void)state;
    assert_no_pattern("a(b", "pattern 'a(b' does not compile: missing closing parenthesis");
    assert_no_pattern("a(b", "at column 4");
    assert_no_pattern("\u00e9*+?{", "pattern");
    assert_no_pattern("[z-a]", "at column 4");
    assert_no_pattern("\\C", "does not compile");
    assert_no_pattern("\xff", "does not compile");
    assert_no_pattern("()()()()()()()()()()()()()()()()", "16 groups, at most 15");
}

static char *repeated(const char *piece, size_t count, size_t *len)
{
    size_t n = strlen(piece);
    char *text = malloc(n * count);

    for (size_t i = 0; i < count; i++)
        memcpy(text + i * n, piece, n);
    *len = n * count;
    return text;
}

static void a_catastrophic_pattern_gives_up(void **state)
{
    struct err err = {0};
    size_t len;
    char *text = repeated("a", 100000, &len);

    (void)state;
    assert_string_equal(matches("(a+)+$|^b", text, 40),
                        "[aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa]");
    text[40] = '!';
    assert_string_equal(matches("^(a+)+$", text, 41), "gave up");
    assert_string_equal(matches("^(a|aa)+$", text, 41), "gave up");
    assert_string_equal(matches("(\\w+\\s?)+[:;]", text, 40), "gave up");
    struct pattern *p = compiled("^(a+)+$");
    assert_int_equal(pattern_search(p, text, 41), PATTERN_GAVE_UP);
    assert_int_equal(pattern_gave_up(p, &err), -1);
    assert_string_equal(err.msg, "pattern '^(a+)+$' gave up: it backtracks too much");
    assert_int_equal(err.code, ERR_MEASURE);
    pattern_free(p);
    free(text);
}

/* Work in the square of the text's length, with no limit passed at any one point. */
static void a_long_line_cannot_hold_the_search_for_ever(void **state)
{
    size_t len;
    char *text = repeated("1234567890", 200000, &len);
    struct pattern *p = compiled("(?:a|\\d)(?:\\d|b)*+[;:]");

    (void)state;
    assert_int_equal(pattern_search(p, text, len), PATTERN_GAVE_UP);
    pattern_free(p);
    free(text);
}

static void deep_repeats_fit_the_stack_or_give_up(void **state)
{
    size_t len;
    char *text = repeated("ab", 200000, &len);
    struct pattern *p = compiled("^(?:a(?=b)b)*+$");
    struct pattern *q = compiled("^(a|b)*$");

    (void)state;
    assert_int_equal(pattern_search(p, text, len), PATTERN_MATCH);
    assert_int_not_equal(pattern_search(q, text, len), PATTERN_NONE);
    pattern_free(p);
    pattern_free(q);
    free(text);
}

static void a_big_text_is_searched_to_its_end(void **state)
{
    size_t len;
    char *text = repeated("line of a log with delivered=12 in it\n", 50000, &len);
    struct pattern *p = compiled("delivered=(?<value>\\d+)");
    struct pattern *last = compiled("delivered=99");
    struct pattern_match m;
    size_t offset = 0;
    int count = 0;

    (void)state;
    while (pattern_next(p, text, len, &offset, &m) == PATTERN_MATCH)
        count++;
    assert_int_equal(count, 50000);
    assert_int_equal(pattern_search(last, text, len), PATTERN_NONE);
    memcpy(text + len - 9, "99", 2);
    memcpy(text + len - 19, "delivered=99", 12);
    assert_int_equal(pattern_search(last, text, len), PATTERN_MATCH);
    pattern_free(p);
    pattern_free(last);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_end_in_any_usual_way),
        cmocka_unit_test(groups_give_their_spans),
        cmocka_unit_test(empty_matches_end),
        cmocka_unit_test(text_that_is_not_utf_8_is_searched_around),
        cmocka_unit_test(a_broken_pattern_is_refused_with_its_column),
        cmocka_unit_test(a_catastrophic_pattern_gives_up),
        cmocka_unit_test(a_long_line_cannot_hold_the_search_for_ever),
        cmocka_unit_test(deep_repeats_fit_the_stack_or_give_up),
        cmocka_unit_test(a_big_text_is_searched_to_its_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
