#include "net/rtnl.h"

#include "base/mem.h"

#include <arpa/inet.h>
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/gen_stats.h>
#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/pkt_cls.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <linux/tc_act/tc_mirred.h>
#include <linux/veth.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define REQUEST_BYTES (80u * 1024)
#define REPLY_BYTES (80u * 1024)

struct rtnl {
    struct mnl_socket *socket;
    uint32_t sequence;
    struct nlmsghdr *last;
    union {
        char bytes[REQUEST_BYTES];
        struct nlmsghdr align;
    } request;
    union {
        char bytes[REPLY_BYTES];
        struct nlmsghdr align;
    } reply;
};

typedef int (*take_fn)(const struct nlmsghdr *nlh, void *out);

int rtnl_open(struct rtnl **out, struct err *err)
{
    struct rtnl *r = xcalloc(1, sizeof(*r));
    int on = 1;

    r->socket = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);
    if (!r->socket || mnl_socket_bind(r->socket, 0, MNL_SOCKET_AUTOPID) < 0) {
        err_sys(err, ERR_SYSTEM, errno, "no rtnetlink socket");
        rtnl_close(r);
        return -1;
    }
    mnl_socket_setsockopt(r->socket, NETLINK_EXT_ACK, &on, sizeof(on)); /* the kernel's sentences */
    *out = r;
    return 0;
}

void rtnl_close(struct rtnl *r)
{
    if (!r)
        return;
    if (r->socket)
        mnl_socket_close(r->socket);
    free(r);
}

/* ---- one request and its answer ---- */

static struct nlmsghdr *begin(struct rtnl *r, uint16_t type, uint16_t flags)
{
    struct nlmsghdr *nlh = mnl_nlmsg_put_header(r->request.bytes);

    nlh->nlmsg_type = type;
    nlh->nlmsg_flags = (uint16_t)(NLM_F_REQUEST | NLM_F_ACK | flags);
    nlh->nlmsg_seq = ++r->sequence;
    r->last = nlh;
    return nlh;
}

#define NEW (NLM_F_CREATE | NLM_F_EXCL)

static int find_sentence(const struct nlattr *attr, void *data)
{
    const char **sentence = data;

    if (mnl_attr_get_type(attr) == NLMSGERR_ATTR_MSG &&
        mnl_attr_validate(attr, MNL_TYPE_NUL_STRING) == 0)
        *sentence = mnl_attr_get_str(attr);
    return MNL_CB_OK;
}

/* The kernel's own words for its refusal (netlink(7), extended acknowledgement), or NULL. */
static const char *sentence_of(const struct nlmsghdr *nlh, const struct nlmsgerr *answer)
{
    const char *sentence = NULL;
    size_t offset = sizeof(*answer);

    if (!(nlh->nlmsg_flags & NLM_F_ACK_TLVS))
        return NULL;
    if (!(nlh->nlmsg_flags & NLM_F_CAPPED))
        offset += (answer->msg.nlmsg_len - sizeof(struct nlmsghdr) + 3) & ~(size_t)3;
    if (sizeof(*nlh) + offset >= nlh->nlmsg_len)
        return NULL;
    mnl_attr_parse(nlh, (unsigned)offset, find_sentence, &sentence);
    return sentence;
}

static int refused(const struct nlmsghdr *nlh, const char *what, const char *name, struct err *err)
{
    const struct nlmsgerr *answer = mnl_nlmsg_get_payload(nlh);
    const char *sentence = sentence_of(nlh, answer);

    if (answer->error == 0)
        return 0;
    err_sys(err, ERR_SYSTEM, -answer->error, "%s of device '%s' refused%s%s", what, name,
            sentence ? ": " : "", sentence ? sentence : "");
    return -1;
}

/* Sends what begin() began and waits for the acknowledgement; `take` gets what comes before it. */
static int ask(struct rtnl *r, const char *what, const char *name, take_fn take, void *out,
               struct err *err)
{
    struct nlmsghdr *nlh = r->last;
    ssize_t got;
    int left;

