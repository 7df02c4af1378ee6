#include "net/network.h"

#include "base/clock.h"
#include "base/mem.h"
#include "net/keeper.h"
#include "net/namespace.h"
#include "net/netem.h"
#include "net/proof.h"
#include "net/rtnl.h"
#include "net/wiring.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define ANSWER_MS 10000 /* the keeper answers within, or is killed */

struct net {
    struct arena arena;
    struct net_bound bound;
    enum net_topology topology;
    enum net_backend backend;
    bool seeded;
    const char *role[KEEPER_MAX_NS]; /* of namespace i; pair only */
    struct keeper_order order;
    struct net_impair impair[KEEPER_MAX_NS]; /* copies, for the proof */
    pid_t keeper;
    int control;
    int ns[KEEPER_MAX_NS], ns_count;
    size_t role_count;
};

/* ---- messages ---- */

/* Waits for the keeper's message; descriptors that come with it go to net->ns. */
static int hear(struct net *net, void *message, size_t size, struct err *err)
{
    struct pollfd wait = {net->control, POLLIN, 0};
    int64_t until_ns = clock_mono_ns() + ANSWER_MS * NSEC_PER_MSEC;
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int) * KEEPER_MAX_NS)];
    } control;
    struct iovec part = {message, size};
    struct msghdr m = {.msg_iov = &part,
                       .msg_iovlen = 1,
                       .msg_control = control.bytes,
                       .msg_controllen = sizeof(control.bytes)};
    ssize_t got = -1;
    int left_ms;

    while ((left_ms = (int)((until_ns - clock_mono_ns()) / NSEC_PER_MSEC)) > 0) {
        if (poll(&wait, 1, left_ms) < 1)
            continue;
        got = recvmsg(net->control, &m, MSG_CMSG_CLOEXEC);
        if (got >= 0 || errno != EINTR)
            break;
    }
    if (got != (ssize_t)size)
        return err_set(err, ERR_SYSTEM, "the private network's keeper %s",
                       left_ms > 0 ? "ended before its time" : "does not answer");
    for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c)) {
        net->ns_count = (int)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
        memcpy(net->ns, CMSG_DATA(c), (size_t)net->ns_count * sizeof(int));
    }
    return 0;
}

/* ---- up ---- */

static const char *keep(struct net *net, const char *text)
{
    return text ? arena_strdup(&net->arena, text) : NULL;
}

/* The proof outlives the caller's network. */
static void copy_impair(struct net *net, int i, const struct net_impair *impair)
{
    if (!impair)
        return;
    net->impair[i] = *impair;
    net->impair[i].distribution = keep(net, impair->distribution);
    net->impair[i].slot.distribution = keep(net, impair->slot.distribution);
    net->order.impair[i] = &net->impair[i];
}

static int fill_order(struct net *net, const struct net_request *q, struct err *err)
{
    struct keeper_order *o = &net->order;

    o->pair = q->network->topology == NET_PAIR;
    o->backend = q->network->backend;
    o->user_ns = q->user_ns;
    if (!o->pair) {
        copy_impair(net, 0, network_direction(q->network, "", ""));
        o->name[0] = "lo";
        o->seed[0] = q->seeds[0];
        return 0;
    }
    if (q->role_count != KEEPER_MAX_NS)
        return err_set(err, ERR_CONFIG,
                       "a network of topology 'pair' joins 2 roles, and the runner has %zu",
                       q->role_count);
    for (int i = 0; i < KEEPER_MAX_NS; i++) {
        copy_impair(net, i, network_direction(q->network, q->roles[i], q->roles[1 - i]));
        net->role[i] = keep(net, q->roles[i]);
        o->name[i] = arena_printf(&net->arena, "%s->%s", q->roles[i], q->roles[1 - i]);
        o->seed[i] = q->seeds[i];
    }
    return 0;
}

/* What the keeper could not do for want of a right is said with its reason. */
static void explain(struct err *err)
{
    struct arena arena = ARENA_INIT;
    int sys_errno = err->sys_errno;

    if (err->code == ERR_SYSTEM && !err->hint[0] &&
        (sys_errno == EPERM || sys_errno == ENOSPC || sys_errno == EACCES))
        err_hint(err, "%s", namespace_why_not(sys_errno, "", &arena).why);
    arena_release(&arena);
}

