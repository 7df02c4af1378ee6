/* plan/lookup and plan/program: where files and programs are found. */
#include "plan_made.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/files.h"
#include "plan/lookup.h"
#include "plan/program.h"

static struct arena arena;

static int setup(void **state)
{
    (void)state;
    made_folder_open();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_release(&arena);
    made_folder_close();
    return 0;
}

static const char *found(enum lookup_kind kind, const char *name)
{
    struct err err = {0};
    const char *path;

    if (lookup_file(kind, name, &path, &arena, &err) < 0)
        fail_msg("%s [%s]", err.msg, err.hint);
    return path;
}

static void refused(enum lookup_kind kind, const char *name, const char *says)
{
    struct err err = {0};
    const char *path;

    assert_int_equal(lookup_file(kind, name, &path, &arena, &err), -1);
    if (!strstr(err.msg, says) && !strstr(err.hint, says))
        fail_msg("%s [%s]", err.msg, err.hint);
    assert_int_equal(err.code, ERR_CONFIG);
}

static void the_current_folder_goes_first(void **state)
{
    (void)state;
    assert_string_equal(found(LOOKUP_RUNNER, "pair"), "runners/pair/runner.json");
    assert_string_equal(found(LOOKUP_PROFILE, "pair/a"), "profiles/pair/a.json");
    assert_string_equal(found(LOOKUP_THRESHOLDS, "default"), "thresholds/default.json");
    assert_string_equal(found(LOOKUP_VARIANT, "pair/fast"), "runners/pair/variants/fast.json");
}

static void abba_path_goes_before_what_abba_ships(void **state)
{
    (void)state;
    made_file("more/profiles/x/y.json", "{}");
    made_file("even/profiles/x/y.json", "{}");
    made_file("more/thresholds/lab.json", "{}");
    setenv("ABBA_PATH", "nowhere::even:more", 1);
    assert_string_equal(found(LOOKUP_PROFILE, "x/y"), "even/profiles/x/y.json");
    assert_string_equal(found(LOOKUP_THRESHOLDS, "lab"), "more/thresholds/lab.json");
    unsetenv("ABBA_PATH");
    assert_non_null(strstr(found(LOOKUP_THRESHOLDS, "lab"), "/thresholds/lab.json"));
}

static void what_abba_ships_is_found_from_anywhere(void **state)
{
    (void)state;
    assert_non_null(strstr(found(LOOKUP_RUNNER, "flow"), "/runners/flow/runner.json"));
    assert_non_null(strstr(found(LOOKUP_PROFILE, "flow/pingpong"), "/flow/pingpong.json"));
}

static void a_path_is_that_file(void **state)
{
    (void)state;
    made_file("other/p.json", "{}");
    made_file("plain", "{}");
    assert_string_equal(found(LOOKUP_PROFILE, "other/p.json"), "other/p.json");
    assert_string_equal(found(LOOKUP_PROFILE, "./plain"), "./plain");
    assert_string_equal(found(LOOKUP_RUNNER, "other/p.json"), "other/p.json");
    refused(LOOKUP_PROFILE, "other/q.json", "no profile file 'other/q.json'");
    refused(LOOKUP_PROFILE, "./other", "no profile file");
    refused(LOOKUP_RUNNER, "some/where", "no runner file");
}

static void an_unknown_name_is_told_its_neighbour_and_where_was_searched(void **state)
{
    (void)state;
    refused(LOOKUP_PROFILE, "pair/aa", "did you mean 'pair/a'?");
    refused(LOOKUP_PROFILE, "pingpong", "did you mean 'flow/pingpong'?");
    refused(LOOKUP_RUNNER, "piar", "did you mean 'pair'?");
    refused(LOOKUP_THRESHOLDS, "defualt", "did you mean 'default'?");
    refused(LOOKUP_RUNNER, "zzzzzzzz", "the current folder");
    refused(LOOKUP_RUNNER, "zzzzzzzz", "abba list");
    refused(LOOKUP_THRESHOLDS, "", "no thresholds ''");
    refused(LOOKUP_PROFILE, "pair/../pair/a", "no profile");
}