    if (mnl_socket_sendto(r->socket, nlh, nlh->nlmsg_len) < 0)
        return err_sys(err, ERR_SYSTEM, errno, "%s of device '%s' not asked for", what, name);
    for (;;) {
        got = mnl_socket_recvfrom(r->socket, r->reply.bytes, REPLY_BYTES);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return err_sys(err, ERR_SYSTEM, errno, "no answer to %s of device '%s'", what, name);
        left = (int)got;
        for (nlh = &r->reply.align; mnl_nlmsg_ok(nlh, left); nlh = mnl_nlmsg_next(nlh, &left)) {
            if (nlh->nlmsg_seq != r->sequence)
                continue;
            if (nlh->nlmsg_type == NLMSG_ERROR)
                return refused(nlh, what, name, err);
            if (take && take(nlh, out) < 0)
                return err_set(err, ERR_SYSTEM, "answer to %s of device '%s' is malformed", what,
                               name);
        }
    }
}

/* ---- links ---- */

static struct ifinfomsg *begin_link(struct rtnl *r, uint16_t type, uint16_t flags)
{
    struct nlmsghdr *nlh = begin(r, type, flags);
    struct ifinfomsg *link = mnl_nlmsg_put_extra_header(nlh, sizeof(*link));

    link->ifi_family = AF_UNSPEC;
    return link;
}

static void take_stats(const struct nlattr *attr, struct rtnl_link *out)
{
    struct rtnl_link_stats64 stats = {0};
    size_t len = mnl_attr_get_payload_len(attr);

    memcpy(&stats, mnl_attr_get_payload(attr), len < sizeof(stats) ? len : sizeof(stats));
    out->rx_packets = stats.rx_packets;
    out->tx_packets = stats.tx_packets;
    out->rx_dropped = stats.rx_dropped;
    out->tx_dropped = stats.tx_dropped;
}

static int take_link_attr(const struct nlattr *attr, void *data)
{
    struct rtnl_link *out = data;

    switch (mnl_attr_get_type(attr)) {
    case IFLA_ADDRESS:
        if (mnl_attr_get_payload_len(attr) == RTNL_MAC_BYTES)
            memcpy(out->mac, mnl_attr_get_payload(attr), RTNL_MAC_BYTES);
        break;
    case IFLA_MTU:
        out->mtu = mnl_attr_get_u32(attr);
        break;
    case IFLA_GSO_MAX_SEGS:
        out->gso_max_segs = mnl_attr_get_u32(attr);
        break;
    case IFLA_STATS64:
        take_stats(attr, out);
        break;
    default:
        break;
    }
    return MNL_CB_OK;
}

static int take_link(const struct nlmsghdr *nlh, void *data)
{
    const struct ifinfomsg *link = mnl_nlmsg_get_payload(nlh);
    struct rtnl_link *out = data;

    if (nlh->nlmsg_type != RTM_NEWLINK)
        return 0;
    out->ifindex = link->ifi_index;
    out->up = link->ifi_flags & IFF_UP;
    return mnl_attr_parse(nlh, sizeof(*link), take_link_attr, out) < 0 ? -1 : 0;
}

int rtnl_link_find(struct rtnl *r, const char *name, struct rtnl_link *out, struct err *err)
{
    memset(out, 0, sizeof(*out));
    memcpy(out->name, name, strnlen(name, sizeof(out->name) - 1));
    begin_link(r, RTM_GETLINK, 0);
    mnl_attr_put_strz(r->last, IFLA_IFNAME, name);
    return ask(r, "a look", name, take_link, out, err);
}

static int index_of(struct rtnl *r, const char *name, int *ifindex, struct err *err)
{
    struct rtnl_link link;

    if (rtnl_link_find(r, name, &link, err) < 0)
        return -1;
    *ifindex = link.ifindex;
    return 0;
}

