#include "base/buf.h"
#include "cli/help.h"
#include "cli/options.h"
#include "cli/settings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Parses the words, which follow a word for the sub-command. */
static int parse(const char *command, struct settings *s, struct err *err, ...)
{
    char *argv[32] = {(char *)command};
    int argc = 1;
    va_list ap;
    va_start(ap, err);
    for (char *word = va_arg(ap, char *); word; word = va_arg(ap, char *))
        argv[argc++] = word;
    va_end(ap);
    memset(err, 0, sizeof(*err));
    settings_init(s);
    return options_parse(cli_find(command), argc, argv, s, err);
}

static void assert_refused(const char *command, const char *word, const char *value,
                           const char *message, const char *hint)
{
    struct settings s;
    struct err err;
    assert_int_equal(parse(command, &s, &err, word, value, NULL), -1);
    assert_int_equal(err.code, ERR_USAGE);
    assert_string_equal(err.msg, message);
    if (hint)
        assert_string_equal(err.hint, hint);
    settings_release(&s);
}

static void short_options_bundle(void **state)
{
    struct settings s;
    struct err err;
    (void)state;
    assert_int_equal(parse("compare", &s, &err, "-fvn12", "a", "b", NULL), 0);
    assert_true(s.allow_failures);
    assert_true(s.verbose);
    assert_int_equal(s.pairs, 12);
    assert_int_equal(s.operands.count, 2);
    settings_release(&s);
}

static void long_options_take_their_argument_both_ways(void **state)
{
    struct settings s;
    struct err err;
    (void)state;
    assert_int_equal(parse("compare", &s, &err, "--pairs=7", "--pause", "50ms", NULL), 0);
    assert_int_equal(s.pairs, 7);
    assert_int_equal(s.pause_ns, 50 * 1000 * 1000);
    settings_release(&s);
}

static void options_may_follow_operands_and_two_dashes_end_them(void **state)
{
    struct settings s;
    struct err err;
    (void)state;
    assert_int_equal(parse("compare", &s, &err, "a", "-n", "6", "--", "-b", "--pairs", NULL), 0);
    assert_int_equal(s.pairs, 6);
    assert_int_equal(s.operands.count, 3);
    assert_string_equal(s.operands.items[1], "-b");
    settings_release(&s);
}

static void lists_gather_what_is_given_several_times(void **state)
{
    struct settings s;
    struct err err;
    (void)state;
    assert_int_equal(parse("run", &s, &err, "--candidate", "x", "-c", "y", NULL), 0);
    assert_int_equal(s.candidates.count, 2);
    assert_string_equal(s.candidates.items[1], "y");
    settings_release(&s);
}

static void presets_hold_until_something_else_is_given(void **state)
{
    struct settings s;
    struct err err;
    (void)state;
    assert_int_equal(parse("compare", &s, &err, NULL), 0);
    assert_int_equal(s.duration_ms, 5000);
    assert_int_equal(s.format, FORMAT_TEXT);
    assert_int_equal(s.pairs, -1);
    settings_release(&s);
    assert_int_equal(parse("compare", &s, &err, "-d", "100", NULL), 0);
    assert_int_equal(s.duration_ms, 100);
    settings_release(&s);
}

static void an_option_given_twice_is_refused(void **state)
{
    struct settings s;
    struct err err;
    (void)state;
    assert_int_equal(parse("compare", &s, &err, "-n", "6", "--pairs=6", NULL), -1);
    assert_string_equal(err.msg, "option '--pairs' is given twice");
    settings_release(&s);
}

static void an_unknown_option_names_the_nearest(void **state)
{
    (void)state;
    assert_refused("compare", "--paris", NULL, "unknown option '--paris'",
                   "did you mean '--pairs'?");
    assert_refused("compare", "--zzzzzzzz=4", NULL, "unknown option '--zzzzzzzz'",
                   "see 'abba compare --help'");
    assert_refused("compare", "-Z", NULL, "unknown option '-Z'", "see 'abba compare --help'");
    assert_refused("run", "--baseline-", NULL,
                   "option '--baseline-' could be '--baseline-arg' or '--baseline-env'", NULL);
}

static void a_missing_or_superfluous_argument_is_refused(void **state)
{
    (void)state;
    assert_refused("compare", "--pairs", NULL, "option '--pairs' needs an argument: N", NULL);
    assert_refused("compare", "-n", NULL, "option '--pairs' needs an argument: N", NULL);
    assert_refused("compare", "--quiet=1", NULL, "option '--quiet' takes no argument", NULL);
}

static void numbers_are_strict(void **state)
{
    static const char *const wrong[] = {"",    "0",   "-1",     "+6",
                                        " 6",  "6 ",  "6x",     "0x6",
                                        "1e3", "6.0", "100001", "99999999999999999999"};
    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        char message[200];
        snprintf(message, sizeof(message),
                 "option '--pairs': found '%s', allowed is a whole number from 1 to 10000",
                 wrong[i]);
        assert_refused("compare", "--pairs", wrong[i], message, NULL);
    }
}

static void a_wrong_choice_names_what_is_allowed(void **state)
{
    (void)state;
    assert_refused(
        "report", "--format", "jsn",
        "option '--format': found 'jsn', allowed is one of text, markdown, json, junit, csv",
        "did you mean 'json'?");
}

