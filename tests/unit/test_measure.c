#include "check.h"

#include <signal.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "measure/measure.h"
#include "outcomes.h"

static const char runner_json[] =
    "{\"runner\": \"flow\", \"description\": \"a test\","
    " \"roles\": {\"receiver\": {\"command\": [\"{program}\", \"r\"], \"ready\": {\"stdout\": "
    "\"^ready$\"}},"
    "             \"sender\": {\"command\": [\"{program}\", \"s\"], \"after\": [\"receiver\"]}},"
    " \"numbers\": {\"decimal\": \".\", \"group\": \",\"},"
    " \"metrics\": ["
    "  {\"metric\": \"delivered_bytes\", \"role\": \"receiver\", \"pattern\": "
    "\"^bytes=(?<value>\\\\S+)\", \"unit\": \"MiB\"},"
    "  {\"metric\": \"delivery_time\", \"role\": \"receiver\", \"pattern\": "
    "\"^time=(?<value>\\\\S+) ms\", \"unit\": \"ms\"},"
    "  {\"metric\": \"delivered_messages\", \"role\": \"receiver\", \"pattern\": "
    "\"^messages=(?<value>\\\\S+)\", \"unit\": \"count\"},"
    "  {\"metric\": \"messages_per_second\", \"role\": \"receiver\", \"pattern\": "
    "\"^rate=(?<value>\\\\S+)\", \"unit\": \"1/s\"},"
    "  {\"metric\": \"throughput\", \"role\": \"sender\", \"pattern\": \"^(?<value>\\\\S+) Mbps\", "
    "\"unit\": \"Mibit/s\", \"required\": false},"
    "  {\"metric\": \"retransmits\", \"role\": \"sender\", \"stream\": \"stderr\", \"pattern\": "
    "\"^retransmits=(?<value>\\\\S+)\", \"unit\": \"count\", \"better\": \"lower\", \"required\": "
    "false}"
    " ],"
    " \"integrity\": [{\"role\": \"receiver\", \"pattern\": \"^payload=intact$\"}],"
    " \"invalid\": [{\"role\": \"receiver\", \"pattern\": \"^WARNING.*not all messages "
    "delivered.*$\","
    "                \"metrics\": [\"throughput\", \"messages_per_second\", \"cpu_per_message\"]},"
    "               {\"role\": \"sender\", \"pattern\": \"^clock went backwards\"}],"
    " \"checks\": [{\"ratio\": [\"delivered_messages\", \"delivery_time\"], \"equals\": "
    "\"messages_per_second\", \"within\": \"1%\"}]}";

static const char good_receiver[] =
    "ready\nbytes=100\ntime=2,000 ms\nmessages=20,000\nrate=10,000\npayload=intact\n";
static const char good_sender[] = "512 Mbps aggregate\n";

static struct arena arena;
static struct runner runner;
static struct meter *meter;
static struct json *tree;
static struct role_outcome roles[2];
static struct outcome outcome;
static struct measure_context context;
static struct sample sample;

static int open_meter(void **state)
{
    struct err err = {0};

    (void)state;
    tree = json_parse(runner_json, strlen(runner_json), "runner.json", &err);
    if (!tree || runner_decode(&runner, tree, "runner.json", &arena, &err) < 0 ||
        meter_new(&meter, &runner, 4096, 2, &err) < 0) {
        print_error("%s\n", err.msg);
        return -1;
    }
    return 0;
}

static int close_meter(void **state)
{
    (void)state;
    meter_free(meter);
    json_free(tree);
    arena_release(&arena);
    return 0;
}

static int good_run(void **state)
{
    (void)state;
    roles[0] = outcome_role("receiver", good_receiver, "");
    roles[1] = outcome_role("sender", good_sender, "");
    outcome = outcome_of(roles, 2);
    context = (struct measure_context){0};
    return 0;
}

static void measure(void)
{
    sample = (struct sample){.run = 1,
                             .pair = 1,
                             .slot = 1,
                             .attempt = 1,
                             .stage = STAGE_MAIN,
                             .variant = "baseline",
                             .profile = "flow/x"};
    meter_measure(meter, &outcome, &context, &sample, &arena);
}

