/*
 * Shaper: packets of unmodified sockets pass through it in a namespace made for each test. Every
 * packet is accounted for; what happens to it is what fate alone says. Of time only that nothing
 * is early is asserted.
 */
#include "check.h"

#include "base/clock.h"
#include "base/mem.h"
#include "net/capacity.h"
#include "net/fate.h"
#include "net/namespace.h"
#include "net/ring.h"
#include "net/shaper.h"
#include "net/wiring.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define MS 1000000LL
#define PAYLOAD 100
#define WAIT_MS 20000 /* until a test gives up on a packet */

static struct arena arena;
static bool permitted;

/* ---- the line: a shaped loopback ---- */

static struct line {
    struct wiring w;
    pid_t pid;
    int control, answer;
} line;

/* What the shaper's process answers when it has ended. */
struct answer {
    int status;
    struct err err;
    struct net_flow_proof proof;
};

static void shape(struct shaper *s, int control, int answer)
{
    struct answer a;

    memset(&a, 0, sizeof(a));
    a.status = shaper_run(s, control, &a.err);
    if (a.status == 0)
        a.status = shaper_proof(s, 0, &a.proof, &a.err);
    shaper_free(s);
    _exit(write(answer, &a, sizeof(a)) == sizeof(a) ? 0 : 1);
}

#define must(call)                                                                                 \
    do {                                                                                           \
        if ((call) < 0)                                                                            \
            fail_msg("%s: %s", #call, err.msg);                                                    \
    } while (0)

static void line_up(const struct net_impair *impair, uint64_t seed)
{
    struct wiring_tap tap;
    struct shaper *s = NULL;
    struct err err = {0};
    int control[2], answer[2];

    if (!permitted)
        skip();
    must(wiring_loopback(&line.w, true, &err));
    must(wiring_tap(&line.w, 0, &tap, &err));
    must(shaper_new(&s, &err));
    must(shaper_port(s, tap.ifindex, tap.mac, &err));
    must(shaper_flow(s, 0, 0, "lo", impair, seed, &arena, &err));
    assert_int_equal(pipe(control), 0);
    assert_int_equal(pipe(answer), 0);
    line.pid = fork();
    if (line.pid == 0) {
        close(control[1]);
        close(answer[0]);
        shape(s, control[0], answer[1]);
    }
    assert_true(line.pid > 0);
    close(control[0]);
    close(answer[1]);
    line.control = control[1];
    line.answer = answer[0];
    shaper_free(s);
}

static struct net_flow_proof line_down(void)
{
    struct answer a;
    int status;

    close(line.control);
    assert_int_equal(read(line.answer, &a, sizeof(a)), sizeof(a));
    close(line.answer);
    assert_int_equal(waitpid(line.pid, &status, 0), line.pid);
    for (int i = 0; i < line.w.ns_count; i++)
        close(line.w.ns[i]);
    if (a.status < 0)
        fail_msg("shaper: %s", a.err.msg);
    assert_int_equal(a.proof.offered + a.proof.duplicated, a.proof.delivered + a.proof.lost +
                                                               a.proof.limit + a.proof.queued +
                                                               a.proof.unplanned);
    return a.proof;
}

/* ---- sockets ---- */

struct address {
    struct sockaddr_storage at;
    socklen_t size;
};

static struct address loopback(int family)
{
    struct address a;

    memset(&a, 0, sizeof(a));
    a.at.ss_family = (sa_family_t)family;
    a.size = family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
    inet_pton(family, family == AF_INET ? "127.0.0.1" : "::1",
              family == AF_INET ? (void *)&((struct sockaddr_in *)&a.at)->sin_addr
                                : (void *)&((struct sockaddr_in6 *)&a.at)->sin6_addr);
    return a;
}

/* A bound socket, and where it is. */
static int bound(int family, int type, struct address *a)
{
    int fd = socket(family, type | SOCK_CLOEXEC, 0);

    *a = loopback(family);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&a->at, a->size), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&a->at, &a->size), 0);
    return fd;
}

static bool readable(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};

    return poll(&p, 1, WAIT_MS) == 1;
}

