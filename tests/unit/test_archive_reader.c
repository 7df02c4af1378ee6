#include "check.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive/reader.h"
#include "base/files.h"
#include "made_archive.h"

static struct made_archive m;

/* A whole archive, finished. */
static int begin(void **state)
{
    (void)state;
    made_archive_open(&m, NULL);
    made_archive_all(&m);
    made_archive_finish(&m);
    return 0;
}

static int end(void **state)
{
    (void)state;
    made_archive_release(&m);
    return 0;
}

static struct archive *open_good(void)
{
    struct archive *a;
    struct err err = {0};

    if (archive_open(&a, m.folder, &err) < 0)
        fail_msg("%s", err.msg);
    return a;
}

static void refuses(enum err_code code, const char *complaint)
{
    struct archive *a;
    struct err err = {0};

    if (archive_open(&a, m.folder, &err) == 0)
        fail_msg("it was read; expected: %s", complaint);
    assert_null(a);
    if (err.code != code || !strstr(err.msg, complaint))
        fail_msg("code %d, '%s' does not say '%s'", (int)err.code, err.msg, complaint);
}

static void put_away(const char *name)
{
    assert_int_equal(unlink(made_archive_path(&m, name)), 0);
}

/* --- good archives --- */

static void everything_that_was_written_is_read(void **state)
{
    (void)state;
    struct archive *a = open_good();

    assert_string_equal(a->folder, m.folder);
    assert_memory_equal(a->tool, "abba ", 5);
    assert_int_equal(a->sample_count, 10);
    assert_true(a->finished);
    assert_false(a->torn);
    assert_string_equal(a->digest, m.digest);
    assert_string_equal(a->report, "{\"abba\": 1}\n");
    assert_int_equal(a->report_len, 12);
    assert_string_equal(a->plan->sha256, m.plan.sha256);
    assert_int_equal(a->plan->profile_count, 2);
    assert_int_equal(archive_run(a, 9).run, 10);
    assert_string_equal(archive_run(a, 9).profile, "p/two");
    assert_int_equal(archive_run(a, 0).stage, STAGE_WARMUP);
    archive_close(a);
}

static void the_machine_reads_back(void **state)
{
    (void)state;
    struct archive *a = open_good();

    assert_string_equal(a->machine->kernel, m.machine.kernel);
    assert_string_equal(a->machine->cpu_model, m.machine.cpu_model);
    assert_int_equal(a->machine->cpus, 2);
    assert_int_equal(a->machine->memory_mib, 3900);
    assert_int_equal(a->machine->setting_count, 2);
    assert_string_equal(a->machine->settings[0].value, "2");
    assert_null(a->machine->settings[1].value);
    assert_int_equal(a->machine->counters[0].status, VALUE_UNSUPPORTED);
    assert_string_equal(a->machine->counters[0].reason, "no PMU here");
    assert_null(a->machine->counters[1].reason);
    assert_null(a->machine->host);
    archive_close(a);
}

static int compare_with_run(void *user, const struct sample *s, struct err *err)
{
    const struct archive *a = user;
    const struct archive_run run = archive_run(a, s->run - 1);
    struct sample_metric x;

    (void)err;
    assert_int_equal(run.run, s->run);
    assert_int_equal(run.pair, s->pair);
    assert_int_equal(run.slot, s->slot);
    assert_int_equal(run.stage, s->stage);
    assert_string_equal(run.variant, s->variant);
    assert_string_equal(run.profile, s->profile);
    assert_int_equal(run.metric_count, s->metric_count);
    for (size_t k = 0; k < s->metric_count; k++) {
        archive_metric(a, s->run - 1, k, &x);
        assert_string_equal(x.name, s->metrics[k].name);
        assert_true(x.value.status != VALUE_OK || x.value.number == s->metrics[k].value.number);
    }
    return 0;
}

static void runs_as_they_are_kept_say_what_samples_say(void **state)
{
    (void)state;
    struct archive *a = open_good();
    struct err err = {0};

    assert_null(a->samples);
    assert_int_equal(archive_each(a, compare_with_run, a, &err), 0);
    archive_close(a);
}

