/* Fate: the decisions of sch_netem for each packet, against sequences computed apart from it. */
#include "check.h"

#include "base/err.h"
#include "base/files.h"
#include "base/mem.h"
#include "net/fate.h"

#include <stdlib.h>
#include <string.h>

#define SECOND 1000000000LL

/* ---- the random stream ---- */

static void stream_is_the_kernels_for_small_and_large_seeds(void **state)
{
    static const struct {
        uint64_t seed;
        uint32_t first[6];
    } streams[] = {
        {0, {1574944, 268744, 1109394980, 8552980, 826355289, 2421007874}},
        {1, {276959246, 18909696, 2298495022, 9442690, 3222971081, 2202869889}},
        {42, {3053367555, 794645456, 722109529, 489076602, 564259759, 537591597}},
        {0x0123456789abcdef,
         {1976660935, 2350886939, 2896332784, 2170846020, 491273907, 1741709839}},
        {UINT64_MAX, {260173829, 14711295, 2030026778, 7343233, 3220595128, 2126831743}},
    };
    struct fate_random r;

    (void)state;
    for (size_t i = 0; i < sizeof(streams) / sizeof(streams[0]); i++) {
        fate_random_seed(&r, streams[i].seed);
        for (int k = 0; k < 6; k++)
            assert_int_equal(fate_random_next(&r), streams[i].first[k]);
    }
}

static void correlated_numbers_are_averages_in_whole_numbers(void **state)
{
    struct fate_random r, same;
    struct fate_correlated c = {1000, 0x40000000};
    struct fate_correlated none = {1000, 0}, stuck = {1000, UINT32_MAX};
    uint64_t fresh;

    (void)state;
    fate_random_seed(&r, 42);
    assert_int_equal(fate_correlated_next(NULL, &r), 3053367555U);
    assert_int_equal(fate_correlated_next(&none, &r), 794645456U);
    assert_int_equal(none.last, 1000);
    assert_int_equal(fate_correlated_next(&stuck, &r), 1000);
    fate_random_seed(&r, 42);
    same = r;
    fresh = fate_random_next(&same);
    assert_int_equal(fate_correlated_next(&c, &r),
                     (fresh * (0x100000000 - 0x40000001) + 1000ULL * 0x40000001) >> 32);
}

/* ---- whole sequences ---- */

struct known {
    const char *words; /* tc's, and abba's own keep_order */
    uint64_t seed;
    int64_t spacing_ns;
    bool ecn_capable;
    uint64_t counts[6]; /* lost, limit, duplicated, corrupted, reordered, marked */
    uint64_t digest;    /* of 20,000 packets' copies */
    uint64_t copies;
    struct {
        int packet;
        int64_t wait_ns;
        int flags; /* 1 at head, 2 corrupt, 4 marked */
    } first[10];
};

#include "fate_known.h"

#define PACKETS 20000

struct line {
    struct arena arena;
    struct net_impair impair;
    struct fate fate;
    struct fate_queue q;
    int64_t due_ns[2 * PACKETS]; /* of packets in the queue */
    uint64_t digest, copies;
    uint64_t left;
};

static struct line line; /* too large for a stack */

static void line_up(const char *words, uint64_t seed)
{
    struct err err = {0};
    char *plain;
    char *own;

    memset(&line, 0, sizeof(line));
    plain = arena_strdup(&line.arena, words);
    own = strstr(plain, " keep_order");
    if (own)
        *own = '\0';
    if (net_impair_parse_words(&line.impair, plain, &line.arena, &err) < 0)
        fail_msg("%s", err.msg);
    line.impair.keep_order = own != NULL;
    if (!line.impair.limit)
        line.impair.limit = INT32_MAX;
    if (fate_init(&line.fate, &line.impair, seed, 1330, &line.arena, &err) < 0)
        fail_msg("%s", err.msg);
    line.digest = 0xcbf29ce484222325;
    line.fate.delay.last = line.fate.loss.last = line.fate.duplicate.last = 0;
    line.fate.corrupt.last = line.fate.reorder.last = 0;
}

static void let_leave(int64_t now_ns)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < line.q.length; i++)
        if (line.due_ns[i] > now_ns)
            line.due_ns[kept++] = line.due_ns[i];
    line.left += line.q.length - kept;
    line.q.length = kept;
}

