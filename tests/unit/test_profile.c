/* model/profile and plan/profiles: profile files, matrices, defaults. */
#include "refused.h"

#include "base/json_writer.h"
#include "model/profile.h"
#include "plan/profiles.h"

#define HEAD "'profile':'r/p','runner':'r'"

DECODES(struct profile, profile_decode)

static void a_profile_is_read_in_full(void **state)
{
    struct arena arena = ARENA_INIT;
    struct profile p =
        taken("{" HEAD ",'description':'d','load':{'streams':32,'rate':'320Mbit/s','live':true},"
              "'pairs':6,'confirm':0,'min_complete':5,'warmup':1,'pause':'1s','timeout':'20s',"
              "'cpus':{'receiver':'0','sender':'1-3,5'},'controls':{'throughput':{'within':'3%'}},"
              "'noise':{'psi':'10%'}}",
              &arena);

    (void)state;
    assert_string_equal(profile_load(&p, "streams"), "32");
    assert_string_equal(profile_load(&p, "rate"), "320Mbit/s");
    assert_string_equal(profile_load(&p, "live"), "true");
    assert_null(profile_load(&p, "rates"));
    assert_int_equal(p.pairs, 6);
    assert_int_equal(p.confirm, 0);
    assert_int_equal(p.min_complete, 5);
    assert_int_equal(p.warmup, 1);
    assert_int_equal(p.pause_ns, 1000000000);
    assert_int_equal(p.timeout_ns, 20000000000);
    assert_string_equal(profile_role_cpus(&p, "sender"), "1-3,5");
    assert_null(profile_role_cpus(&p, "other"));
    check_same(p.controls[0].limit, 0.03);
    check_same(p.noise_psi, 0.1);
    check_same(p.noise_steal, 0.05);
    arena_release(&arena);
}

static void what_a_profile_does_not_say_is_left_to_the_thresholds(void **state)
{
    struct arena arena = ARENA_INIT;
    struct profile p = taken("{" HEAD "}", &arena);

    (void)state;
    assert_int_equal(p.pairs, 0);
    assert_int_equal(p.confirm, -1);
    assert_int_equal(p.min_complete, 0);
    assert_int_equal(p.warmup, 0);
    assert_int_equal(p.pause_ns, 0);
    assert_int_equal(p.timeout_ns, 60000000000);
    assert_null(profile_role_cpus(&p, "any"));
    p = taken("{" HEAD ",'cpus':'0-1'}", &arena);
    assert_string_equal(profile_role_cpus(&p, "any"), "0-1");
    arena_release(&arena);
}

/* As archive/schema has it: bytes are nobody's concern. */
static void a_regime_is_as_long_as_it_has_characters(void **state)
{
    struct arena arena = ARENA_INIT;
    struct buf text = BUF_INIT;

    (void)state;
    buf_addstr(&text, "{" HEAD ",'regime':'");
    for (int i = 0; i < 60; i++)
        buf_addstr(&text, "\u00e4");
    buf_addstr(&text, "'}");
    assert_int_equal(strlen(taken(text.data, &arena).regime), 120);
    buf_release(&text);
    arena_release(&arena);
}

static void encoding_and_decoding_are_inverse(void **state)
{
    struct arena arena = ARENA_INIT;
    struct buf first = BUF_INIT, second = BUF_INIT;
    struct json_writer w;
    struct err err = {0};
    struct profile p =
        taken("{" HEAD ",'load':{'b':'true','a':7,'c':false,'d':'7'},'cpus':'0',"
              "'pause':'1500us','matrix':{'z':[1,2],'y':['1s']},'regime':'CPU','thresholds':'t'}",
              &arena);

    (void)state;
    jw_init(&w, &first, false);
    profile_encode(&p, &w);
    struct json *tree = json_parse(first.data, first.len, "f.json", &err);
    assert_int_equal(profile_decode(&p, tree, "f.json", &arena, &err), 0);
    jw_init(&w, &second, false);
    profile_encode(&p, &w);
    assert_string_equal(first.data, second.data);
    assert_non_null(strstr(first.data, "\"b\":\"true\""));
    assert_non_null(strstr(first.data, "\"c\":false"));
    assert_non_null(strstr(first.data, "\"d\":\"7\""));
    json_free(tree);
    buf_release(&first);
    buf_release(&second);
    arena_release(&arena);
}

