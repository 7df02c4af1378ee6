#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "archive/redact.h"

static struct redaction names;

static int begin(void **state)
{
    (void)state;
    redaction_add(&names, "alice", "USER");
    redaction_add(&names, "/home/alice", "HOME");
    redaction_add(&names, "vm-12", "HOST");
    redaction_add(&names, "vm-12.example.org", "HOST");
    redaction_add(&names, "10.0.0.5", "ADDRESS");
    redaction_add(&names, "fe80::1234", "ADDRESS");
    return 0;
}

static int end(void **state)
{
    (void)state;
    redaction_release(&names);
    return 0;
}

static void becomes(const char *text, const char *want)
{
    struct buf out = BUF_INIT;

    assert_true(redaction_apply(&names, text, strlen(text), &out));
    assert_string_equal(out.data, want);
    buf_release(&out);
}

static void stays(const char *text)
{
    struct buf out = BUF_INIT;

    assert_false(redaction_apply(&names, text, strlen(text), &out));
    assert_int_equal(out.len, 0);
    buf_release(&out);
}

static void names_are_replaced_as_whole_words(void **state)
{
    (void)state;
    becomes("alice", "USER");
    becomes("by alice@vm-12:", "by USER@HOST:");
    becomes("alice alice,alice", "USER USER,USER");
    becomes("open /home/alice/src/x.c failed", "open HOME/src/x.c failed");
    becomes("vm-12.example.org and vm-12", "HOST and HOST");
    becomes("listening on 10.0.0.5:8080.", "listening on ADDRESS:8080.");
    becomes("[fe80::1234%eth0]", "[ADDRESS%eth0]");
}

static void parts_of_other_words_stay(void **state)
{
    (void)state;
    stays("malice, alice2, alice_b, x-alice");
    stays("vm-123 vm-12-a");
    stays("110.0.0.5 10.0.0.55");
    stays("/home/alicebob");
    stays("");
}

static void bytes_that_are_no_text_are_kept(void **state)
{
    (void)state;
    struct buf out = BUF_INIT;

    assert_true(redaction_apply(&names,
                                "\0\xff"
                                "alice\0",
                                8, &out));
    assert_int_equal(out.len, 7);
    assert_memory_equal(out.data,
                        "\0\xff"
                        "USER\0",
                        7);
    buf_release(&out);
}

static void words_that_say_nothing_are_not_taken(void **state)
{
    (void)state;
    struct redaction r = {0};

    redaction_add(&r, "root", "USER");
    redaction_add(&r, "/root", "HOME");
    redaction_add(&r, "localhost", "HOST");
    redaction_add(&r, "127.0.0.1", "ADDRESS");
    redaction_add(&r, "ab", "USER");
    redaction_add(&r, "", "USER");
    assert_int_equal(r.count, 0);
    redaction_add(&r, "abc", "USER");
    redaction_add(&r, "abc", "USER");
    assert_int_equal(r.count, 1);
    redaction_release(&r);
}

static void the_home_folder_of_this_user_is_replaced(void **state)
{
    (void)state;
    static const char text[] = "open /home/abba-tester/x";
    struct redaction r = {0};
    struct buf out = BUF_INIT;

    setenv("HOME", "/home/abba-tester/", 1);
    redaction_add_host(&r);
    assert_true(redaction_apply(&r, text, strlen(text), &out));
    assert_string_equal(out.data, "open HOME/x");
    buf_release(&out);
    redaction_release(&r);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(names_are_replaced_as_whole_words),
        TEST(parts_of_other_words_stay),
        TEST(bytes_that_are_no_text_are_kept),
        cmocka_unit_test(words_that_say_nothing_are_not_taken),
        cmocka_unit_test(the_home_folder_of_this_user_is_replaced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
