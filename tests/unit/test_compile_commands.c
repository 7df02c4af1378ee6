/* plan/compile_commands: what a build showed of its compiling. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/mem.h"
#include "plan/compile_commands.h"

static char folder[] = "/tmp/abba-commands-XXXXXX";
static struct arena arena;
static struct strings commands;
static size_t cut;

static void write_file(const char *name, const char *text)
{
    struct err err = {0};

    assert_int_equal(files_write_atomic(files_join(&arena, folder, name), text, strlen(text), &err),
                     0);
}

static void find(void)
{
    commands = (struct strings){0};
    cut = 0;
    compile_commands_find(folder, files_join(&arena, folder, "log"), &commands, &cut, &arena);
}

static int setup(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int teardown(void **state)
{
    struct err err = {0};

    (void)state;
    arena_release(&arena);
    return files_remove_tree(folder, &err);
}

static void lines_of_compilers_are_taken_from_the_log(void **state)
{
    (void)state;
    write_file("log",
               arena_printf(&arena,
                            "make: entering\ncc -O2 -c %s/a.c\n"
                            "x86_64-linux-gnu-gcc-14 -o a a.o\naccess denied\n"
                            "/usr/bin/clang++ -c b.cc\nld\033[31m x\necho cc -c\nar rcs a b\n",
                            folder));
    find();
    assert_int_equal(commands.count, 4);
    assert_string_equal(commands.items[0], "cc -O2 -c ./a.c");
    assert_string_equal(commands.items[1], "x86_64-linux-gnu-gcc-14 -o a a.o");
    assert_string_equal(commands.items[2], "/usr/bin/clang++ -c b.cc");
    assert_string_equal(commands.items[3], "ar rcs a b");
    assert_int_equal(cut, 0);
}

static void a_database_goes_before_the_log(void **state)
{
    (void)state;
    write_file("compile_commands.json",
               arena_printf(&arena,
                            "[{\"command\": \"cc -c %s/x.c\"}, {\"arguments\": [\"cc\", \"-D\", "
                            "\"a b\"]}, {\"file\": 1}]",
                            folder));
    find();
    assert_int_equal(commands.count, 2);
    assert_string_equal(commands.items[0], "cc -c ./x.c");
    assert_string_equal(commands.items[1], "cc -D 'a b'");
    write_file("compile_commands.json", "[1");
    find();
    assert_int_equal(commands.count, 4); /* of the log */
}

static void many_commands_are_counted_not_kept(void **state)
{
    struct buf log = BUF_INIT;

    (void)state;
    for (int i = 0; i < 300; i++)
        buf_printf(&log, "cc -c %d.c\n", i);
    write_file("log", log.data);
    find();
    assert_int_equal(commands.count, 200);
    assert_int_equal(cut, 100);
    buf_release(&log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_of_compilers_are_taken_from_the_log),
        cmocka_unit_test(a_database_goes_before_the_log),
        cmocka_unit_test(many_commands_are_counted_not_kept),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
