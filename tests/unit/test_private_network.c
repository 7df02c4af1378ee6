/*
 * net/network from its caller's side: up, traffic, down, what the proof says; bad ends.
 */
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/files.h"
#include "base/mem.h"
#include "net/namespace.h"
#include "net/network.h"
#include "sandbox.h"

static const char *const two[] = {"receiver", "sender"};

/* A case: a network and what is to be seen. */
struct wish {
    struct network network;
    struct net_request request;
};

static void ask_for(struct wish *w, enum net_topology topology, enum net_backend backend)
{
    memset(w, 0, sizeof(*w));
    w->network.topology = topology;
    w->network.backend = backend;
    w->network.bound.lateness_p99_ns = NSEC_PER_SEC; /* other processes run beside a test */
    w->request = (struct net_request){
        .network = &w->network, .roles = two, .role_count = 2, .user_ns = -1, .seeds = {11, 12}};
}

static void want_delay(struct wish *w, int64_t delay_ns)
{
    w->network.has_impair = true;
    w->network.impair.delay_ns = delay_ns;
}

/* As a role does: root enters the namespace; another first needs the keeper's user namespace, which
 * tests do not have, so they look from outside only. */
static const char *inside(const struct net *net, size_t role, const char *(*body)(void))
{
    struct err err;

    if (namespace_enter(network_fd(net, role), &err) < 0)
        return sandbox_say("%s", err.msg);
    return body();
}

static const char *talk(void)
{
    const char *text = sandbox_udp("127.0.0.1");

    if (!text)
        text = sandbox_tcp("::1", 200000);
    return text ? text : sandbox_tcp("10.213.0.1", 200000);
}

/* ---- loopback ---- */

static const char *plain(void *arg)
{
    struct arena arena = ARENA_INIT;
    struct net_proof proof;
    struct wish w;
    struct net *net;
    struct err err;
    const char *text;

    (void)arg;
    ask_for(&w, NET_LOOPBACK, NET_BACKEND_AUTO);
    if (network_up(&net, &w.request, &err) < 0)
        return sandbox_say("%s", err.msg);
    text = inside(net, 1, talk);
    if (text)
        return text;
    if (strcmp(network_address(net, 0), "127.0.0.1") != 0)
        return "another address than 127.0.0.1";
    if (network_down(net, &proof, &arena, &err) < 0)
        return sandbox_say("%s", err.msg);
    if (strcmp(proof.backend, "none") != 0 || proof.flow_count || proof.counter_count != 1)
        return sandbox_say("back end '%s', %zu flows", proof.backend, proof.flow_count);
    return proof.failed;
}

static const char *delayed(void *arg)
{
    struct arena arena = ARENA_INIT;
    struct net_proof proof;
    struct wish w;
    struct net *net;
    struct err err;
    int64_t begun_ns;
    const char *text;

    (void)arg;
    ask_for(&w, NET_LOOPBACK, NET_BACKEND_USER);
    want_delay(&w, 20 * NSEC_PER_MSEC);
    if (network_up(&net, &w.request, &err) < 0)
        return sandbox_say("%s; %s", err.msg, err.hint);
    begun_ns = clock_mono_ns();
    text = inside(net, 0, talk);
    if (text)
        return text;
    if (clock_mono_ns() - begun_ns < 140 * NSEC_PER_MSEC) /* 1 datagram and 2 x 1.5 round trips */
        return "packets came before their time";
    if (network_down(net, &proof, &arena, &err) < 0)
        return sandbox_say("%s", err.msg);
    if (proof.failed)
        return sandbox_say("%s", proof.failed);
    if (strcmp(proof.backend, "user") != 0 || proof.flow_count != 1 ||
        proof.flows[0].delivered < 20 || proof.flows[0].seed != 11 || !proof.flows[0].seeded ||
        strcmp(proof.flows[0].link, "lo") != 0)
        return sandbox_say("back end '%s', %zu flows, %lu delivered", proof.backend,
                           proof.flow_count, (unsigned long)proof.flows[0].delivered);
    if (!proof.flows[0].has_loss_interval || proof.flows[0].lost_high != 0)
        return "no packet may be lost, and that is not said";
    return NULL;
}

