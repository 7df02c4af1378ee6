/* model/runner: runner.json, strict both ways. */
#include "refused.h"

#include <signal.h>

#include "base/json_writer.h"
#include "model/runner.h"

#define ONE_ROLE "'runner':'r','roles':{'main':{'command':['{program}']}}"
#define METRIC(members) "{" ONE_ROLE ",'metrics':[{" members "}]}"
#define LOAD(param) "{" ONE_ROLE ",'load':{" param "}}"

static int decode(const struct json *tree, struct arena *arena, struct err *err)
{
    struct runner r;

    return runner_decode(&r, tree, "f.json", arena, err);
}

static const char full[] =
    "{'runner':'srt','description':'d','program':'srt-live','roles':{"
    "'sender':{'command':['{program}','send','--rate','{rate}'],'after':['receiver']},"
    "'receiver':{'command':['{program}','receive'],'ready':{'stdout':'^ready$','timeout':'3s'},"
    "'stop':'SIGINT'}},"
    "'load':{'streams':{'type':'integer','min':1,'max':64,'default':1,'description':'how many'},"
    "'rate':{'type':'rate','max':'1Gbit/s'},'duration':{'type':'time','default':'10s'},"
    "'mode':{'type':'string','choices':['a','b'],'default':'a'},"
    "'loss':{'type':'percent','default':'0.1%'},'live':{'type':'bool','default':true}},"
    "'numbers':{'decimal':',','group':' '},"
    "'metrics':["
    "{'metric':'delivered_bytes','role':'receiver','pattern':'^b=(?<value>\\\\d+)','unit':'KiB'},"
    "{'metric':'messages_per_second','role':'receiver','stream':'stderr',"
    "'pattern':'= (?<value>[\\\\d ,.]+) msgs/sec','unit':'1/s','better':'higher','match':'all',"
    "'sacrifice':1,'reduce':'median'},"
    "{'metric':'window','role':'sender','file':'{scratch}/s.json','json':'/end/window',"
    "'unit':'packets','better':'lower','required':false,'numbers':{'decimal':'.','group':','}}],"
    "'integrity':[{'role':'receiver','pattern':'^payload=intact$'}],"
    "'invalid':[{'role':'receiver','pattern':'not all','metrics':['throughput','window']}],"
    "'checks':[{'ratio':['delivered_messages','delivery_time'],'equals':'messages_per_second',"
    "'within':'1%'}],'table':['window','peak_rss']}";

static void decode_full(struct runner *r, struct arena *arena)
{
    struct err err = {0};
    struct json *tree = parse_quoted(full, &err);

    assert_non_null(tree);
    if (runner_decode(r, tree, "f.json", arena, &err) < 0)
        fail_msg("%s", err.msg);
    json_free(tree); /* nothing may be borrowed from it */
}

static void a_runner_is_read_in_full(void **state)
{
    struct arena arena = ARENA_INIT;
    struct runner r;

    (void)state;
    decode_full(&r, &arena);
    assert_string_equal(r.program, "srt-live");
    assert_int_equal(r.role_count, 2);
    assert_string_equal(r.roles[0].name, "receiver");
    assert_int_equal(r.roles[0].ready.kind, READY_STDOUT);
    assert_int_equal(r.roles[0].ready.timeout_ns, 3000000000);
    assert_int_equal(r.roles[0].stop_signal, SIGINT);
    assert_true(strings_has(&r.roles[1].after, "receiver"));
    assert_int_equal(runner_find_load(&r, "streams")->max, 64);
    assert_int_equal(runner_find_load(&r, "rate")->max, 1000000000);
    assert_null(runner_find_load(&r, "rate")->default_text);
    assert_string_equal(r.numbers.decimal, ",");
    assert_int_equal(r.metric_count, 3);
    assert_int_equal(r.metrics[1].from.source, SOURCE_STDERR);
    assert_int_equal(r.metrics[1].match, MATCH_ALL);
    assert_int_equal(r.metrics[1].sacrifice, 1);
    assert_int_equal(r.metrics[1].reduce, REDUCE_MEDIAN);
    assert_true(r.metrics[1].required);
    assert_false(r.metrics[2].required);
    assert_string_equal(r.metrics[2].numbers->group, ",");
    assert_string_equal(r.metrics[2].from.file, "{scratch}/s.json");
    assert_int_equal(r.integrity_count, 1);
    assert_int_equal(r.invalid[0].metrics.count, 2);
    check_same(r.checks[0].within, 0.01);
    assert_false(r.is_command);
    arena_release(&arena);
}

static void encode(const struct runner *r, struct buf *out)
{
    struct json_writer w;

    jw_init(&w, out, false);
    runner_encode(r, &w);
}

