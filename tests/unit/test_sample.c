#include "check.h"

#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "model/sample.h"

static struct arena arena;

static int release(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

/* A sample with everything in it that a line can hold. */
static struct sample full_sample(void)
{
    static struct sample_metric metrics[] = {
        {"wall_time", "s", {0.1, VALUE_OK, 1, NULL}, 0},
        {"peak_rss", "B", {1048576, VALUE_OK, 1, NULL}, 786432},
        {"cycles", "count", {123456789.5, VALUE_SCALED, 0.75, "shared the PMU"}, 0},
        {"instructions", "count", {0, VALUE_UNSUPPORTED, 0, "no PMU here"}, 0},
        {"throughput", "Mbit/s", {0, VALUE_INVALID, 0, "not all messages \"delivered\""}, 0},
    };
    static struct sample_file files[] = {
        {"raw/000007-sender.stdout", 12, 0,
         "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"},
        {"raw/000007-sender.stderr", 2097152, 1073741824,
         "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"},
    };
    static struct sample_role roles[] = {
        {.name = "receiver",
         .end = "stopped",
         .signal = 15,
         .wall_s = 1.5,
         .user_s = 0.004,
         .system_s = 0.008,
         .cgroup_cpu_s = {0.012, VALUE_OK, 1, NULL},
         .peak_rss_bytes = 1000000,
         .sampled_rss_bytes = 900000,
         .max_rss_bytes = 1000000,
         .processes = 1,
         .rss_samples = 300,
         .cpus = "0"},
        {.name = "sender",
         .end = "exited",
         .exit_code = 3,
         .error = "exited with status 3",
         .cgroup_cpu_s = {0, VALUE_DENIED, 0, "no cgroup"},
         .cpu_differs = true,
         .processes = 3,
         .leftovers = 1,
         .missed_ticks = 2,
         .cpus = "0-1",
         .stderr_tail = "line 1\nline 2",
         .files = files,
         .file_count = 2},
    };
    return (struct sample){
        .run = 7,
        .pair = 2,
        .slot = 1,
        .attempt = 1,
        .stage = STAGE_CONFIRM,
        .variant = "candidate",
        .profile = "flow/pingpong",
        .status = SAMPLE_FAILED,
        .error = "sender exited with status 3",
        .program_changed = true,
        .started = "2024-05-06T07:08:09.123Z",
        .metrics = metrics,
        .metric_count = 5,
        .roles = roles,
        .role_count = 2,
        .noise = {.psi_cpu = {0.01, VALUE_OK, 1, NULL},
                  .others = {0.05, VALUE_OK, 1, NULL},
                  .steal = {0, VALUE_OK, 1, NULL},
                  .throttled = {0, VALUE_UNSUPPORTED, 0, "no counter"},
                  .frequency = {2400.5, VALUE_OK, 1, NULL},
                  .load = {1.25, VALUE_OK, 1, NULL}},
    };
}

/* A network's proof of the kernel's back end, which cannot tell everything, and of the user's. */
static struct net_proof full_proof(void)
{
    static struct net_flow_proof flows[] = {
        {.link = "receiver->sender",
         .seed = UINT64_MAX,
         .seeded = true,
         .offered = 1000,
         .delivered = 985,
         .lost = 10,
         .limit = 2,
         .duplicated = 1,
         .corrupted = 3,
         .reordered = 400,
         .ecn_marked = 5,
         .queued = 4,
         .high_water = 90,
         .unplanned = 7,
         .late_p50_ns = 14847,
         .late_p99_ns = 335871,
         .late_max_ns = 2873990,
         .has_loss_interval = true,
         .lost_low = 1,
         .lost_high = 30},
        {.link = "sender->receiver",
         .offered = NET_UNKNOWN,
         .reordered = NET_UNKNOWN,
         .late_p50_ns = -1,
         .late_p99_ns = -1,
         .late_max_ns = -1},
    };
    static struct net_counters counters[] = {
        {.role = "receiver", .udp_in_errors = 1, .udp_rcvbuf_errors = 2, .tcp_retransmits = 3},
        {.role = NULL, .udp_sndbuf_errors = 4, .udp_csum_errors = 5},
    };
    return (struct net_proof){.backend = "kernel",
                              .flows = flows,
                              .flow_count = 2,
                              .counters = counters,
                              .counter_count = 2,
                              .shaper_cpu_s = 0.125,
                              .failed = "lo: 5 packets lost, where the model allows 0 to 4"};
}

/* --- decoding what was encoded --- */

static int decode(const char *line, size_t len, struct sample *s, struct err *err)
{
    const struct sample_source from = {.file = "samples.jsonl", .line = 12};

    return sample_decode(s, line, len, &from, &arena, err);
}

static void a_decoded_line_encodes_to_the_same_bytes(void **state)
{
    (void)state;
    struct sample s = full_sample(), back;
    struct buf first = BUF_INIT, second = BUF_INIT;
    struct err err = {0};

    sample_encode(&s, &first);
    assert_int_equal(decode(first.data, first.len, &back, &err), 0);
    sample_encode(&back, &second);
    assert_string_equal(first.data, second.data);
    assert_int_equal(back.metric_count, 5);
    assert_int_equal(back.roles[1].file_count, 2);
    assert_int_equal(back.roles[1].files[1].cut, 1073741824);
    assert_true(back.program_changed);
    assert_true(sample_find_metric(&back, "peak_rss")->floor == 786432);
    assert_null(sample_find_metric(&back, "peak"));
    buf_release(&first);
    buf_release(&second);
}

static void a_networks_proof_encodes_to_the_same_bytes_again(void **state)
{
    (void)state;
    struct sample s = full_sample(), back;
    struct buf first = BUF_INIT, second = BUF_INIT;
    struct err err = {0};

    s.net = full_proof();
    sample_encode(&s, &first);
    assert_int_equal(decode(first.data, first.len, &back, &err), 0);
    sample_encode(&back, &second);
    assert_string_equal(first.data, second.data);
    assert_int_equal(back.net.flow_count, 2);
    assert_true(back.net.flows[0].seed == UINT64_MAX);
    assert_int_equal(back.net.flows[0].lost_high, 30);
    assert_true(back.net.flows[1].offered == NET_UNKNOWN);
    assert_int_equal(back.net.flows[1].late_p99_ns, -1);
    assert_false(back.net.flows[1].has_loss_interval);
    assert_string_equal(back.net.counters[0].role, "receiver");
    assert_null(back.net.counters[1].role);
    assert_string_equal(back.net.failed, s.net.failed);
    buf_release(&first);
    buf_release(&second);
}

static void a_run_without_a_network_says_nothing_of_one(void **state)
{
    (void)state;
    struct sample s = full_sample(), back;
    struct buf line = BUF_INIT;
    struct err err = {0};

    sample_encode(&s, &line);
    assert_null(strstr(line.data, "\"net\""));
    assert_int_equal(decode(line.data, line.len, &back, &err), 0);
    assert_null(back.net.backend);
    buf_release(&line);
}

static void the_line_has_the_documented_keys_in_order(void **state)
{
    (void)state;
    struct sample s = full_sample();
    struct buf line = BUF_INIT;

    s.role_count = 0;
    s.metric_count = 1;
    s.program_changed = false;
    s.status = SAMPLE_OK;
    s.error = NULL;
    sample_encode(&s, &line);
    const char *start =
        "{\"run\":7,\"pair\":2,\"slot\":1,\"attempt\":1,\"stage\":\"confirm\","
        "\"variant\":\"candidate\",\"profile\":\"flow/pingpong\",\"status\":\"ok\",\"error\":null,"
        "\"started\":\"2024-05-06T07:08:09.123Z\","
        "\"metrics\":{\"wall_time\":{\"value\":0.1,\"unit\":\"s\",\"status\":\"ok\"}},"
        "\"roles\":{},\"noise\":{\"psi_cpu\":{\"value\":0.01,\"status\":\"ok\"},";
    assert_memory_equal(line.data, start, strlen(start));
    assert_int_equal(line.data[line.len - 1], '\n');
    assert_ptr_equal(strchr(line.data, '\n'), line.data + line.len - 1);
    buf_release(&line);
}

static void a_value_that_is_not_ok_is_null_with_its_reason(void **state)
{
    (void)state;
    struct sample s = full_sample();
    struct buf line = BUF_INIT;

    s.metrics[3].value.number = 42; /* never to be seen */
    sample_encode(&s, &line);
    assert_non_null(strstr(line.data, "\"instructions\":{\"value\":null,\"unit\":\"count\","
                                      "\"status\":\"unsupported\",\"reason\":\"no PMU here\"}"));
    buf_release(&line);
}

static void a_number_that_is_not_finite_is_written_as_missing(void **state)
{
    (void)state;
    struct sample_metric odd[] = {{"a", "s", {NAN, VALUE_OK, 1, NULL}, 0},
                                  {"b", "s", {INFINITY, VALUE_OK, 1, NULL}, 0}};
    struct sample s = full_sample(), back;
    struct buf line = BUF_INIT;
    struct err err = {0};

    s.metrics = odd;
    s.metric_count = 2;
    sample_encode(&s, &line);
    assert_null(strstr(line.data, "nan"));
    assert_null(strstr(line.data, "inf,"));
    assert_int_equal(decode(line.data, line.len, &back, &err), 0);
    assert_int_equal(back.metrics[0].value.status, VALUE_MISSING);
    assert_int_equal(back.metrics[1].value.status, VALUE_MISSING);
    buf_release(&line);
}

static void texts_equal_to_an_earlier_sample_are_shared(void **state)
{
    (void)state;
    struct sample s = full_sample(), one, two;
    struct sample_source from = {.file = "samples.jsonl", .line = 1};
    struct buf line = BUF_INIT;
    struct err err = {0};

    sample_encode(&s, &line);
    assert_int_equal(sample_decode(&one, line.data, line.len, &from, &arena, &err), 0);
    from.like = &one;
    assert_int_equal(sample_decode(&two, line.data, line.len, &from, &arena, &err), 0);
    assert_ptr_equal(one.metrics[0].name, two.metrics[0].name);
    assert_ptr_equal(one.metrics[0].unit, two.metrics[0].unit);
    assert_ptr_equal(one.metrics[3].value.reason, two.metrics[3].value.reason);
    assert_ptr_equal(one.profile, two.profile);
    assert_ptr_equal(one.roles[1].cpus, two.roles[1].cpus);
    buf_release(&line);
}

/* --- faults --- */

/* Replaces the first `old` in a good line and expects a complaint that holds `complaint`. */
static void expect_fault(const char *old, const char *new, const char *complaint)
{
    struct sample s = full_sample(), back;
    struct buf good = BUF_INIT, bad = BUF_INIT;
    struct err err = {0};

    sample_encode(&s, &good);
    const char *at = strstr(good.data, old);
    assert_non_null(at);
    buf_add(&bad, good.data, (size_t)(at - good.data));
    buf_addstr(&bad, new);
    buf_addstr(&bad, at + strlen(old));
    assert_int_equal(decode(bad.data, bad.len, &back, &err), -1);
    assert_int_equal(err.code, ERR_ARCHIVE);
    assert_non_null(strstr(err.msg, "'samples.jsonl' line 12"));
    if (!strstr(err.msg, complaint))
        fail_msg("'%s' does not say '%s'", err.msg, complaint);
    buf_release(&good);
    buf_release(&bad);
}

static void faults_name_file_line_and_path(void **state)
{
    (void)state;
    expect_fault("\"run\":7", "\"run\":0", "$.run: 0 is out of range");
    expect_fault("\"run\":7", "\"run\":-1", "$.run");
    expect_fault("\"run\":7", "\"run\":\"7\"", "$.run: expected an integer, found string");
    expect_fault("\"run\":7", "\"run\":1.5", "$.run");
    expect_fault("\"run\":7,", "", "$: key 'run' is missing");
    expect_fault("\"slot\":1", "\"slot\":4294967296", "$.slot: 4294967296 is out of range");
    expect_fault("\"stage\":\"confirm\"", "\"stage\":\"confirmed\"", "$.stage");
    expect_fault("\"pair\":2", "\"pair\":0", "pair 0 in stage 'confirm'");
    expect_fault("\"status\":\"failed\"", "\"status\":\"ok\"", "status 'ok' with an error");
    expect_fault("\"error\":\"sender exited with status 3\"", "\"error\":null",
                 "status 'failed' without an error");
    expect_fault("\"metrics\":{", "\"metrics\":{\"x\":7,", "$.metrics.x: expected an object");
    expect_fault("\"value\":0.1", "\"value\":\"0.1\"", "$.metrics.wall_time.value");
    expect_fault("\"value\":0.1", "\"value\":null",
                 "$.metrics.wall_time: status 'ok' without a value");
    expect_fault("\"value\":null", "\"value\":0", "status 'unsupported' with a value");
    expect_fault(",\"reason\":\"no PMU here\"", "", "without a reason");
    expect_fault("\"coverage\":0.75", "\"coverage\":1.75", "coverage");
    expect_fault("\"status\":\"scaled\"", "\"status\":\"sealed\"", "unknown status 'sealed'");
    expect_fault("\"floor\":786432", "\"floor\":-1", "$.metrics.peak_rss.floor: -1 is negative");
    expect_fault("\"floor\":786432", "\"flour\":1", "$.metrics.peak_rss.flour: unknown key");
    expect_fault("2024-05-06T07", "2024-05-06 07", "$.started: not a time");
    expect_fault("\"end\":\"stopped\"", "\"end\":\"vanished\"", "$.roles.receiver.end");
    expect_fault("\"exit_code\":3", "\"exit_code\":300", "$.roles.sender.exit_code");
    expect_fault("raw/000007-sender.stdout", "raw/../../etc/passwd", "raw/");
    expect_fault("raw/000007-sender.stdout", "series.json", "raw/");
    expect_fault("fedcba98", "FEDCBA98", "not a SHA-256");
    expect_fault("\"load\":{", "\"load\":{\"unit\":\"s\",", "$.noise.load.unit: unknown key");
}

static void a_line_cut_anywhere_is_refused(void **state)
{
    (void)state;
    struct sample s = full_sample(), back;
    struct buf line = BUF_INIT;
    struct err err;

    sample_encode(&s, &line);
    for (size_t len = 0; len + 1 < line.len; len++) {
        assert_int_equal(decode(line.data, len, &back, &err), -1);
        assert_int_equal(err.code, ERR_ARCHIVE);
    }
    assert_int_equal(decode(line.data, line.len - 1, &back, &err), 0);
    buf_release(&line);
}

static void a_key_written_twice_is_refused(void **state)
{
    (void)state;
    expect_fault("\"run\":7", "\"run\":7,\"run\":7", "run");
    expect_fault("\"peak_rss\":{\"value\"", "\"wall_time\":{\"value\"", "wall_time");
}

static void flipped_bits_never_crash_the_reader(void **state)
{
    (void)state;
    struct sample s = full_sample(), back;
    struct buf line = BUF_INIT;
    struct err err;

    sample_encode(&s, &line);
    for (size_t i = 0; i < line.len; i++) {
        for (int bit = 0; bit < 8; bit++) {
            line.data[i] = (char)(line.data[i] ^ (1 << bit));
            if (decode(line.data, line.len, &back, &err) != 0)
                assert_int_equal(err.code, ERR_ARCHIVE);
            line.data[i] = (char)(line.data[i] ^ (1 << bit));
        }
    }
    buf_release(&line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_decoded_line_encodes_to_the_same_bytes, release),
        cmocka_unit_test_teardown(a_networks_proof_encodes_to_the_same_bytes_again, release),
        cmocka_unit_test_teardown(a_run_without_a_network_says_nothing_of_one, release),
        cmocka_unit_test_teardown(the_line_has_the_documented_keys_in_order, release),
        cmocka_unit_test_teardown(a_value_that_is_not_ok_is_null_with_its_reason, release),
        cmocka_unit_test_teardown(a_number_that_is_not_finite_is_written_as_missing, release),
        cmocka_unit_test_teardown(texts_equal_to_an_earlier_sample_are_shared, release),
        cmocka_unit_test_teardown(faults_name_file_line_and_path, release),
        cmocka_unit_test_teardown(a_line_cut_anywhere_is_refused, release),
        cmocka_unit_test_teardown(a_key_written_twice_is_refused, release),
        cmocka_unit_test_teardown(flipped_bits_never_crash_the_reader, release),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
