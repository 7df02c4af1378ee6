/* runners/, profiles/, thresholds/: every shipped file is taken by the code and means something;
 * code and schemas agree on tests/data/cases.jsonl; each runner reads the real output of its
 * program, as captured in tests/data/runners. Runs in the source tree's top folder. */
#include "check.h"

#include "base/buf.h"
#include "base/files.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/pattern.h"
#include "measure/measure.h"
#include "model/lab_file.h"
#include "model/accepted.h"
#include "model/profile.h"
#include "model/runner.h"
#include "model/sample.h"
#include "model/thresholds.h"
#include "model/variant.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MAX_BYTES (1u << 20)

/* ---- decoding ---------------------------------------------------------------------------------
 */

static int decode_runner(const struct json *j, const char *file, struct arena *arena,
                         struct err *err)
{
    struct runner r;

    return runner_decode(&r, j, file, arena, err);
}

static int decode_profile(const struct json *j, const char *file, struct arena *arena,
                          struct err *err)
{
    struct profile p;

    return profile_decode(&p, j, file, arena, err);
}

static int decode_thresholds(const struct json *j, const char *file, struct arena *arena,
                             struct err *err)
{
    struct thresholds t;

    return thresholds_decode(&t, j, file, arena, err);
}

static int decode_variant(const struct json *j, const char *file, struct arena *arena,
                          struct err *err)
{
    struct variant v;

    return variant_decode(&v, j, file, arena, err);
}

static int decode_series_file(const struct json *j, const char *file, struct arena *arena,
                              struct err *err)
{
    struct lab_file l;

    return lab_file_decode(&l, j, file, arena, err);
}

static int decode_accepted(const struct json *j, const char *file, struct arena *arena,
                           struct err *err)
{
    struct accepted a;

    return accepted_decode(&a, j, file, arena, err);
}

static const struct kind {
    const char *name;
    const char *glob;
    int (*decode)(const struct json *, const char *, struct arena *, struct err *);
} kinds[] = {
    {"runner", "runners/*/runner.json", decode_runner},
    {"profile", "profiles/*/*.json", decode_profile},
    {"thresholds", "thresholds/*.json", decode_thresholds},
    {"variant", "runners/*/variants/*.json", decode_variant},
    {"series-file", "runners/*/series/*.json", decode_series_file},
    {"accepted", "tests/data/accepted/*.json", decode_accepted},
};

static const struct kind *find_kind(const char *name)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    fail_msg("no kind '%s'", name);
    return NULL;
}

static struct json *read_json(const char *path)
{
    struct buf text = BUF_INIT;
    struct err err = {0};
    struct json *j = NULL;

    if (files_read(path, FILE_MAX_BYTES, &text, &err) == 0)
        j = json_parse(text.data, text.len, path, &err);
    if (!j)
        print_error("%s\n", err.msg);
    buf_release(&text);
    assert_non_null(j);
    return j;
}

static void every_shipped_file_is_taken(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
        glob_t found;

        assert_int_equal(glob(kinds[k].glob, 0, NULL, &found), 0);
        for (size_t i = 0; i < found.gl_pathc; i++) {
            struct arena arena = ARENA_INIT;
            struct err err = {0};
            struct json *j = read_json(found.gl_pathv[i]);
            int rc = kinds[k].decode(j, found.gl_pathv[i], &arena, &err);

            if (rc)
                print_error("%s\n", err.msg);
            assert_int_equal(rc, 0);
            json_free(j);
            arena_release(&arena);
        }
        globfree(&found);
    }
}

/* ---- files and their names --------------------------------------------------------------------
 */

static struct runner load_runner(const char *name, struct arena *arena)
{
    const char *path = arena_printf(arena, "runners/%s/runner.json", name);
    struct json *j = read_json(path);
    struct runner r;
    struct err err = {0};

    assert_int_equal(runner_decode(&r, j, path, arena, &err), 0);
    json_free(j);
    return r;
}