/* Sends datagram `number`; sizes as they are on the line: PAYLOAD bytes and the headers. */
static void send_number(int fd, const struct address *to, uint32_t number)
{
    unsigned char data[PAYLOAD] = {0};

    memcpy(data, &number, sizeof(number));
    assert_int_equal(sendto(fd, data, sizeof(data), 0, (const struct sockaddr *)&to->at, to->size),
                     PAYLOAD);
}

static uint32_t receive_number(int fd)
{
    unsigned char data[PAYLOAD + 1];
    uint32_t number;

    if (!readable(fd))
        fail_msg("no packet within %d ms", WAIT_MS);
    assert_int_equal(recv(fd, data, sizeof(data), 0), PAYLOAD);
    memcpy(&number, data, sizeof(number));
    return number;
}

/* ---- tests ---- */

static void pass_untouched(int family)
{
    struct address to;
    int in, out;
    struct net_flow_proof proof;

    line_up(NULL, 0);
    in = bound(family, SOCK_DGRAM, &to);
    out = socket(family, SOCK_DGRAM, 0);
    for (uint32_t i = 0; i < 500; i++) {
        send_number(out, &to, i);
        assert_int_equal(receive_number(in), i);
    }
    close(in);
    close(out);
    proof = line_down();
    assert_int_equal(proof.offered, 500);
    assert_int_equal(proof.delivered, 500);
    assert_int_equal(proof.unplanned, 0);
    assert_true(proof.late_p50_ns > 0 && proof.late_p50_ns <= proof.late_p99_ns &&
                proof.late_p99_ns <= proof.late_max_ns);
}

static void untouched_datagrams_pass_on_127_0_0_1(void **state)
{
    (void)state;
    pass_untouched(AF_INET);
}

static void untouched_datagrams_pass_on_ip6_loopback(void **state)
{
    (void)state;
    pass_untouched(AF_INET6);
}

static struct net_share share(double fraction)
{
    return net_share_of(fraction, &arena);
}

/* How many copies of each of `count` packets fate lets through. */
static void predict(const struct net_impair *impair, uint64_t seed, int *copies, int count)
{
    struct fate fate;
    struct fate_queue q = {0};
    struct fate_copy c[FATE_COPIES];
    struct err err;

    assert_int_equal(fate_init(&fate, impair, seed, 1514, &arena, &err), 0);
    for (int i = 0; i < count; i++)
        copies[i] = fate_decide(&fate, i, 14 + 20 + 8 + PAYLOAD, false, &q, c);
}

#define SEQUENCE 1000

static void packets_meet_the_fate_that_their_seed_says(void **state)
{
    struct net_impair impair = {.delay_ns = 4 * MS, .jitter_ns = 1 * MS};
    int predicted[SEQUENCE], left = 0;
    struct address to;
    struct net_flow_proof proof;
    int in, out;

    (void)state;
    impair.loss.model = LOSS_GEMODEL;
    impair.loss.p = share(0.05);
    impair.loss.r = share(0.3);
    impair.duplicate = share(0.1);
    line_up(&impair, 77);
    predict(&impair, 77, predicted, SEQUENCE);
    in = bound(AF_INET, SOCK_DGRAM, &to);
    out = socket(AF_INET, SOCK_DGRAM, 0);
    for (uint32_t i = 0; i < SEQUENCE; i++) {
        send_number(out, &to, i);
        left += predicted[i];
        while (left > 100 || (i == SEQUENCE - 1 && left > 0)) {
            predicted[receive_number(in)]--;
            left--;
        }
    }
    for (int i = 0; i < SEQUENCE; i++)
        if (predicted[i])
            fail_msg("packet %d: %d copies too few", i, predicted[i]);
    close(in);
    close(out);
    proof = line_down();
    assert_int_equal(proof.offered, SEQUENCE);
    assert_true(proof.lost > 0 && proof.duplicated > 0 && proof.high_water > 0);
    assert_int_equal(proof.unplanned, 0);
    assert_int_equal(proof.queued, 0);
}

static void nothing_arrives_before_its_delay(void **state)
{
    const struct net_impair impair = {.delay_ns = 20 * MS};
    struct address to;
    int in, out;

    (void)state;
    line_up(&impair, 1);
    in = bound(AF_INET6, SOCK_DGRAM, &to);
    out = socket(AF_INET6, SOCK_DGRAM, 0);
    for (uint32_t i = 0; i < 20; i++) {
        int64_t sent_ns = clock_mono_ns();

        send_number(out, &to, i);
        assert_int_equal(receive_number(in), i);
        assert_true(clock_mono_ns() - sent_ns >= impair.delay_ns);
    }
    close(in);
    close(out);
    assert_true(line_down().late_p50_ns >= 0);
}