static void encoding_and_decoding_are_inverse(void **state)
{
    struct arena arena = ARENA_INIT;
    struct buf first = BUF_INIT, second = BUF_INIT;
    struct err err = {0};
    struct runner r;

    (void)state;
    decode_full(&r, &arena);
    encode(&r, &first);
    struct json *tree = json_parse(first.data, first.len, "f.json", &err);
    assert_non_null(tree);
    if (runner_decode(&r, tree, "f.json", &arena, &err) < 0)
        fail_msg("%s", err.msg);
    encode(&r, &second);
    assert_string_equal(first.data, second.data);
    json_free(tree);
    buf_release(&first);
    buf_release(&second);
    arena_release(&arena);
}

static void defaults_are_those_of_the_documents(void **state)
{
    struct arena arena = ARENA_INIT;
    struct err err = {0};
    struct json *tree =
        parse_quoted(METRIC("'metric':'throughput','pattern':'(?<value>1)','unit':'Mbit/s'"), &err);
    struct runner r;

    (void)state;
    assert_int_equal(runner_decode(&r, tree, "f.json", &arena, &err), 0);
    assert_string_equal(r.program, "r");
    assert_int_equal(r.roles[0].ready.kind, READY_AT_ONCE);
    assert_int_equal(r.roles[0].stop_signal, 0);
    assert_string_equal(r.metrics[0].from.role, "main");
    assert_int_equal(r.metrics[0].better, BETTER_HIGHER);
    assert_int_equal(r.metrics[0].match, MATCH_ONE);
    assert_true(r.metrics[0].required);
    assert_null(r.metrics[0].numbers);
    assert_string_equal(r.numbers.decimal, ".");
    assert_string_equal(r.numbers.group, "");
    json_free(tree);
    arena_release(&arena);
}

static void unknown_and_missing_keys_are_refused(void **state)
{
    static const struct refusal list[] = {
        {"{}", "runner"},
        {"[]", "object"},
        {"{'runner':'r'}", "roles"},
        {"{" ONE_ROLE ",'metric':[]}", "did you mean \"metrics\"?"},
        {"{" ONE_ROLE ",'runner':'q'}", "duplicate"},
        {"{'runner':7,'roles':{}}", "$.runner"},
        {"{'runner':'a b','roles':{'m':{'command':['x']}}}", "cannot name a runner"},
        {"{'runner':'r','roles':{}}", "1 to 16"},
        {"{'runner':'r','roles':{'a.b':{'command':['x']}}}", "no '.'"},
        {"{'runner':'r','roles':{'':{'command':['x']}}}", "cannot name a role"},
        {"{'runner':'r','roles':{'m':{'comand':['x']}}}", "did you mean \"command\"?"},
        {"{'runner':'r','roles':{'m':{'command':'x'}}}", "$.roles.m.command"},
        {"{'runner':'r','roles':{'m':{'command':[]}}}", "empty"},
        {"{'runner':'r','roles':{'m':{'command':['x',1]}}}", "$.roles.m.command[1]"},
        {"{'runner':'command','roles':{'m':{'command':['x']}}}", "{program}"},
    };

    (void)state;
    check_refused(decode, list, sizeof(list) / sizeof(list[0]));
}

static void roles_that_could_never_run_are_refused(void **state)
{
    static const struct refusal list[] = {
        {"{'runner':'r','roles':{'m':{'command':['x'],'after':['n']}}}", "unknown role"},
        {"{'runner':'r','roles':{'sender':{'command':['x'],'after':['reciever']},"
         "'receiver':{'command':['x']}}}",
         "did you mean 'receiver'?"},
        {"{'runner':'r','roles':{'m':{'command':['x'],'after':['m']}}}", "waits for itself"},
        {"{'runner':'r','roles':{'a':{'command':['x'],'after':['b']},"
         "'b':{'command':['x'],'after':['a']}}}",
         "waits for itself"},
        {"{'runner':'r','roles':{'m':{'command':['x'],'stop':'SIGTERM'}}}", "end by itself"},
        {"{'runner':'r','roles':{'m':{'command':['x'],'stop':'TERM'}}}", "SIGTERM"},
        {"{'runner':'r','roles':{'m':{'command':['x'],'ready':{}}}}", "needs one of"},
        {"{'runner':'r','roles':{'m':{'command':['x'],'ready':{'stdout':'a','tcp':'1'}}}}", "both"},
        {"{'runner':'r','roles':{'m':{'command':['x'],'ready':{'stdout':'('}}}}", "ready.stdout"},
        {"{'runner':'r','roles':{'m':{'command':['x'],'ready':{'tcp':'{port}','timeout':5}}}}",
         "unit"},
        {"{'runner':'r','roles':{'m':{'command':['x'],'ready':{'tcp':'1','timeout':'2h'}}}}",
         "out of range"},
    };

    (void)state;
    check_refused(decode, list, sizeof(list) / sizeof(list[0]));
}

