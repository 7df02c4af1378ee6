/* model/network: the network of a profile, its copy in a plan, and the loss that it really means.
 */
#include "refused.h"

#include "base/fields.h"
#include "base/json_writer.h"
#include "model/network.h"

static int decode_into(struct network *n, const struct json *tree, struct arena *arena,
                       struct err *err)
{
    struct fields f;

    return fields_init(&f, "f.json", tree, err) < 0 ? -1 : network_decode(n, &f, arena, err);
}

static int decode(const struct json *tree, struct arena *arena, struct err *err)
{
    struct network n;

    return decode_into(&n, tree, arena, err);
}

static struct network taken(const char *text, struct arena *arena)
{
    struct err err = {0};
    struct network n;
    struct json *tree = parse_quoted(text, &err);

    if (!tree || decode_into(&n, tree, arena, &err) < 0)
        fail_msg("%s: %s", text, err.msg);
    json_free(tree);
    return n;
}

static char *encoded(const struct network *n, struct arena *arena)
{
    struct buf out = BUF_INIT;
    struct json_writer w;
    char *text;

    jw_init(&w, &out, false);
    network_encode(n, &w);
    text = arena_strdup(arena, out.data);
    buf_release(&out);
    return text;
}

/* What single quotes mean here. */
static char *plain(const char *text, struct arena *arena)
{
    char *copy = arena_strdup(arena, text);

    for (char *p = copy; *p; p++)
        if (*p == '\'')
            *p = '"';
    return copy;
}

static void check_encoded(const char *text, const char *want)
{
    struct arena arena = ARENA_INIT;
    struct network n = taken(text, &arena);
    char *once = encoded(&n, &arena);
    struct network again = taken(once, &arena);

    assert_string_equal(once, plain(want, &arena));
    assert_string_equal(encoded(&again, &arena), once);
    arena_release(&arena);
}

#define HEAD "{'topology':'loopback','backend':'auto'"
#define TAIL "'bound':{'lateness_p99':'2ms'}}"
#define IMPAIR(x) "{'impair':{" x "}}"
#define OUT(x) HEAD ",'impair':{" x "}," TAIL

/* ---- reading ---- */

static void what_a_network_does_not_say_has_its_default(void **state)
{
    struct arena arena = ARENA_INIT;
    struct network n = taken("{}", &arena);

    (void)state;
    assert_int_equal(n.topology, NET_LOOPBACK);
    assert_int_equal(n.backend, NET_BACKEND_AUTO);
    assert_false(n.has_impair);
    assert_int_equal(n.bound.lateness_p99_ns, 2000000);
    assert_null(network_direction(&n, "a", "b"));
    arena_release(&arena);
}

static void an_impairment_is_read_in_full(void **state)
{
    struct arena arena = ARENA_INIT;
    struct network n = taken(
        "{'topology':'pair','backend':'kernel','bound':{'lateness_p99':'500us'},'impair':{"
        "'delay':'20ms','jitter':'5ms','delay_correlation':'25%','distribution':'normal',"
        "'keep_order':true,'loss':{'gemodel':{'p':'1%','r':'10%','1-h':'70%','1-k':'0.1%'}},"
        "'duplicate':'1%','duplicate_correlation':'2%','corrupt':'3%','corrupt_correlation':'4%',"
        "'reorder':'5%','reorder_correlation':'6%','gap':7,'rate':{'rate':'50Mbit/s',"
        "'packet_overhead':'-14B','cell_size':'53B','cell_overhead':'5B'},'slot':{'min':'1ms',"
        "'max':'2ms','packets':8,'bytes':'9kB'},'ecn':true,'limit':10}}",
        &arena);
    const struct net_impair *i = network_direction(&n, "sender", "receiver");

    (void)state;
    assert_int_equal(n.topology, NET_PAIR);
    assert_int_equal(n.backend, NET_BACKEND_KERNEL);
    assert_int_equal(n.bound.lateness_p99_ns, 500000);
    assert_ptr_equal(i, &n.impair);
    assert_int_equal(i->delay_ns, 20000000);
    assert_int_equal(i->jitter_ns, 5000000);
    assert_int_equal(i->delay_correlation.scaled, 1073741824);
    assert_string_equal(i->delay_correlation.text, "25%");
    assert_string_equal(i->distribution, "normal");
    assert_true(i->keep_order && i->ecn);
    assert_int_equal(i->loss.model, LOSS_GEMODEL);
    assert_int_equal(i->loss.p.scaled, 42949673);
    assert_int_equal(i->loss.r.scaled, 429496730);
    assert_int_equal(i->loss.h.scaled, 1288490189);
    assert_int_equal(i->loss.k.scaled, 4294967);
    assert_int_equal(i->duplicate.scaled, 42949673);
    assert_int_equal(i->duplicate_correlation.scaled, 85899346);
    assert_int_equal(i->corrupt.scaled, 128849019);
    assert_int_equal(i->corrupt_correlation.scaled, 171798692);
    assert_int_equal(i->reorder.scaled, 214748365);
    assert_int_equal(i->reorder_correlation.scaled, 257698038);
    assert_int_equal(i->gap, 7);
    assert_int_equal(i->rate.bit_s, 50000000);
    assert_int_equal(i->rate.packet_overhead, -14);
    assert_int_equal(i->rate.cell_bytes, 53);
    assert_int_equal(i->rate.cell_overhead, 5);
    assert_int_equal(i->slot.min_ns, 1000000);
    assert_int_equal(i->slot.max_ns, 2000000);
    assert_int_equal(i->slot.packets, 8);
    assert_int_equal(i->slot.bytes, 9000);
    assert_int_equal(i->limit, 10);
    arena_release(&arena);
}

