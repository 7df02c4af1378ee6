#include "check.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "archive/reader.h"
#include "archive/verify.h"
#include "base/clock.h"
#include "base/digest.h"
#include "base/files.h"
#include "made_archive.h"
#include "outcomes.h"

static struct made_archive m;

static int begin(void **state)
{
    (void)state;
    made_archive_open(&m, NULL);
    return 0;
}

static int end(void **state)
{
    (void)state;
    made_archive_release(&m);
    return 0;
}

static size_t count_entries(const char *path)
{
    DIR *dir = opendir(path);
    size_t n = 0;

    assert_non_null(dir);
    for (const struct dirent *e; (e = readdir(dir)) != NULL;)
        n += e->d_name[0] != '.';
    closedir(dir);
    return n;
}

static bool has(const char *name)
{
    return files_exists(made_archive_path(&m, name));
}

static void run_one(void)
{
    struct err err = {0};

    if (made_archive_run(&m, 0, STAGE_WARMUP, 0, &err) < 0)
        fail_msg("%s", err.msg);
}

/* --- what is written --- */

static void a_folder_that_exists_is_refused(void **state)
{
    (void)state;
    struct archive_writer *w;
    struct err err = {0};

    assert_int_equal(archive_writer_new(&w, m.folder, &err), -1);
    assert_null(w);
    assert_int_equal(err.code, ERR_USAGE);
    assert_non_null(strstr(err.msg, "archive folder exists: "));
    assert_non_null(strstr(err.msg, m.folder));
}

static void a_sample_is_on_disk_as_soon_as_it_was_written(void **state)
{
    (void)state;
    size_t len;

    run_one();
    const char *text = made_archive_read(&m, "samples.jsonl", &len);
    assert_memory_equal(text, "{\"run\":1,\"pair\":0,\"slot\":1,", 26);
    assert_int_equal(text[len - 1], '\n');
    assert_non_null(strstr(text, "raw/000001-receiver.stdout"));
}

static void raw_files_hold_the_streams_and_empty_ones_are_left_out(void **state)
{
    (void)state;
    static struct rss_point points[] = {{5000000, 4096}, {10000000, 8192}};

    m.roles[0].rss = points;
    m.roles[0].rss_count = 2;
    run_one();
    assert_string_equal(made_archive_read(&m, "raw/000001-receiver.stdout", NULL),
                        "ready\nrate=5\n");
    assert_string_equal(made_archive_read(&m, "raw/000001-sender.stderr", NULL), "a warning\n");
    assert_string_equal(made_archive_read(&m, "raw/000001-receiver.rss.csv", NULL),
                        "at_ns,bytes\n5000000,4096\n10000000,8192\n");
    assert_false(has("raw/000001-receiver.stderr"));
    assert_false(has("raw/000001-sender.stdout"));
    assert_false(has("raw/000001-sender.rss.csv"));
}

static void a_sample_names_size_and_checksum_of_its_raw_files(void **state)
{
    (void)state;
    char hex[DIGEST_HEX], want[200];

    m.roles[0].out = outcome_cut("head\n", "tail\n", 123456);
    run_one();
    assert_string_equal(made_archive_read(&m, "raw/000001-receiver.stdout", NULL), "head\ntail\n");
    digest_sha256("head\ntail\n", 10, hex);
    snprintf(
        want, sizeof want,
        "{\"path\":\"raw/000001-receiver.stdout\",\"bytes\":10,\"cut\":123456,\"sha256\":\"%s\"}",
        hex);
    assert_non_null(strstr(made_archive_read(&m, "samples.jsonl", NULL), want));
}

static void series_json_holds_machine_plan_and_hash(void **state)
{
    (void)state;
    const char *text = made_archive_read(&m, "series.json", NULL);

    assert_memory_equal(text, "{\n  \"abba\": 1,\n  \"tool\": \"abba ", 31);
    assert_non_null(strstr(text, "\"started\": \"20"));
    assert_non_null(strstr(text, "\"machine\": {\n    \"host\": null,"));
    assert_non_null(strstr(text, m.plan.sha256));
    assert_non_null(strstr(text, "\"plan\": {"));
}

static void without_checksums_the_archive_is_unfinished(void **state)
{
    (void)state;
    run_one();
    assert_false(has("SHA256SUMS"));
    assert_false(has("report.json"));
    archive_writer_free(m.writer);
    m.writer = NULL;
    assert_true(has("samples.jsonl"));
}

