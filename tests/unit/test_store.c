/* archive/store: addresses, and a folder of this machine. */
#include "check.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "archive/store.h"
#include "base/digest.h"
#include "base/files.h"
#include "base/mem.h"

static void an_address_is_split_in_folder_and_name(void **state)
{
    static const struct {
        const char *url, *folder, *name;
    } cases[] = {
        {"https://h/a/b/x.tar.zst", "https://h/a/b/", "x.tar.zst"},
        {"https://h/x#sha256=1/2", "https://h/", "x"},
        {"https://h/a/x?t=/1#f", "https://h/a/?t=/1", "x"},
        {"s3://bucket/x", "s3://bucket/", "x"},
        {"https://h/a/", NULL, NULL},
        {"https://h", NULL, NULL},
        {"a/b", NULL, NULL},
        {"", NULL, NULL},
    };
    struct arena arena = ARENA_INIT;
    const char *folder, *name;
    struct err err = {0};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int rc = store_split(cases[i].url, &folder, &name, &arena, &err);
        assert_int_equal(rc, cases[i].folder ? 0 : -1);
        if (rc != 0)
            continue;
        assert_string_equal(folder, cases[i].folder);
        assert_string_equal(name, cases[i].name);
    }
    arena_release(&arena);
}

static struct store *open_store(const char *url, struct err *err)
{
    struct store_options options = {0};
    struct store *s;

    *err = (struct err){0};
    return store_open(&s, url, &options, err) == 0 ? s : NULL;
}

static void an_address_of_a_file_hides_its_query(void **state)
{
    struct arena arena = ARENA_INIT;
    struct err err;
    struct store *s = open_store("https://h:1/a//?token=geheim", &err);

    (void)state;
    assert_non_null(s);
    assert_string_equal(store_address(s, "x", &arena), "https://h:1/a/x");
    store_close(s);
    arena_release(&arena);
}

static void what_is_no_store_is_refused(void **state)
{
    static const struct {
        const char *url, *says, *endpoint, *key;
        enum err_code code;
    } cases[] = {
        {"x", "'x' is no URL", NULL, NULL, ERR_USAGE},
        {"gopher://h/x", "'gopher' is not supported", NULL, NULL, ERR_USAGE},
        {"https://u:p@h/x", "holds a user", NULL, NULL, ERR_USAGE},
        {"s3://b/x", "there are no keys for 's3://b/x'", NULL, NULL, ERR_CONFIG},
        {"s3:///x", "'s3:///x' is no URL", NULL, "k", ERR_USAGE},
        {"s3://b/x", "AWS_ENDPOINT_URL", "nonsense", "k", ERR_USAGE},
        {"s3://b/x", "AWS_ENDPOINT_URL", "ftp://h", "k", ERR_CONFIG},
    };
    struct err err;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsetenv("AWS_ENDPOINT_URL");
        unsetenv("AWS_ACCESS_KEY_ID");
        if (cases[i].endpoint)
            setenv("AWS_ENDPOINT_URL", cases[i].endpoint, 1);
        if (cases[i].key)
            setenv("AWS_ACCESS_KEY_ID", cases[i].key, 1);
        setenv("AWS_SECRET_ACCESS_KEY", "geheim", 1);
        assert_null(open_store(cases[i].url, &err));
        if (!strstr(err.msg, cases[i].says) || err.code != cases[i].code)
            fail_msg("%s: %s", cases[i].url, err.msg);
        assert_null(strstr(err.msg, "geheim"));
    }
}

static void a_folder_takes_a_file_once_and_gives_it_back(void **state)
{
    char folder[] = "/tmp/abba-store-XXXXXX", sha256[DIGEST_HEX], got[10] = "";
    int fd = memfd_create("t", 0), back = memfd_create("b", 0);
    struct arena arena = ARENA_INIT;
    struct store_sent sent;
    struct err err;
    bool continued;
    uint64_t bytes;

    (void)state;
    assert_non_null(mkdtemp(folder));
    assert_int_equal(write(fd, "hello", 5), 5);
    digest_sha256("hello", 5, sha256);
    struct store *s = open_store(arena_printf(&arena, "file://%s/new/er", folder), &err);
    assert_non_null(s);
    struct store_file file = {.name = "x", .fd = fd, .bytes = 5, .sha256 = sha256};
    assert_int_equal(store_put(s, &file, &sent, &err), 0);
    assert_false(sent.already);
    assert_int_equal((int)sent.bytes, 5);
    assert_int_equal(store_put(s, &file, &sent, &err), 0);
    assert_true(sent.already);
    assert_int_equal((int)sent.bytes, 0);
    assert_int_equal(write(back, "old and long", 12), 12);
    assert_int_equal(store_get(s, "x", back, &bytes, &continued, &err), 0);
    assert_int_equal((int)bytes, 5);
    assert_int_equal(pread(back, got, 9, 0), 5);
    assert_string_equal(got, "hello");
    assert_int_equal(store_get(s, "none", back, &bytes, &continued, &err), -1);
    store_close(s);
    assert_int_equal(files_remove_tree(folder, &err), 0);
    close(fd);
    close(back);
    arena_release(&arena);
}

static void a_part_of_a_file_has_both_digests(void **state)
{
    char sha256[DIGEST_HEX], md5[DIGEST_MD5_HEX];
    int fd = memfd_create("t", 0);
    struct err err = {0};

    (void)state;
    assert_int_equal(write(fd, "xabcx", 5), 5);
    assert_int_equal(digest_part(fd, 1, 3, sha256, md5, &err), 0);
    assert_string_equal(sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_string_equal(md5, "900150983cd24fb0d6963f7d28e17f72");
    assert_int_equal(digest_part(fd, 3, 3, sha256, md5, &err), -1);
    assert_int_equal(err.code, ERR_SYSTEM);
    close(fd);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_address_is_split_in_folder_and_name),
        cmocka_unit_test(an_address_of_a_file_hides_its_query),
        cmocka_unit_test(what_is_no_store_is_refused),
        cmocka_unit_test(a_folder_takes_a_file_once_and_gives_it_back),
        cmocka_unit_test(a_part_of_a_file_has_both_digests),
    };

    return cmocka_run_group_tests_name("store", tests, NULL, NULL);
}