static void add_to_digest(int64_t number)
{
    uint64_t x = (uint64_t)number;

    for (int i = 0; i < 8; i++, x >>= 8)
        line.digest = (line.digest ^ (x & 255)) * 0x100000001b3;
}

static int flags_of(const struct fate_copy *c)
{
    return c->at_head + 2 * c->corrupt + 4 * c->ecn_mark;
}

static void send_all(const struct known *k)
{
    struct fate_copy copies[FATE_COPIES];

    for (int i = 0; i < PACKETS; i++) {
        int64_t now_ns = SECOND + i * k->spacing_ns;
        uint32_t bytes = 1330 + (uint32_t)(i % 3);
        uint32_t before;
        int count;

        let_leave(now_ns);
        before = line.q.length;
        count = fate_decide(&line.fate, now_ns, bytes, k->ecn_capable, &line.q, copies);
        assert_int_equal(line.q.length, before + (uint32_t)count);
        add_to_digest(count);
        for (int c = 0; c < count; c++, line.copies++) {
            line.due_ns[before + (uint32_t)c] = copies[c].due_ns;
            add_to_digest(copies[c].due_ns - now_ns);
            add_to_digest(flags_of(&copies[c]));
            assert_true(copies[c].bit < 8 * bytes);
            if (line.copies >= 10)
                continue;
            assert_int_equal(i, k->first[line.copies].packet);
            assert_int_equal(copies[c].due_ns - now_ns, k->first[line.copies].wait_ns);
            assert_int_equal(flags_of(&copies[c]), k->first[line.copies].flags);
        }
    }
}

static void check_counts(const struct known *k)
{
    const struct fate_counts *c = &line.fate.counts;

    assert_int_equal(c->offered, PACKETS);
    assert_int_equal(c->lost, k->counts[0]);
    assert_int_equal(c->limit, k->counts[1]);
    assert_int_equal(c->duplicated, k->counts[2]);
    assert_int_equal(c->corrupted, k->counts[3]);
    assert_int_equal(c->reordered, k->counts[4]);
    assert_int_equal(c->ecn_marked, k->counts[5]);
    assert_int_equal(c->offered + c->duplicated, c->lost + c->limit + line.left + line.q.length);
}

/* A small table of its own, so that nothing depends on what is installed. */
static char *own_tables(void)
{
    static char folder[] = "/tmp/abba-fate-XXXXXX";
    struct err err = {0};
    char path[64];
    static const char text[] = "# a comment\n -16384 -8192 -4096 -1\n\n0 1\t3000\n4096 8192 20000 "
                               "32767\n";

    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/steps.dist", folder);
    assert_int_equal(files_write_atomic(path, text, sizeof(text) - 1, &err), 0);
    setenv("TC_LIB_DIR", folder, 1);
    return folder;
}

static void every_model_decides_as_netem_does_for_20000_packets(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        line_up(known[i].words, known[i].seed);
        send_all(&known[i]);
        check_counts(&known[i]);
        if (line.digest != known[i].digest || line.copies != known[i].copies)
            fail_msg("'%s': %llu copies, digest %#llx", known[i].words,
                     (unsigned long long)line.copies, (unsigned long long)line.digest);
        arena_release(&line.arena);
    }
}

/* ---- by hand ---- */

static struct fate_copy decide_one(int64_t now_ns, uint32_t bytes)
{
    struct fate_copy copies[FATE_COPIES];

    assert_int_equal(fate_decide(&line.fate, now_ns, bytes, false, &line.q, copies), 1);
    return copies[0];
}

static void a_rate_spaces_packets_by_their_length(void **state)
{
    (void)state;
    line_up("delay 1ms rate 8mbit", 1); /* a byte a microsecond */
    assert_int_equal(decide_one(0, 1000).due_ns, 1000000 + 1000000);
    /* due 2 ms; the delay is spent waiting for the line */
    assert_int_equal(decide_one(0, 500).due_ns, 2000000 + 500000);
    line.q.length = 0;
    assert_int_equal(decide_one(0, 500).due_ns, 1000000 + 500000);
    /* a packet overdue in the queue: the line is free since then */
    line.q = (struct fate_queue){1, 5000000};
    assert_int_equal(decide_one(9000000, 100).due_ns, 9000000 + 1000000 + 100000);
    arena_release(&line.arena);
}

