/* model/thresholds: thresholds files, and which limit counts. */
#include "refused.h"

#include "base/json_writer.h"
#include "model/thresholds.h"

DECODES(struct thresholds, thresholds_decode)

static const char full[] =
    "{'thresholds':'t','rule':'median','pairs':16,'confirm':4,'limits':{'throughput':{'worse':'10%'"
    "},"
    "'peak_rss':{'worse':'15%','claim':'better'},'cpu_time':{'claim':'better'}},"
    "'profiles':{'srt/*':{'throughput':{'worse':'20%'}},'srt/"
    "*-strong':{'throughput':{'worse':'30%'},"
    "'peak_rss':{'worse':null}},'*':{'throughput':{'worse':'11%'}}}}";

static void thresholds_are_read_in_full(void **state)
{
    struct arena arena = ARENA_INIT;
    struct thresholds t = taken(full, &arena);
    const struct limit *limit = thresholds_limit(&t, "x", "peak_rss");

    (void)state;
    assert_int_equal(t.rule, RULE_MEDIAN);
    assert_int_equal(t.pairs, 16);
    assert_int_equal(t.confirm, 4);
    check_same(limit->worse, 0.15);
    assert_string_equal(limit->worse_text, "15%");
    assert_int_equal(limit->claim, CLAIM_BETTER);
    assert_false(limit->asked);
    assert_null(thresholds_limit(&t, "x", "cpu_time")->worse_text);
    assert_null(thresholds_limit(&t, "x", "wall_time"));
    t = taken("{'thresholds':'t'}", &arena);
    assert_int_equal(t.rule, RULE_BOUNDED);
    assert_int_equal(t.pairs, 8);
    assert_int_equal(t.confirm, 0);
    assert_string_equal(rule_name(t.rule), "bounded");
    arena_release(&arena);
}

static void the_most_specific_override_counts_whatever_the_order(void **state)
{
    struct arena arena = ARENA_INIT;
    struct thresholds t = taken(full, &arena);

    (void)state;
    assert_string_equal(thresholds_limit(&t, "flow/a", "throughput")->worse_text, "11%");
    assert_string_equal(thresholds_limit(&t, "srt/32x-light", "throughput")->worse_text, "20%");
    assert_string_equal(thresholds_limit(&t, "srt/32x-strong", "throughput")->worse_text, "30%");
    assert_null(thresholds_limit(&t, "srt/32x-strong", "peak_rss")->worse_text);
    assert_string_equal(thresholds_limit(&t, "srt/32x-light", "peak_rss")->worse_text, "15%");
    arena_release(&arena);
}

static void encoding_and_decoding_are_inverse(void **state)
{
    struct arena arena = ARENA_INIT;
    struct buf first = BUF_INIT, second = BUF_INIT;
    struct json_writer w;
    struct err err = {0};
    struct thresholds t = taken(full, &arena);

    (void)state;
    jw_init(&w, &first, false);
    thresholds_encode(&t, &w);
    struct json *tree = json_parse(first.data, first.len, "f.json", &err);
    if (thresholds_decode(&t, tree, "f.json", &arena, &err) < 0)
        fail_msg("%s", err.msg);
    jw_init(&w, &second, false);
    thresholds_encode(&t, &w);
    assert_string_equal(first.data, second.data);
    json_free(tree);
    buf_release(&first);
    buf_release(&second);
    arena_release(&arena);
}

static void faults_are_named_with_their_place(void **state)
{
    static const struct refusal list[] = {
        {"{}", "thresholds"},
        {"{'thresholds':'../x'}", "cannot name"},
        {"{'thresholds':'t','limit':{}}", "did you mean \"limits\"?"},
        {"{'thresholds':'t','rule':'bound'}", "did you mean \"bounded\"?"},
        {"{'thresholds':'t','pairs':0}", "$.pairs"},
        {"{'thresholds':'t','confirm':-1}", "$.confirm"},
        {"{'thresholds':'t','limits':[]}", "$.limits"},
        {"{'thresholds':'t','limits':{'throughput':'10%'}}", "$.limits.throughput"},
        {"{'thresholds':'t','limits':{'throughput':{}}}", "needs 'worse'"},
        {"{'thresholds':'t','limits':{'throughput':{'worse':10}}}", "unit"},
        {"{'thresholds':'t','limits':{'throughput':{'worse':'10'}}}", "%"},
        {"{'thresholds':'t','limits':{'throughput':{'worse':'-10%'}}}",
         "$.limits.throughput.worse"},
        {"{'thresholds':'t','limits':{'throughput':{'worse':'nan%'}}}",
         "$.limits.throughput.worse"},
        {"{'thresholds':'t','limits':{'throughput':{'wrose':'10%'}}}", "did you mean \"worse\"?"},
        {"{'thresholds':'t','limits':{'throughput':{'worse':'1%','claim':'worse'}}}", "better"},
        {"{'thresholds':'t','limits':{'user_time':{'worse':'1%'}}}", "cpu_time"},
        {"{'thresholds':'t','limits':{'a b':{'worse':'1%'}}}", "cannot name a metric"},
        {"{'thresholds':'t','profiles':{'x*':{'throughput':{'worse':1}}}}", "throughput.worse"},
        {"{'thresholds':'t','profiles':{'x*':7}}", "object"},
    };

    (void)state;
    check_refused(decode, list, sizeof(list) / sizeof(list[0]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(thresholds_are_read_in_full),
        cmocka_unit_test(the_most_specific_override_counts_whatever_the_order),
        cmocka_unit_test(encoding_and_decoding_are_inverse),
        cmocka_unit_test(faults_are_named_with_their_place),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
