#include "check.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/files.h"
#include "measure/extract.h"
#include "outcomes.h"

/* The lines of three real harnesses; see the shapes that runners must read. */
static const char dotnet[] =
    "[Scenario C1 run 1] 100000 messages in 1,126s = 88 831 msgs/sec | 33 429 184 bytes allocated "
    "total = 334,3 bytes/message | Gen0/Gen1/Gen2 per 10k messages = 0,30/0,00/0,00 (raw deltas "
    "3/0/0) | CPU 2,766s = 2,46 effective cores = 27,66 us/message | retained heap 660 928 bytes | "
    "working set 74 878 976 bytes\n"
    "[Scenario C1 run 2] 100000 messages in 1,100s = 90 909 msgs/sec | CPU 2,700s = 2,45 effective "
    "cores = 27,00 us/message\n"
    "[Scenario C1 run 3] 100000 messages in 1,150s = 86 957 msgs/sec | CPU 2,800s = 2,43 effective "
    "cores = 28,00 us/message\n";
static const char node[] =
    "[Scenario L1 run 1] 100000 messages in 2.422s = 41,280 msgs/sec | CPU 6.141s = 2.54 effective "
    "cores = 61.41 us/message | retained JS heap 4,724,448 bytes (native invisible)\n";
static const char lossy[] =
    "  WARNING [PD]: not all messages delivered within 60s. received=100551/101000\n"
    "[Scenario PD run 1] 100000 messages in 61.889s = 1616 msgs/sec | rest\n";
static const char final[] =
    "FINAL 689.123 Mbps aggregate over 10 pairs (ordered=false) in 4.210s\n";

static const struct number_format plain = {".", ""};
static const struct number_format french = {",", " "};
static const struct number_format english = {".", ","};

/* The figure of one metric in one stdout. */
static enum extract_result read_from(const struct outcome *o, const char *scratch,
                                     const struct runner_metric *m,
                                     const struct number_format *format, double *out,
                                     struct err *err)
{
    struct extract e;
    struct outputs outputs;

    *err = (struct err){0};
    if (extract_init(&e, &m->from, err) < 0)
        fail_msg("%s", err->msg);
    outputs_init(&outputs);
    outputs_begin(&outputs, o, scratch, NULL);
    enum extract_result r = extract_number(&e, m, format, &outputs, out, err);
    outputs_release(&outputs);
    extract_release(&e);
    return r;
}

static struct runner_metric pattern_metric(const char *pattern)
{
    return (struct runner_metric){
        .name = "x", .from = {.role = "main", .pattern = pattern}, .unit = "1/s"};
}

static struct runner_metric json_metric(const char *pointer)
{
    return (struct runner_metric){
        .name = "x", .from = {.role = "main", .json = pointer}, .unit = "bit/s"};
}

static void gives(const char *text, const struct runner_metric *m,
                  const struct number_format *format, double want)
{
    struct role_outcome role = outcome_role("main", text, "");
    struct outcome o = outcome_of(&role, 1);
    struct err err;
    double got = NAN;

    if (read_from(&o, NULL, m, format, &got, &err) != EXTRACT_OK)
        fail_msg("%s", err.msg);
    check_near(got, want, fabs(want) * 1e-15);
}

static void gives_none(const char *text, const struct runner_metric *m,
                       const struct number_format *format, enum extract_result want,
                       const char *complaint)
{
    struct role_outcome role = outcome_role("main", text, "");
    struct outcome o = outcome_of(&role, 1);
    struct err err;
    double got = NAN;

    assert_int_equal(read_from(&o, NULL, m, format, &got, &err), want);
    assert_int_equal(err.code, ERR_MEASURE);
    if (!strstr(err.msg, complaint))
        fail_msg("'%s' does not say '%s'", err.msg, complaint);
}

/* --- patterns over real lines --- */

static void real_lines_give_their_figures(void **state)
{
    (void)state;
    struct runner_metric rate = pattern_metric("= (?<value>[\\d ,.]+) msgs/sec");
    struct runner_metric seconds = pattern_metric("messages in (?<value>[\\d,.]+)s");
    struct runner_metric cpu = pattern_metric("cores = (?<value>[\\d,.]+) us/message");
    struct runner_metric heap =
        pattern_metric("allocated total = (?<value>[\\d ,.]+) bytes/message");
    struct runner_metric set = pattern_metric("working set (?<value>[\\d ]+) bytes");
    struct runner_metric mbps = pattern_metric("^FINAL (?<value>[\\d.]+) Mbps");

    gives(node, &rate, &english, 41280);
    gives(node, &seconds, &english, 2.422);
    gives(node, &cpu, &english, 61.41);
    gives(lossy, &rate, &english, 1616);
    gives(lossy, &seconds, &english, 61.889);
    gives(final, &mbps, &plain, 689.123);
    rate.match = MATCH_FIRST;
    seconds.match = MATCH_FIRST;
    gives(dotnet, &rate, &french, 88831);
    gives(dotnet, &seconds, &french, 1.126);
    gives(dotnet, &heap, &french, 334.3);
    gives(dotnet, &set, &french, 74878976);
}

