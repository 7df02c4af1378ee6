/* base/json_writer, json_cursor: numbers read back exactly, with and without a tree. */
#include "check.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_cursor.h"
#include "base/json_writer.h"

static void assert_prints(double value, const char *want)
{
    char text[JSON_DOUBLE_TEXT];

    assert_int_equal(json_format_double(value, text), strlen(want));
    assert_string_equal(text, want);
}

static void numbers_print_as_people_write_them(void **state)
{
    (void)state;
    assert_prints(0, "0");
    assert_prints(-0.0, "-0");
    assert_prints(1, "1");
    assert_prints(-42, "-42");
    assert_prints(0.1, "0.1");
    assert_prints(0.1 + 0.2, "0.30000000000000004");
    assert_prints(-0.0001, "-0.0001");
    assert_prints(0.00012, "0.00012");
    assert_prints(0.00001, "1e-05");
    assert_prints(1.5, "1.5");
    assert_prints(123456.789, "123456.789");
    assert_prints(320.00000000000006, "320.00000000000006");
    assert_prints(1e15, "1000000000000000");
    assert_prints(9007199254740991.0, "9007199254740991");
    assert_prints(9007199254740992.0, "9.007199254740992e+15");
    assert_prints(12345678901234568.0, "1.2345678901234568e+16");
    assert_prints(1e22, "1e+22");
    assert_prints(DBL_MAX, "1.7976931348623157e+308");
    assert_prints(DBL_TRUE_MIN, "4.94065645841247e-324");
    assert_prints(DBL_MIN, "2.2250738585072014e-308");
}

/* xorshift64* (Vigna 2016), so that the same numbers come every time. */
static uint64_t next_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545F4914F6CDD1DU;
}

static void shortest_of(double value, char *out, size_t size)
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(out, size, "%.*g", digits, value);
        if (strtod(out, NULL) == value)
            return;
    }
}

static void check_round_trip(double value)
{
    char text[JSON_DOUBLE_TEXT];
    char want[64];
    struct err err = {0};
    struct json_cursor c;
    double back;

    size_t len = json_format_double(value, text);
    assert_true(strtod(text, NULL) == value);
    if (json_scan(text, len, "number", NULL, &err) < 0)
        fail_msg("%s", err.msg);
    jc_init(&c, text, len);
    assert_true(jc_double(&c, &back));
    if (memcmp(&back, &value, sizeof value) != 0)
        fail_msg("%s reads as %.17g", text, back);
    struct json *j = json_parse(text, len, "number", &err);
    double tree = json_number(j);
    assert_memory_equal(&tree, &value, sizeof value);
    json_free(j);
    if (fabs(value) < 1e15) {
        shortest_of(value, want, sizeof want);
        assert_string_equal(text, want);
    }
}

static void a_hundred_thousand_random_doubles_read_back(void **state)
{
    uint64_t seed = 42;

    (void)state;
    for (int i = 0; i < 100000; i++) {
        uint64_t bits = next_random(&seed);
        double value;
        memcpy(&value, &bits, sizeof value);
        if (isfinite(value))
            check_round_trip(value);
        /* And of the sizes that measuring gives, with few and with all digits. */
        check_round_trip((double)(bits >> 11) / 0x1p53 * 1000);
        check_round_trip((double)(bits >> 40) / 1000);
        check_round_trip(nearbyint((double)(bits >> 20) / 7) / 1e9);
    }
}

/* Below a power of two the doubles lie twice as close as above it. */
static void powers_of_two_and_their_neighbours_read_back(void **state)
{
    (void)state;
    for (int exponent = -1074; exponent < 1024; exponent++) {
        double power = ldexp(1, exponent);
        check_round_trip(power);
        check_round_trip(nextafter(power, 0));
        check_round_trip(nextafter(power, DBL_MAX));
    }
}

static void write_all(struct json_writer *w)
{
    jw_object_begin(w);
    jw_key(w, "run");
    jw_int(w, -1);
    jw_key(w, "list");
    jw_array_begin(w);
    jw_double(w, 0.5);
    jw_double(w, NAN);
    jw_double(w, INFINITY);
    jw_string(w, NULL);
    jw_string(w, "a\x01"
                 "b");
    jw_uint(w, UINT64_MAX);
    jw_int(w, INT64_MIN);
    jw_array_end(w);
    jw_key(w, "empty");
    jw_array_begin(w);
    jw_array_end(w);
    jw_key(w, "raw");
    jw_raw(w, "[1]", 3);
    jw_key(w, "b");
    jw_bool(w, false);
    jw_object_end(w);
}

static void the_writer_puts_every_comma_where_it_belongs(void **state)
{
    struct buf out = BUF_INIT;
    struct json_writer w;
    struct err err;

    (void)state;
    jw_init(&w, &out, false);
    write_all(&w);
    assert_string_equal(out.data, "{\"run\":-1,\"list\":[0.5,null,null,null,\"a\\u0001b\","
                                  "\"18446744073709551615\",\"-9223372036854775808\"],"
                                  "\"empty\":[],\"raw\":[1],\"b\":false}");
    buf_clear(&out);
    jw_init(&w, &out, true);
    jw_object_begin(&w);
    jw_key(&w, "a");
    jw_array_begin(&w);
    jw_int(&w, 1);
    jw_object_begin(&w);
    jw_object_end(&w);
    jw_array_end(&w);
    jw_object_end(&w);
    assert_string_equal(out.data, "{\n  \"a\": [\n    1,\n    {}\n  ]\n}");
    assert_int_equal(json_scan(out.data, out.len, "out", NULL, &err), 0);
    buf_release(&out);
}