static void faults_are_named_with_their_place(void **state)
{
    static const struct refusal list[] = {
        {"{'runner':'r'}", "profile"},
        {"{'profile':'r/p'}", "runner"},
        {"{'profile':'','runner':'r'}", "1 to 400"},
        {"{'profile':'p','runner':'../r'}", "cannot name a runner"},
        {"{" HEAD ",'pair':5}", "did you mean \"pairs\"?"},
        {"{" HEAD ",'network':'pair'}", "$.network"},
        {"{" HEAD ",'network':{'impair':{'loss':'200%'}}}", "$.network.impair.loss"},
        {"{" HEAD ",'load':[]}", "$.load"},
        {"{" HEAD ",'load':{'a':1.5}}", "no integer"},
        {"{" HEAD ",'load':{'a':null}}", "null"},
        {"{" HEAD ",'pairs':0}", "1 to 10000"},
        {"{" HEAD ",'pairs':'8'}", "$.pairs"},
        {"{" HEAD ",'pairs':5,'min_complete':6}", "above 'pairs'"},
        {"{" HEAD ",'warmup':-1}", "$.warmup"},
        {"{" HEAD ",'pause':1}", "unit"},
        {"{" HEAD ",'pause':'1'}", "$.pause"},
        {"{" HEAD ",'pause':'2h'}", "out of range"},
        {"{" HEAD ",'timeout':'0s'}", "1ms"},
        {"{" HEAD ",'timeout':'10MB'}", "$.timeout"},
        {"{" HEAD ",'cpus':'a'}", "0-3,8"},
        {"{" HEAD ",'cpus':'3-1'}", "0-3,8"},
        {"{" HEAD ",'cpus':'0,'}", "0-3,8"},
        {"{" HEAD ",'cpus':''}", "0-3,8"},
        {"{" HEAD ",'cpus':'99999999999999999999'}", "0-3,8"},
        {"{" HEAD ",'cpus':{'a':0}}", "$.cpus.a"},
        {"{" HEAD ",'cpus':0}", "object"},
        {"{" HEAD ",'controls':{'throughput':'3%'}}", "$.controls.throughput"},
        {"{" HEAD ",'controls':{'throughput':{'worse':'3%'}}}", "within"},
        {"{" HEAD ",'noise':{'cpu':'3%'}}", "psi"},
        {"{" HEAD ",'matrix':{'a':[]}}", "no values"},
        {"{" HEAD ",'matrix':{'a':1}}", "$.matrix.a"},
        {"{" HEAD ",'matrix':{'a':[1,1]}}", "twice"},
        {"{" HEAD ",'matrix':{'cpus':['x']}}", "0-3,8"},
        {"{" HEAD ",'matrix':{'cpus':[0]}}", "0-3,8"},
        {"{" HEAD ",'cpus':'0','matrix':{'cpus':['0']}}", "too"},
        {"{" HEAD ",'cpus':'all'}", "0-3,8"},
        {"{" HEAD ",'regime':''}", "latency-bound"},
        {"{" HEAD ",'regime':'1234567890123456789012345678901234567890123456789012345678901'}",
         "1 to 60"},
        {"{" HEAD ",'regime':1}", "$.regime"},
        {"{" HEAD ",'thresholds':['a']}", "$.thresholds"},
        {"{" HEAD ",'combination':{'of':'x'}}", "axes"},
        {"{" HEAD ",'combination':{'of':'x','axes':{},'at':1}}", "$.combination"},
        {"{" HEAD ",'combination':{'of':'x','axes':{'cpus':'one'}}}", "0-3,8"},
        {"{" HEAD ",'combination':{'of':'x','axes':{}},'matrix':{'a':[1]}}", "with a matrix"},
        {"{" HEAD ",'load':{'a':1},'matrix':{'a':[1]}}", "set by 'load' too"},
    };

    (void)state;
    check_refused(decode, list, sizeof(list) / sizeof(list[0]));
}

