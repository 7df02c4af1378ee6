#include "net/wiring.h"

#include "base/clock.h"
#include "base/files.h"
#include "model/network.h"
#include "net/namespace.h"

#include <linux/if_ether.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ONE_SEGMENT 1
#define LO "lo"
#define OWN "eth0"
#define NEAR "a0" /* the shaper's cable: the end that packets are sent into */
#define TAP "b0"  /* and the end that it holds */
#define DEAD "end0"

const char *const wiring_address4[WIRING_PAIR] = {NET_PAIR_ADDRESS_1, NET_PAIR_ADDRESS_2};
const char *const wiring_address6[WIRING_PAIR] = {"fd00:213::1", "fd00:213::2"};

#define PREFIX4 24
#define PREFIX6 64

/* Kernels may be built, or started, without it: then networks have IPv4 only. */
static bool has_ipv6(void)
{
    return files_exists("/proc/sys/net/ipv6");
}

/*
 * Programs of a normal user may ping here, without a right of their own (icmp(7)); where the user
 * namespace does not know the group, they cannot, and nothing else is lost.
 */
static void allow_ping(void)
{
    char range[32];
    struct err ignored;

    snprintf(range, sizeof(range), "%u %u", getegid(), getegid());
    (void)namespace_sysctl("ipv4/ping_group_range", range, &ignored);
}

/* No IPv6 of the kernel's own on this device. */
static int silent(const char *device, struct err *err)
{
    char name[80];

    if (!has_ipv6())
        return 0;
    snprintf(name, sizeof(name), "ipv6/conf/%s/disable_ipv6", device);
    return namespace_sysctl(name, "1", err);
}

/* No address but ours, no router is asked for, none is listened to. */
static int quiet(const char *device, struct err *err)
{
    static const char *const settings[][2] = {{"disable_ipv6", "0"},
                                              {"addr_gen_mode", "1"},
                                              {"accept_ra", "0"},
                                              {"router_solicitations", "0"}};
    char name[80];

    if (!has_ipv6())
        return 0;
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
        snprintf(name, sizeof(name), "ipv6/conf/%s/%s", device, settings[i][0]);
        if (namespace_sysctl(name, settings[i][1], err) < 0)
            return -1;
    }
    return 0;
}

#define LOCAL_WAIT_NS NSEC_PER_SEC
#define LOCAL_LOOK_NS (200 * 1000LL)

/* Adds the addresses; the IPv6 one is ours a work queue's turn later. */
static int address(struct rtnl *r, int i, struct err *err)
{
    int64_t until_ns = clock_mono_ns() + LOCAL_WAIT_NS;
    bool local;

    if (rtnl_address(r, OWN, wiring_address4[i], PREFIX4, err) < 0)
        return -1;
    if (!has_ipv6())
        return 0;
    if (rtnl_address(r, OWN, wiring_address6[i], PREFIX6, err) < 0)
        return -1;
    for (;;) {
        if (rtnl_is_local(r, wiring_address6[i], &local, err) < 0)
            return -1;
        if (local)
            return 0;
        if (clock_mono_ns() > until_ns)
            return err_set(err, ERR_SYSTEM, "address '%s' does not become ours",
                           wiring_address6[i]);
        clock_sleep_until(clock_mono_ns() + LOCAL_LOOK_NS);
    }
}

/* Both ends in this namespace; the far one comes up first and is told when the near one has. */
static int cable(struct rtnl *r, const char *near, const char *far, struct err *err)
{
    if (rtnl_veth(r, near, far, -1, err) < 0 || silent(far, err) < 0 || quiet(near, err) < 0 ||
        namespace_offload_off(near, err) < 0)
        return -1;
    if (rtnl_link_up(r, far, WIRING_MTU, ONE_SEGMENT, err) < 0 ||
        rtnl_link_up(r, near, WIRING_MTU, ONE_SEGMENT, err) < 0)
        return -1;
    return namespace_settle(far, err);
}