static void what_is_not_utf_8_is_written_as_replacement_characters(void **state)
{
    struct buf out = BUF_INIT;
    const char *text = "ok \xFF\xC3 \xE2\x82\xAC \x1b[0m";

    (void)state;
    json_quote(&out, text, strlen(text));
    assert_string_equal(out.data, "\"ok \xEF\xBF\xBD\xEF\xBF\xBD \xE2\x82\xAC \\u001b[0m\"");
    buf_release(&out);
}

static void the_cursor_walks_what_the_scanner_took(void **state)
{
    const char *text = " { \"run\" : 7 , \"skip\" : { \"a\" : [ 1, \"]}\" ] } , \"ok\":true,"
                       "\"n\\u0065w\":[ 1.5, -2e3, null ], \"s\":\"x\\n\\\"y\\ud83d\\ude00\","
                       "\"\\u0065sc\": \"\", \"e\":[], \"o\":{} } ";
    struct buf s = BUF_INIT;
    struct json_text key;
    struct json_text value;
    struct json_cursor c;
    struct err err;
    int64_t run = 0;
    double x = 0;
    bool ok = false;
    int keys = 0;

    (void)state;
    assert_int_equal(json_scan(text, strlen(text), "t", NULL, &err), 0);
    jc_init(&c, text, strlen(text));
    assert_int_equal(jc_kind(&c), JSON_OBJECT);
    assert_false(jc_enter_array(&c));
    assert_true(jc_enter_object(&c));
    while (jc_next_key(&c, &key)) {
        keys++;
        if (json_text_is(&key, "run")) {
            assert_false(jc_string(&c, &value));
            assert_true(jc_int(&c, &run));
        } else if (json_text_is(&key, "ok")) {
            assert_true(jc_bool(&c, &ok));
        } else if (json_text_is(&key, "new")) {
            assert_true(jc_enter_array(&c));
            assert_true(jc_next_item(&c) && jc_double(&c, &x));
            check_same(x, 1.5);
            assert_true(jc_next_item(&c));
            assert_false(jc_null(&c));
            assert_true(jc_double(&c, &x));
            check_same(x, -2000);
            assert_true(jc_next_item(&c) && jc_null(&c));
            assert_false(jc_next_item(&c));
        } else if (json_text_is(&key, "s")) {
            assert_true(jc_string(&c, &value));
            assert_true(value.escaped);
            assert_int_equal(json_text_add(&value, &s), 0);
        } else if (json_text_is(&key, "e")) {
            assert_true(jc_enter_array(&c));
            assert_false(jc_next_item(&c));
        } else if (json_text_is(&key, "o")) {
            struct json_text none;
            assert_true(jc_enter_object(&c));
            assert_false(jc_next_key(&c, &none));
        } else {
            assert_true(json_text_is(&key, "skip") || json_text_is(&key, "esc"));
            jc_skip(&c, &value);
        }
    }
    assert_int_equal(keys, 8);
    assert_int_equal(run, 7);
    assert_true(ok);
    assert_string_equal(s.data, "x\n\"y\xF0\x9F\x98\x80");
    buf_release(&s);
}

/* Decimals of every length, which strtod rounds correctly. */
static void the_cursor_rounds_decimals_as_strtod_does(void **state)
{
    uint64_t seed = 7;
    char text[64];
    struct json_cursor c;
    double got;

    (void)state;
    for (int i = 0; i < 200000; i++) {
        uint64_t bits = next_random(&seed);
        int shift = (int)(next_random(&seed) % 64);
        int n = snprintf(text, sizeof text, "%s%llu", i % 2 ? "-" : "",
                         (unsigned long long)(bits >> shift));
        snprintf(text + n, sizeof text - (size_t)n, ".%0*llu", 1 + i % 20,
                 (unsigned long long)(next_random(&seed) % 1000));
        jc_init(&c, text, strlen(text));
        assert_true(jc_double(&c, &got));
        double want = strtod(text, NULL);
        if (memcmp(&got, &want, sizeof want) != 0)
            fail_msg("%s reads as %.17g, not %.17g", text, got, want);
    }
    /* Ties: half-way between neighbouring doubles. */
    static const char *const ties[] = {"9007199254740993",
                                       "9007199254740995",
                                       "9007199254740993.0",
                                       "4503599627370496.5",
                                       "4503599627370497.5",
                                       "-0",
                                       "-0.0",
                                       "9007199254740993.1",
                                       "18014398509481986"};
    for (size_t i = 0; i < sizeof ties / sizeof *ties; i++) {
        double want = strtod(ties[i], NULL);
        jc_init(&c, ties[i], strlen(ties[i]));
        assert_true(jc_double(&c, &got));
        assert_memory_equal(&got, &want, sizeof want);
    }
}

static void the_cursor_takes_only_exact_integers(void **state)
{
    struct json_cursor c;
    int64_t i = 5;

    (void)state;
    jc_init(&c, "1.5", 3);
    assert_false(jc_int(&c, &i));
    jc_init(&c, "1e300", 5);
    assert_false(jc_int(&c, &i));
    jc_init(&c, "-9007199254740991", 17);
    assert_true(jc_int(&c, &i));
    assert_true(i == -9007199254740991LL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_print_as_people_write_them),
        cmocka_unit_test(a_hundred_thousand_random_doubles_read_back),
        cmocka_unit_test(powers_of_two_and_their_neighbours_read_back),
        cmocka_unit_test(the_writer_puts_every_comma_where_it_belongs),
        cmocka_unit_test(what_is_not_utf_8_is_written_as_replacement_characters),
        cmocka_unit_test(the_cursor_walks_what_the_scanner_took),
        cmocka_unit_test(the_cursor_rounds_decimals_as_strtod_does),
        cmocka_unit_test(the_cursor_takes_only_exact_integers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
