#include "check.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive/checksums.h"
#include "archive/reader.h"
#include "archive/verify.h"
#include "base/digest.h"
#include "base/files.h"
#include "made_archive.h"

static struct made_archive m;

static int begin(void **state)
{
    (void)state;
    made_archive_open(&m, NULL);
    return 0;
}

/* A whole archive, finished; its second profile with a confirming stage. */
static int begin_whole(void **state)
{
    begin(state);
    made_archive_all(&m);
    made_archive_stage(&m, 1, STAGE_CONFIRM);
    made_archive_finish(&m);
    return 0;
}

/* The smallest that has a file of each kind: two runs. */
static int begin_small(void **state)
{
    begin(state);
    made_archive_stage(&m, 0, STAGE_WARMUP);
    made_archive_finish(&m);
    return 0;
}

static int end(void **state)
{
    (void)state;
    made_archive_release(&m);
    return 0;
}

/* Opens and verifies. */
static int verify(const char *digest, struct err *err)
{
    struct archive *a;

    *err = (struct err){0};
    if (archive_open(&a, m.folder, err) < 0)
        return -1;
    int rc = archive_verify(a, digest, err);
    archive_close(a);
    return rc;
}

static void is_whole(void)
{
    struct err err;

    if (verify(NULL, &err) < 0)
        fail_msg("%s", err.msg);
}

static void finds(enum err_code code, const char *complaint)
{
    struct err err;

    if (verify(NULL, &err) == 0)
        fail_msg("nothing was found; expected: %s", complaint);
    if (err.code != code || !strstr(err.msg, complaint))
        fail_msg("code %d, '%s' does not say '%s'", (int)err.code, err.msg, complaint);
}

/* Makes SHA256SUMS anew over all files, so that only what they say can be wrong. */
static void sum_again(void)
{
    struct checksums old = {0}, sums = {0};
    struct buf text = BUF_INIT;
    struct err err = {0};
    size_t len;
    const char *stated = made_archive_read(&m, "SHA256SUMS", &len);

    assert_int_equal(checksums_parse(&old, stated, len, "SHA256SUMS", &err), 0);
    for (size_t i = 0; i < old.count; i++) {
        char hex[DIGEST_HEX];

        if (digest_sha256_file(made_archive_path(&m, old.items[i].path), hex, NULL, &err) == 0)
            checksums_add(&sums, old.items[i].path, hex, 0);
    }
    checksums_write(&sums, &text);
    made_archive_write(&m, "SHA256SUMS", text.data, text.len);
    buf_release(&text);
    checksums_release(&old);
    checksums_release(&sums);
}

/* Replaces the first `old` in a file; the rest stays consistent. */
static void forge(const char *name, const char *old, const char *new)
{
    made_archive_alter(&m, name, old, new);
    sum_again();
}

static char *line_of(char *text, size_t number, size_t *len)
{
    for (; number > 1; number--)
        text = strchr(text, '\n') + 1;
    *len = (size_t)(strchr(text, '\n') - text) + 1;
    return text;
}

/* --- whole archives --- */

static void a_whole_archive_is_whole(void **state)
{
    (void)state;
    struct err err;

    is_whole();
    assert_int_equal(verify(m.digest, &err), 0);
}

static void another_digest_is_told(void **state)
{
    (void)state;
    struct err err;
    char other[65];

    memcpy(other, m.digest, sizeof other);
    other[63] = other[63] == '0' ? '1' : '0';
    assert_int_equal(verify(other, &err), -1);
    assert_int_equal(err.code, ERR_ARCHIVE);
    assert_non_null(strstr(err.msg, m.digest));
    assert_non_null(strstr(err.msg, other));
}

static void a_series_that_was_closed_early_is_whole(void **state)
{
    (void)state;
    struct err err;

    made_archive_stage(&m, 0, STAGE_WARMUP);
    assert_int_equal(made_archive_run(&m, 0, STAGE_MAIN, 0, &err), 0);
    made_archive_finish(&m);
    is_whole();
}

static void a_profile_may_be_left_out_as_a_whole(void **state)
{
    (void)state;
    made_archive_stage(&m, 1, STAGE_MAIN);
    made_archive_finish(&m);
    is_whole();
}

static void an_unfinished_archive_says_how_far_it_came(void **state)
{
    (void)state;
    made_archive_stage(&m, 0, STAGE_WARMUP);
    made_archive_stage(&m, 0, STAGE_MAIN);
    finds(ERR_UNFINISHED, "unfinished: 6 of 10 runs");
    made_archive_write(&m, "raw/000007-sender.stderr", "half a run", 10);
    made_archive_write(&m, "SHA256SUMS.new", "half", 4);
    finds(ERR_UNFINISHED, "unfinished: 6 of 10 runs");
}