/* 1000 bytes on the line take 1 ms: the last of 50 is not there before 50 ms. */
static void nothing_is_faster_than_the_rate(void **state)
{
    struct net_impair impair = {.rate = {.bit_s = 8000000}};
    struct address to;
    int in, out;
    int64_t sent_ns;

    (void)state;
    impair.rate.packet_overhead = 1000 - (14 + 20 + 8 + PAYLOAD);
    line_up(&impair, 1);
    in = bound(AF_INET, SOCK_DGRAM, &to);
    out = socket(AF_INET, SOCK_DGRAM, 0);
    sent_ns = clock_mono_ns();
    for (uint32_t i = 0; i < 50; i++)
        send_number(out, &to, i);
    for (uint32_t i = 0; i < 50; i++)
        assert_int_equal(receive_number(in), i);
    assert_true(clock_mono_ns() - sent_ns >= 50 * MS);
    close(in);
    close(out);
    assert_int_equal(line_down().delivered, 50);
}

static void packets_over_the_limit_are_counted_apart_from_loss(void **state)
{
    const struct net_impair impair = {.delay_ns = 3600 * 1000 * MS, .limit = 10};
    struct address to;
    struct net_flow_proof proof;
    int in, out;

    (void)state;
    line_up(&impair, 1);
    in = bound(AF_INET, SOCK_DGRAM, &to);
    out = socket(AF_INET, SOCK_DGRAM, 0);
    for (uint32_t i = 0; i < 100; i++)
        send_number(out, &to, i);
    close(in);
    close(out);
    proof = line_down();
    assert_int_equal(proof.offered, 100);
    assert_int_equal(proof.limit, 90);
    assert_int_equal(proof.queued, 10);
    assert_int_equal(proof.high_water, 10);
    assert_int_equal(proof.lost + proof.unplanned + proof.delivered, 0);
    assert_int_equal(proof.late_p99_ns, -1);
}

/* The first is held by its delay; every other one overtakes what is held. */
static void reordered_packets_overtake_those_in_the_queue(void **state)
{
    struct net_impair impair = {.delay_ns = 200 * MS, .gap = 2};
    struct address to;
    struct net_flow_proof proof;
    int in, out;

    (void)state;
    impair.reorder = share(1.0);
    line_up(&impair, 1);
    in = bound(AF_INET, SOCK_DGRAM, &to);
    out = socket(AF_INET, SOCK_DGRAM, 0);
    for (uint32_t i = 0; i < 20; i += 2) {
        send_number(out, &to, i);
        send_number(out, &to, i + 1);
    }
    for (uint32_t i = 0, seen = 0; i < 20; i++) {
        uint32_t number = receive_number(in);

        assert_false(seen & 1U << number);
        seen |= 1U << number;
    }
    close(in);
    close(out);
    proof = line_down();
    assert_int_equal(proof.reordered, 10);
    assert_int_equal(proof.delivered, 20);
}

static void corrupted_datagrams_leave_but_do_not_get_through(void **state)
{
    struct net_impair impair = {.delay_ns = 1 * MS};
    struct address to;
    struct net_flow_proof proof;
    unsigned char data[1400];
    int in, out;

    (void)state;
    impair.corrupt = share(1.0);
    memset(data, 0x5a, sizeof(data));
    line_up(&impair, 5);
    in = bound(AF_INET, SOCK_DGRAM, &to);
    out = socket(AF_INET, SOCK_DGRAM, 0);
    for (int i = 0; i < 50; i++)
        assert_int_equal(sendto(out, data, sizeof(data), 0, (struct sockaddr *)&to.at, to.size),
                         sizeof(data));
    proof = line_down();
    assert_int_equal(proof.offered, 50);
    assert_int_equal(proof.corrupted, 50);
    while (recv(in, data, sizeof(data), MSG_DONTWAIT) > 0)
        for (size_t i = 0; i < sizeof(data); i++)
            assert_int_equal(data[i], 0x5a); /* the fault was in the Ethernet header */
    close(in);
    close(out);
}