static void the_wrong_format_is_an_error_that_quotes_the_text(void **state)
{
    (void)state;
    struct runner_metric rate = pattern_metric("= (?<value>[\\d ,.]+) msgs/sec");

    gives_none(node, &rate, &plain, EXTRACT_INVALID, "'41,280'");
}

static void count_and_rate_of_a_line_agree_within_a_percent(void **state)
{
    (void)state;
    struct role_outcome role = outcome_role("main", dotnet, "");
    struct outcome o = outcome_of(&role, 1);
    struct runner_metric m[3] = {pattern_metric("\\] (?<value>\\d+) messages"),
                                 pattern_metric("messages in (?<value>[\\d,.]+)s"),
                                 pattern_metric("= (?<value>[\\d ,.]+) msgs/sec")};
    double v[3];
    struct err err;

    for (size_t i = 0; i < 3; i++) {
        m[i].match = MATCH_FIRST;
        assert_int_equal(read_from(&o, NULL, &m[i], &french, &v[i], &err), EXTRACT_OK);
    }
    check_relative(v[0] / v[1], v[2], 0.01);
}

static void sacrificed_matches_are_left_out_and_the_rest_reduced(void **state)
{
    (void)state;
    struct runner_metric rate = pattern_metric("= (?<value>[\\d ,.]+) msgs/sec");

    rate.match = MATCH_ALL;
    rate.sacrifice = 1;
    gives(dotnet, &rate, &french, (90909.0 + 86957) / 2);
    rate.reduce = REDUCE_MAX;
    gives(dotnet, &rate, &french, 90909);
    rate.reduce = REDUCE_MIN;
    gives(dotnet, &rate, &french, 86957);
    rate.reduce = REDUCE_SUM;
    gives(dotnet, &rate, &french, 90909 + 86957);
    rate.reduce = REDUCE_LAST;
    gives(dotnet, &rate, &french, 86957);
    rate.sacrifice = 0;
    rate.reduce = REDUCE_MEDIAN;
    gives(dotnet, &rate, &french, 88831);
    rate.match = MATCH_LAST;
    gives(dotnet, &rate, &french, 86957);
    rate.match = MATCH_ALL;
    rate.sacrifice = 3;
    gives_none(dotnet, &rate, &french, EXTRACT_MISSING, "3 matches, the first 3 of which");
}

static void none_and_several_matches_are_errors_that_name_the_count(void **state)
{
    (void)state;
    struct runner_metric rate = pattern_metric("= (?<value>[\\d ,.]+) msgs/sec");
    struct runner_metric other = pattern_metric("nothing (?<value>\\d+)");

    gives_none(dotnet, &rate, &french, EXTRACT_INVALID, "3 matches where one is expected");
    gives_none(dotnet, &other, &french, EXTRACT_MISSING,
               "no match for 'nothing (?<value>\\d+)' in stdout of 'main'");
    gives_none("", &other, &plain, EXTRACT_MISSING, "no match");
}

static void a_pattern_that_backtracks_for_ever_stops(void **state)
{
    (void)state;
    struct runner_metric m = pattern_metric("^(a+)+(?<value>\\d)$");
    char text[4001];

    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    gives_none(text, &m, &plain, EXTRACT_INVALID, "gave up");
}

static void a_group_that_took_no_part_is_no_number(void **state)
{
    (void)state;
    struct runner_metric m = pattern_metric("rate (?:none|(?<value>\\d+))");

    gives_none("rate none\n", &m, &plain, EXTRACT_INVALID, "''");
    gives("rate 5\n", &m, &plain, 5);
}

/* --- output that was cut --- */

static enum extract_result from_cut(const char *head, const char *tail,
                                    const struct runner_metric *m, double *got, struct err *err)
{
    struct role_outcome role = outcome_role("main", "", "");
    struct outcome o = outcome_of(&role, 1);

    role.out = outcome_cut(head, tail, 1000);
    return read_from(&o, NULL, m, &plain, got, err);
}