static int await(struct net *net, struct err *err)
{
    struct keeper_ready ready;

    if (keeper_start(&net->order, &net->keeper, &net->control, err) < 0 ||
        hear(net, &ready, sizeof(ready), err) < 0)
        return -1;
    if (ready.status < 0) {
        *err = ready.err;
        explain(err);
        return -1;
    }
    net->backend = ready.backend;
    net->seeded = ready.seeded;
    return 0;
}

int network_up(struct net **out, const struct net_request *q, struct err *err)
{
    struct net *net = xcalloc(1, sizeof(*net));

    ABBA_ASSERT(q->network->topology != NET_HOST);
    *out = NULL;
    net->control = -1;
    net->topology = q->network->topology;
    net->bound = q->network->bound;
    net->role_count = q->role_count;
    if (fill_order(net, q, err) < 0 || await(net, err) < 0) {
        network_kill(net);
        return err_wrap(err, "private network");
    }
    *out = net;
    return 0;
}

int network_fd(const struct net *net, size_t role)
{
    ABBA_ASSERT(role < net->role_count);
    return net->ns[net->topology == NET_PAIR ? role : 0];
}

const char *network_address(const struct net *net, size_t role)
{
    ABBA_ASSERT(role < net->role_count);
    return network_role_address(net->topology, role);
}

enum net_backend network_backend(const struct net *net)
{
    return net->backend;
}

/* ---- down ---- */

static void fill_flows(struct net *net, const struct keeper_report *r, struct net_proof *proof,
                       struct arena *arena)
{
    bool kernel = net->backend == NET_BACKEND_KERNEL;

    proof->flow_count = r->flow_count;
    proof->flows = arena_array(arena, r->flow_count, sizeof(*proof->flows));
    for (size_t i = 0; i < r->flow_count; i++) {
        struct net_flow_proof *flow = &proof->flows[i];
        int begins = r->flow_of[i];

        *flow = r->flow[i];
        flow->link = arena_strdup(arena, net->order.name[begins]);
        flow->seed = net->order.seed[begins];
        flow->seeded = net->seeded;
        if (net->order.impair[begins])
            proof_loss_interval(flow, net->order.impair[begins], kernel);
        if (!proof->failed)
            proof->failed = proof_check(flow, &net->bound, kernel, arena);
    }
}

static void fill_proof(struct net *net, const struct keeper_report *r, struct net_proof *proof,
                       struct arena *arena)
{
    proof->backend = net->backend == NET_BACKEND_AUTO ? "none" : net_backend_name(net->backend);
    fill_flows(net, r, proof, arena);
    proof->counter_count = (size_t)net->ns_count;
    proof->counters = arena_array(arena, proof->counter_count, sizeof(*proof->counters));
    for (int i = 0; i < net->ns_count; i++) {
        proof->counters[i] = r->counters[i];
        proof->counters[i].role = net->role[i] ? arena_strdup(arena, net->role[i]) : NULL;
    }
    proof->shaper_cpu_s = r->cpu_s;
    if (!proof->failed && r->link_drops && net->backend != NET_BACKEND_AUTO)
        proof->failed = arena_printf(
            arena, "links dropped %" PRIu64 " packets that nobody asked to lose", r->link_drops);
}

/* The keeper's end of the socket says the rest: with all closed here, nothing holds the network. */
static void let_go(struct net *net)
{
    if (net->control >= 0)
        close(net->control);
    net->control = -1;
    for (int i = 0; i < net->ns_count; i++)
        close(net->ns[i]);
    net->ns_count = 0;
}

int network_prove(struct net *net, struct net_proof *proof, struct arena *arena, struct err *err)
{
    struct keeper_report report = {.status = 0};
    int status = -1;

    memset(proof, 0, sizeof(*proof));
    if (send(net->control, "", 1, MSG_NOSIGNAL) < 0)
        err_sys(err, ERR_SYSTEM, errno, "the private network's keeper has gone");
    else if (hear(net, &report, sizeof(report), err) == 0)
        status = report.status;
    if (status == 0)
        fill_proof(net, &report, proof, arena);
    else if (report.status < 0)
        *err = report.err;
    let_go(net);
    return status == 0 ? 0 : err_wrap(err, "private network");
}

int network_down(struct net *net, struct net_proof *proof, struct arena *arena, struct err *err)
{
    int status = network_prove(net, proof, arena, err);

    network_kill(net);
    return status;
}

void network_kill(struct net *net)
{
    if (!net)
        return;
    if (net->keeper > 0) {
        kill(net->keeper, SIGKILL);
        while (waitpid(net->keeper, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    let_go(net);
    arena_release(&net->arena);
    free(net);
}
