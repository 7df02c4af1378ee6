/*
 * net/netem: the bytes for the kernel against those that tc sends, and what comes back.
 */
#include "check.h"

#include <linux/netlink.h>
#include <linux/pkt_sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "net/netem.h"

struct sent {
    const char *words, *hex;
};

#include "tc_bytes.h"

#define BY_TC (sizeof(by_tc) / sizeof(by_tc[0]))
#define HEAD sizeof(struct tc_netem_qopt)
#define SEED 14

static unsigned digit(char c)
{
    return c <= '9' ? (unsigned)(c - '0') : (unsigned)(c - 'a' + 10);
}

static size_t bytes_of(const char *hex, unsigned char *out)
{
    size_t n = strlen(hex) / 2;

    for (size_t i = 0; i < n; i++)
        out[i] = (unsigned char)(digit(hex[2 * i]) << 4 | digit(hex[2 * i + 1]));
    return n;
}

static struct net_impair parsed(const char *words, struct arena *arena)
{
    struct net_impair impair;
    struct err err;

    memset(&impair, 0, sizeof(impair));
    if (net_impair_parse_words(&impair, words, arena, &err) < 0)
        fail_msg("'%s': %s", words, err.msg);
    return impair;
}

static unsigned char own[65536];

static size_t encoded(const char *words, struct netem_figures *f, struct arena *arena)
{
    struct net_impair impair = parsed(words, arena);
    struct fate_table delay = {NULL, 0}, slot = {NULL, 0};
    struct err err;
    size_t len;

    netem_figures_of(f, &impair, 7, impair.limit ? impair.limit : 1000);
    if (impair.distribution && fate_table_read(&delay, impair.distribution, arena, &err) < 0)
        fail_msg("%s", err.msg);
    if (impair.slot.distribution &&
        fate_table_read(&slot, impair.slot.distribution, arena, &err) < 0)
        fail_msg("%s", err.msg);
    len = netem_encode(f, &delay, &slot, own, sizeof(own));
    assert_true(len > 0);
    return len;
}

/* The attribute's payload and what of it is there; NULL if it is not. */
static const unsigned char *find(const unsigned char *bytes, size_t len, unsigned type,
                                 size_t *payload_len, size_t *present)
{
    struct nlattr attr;

    for (size_t at = HEAD; at + sizeof(attr) <= len; at += NLMSG_ALIGN((size_t)attr.nla_len)) {
        memcpy(&attr, bytes + at, sizeof(attr));
        assert_true(attr.nla_len >= sizeof(attr));
        *payload_len = attr.nla_len - sizeof(attr);
        *present = len - at - sizeof(attr) < *payload_len ? len - at - sizeof(attr) : *payload_len;
        if (attr.nla_type == type)
            return bytes + at + sizeof(attr);
    }
    return NULL;
}

static bool all_zero(const unsigned char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i])
            return false;
    return true;
}

static void compare_attr(const struct sent *s, const unsigned char *tc, size_t tc_len,
                         size_t own_len, unsigned type)
{
    size_t want_len = 0, want_here = 0, got_len = 0, got_here = 0;
    const unsigned char *want = find(tc, tc_len, type, &want_len, &want_here);
    const unsigned char *got = find(own, own_len, type, &got_len, &got_here);

    if (!want && got)
        fail_msg("'%s': attribute %u, which tc does not send", s->words, type);
    if (!want || (!got && all_zero(want, want_here)))
        return;
    if (!got || got_len != want_len || memcmp(got, want, want_here) != 0)
        fail_msg("'%s': attribute %u differs from tc's", s->words, type);
}

static void every_parameter_is_sent_as_tc_sends_it(void **state)
{
    static unsigned char tc[4096];
    struct arena arena = ARENA_INIT;
    struct netem_figures f;

    (void)state;
    for (size_t i = 0; i < BY_TC; i++) {
        size_t own_len = encoded(by_tc[i].words, &f, &arena);
        size_t tc_len = bytes_of(by_tc[i].hex, tc);

        if (memcmp(own, tc, HEAD) != 0)
            fail_msg("'%s': the head differs from tc's", by_tc[i].words);
        for (unsigned type = 1; type < SEED; type++)
            if (type != TCA_NETEM_LATENCY64 && type != TCA_NETEM_JITTER64) /* a newer tc's */
                compare_attr(&by_tc[i], tc, tc_len, own_len, type);
        compare_attr(&by_tc[i], tc, tc_len, own_len, TCA_NETEM_LOSS | NLA_F_NESTED);
    }
    arena_release(&arena);
}