static void check_load(const struct runner *r, const struct profile *p)
{
    for (size_t i = 0; i < p->load_count; i++) {
        const struct load_param *param = runner_find_load(r, p->load[i].name);
        struct err err = {0};

        if (!param || load_param_check(param, p->load[i].text, NULL, &err))
            print_error("%s: load '%s': %s\n", p->name, p->load[i].name, err.msg);
        assert_non_null(param);
        assert_int_equal(err.msg[0], 0);
    }
    for (size_t i = 0; i < r->load_count; i++)
        assert_true(r->load[i].default_text || profile_load(p, r->load[i].name));
}

/* Runners of one family take the same load, so that profiles of the family's folder serve them all.
 */
static const char *const rtc_family[] = {"usrsctp",   "pion",          "libdatachannel",
                                         "libwebrtc", "libwebrtc-jvm", "webrtc-rs",
                                         "webrtc",    "rtc",           "rustrtc"};
#define RTC_FAMILY (sizeof(rtc_family) / sizeof(rtc_family[0]))

static bool in_rtc_family(const char *runner)
{
    for (size_t i = 0; i < RTC_FAMILY; i++)
        if (strncmp(runner, rtc_family[i], strlen(rtc_family[i])) == 0 &&
            (runner[strlen(rtc_family[i])] == '/' || runner[strlen(rtc_family[i])] == '\0'))
            return true;
    return false;
}

static void check_owner(const struct profile *p, struct arena *arena)
{
    if (strncmp(p->name, "rtc/", 4) != 0) {
        assert_int_equal(strncmp(p->name, p->runner, strlen(p->runner)), 0);
        return;
    }
    assert_string_equal(p->thresholds, "rtc");
    assert_true(in_rtc_family(p->runner));
    for (size_t i = 0; i < RTC_FAMILY; i++) {
        struct runner r = load_runner(rtc_family[i], arena);

        check_load(&r, p);
    }
}

/* Who has not built a harness is told how. */
static void every_harness_of_data_channels_says_how_it_is_built(void **state)
{
    (void)state;
    for (size_t i = 0; i < RTC_FAMILY; i++) {
        struct arena arena = ARENA_INIT;
        struct runner r = load_runner(rtc_family[i], &arena);

        assert_non_null(r.built_by);
        assert_string_equal(r.built_by, arena_printf(&arena, "make runners-rtc T=%s", r.name));
        arena_release(&arena);
    }
}

/* The set that it names is there, and limits only what its runner or any run gives. */
static void check_thresholds(const struct profile *p, const struct runner *r, struct arena *arena)
{
    const char *file = arena_printf(arena, "thresholds/%s.json", p->thresholds);
    struct json *j = read_json(file);
    struct err err = {0};
    struct thresholds t;

    assert_int_equal(thresholds_decode(&t, j, file, arena, &err), 0);
    json_free(j);
    assert_string_equal(t.name, p->thresholds);
    for (size_t i = 0; i < t.limit_count; i++)
        assert_true(metric_find(t.limits[i].metric) || runner_find_metric(r, t.limits[i].metric));
}

