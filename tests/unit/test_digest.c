/* base/digest: SHA-256 as FIPS 180-4 and NIST's examples have it. */
#include "check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/digest.h"

static const char million_a[] = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";

static void published_values_come_out(void **state)
{
    char hex[DIGEST_HEX];
    unsigned char raw[DIGEST_BYTES];

    (void)state;
    digest_sha256("abc", 3, hex);
    assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    digest_sha256("", 0, hex);
    assert_string_equal(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    digest_sha256_raw("abc", 3, raw);
    assert_int_equal(raw[0], 0xba);
    assert_int_equal(raw[31], 0xad);
}

static void pieces_give_the_digest_of_the_whole(void **state)
{
    char piece[997];
    char hex[DIGEST_HEX];
    struct digest d;

    (void)state;
    memset(piece, 'a', sizeof piece);
    digest_begin(&d);
    for (size_t left = 1000000; left > 0;) {
        size_t n = left < sizeof piece ? left : sizeof piece;
        digest_add(&d, piece, n);
        left -= n;
    }
    assert_true(d.size == 1000000);
    digest_finish(&d, hex);
    assert_string_equal(hex, million_a);
    digest_begin(&d);
    digest_abandon(&d);
}

static void a_file_gives_its_digest_and_size(void **state)
{
    char path[] = "/tmp/abba-digest-XXXXXX";
    char hex[DIGEST_HEX];
    struct err err = {0};
    uint64_t size = 0;
    int fd = mkstemp(path);

    (void)state;
    assert_true(fd >= 0);
    char *text = malloc(1000000);
    memset(text, 'a', 1000000);
    assert_int_equal(write(fd, text, 1000000), 1000000);
    free(text);
    close(fd);
    assert_int_equal(digest_sha256_file(path, hex, &size, &err), 0);
    assert_true(size == 1000000);
    assert_string_equal(hex, million_a);
    unlink(path);
    assert_int_equal(digest_sha256_file(path, hex, NULL, &err), -1);
    assert_int_equal(err.sys_errno, ENOENT);
    assert_int_equal(digest_sha256_file("/tmp", hex, NULL, &err), -1);
    assert_int_equal(err.sys_errno, EISDIR);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_values_come_out),
        cmocka_unit_test(pieces_give_the_digest_of_the_whole),
        cmocka_unit_test(a_file_gives_its_digest_and_size),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
