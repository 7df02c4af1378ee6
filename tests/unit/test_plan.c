/* plan/plan and model/plan: from files and options to a plan, and through its JSON and back. */
#include "plan_made.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/json.h"
#include "plan/command.h"
#include "plan/lookup.h"

static struct arena arena;

static int setup(void **state)
{
    (void)state;
    made_folder_open();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_release(&arena);
    made_folder_close();
    return 0;
}

static void refused(const struct plan_request *q, enum err_code code, const char *says)
{
    struct err err = {0};
    struct plan p;

    assert_int_equal(plan_build(&p, q, &arena, &err), -1);
    if (!strstr(err.msg, says) && !strstr(err.hint, says))
        fail_msg("%s [%s]: not '%s'", err.msg, err.hint, says);
    assert_int_equal(err.code, code);
}

static bool noted(const struct plan *p, const char *says)
{
    for (size_t i = 0; i < p->notes.count; i++)
        if (strstr(p->notes.items[i], says))
            return true;
    return false;
}

/* ---- run ---- */

static void names_become_a_sealed_plan(void **state)
{
    struct plan_request q = made_request_run(&arena, "pair/a");
    struct plan p;

    (void)state;
    made_plan(&p, &q, &arena);
    assert_string_equal(p.command, "run");
    assert_string_equal(p.series, "pair/a");
    assert_int_equal(p.analysis, PLAN_ANALYSIS);
    assert_int_equal(p.variant_count, 2);
    assert_string_equal(p.variants[0].name, "baseline");
    assert_string_equal(p.variants[1].name, "candidate");
    assert_string_equal(p.variants[0].program, "./old.sh");
    assert_int_equal(p.variants[0].path[0], '/');
    assert_int_equal(strlen(p.variants[0].sha256), 64);
    assert_true(strcmp(p.variants[0].sha256, p.variants[1].sha256) != 0);
    assert_int_equal(p.variants[0].size_bytes, strlen("#!/bin/sh\nexit 0\n"));
    assert_int_equal(p.runner_count, 1);
    assert_string_equal(profile_load(&p.profiles[0], "streams"), "2");
    assert_string_equal(profile_load(&p.profiles[0], "duration"), "10s");
    assert_string_equal(p.thresholds.name, "default");
    assert_true(strings_has(&p.events, "PERF_COUNT_HW_CPU_CYCLES"));
    assert_int_equal(p.seed, 1);
    assert_int_equal(strlen(p.sha256), 64);
    assert_false(plan_identical(&p));
}

static void the_profile_goes_before_the_thresholds_and_options_before_both(void **state)
{
    struct plan_request q = made_request_run(&arena, "pair/a");
    struct plan p;

    (void)state;
    made_plan(&p, &q, &arena);
    assert_int_equal(plan_pairs(&p, &p.profiles[0]), 6);
    assert_int_equal(plan_min_complete(&p, &p.profiles[0]), 5);
    assert_int_equal(plan_confirm(&p, &p.profiles[0]), 16);
    assert_int_equal(plan_run_count(&p), 12);
    assert_int_equal(plan_expected_ns(&p), 12 * UINT64_C(11000000000));
    q.pairs = 20, q.confirm = 4, q.warmup = 2, q.pause_ns = 0, q.timeout_ns = 5000000000;
    made_plan(&p, &q, &arena);
    assert_int_equal(plan_pairs(&p, &p.profiles[0]), 20);
    assert_int_equal(plan_min_complete(&p, &p.profiles[0]), 19); /* one may still fail */
    assert_int_equal(plan_confirm(&p, &p.profiles[0]), 4);
    assert_int_equal(plan_run_count(&p), 44);
    assert_int_equal(p.profiles[0].timeout_ns, 5000000000);
    q = made_request_run(&arena, "pair/m");
    made_plan(&p, &q, &arena);
    assert_int_equal(plan_pairs(&p, &p.profiles[0]), 8);
    assert_int_equal(plan_min_complete(&p, &p.profiles[0]), 8);
}

/* A machine whose kernel lacks what networks need. */
static int look_in_vain(void *user, const struct profile *profile, const char **reason,
                        const char **isolation, struct arena *in, struct err *err)
{
    (void)profile;
    (void)isolation;
    (void)in;
    (void)err;
    *reason = user;
    return 0;
}