/* A normal user: the keeper makes a user namespace. */
static const char *from_outside(void *arg)
{
    struct arena arena = ARENA_INIT;
    struct net_proof proof;
    struct wish w;
    struct net *net;
    struct err err;

    ask_for(&w, arg ? NET_PAIR : NET_LOOPBACK, NET_BACKEND_USER);
    want_delay(&w, NSEC_PER_MSEC);
    if (network_up(&net, &w.request, &err) < 0)
        return sandbox_say("%s; %s", err.msg, err.hint);
    if (network_down(net, &proof, &arena, &err) < 0)
        return sandbox_say("%s", err.msg);
    if (proof.failed)
        return sandbox_say("%s", proof.failed);
    return proof.flow_count == (arg ? 2u : 1u) ? NULL : "wrong number of flows";
}

/* A user namespace that lives as long as its one process: as the series' own does. */
static const char *make_user_namespace(int *fd, pid_t *holder)
{
    char path[64], byte;
    int said[2];

    if (pipe(said) < 0)
        return "no pipe";
    *holder = fork();
    if (*holder == 0) {
        struct err err;
        bool made = namespace_permit(-1, &err) == 0;

        prctl(PR_SET_PDEATHSIG, SIGKILL);
        prctl(PR_SET_DUMPABLE, 1); /* its /proc is the other's to look at */
        (void)!write(said[1], made ? "y" : "n", 1);
        pause();
        _exit(0);
    }
    if (read(said[0], &byte, 1) != 1 || byte != 'y')
        return "no user namespace";
    snprintf(path, sizeof(path), "/proc/%d/ns/user", *holder);
    *fd = open(path, O_RDONLY | O_CLOEXEC);
    return *fd < 0 ? sandbox_say("%s: %s", path, strerror(errno)) : NULL;
}

/* A role of a normal user: joins the series' user namespace, then the network. */
static const char *role_talks(void *arg)
{
    const struct net *net = arg;
    struct err err;

    if (namespace_enter_owned(network_fd(net, 0), &err) < 0)
        return sandbox_say("%s", err.msg);
    return talk();
}

static const char *below_a_user_namespace(void *arg)
{
    struct arena arena = ARENA_INIT;
    struct net_proof proof;
    struct wish w;
    struct net *net;
    struct err err;
    const char *text;
    pid_t holder;
    int user_ns;

    (void)arg;
    text = make_user_namespace(&user_ns, &holder);
    if (text)
        return text;
    ask_for(&w, NET_LOOPBACK, NET_BACKEND_USER);
    w.request.user_ns = user_ns;
    want_delay(&w, 2 * NSEC_PER_MSEC);
    if (network_up(&net, &w.request, &err) < 0)
        return sandbox_say("%s; %s", err.msg, err.hint);
    sandbox_run(getuid(), role_talks, net);
    if (network_down(net, &proof, &arena, &err) < 0)
        return sandbox_say("%s", err.msg);
    kill(holder, SIGKILL);
    if (proof.flows[0].delivered < 20)
        return "the role's packets did not pass the shaper";
    return proof.failed ? sandbox_say("%s", proof.failed) : NULL;
}

/* ---- pair ---- */

/* Waits until the kernel has reported its IPv6 groups, which it does some time after set-up. */
static const char *wait_for_reports(void)
{
    int64_t until_ns = clock_mono_ns() + 10 * NSEC_PER_SEC;
    struct buf text = BUF_INIT;
    unsigned long reports = 0;
    struct err err;

    while (!reports && clock_mono_ns() < until_ns) {
        const char *at;

        buf_clear(&text);
        if (files_read("/proc/thread-self/net/snmp6", 65536, &text, &err) < 0)
            break;
        at = strstr(text.data, "Icmp6OutMLDv2Reports");
        reports = at ? strtoul(at + strlen("Icmp6OutMLDv2Reports"), NULL, 10) : 0;
    }
    buf_release(&text);
    return reports ? NULL : "the kernel does not report its groups";
}

static const char *silent_pair(void *arg)
{
    struct arena arena = ARENA_INIT;
    struct net_proof proof;
    struct wish w;
    struct net *net;
    struct err err;
    const char *text = NULL;

    (void)arg;
    ask_for(&w, NET_PAIR, NET_BACKEND_USER);
    want_delay(&w, NSEC_PER_MSEC);
    if (network_up(&net, &w.request, &err) < 0)
        return sandbox_say("%s; %s", err.msg, err.hint);
    for (size_t i = 0; i < 2 && !text; i++)
        text = inside(net, i, wait_for_reports);
    if (network_down(net, &proof, &arena, &err) < 0)
        return sandbox_say("%s", err.msg);
    if (!text && proof.flows[0].offered + proof.flows[1].offered)
        text = sandbox_say("%lu packets that no role sent",
                           (unsigned long)(proof.flows[0].offered + proof.flows[1].offered));
    return text;
}