static void lines_torn_by_the_gap_are_not_read(void **state)
{
    (void)state;
    struct runner_metric m = pattern_metric("rate=(?<value>\\d+)");
    struct err err;
    double got;

    assert_int_equal(from_cut("a\nrate=12", "34\nb\n", &m, &got, &err), EXTRACT_MISSING);
    assert_non_null(strstr(err.msg, "1000 bytes in the middle were not kept"));
    assert_int_equal(from_cut("rate=12\nx", "y\nz\n", &m, &got, &err), EXTRACT_OK);
    check_same(got, 12);
    assert_int_equal(from_cut("a\nx", "y\nrate=34", &m, &got, &err), EXTRACT_OK);
    check_same(got, 34);
}

static void head_and_tail_without_a_gap_are_one_text(void **state)
{
    (void)state;
    struct role_outcome role = outcome_role("main", "", "");
    struct outcome o = outcome_of(&role, 1);
    struct runner_metric m = pattern_metric("rate=(?<value>\\d+)");
    struct err err;
    double got;

    role.out = outcome_cut("a\nrate=12", "34\nb\n", 0);
    assert_int_equal(read_from(&o, NULL, &m, &plain, &got, &err), EXTRACT_OK);
    check_same(got, 1234);
}

/* --- JSON --- */

static const char iperf[] = "{\n\t\"start\": {\"version\": \"iperf 3.12\"},\n\t\"end\": {\n"
                            "\t\t\"sum_received\": {\"bits_per_second\": 12345678901.5,\n"
                            "\t\t\t\"bytes\": 18446744073709551615}\n\t}\n}\n";

static void a_pointer_into_one_document_gives_its_figure(void **state)
{
    (void)state;
    struct runner_metric rate = json_metric("/end/sum_received/bits_per_second");
    struct runner_metric bytes = json_metric("/end/sum_received/bytes");
    struct runner_metric absent = json_metric("/end/sum_sent/bytes");
    struct runner_metric text = json_metric("/start/version");
    struct runner_metric object = json_metric("/end");

    gives(iperf, &rate, &plain, 12345678901.5);
    gives(iperf, &bytes, &plain, 18446744073709551616.0);
    gives_none(iperf, &absent, &plain, EXTRACT_MISSING, "/end/sum_sent/bytes");
    gives_none(iperf, &text, &plain, EXTRACT_INVALID, "'iperf 3.12'");
    gives_none(iperf, &object, &plain, EXTRACT_INVALID, "object");
    gives("{\"rate\": \"1 234,5\"}",
          &(struct runner_metric){.from = {.role = "main", .json = "/rate"}}, &french, 1234.5);
}

static void json_lines_are_matches_one_by_one(void **state)
{
    (void)state;
    const char *lines =
        "{\"t\":1,\"rate\":10}\n\n{\"t\":2}\n{\"t\":3,\"rate\":30}\r\n{\"rate\":50}";
    struct runner_metric m = json_metric("/rate");

    gives_none(lines, &m, &plain, EXTRACT_INVALID, "3 matches");
    m.match = MATCH_LAST;
    gives(lines, &m, &plain, 50);
    m.match = MATCH_FIRST;
    gives(lines, &m, &plain, 10);
    m.match = MATCH_ALL;
    gives(lines, &m, &plain, 30);
    m.sacrifice = 1;
    gives(lines, &m, &plain, 40);
}

static void damaged_json_is_an_error_that_names_the_line(void **state)
{
    (void)state;
    struct runner_metric m = json_metric("/rate");

    gives_none("{\"rate\": 1,\n \"rate", &m, &plain, EXTRACT_INVALID, "line 2");
    gives_none("{\"rate\":1}\n{\"rate\":2}\n{\"ra", &m, &plain, EXTRACT_INVALID, "line 3");
    gives_none("warming up\n{\"rate\":1}\n", &m, &plain, EXTRACT_INVALID, "line 1");
    gives_none("{\"rate\":NaN}", &m, &plain, EXTRACT_INVALID, "expected a value");
    gives_none("", &m, &plain, EXTRACT_MISSING, "no match");
    gives_none(" \n", &m, &plain, EXTRACT_MISSING, "no match");
    gives_none("{\"rate\":null}", &m, &plain, EXTRACT_MISSING, "no match");
}

/* --- files --- */

static char scratch[] = "/tmp/abba-extract-XXXXXX";

static int make_scratch(void **state)
{
    (void)state;
    return mkdtemp(scratch) ? 0 : -1;
}

static int drop_scratch(void **state)
{
    struct err err;

    (void)state;
    return files_remove_tree(scratch, &err);
}

static void put(const char *name, const char *text)
{
    char path[200];
    struct err err;

    snprintf(path, sizeof path, "%s/%s", scratch, name);
    assert_int_equal(files_write_atomic(path, text, strlen(text), &err), 0);
}

