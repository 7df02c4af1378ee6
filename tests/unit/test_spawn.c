/* base/spawn and base/confine: one program to its end. */
#include "check.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/files.h"
#include "base/spawn.h"

static const char *const no_env[] = {"A=b", NULL};

static struct buf out, errors;
static struct spawn_end end;

static int run(const char *script, const struct spawn *like)
{
    const char *argv[] = {"/bin/sh", "-c", script, NULL};
    struct spawn s = *like;
    struct err err = {0};
    int rc;

    s.argv = argv;
    s.envp = no_env;
    buf_clear(&out);
    buf_clear(&errors);
    rc = spawn_run(&s, &out, &errors, &end, &err);
    if (rc < 0)
        print_message("%s\n", err.msg);
    return rc;
}

static int setup(void **state)
{
    (void)state;
    buf_init(&out, 1000);
    buf_init(&errors, 1000);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    buf_release(&out);
    buf_release(&errors);
    return 0;
}

static void output_status_and_environment_are_kept_apart(void **state)
{
    const struct spawn s = {.output_fd = -1, .cwd = "/"};
    struct buf how = BUF_INIT;

    (void)state;
    assert_int_equal(run("echo $A $HOME; pwd; echo wrong >&2; cat; exit 3", &s), 0);
    assert_string_equal(out.data, "b\n/\n");
    assert_string_equal(errors.data, "wrong\n");
    assert_true(WIFEXITED(end.status));
    assert_int_equal(WEXITSTATUS(end.status), 3);
    assert_int_equal(run("kill -9 $$", &s), 0);
    spawn_say_end(end.status, &how);
    assert_string_equal(how.data, "was ended by SIGKILL");
    buf_release(&how);
}

static void more_than_the_limit_is_cut(void **state)
{
    const struct spawn s = {.output_fd = -1};

    (void)state;
    assert_int_equal(run("i=0; while [ $i -lt 500 ]; do echo 0123456789; i=$((i+1)); done", &s), 0);
    assert_int_equal(out.len, 1000);
    assert_true(out.overflow);
    assert_int_equal(end.status, 0);
}

static void what_cannot_be_started_is_an_error(void **state)
{
    const char *argv[] = {"/nowhere/program", NULL};
    struct spawn s = {.argv = argv, .envp = no_env, .output_fd = -1};
    struct err err = {0};

    (void)state;
    assert_int_equal(spawn_run(&s, &out, &errors, &end, &err), -1);
    assert_non_null(strstr(err.msg, "cannot execute '/nowhere/program'"));
    argv[0] = "/bin/true";
    s.cwd = "/nowhere";
    assert_int_equal(spawn_run(&s, &out, &errors, &end, &err), -1);
    assert_non_null(strstr(err.msg, "cannot enter '/nowhere'"));
}

static void a_confined_program_writes_below_its_folders_only(void **state)
{
    char folder[] = "/tmp/abba-spawn-XXXXXX";
    const char *writes[] = {folder, NULL};
    struct spawn s = {.output_fd = -1, .writes = writes};
    char script[400];
    struct err err = {0};

    (void)state;
    assert_non_null(mkdtemp(folder));
    s.cwd = folder;
    snprintf(script, sizeof(script),
             "mkdir a && echo x >a/b && mv a/b c && rm -r a && echo x >/dev/null && "
             "! echo x >%s-outside",
             folder);
    assert_int_equal(run(script, &s), 0);
    if (!end.confined) {
        files_remove_tree(folder, &err);
        skip(); /* this kernel has no Landlock */
    }
    assert_int_equal(end.status, 0);
    snprintf(script, sizeof(script), "%s-outside", folder);
    assert_false(files_exists(script));
    files_remove_tree(folder, &err);
}

static void a_folder_that_is_not_there_cannot_be_allowed(void **state)
{
    const char *writes[] = {"/nowhere", NULL};
    const struct spawn s = {.output_fd = -1, .writes = writes};

    (void)state;
    if (run("true", &s) == 0)
        assert_false(end.confined);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(output_status_and_environment_are_kept_apart),
        cmocka_unit_test(more_than_the_limit_is_cut),
        cmocka_unit_test(what_cannot_be_started_is_an_error),
        cmocka_unit_test(a_confined_program_writes_below_its_folders_only),
        cmocka_unit_test(a_folder_that_is_not_there_cannot_be_allowed),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
