#include "check.h"

#include <string.h>

#include "base/mem.h"
#include "base/secrets.h"

static struct arena arena;

static int end(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

static void becomes(const char *text, const char *wanted)
{
    assert_string_equal(secrets_mask(text, NULL, &arena), wanted);
    assert_string_equal(secrets_mask(wanted, NULL, &arena), wanted); /* once more changes nothing */
}

static void stays(const char *text)
{
    assert_ptr_equal(secrets_mask(text, NULL, &arena), text);
}

static void addresses_lose_user_password_and_tokens(void **state)
{
    (void)state;
    becomes("https://user:pa55@host/x", "https://***@host/x");
    becomes("see https://ghtoken@github.com/a/b.git now", "see https://***@github.com/a/b.git now");
    becomes("http://h/x?a=1&access_token=abc123&b=2", "http://h/x?a=1&access_token=***&b=2");
    becomes("http://h/?X-Amz-Signature=0f0f#x", "http://h/?X-Amz-Signature=***#x");
    becomes("ftp://u:p@w@host/", "ftp://***@host/");
    stays("https://host:8080/path?x=1#token");
    stays("mail me@example.org");
}

static void settings_and_headers_lose_their_values(void **state)
{
    (void)state;
    becomes("DB_PASSWORD=hunter22 ./run", "DB_PASSWORD=*** ./run");
    becomes("--api-key=abcdef", "--api-key=***");
    becomes("Authorization: Basic dXNlcjpwYXNz", "Authorization: ***");
    becomes("{\"token\": \"abc\", \"n\": 1}", "{\"token\": \"***\", \"n\": 1}");
    becomes("x 'Cookie: a=b; c=d' y", "x 'Cookie: ***' y");
    becomes("use Bearer abcdefgh12345678 here", "use Bearer *** here");
    stays("max_tokens=100");
    stays("--auth=no");
    stays("author=somebody");
    stays("bypass=abc");
    stays("compass: north");
}

static void tokens_are_known_by_their_looks(void **state)
{
    (void)state;
    becomes("a ghp_0123456789abcdefghijABCDEFGHIJ b", "a *** b");
    becomes("AKIAABCDEFGHIJKLMNOP", "***");
    becomes("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abcdefghijk", "***");
    becomes("-----BEGIN OPENSSH PRIVATE KEY-----\nabc\n-----END OPENSSH PRIVATE KEY-----",
            "***-----END OPENSSH PRIVATE KEY-----");
    stays("skip-this-thing");
    stays("AKIA");
    stays("-----BEGIN CERTIFICATE-----");
}

static const char *item(const char *first, const char *second, struct strings *found)
{
    struct strings list = {0};

    strings_add(&list, &arena, first);
    strings_add(&list, &arena, second);
    return secrets_mask_item(&list, 1, found, &arena);
}

static void an_option_says_what_the_next_item_is(void **state)
{
    struct strings found = {0};

    (void)state;
    assert_string_equal(item("--password", "a b c", &found), "***");
    assert_string_equal(found.items[0], "a b c");
    assert_string_equal(item("-u", "me:word", &found), "***");
    assert_string_equal(item("-u", "me", &found), "me");
    assert_string_equal(item("x", "--password=a b c", &found), "--password=***");
    assert_string_equal(item("--password", "--other", &found), "--other");
    assert_string_equal(item("--max-tokens", "100", &found), "100");
    assert_string_equal(item("-H", "Authorization: Bearer xyz", &found), "Authorization: ***");
    assert_int_equal(found.count, 4);
}

static void a_variable_says_what_its_value_is(void **state)
{
    (void)state;
    assert_string_equal(secrets_mask_setting("GITHUB_TOKEN", "abc def", NULL, &arena), "***");
    assert_string_equal(secrets_mask_setting("PATH", "/a:/b", NULL, &arena), "/a:/b");
    assert_string_equal(secrets_mask_setting("http_proxy", "http://u:p@h", NULL, &arena),
                        "http://***@h");
    assert_string_equal(secrets_mask_setting("DB_PWD", "abcdef", NULL, &arena), "***");
    assert_string_equal(secrets_mask_setting("PWD", "/a/b", NULL, &arena), "/a/b");
    assert_string_equal(secrets_mask_setting("OLDPWD", "/a/b", NULL, &arena), "/a/b");
    assert_string_equal(secrets_mask_setting("TOKEN", "", NULL, &arena), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(addresses_lose_user_password_and_tokens, end),
        cmocka_unit_test_teardown(settings_and_headers_lose_their_values, end),
        cmocka_unit_test_teardown(tokens_are_known_by_their_looks, end),
        cmocka_unit_test_teardown(an_option_says_what_the_next_item_is, end),
        cmocka_unit_test_teardown(a_variable_says_what_its_value_is, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