/* Runs `sha256sum --strict -c SHA256SUMS` in the archive; its exit status. */
static int sha256sum(void)
{
    pid_t pid = fork();
    int status;

    if (pid == 0) {
        if (chdir(m.folder) == 0 && freopen("/dev/null", "w", stdout) &&
            freopen("/dev/null", "w", stderr))
            execlp("sha256sum", "sha256sum", "--strict", "-c", "SHA256SUMS", (char *)NULL);
        _exit(127);
    }
    assert_true(pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void sha256sum_reads_and_confirms_the_list(void **state)
{
    (void)state;
    size_t len;
    char hex[DIGEST_HEX];

    made_archive_all(&m);
    made_archive_finish(&m);
    assert_int_equal(sha256sum(), 0);
    const char *sums = made_archive_read(&m, "SHA256SUMS", &len);
    digest_sha256(sums, len, hex);
    assert_string_equal(hex, m.digest);
    made_archive_write(&m, "raw/000003-sender.stderr", "a Warning\n", 10);
    assert_int_equal(sha256sum(), 1);
}

static void the_list_is_sorted_and_has_every_file_but_itself(void **state)
{
    (void)state;
    size_t lines = 0;
    const char *last = "";

    made_archive_all(&m);
    made_archive_finish(&m);
    char *text = made_archive_read(&m, "SHA256SUMS", NULL), *save;
    for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        assert_int_equal(strcspn(line, " "), 64);
        assert_true(strcmp(last, line + 66) < 0);
        last = line + 66;
        lines++;
    }
    assert_int_equal(lines, count_entries(made_archive_path(&m, "raw")) + 4);
    assert_int_equal(count_entries(m.folder), 6);
}

static void nothing_is_added_once_it_is_finished(void **state)
{
    (void)state;
    char digest[65];
    struct err err = {0};

    run_one();
    assert_int_equal(archive_writer_finish(m.writer, "{}", 2, digest, &err), 0);
    assert_int_equal(made_archive_run(&m, 0, STAGE_WARMUP, 1, &err), -1);
    assert_int_equal(err.code, ERR_SYSTEM);
    assert_int_equal(archive_writer_finish(m.writer, "{}", 2, digest, &err), -1);
}

static void sync_may_be_called_at_any_time(void **state)
{
    (void)state;
    struct err err = {0};

    assert_int_equal(archive_writer_sync(m.writer, 0, &err), 0);
    run_one();
    assert_int_equal(archive_writer_sync(m.writer, NSEC_PER_SEC, &err), 0);
    assert_int_equal(archive_writer_sync(m.writer, 0, &err), 0);
}

static void names_are_replaced_in_raw_files_and_messages_on_request(void **state)
{
    (void)state;
    setenv("HOME", "/home/abba-tester", 1);
    m.roles[0].out = outcome_cut("at the end: /home/abba", "-tester/x\n", 0);
    m.roles[1].out = outcome_text("/home/abba-tester\n");
    run_one();
    assert_string_equal(made_archive_read(&m, "raw/000001-receiver.stdout", NULL),
                        "at the end: /home/abba-tester/x\n");
    archive_writer_anonymize(m.writer);
    run_one();
    assert_string_equal(made_archive_read(&m, "raw/000002-receiver.stdout", NULL),
                        "at the end: HOME/x\n");
    assert_string_equal(made_archive_read(&m, "raw/000002-sender.stdout", NULL), "HOME\n");
    assert_string_equal(made_archive_read(&m, "raw/000002-sender.stderr", NULL), "a warning\n");
}

/* --- links and strangers --- */

static void a_link_in_the_place_of_a_raw_file_is_not_followed(void **state)
{
    (void)state;
    struct err err = {0};
    const char *target = arena_printf(&m.arena, "%s/precious", m.base);

    assert_int_equal(files_write_atomic(target, "keep", 4, &err), 0);
    assert_int_equal(symlink(target, made_archive_path(&m, "raw/000001-receiver.stdout")), 0);
    assert_int_equal(made_archive_run(&m, 0, STAGE_WARMUP, 0, &err), -1);
    assert_int_equal(err.code, ERR_SYSTEM);
    struct buf text = BUF_INIT;
    assert_int_equal(files_read(target, 100, &text, &err), 0);
    assert_string_equal(text.data, "keep");
    buf_release(&text);
    assert_string_equal(made_archive_read(&m, "samples.jsonl", NULL), "");
}

/* --- a full disk --- */

static char where[] = "/tmp/abba-archive-full-XXXXXX";
static struct made_archive full; /* on that disk */

/* Mounts a tmpfs of 256 KiB. False: not possible. */
static bool mount_small(void)
{
    memcpy(where + sizeof where - 7, "XXXXXX", 6);
    assert_non_null(mkdtemp(where));
    if (geteuid() == 0 && mount("none", where, "tmpfs", 0, "size=256k,nr_inodes=4096") == 0)
        return true;
    rmdir(where);
    return false;
}

/* Also after a failure: nothing may stay mounted. */
static int unmount_small(void **state)
{
    (void)state;
    made_archive_release(&full);
    umount(where);
    rmdir(where);
    memset(&full, 0, sizeof full);
    return 0;
}

/* Takes what is left of the disk, then frees `spare` bytes again. */
static void fill_disk(off_t spare)
{
    static char block[4096];
    char path[100];

    snprintf(path, sizeof path, "%s/filler", where);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    setvbuf(f, NULL, _IONBF, 0);
    while (fwrite(block, 1, sizeof block, f) == sizeof block)
        ;
    fflush(f);
    off_t size = ftello(f);
    fclose(f);
    if (spare > 0)
        assert_int_equal(truncate(path, size > spare ? size - spare : 0), 0);
}

static void free_disk(void)
{
    char path[100];

    snprintf(path, sizeof path, "%s/filler", where);
    unlink(path);
}

static void a_full_disk_loses_only_the_sample_that_did_not_fit(void **state)
{
    (void)state;
    struct err err = {0};
    struct archive *a;
    size_t before, after;

    if (!mount_small()) {
        print_message("skipped: needs root and a tmpfs\n");
        skip();
    }
    made_archive_open(&full, where);
    assert_int_equal(made_archive_run(&full, 0, STAGE_WARMUP, 0, &err), 0);
    made_archive_read(&full, "samples.jsonl", &before);
    for (int spare = 0; spare <= 4;
         spare++) { /* so that each file in turn is the first not to fit */
        fill_disk(spare * 4096);
        full.roles[0].out =
            outcome_text("some more output than before, so that it is another file");
        int rc = made_archive_run(&full, 0, STAGE_WARMUP, 1, &err);
        free_disk();
        if (rc == 0)
            break;
        assert_int_equal(err.code, ERR_SYSTEM);
        assert_int_equal(err.sys_errno, ENOSPC);
        assert_non_null(strstr(err.msg, full.folder));
        made_archive_read(&full, "samples.jsonl", &after);
        assert_int_equal(after, before);
        assert_false(files_exists(made_archive_path(&full, "raw/000002-receiver.stdout")));
        assert_false(files_exists(made_archive_path(&full, "raw/000002-sender.stderr")));
    }
    if (full.runs == 1)
        assert_int_equal(made_archive_run(&full, 0, STAGE_WARMUP, 1, &err), 0);
    made_archive_stage(&full, 0, STAGE_MAIN);
    made_archive_finish(&full);
    assert_int_equal(archive_open(&a, full.folder, &err), 0);
    assert_int_equal(a->sample_count, 6);
    if (archive_verify(a, full.digest, &err) < 0)
        fail_msg("%s", err.msg);
    archive_close(a);
}

static void a_disk_that_is_full_at_the_end_leaves_an_unfinished_archive(void **state)
{
    (void)state;
    char digest[65];
    struct err err = {0};
    struct archive *a;

    if (!mount_small()) {
        print_message("skipped: needs root and a tmpfs\n");
        skip();
    }
    made_archive_open(&full, where);
    made_archive_stage(&full, 0, STAGE_WARMUP);
    fill_disk(0);
    assert_int_equal(archive_writer_finish(full.writer, "{}", 2, digest, &err), -1);
    assert_int_equal(err.sys_errno, ENOSPC);
    assert_int_equal(archive_open(&a, full.folder, &err), 0);
    assert_false(a->finished);
    assert_int_equal(a->sample_count, 2);
    assert_int_equal(archive_verify(a, NULL, &err), -1);
    assert_string_equal(err.msg, "unfinished: 2 of 10 runs");
    archive_close(a);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(a_folder_that_exists_is_refused),
        TEST(a_sample_is_on_disk_as_soon_as_it_was_written),
        TEST(raw_files_hold_the_streams_and_empty_ones_are_left_out),
        TEST(a_sample_names_size_and_checksum_of_its_raw_files),
        TEST(series_json_holds_machine_plan_and_hash),
        TEST(without_checksums_the_archive_is_unfinished),
        TEST(sha256sum_reads_and_confirms_the_list),
        TEST(the_list_is_sorted_and_has_every_file_but_itself),
        TEST(nothing_is_added_once_it_is_finished),
        TEST(sync_may_be_called_at_any_time),
        TEST(names_are_replaced_in_raw_files_and_messages_on_request),
        TEST(a_link_in_the_place_of_a_raw_file_is_not_followed),
        cmocka_unit_test_teardown(a_full_disk_loses_only_the_sample_that_did_not_fit,
                                  unmount_small),
        cmocka_unit_test_teardown(a_disk_that_is_full_at_the_end_leaves_an_unfinished_archive,
                                  unmount_small),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
