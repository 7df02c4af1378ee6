/* base/json, json_scan: what strict JSON takes, refuses and says. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"

static struct json *parse(const char *text)
{
    struct err err = {0};

    return json_parse(text, strlen(text), "f.json", &err);
}

static void assert_refused(const char *text, const char *message)
{
    struct err err = {0};
    size_t len = strlen(text);
    /* An exact copy, so that a read past the end is seen. */
    char *copy = xmalloc(len);

    memcpy(copy, text, len);
    struct json *j = json_parse(copy, len, "f.json", &err);
    free(copy);
    if (j != NULL)
        print_error("taken: %s\n", text);
    assert_null(j);
    if (strstr(err.msg, message) == NULL)
        print_error("'%s' says: %s\n", text, err.msg);
    assert_non_null(strstr(err.msg, message));
    assert_int_equal(err.code, ERR_CONFIG);
}

static void assert_taken(const char *text)
{
    struct err err = {0};
    size_t len = strlen(text);
    char *copy = xmalloc(len);

    memcpy(copy, text, len);
    struct json *j = json_parse(copy, len, "f.json", &err);
    free(copy);
    if (j == NULL)
        print_error("refused: %s: %s\n", text, err.msg);
    assert_non_null(j);
    json_free(j);
}

static void well_formed_text_is_taken(void **state)
{
    (void)state;
    assert_taken("0");
    assert_taken(" -0 ");
    assert_taken("123");
    assert_taken("-1.5e-10");
    assert_taken("1E+2");
    assert_taken("true");
    assert_taken("null");
    assert_taken("\"\"");
    assert_taken("[]");
    assert_taken("{}");
    assert_taken("\t[ 1 , [ ] , { } , \"x\" , false ]\r\n");
    assert_taken("{\"a\":{\"a\":{\"a\":1}},\"b\":[{\"a\":1},{\"a\":2}]}");
    assert_taken("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\uD83D\\uDE00\"");
    assert_taken("\"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\xEF\xBF\xBF\"");
    assert_taken("9007199254740991");
    assert_taken("-9007199254740991");
    assert_taken("1e308");
    assert_taken("1e-400");
    assert_taken("\"\x7f\"");
}

static void malformed_numbers_are_refused(void **state)
{
    (void)state;
    assert_refused("01", "line 1 column 1: number with a leading zero");
    assert_refused("-01", "leading zero");
    assert_refused("1.", "expected a digit after the decimal point");
    assert_refused(".5", "expected a value, found '.'");
    assert_refused("+1", "expected a value, found '+'");
    assert_refused("-", "expected a digit, found the end of the text");
    assert_refused("1e", "expected a digit in the exponent");
    assert_refused("1e+", "expected a digit in the exponent");
    assert_refused("1.e5", "expected a digit after the decimal point");
    assert_refused("0x10", "nothing after the value, found 'x'");
    assert_refused("NaN", "expected a value, found 'N'");
    assert_refused("nan", "expected a value, found 'n'");
    assert_refused("Infinity", "expected a value, found 'I'");
    assert_refused("-Infinity", "expected a digit, found 'I'");
    assert_refused("1_000", "nothing after the value");
    assert_refused("1e999", "number 1e999 is beyond what a double holds");
    assert_refused("-1e309", "beyond what a double holds");
    assert_refused("[1,2,0123]", "column 6");
    assert_refused("0.1111111111111111111111111111111111111111111111111111111111111111111",
                   "more than 63 characters");
}

static void integers_beyond_2_to_53_are_refused_with_a_hint(void **state)
{
    struct err err = {0};

    (void)state;
    assert_refused("9007199254740992", "integer 9007199254740992 is beyond 2^53");
    assert_refused("-9007199254740992", "beyond 2^53");
    assert_refused("{\"seed\":18446744073709551615}", "column 9");
    assert_refused("100000000000000000000", "beyond 2^53");
    assert_null(json_parse("9007199254740993", 16, "f.json", &err));
    assert_string_equal(err.hint, "write it as a string");
}

static void foreign_text_may_hold_big_integers(void **state)
{
    const struct json_rules foreign = {.big_integers = true};
    struct err err = {0};

    (void)state;
    struct json *j = json_parse_with("18446744073709551615", 20, "out", &foreign, &err);
    assert_non_null(j);
    check_same(json_number(j), 18446744073709551615.0);
    json_free(j);
}