static void a_matrix_of_too_many_combinations_is_refused(void **state)
{
    struct buf text = BUF_INIT;
    struct refusal one;

    (void)state;
    buf_addstr(&text, "{" HEAD ",'matrix':{'a':[1");
    for (int i = 2; i <= 40; i++)
        buf_printf(&text, ",%d", i);
    buf_addstr(&text, "],'b':[1");
    for (int i = 2; i <= 40; i++)
        buf_printf(&text, ",%d", i);
    buf_addstr(&text, "]}}");
    one = (struct refusal){text.data, "more than 1000"};
    check_refused(decode, &one, 1);
    buf_release(&text);
}

static void a_matrix_becomes_a_profile_a_combination(void **state)
{
    struct arena arena = ARENA_INIT;
    struct profile p = taken("{" HEAD ",'load':{'m':'x'},"
                             "'matrix':{'streams':[1,32],'message':['1KiB','16KiB'],'cpus':['0']}}",
                             &arena);
    struct profile *all;
    size_t count;

    (void)state;
    profile_expand(&p, &all, &count, &arena);
    assert_int_equal(count, 4);
    assert_string_equal(all[0].name, "r/p,streams=1,message=1KiB,cpus=0");
    assert_string_equal(all[1].name, "r/p,streams=1,message=16KiB,cpus=0");
    assert_string_equal(all[2].name, "r/p,streams=32,message=1KiB,cpus=0");
    assert_string_equal(profile_load(&all[3], "message"), "16KiB");
    assert_string_equal(profile_load(&all[3], "m"), "x");
    assert_string_equal(profile_role_cpus(&all[3], "any"), "0");
    assert_int_equal(all[3].matrix_count, 0);
    p = taken("{" HEAD "}", &arena);
    profile_expand(&p, &all, &count, &arena);
    assert_int_equal(count, 1);
    assert_string_equal(all[0].name, "r/p");
    arena_release(&arena);
}

/* Reports lay combinations side by side: a plan says what each one is. */
static void a_combination_says_where_it_comes_from(void **state)
{
    struct arena arena = ARENA_INIT;
    struct buf text = BUF_INIT;
    struct json_writer w;
    struct err err = {0};
    struct profile p = taken("{" HEAD ",'matrix':{'n':[1,32],'cpus':['0-1,4','all']}}", &arena);
    struct profile *all, again;
    size_t count;

    (void)state;
    profile_expand(&p, &all, &count, &arena);
    assert_int_equal(count, 4);
    jw_init(&w, &text, false);
    profile_encode(&all[3], &w);
    struct json *tree = json_parse(text.data, text.len, "f.json", &err);
    assert_int_equal(profile_decode(&again, tree, "f.json", &arena, &err), 0);
    assert_string_equal(again.name, "r/p,n=32,cpus=all");
    assert_string_equal(again.combination_of, "r/p");
    assert_string_equal(profile_axis(&again, "n"), "32");
    assert_string_equal(profile_axis(&again, "cpus"), "all");
    assert_null(profile_axis(&again, "m"));
    assert_null(profile_role_cpus(&again, "any")); /* all: nothing is bound */
    assert_int_equal(profile_count_cpus("all"), 0);
    assert_string_equal(profile_role_cpus(&all[2], "any"), "0-1,4");
    assert_int_equal(profile_count_cpus("0-1,4"), 3);
    json_free(tree);
    buf_release(&text);
    arena_release(&arena);
}

/* A runner with one parameter of each kind that matters here. */
static void make_runner(struct runner *r, struct arena *arena)
{
    struct err err = {0};
    struct json *tree = parse_quoted(
        "{'runner':'r','roles':{'main':{'command':['{program}']}},'load':{"
        "'streams':{'type':'integer','min':1,'max':64,'default':1},'rate':{'type':'rate'},"
        "'mode':{'type':'string','choices':['bulk','pingpong'],'default':'bulk'},"
        "'live':{'type':'bool','default':false}}}",
        &err);

    assert_int_equal(runner_decode(r, tree, "f.json", arena, &err), 0);
    json_free(tree);
}