static enum extract_result from_file(const char *file, double *got, struct err *err)
{
    struct role_outcome role = outcome_role("main", "", "");
    struct outcome o = outcome_of(&role, 1);
    struct runner_metric m = json_metric("/rate");

    m.from.source = SOURCE_FILE;
    m.from.file = file;
    return read_from(&o, scratch, &m, &plain, got, err);
}

static void a_file_below_the_scratch_folder_is_read(void **state)
{
    (void)state;
    char path[200];
    struct err err;
    double got;

    put("stats.json", "{\"rate\": 42}");
    assert_int_equal(from_file("{scratch}/stats.json", &got, &err), EXTRACT_OK);
    check_same(got, 42);
    snprintf(path, sizeof path, "%s/sub", scratch);
    assert_int_equal(mkdir(path, 0777), 0);
    put("sub/stats.json", "{\"rate\": 43}");
    assert_int_equal(from_file("sub/stats.json", &got, &err), EXTRACT_OK);
    check_same(got, 43);
    assert_int_equal(from_file("{scratch}/none.json", &got, &err), EXTRACT_MISSING);
    assert_non_null(strstr(err.msg, "none.json"));
}

static void links_fifos_and_other_folders_are_refused(void **state)
{
    (void)state;
    char path[200];
    struct err err;
    double got;

    put("real.json", "{\"rate\": 42}");
    snprintf(path, sizeof path, "%s/link.json", scratch);
    assert_int_equal(symlink("real.json", path), 0);
    assert_int_equal(from_file("{scratch}/link.json", &got, &err), EXTRACT_MISSING);
    snprintf(path, sizeof path, "%s/out", scratch);
    assert_int_equal(symlink("/etc", path), 0);
    assert_int_equal(from_file("{scratch}/out/passwd", &got, &err), EXTRACT_MISSING);
    snprintf(path, sizeof path, "%s/fifo", scratch);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(from_file("{scratch}/fifo", &got, &err), EXTRACT_MISSING);
    assert_non_null(strstr(err.msg, "not a regular file"));
}

static void a_file_that_is_too_large_is_refused(void **state)
{
    (void)state;
    char path[200];
    struct err err;
    double got;

    snprintf(path, sizeof path, "%s/huge", scratch);
    int fd = open(path, O_CREAT | O_WRONLY, 0600);
    assert_int_equal(ftruncate(fd, (off_t)OUTPUTS_FILE_MAX * 4), 0);
    close(fd);
    assert_int_equal(from_file("{scratch}/huge", &got, &err), EXTRACT_MISSING);
    assert_non_null(strstr(err.msg, "larger than"));
}

static void names_that_lead_out_of_the_scratch_folder_are_refused_beforehand(void **state)
{
    (void)state;
    static const char *const bad[] = {"/etc/passwd",      "{scratch}/../x", "..", "a/../../b",
                                      "{scratch}//etc/x", "{port}/x",       "",   "{scratch}/"};

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct extraction from = {
            .role = "main", .source = SOURCE_FILE, .file = bad[i], .json = ""};
        struct extract e;
        struct err err = {0};

        assert_int_equal(extract_init(&e, &from, &err), -1);
        assert_int_equal(err.code, ERR_CONFIG);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(real_lines_give_their_figures),
        cmocka_unit_test(the_wrong_format_is_an_error_that_quotes_the_text),
        cmocka_unit_test(count_and_rate_of_a_line_agree_within_a_percent),
        cmocka_unit_test(sacrificed_matches_are_left_out_and_the_rest_reduced),
        cmocka_unit_test(none_and_several_matches_are_errors_that_name_the_count),
        cmocka_unit_test(a_pattern_that_backtracks_for_ever_stops),
        cmocka_unit_test(a_group_that_took_no_part_is_no_number),
        cmocka_unit_test(lines_torn_by_the_gap_are_not_read),
        cmocka_unit_test(head_and_tail_without_a_gap_are_one_text),
        cmocka_unit_test(a_pointer_into_one_document_gives_its_figure),
        cmocka_unit_test(json_lines_are_matches_one_by_one),
        cmocka_unit_test(damaged_json_is_an_error_that_names_the_line),
        cmocka_unit_test(a_file_below_the_scratch_folder_is_read),
        cmocka_unit_test(links_fifos_and_other_folders_are_refused),
        cmocka_unit_test(a_file_that_is_too_large_is_refused),
        cmocka_unit_test(names_that_lead_out_of_the_scratch_folder_are_refused_beforehand),
    };
    return cmocka_run_group_tests(tests, make_scratch, drop_scratch);
}
