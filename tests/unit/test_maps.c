/* What is taken out of /proc/PID/maps, and out of this test's own. */
#include "check.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "run/maps.h"

static struct maps maps;
static int proc_fd;

static int begin(void **state)
{
    (void)state;
    proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    maps_init(&maps, proc_fd, 0);
    maps_begin(&maps, true);
    return 0;
}

static int end(void **state)
{
    (void)state;
    maps_release(&maps);
    close(proc_fd);
    return 0;
}

static bool take(const char *text)
{
    char *own = strdup(text);
    bool any = maps_take(&maps, own);

    free(own);
    return any;
}

static void only_executable_files_are_taken_and_once(void **state)
{
    (void)state;
    assert_true(take("00400000-00401000 r--p 00000000 08:02 11   /no/such/data\n"
                     "00401000-00402000 r-xp 00000000 08:02 12   /no/such/prog ram\n"
                     "00402000-00403000 r-xp 00001000 08:02 12   /no/such/prog ram\n"
                     "00500000-00501000 rwxp 00000000 00:00 0 \n"
                     "7ffe0000-7fff0000 r-xp 00000000 00:00 0    [vdso]\n"));
    assert_int_equal(maps.count, 1);
    assert_string_equal(maps.file[0].path, "/no/such/prog ram");
    assert_int_equal(maps.file[0].inode, 12);
    assert_int_equal(maps.file[0].state, MAPPED_ELSEWHERE);
}

static void a_file_without_a_path_is_told(void **state)
{
    (void)state;
    assert_true(take("1000-2000 r-xp 00000000 00:01 77 /memfd:jit (deleted)\n"));
    assert_int_equal(maps.file[0].state, MAPPED_DELETED);
}

static void the_zygotes_own_image_is_no_program(void **state)
{
    (void)state;
    maps.z_inode = 77;
    assert_false(take("1000-2000 r-xp 00000000 00:01 77 /memfd:abba-zygote (deleted)\n"
                      "3000-4000 r-xp 00000000 00:01 78 /x\n"));
    assert_int_equal(maps.count, 0);
}

static void text_that_is_none_of_the_kernels_is_left_out(void **state)
{
    (void)state;
    assert_false(take(""));
    assert_false(take("\n\n"));
    assert_false(take("no maps at all\n"));
    assert_false(take("1000-2000 r-xp 00000000 08:02 12 /cut off"));
    assert_int_equal(maps.count, 0);
}

static void more_than_there_is_room_for_is_told(void **state)
{
    char line[100];

    (void)state;
    for (int i = 0; i < MAPS_FILES + 2; i++) {
        snprintf(line, sizeof(line), "1000-2000 r-xp 00000000 08:02 %d /no/such/%d\n", i + 1, i);
        assert_true(take(line));
    }
    assert_int_equal(maps.count, MAPS_FILES);
    assert_true(maps.cut);
}

static void this_process_is_seen_with_its_libraries(void **state)
{
    struct rss_process self = {.pid = getpid(), .age = 1};
    struct rss rss = {.proc_fd = proc_fd, .process = &self, .count = 1, .ticks = 1};
    struct role_outcome o = {0};
    bool libc = false;

    (void)state;
    maps_tick(&maps, &rss);
    maps_end(&maps, &o);
    assert_int_equal(o.looks, 1);
    assert_true(o.mapped_count >= 2);
    for (size_t i = 0; i < o.mapped_count; i++) {
        assert_int_equal(o.mapped[i].state, MAPPED_HERE);
        assert_true(o.mapped[i].size > 0);
        libc |= strstr(o.mapped[i].path, "/libc.so") != NULL;
    }
    assert_true(libc);
}

static void ticks_are_rare_once_a_process_is_known(void **state)
{
    struct rss_process self = {.pid = getpid(), .age = 100};
    struct rss rss = {.proc_fd = proc_fd, .process = &self, .count = 1};

    (void)state;
    for (rss.ticks = 1; rss.ticks <= 1024; rss.ticks++)
        maps_tick(&maps, &rss);
    assert_int_equal(maps.looks, 31 + 5 * 16 + 1);
    maps_begin(&maps, false);
    rss.ticks = 1;
    maps_tick(&maps, &rss);
    assert_int_equal(maps.looks, 0);
}

static void a_process_that_is_gone_is_no_fault(void **state)
{
    struct rss_process gone = {.pid = 4194303, .age = 1};
    struct rss rss = {.proc_fd = proc_fd, .process = &gone, .count = 1, .ticks = 1};

    (void)state;
    maps_tick(&maps, &rss);
    assert_int_equal(maps.looks, 0);
    assert_int_equal(maps.last_errno, 0);
}

#define T(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(only_executable_files_are_taken_and_once),
        T(a_file_without_a_path_is_told),
        T(the_zygotes_own_image_is_no_program),
        T(text_that_is_none_of_the_kernels_is_left_out),
        T(more_than_there_is_room_for_is_told),
        T(this_process_is_seen_with_its_libraries),
        T(ticks_are_rare_once_a_process_is_known),
        T(a_process_that_is_gone_is_no_fault),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
