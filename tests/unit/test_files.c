/* base/files: reads within limits, writes whole or not at all, removes only what it should. */
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.h"

static char top[] = "/tmp/abba-files-XXXXXX";

static int enter_top(void **state)
{
    (void)state;
    memcpy(top + sizeof top - 7, "XXXXXX", 6);
    return mkdtemp(top) == NULL ? -1 : chdir(top);
}

static int leave_top(void **state)
{
    struct err err = {0};

    (void)state;
    return chdir("/") < 0 ? -1 : files_remove_tree(top, &err);
}

static void write_file(const char *path, const char *text)
{
    struct err err = {0};

    if (files_write_atomic(path, text, strlen(text), &err) < 0)
        fail_msg("%s", err.msg);
}

static void assert_holds(const char *path, const char *want)
{
    struct buf b = BUF_INIT;
    struct err err = {0};

    if (files_read(path, 1000000, &b, &err) < 0)
        fail_msg("%s", err.msg);
    assert_string_equal(b.data, want);
    buf_release(&b);
}

static void what_is_written_is_read(void **state)
{
    struct stat st;

    (void)state;
    umask(022);
    write_file("a", "first");
    write_file("a", "second");
    assert_holds("a", "second");
    write_file("empty", "");
    assert_holds("empty", "");
    assert_int_equal(stat("a", &st), 0);
    assert_int_equal(st.st_mode & 0777, 0644);
}

static void a_failed_write_leaves_the_old_file_and_no_rest(void **state)
{
    struct err err = {0};

    (void)state;
    assert_int_equal(mkdir("folder", 0755), 0);
    write_file("folder/x", "x");
    assert_int_equal(files_write_atomic("folder", "text", 4, &err), -1);
    assert_int_equal(err.sys_errno, EISDIR);
    assert_int_equal(files_write_atomic("absent/f", "text", 4, &err), -1);
    assert_int_equal(err.sys_errno, ENOENT);
    assert_non_null(strstr(err.msg, "cannot write 'absent/f'"));
    assert_int_equal(unlink("folder/x"), 0);
    assert_int_equal(rmdir("folder"), 0);
    assert_int_equal(chdir("/"), 0);
    assert_int_equal(rmdir(top), 0); /* so no temporary file was left */
    assert_int_equal(mkdir(top, 0700), 0);
}

static void a_device_and_a_link_are_written_through_and_stay(void **state)
{
    struct err err = {0};
    struct stat st;

    (void)state;
    assert_int_equal(symlink("/dev/full", "full"), 0); /* a link, lest the device be replaced */
    assert_int_equal(files_write_atomic("full", "text", 4, &err), -1);
    assert_int_equal(err.sys_errno, ENOSPC);
    assert_int_equal(symlink("/dev/null", "null"), 0);
    write_file("null", "text");
    assert_int_equal(stat("null", &st), 0);
    assert_true(S_ISCHR(st.st_mode));
    write_file("real", "old");
    assert_int_equal(symlink("real", "link"), 0);
    write_file("link", "new");
    assert_holds("real", "new");
    assert_int_equal(lstat("link", &st), 0);
    assert_true(S_ISLNK(st.st_mode));
}

static void where_nothing_can_be_written_is_known_before(void **state)
{
    struct err err = {0};

    (void)state;
    assert_int_equal(files_check_writable("new", &err), 0);
    assert_int_equal(files_check_writable("/dev/null", &err), 0);
    assert_int_equal(files_check_writable(".", &err), -1);
    assert_int_equal(err.sys_errno, EISDIR);
    assert_int_equal(files_check_writable("absent/new", &err), -1);
    assert_int_equal(err.sys_errno, ENOENT);
}

static void reading_stops_at_the_limit(void **state)
{
    struct buf b = BUF_INIT;
    struct err err = {0};

    (void)state;
    write_file("ten", "0123456789");
    assert_int_equal(files_read("ten", 10, &b, &err), 0);
    assert_int_equal(files_read("ten", 9, &b, &err), -1);
    assert_non_null(strstr(err.msg, "'ten' is too large: more than 9 bytes"));
    assert_int_equal(files_read("/dev/zero", 100000, &b, &err), -1);
    assert_int_equal(files_read("absent", 10, &b, &err), -1);
    assert_int_equal(err.sys_errno, ENOENT);
    assert_int_equal(files_read(".", 10, &b, &err), -1);
    assert_int_equal(err.sys_errno, EISDIR);
    buf_release(&b);
}