static void cells_are_filled_whole(void **state)
{
    (void)state;
    line_up("rate 8mbit 10 53 5", 1);
    assert_int_equal(decide_one(0, 43).due_ns, 58000);
    line.q.length = 0;
    assert_int_equal(decide_one(0, 44).due_ns, 2 * 58000);
    arena_release(&line.arena);
}

static void reordered_packets_are_every_gap_th_and_due_at_once(void **state)
{
    (void)state;
    line_up("delay 10ms reorder 100% gap 3", 1);
    for (int i = 0; i < 12; i++) {
        struct fate_copy c = decide_one(i * 1000, 100);

        assert_int_equal(c.at_head, i % 3 == 2);
        assert_int_equal(c.due_ns, i * 1000 + (i % 3 == 2 ? 0 : 10000000));
    }
    assert_int_equal(line.fate.counts.reordered, 4);
    arena_release(&line.arena);
}

static void a_full_queue_drops_a_packet_with_its_duplicate(void **state)
{
    struct fate_copy copies[FATE_COPIES];

    (void)state;
    line_up("delay 1s duplicate 100% limit 3", 1);
    assert_int_equal(fate_decide(&line.fate, 0, 100, false, &line.q, copies), 2);
    /* one place left: the duplicate takes it, and the original passes over the limit, as in netem
     */
    assert_int_equal(fate_decide(&line.fate, 0, 100, false, &line.q, copies), 2);
    assert_int_equal(fate_decide(&line.fate, 0, 100, false, &line.q, copies), 0);
    assert_int_equal(line.q.length, 4);
    assert_int_equal(line.fate.counts.limit, 2);
    assert_int_equal(line.fate.counts.duplicated, 3);
    arena_release(&line.arena);
}

static void a_mark_on_the_duplicate_shows_on_the_original_they_share_data(void **state)
{
    struct fate_copy copies[FATE_COPIES];

    (void)state;
    line_up("loss 100% ecn duplicate 100%", 1);
    assert_int_equal(fate_decide(&line.fate, 0, 100, true, &line.q, copies), 2);
    assert_true(copies[0].ecn_mark && copies[1].ecn_mark);
    assert_int_equal(line.fate.counts.ecn_marked, 2);
    assert_int_equal(line.fate.counts.lost, 0);
    /* not marked but lost: one of the two, so that one goes on */
    assert_int_equal(fate_decide(&line.fate, 0, 100, false, &line.q, copies), 1);
    assert_int_equal(line.fate.counts.lost, 1);
    arena_release(&line.arena);
}

static void sums_of_shares_wrap_at_32_bits(void **state)
{
    struct fate_copy copies[FATE_COPIES];

    (void)state;
    /* p13 + p14 wraps to 1/4 of the range, below p14: the second test can never hold */
    line_up("loss state 75% 0% 0% 0% 50%", 7);
    for (int i = 0; i < 1000; i++) {
        fate_decide(&line.fate, 0, 100, false, &line.q, copies);
        assert_true(line.fate.loss_state == 1 || line.fate.loss_state == 4);
    }
    arena_release(&line.arena);
}

static void the_same_seed_repeats_and_another_does_not(void **state)
{
    struct fate_copy first[64], again[64];
    int other = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        line_up("delay 20ms 5ms 50% corrupt 100%", seed == 3 ? 2 : 1);
        struct err err = {0};
        assert_int_equal(
            fate_init(&line.fate, &line.impair, seed == 3 ? 2 : 1, 1330, &line.arena, &err), 0);
        for (int i = 0; i < 64; i++)
            (seed == 1 ? first : again)[i] = decide_one(0, 1330);
        for (int i = 0; seed == 2 && i < 64; i++)
            assert_true(first[i].due_ns == again[i].due_ns && first[i].bit == again[i].bit);
        for (int i = 0; seed == 3 && i < 64; i++)
            other += first[i].due_ns != again[i].due_ns && first[i].bit != again[i].bit;
        arena_release(&line.arena);
    }
    assert_true(other > 60);
}

/* ---- slots ---- */

static void without_slots_a_packet_leaves_when_due(void **state)
{
    (void)state;
    line_up("delay 1ms", 1);
    assert_int_equal(fate_release_ns(&line.fate, 0, 1000000, 100), 1000000);
    assert_int_equal(fate_release_ns(&line.fate, 2000000, 1000000, 100), 1000000);
    arena_release(&line.arena);
}

