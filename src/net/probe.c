/* network_probe: what a network does to datagrams that a child sends through it. */
#include "net/network.h"

#include "base/clock.h"
#include "base/mem.h"
#include "net/capacity.h"
#include "net/capacity_memory.h"
#include "net/namespace.h"
#include "net/proof.h"

#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROBE_MAX 10000
#define PAYLOAD_BYTES 100
#define FRAME_BYTES 142 /* with UDP, IP and MAC headers, as the rate counts it */
#define STEP_NS NSEC_PER_MSEC
#define TAIL_NS (100 * NSEC_PER_MSEC) /* beyond the longest that a round trip should take */

/* ---- what to expect ---- */

/* Of a round trip: both directions together. */
struct expectation {
    double delay_ns, jitter_ns, least_ns, wire_ns;
    double passes; /* probability that a datagram comes back */
    bool timed;    /* the delay is one that a median shows */
    bool counted;  /* losses are independent: their count has an interval */
};

static void expect_direction(struct expectation *e, const struct net_impair *impair)
{
    double corrupted;

    if (!impair)
        return;
    e->delay_ns += (double)impair->delay_ns;
    e->jitter_ns += (double)impair->jitter_ns;
    e->least_ns += impair->distribution || impair->reorder.scaled || impair->gap
                       ? 0
                       : fmax(0, (double)(impair->delay_ns - impair->jitter_ns));
    if (impair->rate.bit_s)
        e->wire_ns += FRAME_BYTES * 8e9 / (double)impair->rate.bit_s;
    corrupted = (double)impair->corrupt.scaled / UINT32_MAX; /* the checksum drops it */
    e->passes *= (1 - net_loss_effective(&impair->loss, NULL)) * (1 - corrupted);
    if (impair->slot.max_ns || impair->slot.jitter_ns || impair->reorder.scaled || impair->gap ||
        (impair->keep_order && impair->jitter_ns))
        e->timed = false;
    if (impair->loss.model == LOSS_STATE || impair->loss.model == LOSS_GEMODEL ||
        impair->loss.correlation.scaled || impair->duplicate.scaled || impair->ecn ||
        impair->corrupt_correlation.scaled || impair->limit)
        e->counted = false;
}

static struct expectation expect(const struct net_request *q)
{
    struct expectation e = {.passes = 1, .timed = true, .counted = true};
    bool pair = q->network->topology == NET_PAIR;

    expect_direction(
        &e, network_direction(q->network, pair ? q->roles[0] : "", pair ? q->roles[1] : ""));
    expect_direction(
        &e, network_direction(q->network, pair ? q->roles[1] : "", pair ? q->roles[0] : ""));
    return e;
}

/* ---- the child that sends ---- */

struct flight {
    int near, far; /* sockets: near sends, far sends back */
    struct sockaddr_in far_address;
    int count, sent, received;
    int64_t step_ns, tail_ns, next_ns;
    int64_t sent_ns[PROBE_MAX], rtt_ns[PROBE_MAX]; /* rtt 0: not back */
};

static int open_at(int ns, const char *address, struct sockaddr_in *out, struct err *err)
{
    struct sockaddr_in a = {.sin_family = AF_INET};
    socklen_t len = sizeof(a);
    int bytes = 4 << 20;
    int fd;

    if (namespace_enter_owned(ns, err) < 0)
        return -1;
    inet_pton(AF_INET, address, &a.sin_addr);
    fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0 ||
        getsockname(fd, (struct sockaddr *)out, &len) < 0)
        return err_sys(err, ERR_SYSTEM, errno, "no socket to probe '%s' with", address);
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
    return fd;
}

static void send_next(struct flight *f, int64_t now_ns)
{
    unsigned char payload[PAYLOAD_BYTES] = {0};

    memcpy(payload, &f->sent, sizeof(f->sent));
    f->sent_ns[f->sent] = now_ns;
    (void)!sendto(f->near, payload, sizeof(payload), 0, (struct sockaddr *)&f->far_address,
                  sizeof(f->far_address));
    f->sent++;
    f->next_ns += f->step_ns;
}

static void send_back(struct flight *f)
{
    unsigned char payload[PAYLOAD_BYTES];
    struct sockaddr_in from;
    socklen_t len = sizeof(from);
    ssize_t got;

    while ((got = recvfrom(f->far, payload, sizeof(payload), 0, (struct sockaddr *)&from, &len)) >
           0)
        (void)!sendto(f->far, payload, (size_t)got, 0, (struct sockaddr *)&from, len);
}