static void a_direction_of_its_own_goes_before_the_common_impairment(void **state)
{
    struct arena arena = ARENA_INIT;
    struct network n = taken("{'topology':'pair','impair':{'delay':'1ms','sender->receiver':"
                             "{'loss':'1%'},'receiver->sender':{}}}",
                             &arena);

    (void)state;
    assert_int_equal(n.link_count, 2);
    assert_int_equal(network_direction(&n, "sender", "receiver")->delay_ns, 0);
    assert_int_equal(network_direction(&n, "sender", "receiver")->loss.model, LOSS_RANDOM);
    assert_null(network_direction(&n, "receiver", "sender"));
    assert_int_equal(network_direction(&n, "other", "sender")->delay_ns, 1000000);
    arena_release(&arena);
}

static void markov_models_have_tcs_defaults(void **state)
{
    struct arena arena = ARENA_INIT;
    struct network n = taken(IMPAIR("'loss':{'state':{'p13':'1%'}}"), &arena);

    (void)state;
    assert_int_equal(n.impair.loss.p31.scaled, 4252017622);
    assert_int_equal(n.impair.loss.p32.scaled, 0);
    assert_int_equal(n.impair.loss.p23.scaled, UINT32_MAX);
    assert_int_equal(n.impair.loss.p14.scaled, 0);
    n = taken(IMPAIR("'loss':{'gemodel':{'p':'1%'}}"), &arena);
    assert_int_equal(n.impair.loss.r.scaled, 4252017622);
    assert_int_equal(n.impair.loss.h.scaled, 0);
    assert_int_equal(n.impair.loss.k.scaled, 0);
    arena_release(&arena);
}

static void a_gap_alone_reorders_every_gap_th_packet(void **state)
{
    struct arena arena = ARENA_INIT;
    struct network n = taken(IMPAIR("'delay':'1ms','gap':5"), &arena);

    (void)state;
    assert_int_equal(n.impair.reorder.scaled, UINT32_MAX);
    n = taken(IMPAIR("'delay':'1ms','reorder':'5%'"), &arena);
    assert_int_equal(n.impair.gap, 1);
    arena_release(&arena);
}

/* ---- writing ---- */