static void is_sample(enum sample_status status, const char *error)
{
    measure();
    if (sample.status != status)
        fail_msg("status '%s': %s", sample_status_name(sample.status), sample.error);
    if (error)
        assert_string_equal(sample.error, error);
    else
        assert_null(sample.error);
}

static void is(const char *name, double want)
{
    const struct sample_metric *m = sample_find_metric(&sample, name);

    if (!m || m->value.status != VALUE_OK)
        fail_msg("'%s': %s", name, m ? m->value.reason : "not there");
    check_relative(m->value.number, want, 1e-14);
}

static void is_not(const char *name, enum value_status status, const char *reason)
{
    const struct sample_metric *m = sample_find_metric(&sample, name);

    assert_non_null(m);
    assert_int_equal(m->value.status, status);
    assert_non_null(strstr(m->value.reason, reason));
}

/* --- good runs --- */

static void a_good_run_gives_metrics_in_base_units(void **state)
{
    (void)state;
    is_sample(SAMPLE_OK, NULL);
    is("delivered_bytes", 100.0 * 1048576);
    is("delivery_time", 2);
    is("messages_per_second", 10000);
    is("throughput", 512 * 1.048576); /* printed in Mibit/s, told in Mbit/s */
    is("cpu_time", 1.5);
    is("cpu_per_gbit", 1.5 / (100.0 * 1048576 * 8 / 1e9));
    is("cpu_per_message", 75);
    is_not("retransmits", VALUE_MISSING, "no match");
    assert_string_equal(sample_find_metric(&sample, "throughput")->unit, "Mbit/s");
    assert_string_equal(sample.started, "2024-05-06T07:08:09.123Z");
}

static void roles_and_noise_are_taken_over(void **state)
{
    (void)state;
    roles[0].end = ROLE_STOPPED;
    roles[0].signal = SIGTERM;
    roles[0].missed_ticks = 2;
    measure();
    assert_int_equal(sample.status, SAMPLE_OK);
    assert_int_equal(sample.role_count, 2);
    assert_string_equal(sample.roles[0].end, "stopped");
    assert_int_equal(sample.roles[0].signal, SIGTERM);
    assert_int_equal(sample.roles[0].missed_ticks, 2);
    assert_string_equal(sample.roles[1].end, "exited");
    check_same(sample.roles[1].wall_s, 2);
    assert_string_equal(sample.roles[1].cpus, "0-1");
    assert_null(sample.roles[1].stderr_tail);
    check_same(sample.noise.psi_cpu.number, 0.01);
}

static void the_sample_of_any_run_reads_back(void **state)
{
    (void)state;
    static const enum run_end ends[] = {RUN_DONE, RUN_TIMEOUT, RUN_INTERRUPTED, RUN_NOT_READY,
                                        RUN_FAILED};

    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        struct buf line = BUF_INIT;
        struct sample_source from = {.file = "x", .line = 1};
        struct sample back;
        struct err err = {0};

        outcome.end = ends[i];
        roles[1].end = i == 4 ? ROLE_START_FAILED : ROLE_EXITED;
        measure();
        sample_encode(&sample, &line);
        if (sample_decode(&back, line.data, line.len, &from, &arena, &err) < 0)
            fail_msg("%s", err.msg);
        assert_int_equal(back.status, sample.status);
        buf_release(&line);
    }
}

/* --- bad ends --- */

static void a_bad_exit_status_fails_the_run(void **state)
{
    (void)state;
    roles[1].exit_code = 3;
    is_sample(SAMPLE_FAILED, "sender exited with status 3");
    is("cpu_time", 1.5); /* what was measured is kept */
    context.allow_failures = true;
    is_sample(SAMPLE_OK, NULL);
}

static void a_signal_fails_the_run_even_where_failures_are_allowed(void **state)
{
    (void)state;
    context.allow_failures = true;
    roles[0].end = ROLE_SIGNALED;
    roles[0].signal = SIGSEGV;
    is_sample(SAMPLE_FAILED, "receiver was killed by signal 11 (SIGSEGV)");
    roles[0].signal = 99;
    is_sample(SAMPLE_FAILED, "receiver was killed by signal 99");
}

static void the_role_that_ended_badly_first_is_blamed(void **state)
{
    (void)state;
    roles[0].exit_code = 1;
    roles[0].end_ns = 2500000000;
    roles[1].end = ROLE_SIGNALED;
    roles[1].signal = SIGABRT;
    roles[1].end_ns = 2400000000;
    is_sample(SAMPLE_FAILED, "sender was killed by signal 6 (SIGABRT)");
}