static void small_files_are_read_without_their_newline(void **state)
{
    char text[16];

    (void)state;
    write_file("t", "some text that is long\n");
    assert_int_equal(files_read_small("t", text, sizeof text), 15);
    assert_string_equal(text, "some text that ");
    write_file("t", "x\n");
    assert_int_equal(files_read_small("t", text, sizeof text), 1);
    assert_string_equal(text, "x");
    assert_true(files_read_small("/proc/self/stat", text, sizeof text) > 0);
}

static void folders_are_made_with_their_parents(void **state)
{
    struct err err = {0};

    (void)state;
    assert_int_equal(files_mkdirs("a/b/c", &err), 0);
    assert_int_equal(files_mkdirs("a/b/c/", &err), 0);
    assert_int_equal(files_mkdirs("a//b", &err), 0);
    assert_true(files_is_dir("a/b/c"));
    assert_int_equal(files_mkdirs("/", &err), 0);
    write_file("file", "");
    assert_int_equal(files_mkdirs("file", &err), -1);
    assert_int_equal(err.sys_errno, ENOTDIR);
    assert_int_equal(files_mkdirs("file/x", &err), -1);
    assert_true(files_exists("file"));
    assert_false(files_is_dir("file"));
    assert_false(files_exists("absent"));
}

static void paths_are_joined_and_taken_apart(void **state)
{
    struct arena a = ARENA_INIT;

    (void)state;
    assert_string_equal(files_join(&a, "d", "f"), "d/f");
    assert_string_equal(files_join(&a, "d/", "f"), "d/f");
    assert_string_equal(files_join(&a, "", "f"), "f");
    assert_string_equal(files_join(&a, "d", "/f"), "/f");
    assert_string_equal(files_basename("a/b"), "b");
    assert_string_equal(files_basename("b"), "b");
    assert_string_equal(files_dirname(&a, "a/b/c"), "a/b");
    assert_string_equal(files_dirname(&a, "c"), ".");
    assert_string_equal(files_dirname(&a, "/c"), "/");
    arena_release(&a);
}

static void make_program(const char *path, mode_t mode)
{
    write_file(path, "#!/bin/true\n");
    assert_int_equal(chmod(path, mode), 0);
}

static void programs_are_found_as_execvp_finds_them(void **state)
{
    struct arena a = ARENA_INIT;
    struct err err = {0};
    char *path = NULL;
    char search[256];
    char want[256];

    (void)state;
    assert_int_equal(files_mkdirs("one/x", &err) + files_mkdirs("two", &err), 0);
    make_program("one/p", 0644);
    make_program("two/p", 0755);
    make_program("here", 0755);
    snprintf(search, sizeof search, "absent:%s/one:two", top);
    assert_int_equal(files_resolve_program("p", search, &a, &path, &err), 0);
    snprintf(want, sizeof want, "%s/two/p", top);
    assert_string_equal(path, want);
    assert_int_equal(files_resolve_program("./two/p", "/nowhere", &a, &path, &err), 0);
    assert_string_equal(path, want);
    assert_int_equal(files_resolve_program(want, "", &a, &path, &err), 0);
    assert_string_equal(path, want);
    assert_int_equal(files_resolve_program("here", "one:", &a, &path, &err), 0);
    snprintf(want, sizeof want, "%s/here", top);
    assert_string_equal(path, want);
    assert_int_equal(files_resolve_program("sh", NULL, &a, &path, &err), 0);
    assert_true(path[0] == '/');
    arena_release(&a);
}