static int loopback_up(struct rtnl *r, struct err *err)
{
    allow_ping();
    if (namespace_offload_off(LO, err) < 0 ||
        (has_ipv6() && namespace_sysctl("ipv6/conf/lo/disable_ipv6", "0", err) < 0))
        return -1;
    return rtnl_link_up(r, LO, WIRING_MTU, ONE_SEGMENT, err);
}

/* ---- loopback ---- */

static int ordinary_address(struct rtnl *r, struct err *err)
{
    if (cable(r, OWN, DEAD, err) < 0)
        return -1;
    return address(r, 0, err);
}

/* Packets that come from the cable with addresses of this machine are meant to be taken. */
static int accept_local(struct err *err)
{
    static const char *const settings[][2] = {
        {"ipv4/conf/lo/route_localnet", "1"}, {"ipv4/conf/all/accept_local", "1"},
        {"ipv4/conf/lo/accept_local", "1"},   {"ipv4/conf/all/rp_filter", "0"},
        {"ipv4/conf/lo/rp_filter", "0"},
    };

    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
        if (namespace_sysctl(settings[i][0], settings[i][1], err) < 0)
            return -1;
    return 0;
}

static int detour(struct rtnl *r, struct err *err)
{
    if (accept_local(err) < 0 || cable(r, NEAR, TAP, err) < 0 || silent(NEAR, err) < 0)
        return -1;
    if (rtnl_clsact(r, LO, err) < 0 || rtnl_clsact(r, NEAR, err) < 0 ||
        rtnl_redirect(r, NEAR, RTNL_INGRESS, LO, RTNL_INGRESS, NULL, err) < 0)
        return -1;
    return rtnl_redirect(r, LO, RTNL_EGRESS, NEAR, RTNL_EGRESS, NULL, err);
}

int wiring_loopback(struct wiring *w, bool tapped, struct err *err)
{
    struct rtnl *r = NULL;
    int status = -1;

    *w = (struct wiring){.ns_count = 1, .ns = {-1, -1}, .tapped = tapped};
    if (namespace_new(&w->ns[0], err) < 0 || rtnl_open(&r, err) < 0)
        return -1;
    if (loopback_up(r, err) == 0 && ordinary_address(r, err) == 0 &&
        (!tapped || detour(r, err) == 0))
        status = 0;
    rtnl_close(r);
    return status;
}

/* ---- pair ---- */

/* The second namespace's device brings the first one's with it, where they are one cable. */
static int make_half(struct wiring *w, struct rtnl *r, int i, struct err *err)
{
    allow_ping();
    if (namespace_offload_off(LO, err) < 0 || rtnl_link_up(r, LO, WIRING_MTU, ONE_SEGMENT, err) < 0)
        return -1;
    if (w->tapped)
        return cable(r, OWN, TAP, err);
    if (i == 0)
        return 0;
    return rtnl_veth(r, OWN, OWN, w->ns[0], err);
}

static int begin_half(struct wiring *w, int i, struct err *err)
{
    struct rtnl *r = NULL;
    int status;

    if (namespace_new(&w->ns[i], err) < 0 || rtnl_open(&r, err) < 0)
        return -1;
    status = make_half(w, r, i, err);
    rtnl_close(r);
    return status;
}

/*
 * The kernel reports the groups of each IPv6 address to routers (MLD, the only packets here that
 * begin with hop-by-hop options), at times of its own. They would take draws from the random stream
 * that belong to the roles' packets, so they go to lo, where nobody minds them.
 */
static int divert_reports(struct rtnl *r, struct err *err)
{
    static const struct rtnl_match hop_by_hop = {
        .protocol = ETH_P_IPV6, .offset = 4, .value = IPPROTO_HOPOPTS << 8, .mask = 0xff00};

    if (!has_ipv6())
        return 0;
    if (rtnl_clsact(r, OWN, err) < 0)
        return -1;
    return rtnl_redirect(r, OWN, RTNL_EGRESS, LO, RTNL_INGRESS, &hop_by_hop, err);
}

