#include "check.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/tar.h"

static const struct tar_limits wide = {100, 1 << 20, 1000, 1 << 20};

static int made(int level, struct tar_sum *sum)
{
    struct tar_writer *w;
    struct err err = {0};
    int fd = memfd_create("tar", MFD_CLOEXEC);

    assert_int_equal(tar_writer_new(&w, fd, "tar", level, &err), 0);
    assert_int_equal(tar_writer_file(w, "top/first", 5, &err), 0);
    assert_int_equal(tar_writer_data(w, "hello", 5, &err), 0);
    assert_int_equal(tar_writer_file(w, "top/raw/empty", 0, &err), 0);
    assert_int_equal(tar_writer_finish(w, sum, &err), 0);
    tar_writer_free(w);
    lseek(fd, 0, SEEK_SET);
    return fd;
}

/* The digest was computed by Python's struct and hashlib from POSIX's layout of a ustar header. */
static void the_tar_is_known_to_the_byte(void **state)
{
    (void)state;
    struct tar_sum sum;

    close(made(1, &sum));
    assert_int_equal(sum.bytes, 10240);
    assert_string_equal(sum.sha256,
                        "8dfb4d5095741747d67f68f856764de1a41163bf7e000a918d7204e1a5e35b87");
    close(made(TAR_LEVEL_MAX, &sum));
    assert_string_equal(sum.sha256,
                        "8dfb4d5095741747d67f68f856764de1a41163bf7e000a918d7204e1a5e35b87");
}

static void what_was_written_is_read(void **state)
{
    (void)state;
    struct tar_sum written, read;
    struct tar_reader *r;
    struct tar_entry e;
    struct err err = {0};
    const void *data;
    size_t len;
    int fd = made(3, &written);

    assert_int_equal(tar_reader_new(&r, fd, "tar", &wide, &err), 0);
    assert_int_equal(tar_reader_next(r, &e, &err), 1);
    assert_string_equal(e.name, "top/first");
    assert_int_equal(e.size, 5);
    assert_int_equal(tar_reader_data(r, &data, &len, &err), 1);
    assert_int_equal(len, 5);
    assert_memory_equal(data, "hello", 5);
    assert_int_equal(tar_reader_data(r, &data, &len, &err), 0);
    assert_int_equal(tar_reader_next(r, &e, &err), 1);
    assert_string_equal(e.name, "top/raw/empty");
    assert_int_equal(tar_reader_next(r, &e, &err), 0);
    assert_int_equal(tar_reader_finish(r, &read, &err), 0);
    assert_string_equal(read.sha256, written.sha256);
    assert_int_equal(read.bytes, written.bytes);
    tar_reader_free(r);
    close(fd);
}

static void more_entries_than_allowed_are_refused(void **state)
{
    (void)state;
    const struct tar_limits one = {1, 1 << 20, 1000, 1 << 20};
    struct tar_sum sum;
    struct tar_reader *r;
    struct tar_entry e;
    struct err err = {0};
    int fd = made(3, &sum);

    assert_int_equal(tar_reader_new(&r, fd, "tar", &one, &err), 0);
    assert_int_equal(tar_reader_next(r, &e, &err), 1);
    assert_int_equal(tar_reader_next(r, &e, &err), -1);
    assert_int_equal(err.code, ERR_ARCHIVE);
    assert_non_null(strstr(err.msg, "more than the 1 files"));
    tar_reader_free(r);
    close(fd);
}

static void a_name_that_ustar_cannot_hold_is_an_error(void **state)
{
    (void)state;
    char name[300];
    struct tar_writer *w;
    struct err err = {0};
    int fd = memfd_create("tar", MFD_CLOEXEC);

    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    assert_int_equal(tar_writer_new(&w, fd, "tar", 3, &err), 0);
    assert_int_equal(tar_writer_file(w, name, 0, &err), -1);
    assert_int_equal(err.code, ERR_ARCHIVE);
    tar_writer_free(w);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_tar_is_known_to_the_byte),
        cmocka_unit_test(what_was_written_is_read),
        cmocka_unit_test(more_entries_than_allowed_are_refused),
        cmocka_unit_test(a_name_that_ustar_cannot_hold_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