static void a_network_that_is_not_to_be_had_is_refused_or_left_out_with_the_reason(void **state)
{
    static char reason[] = "making of device 'a0' refused (the kernel needs the module veth)";
    struct plan_request q;
    struct plan p;

    (void)state;
    made_file("profiles/pair/net.json",
              "{'profile': 'pair/net', 'runner': 'pair', 'network': {'impair': {'delay': '1ms'}}}");
    q = made_request_run(&arena, "pair/net");
    q.look_at_network = look_in_vain;
    q.user = reason;
    refused(&q, ERR_CONFIG,
            "profile 'pair/net': its network is not to be had here: making of device 'a0' refused "
            "(the kernel needs the module veth)");
    strings_add(&q.profiles, &arena, "pair/a");
    made_plan(&p, &q, &arena);
    assert_int_equal(p.profile_count, 1);
    assert_string_equal(p.profiles[0].name, "pair/a");
    assert_true(noted(&p, "profile 'pair/net' is left out"));
    assert_true(noted(&p, "the module veth"));
    q.unsupported_fail = true;
    refused(&q, ERR_CONFIG, "the module veth");
}

static void a_matrix_runs_whole_or_by_combination(void **state)
{
    struct plan_request q = made_request_run(&arena, "pair/m");
    struct plan p;

    (void)state;
    made_plan(&p, &q, &arena);
    assert_int_equal(p.profile_count, 2);
    assert_string_equal(p.profiles[0].name, "pair/m,streams=1");
    assert_string_equal(p.profiles[1].name, "pair/m,streams=32");
    q = made_request_run(&arena, "pair/m,streams=32");
    made_plan(&p, &q, &arena);
    assert_int_equal(p.profile_count, 1);
    assert_string_equal(profile_load(&p.profiles[0], "streams"), "32");
    q = made_request_run(&arena, "pair/m,streams=33");
    refused(&q, ERR_USAGE, "no such combination");
    q = made_request_run(&arena, "pair/m,streams=32");
    strings_add(&q.profiles, &arena, "pair/m");
    refused(&q, ERR_USAGE, "asked for twice");
}

static void cpus_of_a_matrix_are_not_overridden(void **state)
{
    struct plan_request q = made_request_run(&arena, "pair/cores");
    struct plan p;

    (void)state;
    made_plan(&p, &q, &arena);
    assert_int_equal(p.profile_count, 2);
    assert_string_equal(p.profiles[1].name, "pair/cores,cpus=all");
    assert_string_equal(p.profiles[1].combination_of, "pair/cores");
    assert_int_equal(p.profiles[1].cpus_count, 0);
    q.cpus = "0";
    refused(&q, ERR_USAGE, "by its matrix");
}

static void a_plan_survives_its_json_unchanged(void **state)
{
    struct plan_request q = made_request_run(&arena, "pair/m");
    struct buf first = BUF_INIT, second = BUF_INIT;
    struct err err = {0};
    struct plan p, back;
    char hex[DIGEST_HEX];

    (void)state;
    strings_add(&q.profiles, &arena, "pair/a");
    strings_add(&q.env, &arena, "Z=1");
    strings_add(&q.candidate_env, &arena, "A=b c");
    strings_add(&q.candidate_args, &arena, "--x");
    strings_add(&q.thresholds, &arena, "cpu_time=5%");
    strings_add(&q.claims, &arena, "throughput");
    q.seed = "18446744073709551615";
    q.input = "old.sh";
    made_plan(&p, &q, &arena);
    assert_int_equal(plan_encode(&p, &first, &err), 0);
    struct json *tree = json_parse(first.data, first.len, "plan", &err);
    if (plan_decode(&back, tree, "plan", &arena, &err) < 0)
        fail_msg("%s", err.msg);
    json_free(tree);
    assert_int_equal(plan_encode(&back, &second, &err), 0);
    assert_string_equal(first.data, second.data);
    digest_sha256(first.data, first.len, hex);
    assert_string_equal(hex, p.sha256);
    assert_int_equal(plan_seal(&back, &err), 0);
    assert_string_equal(back.sha256, p.sha256);
    assert_int_equal(back.seed, UINT64_MAX);
    assert_string_equal(back.profiles[2].name, "pair/a");
    assert_true(thresholds_limit(&back.thresholds, "pair/a", "cpu_time")->asked);
    assert_int_equal(thresholds_limit(&back.thresholds, "pair/a", "throughput")->claim,
                     CLAIM_BETTER);
    assert_null(strstr(first.data, p.variants[0].path)); /* no path of this machine */
    assert_null(strstr(first.data, " \""));
    buf_release(&first);
    buf_release(&second);
}