static void damage_goes_before_unfinished(void **state)
{
    (void)state;
    made_archive_stage(&m, 0, STAGE_WARMUP);
    made_archive_write(&m, "raw/000001-sender.stderr", "a Warning\n", 10);
    finds(ERR_ARCHIVE, "raw/000001-sender.stderr' is not the file that its run's sample describes");
}

/* --- damage --- */

/* Each byte of a file in turn, and nothing is judged from it. */
static void flip_all(const char *name)
{
    size_t len;
    char *text = made_archive_read(&m, name, &len);
    const char *path = made_archive_path(&m, name);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    struct err err;

    assert_true(fd >= 0);
    for (size_t at = 0; at < len; at++) {
        char bad = (char)(text[at] ^ (1 << at % 8));

        assert_int_equal(pwrite(fd, &bad, 1, (off_t)at), 1);
        if (verify(NULL, &err) == 0)
            fail_msg("byte %zu of %s was changed and not found", at, name);
        if (err.code != ERR_ARCHIVE)
            fail_msg("byte %zu of %s: %s", at, name, err.msg);
        assert_int_equal(pwrite(fd, &text[at], 1, (off_t)at), 1);
    }
    close(fd);
}

static void every_flipped_byte_of_every_file_is_found(void **state)
{
    struct checksums all = {0};
    struct err err = {0};
    size_t len;
    const char *stated = made_archive_read(&m, "SHA256SUMS", &len);

    (void)state;
    assert_int_equal(checksums_parse(&all, stated, len, "SHA256SUMS", &err), 0);
    for (size_t i = 0; i < all.count; i++)
        flip_all(all.items[i].path);
    flip_all("SHA256SUMS");
    checksums_release(&all);
    is_whole();
}

/* Each length that a file can be cut to, and one byte more. */
static void a_file_of_any_other_length_is_found(void **state)
{
    static const char *const names[] = {"SHA256SUMS", "samples.jsonl", "report.json", "loaded.json",
                                        "raw/000002-receiver.stdout"};
    struct err err;

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t len;
        char *text = made_archive_read(&m, names[i], &len);

        for (size_t cut = len; cut-- > 0;) {
            assert_int_equal(truncate(made_archive_path(&m, names[i]), (off_t)cut), 0);
            if (verify(NULL, &err) == 0)
                fail_msg("%s was cut to %zu bytes and not found", names[i], cut);
        }
        text[len] = '\n'; /* in the place of the NUL */
        made_archive_write(&m, names[i], text, len + 1);
        if (verify(NULL, &err) == 0)
            fail_msg("%s has a newline more, which was not found", names[i]);
        made_archive_write(&m, names[i], text, len);
    }
    is_whole();
}

static void a_record_that_leaves_a_role_out_is_found(void **state)
{
    (void)state;
    forge("loaded.json", "\"role\": \"sender\"", "\"role\": \"other\"");
    finds(ERR_ARCHIVE, "loaded.json' has no role 'sender' of 'baseline' under 'p/one'");
}

static void a_record_of_another_run_is_found(void **state)
{
    (void)state;
    forge("loaded.json", "\"run\": 1", "\"run\": 2");
    finds(ERR_ARCHIVE, "was seen in run 2, which is none of its own");
    forge("loaded.json", "\"run\": 2", "\"run\": 4711");
    finds(ERR_ARCHIVE, "was seen in run 4711");
    unlink(made_archive_path(&m, "SHA256SUMS")); /* its line may have been lost */
    finds(ERR_UNFINISHED, "unfinished");
}

/* A figure of a sample, and every checksum that hangs on it: the caller, who judges again, finds
 * that report.json does not follow; with that written anew as well nothing inside tells. */
static void only_an_outside_digest_finds_a_consistent_forgery(void **state)
{
    struct err err;

    (void)state;
    forge("samples.jsonl", "\"value\":1048576", "\"value\":1048577");
    is_whole();
    assert_int_equal(verify(m.digest, &err), -1);
    assert_non_null(strstr(err.msg, "the digest of"));
    assert_non_null(strstr(err.hint, "written anew"));
}

static void a_missing_file_is_named(void **state)
{
    (void)state;
    unlink(made_archive_path(&m, "raw/000004-receiver.stdout"));
    finds(ERR_ARCHIVE, "raw/000004-receiver.stdout' is missing");
    sum_again();
    finds(ERR_ARCHIVE, "raw/000004-receiver.stdout' is missing");
}

