/* base/words: a command is split as a POSIX shell would, and never run by one. */
#include "check.h"

#include <string.h>

#include "base/words.h"

/* The words, each in brackets. */
static const char *split(const char *text)
{
    static char out[512];
    struct arena arena = ARENA_INIT;
    struct buf b = BUF_INIT;
    struct err err = {0};
    char **words;
    size_t count;

    if (words_split(&arena, text, &words, &count, &err) < 0) {
        buf_printf(&b, "%s", err.msg);
        assert_int_equal(err.code, ERR_USAGE);
    } else {
        for (size_t i = 0; i < count; i++)
            buf_printf(&b, "[%s]", words[i]);
        assert_null(words[count]);
    }
    snprintf(out, sizeof out, "%s", b.data);
    buf_release(&b);
    arena_release(&arena);
    return out;
}

static void words_part_at_blanks(void **state)
{
    (void)state;
    assert_string_equal(split("gzip -kf FILE"), "[gzip][-kf][FILE]");
    assert_string_equal(split("  a \t b\n\nc  "), "[a][b][c]");
    assert_string_equal(split(""), "");
    assert_string_equal(split(" \n "), "");
    assert_string_equal(split("a"), "[a]");
}

static void quotes_keep_blanks_and_join(void **state)
{
    (void)state;
    assert_string_equal(split("'a b' \"c d\""), "[a b][c d]");
    assert_string_equal(split("a'b'\"c\"d"), "[abcd]");
    assert_string_equal(split("'' \"\" x''"), "[][][x]");
    assert_string_equal(split("'\"' \"'\""), "[\"][']");
    assert_string_equal(split("'a\\b'"), "[a\\b]");
    assert_string_equal(split("\"a\\b\\\"\\\\\\$\\`\""), "[a\\b\"\\$`]");
    assert_string_equal(split("\"a\\\nb\""), "[ab]");
}

static void backslash_quotes_one_character(void **state)
{
    (void)state;
    assert_string_equal(split("a\\ b"), "[a b]");
    assert_string_equal(split("\\'\\\"\\\\"), "['\"\\]");
    assert_string_equal(split("a\\\nb"), "[ab]");
    assert_string_equal(split("a \\\n b"), "[a][b]");
}

static void nothing_is_expanded(void **state)
{
    (void)state;
    assert_string_equal(split("echo $HOME * ~ `ls` a|b >c #d"),
                        "[echo][$HOME][*][~][`ls`][a|b][>c][#d]");
}

static void what_is_not_closed_is_an_error_with_its_column(void **state)
{
    (void)state;
    assert_string_equal(split("a 'b c"), "single quote without its end at column 3 of the command");
    assert_string_equal(split("\"b c"), "double quote without its end at column 1 of the command");
    assert_string_equal(split("\"b\\\""),
                        "double quote without its end at column 1 of the command");
    assert_string_equal(split("ab\\"),
                        "backslash with nothing after it at column 3 of the command");
}

static void a_single_character_each_fits_the_list(void **state)
{
    struct arena arena = ARENA_INIT;
    struct buf b = BUF_INIT;
    struct err err = {0};
    char **words;
    size_t count;

    (void)state;
    for (int i = 0; i < 1000; i++)
        buf_addstr(&b, i % 2 ? "x " : "'' ");
    assert_int_equal(words_split(&arena, b.data, &words, &count, &err), 0);
    assert_int_equal(count, 1000);
    assert_null(words[1000]);
    buf_clear(&b);
    buf_addstr(&b, "a b c");
    assert_int_equal(words_split(&arena, b.data, &words, &count, &err), 0);
    assert_int_equal(count, 3);
    buf_release(&b);
    arena_release(&arena);
}

static void quoted_words_split_back(void **state)
{
    static const char *const words[] = {"plain", "",     "two words", "it's", "a\"b\\c",
                                        "$x",    "-o=1", "new\nline", "*"};
    const size_t n = sizeof words / sizeof *words;
    struct arena arena = ARENA_INIT;
    struct buf b = BUF_INIT;
    struct err err = {0};
    char **back;
    size_t count;

    (void)state;
    words_quote(&b, words, n);
    assert_string_equal(b.data, "plain '' 'two words' 'it'\\''s' 'a\"b\\c' '$x' -o=1 "
                                "'new\nline' '*'");
    assert_int_equal(words_split(&arena, b.data, &back, &count, &err), 0);
    assert_int_equal(count, n);
    for (size_t i = 0; i < n; i++)
        assert_string_equal(back[i], words[i]);
    buf_release(&b);
    arena_release(&arena);
}

static void what_a_shell_would_act_on_is_noticed(void **state)
{
    (void)state;
    assert_int_equal(words_shell_character("a | b"), '|');
    assert_int_equal(words_shell_character("a 'x|y' \"p;q\" b"), '\0');
    assert_int_equal(words_shell_character("a \"$x\""), '$');
    assert_int_equal(words_shell_character("a '$x' \\$y"), '\0');
    assert_int_equal(words_shell_character("ls *.c"), '*');
    assert_int_equal(words_shell_character("gzip -k file"), '\0');
    assert_int_equal(words_shell_character("x\\"), '\0');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_part_at_blanks),
        cmocka_unit_test(quotes_keep_blanks_and_join),
        cmocka_unit_test(backslash_quotes_one_character),
        cmocka_unit_test(nothing_is_expanded),
        cmocka_unit_test(what_is_not_closed_is_an_error_with_its_column),
        cmocka_unit_test(a_single_character_each_fits_the_list),
        cmocka_unit_test(quoted_words_split_back),
        cmocka_unit_test(what_a_shell_would_act_on_is_noticed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