static const char *one_way(void *arg)
{
    struct net_link link = {.from = "sender", .to = "receiver"};
    struct arena arena = ARENA_INIT;
    struct net_proof proof;
    struct wish w;
    struct net *net;
    struct err err;

    (void)arg;
    ask_for(&w, NET_PAIR, NET_BACKEND_USER);
    link.impair.delay_ns = 5 * NSEC_PER_MSEC;
    w.network.links = &link;
    w.network.link_count = 1;
    if (network_up(&net, &w.request, &err) < 0)
        return sandbox_say("%s; %s", err.msg, err.hint);
    if (strcmp(network_address(net, 0), network_address(net, 1)) == 0)
        return "both roles have one address";
    if (network_fd(net, 0) == network_fd(net, 1))
        return "both roles have one namespace";
    if (network_down(net, &proof, &arena, &err) < 0)
        return sandbox_say("%s", err.msg);
    if (proof.flow_count != 2 || strcmp(proof.flows[0].link, "receiver->sender") != 0 ||
        strcmp(proof.counters[1].role, "sender") != 0)
        return "flows or counters have other names than their roles'";
    return proof.failed ? sandbox_say("%s", proof.failed) : NULL;
}

static const char *lonely_pair(void *arg)
{
    struct wish w;
    struct net *net;
    struct err err;

    (void)arg;
    ask_for(&w, NET_PAIR, NET_BACKEND_AUTO);
    w.request.role_count = 1;
    if (network_up(&net, &w.request, &err) == 0)
        return "a pair of one role";
    return err.code == ERR_CONFIG && strstr(err.msg, "2 roles") ? NULL : sandbox_say("%s", err.msg);
}

/* ---- probe ---- */

static const char *probed(void *arg)
{
    struct arena arena = ARENA_INIT;
    struct net_probe probe;
    struct wish w;
    struct err err;

    ask_for(&w, arg ? NET_PAIR : NET_LOOPBACK, NET_BACKEND_USER);
    want_delay(&w, 10 * NSEC_PER_MSEC);
    w.network.bound.lateness_p99_ns = 20 * NSEC_PER_MSEC;
    w.network.impair.loss.model = LOSS_RANDOM;
    w.network.impair.loss.random.scaled = UINT32_MAX / 10;
    if (network_probe(&probe, &w.request, 200, &arena, &err) < 0)
        return sandbox_say("%s; %s", err.msg, err.hint);
    if (!probe.agrees)
        return sandbox_say("%s", probe.reason);
    if (probe.sent != 200 || probe.received > 190 || probe.rtt_min_s < 0.020 ||
        probe.expected_rtt_s < 0.0199 || probe.expected_rtt_s > 0.0201)
        return sandbox_say("%d sent, %d received, least %.6f s, expected %.6f s", probe.sent,
                           probe.received, probe.rtt_min_s, probe.expected_rtt_s);
    if (probe.capacity_packets_s < 1000)
        return sandbox_say("a capacity of %lu packets/s", (unsigned long)probe.capacity_packets_s);
    return NULL;
}

/* ---- bad ends ---- */

static const char *dead_keeper(void *arg)
{
    struct arena arena = ARENA_INIT;
    struct net_proof proof;
    struct wish w;
    struct net *net;
    struct err err;
    char path[64], children[64] = "";
    int fd;

    (void)arg;
    ask_for(&w, NET_LOOPBACK, NET_BACKEND_AUTO);
    if (network_up(&net, &w.request, &err) < 0)
        return sandbox_say("%s", err.msg);
    snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
    fd = open(path, O_RDONLY);
    if (fd < 0 || read(fd, children, sizeof(children) - 1) < 1)
        return "the keeper cannot be found";
    close(fd);
    kill((pid_t)strtol(children, NULL, 10), SIGKILL);
    if (network_down(net, &proof, &arena, &err) == 0)
        return "a proof of a keeper that was killed";
    return strstr(err.msg, "keeper") ? NULL : sandbox_say("%s", err.msg);
}

static const char *no_kernel(void *arg)
{
    struct arena arena = ARENA_INIT;
    struct net_ability a;
    struct wish w;
    struct net *net;
    struct err err;

    (void)arg;
    net_look(&a, -1, &arena);
    ask_for(&w, NET_LOOPBACK, NET_BACKEND_KERNEL);
    want_delay(&w, NSEC_PER_MSEC);
    if (network_up(&net, &w.request, &err) == 0) {
        network_kill(net);
        return a.kernel ? NULL : "sch_netem is not there, yet it serves";
    }
    return !a.kernel && err.code == ERR_CONFIG && strstr(err.msg, "sch_netem")
               ? NULL
               : sandbox_say("%s", err.msg);
}