int rtnl_veth(struct rtnl *r, const char *name, const char *peer, int peer_ns, struct err *err)
{
    struct nlattr *info, *data, *other;
    struct nlmsghdr *nlh;

    begin_link(r, RTM_NEWLINK, NEW);
    nlh = r->last;
    mnl_attr_put_strz(nlh, IFLA_IFNAME, name);
    info = mnl_attr_nest_start(nlh, IFLA_LINKINFO);
    mnl_attr_put_strz(nlh, IFLA_INFO_KIND, "veth");
    data = mnl_attr_nest_start(nlh, IFLA_INFO_DATA);
    other = mnl_attr_nest_start(nlh, VETH_INFO_PEER);
    mnl_nlmsg_put_extra_header(nlh, sizeof(struct ifinfomsg));
    mnl_attr_put_strz(nlh, IFLA_IFNAME, peer);
    if (peer_ns >= 0)
        mnl_attr_put_u32(nlh, IFLA_NET_NS_FD, (uint32_t)peer_ns);
    mnl_attr_nest_end(nlh, other);
    mnl_attr_nest_end(nlh, data);
    mnl_attr_nest_end(nlh, info);
    return ask(r, "making", name, NULL, NULL, err);
}

int rtnl_link_up(struct rtnl *r, const char *name, uint32_t mtu, uint32_t gso_max_segs,
                 struct err *err)
{
    struct ifinfomsg *link;
    int ifindex;

    if (index_of(r, name, &ifindex, err) < 0)
        return -1;
    link = begin_link(r, RTM_NEWLINK, 0);
    link->ifi_index = ifindex;
    link->ifi_flags = IFF_UP;
    link->ifi_change = IFF_UP;
    mnl_attr_put_u32(r->last, IFLA_MTU, mtu);
    mnl_attr_put_u32(r->last, IFLA_GSO_MAX_SEGS, gso_max_segs);
    return ask(r, "setting up", name, NULL, NULL, err);
}

/* ---- addresses and neighbours ---- */

struct binary_address {
    unsigned char family;
    unsigned char bytes[16];
    size_t len;
};

static struct binary_address parse(const char *text)
{
    struct binary_address a = {AF_INET, {0}, 4};

    if (inet_pton(AF_INET, text, a.bytes) == 1)
        return a;
    ABBA_ASSERT(inet_pton(AF_INET6, text, a.bytes) == 1);
    a.family = AF_INET6;
    a.len = 16;
    return a;
}

int rtnl_address(struct rtnl *r, const char *name, const char *address, int prefix, struct err *err)
{
    struct binary_address a = parse(address);
    struct ifaddrmsg *m;
    int ifindex;

    if (index_of(r, name, &ifindex, err) < 0)
        return -1;
    m = mnl_nlmsg_put_extra_header(begin(r, RTM_NEWADDR, NEW), sizeof(*m));
    m->ifa_family = a.family;
    m->ifa_prefixlen = (unsigned char)prefix;
    m->ifa_flags = a.family == AF_INET6 ? IFA_F_NODAD : 0;
    m->ifa_index = (uint32_t)ifindex;
    mnl_attr_put(r->last, IFA_LOCAL, a.len, a.bytes);
    mnl_attr_put(r->last, IFA_ADDRESS, a.len, a.bytes);
    return ask(r, "an address", name, NULL, NULL, err);
}

static int take_route(const struct nlmsghdr *nlh, void *data)
{
    const struct rtmsg *route = mnl_nlmsg_get_payload(nlh);
    bool *local = data;

    *local = nlh->nlmsg_type == RTM_NEWROUTE && route->rtm_type == RTN_LOCAL;
    return 0;
}

int rtnl_is_local(struct rtnl *r, const char *address, bool *local, struct err *err)
{
    struct binary_address a = parse(address);
    struct rtmsg *m = mnl_nlmsg_put_extra_header(begin(r, RTM_GETROUTE, 0), sizeof(*m));

    *local = false;
    m->rtm_family = a.family;
    m->rtm_dst_len = (unsigned char)(a.len * 8);
    mnl_attr_put(r->last, RTA_DST, a.len, a.bytes);
    return ask(r, "a route to own address", address, take_route, local, err);
}