static void a_slot_holds_packets_until_it_opens_and_lets_its_budget_pass(void **state)
{
    (void)state;
    line_up("slot 10ms packets 2", 1);
    /* the first packet finds the slot of long ago passed and waits for the next */
    assert_int_equal(fate_release_ns(&line.fate, SECOND, SECOND, 100), SECOND + 10000000);
    assert_true(fate_release_ns(&line.fate, SECOND + 10000000, SECOND, 100) <= SECOND + 10000000);
    assert_true(fate_release_ns(&line.fate, SECOND + 10000000, SECOND, 100) <= SECOND + 10000000);
    /* two have passed */
    assert_int_equal(fate_release_ns(&line.fate, SECOND + 10000000, SECOND, 100),
                     SECOND + 20000000);
    arena_release(&line.arena);
}

static void a_slot_counts_bytes(void **state)
{
    (void)state;
    line_up("slot 10ms bytes 250", 1);
    assert_int_equal(fate_release_ns(&line.fate, SECOND, SECOND, 100), SECOND + 10000000);
    for (int i = 0; i < 3; i++)
        assert_true(fate_release_ns(&line.fate, SECOND + 10000000, SECOND, 100) <=
                    SECOND + 10000000);
    assert_int_equal(fate_release_ns(&line.fate, SECOND + 10000000, SECOND, 100),
                     SECOND + 20000000);
    arena_release(&line.arena);
}

static void slots_keep_between_their_waits(void **state)
{
    int64_t low = INT64_MAX, high = 0;

    (void)state;
    line_up("slot 10ms 20ms packets 1", 1);
    for (int64_t now = SECOND, i = 0; i < 1000; i++) {
        int64_t open = fate_release_ns(&line.fate, now, now, 100);

        low = open - now < low ? open - now : low;
        high = open - now > high ? open - now : high;
        assert_true(fate_release_ns(&line.fate, open, now, 100) <= open);
        now = open + 30000000; /* past the slot that opened then */
    }
    assert_true(low >= 10000000 && low < 10100000);
    assert_true(high <= 20000000 && high > 19900000);
    arena_release(&line.arena);
}

/* ---- limits and tables ---- */

static void limits_follow_rate_and_delay_and_are_never_below_tcs(void **state)
{
    struct net_impair impair = {.delay_ns = 80000000, .jitter_ns = 20000000};

    (void)state;
    assert_int_equal(fate_limit(&impair, 320000000, 1330), 4511);
    assert_int_equal(fate_limit(&impair, 1000000, 1330), 1000);
    assert_int_equal(fate_limit(&impair, 0, 1330), 30000);
    assert_int_equal(fate_limit(&impair, UINT64_MAX, 1), INT32_MAX);
    assert_int_equal(fate_limit(&impair, 320000000, 0), 6000000);
}

static int read_table(const char *text, size_t len, struct fate_table *t, struct err *err,
                      struct arena *arena)
{
    char path[128];

    snprintf(path, sizeof(path), "%s/made.dist", getenv("TC_LIB_DIR"));
    if (files_write_atomic(path, text, len, err) < 0)
        fail_msg("%s", err->msg);
    *err = (struct err){0};
    return fate_table_read(t, "made", arena, err);
}

static void malformed_tables_are_refused_with_file_and_line(void **state)
{
    static const struct {
        const char *text;
        size_t len;
        const char *says;
    } bad[] = {
        {"# nothing\n", 10, "no numbers"},
        {"1 2\n3 x\n", 8, "line 2: not a number"},
        {"1 2\n3x\n", 7, "line 2: not a number"},
        {"1\n\n40000\n", 9, "line 3: 40000 is out of -32768 .. 32767"},
        {"99999999999999999999999999\n", 27, "line 1: 999999999999999999999999 is out of"},
        {"1\0 2\n", 5, "not a text file"},
        {"", 0, "no numbers"},
    };
    struct arena arena = ARENA_INIT;
    struct fate_table t;

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct err err = {0};

        assert_int_equal(read_table(bad[i].text, bad[i].len, &t, &err, &arena), -1);
        assert_int_equal(err.code, ERR_CONFIG);
        if (!strstr(err.msg, bad[i].says) || !strstr(err.msg, "made.dist'"))
            fail_msg("%s", err.msg);
    }
    arena_release(&arena);
}