static void take_back(struct flight *f)
{
    unsigned char payload[PAYLOAD_BYTES];
    int which;

    while (recv(f->near, payload, sizeof(payload), 0) == PAYLOAD_BYTES) {
        memcpy(&which, payload, sizeof(which));
        if (which < 0 || which >= f->sent || f->rtt_ns[which]) /* a duplicate */
            continue;
        f->rtt_ns[which] = clock_mono_ns() - f->sent_ns[which];
        f->received++;
    }
}

static void fly(struct flight *f)
{
    struct pollfd wait[2] = {{f->near, POLLIN, 0}, {f->far, POLLIN, 0}};
    int64_t end_ns = 0;

    f->next_ns = clock_mono_ns();
    while (f->sent < f->count || (f->received < f->count && clock_mono_ns() < end_ns)) {
        int64_t now_ns = clock_mono_ns();
        struct timespec left;

        if (f->sent < f->count && now_ns >= f->next_ns)
            send_next(f, now_ns);
        end_ns = f->sent < f->count ? f->next_ns : f->sent_ns[f->count - 1] + f->tail_ns;
        left = clock_ns_timespec(end_ns > now_ns ? end_ns - now_ns : 0);
        if (ppoll(wait, 2, &left, NULL) < 0 && errno != EINTR)
            return;
        send_back(f);
        take_back(f);
    }
}

struct landed {
    int status;
    struct err err;
    int sent, received;
};

/* In the child: the figures go through `out`, first the struct, then the round trips. */
static _Noreturn void child(const struct net *net, const struct net_request *q, struct flight *f,
                            int out)
{
    size_t far_role = q->network->topology == NET_PAIR ? 1 : 0;
    struct landed landed = {.status = -1};
    struct sockaddr_in near_address;

    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    f->far = open_at(network_fd(net, far_role), network_address(net, far_role), &f->far_address,
                     &landed.err);
    if (f->far >= 0)
        f->near = open_at(network_fd(net, 0), network_address(net, 0), &near_address, &landed.err);
    if (f->far >= 0 && f->near >= 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0); /* credentials may have changed */
        fly(f);
        landed.status = 0;
    }
    landed.sent = f->sent;
    landed.received = f->received;
    if (write(out, &landed, sizeof(landed)) != (ssize_t)sizeof(landed))
        _exit(1);
    for (int i = 0; i < f->sent; i++)
        if (f->rtt_ns[i] && write(out, &f->rtt_ns[i], sizeof(f->rtt_ns[i])) < 0)
            _exit(1);
    _exit(0);
}

static bool read_all(int fd, void *out, size_t size)
{
    size_t done = 0;
    ssize_t got;

    while (done < size && ((got = read(fd, (char *)out + done, size - done)) > 0 || errno == EINTR))
        done += got > 0 ? (size_t)got : 0;
    return done == size;
}

static int send_child(const struct net *net, const struct net_request *q, struct flight *f,
                      struct err *err)
{
    struct landed landed;
    int ends[2];
    bool all;
    pid_t pid;

    if (pipe(ends) < 0)
        return err_sys(err, ERR_SYSTEM, errno, "no pipe to a probe");
    pid = fork();
    if (pid == 0) {
        close(ends[0]);
        child(net, q, f, ends[1]);
    }
    close(ends[1]);
    errno = 0;
    all = pid > 0 && read_all(ends[0], &landed, sizeof(landed)) &&
          read_all(ends[0], f->rtt_ns, (size_t)landed.received * sizeof(f->rtt_ns[0]));
    close(ends[0]);
    while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    if (!all)
        return err_set(err, ERR_SYSTEM, "the probe ended before its time");
    f->sent = landed.sent;
    f->received = landed.received;
    if (landed.status < 0)
        *err = landed.err;
    return landed.status;
}

/* ---- judgement ---- */

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static void compare_loss(struct net_probe *probe, const struct expectation *e, struct arena *arena)
{
    int lost = probe->sent - probe->received;
    uint64_t low, high;

    proof_binomial((uint64_t)probe->sent, 1 - e->passes, &low, &high);
    if (e->counted && ((uint64_t)lost < low || (uint64_t)lost > high))
        probe->reason =
            arena_printf(arena, "%d of %d round trips were lost, the model allows %d to %d", lost,
                         probe->sent, (int)low, (int)high);
}