static void names_are_sorted_and_each_there_once(void **state)
{
    struct strings names = {0};

    (void)state;
    made_file("profiles/flow/pingpong.json", "{}"); /* hides the shipped one */
    made_file("profiles/.hidden.json", "{}");
    made_file("profiles/pair/notes.txt", "");
    lookup_names(LOOKUP_PROFILE, &names, &arena);
    assert_true(strings_has(&names, "pair/a"));
    assert_true(strings_has(&names, "flow/pingpong"));
    assert_false(strings_has(&names, ".hidden"));
    for (size_t i = 1; i < names.count; i++)
        assert_true(strcmp(names.items[i - 1], names.items[i]) < 0);
    names = (struct strings){0};
    lookup_names(LOOKUP_RUNNER, &names, &arena);
    assert_true(strings_has(&names, "pair"));
    assert_true(strings_has(&names, "command"));
    names = (struct strings){0};
    lookup_names(LOOKUP_VARIANT, &names, &arena);
    assert_true(strings_has(&names, "pair/fast"));
    assert_true(strings_has(&names, "flow/single"));
    names = (struct strings){0};
    lookup_names(LOOKUP_THRESHOLDS, &names, &arena);
    assert_true(strings_has(&names, "default"));
}

static void programs_come_from_the_runner_or_from_path(void **state)
{
    struct err err = {0};
    const char *path;

    (void)state;
    assert_int_equal(lookup_program("flow", "flow", &path, &arena, &err), 0);
    assert_non_null(strstr(path, "runners/flow/flow"));
    assert_int_equal(path[0], '/');
    assert_int_equal(lookup_program("flow", "sh", &path, &arena, &err), 0);
    assert_non_null(strstr(path, "/sh"));
    assert_int_equal(lookup_program("flow", "./old.sh", &path, &arena, &err), 0);
    assert_int_equal(path[0], '/');
    assert_int_equal(lookup_program("flow", "./none.sh", &path, &arena, &err), -1);
    assert_int_equal(lookup_program("flow", "no-such-program", &path, &arena, &err), -1);
    assert_int_equal(err.code, ERR_CONFIG);
}

static void check_program(const char *path, const char *says)
{
    struct err err = {0};
    int status = program_check(path, &arena, &err);

    assert_int_equal(status, says ? -1 : 0);
    if (says && !strstr(err.msg, says) && !strstr(err.hint, says))
        fail_msg("%s [%s]", err.msg, err.hint);
}

static void a_file_that_cannot_be_executed_is_seen_beforehand(void **state)
{
    (void)state;
    check_program("/bin/sh", NULL);
    check_program("old.sh", NULL);
    made_program("env.sh", "#! /usr/bin/env sh\n");
    check_program("env.sh", NULL);
    made_program("bad.sh", "#!/no/such/interpreter -x\nexit 0\n");
    check_program("bad.sh", "'/no/such/interpreter' does not exist");
    made_program("dos.sh", "#!/bin/sh\r\nexit 0\r\n");
    check_program("dos.sh", "CR LF");
    made_program("none.sh", "#!\n");
    check_program("none.sh", "names no interpreter");
    made_file("plain", "x");
    made_program("notexec.sh", "#!./plain\n");
    check_program("notexec.sh", "not executable");
    if (files_exists("/proc/sys/fs/binfmt_misc/status"))
        skip();
    made_program("text", "hello\n");
    check_program("text", "neither ELF nor a script");
    made_program("empty", "");
    check_program("empty", "neither ELF nor a script");
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(the_current_folder_goes_first),
        CASE(abba_path_goes_before_what_abba_ships),
        CASE(what_abba_ships_is_found_from_anywhere),
        CASE(a_path_is_that_file),
        CASE(an_unknown_name_is_told_its_neighbour_and_where_was_searched),
        CASE(names_are_sorted_and_each_there_once),
        CASE(programs_come_from_the_runner_or_from_path),
        CASE(a_file_that_cannot_be_executed_is_seen_beforehand),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