static void equal_networks_give_equal_text_that_reads_back(void **state)
{
    (void)state;
    check_encoded("{}", HEAD "," TAIL);
    check_encoded(IMPAIR("'loss':'0%','rate':{'rate':'0bit/s'}"), HEAD "," TAIL);
    check_encoded(IMPAIR("'loss':{'random':'1.00%'},'delay':'0.02s'"),
                  OUT("'delay':'20ms','loss':'1%'"));
    check_encoded(IMPAIR("'loss':{'random':'0.10%','correlation':'33.3333333%'}"),
                  OUT("'loss':{'random':'0.1%','correlation':'33.3333333%'}"));
    check_encoded(IMPAIR("'delay':'1ms','jitter':'1ms','distribution':'uniform'"),
                  OUT("'delay':'1ms','jitter':'1ms'"));
    check_encoded(IMPAIR("'loss':{'gemodel':{'p':'1%'}},'ecn':true"),
                  OUT("'loss':{'gemodel':{'p':'1%','r':'99%','1-h':'100%','1-k':'0%'}},"
                      "'ecn':true"));
    check_encoded(IMPAIR("'loss':{'state':{'p13':'1%'}}"),
                  OUT("'loss':{'state':{'p13':'1%','p31':'99%','p32':'0%','p23':'100%',"
                      "'p14':'0%'}}"));
    check_encoded(IMPAIR("'rate':{'rate':'1Gbit/s'}"), OUT("'rate':'1Gbit/s'"));
    check_encoded(IMPAIR("'rate':{'rate':'1Gbit/s','packet_overhead':'-14B','cell_size':'1kB'}"),
                  OUT("'rate':{'rate':'1Gbit/s','packet_overhead':'-14B','cell_size':'1kB'}"));
    check_encoded(IMPAIR("'slot':{'min':'1ms'}"), OUT("'slot':{'min':'1ms','max':'1ms'}"));
    check_encoded(IMPAIR("'slot':{'min':'0ms','max':'1ms'}"),
                  OUT("'slot':{'min':'0s','max':'1ms'}"));
    check_encoded(IMPAIR("'slot':{'distribution':'pareto','delay':'1ms','jitter':'2ms',"
                         "'packets':3,'bytes':'4B'}"),
                  OUT("'slot':{'distribution':'pareto','delay':'1ms','jitter':'2ms','packets':3,"
                      "'bytes':'4B'}"));
    check_encoded(IMPAIR("'delay':'1ms','gap':5,'limit':7,'keep_order':false,'ecn':false"),
                  OUT("'delay':'1ms','reorder':'100%','gap':5,'limit':7"));
    check_encoded("{'topology':'pair','backend':'user','impair':{'delay':'1ms','b->a':{'delay':"
                  "'2ms'},'a->b':{}}}",
                  "{'topology':'pair','backend':'user','impair':{'delay':'1ms','a->b':{},'b->a':{"
                  "'delay':'2ms'}}," TAIL);
}

static void every_share_reads_back_from_its_text(void **state)
{
    struct arena arena = ARENA_INIT;
    char text[NET_SHARE_TEXT];
    uint32_t scaled = 1;

    (void)state;
    for (int i = 0; i < 200000; i++, scaled = scaled * 2654435761U + 12345) {
        uint32_t near = i % 3 == 0   ? scaled
                        : i % 3 == 1 ? scaled >> (scaled & 31)
                                     : ~(scaled >> 16);

        net_share_format(near, text);
        assert_int_equal(net_share_of(strtod(text, NULL) / 100, &arena).scaled, near);
    }
    net_share_format(UINT32_MAX, text);
    assert_string_equal(text, "100%");
    net_share_format(0, text);
    assert_string_equal(text, "0%");
    net_share_format(4294967, text);
    assert_string_equal(text, "0.1%");
    arena_release(&arena);
}

/* ---- refusals ---- */