static void the_hash_changes_with_whatever_changes_the_plan(void **state)
{
    struct plan_request q = made_request_run(&arena, "pair/a");
    char seen[8][65];
    struct plan p;

    (void)state;
    for (int i = 0; i < 7; i++) {
        q = made_request_run(&arena, "pair/a");
        q.pairs = i == 1 ? 7 : -1;
        q.seed = i == 2 ? "2" : NULL;
        if (i == 3)
            strings_add(&q.thresholds, &arena, "throughput=9%");
        if (i == 4)
            strings_add(&q.events, &arena, "LLC_MISSES");
        if (i == 5)
            strings_add(&q.candidate_args, &arena, "-x");
        if (i == 6)
            made_program("new.sh", "#!/bin/sh\nexit 1\n");
        made_plan(&p, &q, &arena);
        memcpy(seen[i], p.sha256, 65);
        for (int k = 0; k < i; k++)
            assert_string_not_equal(seen[i], seen[k]);
    }
    q = made_request_run(&arena, "pair/a");
    made_program("new.sh", "#!/bin/sh\nexit 0 # new\n");
    made_plan(&p, &q, &arena);
    assert_string_equal(p.sha256, seen[0]);
}

/* ---- variants ---- */

static void with_variants(struct plan_request *q, const char *a, const char *b)
{
    q->variants = (struct strings){0};
    strings_add(&q->variants, &arena, a);
    if (b)
        strings_add(&q->variants, &arena, b);
}

static void variants_come_in_all_their_forms(void **state)
{
    struct plan_request q = made_request_run(&arena, "pair/a");
    struct plan p;

    (void)state;
    made_file("v.json", "{'variant':'built','program':'./new.sh','args':['-1'],'env':{'K':'v'}}");
    with_variants(&q, "before=./old.sh", "v.json");
    strings_add(&q.variants, &arena, "again=v.json");
    strings_add(&q.variants, &arena, "true");
    strings_add(&q.candidate_args, &arena, "-2");
    made_plan(&p, &q, &arena);
    assert_string_equal(p.variants[0].name, "before");
    assert_string_equal(p.variants[1].name, "built");
    assert_string_equal(p.variants[2].name, "again");
    assert_string_equal(p.variants[3].name, "candidate-3");
    assert_int_equal(p.variants[0].args.count, 0);
    assert_string_equal(p.variants[1].args.items[1], "-2");
    assert_string_equal(p.variants[1].env[0].value, "v");
    assert_non_null(strstr(p.variants[3].path, "/true"));
}

static void a_shipped_variant_is_found_by_its_name(void **state)
{
    struct plan_request q = made_request_run(&arena, "flow/pingpong");
    struct plan p;

    (void)state;
    q.thresholds_file = "lab";
    with_variants(&q, "single", "batch");
    made_plan(&p, &q, &arena);
    assert_string_equal(p.variants[1].name, "batch");
    assert_null(p.variants[1].program);
    assert_non_null(strstr(p.variants[1].path, "runners/flow/flow"));
    assert_string_equal(p.variants[0].sha256, p.variants[1].sha256);
    assert_false(plan_identical(&p)); /* other arguments */
    with_variants(&q, "flow/single", "bach");
    refused(&q, ERR_CONFIG, "did you mean the variant 'batch'?");
}

static void the_same_program_twice_is_identical_unless_asked_for(void **state)
{
    struct plan_request q = made_request_run(&arena, "pair/a");
    struct plan p;

    (void)state;
    with_variants(&q, "./old.sh", "./old.sh");
    made_plan(&p, &q, &arena);
    assert_true(plan_identical(&p));
    with_variants(&q, "./old.sh", NULL);
    q.aa = true;
    made_plan(&p, &q, &arena);
    assert_int_equal(p.variant_count, 2);
    assert_string_equal(p.variants[1].name, "candidate");
    assert_true(p.aa);
    assert_false(plan_identical(&p));
    with_variants(&q, "./old.sh", "./new.sh");
    refused(&q, ERR_USAGE, "--aa");
}