static void a_program_that_cannot_be_started_says_why(void **state)
{
    struct arena a = ARENA_INIT;
    struct err err = {0};
    char *path = NULL;

    (void)state;
    assert_int_equal(files_mkdirs("one", &err), 0);
    make_program("one/p", 0644);
    make_program("here", 0755);
    assert_int_equal(files_resolve_program("p", "one", &a, &path, &err), -1);
    assert_string_equal(err.msg, "program 'one/p' is not executable");
    assert_int_equal(files_resolve_program("./one/p", "", &a, &path, &err), -1);
    assert_string_equal(err.msg, "program './one/p' is not executable");
    assert_int_equal(files_resolve_program("./one", "", &a, &path, &err), -1);
    assert_string_equal(err.msg, "program './one' is a folder");
    assert_int_equal(files_resolve_program("./absent", "", &a, &path, &err), -1);
    assert_string_equal(err.msg, "program './absent' does not exist");
    assert_int_equal(files_resolve_program("here", "one", &a, &path, &err), -1);
    assert_string_equal(err.msg, "program 'here' is not in PATH");
    assert_string_equal(err.hint, "did you mean './here'?");
    assert_int_equal(files_resolve_program("", "one", &a, &path, &err), -1);
    assert_int_equal(err.code, ERR_CONFIG);
    arena_release(&a);
}

static void removing_takes_the_tree_and_follows_no_link(void **state)
{
    struct err err = {0};

    (void)state;
    assert_int_equal(files_mkdirs("tree/a/b", &err) + files_mkdirs("kept/inner", &err), 0);
    write_file("kept/inner/f", "kept");
    write_file("tree/a/b/f", "gone");
    assert_int_equal(symlink("../../kept", "tree/a/link"), 0);
    assert_int_equal(symlink("absent", "tree/dangling"), 0);
    assert_int_equal(mkfifo("tree/fifo", 0600), 0);
    assert_int_equal(mkdir("tree/closed", 0755), 0);
    write_file("tree/closed/f", "gone");
    assert_int_equal(chmod("tree/closed", 0), 0);
    if (files_remove_tree("tree", &err) < 0)
        fail_msg("%s", err.msg);
    assert_false(files_exists("tree"));
    assert_holds("kept/inner/f", "kept");
    assert_int_equal(symlink("kept", "way"), 0);
    assert_int_equal(files_remove_tree("way", &err), 0);
    assert_false(files_exists("way"));
    assert_holds("kept/inner/f", "kept");
    assert_int_equal(files_remove_tree("absent", &err), 0);
    assert_int_equal(files_remove_tree("kept/inner/f", &err), 0);
    assert_false(files_exists("kept/inner/f"));
}

static void a_tree_deeper_than_descriptors_is_removed(void **state)
{
    struct err err = {0};
    int dir = open(top, O_RDONLY | O_DIRECTORY);

    (void)state;
    assert_int_equal(mkdirat(dir, "deep", 0755), 0);
    for (int i = 0; i < 3000; i++) {
        int next = openat(dir, "deep", O_RDONLY | O_DIRECTORY);
        assert_true(next >= 0);
        close(dir);
        dir = next;
        assert_int_equal(mkdirat(dir, "deep", 0755), 0);
        int file = openat(dir, "file", O_CREAT | O_WRONLY, 0644);
        assert_true(file >= 0);
        close(file);
    }
    close(dir);
    if (files_remove_tree("deep", &err) < 0)
        fail_msg("%s", err.msg);
    assert_false(files_exists("deep"));
}

int main(void)
{
#define IN_TOP(test) cmocka_unit_test_setup_teardown(test, enter_top, leave_top)
    const struct CMUnitTest tests[] = {
        IN_TOP(what_is_written_is_read),
        IN_TOP(a_failed_write_leaves_the_old_file_and_no_rest),
        IN_TOP(a_device_and_a_link_are_written_through_and_stay),
        IN_TOP(where_nothing_can_be_written_is_known_before),
        IN_TOP(reading_stops_at_the_limit),
        IN_TOP(small_files_are_read_without_their_newline),
        IN_TOP(folders_are_made_with_their_parents),
        IN_TOP(paths_are_joined_and_taken_apart),
        IN_TOP(programs_are_found_as_execvp_finds_them),
        IN_TOP(a_program_that_cannot_be_started_says_why),
        IN_TOP(removing_takes_the_tree_and_follows_no_link),
        IN_TOP(a_tree_deeper_than_descriptors_is_removed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