static void load_parameters_are_checked(void **state)
{
    static const struct refusal list[] = {
        {LOAD("'n':{}"), "type"},
        {LOAD("'n':{'type':'int'}"), "integer"},
        {LOAD("'port':{'type':'integer'}"), "taken"},
        {LOAD("'a.b':{'type':'integer'}"), "no '.'"},
        {LOAD("'n':{'type':'integer','min':2,'max':1}"), "above"},
        {LOAD("'n':{'type':'integer','min':'2'}"), "$.load.n.min"},
        {LOAD("'n':{'type':'time','min':2}"), "unit"},
        {LOAD("'n':{'type':'time','min':'2MB'}"), "$.load.n.min"},
        {LOAD("'n':{'type':'bool','min':1}"), "no 'min'"},
        {LOAD("'n':{'type':'integer','choices':['1']}"), "only a string"},
        {LOAD("'n':{'type':'integer','default':'1'}"), "integer"},
        {LOAD("'n':{'type':'integer','default':1.5}"), "no integer"},
        {LOAD("'n':{'type':'integer','max':4,'default':5}"), "0 to 4"},
        {LOAD("'n':{'type':'time','default':10}"), "time"},
        {LOAD("'n':{'type':'time','default':'10'}"), "$.load.n.default"},
        {LOAD("'n':{'type':'rate','max':'1Mbit/s','default':'2Mbit/s'}"), "0bit/s to 1Mbit/s"},
        {LOAD("'n':{'type':'string','choices':['fast','slow'],'default':'fats'}"),
         "did you mean 'fast'?"},
        {LOAD("'n':{'type':'bool','default':'true'}"), "bool"},
        {LOAD("'n':{'type':'integer','default':[1]}"), "array"},
    };

    (void)state;
    check_refused(decode, list, sizeof(list) / sizeof(list[0]));
    check_taken(decode, LOAD("'n':{'type':'integer','min':-5,'default':-5}"));
    check_taken(decode, LOAD("'n':{'type':'size','min':'1KiB','max':'1MiB','default':'4KiB'}"));
}

static void metrics_are_checked(void **state)
{
    static const struct refusal list[] = {
        {METRIC("'metric':'x','pattern':'(?<value>1)','better':'lower'"), "unit"},
        {METRIC("'metric':'x','pattern':'(?<value>1)','unit':'B'"), "better"},
        {METRIC("'metric':'throughput','pattern':'(?<value>1)'"), "unit"},
        {METRIC("'metric':'throughput','pattern':'(?<value>1)','unit':'B'"), "Mbit/s"},
        {METRIC("'metric':'throughput','pattern':'(?<value>1)','unit':'Mbps'"), "no such unit"},
        {METRIC("'metric':'throughput','pattern':'(?<value>1)','unit':'B/s','better':'lower'"),
         "better when higher"},
        {METRIC("'metric':'cpu_time','pattern':'(?<value>1)','unit':'s'"), "own_cpu_time"},
        {METRIC("'metric':'cycles','pattern':'(?<value>1)'"), "measured by abba itself"},
        {METRIC("'metric':'throughput','unit':'B/s'"), "needs 'pattern' or 'json'"},
        {METRIC("'metric':'throughput','pattern':'(?<value>1)','json':'/a','unit':'B/s'"), "both"},
        {METRIC("'metric':'throughput','pattern':'(?<value>1','unit':'B/s'"),
         "$.metrics[0].pattern"},
        {METRIC("'metric':'throughput','pattern':'(?<vale>1)','unit':'B/s'"),
         "no group named 'value'"},
        {METRIC("'metric':'throughput','pattern':'(1)','unit':'B/s'"), "(?<value>...)"},
        {METRIC("'metric':'throughput','json':'a/b','unit':'B/s'"), "JSON pointer"},
        {METRIC("'metric':'throughput','json':'/a~2','unit':'B/s'"), "JSON pointer"},
        {METRIC("'metric':'throughput','json':'/a','unit':'B/s','file':'f','stream':'stderr'"),
         "both"},
        {METRIC("'metric':'throughput','json':'/a','unit':'B/s','stream':'out'"), "stdout"},
        {METRIC("'metric':'throughput','json':'/a','unit':'B/s','role':'mian'"),
         "did you mean 'main'?"},
        {METRIC("'metric':'throughput','json':'/a','unit':'B/s','reduce':'mean'"), "all"},
        {METRIC("'metric':'throughput','json':'/a','unit':'B/s','sacrifice':1"), "all"},
        {METRIC("'metric':'throughput','json':'/a','unit':'B/s','match':'all','sacrifice':-1"),
         "$.metrics[0].sacrifice"},
        {METRIC("'metric':'throughput','json':'/a','unit':'B/s','match':'every'"), "all"},
        {METRIC("'metric':'throughput','json':'/a','unit':'B/s','required':1"), "true or false"},
        {METRIC("'metric':'throughput','json':'/a','unit':'B/s','numbers':{'decimal':';'}"),
         "separates no decimals"},
        {METRIC("'metric':'throughput','json':'/a','unit':'B/s','numbers':{'group':'.'}"),
         "both '.'"},
        {METRIC("'metric':'a b','json':'/a','unit':'B','better':'lower'"), "cannot name a metric"},
        {METRIC("'metric':'x','json':'/a','unit':'B','better':'lower'},"
                "{'metric':'x','json':'/b','unit':'B','better':'lower'"),
         "there twice"},
        {"{'runner':'r','roles':{'a':{'command':['x']},'b':{'command':['x']}},"
         "'metrics':[{'metric':'throughput','json':'/a','unit':'B/s'}]}",
         "needs 'role'"},
        {"{'runner':'r','roles':{'a':{'command':['x']}},'table':['peak_rs']}",
         "did you mean 'peak_rss'?"},
        {"{'runner':'r','roles':{'a':{'command':['x']}},'table':['peak_rss','peak_rss']}",
         "there twice"},
        {"{'runner':'r','roles':{'a':{'command':['x']}},'table':[]}", "1 to 12 metrics"},
    };

    (void)state;
    check_refused(decode, list, sizeof(list) / sizeof(list[0]));
    check_taken(decode, METRIC("'metric':'delivered_messages','pattern':'(?<value>1)'"));
    check_taken(decode, METRIC("'metric':'throughput','json':'','unit':'Mibit/s'"));
}