static void an_extra_file_is_named(void **state)
{
    (void)state;
    made_archive_write(&m, "raw/extra", "x", 1);
    finds(ERR_ARCHIVE, "raw/extra' is not listed");
    unlink(made_archive_path(&m, "raw/extra"));
    made_archive_write(&m, "notes.txt", "x", 1);
    finds(ERR_ARCHIVE, "notes.txt' is not listed");
    unlink(made_archive_path(&m, "notes.txt"));
    assert_int_equal(mkdir(made_archive_path(&m, "more"), 0777), 0);
    finds(ERR_ARCHIVE, "more' is not a regular file");
}

static void an_extra_file_that_is_listed_is_named_too(void **state)
{
    (void)state;
    char hex[DIGEST_HEX];
    size_t len;
    char *text = made_archive_read(&m, "SHA256SUMS", &len);

    digest_sha256("x", 1, hex);
    made_archive_write(&m, "raw/zzz", "x", 1);
    char *at = strstr(text, "raw/000014-sender.stderr\n");
    assert_non_null(at);
    at = strchr(at, '\n') + 1;
    const char *all =
        arena_printf(&m.arena, "%.*s%s  raw/zzz\n%s", (int)(at - text), text, hex, at);
    made_archive_write(&m, "SHA256SUMS", all, strlen(all));
    finds(ERR_ARCHIVE, "raw/zzz' belongs to no run");
}

static void links_among_the_raw_files_are_refused(void **state)
{
    (void)state;
    const char *path = made_archive_path(&m, "raw/000004-receiver.stdout");
    const char *aside = arena_printf(&m.arena, "%s/aside", m.base);

    assert_int_equal(rename(path, aside), 0);
    assert_int_equal(symlink(aside, path), 0);
    finds(ERR_ARCHIVE, "raw/000004-receiver.stdout' is a link");
}

static void a_list_in_another_order_is_refused(void **state)
{
    (void)state;
    size_t len, first, second;
    char *text = made_archive_read(&m, "SHA256SUMS", &len);
    char *a = line_of(text, 1, &first), *b = line_of(text, 2, &second);
    const char *all =
        arena_printf(&m.arena, "%.*s%.*s%s", (int)second, b, (int)first, a, b + second);

    made_archive_write(&m, "SHA256SUMS", all, len);
    finds(ERR_ARCHIVE, "'SHA256SUMS' line 2: out of order");
    made_archive_write(&m, "SHA256SUMS", text, len - 1);
    finds(ERR_ARCHIVE, "not a checksum and a path");
    made_archive_write(&m, "SHA256SUMS", "", 0);
    finds(ERR_ARCHIVE, "is not listed");
}

/* --- forged contents with good checksums --- */

static void a_run_that_was_left_out_is_found(void **state)
{
    (void)state;
    size_t len, n;
    char *text = made_archive_read(&m, "samples.jsonl", &len);
    char *line = line_of(text, 5, &n);

    memmove(line, line + n, len - (size_t)(line - text) - n + 1);
    made_archive_write(&m, "samples.jsonl", text, len - n);
    sum_again();
    finds(ERR_ARCHIVE, "raw/000005-receiver.stdout' belongs to no run");
}

static void runs_in_another_order_are_found(void **state)
{
    (void)state;
    size_t len, first, second;
    char *text = made_archive_read(&m, "samples.jsonl", &len);
    char *a = line_of(text, 3, &first), *b = line_of(text, 4, &second);
    const char *all = arena_printf(&m.arena, "%.*s%.*s%.*s%s", (int)(a - text), text, (int)second,
                                   b, (int)first, a, b + second);

    made_archive_write(&m, "samples.jsonl", all, len);
    sum_again();
    finds(ERR_ARCHIVE, "samples.jsonl' line 3: run 4 stands where run 3 should");
}

static void a_run_that_is_there_twice_is_found(void **state)
{
    (void)state;
    size_t len, n;
    char *text = made_archive_read(&m, "samples.jsonl", &len);
    char *line = line_of(text, 3, &n);
    const char *all =
        arena_printf(&m.arena, "%.*s%s", (int)(line - text + (ptrdiff_t)n), text, line);

    made_archive_write(&m, "samples.jsonl", all, strlen(all));
    sum_again();
    finds(ERR_ARCHIVE, "samples.jsonl' line 4: run 3 stands where run 4 should");
}