static void a_time_needs_its_unit(void **state)
{
    struct settings s;
    struct err err;
    (void)state;
    assert_int_equal(parse("compare", &s, &err, "--timeout", "5", NULL), -1);
    assert_int_equal(err.code, ERR_USAGE);
    assert_non_null(strstr(err.msg, "option '--timeout'"));
    settings_release(&s);
}

/* ---- the tables agree with what is shown ---- */

/* A value that the option takes. */
static const char *fitting(const struct option_def *o)
{
    static char least[24];

    switch (o->kind) {
    case OPTION_INTEGER:
        snprintf(least, sizeof(least), "%lld", (long long)(o->min > 1 ? o->min : 1));
        return least;
    case OPTION_TIME:
        return "1s";
    case OPTION_CHOICE:
        return o->choices[0];
    default:
        return "x";
    }
}

static void assert_parses(const struct command_def *c, const struct option_def *o, bool letter)
{
    char word[80];
    struct settings s;
    struct err err;
    if (letter)
        snprintf(word, sizeof(word), "-%c", o->letter);
    else
        snprintf(word, sizeof(word), "--%s", o->name);
    if (parse(c->name, &s, &err, word, o->arg ? fitting(o) : NULL, NULL) != 0)
        fail_msg("abba %s %s: %s", c->name, word, err.msg);
    assert_int_equal(s.operands.count, 0);
    settings_release(&s);
}

static void assert_shown(const char *text, const char *part, const char *where)
{
    if (!strstr(text, part))
        fail_msg("no '%s' in %s", part, where);
}

static void every_option_is_parsed_helped_completed_and_in_the_manual(void **state)
{
    struct buf manual = BUF_INIT, bash = BUF_INIT;
    (void)state;
    help_manual(&manual);
    help_bash(&bash);
    for (const struct command_def *const *c = cli_commands; *c; c++) {
        struct buf help = BUF_INIT;
        const struct option_def *o;
        help_command(*c, &help, 80);
        assert_shown(bash.data, (*c)->name, "completion");
        for (size_t i = 0; (o = option_at(*c, i)) != NULL; i++) {
            char word[80];
            assert_parses(*c, o, false);
            if (o->letter)
                assert_parses(*c, o, true);
            snprintf(word, sizeof(word), "--%s%s%s", o->name, o->arg ? " " : "",
                     o->arg ? o->arg : "");
            assert_shown(help.data, word, (*c)->name);
            snprintf(word, sizeof(word), "--%s", o->name);
            assert_shown(bash.data, word, "completion");
        }
        buf_release(&help);
    }
    buf_release(&manual);
    buf_release(&bash);
}

/* Every word that looks like an option in a help text is one. */
static void help_shows_no_option_that_is_not_parsed(void **state)
{
    (void)state;
    for (const struct command_def *const *c = cli_commands; *c; c++) {
        struct buf help = BUF_INIT;
        help_command(*c, &help, 80);
        for (const char *p = strstr(help.data, "\n  "); p; p = strstr(p + 1, "\n  ")) {
            const char *word = p + 3 + strspn(p + 3, " ");
            char name[64];
            if (word[0] == '-' && word[1] != '-')
                word = strstr(word, "--");
            if (!word || strncmp(word, "--", 2) != 0)
                continue;
            snprintf(name, sizeof(name), "%.*s", (int)strcspn(word + 2, " \n"), word + 2);
            if (!option_find(*c, name))
                fail_msg("abba %s --help shows --%s", (*c)->name, name);
        }
        buf_release(&help);
    }
}

static void help_keeps_to_its_width(void **state)
{
    (void)state;
    for (const struct command_def *const *c = cli_commands; *c; c++) {
        struct buf help = BUF_INIT;
        help_command(*c, &help, 80);
        for (char *save = NULL, *line = strtok_r(help.data, "\n", &save); line;
             line = strtok_r(NULL, "\n", &save)) {
            if (strlen(line) > 80)
                fail_msg("abba %s --help: '%s'", (*c)->name, line);
        }
        buf_release(&help);
    }
}

static void no_letter_or_name_stands_for_two_options(void **state)
{
    (void)state;
    for (const struct command_def *const *c = cli_commands; *c; c++) {
        const struct option_def *a, *b;
        for (size_t i = 0; (a = option_at(*c, i)) != NULL; i++) {
            for (size_t j = 0; j < i && (b = option_at(*c, j)) != NULL; j++) {
                assert_string_not_equal(a->name, b->name);
                assert_true(a->letter == 0 || a->letter != b->letter);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_options_bundle),
        cmocka_unit_test(long_options_take_their_argument_both_ways),
        cmocka_unit_test(options_may_follow_operands_and_two_dashes_end_them),
        cmocka_unit_test(lists_gather_what_is_given_several_times),
        cmocka_unit_test(presets_hold_until_something_else_is_given),
        cmocka_unit_test(an_option_given_twice_is_refused),
        cmocka_unit_test(an_unknown_option_names_the_nearest),
        cmocka_unit_test(a_missing_or_superfluous_argument_is_refused),
        cmocka_unit_test(numbers_are_strict),
        cmocka_unit_test(a_wrong_choice_names_what_is_allowed),
        cmocka_unit_test(a_time_needs_its_unit),
        cmocka_unit_test(every_option_is_parsed_helped_completed_and_in_the_manual),
        cmocka_unit_test(help_shows_no_option_that_is_not_parsed),
        cmocka_unit_test(help_keeps_to_its_width),
        cmocka_unit_test(no_letter_or_name_stands_for_two_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