static int traffic_class(int fd)
{
    char space[256], byte;
    struct iovec piece = {&byte, 1};
    struct msghdr m = {
        .msg_iov = &piece, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof(space)};
    int value = 0;

    assert_true(readable(fd));
    assert_true(recvmsg(fd, &m, 0) >= 0);
    for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c)) {
        if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_TOS)
            return *CMSG_DATA(c);
        if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_TCLASS) {
            memcpy(&value, CMSG_DATA(c), sizeof(value));
            return value;
        }
    }
    return -1;
}

static void what_would_be_lost_is_marked(int family)
{
    int on = 1, ect = 2;
    int level = family == AF_INET ? IPPROTO_IP : IPPROTO_IPV6;
    struct net_impair impair = {.ecn = true};
    struct net_flow_proof proof;
    struct address to;
    int in, out;

    impair.loss.model = LOSS_RANDOM;
    impair.loss.random = share(1.0);
    line_up(&impair, 5);
    in = bound(family, SOCK_DGRAM, &to);
    out = socket(family, SOCK_DGRAM, 0);
    send_number(out, &to, 0); /* cannot carry a mark */
    assert_int_equal(
        setsockopt(in, level, family == AF_INET ? IP_RECVTOS : IPV6_RECVTCLASS, &on, sizeof(on)),
        0);
    assert_int_equal(
        setsockopt(out, level, family == AF_INET ? IP_TOS : IPV6_TCLASS, &ect, sizeof(ect)), 0);
    send_number(out, &to, 1);
    assert_int_equal(traffic_class(in), 3);
    close(in);
    close(out);
    proof = line_down();
    assert_int_equal(proof.ecn_marked, 1);
    assert_int_equal(proof.lost, 1);
    assert_int_equal(proof.delivered, 1);
}

static void ip4_and_ip6_packets_are_marked_where_they_can_be(void **state)
{
    (void)state;
    what_would_be_lost_is_marked(AF_INET);
    what_would_be_lost_is_marked(AF_INET6);
}

static void feed(const struct address *to, int family, size_t bytes)
{
    int fd = socket(family, SOCK_STREAM, 0);
    unsigned char data[8192];

    if (connect(fd, (const struct sockaddr *)&to->at, to->size) < 0)
        _exit(1);
    for (size_t at = 0; at < bytes; at += sizeof(data)) {
        for (size_t i = 0; i < sizeof(data); i++)
            data[i] = (unsigned char)((at + i) % 251);
        if (send(fd, data, sizeof(data), MSG_NOSIGNAL) != sizeof(data))
            _exit(1);
    }
    _exit(shutdown(fd, SHUT_WR) == 0 ? 0 : 1);
}

static void stream_arrives_whole(int family)
{
    struct net_impair impair = {.delay_ns = 3 * MS, .jitter_ns = 1 * MS};
    const size_t bytes = 512 * 1024;
    struct net_flow_proof proof;
    struct address to;
    unsigned char data[65536];
    size_t got = 0;
    ssize_t n;
    int at, fd, status;
    pid_t pid;

    impair.loss.model = LOSS_RANDOM;
    impair.loss.random = share(0.01);
    impair.corrupt = share(0.005);
    impair.duplicate = share(0.01);
    line_up(&impair, 9);
    at = bound(family, SOCK_STREAM, &to);
    assert_int_equal(listen(at, 1), 0);
    pid = fork();
    if (pid == 0)
        feed(&to, family, bytes);
    fd = accept(at, NULL, NULL);
    assert_true(fd >= 0);
    while ((n = recv(fd, data, sizeof(data), 0)) > 0) {
        for (ssize_t i = 0; i < n; i++)
            if (data[i] != (got + (size_t)i) % 251)
                fail_msg("byte %zu is wrong", got + (size_t)i);
        got += (size_t)n;
    }
    assert_int_equal(got, bytes);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    close(fd);
    close(at);
    proof = line_down();
    assert_true(proof.offered > bytes / 1460);
    assert_true(proof.lost > 0);
    assert_int_equal(proof.unplanned, 0);
}

static void streams_arrive_whole_on_both_addresses(void **state)
{
    (void)state;
    stream_arrives_whole(AF_INET);
    stream_arrives_whole(AF_INET6);
}