int rtnl_neighbour(struct rtnl *r, const char *name, const char *address,
                   const unsigned char mac[RTNL_MAC_BYTES], struct err *err)
{
    struct binary_address a = parse(address);
    struct ndmsg *m;
    int ifindex;

    if (index_of(r, name, &ifindex, err) < 0)
        return -1;
    m = mnl_nlmsg_put_extra_header(begin(r, RTM_NEWNEIGH, NEW), sizeof(*m));
    m->ndm_family = a.family;
    m->ndm_state = NUD_PERMANENT;
    m->ndm_ifindex = ifindex;
    mnl_attr_put(r->last, NDA_DST, a.len, a.bytes);
    mnl_attr_put(r->last, NDA_LLADDR, RTNL_MAC_BYTES, mac);
    return ask(r, "a neighbour", name, NULL, NULL, err);
}

/* ---- disciplines and filters ---- */

static int begin_tc(struct rtnl *r, uint16_t type, uint16_t flags, const char *name,
                    struct tcmsg **out, struct err *err)
{
    struct tcmsg *m;
    int ifindex;

    if (index_of(r, name, &ifindex, err) < 0)
        return -1;
    m = mnl_nlmsg_put_extra_header(begin(r, type, flags), sizeof(*m));
    m->tcm_family = AF_UNSPEC;
    m->tcm_ifindex = ifindex;
    *out = m;
    return 0;
}

int rtnl_clsact(struct rtnl *r, const char *name, struct err *err)
{
    struct tcmsg *m;

    if (begin_tc(r, RTM_NEWQDISC, NEW, name, &m, err) < 0)
        return -1;
    m->tcm_parent = TC_H_CLSACT;
    m->tcm_handle = TC_H_MAKE(TC_H_CLSACT, 0);
    mnl_attr_put_strz(r->last, TCA_KIND, "clsact");
    return ask(r, "a place for filters (clsact)", name, NULL, NULL, err);
}

static void put_mirred(struct nlmsghdr *nlh, int to, enum rtnl_hook to_hook)
{
    struct tc_mirred mirred = {.action = TC_ACT_STOLEN, .ifindex = (uint32_t)to};
    struct nlattr *actions, *action, *options;

    mirred.eaction = to_hook == RTNL_INGRESS ? TCA_INGRESS_REDIR : TCA_EGRESS_REDIR;
    actions = mnl_attr_nest_start(nlh, TCA_U32_ACT);
    action = mnl_attr_nest_start(nlh, 1); /* the first and only action */
    mnl_attr_put_strz(nlh, TCA_ACT_KIND, "mirred");
    options = mnl_attr_nest_start(nlh, TCA_ACT_OPTIONS);
    mnl_attr_put(nlh, TCA_MIRRED_PARMS, sizeof(mirred), &mirred);
    mnl_attr_nest_end(nlh, options);
    mnl_attr_nest_end(nlh, action);
    mnl_attr_nest_end(nlh, actions);
}

/* A selector with one key; every packet fits one whose mask is 0. */
static void put_match(struct nlmsghdr *nlh, const struct rtnl_match *match)
{
    struct tc_u32_key key = {
        .mask = htonl(match->mask), .val = htonl(match->value), .off = match->offset};
    struct tc_u32_sel head = {.flags = TC_U32_TERMINAL, .nkeys = 1};
    unsigned char bytes[sizeof(head) + sizeof(key)];

    memcpy(bytes, &head, sizeof(head));
    memcpy(bytes + sizeof(head), &key, sizeof(key));
    mnl_attr_put(nlh, TCA_U32_SEL, sizeof(bytes), bytes);
}

int rtnl_redirect(struct rtnl *r, const char *name, enum rtnl_hook hook, const char *to,
                  enum rtnl_hook to_hook, const struct rtnl_match *match, struct err *err)
{
    static const struct rtnl_match all = {.protocol = ETH_P_ALL};
    struct nlattr *options;
    struct tcmsg *m;
    int to_index;

    if (index_of(r, to, &to_index, err) < 0 || begin_tc(r, RTM_NEWTFILTER, NEW, name, &m, err) < 0)
        return -1;
    match = match ? match : &all;
    m->tcm_parent =
        TC_H_MAKE(TC_H_CLSACT, hook == RTNL_INGRESS ? TC_H_MIN_INGRESS : TC_H_MIN_EGRESS);
    m->tcm_info = TC_H_MAKE(1u << 16, htons(match->protocol));
    mnl_attr_put_strz(r->last, TCA_KIND, "u32");
    options = mnl_attr_nest_start(r->last, TCA_OPTIONS);
    put_mirred(r->last, to_index, to_hook);
    put_match(r->last, match);
    mnl_attr_nest_end(r->last, options);
    return ask(r, "a redirecting filter (u32, mirred)", name, NULL, NULL, err);
}

