/* What stands against preloading a library to a program, as far as its file shows. */
#include "check.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.h"
#include "plan/program.h"

static char folder[64];

static int begin(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/preload-test-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int end(void **state)
{
    struct err err = {0};

    (void)state;
    return files_remove_tree(folder, &err);
}

/* A copy of a program, whose first bytes are changed; the path is static. */
static const char *copy(const char *from, const char *head, size_t len)
{
    static char path[100];
    struct buf text = BUF_INIT;
    struct err err = {0};
    int fd;

    snprintf(path, sizeof path, "%s/copy", folder);
    unlink(path);
    assert_int_equal(files_read(from, 64 << 20, &text, &err), 0);
    memcpy(text.data, head, len);
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0755);
    assert_true(fd >= 0);
    assert_int_equal(files_write_all(fd, text.data, text.len), 0);
    close(fd);
    buf_release(&text);
    return path;
}

static const char *reason(const char *path)
{
    struct preload_obstacle o = program_preload_obstacle(path);

    return o.reason ? o.reason : "";
}

static void a_dynamic_program_has_none(void **state)
{
    (void)state;
    assert_string_equal(reason("/bin/sh"), "");
}

static void what_is_no_program_of_its_own_shows_none(void **state)
{
    (void)state;
    assert_string_equal(reason(copy("/bin/sh", "#!/bin/sh\n", 10)), "");
    assert_string_equal(reason("/nonexistent"), "");
    assert_string_equal(reason("/"), "");
}

static void words_of_another_size(void **state)
{
    const char head[] = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3,
                         sizeof(void *) == 8 ? ELFCLASS32 : ELFCLASS64};

    (void)state;
    assert_string_equal(reason(copy("/bin/sh", head, sizeof head)),
                        "its words have another size than the library's");
}

static void a_static_program(void **state)
{
    const char *build = getenv("ABBA_BUILD");
    char path[4200];

    (void)state;
    if (!build)
        skip();
    snprintf(path, sizeof path, "%s/release/zygote", build);
    assert_string_equal(reason(path), "it is a static program: nothing can be preloaded");
    assert_false(program_preload_obstacle(path).fatal);
}

/* This test itself, where it is built with one. */
static void a_sanitizer_is_the_only_one_that_would_not_even_start(void **state)
{
    const char *kind = getenv("ABBA_KIND");

    (void)state;
    if (!kind || strcmp(kind, "asan") != 0) {
        assert_string_equal(reason("/proc/self/exe"), "");
        return;
    }
    assert_string_equal(reason("/proc/self/exe"),
                        "a sanitizer watches its heap, and has to be the first to do so");
    assert_true(program_preload_obstacle("/proc/self/exe").fatal);
}

static void somebody_elses_rights(void **state)
{
    const char *path = copy("/bin/sh", ELFMAG, SELFMAG);

    (void)state;
    assert_int_equal(chmod(path, 04755), 0);
    assert_string_equal(reason(path), ""); /* its owner's own */
    if (geteuid() != 0)
        skip();
    assert_int_equal(chown(path, 65534, 65534), 0);
    assert_int_equal(chmod(path, 04755), 0);
    assert_non_null(strstr(reason(path), "it gets other rights than its caller's"));
    assert_int_equal(chmod(path, 02755), 0);
    assert_non_null(strstr(reason(path), "it gets other rights than its caller's"));
    assert_int_equal(chmod(path, 0755), 0);
    assert_string_equal(reason(path), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_dynamic_program_has_none),
        cmocka_unit_test(what_is_no_program_of_its_own_shows_none),
        cmocka_unit_test(words_of_another_size),
        cmocka_unit_test(a_static_program),
        cmocka_unit_test(a_sanitizer_is_the_only_one_that_would_not_even_start),
        cmocka_unit_test(somebody_elses_rights),
    };

    return cmocka_run_group_tests(tests, begin, end);
}