static void times_of_64_bits_and_the_seed_are_sent_too(void **state)
{
    struct arena arena = ARENA_INIT;
    struct netem_figures f;
    size_t len = encoded("delay 7s 2s", &f, &arena);
    size_t payload, here;
    int64_t ns;
    uint64_t seed;

    (void)state;
    memcpy(&ns, find(own, len, TCA_NETEM_LATENCY64, &payload, &here), sizeof(ns));
    assert_int_equal(ns, 7000000000);
    memcpy(&ns, find(own, len, TCA_NETEM_JITTER64, &payload, &here), sizeof(ns));
    assert_int_equal(ns, 2000000000);
    memcpy(&seed, find(own, len, SEED, &payload, &here), sizeof(seed));
    assert_int_equal(seed, 7);
    arena_release(&arena);
}

static void what_was_sent_reads_back_equal(void **state)
{
    struct arena arena = ARENA_INIT;
    struct netem_figures asked, found;
    struct err err;

    (void)state;
    for (size_t i = 0; i < BY_TC; i++) {
        size_t len = encoded(by_tc[i].words, &asked, &arena);

        if (netem_decode(&found, own, len, &err) < 0 || netem_compare(&asked, &found, &err) < 0)
            fail_msg("'%s': %s", by_tc[i].words, err.msg);
    }
    arena_release(&arena);
}

static void a_figure_that_the_kernel_changed_is_named(void **state)
{
    struct arena arena = ARENA_INIT;
    struct netem_figures asked, found;
    struct err err;

    (void)state;
    encoded("delay 20ms loss 1% rate 1mbit", &asked, &arena);
    found = asked;
    found.loss--;
    assert_int_equal(netem_compare(&asked, &found, &err), -1);
    assert_int_equal(err.code, ERR_MEASURE);
    assert_non_null(strstr(err.msg, "loss"));
    found = asked;
    found.limit = 1;
    assert_int_equal(netem_compare(&asked, &found, &err), -1);
    assert_non_null(strstr(err.msg, "limit 1 where"));
    found = asked;
    found.seed++;
    assert_int_equal(netem_compare(&asked, &found, &err), -1);
    found.has_seed = false; /* an old kernel shows none: said elsewhere */
    assert_int_equal(netem_compare(&asked, &found, &err), 0);
    arena_release(&arena);
}

static void a_message_that_is_cut_anywhere_is_no_crash(void **state)
{
    struct arena arena = ARENA_INIT;
    struct netem_figures f;
    struct err err;
    size_t len =
        encoded("delay 1ms 1ms 5% loss gemodel 1% 2% 3% 4% reorder 5% corrupt 1% rate 9gbit "
                "slot 1ms 2ms ecn",
                &f, &arena);

    (void)state;
    for (size_t cut = 0; cut < len; cut++) {
        unsigned char *part = xmalloc(cut ? cut : 1); /* its own block: a sanitizer sees its end */

        memcpy(part, own, cut);
        netem_decode(&f, part, cut, &err);
        free(part);
    }
    assert_int_equal(netem_decode(&f, own, HEAD - 1, &err), -1);
    own[HEAD] = 1; /* an attribute shorter than its own head */
    own[HEAD + 1] = 0;
    assert_int_equal(netem_decode(&f, own, len, &err), -1);
    arena_release(&arena);
}

static void tables_that_do_not_fit_a_message_are_refused(void **state)
{
    static int16_t values[FATE_TABLE_MAX];
    struct fate_table full = {values, FATE_TABLE_MAX};
    struct netem_figures f;

    (void)state;
    memset(&f, 0, sizeof(f));
    assert_int_equal(netem_encode(&f, &full, &full, own, 0xf000), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_parameter_is_sent_as_tc_sends_it),
        cmocka_unit_test(times_of_64_bits_and_the_seed_are_sent_too),
        cmocka_unit_test(what_was_sent_reads_back_equal),
        cmocka_unit_test(a_figure_that_the_kernel_changed_is_named),
        cmocka_unit_test(a_message_that_is_cut_anywhere_is_no_crash),
        cmocka_unit_test(tables_that_do_not_fit_a_message_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