static void malformed_strings_are_refused(void **state)
{
    (void)state;
    assert_refused("\"abc", "line 1 column 1: string without its closing quote");
    assert_refused("\"abc\\", "string without its closing quote");
    assert_refused("\"\\x41\"", "unknown escape");
    assert_refused("\"\\u00\"", "\\u needs four hex digits");
    assert_refused("\"\\u00g0\"", "\\u needs four hex digits");
    assert_refused("\"a\\u0000b\"", "column 3: \\u0000 is not allowed");
    assert_refused("\"\\ud800\"", "lone surrogate \\ud800");
    assert_refused("\"\\ud800x\"", "lone surrogate");
    assert_refused("\"\\ud800\\u0041\"", "lone surrogate");
    assert_refused("\"\\ud800\\ud800\"", "lone surrogate");
    assert_refused("\"\\udc00\"", "lone surrogate \\udc00");
    assert_refused("\"tab\there\"", "control character 0x09");
    assert_refused("\"line\nend\"", "line 1 column 6: control character 0x0a");
    assert_refused("'single'", "found '''");
}

static void text_that_is_not_utf_8_is_refused(void **state)
{
    (void)state;
    assert_refused("\"\xFF\"", "column 2: byte 0xff is not UTF-8");
    assert_refused("\"\xC3\"", "not UTF-8");
    assert_refused("\"\xC0\x80\"", "not UTF-8");
    assert_refused("\"\xC1\xBF\"", "not UTF-8");
    assert_refused("\"\xE0\x80\x80\"", "not UTF-8");
    assert_refused("\"\xED\xA0\x80\"", "not UTF-8");
    assert_refused("\"\xF0\x80\x80\x80\"", "not UTF-8");
    assert_refused("\"\xF4\x90\x80\x80\"", "not UTF-8");
    assert_refused("\"\xF5\x80\x80\x80\"", "not UTF-8");
    assert_refused("\"\x80\"", "not UTF-8");
    assert_refused("\"\xE2\x82", "not UTF-8");
    assert_refused("\xEF\xBB\xBF{}", "byte order mark");
    assert_refused("\xFF", "found byte 0xff");
}

static void broken_structure_is_refused_with_its_place(void **state)
{
    (void)state;
    assert_refused("", "expected a value, found the end of the text");
    assert_refused("  \n ", "line 2 column 2: expected a value");
    assert_refused("{", "expected a key in double quotes, found the end");
    assert_refused("[", "expected a value, found the end");
    assert_refused("[1", "expected ',' or ']' after an item, found the end");
    assert_refused("[1,", "expected a value, found the end");
    assert_refused("[1,]", "expected a value, found ']'");
    assert_refused("[1 2]", "found '2'");
    assert_refused("{\"a\"}", "expected ':' after the key, found '}'");
    assert_refused("{\"a\":}", "expected a value, found '}'");
    assert_refused("{\"a\":1,}", "expected a key in double quotes, found '}'");
    assert_refused("{\"a\":1 \"b\":2}", "expected ',' or '}' after a member");
    assert_refused("{a:1}", "expected a key in double quotes, found 'a'");
    assert_refused("{\"a\":1}}", "nothing after the value, found '}'");
    assert_refused("{\"a\":1]", "found ']'");
    assert_refused("[1}", "found '}'");
    assert_refused("1 2", "column 3: expected nothing after the value");
    assert_refused("tru", "expected a value");
    assert_refused("True", "expected a value");
    assert_refused("{\n  \"a\": 1,\n  // no\n}", "line 3 column 3");
    assert_refused("[\"\xC3\xA9\xC3\xA9\", x]", "column 8");
}

static void every_cut_of_a_document_is_refused(void **state)
{
    const char *text = "{\"a\":[1,-2.5e3,true,null],\"b\\u00e9\":{\"c\":\"x\\ny\",\"d\":{}}}";
    struct err err;

    (void)state;
    for (size_t len = 0; len < strlen(text); len++)
        assert_null(json_parse(text, len, "cut", &err));
    assert_taken(text);
}

static void duplicate_keys_are_refused(void **state)
{
    (void)state;
    assert_refused("{\"a\":1,\n\"a\":2}", "line 2 column 1: duplicate key \"a\" (first on line 1)");
    assert_refused("{\"a\":1,\"\\u0061\":2}", "duplicate key \"a\"");
    assert_refused("{\"\":1,\"\":2}", "duplicate key \"\"");
    assert_refused("[{\"x\":{\"k\":1,\"k\":1}}]", "duplicate key \"k\"");
    assert_refused("{\"a\":1,\"b\":{\"a\":1},\"a\":2}", "duplicate key \"a\"");
    assert_taken("{\"a\":1,\"A\":2,\"a \":3}");
}

/* {"k0":{"k0":..},"k1":..}: many keys, an inner object of many keys before the last of them. */
static void add_many_keys(struct buf *b, int count, int inner, const char *last)
{
    buf_addch(b, '{');
    for (int i = 0; i < count; i++) {
        buf_printf(b, "\"k%d\":", i);
        if (i == count / 2 && inner > 0)
            add_many_keys(b, inner, 0, NULL);
        else
            buf_addch(b, '0');
        buf_addch(b, i == count - 1 && last == NULL ? '}' : ',');
    }
    if (last != NULL)
        buf_printf(b, "\"%s\":0}", last);
}