static void integrity_invalid_and_checks_are_checked(void **state)
{
    static const struct refusal list[] = {
        {"{" ONE_ROLE ",'integrity':[{}]}", "needs 'pattern'"},
        {"{" ONE_ROLE ",'integrity':[{'pattern':'['}]}", "$.integrity[0].pattern"},
        {"{" ONE_ROLE ",'integrity':[{'json':'/a'}]}", "unknown key"},
        {"{" ONE_ROLE ",'integrity':['x']}", "$.integrity[0]"},
        {"{" ONE_ROLE ",'invalid':[{'pattern':'x','metrics':['troughput']}]}",
         "did you mean 'throughput'?"},
        {"{" ONE_ROLE ",'checks':[{'ratio':['throughput'],'equals':'throughput','within':'1%'}]}",
         "two metrics"},
        {"{" ONE_ROLE ",'checks':[{'ratio':['throughput','nope'],'equals':'throughput',"
         "'within':'1%'}]}",
         "unknown metric 'nope'"},
        {"{" ONE_ROLE ",'checks':[{'ratio':['throughput','throughput'],'equals':'throughput',"
         "'within':0.01}]}",
         "$.checks[0].within"},
    };

    (void)state;
    check_refused(decode, list, sizeof(list) / sizeof(list[0]));
}

static void values_are_checked_with_their_units(void **state)
{
    struct load_param p = {.name = "n", .type = LOAD_TIME, .min = 1000000, .max = INT64_MAX};
    struct err err;
    int64_t value;

    (void)state;
    assert_int_equal(load_param_check(&p, "20ms", &value, &err), 0);
    assert_int_equal(value, 20000000);
    assert_int_equal(load_param_check(&p, "20us", &value, &err), -1);
    assert_non_null(strstr(err.msg, "at least 1ms"));
    assert_int_equal(load_param_check(&p, "20", &value, &err), -1);
    p = (struct load_param){.name = "n", .type = LOAD_INTEGER, .min = 0, .max = INT64_MAX};
    assert_int_equal(load_param_check(&p, "12x", NULL, &err), -1);
    assert_int_equal(load_param_check(&p, "99999999999999999999", NULL, &err), -1);
    assert_int_equal(load_param_check(&p, "", NULL, &err), -1);
    assert_int_equal(load_param_check(&p, "-1", NULL, &err), -1);
    assert_int_equal(load_param_check(&p, "12", &value, &err), 0);
    assert_int_equal(value, 12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_runner_is_read_in_full),
        cmocka_unit_test(encoding_and_decoding_are_inverse),
        cmocka_unit_test(defaults_are_those_of_the_documents),
        cmocka_unit_test(unknown_and_missing_keys_are_refused),
        cmocka_unit_test(roles_that_could_never_run_are_refused),
        cmocka_unit_test(load_parameters_are_checked),
        cmocka_unit_test(metrics_are_checked),
        cmocka_unit_test(integrity_invalid_and_checks_are_checked),
        cmocka_unit_test(values_are_checked_with_their_units),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
