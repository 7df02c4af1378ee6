/*
 * Private networks as they are wired: unmodified sockets on their addresses, as root and as a
 * normal user. A plain send-it-back loop stands for the shaper.
 */
#include "check.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/namespace.h"
#include "net/wiring.h"
#include "sandbox.h"

static int tap_socket(const struct wiring *w, int i, struct wiring_tap *tap)
{
    struct sockaddr_ll at = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL)};
    struct err err;
    int on = 1;
    int fd;

    if (wiring_tap(w, i, tap, &err) < 0)
        return -1;
    fd = socket(AF_PACKET, SOCK_RAW, 0);
    at.sll_ifindex = tap->ifindex;
    setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof(on));
    return fd >= 0 && bind(fd, (struct sockaddr *)&at, sizeof(at)) == 0 ? fd : -1;
}

static void pass_one(int from, int to, const unsigned char *mac)
{
    unsigned char packet[2048];
    ssize_t len = recv(from, packet, sizeof(packet), 0);

    if (len < 14)
        return;
    memcpy(packet, mac, 6);
    (void)!send(to, packet, (size_t)len, 0);
}

/* Sends back what comes, in a process of its own, until the caller ends. */
static const char *pass_all(const struct wiring *w)
{
    struct pollfd ports[WIRING_PAIR];
    struct wiring_tap tap[WIRING_PAIR];

    for (int i = 0; i < w->ns_count; i++) {
        ports[i] = (struct pollfd){tap_socket(w, i, &tap[i]), POLLIN, 0};
        if (ports[i].fd < 0)
            return sandbox_say("no tap %d: %s", i, strerror(errno));
    }
    if (fork() > 0)
        return NULL;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) {
        poll(ports, (nfds_t)w->ns_count, -1);
        for (int i = 0; i < w->ns_count; i++)
            if (ports[i].revents)
                pass_one(ports[i].fd, ports[w->ns_count - 1 - i].fd, tap[w->ns_count - 1 - i].mac);
    }
}

static const char *wire(int (*lay)(struct wiring *, bool, struct err *), struct wiring *w,
                        bool tapped)
{
    struct err err;

    if (namespace_permit(-1, &err) < 0 || lay(w, tapped, &err) < 0)
        return sandbox_say("%s", err.msg);
    return tapped ? pass_all(w) : NULL;
}

static const char *use_loopback(void *tapped)
{
    static const char *const addresses[] = {"127.0.0.1", "::1", "10.213.0.1", "fd00:213::1"};
    struct wiring w;
    const char *text = wire(wiring_loopback, &w, tapped != NULL);

    for (size_t i = 0; i < 4 && !text; i++) {
        text = sandbox_udp(addresses[i]);
        if (!text)
            text = sandbox_tcp(addresses[i], 300000);
    }
    return text;
}

/* One datagram each way between the namespaces, of both families. */
static const char *cross(const struct wiring *w, int from, bool v6)
{
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } to;
    socklen_t len = v6 ? sizeof(to.v6) : sizeof(to.v4);
    struct timeval wait = {10, 0};
    char back[8] = "";
    struct err err;
    int in, out;

    memset(&to, 0, sizeof(to));
    to.any.sa_family = v6 ? AF_INET6 : AF_INET;
    if (v6)
        inet_pton(AF_INET6, wiring_address6[1 - from], &to.v6.sin6_addr);
    else
        inet_pton(AF_INET, wiring_address4[1 - from], &to.v4.sin_addr);
    if (namespace_enter(w->ns[1 - from], &err) < 0)
        return sandbox_say("%s", err.msg);
    in = socket(to.any.sa_family, SOCK_DGRAM, 0);
    if (bind(in, &to.any, len) < 0 || getsockname(in, &to.any, &len) < 0)
        return sandbox_say("no socket in namespace %d: %s", 1 - from, strerror(errno));
    setsockopt(in, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
    if (namespace_enter(w->ns[from], &err) < 0)
        return sandbox_say("%s", err.msg);
    out = socket(to.any.sa_family, SOCK_DGRAM, 0);
    if (sendto(out, "across", 6, 0, &to.any, len) != 6)
        return sandbox_say("not sent from %d, v6 %d: %s", from, v6, strerror(errno));
    if (recv(in, back, sizeof(back), 0) != 6)
        return sandbox_say("not received from %d, v6 %d: %s", from, v6, strerror(errno));
    close(in);
    close(out);
    return NULL;
}

static const char *use_pair(void *tapped)
{
    struct wiring w;
    const char *text = wire(wiring_pair, &w, tapped != NULL);

    for (int i = 0; i < 4 && !text; i++)
        text = cross(&w, i & 1, i & 2);
    return text;
}

static void as(uid_t uid, sandbox_body body, void *arg)
{
    if (!sandbox_can(uid))
        skip();
    sandbox_run(uid, body, arg);
}

static void all_addresses_of_a_loopback_network_work(void **state)
{
    (void)state;
    as(getuid(), use_loopback, NULL);
}

static void all_addresses_work_on_the_way_through_the_tap(void **state)
{
    (void)state;
    as(getuid(), use_loopback, "tapped");
}

static void the_tap_works_for_a_normal_user(void **state)
{
    (void)state;
    as(SANDBOX_NOBODY, use_loopback, "tapped");
}

static void a_pair_is_joined(void **state)
{
    (void)state;
    as(getuid(), use_pair, NULL);
}

static void a_pair_is_joined_through_its_taps(void **state)
{
    (void)state;
    as(getuid(), use_pair, "tapped");
}

static void a_tapped_pair_works_for_a_normal_user(void **state)
{
    (void)state;
    as(SANDBOX_NOBODY, use_pair, "tapped");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_addresses_of_a_loopback_network_work),
        cmocka_unit_test(all_addresses_work_on_the_way_through_the_tap),
        cmocka_unit_test(the_tap_works_for_a_normal_user),
        cmocka_unit_test(a_pair_is_joined),
        cmocka_unit_test(a_pair_is_joined_through_its_taps),
        cmocka_unit_test(a_tapped_pair_works_for_a_normal_user),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