static void duplicates_are_found_among_many_keys(void **state)
{
    struct buf b = BUF_INIT;
    char last[16];

    (void)state;
    for (int count = 1; count < 200; count += 7) {
        buf_clear(&b);
        add_many_keys(&b, count, count, NULL);
        assert_taken(b.data);
        for (int i = 0; i < count; i += 3) {
            snprintf(last, sizeof last, "k%d", i);
            buf_clear(&b);
            add_many_keys(&b, count, count, last);
            assert_refused(b.data, "duplicate key");
        }
    }
    buf_clear(&b);
    add_many_keys(&b, 200000, 100, "k131071");
    assert_refused(b.data, "duplicate key \"k131071\"");
    buf_release(&b);
}

static void nesting_ends_at_64(void **state)
{
    struct buf b = BUF_INIT;

    (void)state;
    buf_fill(&b, '[', 64);
    buf_fill(&b, ']', 64);
    assert_taken(b.data);
    buf_clear(&b);
    buf_fill(&b, '[', 10000);
    buf_fill(&b, ']', 10000);
    assert_refused(b.data, "line 1 column 65: nested more than 64 deep");
    buf_clear(&b);
    for (int i = 0; i < 10000; i++)
        buf_addstr(&b, "{\"a\":");
    assert_refused(b.data, "nested more than 64 deep");
    buf_release(&b);
}

static void text_beyond_the_limit_is_refused_unread(void **state)
{
    const struct json_rules rules = {.max_bytes = 10, .code = ERR_ARCHIVE};
    struct err err = {0};

    (void)state;
    assert_null(json_parse_with("[1,2,3,4,5]", 11, "big.json", &rules, &err));
    assert_string_equal(err.msg, "'big.json' is too large: 11 bytes, at most 10");
    assert_int_equal(err.code, ERR_ARCHIVE);
}

static void lines_are_counted_from_the_given_one(void **state)
{
    const struct json_rules rules = {.line = 37};
    struct err err = {0};

    (void)state;
    assert_int_equal(json_scan("{]", 2, "samples.jsonl", &rules, &err), -1);
    assert_non_null(strstr(err.msg, "'samples.jsonl' line 37 column 2"));
}

static void values_are_read_back(void **state)
{
    struct json *j = parse("{\"n\":null,\"t\":true,\"x\":-2.5,\"s\":\"a\\u00e9\\n\","
                           "\"l\":[1,\"two\",[3]],\"o\":{\"N\":1,\"n\":2}}");
    int64_t i;

    (void)state;
    assert_non_null(j);
    assert_int_equal(json_kind(j), JSON_OBJECT);
    assert_int_equal(json_count(j), 6);
    assert_int_equal(json_kind(json_get(j, "n")), JSON_NULL);
    assert_true(json_bool(json_get(j, "t")));
    check_same(json_number(json_get(j, "x")), -2.5);
    assert_false(json_integer(json_get(j, "x"), &i));
    assert_string_equal(json_string(json_get(j, "s")), "a\xC3\xA9\n");
    const struct json *second = json_next(json_first(json_get(j, "l")));
    assert_string_equal(json_string(second), "two");
    assert_null(json_next(json_next(second)));
    assert_true(json_integer(json_get(json_get(j, "o"), "n"), &i));
    assert_int_equal(i, 2);
    assert_null(json_get(j, "N"));
    assert_null(json_get(json_get(j, "l"), "x"));
    assert_string_equal(json_key(json_first(j)), "n");
    assert_string_equal(json_key(json_next(json_first(j))), "t");
    assert_null(json_key(json_first(json_get(j, "l"))));
    assert_null(json_first(json_get(j, "x")));
    json_free(j);
}

static void pointers_follow_rfc_6901(void **state)
{
    /* The example of its section 5. */
    struct json *j = parse("{\"foo\":[\"bar\",\"baz\"],\"\":0,\"a/b\":1,\"c%d\":2,\"e^f\":3,"
                           "\"g|h\":4,\"i\\\\j\":5,\"k\\\"l\":6,\" \":7,\"m~n\":8}");
    static const struct {
        const char *pointer;
        double value;
    } numbers[] = {{"/", 0},     {"/a~1b", 1}, {"/c%d", 2}, {"/e^f", 3}, {"/g|h", 4},
                   {"/i\\j", 5}, {"/k\"l", 6}, {"/ ", 7},   {"/m~0n", 8}};

    (void)state;
    assert_ptr_equal(json_pointer(j, ""), j);
    assert_int_equal(json_kind(json_pointer(j, "/foo")), JSON_ARRAY);
    assert_string_equal(json_string(json_pointer(j, "/foo/0")), "bar");
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        check_same(json_number(json_pointer(j, numbers[i].pointer)), numbers[i].value);
    assert_null(json_pointer(j, "/foo/2"));
    assert_null(json_pointer(j, "/foo/01"));
    assert_null(json_pointer(j, "/foo/-"));
    assert_null(json_pointer(j, "/foo/"));
    assert_null(json_pointer(j, "/foo/0/x"));
    assert_null(json_pointer(j, "/foo/99999999999999999999"));
    assert_null(json_pointer(j, "foo"));
    assert_null(json_pointer(j, "/m~2n"));
    assert_null(json_pointer(j, "/m~"));
    json_free(j);
}