/* A user namespace below which there may be no other, without rights in it. */
static const char *forbidden(void *arg)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};
    struct arena arena = ARENA_INIT;
    struct net_ability a;
    struct wish w;
    struct net *net;
    struct err err;
    int fd;

    (void)arg;
    if (unshare(CLONE_NEWUSER) < 0)
        return sandbox_say("no user namespace: %s", strerror(errno));
    fd = open("/proc/sys/user/max_user_namespaces", O_WRONLY);
    if (fd < 0 || write(fd, "0", 1) != 1 || syscall(SYS_capset, &head, none) < 0)
        return sandbox_say("rights cannot be given up: %s", strerror(errno));
    net_look(&a, -1, &arena);
    if (a.namespaces || a.user || a.kernel || !strstr(a.reason, "user.max_user_namespaces is 0"))
        return sandbox_say("the reason is '%s'", a.reason ? a.reason : "(none)");
    ask_for(&w, NET_LOOPBACK, NET_BACKEND_USER);
    if (network_up(&net, &w.request, &err) == 0)
        return "a network where there can be none";
    return strstr(err.hint, "user.max_user_namespaces is 0") ? NULL : sandbox_say("%s", err.msg);
}

/* ---- as tests ---- */

static void as(uid_t uid, sandbox_body body, void *arg)
{
    if (!sandbox_can(uid))
        skip();
    sandbox_run(uid, body, arg);
}

static void as_root(sandbox_body body, void *arg)
{
    if (getuid() != 0) /* only root can enter the network without the user namespace */
        skip();
    as(0, body, arg);
}

static void nothing_asked_is_a_plain_private_loopback(void **state)
{
    (void)state;
    as_root(plain, NULL);
}

static void a_delay_holds_every_packet_and_the_proof_counts_them(void **state)
{
    (void)state;
    as_root(delayed, NULL);
}

static void a_normal_user_has_networks_of_both_kinds(void **state)
{
    (void)state;
    as(SANDBOX_NOBODY, from_outside, NULL);
    as(SANDBOX_NOBODY, from_outside, "pair");
}

static void a_normal_users_role_talks_below_the_series_user_namespace(void **state)
{
    (void)state;
    as(SANDBOX_NOBODY, below_a_user_namespace, NULL);
}

static void a_pair_has_names_addresses_and_flows_by_role(void **state)
{
    (void)state;
    as(getuid(), one_way, NULL);
}

static void only_what_roles_send_meets_its_fate(void **state)
{
    (void)state;
    as_root(silent_pair, NULL);
}

static void a_probe_finds_the_delay_and_the_loss_that_were_asked(void **state)
{
    (void)state;
    as(getuid(), probed, NULL);
    as(getuid(), probed, "pair");
}

static void a_normal_user_can_probe(void **state)
{
    (void)state;
    as(SANDBOX_NOBODY, probed, NULL);
    as(SANDBOX_NOBODY, probed, "pair");
}

static void a_pair_needs_two_roles(void **state)
{
    (void)state;
    as(getuid(), lonely_pair, NULL);
}

static void a_keeper_that_dies_is_an_error_not_a_hang(void **state)
{
    (void)state;
    as(getuid(), dead_keeper, NULL);
}

static void the_kernel_back_end_is_refused_where_there_is_no_netem(void **state)
{
    (void)state;
    as(getuid(), no_kernel, NULL);
}

static void the_sysctl_that_forbids_networks_is_named(void **state)
{
    (void)state;
    as(SANDBOX_NOBODY, forbidden, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_asked_is_a_plain_private_loopback),
        cmocka_unit_test(a_delay_holds_every_packet_and_the_proof_counts_them),
        cmocka_unit_test(a_normal_user_has_networks_of_both_kinds),
        cmocka_unit_test(a_normal_users_role_talks_below_the_series_user_namespace),
        cmocka_unit_test(a_pair_has_names_addresses_and_flows_by_role),
        cmocka_unit_test(only_what_roles_send_meets_its_fate),
        cmocka_unit_test(a_probe_finds_the_delay_and_the_loss_that_were_asked),
        cmocka_unit_test(a_normal_user_can_probe),
        cmocka_unit_test(a_pair_needs_two_roles),
        cmocka_unit_test(a_keeper_that_dies_is_an_error_not_a_hang),
        cmocka_unit_test(the_kernel_back_end_is_refused_where_there_is_no_netem),
        cmocka_unit_test(the_sysctl_that_forbids_networks_is_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