static void a_device_that_is_not_there_is_an_error(void **state)
{
    struct wiring_tap tap;
    struct wiring w;
    struct shaper *s = NULL;
    struct err err = {0};
    int control[2];

    (void)state;
    if (!permitted)
        skip();
    must(wiring_loopback(&w, true, &err));
    must(wiring_tap(&w, 0, &tap, &err));
    must(shaper_new(&s, &err));
    assert_int_equal(shaper_port(s, tap.ifindex + 1000, NULL, &err), -1);
    assert_int_equal(err.code, ERR_SYSTEM);
    assert_int_equal(pipe(control), 0);
    close(control[1]);
    assert_int_equal(shaper_run(s, control[0], &err), 0);
    close(control[0]);
    close(w.ns[0]);
    shaper_free(s);
    shaper_free(NULL);
}

static void packets_that_find_the_ring_full_are_unplanned_loss(void **state)
{
    const uint32_t sent = RING_FRAMES + 500;
    struct net_flow_proof proof;
    struct shaper *s = NULL;
    struct wiring_tap tap;
    struct address to;
    struct wiring w;
    struct err err = {0};
    uint32_t packets;
    int in, out;

    (void)state;
    if (!permitted)
        skip();
    must(wiring_loopback(&w, true, &err));
    must(wiring_tap(&w, 0, &tap, &err));
    must(shaper_new(&s, &err));
    must(shaper_port(s, tap.ifindex, tap.mac, &err));
    must(shaper_flow(s, 0, 0, "lo", NULL, 0, &arena, &err));
    in = bound(AF_INET, SOCK_DGRAM, &to);
    out = socket(AF_INET, SOCK_DGRAM, 0);
    for (uint32_t i = 0; i < sent; i++)
        send_number(out, &to, i);
    do
        must(shaper_pass(s, &packets, &err));
    while (packets);
    must(shaper_proof(s, 0, &proof, &err));
    assert_int_equal(proof.offered, sent);
    assert_int_equal(proof.delivered, RING_FRAMES);
    assert_int_equal(proof.unplanned, 500);
    shaper_free(s);
    close(in);
    close(out);
    close(w.ns[0]);
}

static void capacity_is_measured_with_and_without_an_impairment(void **state)
{
    const struct net_impair impair = {
        .delay_ns = 3600 * 1000 * MS, .rate = {.bit_s = 8000}, .slot = {.min_ns = 1, .max_ns = 1}};
    uint64_t packets_s = 0;
    struct err err = {0};

    (void)state;
    if (!permitted)
        skip();
    must(shaper_capacity(NULL, 0, -1, &packets_s, &err));
    assert_in_range(packets_s, 100, 100000000);
    packets_s = 0;
    must(shaper_capacity(&impair, 100, -1, &packets_s, &err));
    assert_in_range(packets_s, 100, 100000000);
}

static int begin(void **state)
{
    struct err err;

    (void)state;
    arena_init(&arena);
    permitted = namespace_permit(-1, &err) == 0;
    if (!permitted)
        print_message("no private network here, nothing tested: %s\n", err.msg);
    return 0;
}

static int end(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(untouched_datagrams_pass_on_127_0_0_1),
        cmocka_unit_test(untouched_datagrams_pass_on_ip6_loopback),
        cmocka_unit_test(packets_meet_the_fate_that_their_seed_says),
        cmocka_unit_test(nothing_arrives_before_its_delay),
        cmocka_unit_test(nothing_is_faster_than_the_rate),
        cmocka_unit_test(packets_over_the_limit_are_counted_apart_from_loss),
        cmocka_unit_test(reordered_packets_overtake_those_in_the_queue),
        cmocka_unit_test(corrupted_datagrams_leave_but_do_not_get_through),
        cmocka_unit_test(ip4_and_ip6_packets_are_marked_where_they_can_be),
        cmocka_unit_test(streams_arrive_whole_on_both_addresses),
        cmocka_unit_test(a_device_that_is_not_there_is_an_error),
        cmocka_unit_test(packets_that_find_the_ring_full_are_unplanned_loss),
        cmocka_unit_test(capacity_is_measured_with_and_without_an_impairment),
    };

    return cmocka_run_group_tests_name("shaper", tests, begin, end);
}