static void a_profiles_runs_stand_in_its_span(void **state)
{
    (void)state;
    struct archive *a = open_good();
    size_t first, end, runs = 0;

    for (size_t p = 0; p < a->plan->profile_count; p++) {
        const char *name = a->plan->profiles[p].name;

        archive_span(a, name, &first, &end);
        for (size_t i = 0; i < a->sample_count; i++) {
            bool own = strcmp(archive_run(a, i).profile, name) == 0;

            assert_true(!own || (i >= first && i < end));
            runs += own;
        }
    }
    assert_int_equal(runs, a->sample_count);
    archive_span(a, "none", &first, &end);
    assert_int_equal(first, end);
    archive_close(a);
}

static void the_end_of_stderr_is_kept_of_a_run_that_failed(void **state)
{
    (void)state;
    made_archive_alter(&m, "samples.jsonl", "\"status\":\"ok\",\"error\":null",
                       "\"status\":\"failed\",\"error\":\"x\"");
    made_archive_alter(&m, "samples.jsonl", "\"files\":[", "\"stderr_tail\":\"oh\",\"files\":[");
    struct archive *a = open_good();

    assert_int_equal(archive_run(a, 0).status, SAMPLE_FAILED);
    assert_string_equal(archive_run(a, 0).error, "x");
    assert_string_equal(archive_run(a, 0).stderr_tail, "oh");
    assert_int_equal(archive_run(a, 1).status, SAMPLE_OK);
    assert_null(archive_run(a, 1).error);
    assert_null(archive_run(a, 1).stderr_tail);
    archive_close(a);
}

static int see_sample(void *user, const struct sample *s, struct err *err)
{
    uint64_t *seen = user;

    if (s->run == 8)
        return err_set(err, ERR_ARCHIVE, "enough");
    assert_int_equal(s->role_count, 2);
    assert_int_equal(s->run, ++*seen);
    return 0;
}

static void samples_are_shown_one_by_one_until_one_is_refused(void **state)
{
    (void)state;
    struct archive *a = open_good();
    struct err err = {0};
    uint64_t seen = 0;

    assert_int_equal(archive_each(a, see_sample, &seen, &err), -1);
    assert_string_equal(err.msg, "enough");
    assert_int_equal(seen, 7);
    archive_close(a);
}

static int see_roles(void *user, const struct sample *s, struct err *err)
{
    (void)user;
    (void)err;
    assert_int_equal(s->role_count, 2);
    assert_string_equal(s->roles[1].name, "sender");
    assert_int_equal(s->roles[1].file_count, 1);
    return 0;
}

static void an_archive_has_the_roles_of_all_runs(void **state)
{
    (void)state;
    struct archive *a = open_good();
    struct err err = {0};

    assert_int_equal(archive_each(a, see_roles, NULL, &err), 0);
    archive_close(a);
}

static void roles_that_are_not_kept_are_checked_like_others(void **state)
{
    (void)state;
    made_archive_alter(&m, "samples.jsonl", "\"end\":\"exited\"", "\"end\":\"vanished\"");
    refuses(ERR_ARCHIVE, "$.roles.receiver.end: unknown word");
}

static void an_unfinished_archive_is_read(void **state)
{
    (void)state;
    put_away("SHA256SUMS");
    put_away("report.json");
    struct archive *a = open_good();

    assert_false(a->finished);
    assert_string_equal(a->digest, "");
    assert_null(a->report);
    assert_int_equal(a->sample_count, 10);
    archive_close(a);
}

static void an_archive_cut_at_any_byte_gives_all_whole_lines(void **state)
{
    (void)state;
    size_t len, lines = 0;
    const char *text = made_archive_read(&m, "samples.jsonl", &len);

    put_away("SHA256SUMS");
    for (size_t cut = 0; cut <= len; cut += cut % 97 == 0 ? 1 : 31) {
        size_t n = cut < len ? cut : len;

        lines = 0;
        for (size_t i = 0; i < n; i++)
            lines += text[i] == '\n';
        assert_int_equal(truncate(made_archive_path(&m, "samples.jsonl"), 0), 0);
        made_archive_write(&m, "samples.jsonl", text, n);
        struct archive *a = open_good();
        assert_int_equal(a->sample_count, lines);
        assert_int_equal(a->torn, n > 0 && text[n - 1] != '\n');
        archive_close(a);
    }
}