static void assert_canonical(const char *text, const char *want)
{
    struct buf out = BUF_INIT;
    struct err err = {0};
    struct json *j = parse(text);

    assert_non_null(j);
    assert_int_equal(json_write_canonical(j, &out, &err), 0);
    assert_string_equal(out.data, want);
    json_free(j);
    buf_release(&out);
}

static void the_canonical_form_sorts_keys_and_leaves_nothing_to_choice(void **state)
{
    (void)state;
    assert_canonical("{ \"b\" : [ 1.0 , -0.0 , 1e3 ] , \"a\" : { \"z\" : null , \"A\" : true } }",
                     "{\"a\":{\"A\":true,\"z\":null},\"b\":[1,0,1000]}");
    assert_canonical("{\"\\u00e9\":1,\"z\":2,\"\\ud83d\\ude00\":3,\"\\uffff\":4,\"\":5}",
                     "{\"\":5,\"z\":2,\"\xC3\xA9\":1,\"\xEF\xBF\xBF\":4,\"\xF0\x9F\x98\x80\":3}");
    assert_canonical("\"\\/\\u0041\\u001f\\n\\u007f\\\"\\\\\"", "\"/A\\u001f\\n\x7f\\\"\\\\\"");
    assert_canonical("[]", "[]");
    assert_canonical("{}", "{}");
}

static void the_canonical_form_refuses_fractions_with_their_path(void **state)
{
    struct buf out = BUF_INIT;
    struct err err = {0};
    struct json *j = parse("{\"a\":[1,{\"b\":0.5}]}");

    (void)state;
    assert_int_equal(json_write_canonical(j, &out, &err), -1);
    assert_non_null(strstr(err.msg, "$.a[1].b: "));
    json_free(j);
    j = parse("9007199254740992.0");
    assert_non_null(j);
    assert_int_equal(json_write_canonical(j, &out, &err), -1);
    json_free(j);
    buf_release(&out);
}

static void trees_are_written_in_the_order_of_their_text(void **state)
{
    struct buf out = BUF_INIT;
    struct json *root = parse("{ \"list\" : [0.1,\"a\\u0022b\",null], \"yes\":true,\"empty\":{} }");

    (void)state;
    json_write(root, &out);
    assert_string_equal(out.data, "{\"list\":[0.1,\"a\\\"b\",null],\"yes\":true,\"empty\":{}}");
    buf_clear(&out);
    json_write_pretty(root, &out);
    assert_string_equal(out.data, "{\n  \"list\": [\n    0.1,\n    \"a\\\"b\",\n    null\n  ],\n"
                                  "  \"yes\": true,\n  \"empty\": {}\n}");
    json_free(root);
    buf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(well_formed_text_is_taken),
        cmocka_unit_test(malformed_numbers_are_refused),
        cmocka_unit_test(integers_beyond_2_to_53_are_refused_with_a_hint),
        cmocka_unit_test(foreign_text_may_hold_big_integers),
        cmocka_unit_test(malformed_strings_are_refused),
        cmocka_unit_test(text_that_is_not_utf_8_is_refused),
        cmocka_unit_test(broken_structure_is_refused_with_its_place),
        cmocka_unit_test(every_cut_of_a_document_is_refused),
        cmocka_unit_test(duplicate_keys_are_refused),
        cmocka_unit_test(duplicates_are_found_among_many_keys),
        cmocka_unit_test(nesting_ends_at_64),
        cmocka_unit_test(text_beyond_the_limit_is_refused_unread),
        cmocka_unit_test(lines_are_counted_from_the_given_one),
        cmocka_unit_test(values_are_read_back),
        cmocka_unit_test(pointers_follow_rfc_6901),
        cmocka_unit_test(the_canonical_form_sorts_keys_and_leaves_nothing_to_choice),
        cmocka_unit_test(the_canonical_form_refuses_fractions_with_their_path),
        cmocka_unit_test(trees_are_written_in_the_order_of_their_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
