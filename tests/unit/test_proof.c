/*
 * net/proof: intervals and checks; net/snmp: counters out of the kernel's tables; why namespaces
 * are forbidden.
 */
#include "check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.h"
#include "base/mem.h"
#include "net/namespace.h"
#include "net/proof.h"
#include "net/snmp.h"

/* ---- intervals ---- */

static double below(uint64_t n, double p, uint64_t k) /* P(X < k), term by term */
{
    double sum = 0, term = pow(1 - p, (double)n);

    for (uint64_t i = 0; i < k; i++) {
        sum += term;
        term *= (double)(n - i) / (double)(i + 1) * p / (1 - p);
    }
    return sum;
}

static void the_interval_leaves_a_millionth_on_each_side(void **state)
{
    static const struct {
        uint64_t n;
        double p;
    } cases[] = {{10, 0.5}, {100, 0.01}, {1000, 0.1}, {500, 0.3}, {20000, 0.001}};
    uint64_t low, high;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint64_t n = cases[i].n;
        double p = cases[i].p;

        proof_binomial(n, p, &low, &high);
        assert_true(below(n, p, low) <= 1e-6);
        assert_true(below(n, p, low + 1) > 1e-6);
        assert_true(1 - below(n, p, high + 1) <= 1e-6 + 1e-12);
        assert_true(1 - below(n, p, high) > 1e-6 - 1e-12);
    }
}

static void certain_events_have_one_count(void **state)
{
    uint64_t low, high;

    (void)state;
    proof_binomial(1000, 0, &low, &high);
    assert_int_equal(low, 0);
    assert_int_equal(high, 0);
    proof_binomial(1000, 1, &low, &high);
    assert_int_equal(low, 1000);
    assert_int_equal(high, 1000);
    proof_binomial(0, 0.5, &low, &high);
    assert_int_equal(high, 0);
}

static void millions_of_packets_have_an_interval_about_the_mean(void **state)
{
    uint64_t low, high;

    (void)state;
    proof_binomial(10000000, 0.01, &low, &high);
    assert_in_range(low, 98400, 98600); /* 100000 - 4.75 * 314.6 = 98504 */
    assert_in_range(high, 101400, 101600);
}

static struct net_impair losing(const char *words, struct arena *arena)
{
    struct net_impair impair;
    struct err err;

    memset(&impair, 0, sizeof(impair));
    assert_int_equal(net_impair_parse_words(&impair, words, arena, &err), 0);
    return impair;
}

static void a_chain_of_bursts_varies_more_than_a_coin(void **state)
{
    struct net_flow_proof burst = {.offered = 100000}, coin = {.offered = 100000};
    struct arena arena = ARENA_INIT;
    struct net_impair impair = losing("loss gemodel 1% 9%", &arena); /* 10 % lost */

    (void)state;
    proof_loss_interval(&burst, &impair, false);
    impair = losing("loss 10%", &arena);
    proof_loss_interval(&coin, &impair, false);
    assert_true(burst.has_loss_interval && coin.has_loss_interval);
    /* variance 0.09 * (1 + 2 * 0.9 / 0.1) = 1.71 a packet: sd 413.5, 4.753 of them 1966 */
    assert_in_range(burst.lost_low, 8000, 8034);
    assert_in_range(burst.lost_high, 11966, 12000);
    assert_in_range(coin.lost_low, 9540, 9570);
    arena_release(&arena);
}

static void what_cannot_be_said_is_not_said(void **state)
{
    static const char *const silent[] = {"loss 10% 25%", "loss 10% ecn", "loss state 10% 30%"};
    struct net_flow_proof flow = {.offered = 1000};
    struct arena arena = ARENA_INIT;
    struct net_impair impair;

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        impair = losing(silent[i], &arena);
        proof_loss_interval(&flow, &impair, false);
        assert_false(flow.has_loss_interval);
    }
    impair = losing("loss 10% limit 5", &arena);
    proof_loss_interval(&flow, &impair, true); /* the kernel counts both as drops */
    assert_false(flow.has_loss_interval);
    proof_loss_interval(&flow, &impair, false);
    assert_true(flow.has_loss_interval);
    flow.offered = NET_UNKNOWN;
    proof_loss_interval(&flow, &impair, false);
    assert_false(flow.has_loss_interval);
    arena_release(&arena);
}