static void a_program_that_does_not_start_is_told(void **state)
{
    (void)state;
    roles[0].end = ROLE_START_FAILED;
    snprintf(roles[0].error, sizeof roles[0].error, "program 'x' cannot be executed: No such file");
    roles[1].end = ROLE_NOT_STARTED;
    outcome.end = RUN_FAILED;
    is_sample(SAMPLE_FAILED,
              "receiver did not start: program 'x' cannot be executed: No such file");
    is_not("peak_rss", VALUE_MISSING, "no program was started");
}

static void timeouts_interruptions_and_roles_not_ready_are_told_apart(void **state)
{
    (void)state;
    outcome.end = RUN_TIMEOUT;
    snprintf(outcome.error, sizeof outcome.error, "timed out after 60 s");
    roles[1].end = ROLE_KILLED;
    is_sample(SAMPLE_TIMEOUT, "timed out after 60 s");
    outcome.end = RUN_INTERRUPTED;
    outcome.error[0] = '\0';
    is_sample(SAMPLE_INTERRUPTED, "interrupted");
    outcome.end = RUN_NOT_READY;
    snprintf(outcome.error, sizeof outcome.error, "role 'receiver' was not ready within 10 s");
    is_sample(SAMPLE_FAILED, "role 'receiver' was not ready within 10 s");
}

static void the_end_of_stderr_is_kept_and_harmless_when_a_run_fails(void **state)
{
    (void)state;
    roles[1].err = outcome_text("one\ntwo\n3\n4\n5\n6\n7\n8\n9\n10\n11\n\033[31mred\033[0m\n");
    roles[1].exit_code = 1;
    measure();
    assert_string_equal(sample.roles[1].stderr_tail,
                        "3\n4\n5\n6\n7\n8\n9\n10\n11\n\\x1b[31mred\\x1b[0m");
    assert_null(sample.roles[0].stderr_tail);
    roles[1].err = outcome_cut("head\n", "torn\nlast", 5000);
    measure();
    assert_string_equal(sample.roles[1].stderr_tail, "torn\nlast");
}

/* --- bad figures --- */

static void a_required_metric_that_is_missing_fails_the_run(void **state)
{
    (void)state;
    roles[0].out =
        outcome_text("ready\nbytes=100\ntime=2,000 ms\nmessages=20,000\npayload=intact\n");
    is_sample(SAMPLE_FAILED, "metric 'messages_per_second': no match for "
                             "'^rate=(?<value>\\S+)' in stdout of 'receiver'");
    is("messages_per_second", 10000); /* computed from what there is */
}

static void a_number_in_another_format_fails_the_run(void **state)
{
    (void)state;
    roles[0].out =
        outcome_text("bytes=100\ntime=2.000,5 ms\nmessages=20,000\nrate=10,000\npayload=intact\n");
    is_sample(SAMPLE_FAILED, "metric 'delivery_time': '2.000,5' is no number in the declared "
                             "format (decimal '.', group ',')");
    is_not("delivery_time", VALUE_INVALID, "'2.000,5'");
}

static void payload_that_is_not_intact_fails_the_run(void **state)
{
    (void)state;
    roles[0].out =
        outcome_text("bytes=100\ntime=2,000 ms\nmessages=20,000\nrate=10,000\npayload=damaged\n");
    is_sample(SAMPLE_FAILED, "integrity: no match for '^payload=intact$' in stdout of 'receiver'");
}

static void a_warning_takes_back_the_metrics_it_names_and_no_others(void **state)
{
    (void)state;
    roles[0].out = outcome_text(
        "  WARNING: x\nWARNING [PD]: not all messages delivered within 60s. received=1/2\n"
        "bytes=100\ntime=2,000 ms\nmessages=20,000\nrate=10,000\npayload=intact\n");
    is_sample(SAMPLE_OK, NULL);
    is_not("throughput", VALUE_INVALID, "not all messages delivered within 60s. received=1/2");
    is_not("messages_per_second", VALUE_INVALID, "not all messages");
    is_not("cpu_per_message", VALUE_INVALID, "not all messages");
    is("peak_rss", 8 << 20);
    is("cpu_per_gbit", 1.5 / (100.0 * 1048576 * 8 / 1e9));
}