static void defaults_of_the_runner_are_filled_in(void **state)
{
    struct arena arena = ARENA_INIT;
    struct err err = {0};
    struct runner r;
    struct profile p = taken("{" HEAD ",'load':{'rate':'1Mbit/s','streams':4}}", &arena);

    (void)state;
    make_runner(&r, &arena);
    assert_int_equal(profile_resolve(&p, &r, "f.json", &arena, &err), 0);
    assert_int_equal(p.load_count, 4);
    assert_string_equal(profile_load(&p, "live"), "false");
    assert_string_equal(profile_load(&p, "mode"), "bulk");
    assert_string_equal(profile_load(&p, "streams"), "4");
    arena_release(&arena);
}

static int resolve(const struct json *tree, struct arena *arena, struct err *err)
{
    struct runner r;
    struct profile p;

    make_runner(&r, arena);
    if (profile_decode(&p, tree, "f.json", arena, err) < 0)
        return -1;
    return profile_resolve(&p, &r, "f.json", arena, err);
}

static void a_load_that_the_runner_does_not_take_is_refused(void **state)
{
    static const struct refusal list[] = {
        {"{" HEAD "}", "load 'rate': is not set"},
        {"{" HEAD ",'load':{'rate':'1Mbit/s','stream':4}}", "did you mean 'streams'?"},
        {"{" HEAD ",'load':{'rate':'1Mbit/s','xyz':4}}",
         "known: 'live', 'mode', 'rate', 'streams'"},
        {"{" HEAD ",'load':{'rate':'1Mbit/s','streams':'4'}}",
         "type 'integer' is written as an integer"},
        {"{" HEAD ",'load':{'rate':'1Mbit/s','streams':'4'}}", "found a string (4)"},
        {"{" HEAD ",'load':{'rate':'1Mbit/s','streams':65}}", "1 to 64"},
        {"{" HEAD ",'load':{'rate':320}}", "unit"},
        {"{" HEAD ",'load':{'rate':'320'}}", "load 'rate'"},
        {"{" HEAD ",'load':{'rate':'20ms'}}", "load 'rate'"},
        {"{" HEAD ",'load':{'rate':'1Mbit/s','live':'true'}}", "true or false"},
        {"{" HEAD ",'load':{'rate':'1Mbit/s','mode':'pinpong'}}", "did you mean 'pingpong'?"},
        {"{" HEAD ",'load':{'rate':'1Mbit/s'},'cpus':{'mian':'0'}}", "did you mean 'main'?"},
        {"{" HEAD ",'load':{'rate':'1Mbit/s'},'controls':{'peak_rrs':{'within':'1%'}}}",
         "did you mean 'peak_rss'?"},
    };

    (void)state;
    check_refused(resolve, list, sizeof(list) / sizeof(list[0]));
}

static void cpus_that_may_not_be_used_are_found(void **state)
{
    struct arena arena = ARENA_INIT;
    struct profile p = taken("{" HEAD ",'cpus':{'a':'0','b':'1-3'}}", &arena);
    cpu_set_t allowed;
    struct err err;

    (void)state;
    assert_int_equal(profile_check_cpus("0-2", &allowed, &err), 0);
    assert_string_equal(profile_missing_cpus(&p, &allowed), "1-3");
    assert_int_equal(profile_check_cpus("0-2,3", &allowed, &err), 0);
    assert_null(profile_missing_cpus(&p, &allowed));
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_profile_is_read_in_full),
        cmocka_unit_test(what_a_profile_does_not_say_is_left_to_the_thresholds),
        cmocka_unit_test(a_regime_is_as_long_as_it_has_characters),
        cmocka_unit_test(encoding_and_decoding_are_inverse),
        cmocka_unit_test(faults_are_named_with_their_place),
        cmocka_unit_test(a_matrix_of_too_many_combinations_is_refused),
        cmocka_unit_test(a_matrix_becomes_a_profile_a_combination),
        cmocka_unit_test(a_combination_says_where_it_comes_from),
        cmocka_unit_test(defaults_of_the_runner_are_filled_in),
        cmocka_unit_test(a_load_that_the_runner_does_not_take_is_refused),
        cmocka_unit_test(cpus_that_may_not_be_used_are_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