/* --- damaged ones --- */

static void a_damaged_line_is_named(void **state)
{
    (void)state;
    made_archive_alter(&m, "samples.jsonl", "\"run\":3,", "\"run\":\"3\",");
    refuses(ERR_ARCHIVE, "samples.jsonl' line 3: $.run: expected an integer");
}

static void a_line_that_is_no_json_is_named(void **state)
{
    (void)state;
    made_archive_alter(&m, "samples.jsonl", "{\"run\":3,", "{run:3,");
    refuses(ERR_ARCHIVE, "samples.jsonl' line 3 column 2");
}

static void an_empty_line_is_damage(void **state)
{
    (void)state;
    made_archive_alter(&m, "samples.jsonl", "\n", "\n\n");
    refuses(ERR_ARCHIVE, "samples.jsonl' line 2");
}

static void a_line_without_end_is_refused(void **state)
{
    (void)state;
    size_t len = (size_t)9 << 20;
    char *text = arena_alloc(&m.arena, len);

    memset(text, ' ', len);
    made_archive_write(&m, "samples.jsonl", text, len);
    refuses(ERR_ARCHIVE, "samples.jsonl' line 1: longer than");
}

static void a_plan_that_was_altered_is_refused(void **state)
{
    (void)state;
    made_archive_alter(&m, "series.json", "\"worse\": \"10%\"", "\"worse\": \"90%\"");
    refuses(ERR_ARCHIVE, "the plan is not the one that was hashed");
}

static void a_hash_that_was_altered_is_refused(void **state)
{
    (void)state;
    char bad[65];

    memcpy(bad, m.plan.sha256, sizeof bad);
    bad[0] = bad[0] == 'a' ? 'b' : 'a';
    made_archive_alter(&m, "series.json", m.plan.sha256, bad);
    refuses(ERR_ARCHIVE, "the plan is not the one that was hashed");
}

/* Reports of older archives must come out as they were, those of later ones are not guessed at. */
static void series_json_says_which_keys_its_report_has(void **state)
{
    struct archive *a = open_good();

    (void)state;
    assert_true(a->has_tables);
    archive_close(a);
    made_archive_alter(&m, "series.json", "\"report\": 2", "\"report\": 1");
    a = open_good();
    assert_false(a->has_tables);
    archive_close(a);
    made_archive_alter(&m, "series.json", "\"report\": 1", "\"report\": 3");
    refuses(ERR_ARCHIVE, "keys 3 is not known");
    made_archive_alter(&m, "series.json", "\"report\": 3", "\"report\": 0");
    refuses(ERR_ARCHIVE, "$.report");
}

static void damage_in_series_json_is_named(void **state)
{
    (void)state;
    made_archive_alter(&m, "series.json", "\"machine\"", "\"machin\"");
    refuses(ERR_ARCHIVE, "machin");
    made_archive_alter(&m, "series.json", "\"machin\"", "\"machine\"");
    made_archive_alter(&m, "series.json", "\"cpus\": 2", "\"cpus\": -2");
    refuses(ERR_ARCHIVE, "$.cpus");
    made_archive_alter(&m, "series.json", "\"cpus\": -2", "\"cpus\": 2");
    made_archive_alter(&m, "series.json", "\"abba\": 1", "\"abba\": 2");
    refuses(ERR_ARCHIVE, "archive format 2 is not known");
    made_archive_write(&m, "series.json", "{\"abba\": 1", 10);
    refuses(ERR_ARCHIVE, "series.json' line 1");
    made_archive_write(&m, "series.json", "", 0);
    refuses(ERR_ARCHIVE, "series.json' line 1");
}

static void json_that_is_deep_or_huge_is_refused(void **state)
{
    (void)state;
    size_t len = (size_t)33 << 20;
    char *text = arena_alloc(&m.arena, len);

    memset(text, '[', len);
    made_archive_write(&m, "series.json", text, 10000);
    refuses(ERR_ARCHIVE, "nested more than");
    made_archive_write(&m, "series.json", text, len);
    refuses(ERR_ARCHIVE, "larger than");
}