static void a_warning_without_metrics_takes_back_the_whole_sample(void **state)
{
    (void)state;
    roles[1].out = outcome_text("512 Mbps\nclock went backwards by 3 ms\n");
    is_sample(SAMPLE_INVALID, "the runner says 'clock went backwards'");
}

static void a_cross_check_that_fails_prints_both_figures(void **state)
{
    (void)state;
    roles[0].out =
        outcome_text("bytes=100\ntime=2,000 ms\nmessages=20,000\nrate=10,102\npayload=intact\n");
    is_sample(SAMPLE_INVALID, "check: delivered_messages / delivery_time is 10000, but "
                              "messages_per_second is 10102 (within 1% is allowed)");
    roles[0].out =
        outcome_text("bytes=100\ntime=2,000 ms\nmessages=20,000\nrate=10,100\npayload=intact\n");
    is_sample(SAMPLE_OK, NULL);
    roles[0].out = outcome_text("bytes=100\ntime=0 ms\nmessages=20,000\nrate=5\npayload=intact\n");
    is_sample(SAMPLE_INVALID, "check: delivered_messages / delivery_time is inf, but "
                              "messages_per_second is 5 (within 1% is allowed)");
    roles[0].out = outcome_text("bytes=0\ntime=0 ms\nmessages=0\nrate=5\npayload=intact\n");
    measure();
    assert_int_equal(sample.status, SAMPLE_INVALID);
}

static void the_first_fault_is_the_one_that_is_told(void **state)
{
    (void)state;
    roles[1].exit_code = 2;
    roles[0].out = outcome_text("nothing\n");
    roles[1].out = outcome_text("clock went backwards\n");
    is_sample(SAMPLE_FAILED, "sender exited with status 2");
}

static void one_run_leaves_nothing_for_the_next(void **state)
{
    (void)state;
    measure();
    roles[0].out = outcome_text("ready\n");
    measure();
    is_not("delivered_bytes", VALUE_MISSING, "no match");
    good_run(state);
    is_sample(SAMPLE_OK, NULL);
}

static void a_file_outside_the_scratch_folder_is_refused_beforehand(void **state)
{
    (void)state;
    struct runner_metric m = {
        .name = "x",
        .from = {.role = "a", .source = SOURCE_FILE, .file = "/etc/x", .json = "/x"},
        .unit = "s"};
    struct runner r = {.name = "bad", .metrics = &m, .metric_count = 1};
    struct meter *none;
    struct err err = {0};

    assert_int_equal(meter_new(&none, &r, 4096, 2, &err), -1);
    assert_null(none);
    assert_int_equal(err.code, ERR_CONFIG);
    assert_non_null(strstr(err.msg, "runner 'bad': metric 'x': file '/etc/x'"));
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup(f, good_run)
    const struct CMUnitTest tests[] = {
        TEST(a_good_run_gives_metrics_in_base_units),
        TEST(roles_and_noise_are_taken_over),
        TEST(the_sample_of_any_run_reads_back),
        TEST(a_bad_exit_status_fails_the_run),
        TEST(a_signal_fails_the_run_even_where_failures_are_allowed),
        TEST(the_role_that_ended_badly_first_is_blamed),
        TEST(a_program_that_does_not_start_is_told),
        TEST(timeouts_interruptions_and_roles_not_ready_are_told_apart),
        TEST(the_end_of_stderr_is_kept_and_harmless_when_a_run_fails),
        TEST(a_required_metric_that_is_missing_fails_the_run),
        TEST(a_number_in_another_format_fails_the_run),
        TEST(payload_that_is_not_intact_fails_the_run),
        TEST(a_warning_takes_back_the_metrics_it_names_and_no_others),
        TEST(a_warning_without_metrics_takes_back_the_whole_sample),
        TEST(a_cross_check_that_fails_prints_both_figures),
        TEST(the_first_fault_is_the_one_that_is_told),
        TEST(one_run_leaves_nothing_for_the_next),
        TEST(a_file_outside_the_scratch_folder_is_refused_beforehand),
    };
    return cmocka_run_group_tests(tests, open_meter, close_meter);
}