static void variants_that_cannot_run_are_refused(void **state)
{
    static const char *const cases[][2] = {
        {"./none.sh", "'./none.sh' does not exist"},
        {"no-such-program-here", "not in PATH"},
        {"./profiles", "folder"},
        {"./plain", "not executable"},
        {"./bad.sh", "bad interpreter"},
        {"x.json", "no variant file 'x.json'"},
        {"pinned.json", "SHA-256"},
        {"cut.json", "cut.json"},
        {"unknown.json", "did you mean \"program\"?"},
        {"baseline=./new.sh", "two variants are named 'baseline'"},
        {"", "empty"},
        {"elsewhere.json", "no runner 'elsewhere'"},
    };
    struct plan_request q = made_request_run(&arena, "pair/a");

    (void)state;
    made_file("plain", "x");
    made_program("bad.sh", "#!/no/such\n");
    made_file("cut.json", "{'variant':");
    made_file("unknown.json", "{'variant':'v','porgram':'x'}");
    made_file("elsewhere.json", "{'variant':'v','runner':'elsewhere'}");
    made_file("pinned.json", "{'variant':'v','program':'./new.sh','sha256':'"
                             "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef'}");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct err err = {0};
        struct plan p;

        with_variants(&q, "./old.sh", cases[i][0]);
        assert_int_equal(plan_build(&p, &q, &arena, &err), -1);
        if (!strstr(err.msg, cases[i][1]) && !strstr(err.hint, cases[i][1]))
            fail_msg("%s: %s [%s]", cases[i][0], err.msg, err.hint);
        assert_true(err.code == ERR_CONFIG || err.code == ERR_USAGE);
    }
    with_variants(&q, "./old.sh", NULL);
    refused(&q, ERR_USAGE, "no candidate");
    q.variants = (struct strings){0};
    refused(&q, ERR_USAGE, "no baseline");
}

static void a_variant_of_another_runner_must_take_the_same_load_and_give_the_same(void **state)
{
    static const char other[] =
        "{'runner':'other','roles':{'receiver':{'command':['{program}']}},'load':{%s"
        "'rate':{'type':'rate','default':'1Mbit/s'},'duration':{'type':'time','default':'1s'},"
        "'live':{'type':'bool','default':false},'loss':{'type':'percent','default':'0%%'},"
        "'size':{'type':'size','default':'1B'},'word':{'type':'string','default':''}},"
        "'metrics':[{'metric':'delivered_bytes','pattern':'(?<value>1)','unit':'B'},"
        "{'metric':'delivery_time','pattern':'(?<value>1)','unit':'s'}%s]}";
    static const char streams[] = "'streams':{'type':'integer','default':1},";
    static const char retries[] =
        ",{'metric':'retries','pattern':'(?<value>1)','unit':'count','better':'lower'}";
    struct plan_request q = made_request_run(&arena, "pair/a");
    struct plan p;

    (void)state;
    made_file("v.json", "{'variant':'v','runner':'other','program':'./new.sh'}");
    with_variants(&q, "./old.sh", "v.json");
    made_file("runners/other/runner.json", arena_printf(&arena, other, streams, retries));
    made_plan(&p, &q, &arena);
    assert_int_equal(p.runner_count, 2);
    assert_string_equal(plan_runner(&p, &p.profiles[0], &p.variants[1])->name, "other");
    made_file("runners/other/runner.json", arena_printf(&arena, other, "", retries));
    refused(&q, ERR_CONFIG, "takes no load 'streams'");
    made_file("runners/other/runner.json", arena_printf(&arena, other, streams, ""));
    refused(&q, ERR_CONFIG, "gives 'retries'");
    made_file("runners/other/runner.json",
              arena_printf(&arena, other, "'streams':{'type':'integer','max':1},", retries));
    refused(&q, ERR_CONFIG, "0 to 1");
}

/* ---- thresholds ---- */

static void thresholds_of_the_command_line_go_above_the_file(void **state)
{
    struct plan_request q = made_request_run(&arena, "pair/a");
    struct plan p;
    const struct limit *limit;

    (void)state;
    made_file("t.json", "{'thresholds':'t','limits':{'throughput':{'worse':'10%'}},"
                        "'profiles':{'pair/*':{'throughput':{'worse':'30%'}}}}");
    q.thresholds_file = "t.json";
    made_plan(&p, &q, &arena);
    assert_string_equal(thresholds_limit(&p.thresholds, "pair/a", "throughput")->worse_text, "30%");
    strings_add(&q.thresholds, &arena, "throughput=2.5%");
    strings_add(&q.thresholds, &arena, "retries=50%");
    made_plan(&p, &q, &arena);
    limit = thresholds_limit(&p.thresholds, "pair/a", "throughput");
    check_same(limit->worse, 0.025);
    assert_true(limit->asked);
    assert_non_null(thresholds_limit(&p.thresholds, "pair/a", "retries"));
}

