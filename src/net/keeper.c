#include "net/keeper.h"

#include "base/mem.h"
#include "net/namespace.h"
#include "net/netem.h"
#include "net/rtnl.h"
#include "net/shaper.h"
#include "net/snmp.h"
#include "net/wiring.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

struct keeper {
    const struct keeper_order *order;
    int control;
    pid_t parent;
    enum net_backend backend;
    bool seeded;
    struct wiring wiring;
    struct arena arena;
    struct shaper *shaper;
    struct net_counters before[KEEPER_MAX_NS];
    uint64_t drops_before;
    double cpu_before_s;
};

/* ---- a process of its own ---- */

/* Credentials that change clear it, so this comes after each step that may. */
static void die_with_abba(const struct keeper *k)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (getppid() != k->parent)
        _exit(1);
}

/* Everything but the standard streams, the socket and the user namespace: an abba's other sockets
 * held open here would hide its end from those who wait for end-of-file. */
static void close_others(int a, int b)
{
    unsigned low = (unsigned)(a < b ? a : b);
    unsigned high = (unsigned)(a < b ? b : a);

    if (a < 0 || b < 0)
        low = high;
    if (low > 3)
        close_range(3, low - 1, 0);
    if (high > low + 1)
        close_range(low + 1, high - 1, 0);
    close_range(high + 1, ~0u, 0);
}

/* A signal from the terminal is abba's to answer. */
static void stand_alone(struct keeper *k)
{
    sigset_t all;
    int null;

    die_with_abba(k);
    setsid();
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    close_others(k->control, k->order->user_ns);
    null = open("/dev/null", O_RDWR);
    if (null >= 0) {
        dup2(null, STDIN_FILENO);
        dup2(null, STDOUT_FILENO);
        close(null);
    }
    prctl(PR_SET_NAME, "abba-net", 0, 0, 0);
}

static double cpu_s(void)
{
    struct rusage use;

    getrusage(RUSAGE_SELF, &use);
    return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
           (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e6;
}

/* ---- up ---- */

/* Whether sch_netem is there, tried in a namespace that is left at once. */
static int kernel_can(bool *can, struct err *err)
{
    struct rtnl *r = NULL;
    int trial;

    if (namespace_new(&trial, err) < 0)
        return -1;
    close(trial);
    if (rtnl_open(&r, err) < 0)
        return -1;
    *can = netem_there(r, "lo");
    rtnl_close(r);
    return 0;
}

static int choose(struct keeper *k, struct err *err)
{
    const struct keeper_order *o = k->order;
    bool any = false, ordered = false;
    bool can = false;

    k->backend = o->backend;
    for (int i = 0; i < KEEPER_MAX_NS; i++) {
        any = any || o->impair[i];
        ordered = ordered || (o->impair[i] && o->impair[i]->keep_order);
    }
    if (o->backend != NET_BACKEND_AUTO || !any)
        return 0;
    if (!ordered && kernel_can(&can, err) < 0)
        return -1;
    k->backend = can ? NET_BACKEND_KERNEL : NET_BACKEND_USER;
    return 0;
}

static int install(struct keeper *k, int i, struct err *err)
{
    struct rtnl *r = NULL;
    int status;

    if (!k->order->impair[i])
        return 0;
    if (namespace_enter(k->wiring.ns[i], err) < 0 || rtnl_open(&r, err) < 0)
        return -1;
    status = netem_install(r, wiring_device(&k->wiring), k->order->impair[i], k->order->seed[i],
                           KEEPER_PACKET_BYTES, &k->seeded, err);
    rtnl_close(r);
    return status;
}

static int add_flows(struct keeper *k, struct err *err)
{
    struct wiring_tap tap;
    int count = k->wiring.ns_count;

    if (shaper_new(&k->shaper, err) < 0)
        return -1;
    for (int i = 0; i < count; i++)
        if (wiring_tap(&k->wiring, i, &tap, err) < 0 ||
            shaper_port(k->shaper, tap.ifindex, tap.mac, err) < 0)
            return -1;
    for (int i = 0; i < count; i++)
        if (shaper_flow(k->shaper, i, count - 1 - i, k->order->name[i], k->order->impair[i],
                        k->order->seed[i], &k->arena, err) < 0)
            return -1;
    k->seeded = true;
    return 0;
}

static int put_in_the_way(struct keeper *k, struct err *err)
{
    if (k->backend == NET_BACKEND_USER)
        return add_flows(k, err);
    for (int i = 0; i < k->wiring.ns_count && k->backend == NET_BACKEND_KERNEL; i++)
        if (install(k, i, err) < 0)
            return -1;
    return 0;
}

static int read_counters(struct keeper *k, struct net_counters *out, uint64_t *drops,
                         struct err *err)
{
    for (int i = 0; i < k->wiring.ns_count; i++)
        if (namespace_enter(k->wiring.ns[i], err) < 0 || snmp_read(&out[i], err) < 0)
            return -1;
    return wiring_drops(&k->wiring, drops, err);
}

static int build(struct keeper *k, struct err *err)
{
    bool tapped;

    if (namespace_permit(k->order->user_ns, err) < 0)
        return -1;
    die_with_abba(k);
    if (choose(k, err) < 0)
        return -1;
    tapped = k->backend == NET_BACKEND_USER;
    if ((k->order->pair ? wiring_pair : wiring_loopback)(&k->wiring, tapped, err) < 0)
        return -1;
    die_with_abba(k);
    if (put_in_the_way(k, err) < 0)
        return -1;
    return read_counters(k, k->before, &k->drops_before, err);
}

/* ---- talking to abba ---- */

static void send_ready(struct keeper *k, const struct keeper_ready *ready)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int) * KEEPER_MAX_NS)];
    } control;
    struct iovec part = {(void *)ready, sizeof(*ready)};
    struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1};
    size_t fds_size = sizeof(int) * (size_t)k->wiring.ns_count;
    struct cmsghdr *c;

    memset(&control, 0, sizeof(control));
    if (ready->status == 0) {
        m.msg_control = control.bytes;
        m.msg_controllen = CMSG_SPACE(fds_size);
        c = CMSG_FIRSTHDR(&m);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(fds_size);
        memcpy(CMSG_DATA(c), k->wiring.ns, fds_size);
    }
    if (sendmsg(k->control, &m, MSG_NOSIGNAL) < 0)
        _exit(1);
}