/* ---- checks ---- */

static const struct net_flow_proof good = {.link = "lo",
                                           .offered = 100,
                                           .duplicated = 2,
                                           .delivered = 90,
                                           .lost = 8,
                                           .limit = 1,
                                           .queued = 3,
                                           .late_p50_ns = 1000,
                                           .late_p99_ns = 2000000,
                                           .has_loss_interval = true,
                                           .lost_low = 1,
                                           .lost_high = 20};
static const struct net_bound bound = {.lateness_p99_ns = 2000000};

static void expect(struct net_flow_proof flow, bool kernel, const char *part)
{
    struct arena arena = ARENA_INIT;
    const char *failed = proof_check(&flow, &bound, kernel, &arena);

    if (!part && failed)
        fail_msg("'%s', but nothing is wrong", failed);
    if (part && (!failed || !strstr(failed, part)))
        fail_msg("'%s' does not say '%s'", failed ? failed : "(passed)", part);
    arena_release(&arena);
}

static void each_broken_promise_is_named(void **state)
{
    struct net_flow_proof flow = good;

    (void)state;
    expect(flow, false, NULL);
    flow.delivered--;
    expect(flow, false, "102 packets offered or duplicated, but 101");
    flow = good;
    flow.unplanned = 4;
    expect(flow, false, "4 packets were dropped that nobody asked to lose");
    flow = good;
    flow.late_p99_ns = 2500000;
    expect(flow, false, "could not keep up: lateness p99 2.5 ms, bound 2 ms");
    flow.late_p99_ns = -1;
    expect(flow, false, "no lateness");
    flow = good;
    flow.lost_high = 7;
    expect(flow, false, "8 packets lost, where the model allows 1 to 7");
    flow.lost_high = 20;
    flow.late_p99_ns = -1;
    expect(flow, true, NULL); /* the kernel measures no lateness */
}

/* ---- counters ---- */

static const char snmp[] =
    "Ip: Forwarding DefaultTTL\nIp: 1 64\n"
    "Tcp: RtoAlgorithm RetransSegs InErrs\nTcp: 1 17 2\n"
    "Udp: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors SndbufErrors InCsumErrors\n"
    "Udp: 1 2 3 4 5 6 7\n"
    "UdpLite: InDatagrams InErrors\nUdpLite: 90 91\n";
static const char snmp6[] =
    "Udp6InDatagrams\t50\nUdp6InErrors          \t30\nUdp6RcvbufErrors \t 50\n"
    "Udp6SndbufErrors\t60\nUdp6InCsumErrors\t70\n";

static void counters_of_both_families_are_added(void **state)
{
    struct net_counters c;
    struct err err;

    (void)state;
    assert_int_equal(snmp_parse(&c, snmp, snmp6, &err), 0);
    assert_int_equal(c.udp_in_errors, 33);
    assert_int_equal(c.udp_rcvbuf_errors, 55);
    assert_int_equal(c.udp_sndbuf_errors, 66);
    assert_int_equal(c.udp_csum_errors, 77);
    assert_int_equal(c.tcp_retransmits, 17);
    assert_int_equal(snmp_parse(&c, snmp, NULL, &err), 0);
    assert_int_equal(c.udp_in_errors, 3);
}

static void a_counter_that_is_not_there_is_an_error(void **state)
{
    struct net_counters c;
    struct err err;

    (void)state;
    assert_int_equal(snmp_parse(&c, "Tcp: A\nTcp: 1\n", NULL, &err), -1);
    assert_int_equal(err.code, ERR_MEASURE);
    assert_non_null(strstr(err.msg, "InErrors"));
    assert_int_equal(snmp_parse(&c, snmp, "Udp6InErrors 3\n", &err), -1);
    assert_non_null(strstr(err.msg, "Udp6RcvbufErrors"));
    assert_int_equal(snmp_parse(&c, "", "", &err), -1);
    assert_int_equal(snmp_parse(&c, "Udp: InErrors", NULL, &err), -1);
}