static void profiles_may_name_the_thresholds_that_judge_them(void **state)
{
    struct plan_request q = made_request_run(&arena, "pair/own");
    struct plan p;

    (void)state;
    made_file("thresholds/mine.json", "{'thresholds':'mine','limits':{'peak_rss':{'worse':'3%'}}}");
    made_file(
        "profiles/pair/own.json",
        "{'profile':'pair/own','runner':'pair','thresholds':'mine','matrix':{'streams':[1,2]}}");
    made_plan(&p, &q, &arena);
    assert_string_equal(p.thresholds.name, "mine");
    q.thresholds_file = "default";
    made_plan(&p, &q, &arena);
    assert_string_equal(p.thresholds.name, "default");
    q.thresholds_file = NULL;
    strings_add(&q.profiles, &arena, "pair/a");
    refused(&q, ERR_CONFIG,
            "'pair/own,streams=1' is judged by the thresholds 'mine', profile "
            "'pair/a' by 'default'");
    q.thresholds_file = "mine";
    made_plan(&p, &q, &arena);
    assert_int_equal(p.profile_count, 3);
}

static void thresholds_that_nobody_can_meet_are_refused_or_noted(void **state)
{
    static const char *const asked[][2] = {
        {"troughput=5%", "did you mean 'throughput'?"},
        {"throughput", "METRIC=PERCENT"},
        {"=5%", "METRIC=PERCENT"},
        {"throughput=5", "%"},
        {"throughput=-5%", "throughput"},
        {"user_time=5%", "never judged"},
        {"heap_calls_per_message=5%", "no profile of this series yields"},
        {"cpu_per_message=5%", "no profile of this series yields"},
    };
    struct plan_request q = made_request_run(&arena, "pair/a");
    struct plan p;

    (void)state;
    for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
        q.thresholds = (struct strings){0};
        strings_add(&q.thresholds, &arena, asked[i][0]);
        refused(&q, ERR_USAGE, asked[i][1]);
    }
    q.thresholds = (struct strings){0};
    strings_add(&q.claims, &arena, "peak_rrs");
    refused(&q, ERR_USAGE, "did you mean 'peak_rss'?");
    q.claims = (struct strings){0};
    made_file("t.json", "{'thresholds':'t','limits':{'cpu_per_message':{'worse':'10%'},"
                        "'rtt_p99':{'worse':'1%'},'cycles_per_byte':{'worse':'1%'}}}");
    q.thresholds_file = "t.json";
    made_plan(&p, &q, &arena); /* rtt_p99 is the flow runner's */
    assert_true(noted(&p, "'cpu_per_message'"));
    assert_true(noted(&p, "'rtt_p99'"));
    assert_false(noted(&p, "cycles_per_byte"));
    made_file("t.json", "{'thresholds':'t','profiles':{'x':{'rrt_p99':{'worse':'10%'}}}}");
    refused(&q, ERR_CONFIG, "did you mean 'rtt_p99'?");
}

static void what_a_profile_yields_follows_from_its_runner(void **state)
{
    struct plan_request q = made_request_run(&arena, "pair/a");
    struct plan p;
    const char *unit;
    enum metric_better better;

    (void)state;
    strings_add(&q.events, &arena, "LLC_MISSES");
    strings_add(&q.thresholds, &arena, "LLC_MISSES=5%");
    made_plan(&p, &q, &arena);
    assert_true(plan_yields(&p, &p.profiles[0], "wall_time"));
    assert_true(plan_yields(&p, &p.profiles[0], "throughput"));
    assert_true(plan_yields(&p, &p.profiles[0], "cpu_per_gbit"));
    assert_true(plan_yields(&p, &p.profiles[0], "cycles_per_byte"));
    assert_true(plan_yields(&p, &p.profiles[0], "LLC_MISSES"));
    assert_false(plan_yields(&p, &p.profiles[0], "cycles_per_message"));
    assert_false(plan_yields(&p, &p.profiles[0], "messages_per_second"));
    assert_true(plan_metric(&p, "retries", &unit, &better));
    assert_string_equal(unit, "count");
    assert_true(plan_metric(&p, "throughput", &unit, &better));
    assert_int_equal(better, BETTER_HIGHER);
    assert_false(plan_metric(&p, "nothing", &unit, &better));
}

/* ---- faults of the rest ---- */