static void what_makes_no_sense_is_refused_with_its_place(void **state)
{
    static const struct refusal bad[] = {
        {"{'topolgy':'pair'}", "topology"},
        {"{'topology':'ring'}", "$.topology"},
        {"{'topology':'host'}", "loopback, pair"},
        {"{'backend':'tc'}", "auto, kernel, user"},
        {"{'bound':{'lateness':'1ms'}}", "lateness_p99"},
        {"{'bound':{'lateness_p99':'2s'}}", "out of range"},
        {"{'impair':'delay 1ms'}", "$.impair"},
        {IMPAIR("'dealy':'1ms'"), "delay"},
        {IMPAIR("'delay':'-1ms'"), "negative"},
        {IMPAIR("'delay':'1'"), "unit is missing"},
        {IMPAIR("'delay':'61min'"), "at most 1h"},
        {IMPAIR("'jitter':'3s'"), "kernel's limit"},
        {IMPAIR("'loss':'101%'"), "$.impair.loss"},
        {IMPAIR("'loss':'100.0001%'"), "over 100%"},
        {IMPAIR("'loss':'1'"), "unit is missing"},
        {IMPAIR("'loss':1"), "$.impair.loss"},
        {IMPAIR("'loss':{}"), "no loss model"},
        {IMPAIR("'loss':{'correlation':'1%'}"), "no loss model"},
        {IMPAIR("'loss':{'random':'1%','state':{'p13':'1%'}}"), "more than one loss model"},
        {IMPAIR("'loss':{'state':{'p13':'1%'},'correlation':'1%'}"), "only random loss"},
        {IMPAIR("'loss':{'state':{}}"), "p13"},
        {IMPAIR("'loss':{'state':{'p13':'1%','p12':'1%'}}"), "p12"},
        {IMPAIR("'loss':{'gemodel':{'p':'1%','h':'1%'}}"), "1-h"},
        {IMPAIR("'loss':{'gemodel':{'p':'1%','r':'200%'}}"), "$.impair.loss.gemodel.r"},
        {IMPAIR("'duplicate':'200%'"), "$.impair.duplicate"},
        {IMPAIR("'duplicate_correlation':'20%'"), "needs 'duplicate'"},
        {IMPAIR("'delay':'1ms','delay_correlation':'20%'"), "needs 'jitter'"},
        {IMPAIR("'reorder':'25%'"), "needs a delay"},
        {IMPAIR("'gap':5"), "needs a delay"},
        {IMPAIR("'delay':'1ms','reorder':'0%','gap':5"), "share of packets"},
        {IMPAIR("'delay':'1ms','gap':0"), "$.impair.gap"},
        {IMPAIR("'delay':'1ms','distribution':'normal'"), "needs a delay and a jitter"},
        {IMPAIR("'jitter':'1ms','distribution':'normal'"), "needs a delay and a jitter"},
        {IMPAIR("'delay':'1ms','jitter':'1ms','distribution':'../x'"), "cannot name"},
        {IMPAIR("'ecn':true"), "needs a loss"},
        {IMPAIR("'ecn':1"), "$.impair.ecn"},
        {IMPAIR("'rate':'7bit/s'"), "at least 8bit/s"},
        {IMPAIR("'rate':'5mbps'"), "rate"},
        {IMPAIR("'rate':{'packet_overhead':'1B'}"), "rate"},
        {IMPAIR("'rate':{'rate':'1Mbit/s','packet_overhead':'-43B'}"), "-42"},
        {IMPAIR("'rate':{'rate':'1Mbit/s','packet_overhead':'--4B'}"), "no size"},
        {IMPAIR("'rate':{'rate':'1Mbit/s','packet_overhead':14}"), "packet_overhead"},
        {IMPAIR("'rate':{'rate':'1Mbit/s','cell_size':'0B'}"), "1B to 65535B"},
        {IMPAIR("'rate':{'rate':'1Mbit/s','cell_overhead':'5B'}"), "needs 'cell_size'"},
        {IMPAIR("'rate':{'rate':'1Mbit/s','cell_size':'5B','cell_overhead':'-5B'}"), "leaves"},
        {IMPAIR("'slot':{}"), "min"},
        {IMPAIR("'slot':{'min':'2ms','max':'1ms'}"), "below its shortest"},
        {IMPAIR("'slot':{'min':'2ms','jitter':'1ms'}"), "wants 'min' and 'max'"},
        {IMPAIR("'slot':{'distribution':'normal','delay':'1ms'}"), "jitter"},
        {IMPAIR("'slot':{'distribution':'normal','delay':'1ms','jitter':'0ms'}"), "needs a jitter"},
        {IMPAIR("'slot':{'min':'2ms','packets':0}"), "$.impair.slot.packets"},
        {IMPAIR("'limit':0"), "$.impair.limit"},
        {IMPAIR("'limit':'10'"), "$.impair.limit"},
        {IMPAIR("'sender->receiver':{}"), "topology 'pair'"},
        {"{'topology':'pair','impair':{'sender->':{}}}", "no direction"},
        {"{'topology':'pair','impair':{'a->b->c':{}}}", "no direction"},
        {"{'topology':'pair','impair':{'a->a':{}}}", "two different roles"},
        {"{'topology':'pair','impair':{'a->b':{'b->a':{}}}}", "b->a"},
        {"{'topology':'pair','impair':{'a->b':{'loss':'x%'}}}", "loss"},
    };

    (void)state;
    check_refused(decode, bad, sizeof(bad) / sizeof(bad[0]));
}