static void this_kernel_has_the_counters(void **state)
{
    struct net_counters c;
    struct err err;

    (void)state;
    if (snmp_read(&c, &err) < 0)
        fail_msg("%s", err.msg);
}

/* ---- why not ---- */

static void write_proc(const char *root, const char *name, const char *text)
{
    struct arena arena = ARENA_INIT;
    char *path = arena_printf(&arena, "%s/proc/%s", root, name);
    struct err err;

    assert_int_equal(files_mkdirs(files_dirname(&arena, path), &err), 0);
    assert_int_equal(files_write_atomic(path, text, strlen(text), &err), 0);
    arena_release(&arena);
}

static void forbid(const char *root, const char *name, const char *value, struct arena *arena)
{
    write_proc(root, arena_printf(arena, "sys/%s", name), value);
}

static void expect_why(int sys_errno, const char *root, const char *says)
{
    struct arena arena = ARENA_INIT;
    const char *why = namespace_why_not(sys_errno, root, &arena).why;

    if (!strstr(why, says))
        fail_msg("found '%s', wanted '%s'", why, says);
    arena_release(&arena);
}

static void the_rule_that_forbids_namespaces_is_named(void **state)
{
    static const struct {
        const char *name, *bad, *good, *says, *mend;
    } rules[] = {
        {"kernel/apparmor_restrict_unprivileged_userns", "1\n", "0\n",
         "kernel.apparmor_restrict_unprivileged_userns is 1",
         "kernel.apparmor_restrict_unprivileged_userns=0"},
        {"kernel/unprivileged_userns_clone", "0\n", "1\n", "kernel.unprivileged_userns_clone is 0",
         "kernel.unprivileged_userns_clone=1"},
        {"user/max_user_namespaces", "0\n", "1000\n", "user.max_user_namespaces is 0",
         "user.max_user_namespaces=10000"},
    };
    char root[] = "/tmp/abba-proof-XXXXXX";
    struct arena arena = ARENA_INIT;
    struct err err;

    (void)state;
    assert_non_null(mkdtemp(root));
    for (size_t i = 0; i < 3; i++) {
        forbid(root, rules[i].name, rules[i].bad, &arena);
        assert_non_null(strstr(namespace_why_not(EPERM, root, &arena).why, rules[i].says));
        assert_non_null(strstr(namespace_why_not(EPERM, root, &arena).mend, rules[i].mend));
        forbid(root, rules[i].name, rules[i].good, &arena);
    }
    expect_why(ENOSPC, root, "used up");
    expect_why(EINVAL, root, "CONFIG_USER_NS");
    expect_why(EPERM, root, "not permitted");
    write_proc(root, "self/attr/current", "docker-default (enforce)\n");
    expect_why(EACCES, root, "AppArmor's profile 'docker-default (enforce)'");
    write_proc(root, "self/attr/current", "unconfined\n");
    expect_why(EACCES, root, "Permission denied");
    write_proc(root, "self/status", "Name:\tx\nSeccomp:\t2\n");
    expect_why(EPERM, root, "a seccomp filter");
    expect_why(ENOSYS, root, "a seccomp filter");
    files_remove_tree(root, &err);
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_interval_leaves_a_millionth_on_each_side),
        cmocka_unit_test(certain_events_have_one_count),
        cmocka_unit_test(millions_of_packets_have_an_interval_about_the_mean),
        cmocka_unit_test(a_chain_of_bursts_varies_more_than_a_coin),
        cmocka_unit_test(what_cannot_be_said_is_not_said),
        cmocka_unit_test(each_broken_promise_is_named),
        cmocka_unit_test(counters_of_both_families_are_added),
        cmocka_unit_test(a_counter_that_is_not_there_is_an_error),
        cmocka_unit_test(this_kernel_has_the_counters),
        cmocka_unit_test(the_rule_that_forbids_namespaces_is_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