static void requests_that_make_no_sense_are_refused(void **state)
{
    struct plan_request q = made_request_run(&arena, "pair/x");

    (void)state;
    refused(&q, ERR_CONFIG, "no profile 'pair/x'");
    q.profiles = (struct strings){0};
    refused(&q, ERR_USAGE, "no profile is given");
    q = made_request_run(&arena, "pair/a"), q.seed = "-1";
    refused(&q, ERR_USAGE, "--seed");
    q = made_request_run(&arena, "pair/a"), q.input = "none";
    refused(&q, ERR_USAGE, "none");
    q = made_request_run(&arena, "pair/a"), q.input = "profiles";
    refused(&q, ERR_USAGE, "folder");
    q = made_request_run(&arena, "pair/a"), q.cpus = "0-";
    refused(&q, ERR_USAGE, "--cpus");
    q = made_request_run(&arena, "pair/a"), q.cpus = "1023";
    refused(&q, ERR_USAGE, "may be used here");
    q = made_request_run(&arena, "pair/a"), q.thresholds_file = "defalt";
    refused(&q, ERR_CONFIG, "did you mean 'default'?");
    q = made_request_run(&arena, "pair/a");
    strings_add(&q.env, &arena, "NOVALUE");
    refused(&q, ERR_USAGE, "NAME=VALUE");
    q = made_request_run(&arena, "pair/a");
    strings_add(&q.candidate_env, &arena, "ABBA_PAD=x");
    refused(&q, ERR_USAGE, "abba itself");
}

static void files_that_contradict_each_other_are_refused(void **state)
{
    struct plan_request q = made_request_run(&arena, "pair/b");

    (void)state;
    made_file("profiles/pair/b.json", "{'profile':'pair/c','runner':'pair'}");
    refused(&q, ERR_CONFIG, "a file's name is its id");
    made_file("profiles/pair/b.json", "{'profile':'pair/b','runner':'piar'}");
    refused(&q, ERR_CONFIG, "did you mean 'pair'?");
    made_file("profiles/pair/b.json", "{'profile':'pair/b','runner':'pair','min_complete':9}");
    refused(&q, ERR_CONFIG, "min_complete (9) is above");
    made_file("profiles/pair/b.json", "{'profile':'pair/b','runner':'pair','load':{'sterams':1}}");
    refused(&q, ERR_CONFIG, "did you mean 'streams'?");
    made_file("profiles/pair/b.json", "{'profile':'pair/b','runner':'odd'}");
    made_file("runners/odd/runner.json",
              "{'runner':'odd','roles':{'m':{'command':['{program}','{streams}']}}}");
    refused(&q, ERR_CONFIG, "unknown name '{streams}'");
    made_file("runners/odd/runner.json",
              "{'runner':'odd','roles':{'m':{'command':['{program}'],'ready':{'tcp':'x'}}}}");
    refused(&q, ERR_CONFIG, "'x' is no port");
    made_file("runners/odd/runner.json",
              "{'runner':'odd','roles':{'m':{'command':['{program}']}},'metrics':[{'metric':"
              "'throughput','file':'{scrach}/x','json':'/a','unit':'bit/s'}]}");
    refused(&q, ERR_CONFIG, "did you mean '{scratch}'?");
}

static void a_profile_whose_cpus_are_missing_is_left_out_or_refused(void **state)
{
    struct plan_request q = made_request_run(&arena, "pair/a");
    struct plan p;

    (void)state;
    made_file("profiles/pair/far.json", "{'profile':'pair/far','runner':'pair','cpus':'1023'}");
    strings_add(&q.profiles, &arena, "pair/far");
    made_plan(&p, &q, &arena);
    assert_int_equal(p.profile_count, 1);
    assert_true(noted(&p, "'pair/far' is left out"));
    q.unsupported_fail = true;
    refused(&q, ERR_CONFIG, "1023");
    q = made_request_run(&arena, "pair/far");
    refused(&q, ERR_CONFIG, "--cpus");
}

/* ---- compare ---- */

static struct plan_request compare(const char *a, const char *b)
{
    struct plan_request q = made_request("compare");

    with_variants(&q, a, b);
    return q;
}