static void a_table_holds_no_more_than_the_kernel_takes(void **state)
{
    struct arena arena = ARENA_INIT;
    char *text = xmalloc(2 * (FATE_TABLE_MAX + 1));
    struct err err = {0};
    struct fate_table t;

    (void)state;
    memset(text, '1', 2 * (FATE_TABLE_MAX + 1));
    for (int i = 0; i <= FATE_TABLE_MAX; i++)
        text[2 * i + 1] = ' ';
    assert_int_equal(read_table(text, 2 * FATE_TABLE_MAX, &t, &err, &arena), 0);
    assert_int_equal(t.count, FATE_TABLE_MAX);
    assert_int_equal(read_table(text, 2 * (FATE_TABLE_MAX + 1), &t, &err, &arena), -1);
    assert_non_null(strstr(err.msg, "more than 16384 numbers"));
    free(text);
    arena_release(&arena);
}

static void a_missing_table_says_where_tables_come_from(void **state)
{
    static const char *const names[] = {"nosuch", "../steps", ".steps", "/steps"};
    struct arena arena = ARENA_INIT;
    struct fate_table t;

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        struct err err = {0};

        assert_int_equal(fate_table_read(&t, names[i], &arena, &err), -1);
        assert_int_equal(err.code, ERR_CONFIG);
        assert_non_null(strstr(err.hint, "iproute2"));
    }
    arena_release(&arena);
}

static void check_shape(const char *name, double mean, double sd, bool *any)
{
    struct arena arena = ARENA_INIT;
    struct err err = {0};
    struct fate_table t;
    double sum = 0, squares = 0;

    if (fate_table_read(&t, name, &arena, &err) < 0)
        return;
    *any = true;
    assert_int_equal(t.count, 4096);
    for (size_t i = 0; i < t.count; i++)
        sum += t.values[i] / 8192.0, squares += t.values[i] / 8192.0 * (t.values[i] / 8192.0);
    check_near(sum / 4096, mean, 0.0006);
    check_near(sqrt(squares / 4096 - sum / 4096 * (sum / 4096)), sd, 0.0006);
    arena_release(&arena);
}

static void installed_tables_have_their_known_mean_and_deviation(void **state)
{
    bool any = false;
    char *own = xstrdup(getenv("TC_LIB_DIR"));

    (void)state;
    unsetenv("TC_LIB_DIR");
    check_shape("normal", -0.001, 1.000, &any);
    check_shape("pareto", -0.034, 0.820, &any);
    check_shape("paretonormal", -0.025, 0.834, &any);
    setenv("TC_LIB_DIR", own, 1);
    free(own);
    if (!any)
        skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stream_is_the_kernels_for_small_and_large_seeds),
        cmocka_unit_test(correlated_numbers_are_averages_in_whole_numbers),
        cmocka_unit_test(every_model_decides_as_netem_does_for_20000_packets),
        cmocka_unit_test(a_rate_spaces_packets_by_their_length),
        cmocka_unit_test(cells_are_filled_whole),
        cmocka_unit_test(reordered_packets_are_every_gap_th_and_due_at_once),
        cmocka_unit_test(a_full_queue_drops_a_packet_with_its_duplicate),
        cmocka_unit_test(a_mark_on_the_duplicate_shows_on_the_original_they_share_data),
        cmocka_unit_test(sums_of_shares_wrap_at_32_bits),
        cmocka_unit_test(the_same_seed_repeats_and_another_does_not),
        cmocka_unit_test(without_slots_a_packet_leaves_when_due),
        cmocka_unit_test(a_slot_holds_packets_until_it_opens_and_lets_its_budget_pass),
        cmocka_unit_test(a_slot_counts_bytes),
        cmocka_unit_test(slots_keep_between_their_waits),
        cmocka_unit_test(limits_follow_rate_and_delay_and_are_never_below_tcs),
        cmocka_unit_test(malformed_tables_are_refused_with_file_and_line),
        cmocka_unit_test(a_table_holds_no_more_than_the_kernel_takes),
        cmocka_unit_test(a_missing_table_says_where_tables_come_from),
        cmocka_unit_test(installed_tables_have_their_known_mean_and_deviation),
    };
    char *folder = own_tables();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    struct err err = {0};

    files_remove_tree(folder, &err);
    return failed;
}