static void variants_that_were_swapped_are_found(void **state)
{
    (void)state;
    forge(
        "samples.jsonl",
        "\"run\":3,\"pair\":1,\"slot\":1,\"attempt\":1,\"stage\":\"main\",\"variant\":\"baseline\"",
        "\"run\":3,\"pair\":1,\"slot\":1,\"attempt\":1,\"stage\":\"main\",\"variant\":"
        "\"candidate\"");
    finds(ERR_ARCHIVE,
          "line 3: slot 1 of pair 1 is 'candidate'; the plan's order has 'baseline' in slot 1");
}

static void a_run_of_another_plan_is_found(void **state)
{
    (void)state;
    forge("samples.jsonl", "\"profile\":\"p/one\"", "\"profile\":\"p/three\"");
    finds(ERR_ARCHIVE, "line 1: profile 'p/three' is not in the plan");
}

static void a_pair_that_does_not_follow_is_found(void **state)
{
    (void)state;
    forge("samples.jsonl", "\"run\":5,\"pair\":2,\"slot\":1", "\"run\":5,\"pair\":2,\"slot\":2");
    finds(ERR_ARCHIVE, "line 5: slot 2 of pair 2 of 'p/one' (stage 'main', attempt 1) does not "
                       "follow from the run before");
    forge("samples.jsonl", "\"run\":5,\"pair\":2,\"slot\":2", "\"run\":5,\"pair\":9,\"slot\":1");
    finds(ERR_ARCHIVE, "line 5: one run more than the plan has for 'p/one' in stage 'main'");
}

static void a_raw_file_of_another_run_is_found(void **state)
{
    (void)state;
    forge("samples.jsonl", "raw/000003-receiver.stdout", "raw/000004-receiver.stdout");
    finds(ERR_ARCHIVE, "run 3 names 'raw/000004-receiver.stdout', which is not a file of its own");
}

static void a_raw_file_that_was_altered_is_found_against_its_sample(void **state)
{
    (void)state;
    made_archive_write(&m, "raw/000003-receiver.stdout", "ready\nrate=9\n", 13);
    sum_again();
    finds(ERR_ARCHIVE,
          "raw/000003-receiver.stdout' is not the file that its run's sample describes");
}

static void a_torn_line_in_a_finished_archive_is_found(void **state)
{
    (void)state;
    size_t len;
    char *text = made_archive_read(&m, "samples.jsonl", &len);

    made_archive_write(&m, "samples.jsonl", text, len - 1);
    sum_again();
    finds(ERR_ARCHIVE, "samples.jsonl' ends in the middle of a line");
}

static void a_report_that_is_missing_is_found(void **state)
{
    (void)state;
    unlink(made_archive_path(&m, "report.json"));
    sum_again();
    finds(ERR_ARCHIVE, "report.json' is missing");
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)
#define SMALL(f) cmocka_unit_test_setup_teardown(f, begin_small, end)
#define WHOLE(f) cmocka_unit_test_setup_teardown(f, begin_whole, end)
    const struct CMUnitTest tests[] = {
        WHOLE(a_whole_archive_is_whole),
        WHOLE(another_digest_is_told),
        TEST(a_series_that_was_closed_early_is_whole),
        TEST(a_profile_may_be_left_out_as_a_whole),
        TEST(an_unfinished_archive_says_how_far_it_came),
        TEST(damage_goes_before_unfinished),
        SMALL(every_flipped_byte_of_every_file_is_found),
        SMALL(a_file_of_any_other_length_is_found),
        WHOLE(a_record_that_leaves_a_role_out_is_found),
        WHOLE(a_record_of_another_run_is_found),
        WHOLE(only_an_outside_digest_finds_a_consistent_forgery),
        WHOLE(a_missing_file_is_named),
        WHOLE(an_extra_file_is_named),
        WHOLE(an_extra_file_that_is_listed_is_named_too),
        WHOLE(links_among_the_raw_files_are_refused),
        WHOLE(a_list_in_another_order_is_refused),
        WHOLE(a_run_that_was_left_out_is_found),
        WHOLE(runs_in_another_order_are_found),
        WHOLE(a_run_that_is_there_twice_is_found),
        WHOLE(variants_that_were_swapped_are_found),
        WHOLE(a_run_of_another_plan_is_found),
        WHOLE(a_pair_that_does_not_follow_is_found),
        WHOLE(a_raw_file_of_another_run_is_found),
        WHOLE(a_raw_file_that_was_altered_is_found_against_its_sample),
        WHOLE(a_torn_line_in_a_finished_archive_is_found),
        WHOLE(a_report_that_is_missing_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