static void every_profile_has_its_files_name_and_its_runners_load(void **state)
{
    glob_t found;

    (void)state;
    assert_int_equal(glob("profiles/*/*.json", 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        struct arena arena = ARENA_INIT;
        struct err err = {0};
        struct profile p;
        struct runner r;
        struct json *j = read_json(found.gl_pathv[i]);

        assert_int_equal(profile_decode(&p, j, found.gl_pathv[i], &arena, &err), 0);
        json_free(j);
        assert_string_equal(arena_printf(&arena, "profiles/%s.json", p.name), found.gl_pathv[i]);
        check_owner(&p, &arena);
        r = load_runner(p.runner, &arena);
        check_load(&r, &p);
        if (p.thresholds)
            check_thresholds(&p, &r, &arena);
        arena_release(&arena);
    }
    globfree(&found);
}

static void every_runner_has_a_profile(void **state)
{
    glob_t found, profiles;

    (void)state;
    assert_int_equal(glob("runners/*/runner.json", 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        struct arena arena = ARENA_INIT;
        const char *name = found.gl_pathv[i] + strlen("runners/");
        const char *pattern =
            arena_printf(&arena, "profiles/%.*s/*.json",
                         in_rtc_family(name) ? (int)strlen("rtc") : (int)strcspn(name, "/"),
                         in_rtc_family(name) ? "rtc" : name);

        if (glob(pattern, 0, NULL, &profiles))
            fail_msg("%s: none", pattern);
        globfree(&profiles);
        arena_release(&arena);
    }
    globfree(&found);
}

static void thresholds_are_as_documented(void **state)
{
    static const struct {
        const char *file;
        enum rule rule;
        int pairs, confirm;
        double throughput, cpu, rss;
    } want[] = {
        {"thresholds/default.json", RULE_BOUNDED, 8, 16, 0.10, 0.15, 0.15},
        {"thresholds/lab.json", RULE_MEDIAN, 8, 0, 0.10, 0.15, 0.15},
        {"thresholds/srt-lab.json", RULE_MEDIAN, 5, 0, 0.10, 0.15, 0.15},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
        struct arena arena = ARENA_INIT;
        struct err err = {0};
        struct json *j = read_json(want[i].file);
        struct thresholds t;

        assert_int_equal(thresholds_decode(&t, j, want[i].file, &arena, &err), 0);
        json_free(j);
        assert_int_equal(t.rule, want[i].rule);
        assert_int_equal(t.pairs, want[i].pairs);
        assert_int_equal(t.confirm, want[i].confirm);
        check_same(thresholds_limit(&t, "x", "throughput")->worse, want[i].throughput);
        check_same(thresholds_limit(&t, "x", "cpu_per_gbit")->worse, want[i].cpu);
        check_same(thresholds_limit(&t, "x", "peak_rss")->worse, want[i].rss);
        arena_release(&arena);
    }
}

/* ---- code and schemas -------------------------------------------------------------------------
 */

static void check_case(const char *line, size_t len, size_t number)
{
    struct arena arena = ARENA_INIT;
    struct err err = {0};
    struct json *j = json_parse(line, len, "cases.jsonl", &err);
    const char *kind, *name;
    bool taken;

    assert_non_null(j);
    kind = json_string(json_get(j, "kind"));
    name = json_string(json_get(j, "case"));
    taken = find_kind(kind)->decode(json_get(j, "file"), "it.json", &arena, &err) == 0;
    if (taken != json_bool(json_get(j, "taken")))
        fail_msg("line %zu: %s: %s: %s", number, kind, name, taken ? "taken" : err.msg);
    if (!taken)
        assert_int_equal(err.code, ERR_CONFIG);
    json_free(j);
    arena_release(&arena);
}

static void the_code_takes_and_refuses_what_the_schemas_do(void **state)
{
    struct buf text = BUF_INIT;
    struct err err = {0};
    size_t number = 0;

    (void)state;
    assert_int_equal(files_read("tests/data/cases.jsonl", FILE_MAX_BYTES, &text, &err), 0);
    for (const char *line = text.data, *end; (end = strchr(line, '\n')); line = end + 1)
        check_case(line, (size_t)(end - line), ++number);
    assert_true(number > 100);
    buf_release(&text);
}

/* ---- real output ------------------------------------------------------------------------------
 */

/* An output of the captured run; empty where none was kept. */
static struct capture captured(const char *runner, const char *role, const char *stream,
                               struct arena *arena)
{
    const char *path = arena_printf(arena, "tests/data/runners/%s/%s.%s", runner, role, stream);
    struct buf text = BUF_INIT;
    struct err err = {0};
    struct capture c = {0};

    if (files_exists(path))
        assert_int_equal(files_read(path, FILE_MAX_BYTES, &text, &err), 0);
    c.head = arena_alloc(arena, text.len + 1);
    if (text.len)
        memcpy(c.head, text.data, text.len);
    c.head_len = text.len;
    c.total = text.len;
    c.tail = arena_alloc(arena, 1);
    buf_release(&text);
    return c;
}

static struct outcome outcome_of(const struct runner *r, struct arena *arena)
{
    struct outcome o = {.end = RUN_DONE, .wall_ns = 1000000000, .role_count = r->role_count};

    o.roles = arena_array(arena, r->role_count, sizeof(*o.roles));
    for (size_t i = 0; i < r->role_count; i++) {
        struct role_outcome *role = &o.roles[i];

        role->name = r->roles[i].name;
        role->end = ROLE_EXITED;
        role->ready = true;
        role->end_ns = 1000000000;
        role->cpu.user_s = 0.5;
        role->cpu.cgroup_s = value_none(VALUE_UNSUPPORTED, "none here");
        role->cpu.sampled_s = value_none(VALUE_UNSUPPORTED, "none here");
        role->out = captured(r->name, role->name, "stdout", arena);
        role->err = captured(r->name, role->name, "stderr", arena);
    }
    o.noise.psi_cpu = o.noise.others = o.noise.steal = o.noise.throttled = o.noise.frequency =
        o.noise.load = value_none(VALUE_UNSUPPORTED, "none here");
    return o;
}

static void measure(const struct runner *r, const struct outcome *o, struct sample *s,
                    struct arena *arena)
{
    struct measure_context context = {0};
    struct err err = {0};
    struct meter *m;

    if (meter_new(&m, r, 4096, 2, &err))
        fail_msg("%s", err.msg);
    meter_measure(m, o, &context, s, arena);
    meter_free(m);
}

static double figure(const struct sample *s, const char *name)
{
    for (size_t i = 0; i < s->metric_count; i++) {
        if (strcmp(s->metrics[i].name, name) != 0)
            continue;
        if (s->metrics[i].value.status != VALUE_OK)
            fail_msg("%s: %s", name, s->metrics[i].value.reason);
        return s->metrics[i].value.number;
    }
    fail_msg("no metric '%s'", name);
    return 0;
}

struct want {
    const char *metric;
    double value;
};

static void check_output(const char *runner, const struct want *want, size_t count)
{
    struct arena arena = ARENA_INIT;
    struct runner r = load_runner(runner, &arena);
    struct outcome o = outcome_of(&r, &arena);
    struct sample s = {0};

    measure(&r, &o, &s, &arena);
    if (s.status != SAMPLE_OK)
        print_error("%s: %s\n", runner, s.error);
    assert_int_equal(s.status, SAMPLE_OK);
    for (size_t i = 0; i < count; i++)
        check_relative(figure(&s, want[i].metric), want[i].value, 1e-12);
    for (size_t i = 0; i < r.metric_count; i++)
        (void)figure(&s, r.metrics[i].name);
    arena_release(&arena);
}

#define CHECK_OUTPUT(runner, ...)                                                                  \
    do {                                                                                           \
        const struct want want[] = {__VA_ARGS__};                                                  \
        check_output(runner, want, sizeof(want) / sizeof(want[0]));                                \
    } while (0)

static void flow_reads_its_own_output(void **state)
{
    (void)state;
    CHECK_OUTPUT("flow", {"delivered_bytes", 95977472}, {"delivered_messages", 5858},
                 {"delivery_time", 0.499837423}, {"messages_per_second", 11719.811},
                 {"rtt_p50", 2899.968}, {"retransmissions", 0}, {"send_calls", 1105},
                 {"receive_calls", 74449}, {"throughput", 95977472 * 8 / 0.499837423 / 1e6});
}

static void srt_reads_its_own_output(void **state)
{
    (void)state;
    CHECK_OUTPUT("srt", {"delivered_bytes", 2496452}, {"delivered_messages", 1897},
                 {"delivery_time", 0.998786700}, {"transit_time", 121.616}, {"sent_messages", 1897},
                 {"packets_sent", 1905}, {"packets_received", 1901}, {"missing", 0}, {"corrupt", 0},
                 {"late", 0}, {"rtt", 0.055}, {"throughput", 2496452 * 8 / 0.998786700 / 1e6});
    CHECK_OUTPUT("srt-neighbour", {"delivered_bytes", 1248884}, {"delivery_time", 0.997987708},
                 {"naks_offered", 1172}, {"naks_processed", 1172}, {"hostile_retransmitted", 3484},
                 {"hostile_delivered", 1247568});
}

static void iperf3_reads_the_real_report(void **state)
{
    (void)state;
    CHECK_OUTPUT("iperf3", {"throughput", 9611.913668264004}, {"delivered_bytes", 1209008128},
                 {"delivery_time", 1.006258}, {"retransmits", 33},
                 {"client_busy", 68.1048736711857});
}

static void openssl_speed_reads_both_of_its_streams(void **state)
{
    (void)state;
    CHECK_OUTPUT("openssl-speed", {"throughput", 2166243328.0 * 8 / 1e6},
                 {"delivered_messages", 132217}, {"delivery_time", 1.0});
}

static void zstd_bench_reads_the_last_of_its_redrawn_lines(void **state)
{
    (void)state;
    CHECK_OUTPUT("zstd-bench", {"throughput", 265.4 * 8}, {"decompression", 1421.5},
                 {"compressed_bytes", 3154228});
}

static void iperf3_that_could_not_connect_gives_no_figures(void **state)
{
    struct arena arena = ARENA_INIT;
    struct runner r = load_runner("iperf3", &arena);
    struct outcome o = outcome_of(&r, &arena);
    struct sample s = {0};

    (void)state;
    for (size_t i = 0; i < o.role_count; i++)
        if (strcmp(o.roles[i].name, "client") == 0)
            o.roles[i].out = captured("iperf3", "refused.client", "stdout", &arena);
    measure(&r, &o, &s, &arena);
    assert_int_not_equal(s.status, SAMPLE_OK);
    arena_release(&arena);
}

/* In a memory pass the library writes records and no lines: the stream "heap" has both. */
static void no_runner_looks_for_heap_windows_on_standard_error(void **state)
{
    glob_t found;

    (void)state;
    assert_int_equal(glob("runners/*/runner.json", 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        struct arena arena = ARENA_INIT;
        struct err err = {0};
        struct json *j = read_json(found.gl_pathv[i]);
        struct runner r;

        assert_int_equal(runner_decode(&r, j, found.gl_pathv[i], &arena, &err), 0);
        for (size_t k = 0; k < r.metric_count; k++)
            if (r.metrics[k].from.pattern && strstr(r.metrics[k].from.pattern, "heap window="))
                fail_msg(
                    "%s: metric '%s': a memory pass has no such lines; say \"stream\": \"heap\" "
                    "and \"^window=...\", as runners/usrsctp does",
                    found.gl_pathv[i], r.metrics[k].name);
        json_free(j);
        arena_release(&arena);
    }
    globfree(&found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_shipped_file_is_taken),
        cmocka_unit_test(every_profile_has_its_files_name_and_its_runners_load),
        cmocka_unit_test(every_runner_has_a_profile),
        cmocka_unit_test(no_runner_looks_for_heap_windows_on_standard_error),
        cmocka_unit_test(every_harness_of_data_channels_says_how_it_is_built),
        cmocka_unit_test(thresholds_are_as_documented),
        cmocka_unit_test(the_code_takes_and_refuses_what_the_schemas_do),
        cmocka_unit_test(flow_reads_its_own_output),
        cmocka_unit_test(srt_reads_its_own_output),
        cmocka_unit_test(iperf3_reads_the_real_report),
        cmocka_unit_test(openssl_speed_reads_both_of_its_streams),
        cmocka_unit_test(zstd_bench_reads_the_last_of_its_redrawn_lines),
        cmocka_unit_test(iperf3_that_could_not_connect_gives_no_figures),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