static void jitter_above_the_delay_is_allowed(void **state)
{
    (void)state;
    check_taken(decode, IMPAIR("'delay':'1ms','jitter':'5ms'"));
    check_taken(decode, IMPAIR("'jitter':'5ms'"));
}

/* ---- what is really lost ---- */

static double effective(const char *words, double *asked)
{
    struct arena arena = ARENA_INIT;
    struct err err = {0};
    struct net_impair impair;
    double share;

    if (net_impair_parse_words(&impair, words, &arena, &err) < 0)
        fail_msg("%s: %s", words, err.msg);
    share = net_loss_effective(&impair.loss, asked);
    arena_release(&arena);
    return share;
}

static void correlation_takes_most_of_a_random_loss_away(void **state)
{
    double asked;

    (void)state;
    /* by hand: F(0.1) = G(0.4) / 3; G(1/4) = 0.0125, F(1/4) = 1/6, and F rises by 4/3 from there */
    check_near(effective("loss 10% 25%", &asked), 0.0175, 2e-6);
    check_near(asked, 0.1, 1e-9);
    /* measured with the kernel's arithmetic over 20,000,000 packets each */
    check_near(effective("loss 1% 25%", NULL), 0.0000024, 1e-6);
    check_near(effective("loss 30% 50%", NULL), 0.1295, 3e-4);
    check_near(effective("loss 40% 90%", NULL), 0.0663, 3e-4);
    check_near(effective("loss 60% 25%", NULL), 0.6333, 3e-4);
    check_near(effective("loss 50% 75%", NULL), 0.5, 1e-6);
}

static void a_loss_without_correlation_is_what_was_asked(void **state)
{
    double asked;

    (void)state;
    check_near(effective("loss 0.1%", &asked), 0.001, 1e-9);
    check_near(asked, 0.001, 1e-9);
    check_near(effective("loss 100%", NULL), 1, 1e-9);
    check_near(effective("loss 100% 30%", NULL), 1, 1e-9);
    check_near(effective("loss 20% 100%", NULL), 0.2, 1e-9);
    check_near(effective("delay 1ms", &asked), 0, 0);
    check_near(asked, 0, 0);
}

static void markov_models_lose_by_their_stationary_distribution(void **state)
{
    (void)state;
    /* p / (p + r) in the bad state: 1/11 of the time, 70 % lost there, 0.1 % else */
    check_near(effective("loss gemodel 1% 10% 70% 0.1%", NULL), (0.7 + 0.001 * 10) / 11, 1e-8);
    check_near(effective("loss gemodel 1%", NULL), 0.01, 1e-8);
    check_near(effective("loss gemodel 0% 0%", NULL), 0, 0);
    /* two states: enters a burst with p13, leaves it with p31 */
    check_near(effective("loss state 2% 8%", NULL), 0.2, 1e-8);
    check_near(effective("loss state 1%", NULL), 0.01, 1e-8);
    check_near(effective("loss state 0%", NULL), 0, 0);
    /* isolated losses only: one in 1 + 1 / p14 */
    check_near(effective("loss state 0% 0% 0% 0% 25%", NULL), 0.2, 1e-8);
    check_near(effective("loss state 100% 0%", NULL), 1, 1e-8);
    /* measured over 20,000,000 packets with sums that wrap */
    check_near(effective("loss state 60% 60% 60% 50% 60%", NULL), 0.375, 2e-4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_network_does_not_say_has_its_default),
        cmocka_unit_test(an_impairment_is_read_in_full),
        cmocka_unit_test(a_direction_of_its_own_goes_before_the_common_impairment),
        cmocka_unit_test(markov_models_have_tcs_defaults),
        cmocka_unit_test(a_gap_alone_reorders_every_gap_th_packet),
        cmocka_unit_test(equal_networks_give_equal_text_that_reads_back),
        cmocka_unit_test(every_share_reads_back_from_its_text),
        cmocka_unit_test(what_makes_no_sense_is_refused_with_its_place),
        cmocka_unit_test(jitter_above_the_delay_is_allowed),
        cmocka_unit_test(correlation_takes_most_of_a_random_loss_away),
        cmocka_unit_test(a_loss_without_correlation_is_what_was_asked),
        cmocka_unit_test(markov_models_lose_by_their_stationary_distribution),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