int rtnl_qdisc_add(struct rtnl *r, const char *name, const char *kind, const void *options,
                   size_t len, struct err *err)
{
    struct tcmsg *m;

    ABBA_ASSERT(len <= RTNL_OPTIONS_MAX);
    if (begin_tc(r, RTM_NEWQDISC, NEW, name, &m, err) < 0)
        return -1;
    m->tcm_parent = TC_H_ROOT;
    mnl_attr_put_strz(r->last, TCA_KIND, kind);
    mnl_attr_put(r->last, TCA_OPTIONS, len, options);
    return ask(r, "the queueing discipline", name, NULL, NULL, err);
}

static int take_statistic(const struct nlattr *attr, void *data)
{
    const void *payload = mnl_attr_get_payload(attr);
    size_t len = mnl_attr_get_payload_len(attr);
    struct rtnl_qdisc *out = data;
    struct gnet_stats_basic basic;
    struct gnet_stats_queue queue;

    if (mnl_attr_get_type(attr) == TCA_STATS_BASIC && len >= 12) {
        memset(&basic, 0, sizeof(basic));
        memcpy(&basic, payload, len < sizeof(basic) ? len : sizeof(basic));
        out->bytes = basic.bytes;
        if (out->packets < basic.packets)
            out->packets = basic.packets;
        out->has_basic = true;
    }
    if (mnl_attr_get_type(attr) == TCA_STATS_PKT64 && len >= sizeof(uint64_t))
        memcpy(&out->packets, payload, sizeof(uint64_t));
    if (mnl_attr_get_type(attr) == TCA_STATS_QUEUE && len >= sizeof(queue)) {
        memcpy(&queue, payload, sizeof(queue));
        out->queued = queue.qlen;
        out->backlog = queue.backlog;
        out->drops = queue.drops;
        out->overlimits = queue.overlimits;
        out->requeues = queue.requeues;
        out->has_queue = true;
    }
    return MNL_CB_OK;
}

static int take_qdisc_attr(const struct nlattr *attr, void *data)
{
    struct rtnl_qdisc *out = data;
    size_t len = mnl_attr_get_payload_len(attr);

    switch (mnl_attr_get_type(attr)) {
    case TCA_KIND:
        memcpy(out->kind, mnl_attr_get_payload(attr),
               len < sizeof(out->kind) ? len : sizeof(out->kind) - 1);
        break;
    case TCA_OPTIONS:
        if (len > RTNL_OPTIONS_MAX)
            return MNL_CB_ERROR;
        memcpy(out->options, mnl_attr_get_payload(attr), len);
        out->options_len = len;
        break;
    case TCA_STATS2:
        return mnl_attr_parse_nested(attr, take_statistic, out);
    default:
        break;
    }
    return MNL_CB_OK;
}

static int take_qdisc(const struct nlmsghdr *nlh, void *data)
{
    if (nlh->nlmsg_type != RTM_NEWQDISC)
        return 0;
    return mnl_attr_parse(nlh, sizeof(struct tcmsg), take_qdisc_attr, data) < 0 ? -1 : 0;
}

/* The kernel answers to the group of listeners, and to who asks only with NLM_F_ECHO. */
int rtnl_qdisc_get(struct rtnl *r, const char *name, struct rtnl_qdisc *out, struct err *err)
{
    unsigned char *options = out->options;
    struct tcmsg *m;

    memset(out, 0, sizeof(*out));
    out->options = options;
    if (begin_tc(r, RTM_GETQDISC, NLM_F_ECHO, name, &m, err) < 0)
        return -1;
    m->tcm_parent = TC_H_ROOT;
    return ask(r, "reading the queueing discipline", name, take_qdisc, out, err);
}