static void commands_are_split_in_words(void **state)
{
    struct plan_request q = compare("./old.sh -x 'a b' \"c\" d\\ e", "./new.sh");
    struct plan p;

    (void)state;
    q.pairs = 10;
    made_plan(&p, &q, &arena);
    assert_string_equal(p.command, "compare");
    assert_string_equal(p.series, "compare");
    assert_true(p.runners[0].is_command);
    assert_string_equal(p.variants[0].program, "./old.sh");
    assert_int_equal(p.variants[0].args.count, 4);
    assert_string_equal(p.variants[0].args.items[1], "a b");
    assert_string_equal(p.variants[0].args.items[3], "d e");
    assert_string_equal(p.variants[0].display, "./old.sh -x 'a b' \"c\" d\\ e");
    assert_string_equal(p.thresholds.name, "none");
    assert_int_equal(plan_confirm(&p, &p.profiles[0]), 0);
    assert_int_equal(plan_pairs(&p, &p.profiles[0]), 10);
    assert_int_equal(p.profiles[0].warmup, 0);
    assert_int_equal(strlen(p.sha256), 64);
}

static void the_pair_count_stays_open_until_warmups_tell(void **state)
{
    struct plan_request q = compare("./old.sh", "./new.sh");
    struct plan p;

    (void)state;
    made_plan(&p, &q, &arena);
    assert_int_equal(p.profiles[0].pairs, 0);
    assert_int_equal(p.profiles[0].warmup, 1);
    assert_string_equal(p.sha256, "");
}

static void commands_that_cannot_be_split_or_found_are_refused(void **state)
{
    struct plan_request q = compare("./old.sh 'x", "./new.sh");
    struct plan p;

    (void)state;
    refused(&q, ERR_USAGE, "quote");
    q = compare("   ", "./new.sh");
    refused(&q, ERR_USAGE, "empty");
    q = compare("old=./old.sh", "./new.sh"); /* no NAME= here */
    refused(&q, ERR_CONFIG, "old=./old.sh");
    q = compare("./old.sh", "no-such-program | wc");
    refused(&q, ERR_CONFIG, "sh -c");
    q = compare("./old.sh | wc", "./new.sh");
    made_plan(&p, &q, &arena);
    assert_true(noted(&p, "no shell runs"));
    q = compare("sh -c \"echo $HOME | wc\"", "./new.sh"); /* a shell runs: its own words */
    made_plan(&p, &q, &arena);
    assert_false(noted(&p, "no shell runs"));
}

static void the_built_in_runner_is_the_shipped_one(void **state)
{
    struct plan_request q = made_request("run");
    struct runner built;
    struct plan p;

    (void)state;
    strings_add(&q.profiles, &arena, "command/default");
    with_variants(&q, "'./old.sh' 1", "two=./new.sh 2");
    q.thresholds_file = "none";
    made_plan(&p, &q, &arena);
    plan_command_runner(&built, &arena);
    assert_string_equal(p.runners[0].name, built.name);
    assert_string_equal(p.runners[0].roles[0].name, built.roles[0].name);
    assert_string_equal(p.runners[0].program, built.program);
    assert_string_equal(p.variants[0].args.items[0], "1");
    assert_string_equal(p.variants[1].name, "two");
    assert_string_equal(p.variants[1].args.items[0], "2");
}

static void a_plan_does_not_tell_whose_home_it_was_made_in(void **state)
{
    char home[PATH_MAX], program[PATH_MAX + 16], argument[PATH_MAX + 16], near[PATH_MAX + 16];
    struct plan_request q = made_request_run(&arena, "pair/a");
    struct template_values values = {.port = 40000, .scratch = ""};
    struct buf text = BUF_INIT;
    struct role_command command;
    struct err err = {0};
    struct plan p;

    (void)state;
    assert_non_null(getcwd(home, sizeof(home)));
    setenv("HOME", home, 1);
    snprintf(program, sizeof(program), "%s/old.sh", home);
    snprintf(argument, sizeof(argument), "-I%s/include", home);
    snprintf(near, sizeof(near), "%sx/other", home);
    with_variants(&q, program, "./new.sh");
    strings_add(&q.baseline_args, &arena, argument);
    strings_add(&q.candidate_args, &arena, near);
    strings_add(&q.env, &arena, arena_printf(&arena, "DATA=%s", home));
    q.input = program;
    made_plan(&p, &q, &arena);
    assert_string_equal(p.variants[0].program, "${HOME}/old.sh");
    assert_string_equal(p.variants[0].path, program);
    assert_string_equal(p.variants[0].args.items[0], "-I${HOME}/include");
    assert_string_equal(p.variants[1].args.items[0], near); /* another folder */
    assert_string_equal(p.input, "${HOME}/old.sh");
    assert_string_equal(p.input_path, program);
    assert_int_equal(plan_encode(&p, &text, &err), 0);
    assert_null(strstr(text.data, arena_printf(&arena, "%s/", home)));
    buf_release(&text);
    assert_int_equal(plan_role_command(&p, &p.profiles[0], &p.variants[0], &p.runners[0].roles[0],
                                       &values, 0, &command, &arena, &err),
                     0);
    assert_string_equal(command.argv[4], argument);
    for (size_t i = 0; command.envp[i]; i++)
        if (strncmp(command.envp[i], "DATA=", 5) == 0)
            assert_string_equal(command.envp[i] + 5, home);
    assert_int_equal(plan_find_programs(&p, &arena, &err), 0);
    unsetenv("HOME");
}

