/* What this test's own program says of itself, and what damaged files do not. */
#include "check.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/elf.h"
#include "base/files.h"

static struct arena arena;

static int end(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

static void look(const char *path, struct elf_facts *facts)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    assert_true(fd >= 0);
    elf_look(fd, facts, &arena);
    close(fd);
}

static void a_program_tells_build_id_and_compiler(void **state)
{
    struct elf_facts facts;

    (void)state;
    look("/proc/self/exe", &facts);
    assert_true(facts.is_elf);
    assert_non_null(facts.build_id);
    assert_true(strlen(facts.build_id) >= 16);
    assert_null(facts.soname);
    assert_true(facts.compilers.count >= 1);
    assert_false(facts.depends_on_place);
}

static void a_library_tells_its_name(void **state)
{
    char line[4096], path[4096] = "";
    FILE *maps = fopen("/proc/self/maps", "re");
    struct elf_facts facts;

    (void)state;
    while (fgets(line, sizeof(line), maps))
        if (strstr(line, "/libcmocka.so"))
            sscanf(strchr(line, '/'), "%4095s", path);
    fclose(maps);
    if (!path[0])
        skip();
    look(path, &facts);
    assert_non_null(facts.soname);
    assert_non_null(strstr(facts.soname, "libcmocka.so"));
}

static void what_is_no_elf_says_nothing(void **state)
{
    struct elf_facts facts;

    (void)state;
    look("/proc/self/status", &facts);
    assert_false(facts.is_elf);
    look("/dev/null", &facts);
    assert_false(facts.is_elf);
    assert_null(facts.build_id);
}

static int copy_of_self(struct buf *text)
{
    struct err err = {0};
    int fd = memfd_create("copy", MFD_CLOEXEC);

    assert_true(fd >= 0);
    assert_int_equal(files_read("/proc/self/exe", 256u << 20, text, &err), 0);
    return fd;
}

/* A program that is being written while it is looked at. */
static void a_cut_or_altered_file_is_no_fault(void **state)
{
    struct buf text = BUF_INIT;
    struct elf_facts facts;
    int fd = copy_of_self(&text);
    uint32_t random = 1;

    (void)state;
    assert_int_equal(files_write_all(fd, text.data, text.len), 0);
    for (size_t len = text.len; len > 0; len = len * 3 / 4) {
        assert_int_equal(ftruncate(fd, (off_t)len), 0);
        elf_look(fd, &facts, &arena);
    }
    assert_int_equal(pwrite(fd, text.data, text.len, 0), (ssize_t)text.len);
    for (int i = 0; i < 300; i++) { /* headers first, then anywhere */
        size_t at = (random = random * 1664525u + 1013904223u) % (i < 150 ? 1024 : text.len);
        char bad = (char)(text.data[at] ^ (char)(1 + random % 255));

        assert_int_equal(pwrite(fd, &bad, 1, (off_t)at), 1);
        elf_look(fd, &facts, &arena);
        assert_int_equal(pwrite(fd, &text.data[at], 1, (off_t)at), 1);
    }
    close(fd);
    buf_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_program_tells_build_id_and_compiler, end),
        cmocka_unit_test_teardown(a_library_tells_its_name, end),
        cmocka_unit_test_teardown(what_is_no_elf_says_nothing, end),
        cmocka_unit_test_teardown(a_cut_or_altered_file_is_no_fault, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
