/* base/fields: every complaint names the file, the path, what was found and what is allowed. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "base/fields.h"

static const char text[] =
    "{\"runner\":\"srt\",\"pairs\":8,\"share\":0.5,\"on\":true,"
    "\"roles\":{\"sender\":{\"after\":[\"receiver\",7],\"command\":[\"a\",\"b\"]},\"receiver\":{}},"
    "\"delay\":\"20ms\",\"rate\":\"320mbit\",\"size\":\"16MiB\",\"limit\":\"10%\","
    "\"bad\":\"20\",\"durtion\":1,\"nothing\":null}";

struct file {
    struct json *json;
    struct fields root;
    struct err err;
};

static int open_file(void **state)
{
    struct file *f = calloc(1, sizeof *f);

    *state = f;
    f->json = json_parse(text, strlen(text), "f.json", &f->err);
    return f->json == NULL ? -1 : fields_init(&f->root, "f.json", f->json, &f->err);
}

static int close_file(void **state)
{
    struct file *f = *state;

    json_free(f->json);
    free(f);
    return 0;
}

#define assert_says(f, message)                                                                    \
    do {                                                                                           \
        if (strstr((f)->err.msg, message) == NULL)                                                 \
            fail_msg("says: %s", (f)->err.msg);                                                    \
        assert_int_equal((f)->err.code, ERR_CONFIG);                                               \
    } while (0)

static void values_of_the_right_kind_are_read(void **state)
{
    struct file *f = *state;
    const char *s = NULL;
    int64_t i = 0;
    double x = 0;
    uint64_t u = 0;
    bool b = false;
    int choice = -1;
    struct fields share;
    static const char *const choices[] = {"flow", "srt", NULL};

    assert_int_equal(fields_string(&f->root, "runner", FIELDS_REQUIRED, &s, &f->err), 0);
    assert_string_equal(s, "srt");
    assert_int_equal(fields_int(&f->root, "pairs", FIELDS_REQUIRED, 1, 8, &i, &f->err), 0);
    assert_int_equal(i, 8);
    assert_int_equal(fields_child(&f->root, "share", FIELDS_REQUIRED, &share, &f->err), 0);
    assert_int_equal(fields_as_number(&share, 0, 1, &x, &f->err), 0);
    check_same(x, 0.5);
    assert_int_equal(fields_bool(&f->root, "on", FIELDS_REQUIRED, &b, &f->err), 0);
    assert_true(b);
    assert_int_equal(fields_choice(&f->root, "runner", FIELDS_REQUIRED, choices, &choice, &f->err),
                     0);
    assert_int_equal(choice, 1);
    assert_int_equal(fields_time_ns(&f->root, "delay", FIELDS_REQUIRED, &i, &f->err), 0);
    assert_true(i == 20000000);
    assert_int_equal(fields_rate_bps(&f->root, "rate", FIELDS_REQUIRED, &u, &f->err), 0);
    assert_true(u == 320000000);
    assert_int_equal(fields_size_bytes(&f->root, "size", FIELDS_REQUIRED, &u, &f->err), 0);
    assert_true(u == 16777216);
    assert_int_equal(fields_percent(&f->root, "limit", FIELDS_REQUIRED, &x, &f->err), 0);
    check_same(x, 0.1);
    assert_true(fields_has(&f->root, "nothing"));
    assert_false(fields_has(&f->root, "absent"));
}

static void an_absent_optional_key_leaves_the_default(void **state)
{
    struct file *f = *state;
    const char *s = "default";
    int64_t i = 3;
    struct fields child;
    struct fields item = {0};

    assert_int_equal(fields_string(&f->root, "absent", FIELDS_OPTIONAL, &s, &f->err), 0);
    assert_string_equal(s, "default");
    assert_int_equal(fields_int(&f->root, "absent", FIELDS_OPTIONAL, 1, 2, &i, &f->err), 0);
    assert_int_equal(i, 3);
    assert_int_equal(fields_array(&f->root, "absent", FIELDS_OPTIONAL, &child, &f->err), 0);
    assert_null(child.value);
    assert_false(fields_next(&child, &item));
    assert_false(fields_has(&child, "x"));
    assert_int_equal(fields_string(&child, "x", FIELDS_OPTIONAL, &s, &f->err), 0);
}

static void a_missing_key_is_named(void **state)
{
    struct file *f = *state;
    const char *s;

    assert_int_equal(fields_string(&f->root, "profile", FIELDS_REQUIRED, &s, &f->err), -1);
    assert_says(f, "'f.json': $: key \"profile\" is missing");
}

static void an_unknown_key_comes_with_the_nearest_and_all_known(void **state)
{
    static const char *const known[] = {"runner",  "pairs",    "share", "on",    "roles",
                                        "delay",   "rate",     "size",  "limit", "bad",
                                        "nothing", "duration", NULL};
    static const char *const none[] = {"x", NULL};
    struct file *f = *state;
    struct fields roles;

    assert_int_equal(fields_known(&f->root, known, &f->err), -1);
    assert_says(f, "'f.json': $: unknown key \"durtion\" (allowed: runner, pairs, share, on,");
    assert_string_equal(f->err.hint, "did you mean \"duration\"?");
    assert_int_equal(fields_object(&f->root, "roles", FIELDS_REQUIRED, &roles, &f->err), 0);
    assert_int_equal(fields_known(&roles, none, &f->err), -1);
    assert_says(f, "'f.json': $.roles: unknown key \"sender\"");
    assert_string_equal(f->err.hint, "");
}

static void a_wrong_kind_says_what_was_found_where(void **state)
{
    struct file *f = *state;
    struct arena arena = ARENA_INIT;
    struct fields roles, sender;
    const char *const *list;
    const char *s;
    size_t count;
    int64_t i;
    bool b;

    assert_int_equal(fields_object(&f->root, "roles", FIELDS_REQUIRED, &roles, &f->err), 0);
    assert_int_equal(fields_object(&roles, "sender", FIELDS_REQUIRED, &sender, &f->err), 0);
    assert_int_equal(
        fields_string_list(&sender, "after", FIELDS_REQUIRED, &arena, &list, &count, &f->err), -1);
    assert_says(f, "'f.json': $.roles.sender.after[1]: found 7, expected a string");
    assert_int_equal(fields_string(&f->root, "roles", FIELDS_REQUIRED, &s, &f->err), -1);
    assert_says(f, "$.roles: found an object, expected a string");
    assert_int_equal(fields_bool(&f->root, "nothing", FIELDS_OPTIONAL, &b, &f->err), -1);
    assert_says(f, "$.nothing: found null, expected true or false");
    assert_int_equal(fields_int(&f->root, "share", FIELDS_OPTIONAL, 0, 5, &i, &f->err), -1);
    assert_says(f, "$.share: found 0.5, expected an integer from 0 to 5");
    assert_int_equal(fields_int(&f->root, "pairs", FIELDS_OPTIONAL, 9, INT64_MAX, &i, &f->err), -1);
    assert_says(f, "$.pairs: found 8, expected an integer of at least 9");
    assert_int_equal(fields_object(&f->root, "runner", FIELDS_OPTIONAL, &roles, &f->err), -1);
    assert_says(f, "$.runner: found \"srt\", expected an object");
    arena_release(&arena);
}

static void a_bad_quantity_names_its_place_and_its_units(void **state)
{
    struct file *f = *state;
    int64_t ns = 7;
    double x;

    assert_int_equal(fields_time_ns(&f->root, "bad", FIELDS_REQUIRED, &ns, &f->err), -1);
    assert_says(f, "'f.json': $.bad: '20' is not a time: the unit is missing (allowed units: ns");
    assert_int_equal(fields_time_ns(&f->root, "pairs", FIELDS_REQUIRED, &ns, &f->err), -1);
    assert_says(f, "$.pairs: found 8, expected a string with its unit, like \"20ms\"");
    assert_int_equal(fields_percent(&f->root, "delay", FIELDS_REQUIRED, &x, &f->err), -1);
    assert_says(f, "'20ms' is not a percentage");
    assert_int_equal(ns, 7);
}

static void an_unknown_choice_lists_all_and_the_nearest(void **state)
{
    static const char *const choices[] = {"sst", "flow", NULL};
    struct file *f = *state;
    int choice;

    assert_int_equal(fields_choice(&f->root, "runner", FIELDS_REQUIRED, choices, &choice, &f->err),
                     -1);
    assert_says(f, "$.runner: found \"srt\", expected one of: sst, flow");
    assert_string_equal(f->err.hint, "did you mean \"sst\"?");
    assert_int_equal(fields_choice(&f->root, "pairs", FIELDS_REQUIRED, choices, &choice, &f->err),
                     -1);
}

static void lists_and_free_keys_are_walked_in_order(void **state)
{
    struct file *f = *state;
    struct arena arena = ARENA_INIT;
    struct fields roles, sender, after;
    struct fields item = {0};
    const char *const *list;
    struct buf path = BUF_INIT;
    size_t count;

    assert_int_equal(fields_object(&f->root, "roles", FIELDS_REQUIRED, &roles, &f->err), 0);
    assert_true(fields_next(&roles, &item));
    assert_string_equal(item.key, "sender");
    assert_true(fields_next(&roles, &item));
    assert_string_equal(item.key, "receiver");
    assert_false(fields_next(&roles, &item));
    assert_int_equal(fields_object(&roles, "sender", FIELDS_REQUIRED, &sender, &f->err), 0);
    assert_int_equal(fields_array(&sender, "after", FIELDS_REQUIRED, &after, &f->err), 0);
    item = (struct fields){0};
    assert_true(fields_next(&after, &item));
    assert_true(fields_next(&after, &item));
    fields_path(&item, &path);
    assert_string_equal(path.data, "$.roles.sender.after[1]");
    assert_false(fields_next(&after, &item));
    assert_int_equal(
        fields_string_list(&sender, "command", FIELDS_REQUIRED, &arena, &list, &count, &f->err), 0);
    assert_int_equal(count, 2);
    assert_string_equal(list[1], "b");
    assert_null(list[2]);
    buf_release(&path);
    arena_release(&arena);
}

static void the_root_must_be_an_object(void **state)
{
    struct err err = {0};
    struct json *j = json_parse("[]", 2, "l.json", &err);
    struct fields f;

    (void)state;
    assert_int_equal(fields_init(&f, "l.json", j, &err), -1);
    assert_string_equal(err.msg, "'l.json': $: found an array, expected an object");
    json_free(j);
}

int main(void)
{
#define WITH_FILE(test) cmocka_unit_test_setup_teardown(test, open_file, close_file)
    const struct CMUnitTest tests[] = {
        WITH_FILE(values_of_the_right_kind_are_read),
        WITH_FILE(an_absent_optional_key_leaves_the_default),
        WITH_FILE(a_missing_key_is_named),
        WITH_FILE(an_unknown_key_comes_with_the_nearest_and_all_known),
        WITH_FILE(a_wrong_kind_says_what_was_found_where),
        WITH_FILE(a_bad_quantity_names_its_place_and_its_units),
        WITH_FILE(an_unknown_choice_lists_all_and_the_nearest),
        WITH_FILE(lists_and_free_keys_are_walked_in_order),
        cmocka_unit_test(the_root_must_be_an_object),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