static void compare_times(struct net_probe *probe, const struct expectation *e,
                          const struct net_bound *bound, struct arena *arena)
{
    double slack_ns = e->jitter_ns / 2 + 1e6 + 2 * (double)bound->lateness_p99_ns;
    double p50_ns = probe->rtt_p50_s * 1e9;

    if (probe->rtt_min_s * 1e9 < e->least_ns)
        probe->reason =
            arena_printf(arena, "a round trip took %.3f ms, less than the least, %.3f ms",
                         probe->rtt_min_s * 1e3, e->least_ns / 1e6);
    else if (e->timed && fabs(p50_ns - probe->expected_rtt_s * 1e9) > slack_ns)
        probe->reason =
            arena_printf(arena, "round trips took %.3f ms (median), expected were %.3f +- %.3f ms",
                         probe->rtt_p50_s * 1e3, probe->expected_rtt_s * 1e3, slack_ns / 1e6);
}

static void judge(struct net_probe *probe, struct flight *f, const struct expectation *e,
                  const struct net_bound *bound, struct arena *arena)
{
    int n = f->received;
    int middle = n / 2, last = n - 1 - n / 100;

    probe->sent = f->sent;
    probe->received = n;
    probe->rtt_min_s = probe->rtt_p50_s = probe->rtt_p99_s = NAN;
    probe->expected_rtt_s = (e->delay_ns + e->wire_ns) / 1e9;
    probe->loss = f->sent ? 1 - (double)n / f->sent : 0;
    probe->expected_loss = 1 - e->passes;
    qsort(f->rtt_ns, (size_t)n, sizeof(f->rtt_ns[0]), by_size);
    if (n) {
        probe->rtt_min_s = (double)f->rtt_ns[0] / 1e9;
        probe->rtt_p50_s = (double)f->rtt_ns[middle] / 1e9;
        probe->rtt_p99_s = (double)f->rtt_ns[last] / 1e9;
        compare_times(probe, e, bound, arena);
    } else if (e->passes > 0) {
        probe->reason = "no datagram came back";
    }
    if (!probe->reason)
        compare_loss(probe, e, arena);
    probe->agrees = !probe->reason;
}

/* One network, one child in it. */
static int one_flight(const struct net_request *q, struct flight *f, enum net_backend *backend,
                      struct arena *arena, struct err *err)
{
    struct net_proof unused;
    struct net *net;

    if (network_up(&net, q, err) < 0)
        return -1;
    *backend = network_backend(net);
    if (send_child(net, q, f, err) < 0) {
        network_kill(net);
        return -1;
    }
    return network_down(net, &unused, arena, err);
}

/* Of one processor's shaper, all directions together; the loopback's own, or the first link's. */
static int measure_capacity(struct net_probe *probe, const struct net_request *q, struct err *err)
{
    const char *from = "", *to = "";

    if (q->network->topology == NET_PAIR) {
        from = q->roles[0];
        to = q->roles[1];
    }
    if (!q->measure_anew && capacity_recall(q->network, &probe->capacity_packets_s))
        return 0;
    if (shaper_capacity(network_direction(q->network, from, to), 0, q->user_ns,
                        &probe->capacity_packets_s, err) < 0)
        return -1;
    capacity_remember(q->network, probe->capacity_packets_s);
    return 0;
}

int network_probe(struct net_probe *probe, const struct net_request *q, int packets,
                  struct arena *arena, struct err *err)
{
    struct flight *f = xcalloc(1, sizeof(*f));
    struct expectation e = expect(q);
    enum net_backend backend;
    int status;

    memset(probe, 0, sizeof(*probe));
    f->count = packets < 1 ? 1 : packets > PROBE_MAX ? PROBE_MAX : packets;
    f->step_ns = (int64_t)fmax(STEP_NS, 2 * e.wire_ns); /* a queue would add to the delay */
    f->tail_ns = TAIL_NS + (int64_t)(e.delay_ns + 8 * e.jitter_ns + e.wire_ns);
    status = one_flight(q, f, &backend, arena, err);
    if (status == 0) {
        probe->backend = backend == NET_BACKEND_AUTO ? "none" : net_backend_name(backend);
        judge(probe, f, &e, &q->network->bound, arena);
        if (backend == NET_BACKEND_USER)
            status = measure_capacity(probe, q, err);
    }
    free(f);
    return status;
}