/* Needs the devices of both; tells the MAC for the other's neighbour entry. */
static int bring_up(struct wiring *w, int i, unsigned char mac[RTNL_MAC_BYTES], struct err *err)
{
    struct rtnl_link link;
    struct rtnl *r = NULL;
    int status = -1;

    if (namespace_enter(w->ns[i], err) < 0 || rtnl_open(&r, err) < 0)
        return -1;
    if (namespace_offload_off(OWN, err) == 0 && quiet(OWN, err) == 0 &&
        divert_reports(r, err) == 0 && rtnl_link_up(r, OWN, WIRING_MTU, ONE_SEGMENT, err) == 0 &&
        rtnl_link_find(r, OWN, &link, err) == 0) {
        memcpy(mac, link.mac, RTNL_MAC_BYTES);
        status = 0;
    }
    rtnl_close(r);
    return status;
}

/* With both up: addresses, and the other as a neighbour. */
static int introduce(struct wiring *w, int i, const unsigned char mac[RTNL_MAC_BYTES],
                     struct err *err)
{
    struct rtnl *r = NULL;
    int other = 1 - i;
    int status = -1;

    if (namespace_enter(w->ns[i], err) < 0 || rtnl_open(&r, err) < 0)
        return -1;
    if (namespace_settle(OWN, err) == 0 && address(r, i, err) == 0 &&
        rtnl_neighbour(r, OWN, wiring_address4[other], mac, err) == 0)
        status = has_ipv6() ? rtnl_neighbour(r, OWN, wiring_address6[other], mac, err) : 0;
    rtnl_close(r);
    return status;
}

int wiring_pair(struct wiring *w, bool tapped, struct err *err)
{
    unsigned char mac[WIRING_PAIR][RTNL_MAC_BYTES];

    *w = (struct wiring){.ns_count = WIRING_PAIR, .ns = {-1, -1}, .tapped = tapped};
    for (int i = 0; i < WIRING_PAIR; i++)
        if (begin_half(w, i, err) < 0)
            return -1;
    for (int i = 0; i < WIRING_PAIR; i++)
        if (bring_up(w, i, mac[i], err) < 0)
            return -1;
    for (int i = WIRING_PAIR - 1; i >= 0; i--)
        if (introduce(w, i, mac[1 - i], err) < 0)
            return -1;
    return 0;
}

/* ---- what others need to know ---- */

int wiring_tap(const struct wiring *w, int i, struct wiring_tap *tap, struct err *err)
{
    struct rtnl_link near, end;
    struct rtnl *r = NULL;
    int status = -1;

    ABBA_ASSERT(w->tapped && i < w->ns_count);
    if (namespace_enter(w->ns[i], err) < 0 || rtnl_open(&r, err) < 0)
        return -1;
    if (rtnl_link_find(r, TAP, &end, err) == 0 &&
        rtnl_link_find(r, w->ns_count == 1 ? NEAR : OWN, &near, err) == 0) {
        tap->ifindex = end.ifindex;
        memcpy(tap->mac, near.mac, RTNL_MAC_BYTES);
        status = 0;
    }
    rtnl_close(r);
    return status;
}

const char *wiring_device(const struct wiring *w)
{
    return w->ns_count == 1 ? LO : OWN;
}

static int drops_of(struct rtnl *r, const char *name, uint64_t *drops, struct err *err)
{
    struct rtnl_link link;

    if (rtnl_link_find(r, name, &link, err) < 0)
        return -1;
    *drops += link.rx_dropped + link.tx_dropped;
    return 0;
}

int wiring_drops(const struct wiring *w, uint64_t *drops, struct err *err)
{
    *drops = 0;
    for (int i = 0; i < w->ns_count; i++) {
        struct rtnl *r = NULL;
        int status;

        if (namespace_enter(w->ns[i], err) < 0 || rtnl_open(&r, err) < 0)
            return -1;
        status = drops_of(r, w->ns_count == 1 ? LO : OWN, drops, err);
        if (status == 0 && w->tapped)
            status = drops_of(r, TAP, drops, err);
        if (status == 0 && w->tapped && w->ns_count == 1)
            status = drops_of(r, NEAR, drops, err);
        rtnl_close(r);
        if (status < 0)
            return -1;
    }
    return 0;
}