static int run(struct keeper *k, struct err *err)
{
    struct pollfd wait = {k->control, POLLIN, 0};

    k->cpu_before_s = cpu_s();
    if (k->shaper)
        return shaper_run(k->shaper, k->control, err);
    while (poll(&wait, 1, -1) < 0 && errno == EINTR)
        ;
    return 0;
}

static int prove_kernel(struct keeper *k, struct keeper_report *r, struct err *err)
{
    for (int i = 0; i < k->wiring.ns_count; i++) {
        struct net_flow_proof *flow = &r->flow[r->flow_count];
        struct rtnl *netlink = NULL;
        int status;

        if (!k->order->impair[i])
            continue;
        if (namespace_enter(k->wiring.ns[i], err) < 0 || rtnl_open(&netlink, err) < 0)
            return -1;
        status = netem_read(netlink, wiring_device(&k->wiring), k->order->impair[i], flow, err);
        rtnl_close(netlink);
        if (status < 0)
            return -1;
        r->flow_of[r->flow_count++] = (unsigned char)i;
    }
    return 0;
}

static int prove_user(struct keeper *k, struct keeper_report *r, struct err *err)
{
    for (int i = 0; i < k->wiring.ns_count; i++) {
        if (shaper_proof(k->shaper, i, &r->flow[i], err) < 0)
            return -1;
        r->flow_of[r->flow_count++] = (unsigned char)i;
    }
    return 0;
}

static int prove(struct keeper *k, struct keeper_report *r, struct err *err)
{
    uint64_t drops;

    r->cpu_s = cpu_s() - k->cpu_before_s;
    if (k->backend == NET_BACKEND_USER && prove_user(k, r, err) < 0)
        return -1;
    if (k->backend == NET_BACKEND_KERNEL && prove_kernel(k, r, err) < 0)
        return -1;
    if (read_counters(k, r->counters, &drops, err) < 0)
        return -1;
    for (int i = 0; i < k->wiring.ns_count; i++)
        snmp_subtract(&r->counters[i], &k->before[i]);
    r->link_drops = drops - k->drops_before;
    return 0;
}

static _Noreturn void keep(struct keeper *k)
{
    struct keeper_ready ready = {.status = 0};
    struct keeper_report report = {.status = 0};
    char asked;

    stand_alone(k);
    ready.status = build(k, &ready.err);
    ready.backend = k->backend;
    ready.seeded = k->seeded;
    send_ready(k, &ready);
    if (ready.status < 0)
        _exit(1);
    report.status = run(k, &report.err);
    while (recv(k->control, &asked, 1, 0) < 0 && errno == EINTR)
        ;
    if (report.status == 0)
        report.status = prove(k, &report, &report.err);
    if (send(k->control, &report, sizeof(report), MSG_NOSIGNAL) < 0)
        _exit(1);
    shaper_free(k->shaper);
    arena_release(&k->arena);
    _exit(0);
}

int keeper_start(const struct keeper_order *order, pid_t *pid, int *control, struct err *err)
{
    struct keeper k = {.order = order, .parent = getpid()};
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        return err_sys(err, ERR_SYSTEM, errno, "no socket for the network's keeper");
    *pid = fork();
    if (*pid < 0) {
        err_sys(err, ERR_SYSTEM, errno, "no process for the network's keeper");
        close(ends[0]);
        close(ends[1]);
        return -1;
    }
    if (*pid == 0) {
        k.control = ends[1];
        keep(&k);
    }
    close(ends[1]);
    *control = ends[0];
    return 0;
}