/* --- what is no archive --- */

static void what_is_no_archive_is_told(void **state)
{
    (void)state;
    struct archive *a;
    struct err err = {0};
    const char *empty = arena_printf(&m.arena, "%s/empty", m.base);

    assert_int_equal(mkdir(empty, 0777), 0);
    assert_int_equal(archive_open(&a, empty, &err), -1);
    assert_int_equal(err.code, ERR_ARCHIVE);
    assert_non_null(strstr(err.msg, "is not an archive"));
    assert_true(err.hint[0]);
    assert_int_equal(archive_open(&a, "/nonexistent/abba", &err), -1);
    assert_int_equal(err.code, ERR_ARCHIVE);
    assert_non_null(strstr(err.msg, "no archive at '/nonexistent/abba'"));
    assert_int_equal(archive_open(&a, made_archive_path(&m, "series.json"), &err), -1);
    assert_int_equal(err.code, ERR_ARCHIVE);
    assert_true(err.hint[0]);
}

static void a_series_that_ended_before_its_plan_is_unfinished(void **state)
{
    (void)state;
    put_away("series.json");
    refuses(ERR_UNFINISHED, "ended before its plan was written");
}

static void samples_that_are_missing_are_told(void **state)
{
    (void)state;
    put_away("samples.jsonl");
    refuses(ERR_ARCHIVE, "samples.jsonl");
}

static void links_and_fifos_in_the_place_of_files_are_refused(void **state)
{
    (void)state;
    static const char *const names[] = {"series.json", "samples.jsonl", "report.json",
                                        "SHA256SUMS"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *path = made_archive_path(&m, names[i]);
        const char *aside = arena_printf(&m.arena, "%s/aside", m.base);

        assert_int_equal(rename(path, aside), 0);
        assert_int_equal(symlink(aside, path), 0);
        refuses(ERR_ARCHIVE, "is a link");
        unlink(path);
        assert_int_equal(mkfifo(path, 0600), 0);
        refuses(ERR_ARCHIVE, "is not a regular file");
        unlink(path);
        assert_int_equal(mkdir(path, 0700), 0);
        refuses(ERR_ARCHIVE, "is not a regular file");
        rmdir(path);
        assert_int_equal(rename(aside, path), 0);
    }
    archive_close(open_good());
}

static void a_raw_folder_that_is_a_link_is_refused(void **state)
{
    (void)state;
    const char *aside = arena_printf(&m.arena, "%s/aside", m.base);

    assert_int_equal(rename(made_archive_path(&m, "raw"), aside), 0);
    assert_int_equal(symlink(aside, made_archive_path(&m, "raw")), 0);
    refuses(ERR_ARCHIVE, "raw' is not a folder");
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(everything_that_was_written_is_read),
        TEST(the_machine_reads_back),
        TEST(runs_as_they_are_kept_say_what_samples_say),
        TEST(the_end_of_stderr_is_kept_of_a_run_that_failed),
        TEST(samples_are_shown_one_by_one_until_one_is_refused),
        TEST(an_archive_has_the_roles_of_all_runs),
        TEST(a_profiles_runs_stand_in_its_span),
        TEST(roles_that_are_not_kept_are_checked_like_others),
        TEST(an_unfinished_archive_is_read),
        TEST(an_archive_cut_at_any_byte_gives_all_whole_lines),
        TEST(a_damaged_line_is_named),
        TEST(a_line_that_is_no_json_is_named),
        TEST(an_empty_line_is_damage),
        TEST(a_line_without_end_is_refused),
        TEST(a_plan_that_was_altered_is_refused),
        TEST(a_hash_that_was_altered_is_refused),
        TEST(series_json_says_which_keys_its_report_has),
        TEST(damage_in_series_json_is_named),
        TEST(json_that_is_deep_or_huge_is_refused),
        TEST(what_is_no_archive_is_told),
        TEST(a_series_that_ended_before_its_plan_is_unfinished),
        TEST(samples_that_are_missing_are_told),
        TEST(links_and_fifos_in_the_place_of_files_are_refused),
        TEST(a_raw_folder_that_is_a_link_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