/* The files that come with abba, each through all checks. */
static void every_shipped_profile_makes_a_plan(void **state)
{
    static const char *const thresholds[] = {"default", "lab", "quiet", "none"};
    struct strings names = {0};
    struct plan p;

    (void)state;
    assert_int_equal(chdir("/"), 0);
    lookup_names(LOOKUP_PROFILE, &names, &arena);
    assert_true(names.count > 5);
    for (size_t i = 0; i < names.count; i++) {
        struct plan_request q = made_request("run");

        strings_add(&q.profiles, &arena, names.items[i]);
        strings_add(&q.variants, &arena, "true");
        q.aa = true;
        /* A matrix over CPUs leaves out what this machine lacks; others may ask for any. */
        q.cpus = strstr(names.items[i], "/cores-") ? NULL : "0";
        q.thresholds_file = thresholds[i % 4];
        made_plan(&p, &q, &arena);
        assert_true(plan_run_count(&p) >= 2);
    }
}

static void programs_of_a_plan_read_back_are_found_and_checked(void **state)
{
    struct plan_request q = made_request_run(&arena, "pair/a");
    struct buf text = BUF_INIT;
    struct err err = {0};
    struct plan p, back;

    (void)state;
    made_plan(&p, &q, &arena);
    assert_int_equal(plan_encode(&p, &text, &err), 0);
    struct json *tree = json_parse(text.data, text.len, "plan", &err);
    assert_int_equal(plan_decode(&back, tree, "plan", &arena, &err), 0);
    json_free(tree);
    buf_release(&text);
    assert_null(back.variants[0].path);
    assert_int_equal(plan_find_programs(&back, &arena, &err), 0);
    assert_string_equal(back.variants[0].path, p.variants[0].path);
    made_program("new.sh", "#!/bin/sh\nexit 2\n");
    assert_int_equal(plan_find_programs(&back, &arena, &err), -1);
    assert_non_null(strstr(err.msg, "SHA-256"));
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(names_become_a_sealed_plan),
        CASE(the_profile_goes_before_the_thresholds_and_options_before_both),
        CASE(a_network_that_is_not_to_be_had_is_refused_or_left_out_with_the_reason),
        CASE(a_matrix_runs_whole_or_by_combination),
        CASE(cpus_of_a_matrix_are_not_overridden),
        CASE(a_plan_survives_its_json_unchanged),
        CASE(the_hash_changes_with_whatever_changes_the_plan),
        CASE(variants_come_in_all_their_forms),
        CASE(a_shipped_variant_is_found_by_its_name),
        CASE(the_same_program_twice_is_identical_unless_asked_for),
        CASE(variants_that_cannot_run_are_refused),
        CASE(a_variant_of_another_runner_must_take_the_same_load_and_give_the_same),
        CASE(thresholds_of_the_command_line_go_above_the_file),
        CASE(profiles_may_name_the_thresholds_that_judge_them),
        CASE(thresholds_that_nobody_can_meet_are_refused_or_noted),
        CASE(what_a_profile_yields_follows_from_its_runner),
        CASE(requests_that_make_no_sense_are_refused),
        CASE(files_that_contradict_each_other_are_refused),
        CASE(a_profile_whose_cpus_are_missing_is_left_out_or_refused),
        CASE(commands_are_split_in_words),
        CASE(the_pair_count_stays_open_until_warmups_tell),
        CASE(commands_that_cannot_be_split_or_found_are_refused),
        CASE(the_built_in_runner_is_the_shipped_one),
        CASE(a_plan_does_not_tell_whose_home_it_was_made_in),
        CASE(every_shipped_profile_makes_a_plan),
        CASE(programs_of_a_plan_read_back_are_found_and_checked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
