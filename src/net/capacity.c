#include "net/capacity.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "net/namespace.h"
#include "net/shaper.h"
#include "net/wiring.h"

#define PAYLOAD_BYTES 1316u /* seven packets of an MPEG transport stream: what SRT sends */
#define PAYLOAD_MAX 1472u   /* in one packet of MTU 1500 */
#define DELAY_MAX_NS (50 * NSEC_PER_MSEC)
#define LONGEST_NS (2 * NSEC_PER_SEC)
#define BURST 64
#define BURSTS 16 /* in a chunk, whose time is one measurement */
#define CHUNKS 40
#define PRIORITY 10

/* A source and a receiver that does not read. */
struct source {
    int in, out;
    struct mmsghdr messages[BURST];
    struct iovec piece;
    unsigned char payload[PAYLOAD_MAX];
};

static int source_open(struct source *s, uint32_t bytes, struct err *err)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(to);
    int least = 0;

    s->piece = (struct iovec){s->payload, bytes};
    for (int i = 0; i < BURST; i++)
        s->messages[i].msg_hdr = (struct msghdr){.msg_iov = &s->piece, .msg_iovlen = 1};
    s->in = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    s->out = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (s->in < 0 || s->out < 0 ||
        setsockopt(s->in, SOL_SOCKET, SO_RCVBUF, &least, sizeof(least)) < 0 ||
        bind(s->in, (struct sockaddr *)&to, sizeof(to)) < 0 ||
        getsockname(s->in, (struct sockaddr *)&to, &size) < 0 ||
        connect(s->out, (struct sockaddr *)&to, sizeof(to)) < 0)
        return err_sys(err, ERR_SYSTEM, errno, "cannot open datagram sockets");
    return 0;
}

static int held(struct shaper *s, int64_t *packets, struct err *err)
{
    struct net_flow_proof proof;

    if (shaper_proof(s, 0, &proof, err) < 0)
        return -1;
    *packets = (int64_t)proof.queued;
    return 0;
}

/*
 * The shaper's own time for what it took of a chunk's bursts. *balanced: about as many packets left
 * its queue as came in, so that the time is that of whole packets.
 */
static int chunk(struct shaper *s, struct source *source, double *ns_packet, bool *balanced,
                 struct err *err)
{
    int64_t spent_ns = 0, before, after;
    uint32_t taken = 0;

    if (held(s, &before, err) < 0)
        return -1;
    for (int i = 0; i < BURSTS; i++) {
        int64_t began_ns;
        uint32_t packets;

        if (sendmmsg(source->out, source->messages, BURST, 0) < 0)
            return err_sys(err, ERR_SYSTEM, errno, "cannot send datagrams");
        began_ns = clock_mono_ns();
        if (shaper_pass(s, &packets, err) < 0)
            return -1;
        spent_ns += clock_mono_ns() - began_ns;
        taken += packets;
    }
    if (taken < BURST)
        return err_set(err, ERR_MEASURE, "the shaper took %u of %d packets", taken, BURST * BURSTS);
    *ns_packet = (double)spent_ns / taken;
    if (held(s, &after, err) < 0)
        return -1;
    *balanced = llabs(after - before) <= taken / 10;
    return 0;
}

static int by_size(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/*
 * Of the balanced chunks after the delay has passed, the lower quartile: others on the machine
 * disturb some of them.
 */
static int measure(struct shaper *s, struct source *source, int64_t delay_ns, uint64_t *packets_s,
                   struct err *err)
{
    double times[CHUNKS];
    int64_t began_ns = clock_mono_ns();
    int64_t now_ns = began_ns;
    int count = 0;

    while (count < CHUNKS && now_ns - began_ns < LONGEST_NS) {
        bool balanced = false;

        if (chunk(s, source, &times[count], &balanced, err) < 0)
            return -1;
        count += balanced && now_ns - began_ns > delay_ns;
        now_ns = clock_mono_ns();
    }
    if (count == 0)
        return err_set(err, ERR_MEASURE, "the machine is too busy to measure it");
    qsort(times, (size_t)count, sizeof(times[0]), by_size);
    *packets_s = (uint64_t)(1e9 / times[count / 4]);
    return 0;
}

static struct net_impair lightened(const struct net_impair *impair)
{
    struct net_impair light = *impair;

    if (light.delay_ns > DELAY_MAX_NS) {
        light.jitter_ns =
            (int64_t)((double)light.jitter_ns * DELAY_MAX_NS / (double)light.delay_ns);
        light.delay_ns = DELAY_MAX_NS;
    }
    light.rate = (struct net_rate){0};
    light.slot = (struct net_slot){0};
    return light;
}

/* What the process answers. */
struct answer {
    int status;
    uint64_t packets_s;
    struct err err;
};

static int probe(const struct net_impair *impair, uint32_t payload_bytes, int user_ns,
                 struct arena *arena, struct answer *a)
{
    struct net_impair light = impair ? lightened(impair) : (struct net_impair){0};
    struct sched_param fifo = {.sched_priority = PRIORITY};
    static struct source source;
    struct shaper *s = NULL;
    struct wiring_tap tap;
    struct wiring w;
    struct err *err = &a->err;

    if (namespace_permit(user_ns, err) < 0 || wiring_loopback(&w, true, err) < 0 ||
        wiring_tap(&w, 0, &tap, err) < 0 || shaper_new(&s, err) < 0 ||
        shaper_port(s, tap.ifindex, tap.mac, err) < 0 ||
        shaper_flow(s, 0, 0, "lo", impair ? &light : NULL, 1, arena, err) < 0 ||
        source_open(&source, payload_bytes, err) < 0)
        return -1;
    (void)sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &fifo);
    return measure(s, &source, light.delay_ns + light.jitter_ns, &a->packets_s, err);
}

/* The end of the process ends its namespace and closes all it has opened. */
static void probe_process(const struct net_impair *impair, uint32_t payload_bytes, int user_ns,
                          int to)
{
    struct arena arena;
    struct answer a;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    arena_init(&arena);
    memset(&a, 0, sizeof(a));
    a.status = probe(impair, payload_bytes, user_ns, &arena, &a);
    _exit(write(to, &a, sizeof(a)) == sizeof(a) ? 0 : 1);
}

int shaper_capacity(const struct net_impair *impair, uint32_t payload_bytes, int user_ns,
                    uint64_t *packets_s, struct err *err)
{
    struct answer a;
    int ends[2];
    ssize_t got;
    pid_t pid;

    if (payload_bytes == 0)
        payload_bytes = PAYLOAD_BYTES;
    if (payload_bytes > PAYLOAD_MAX)
        payload_bytes = PAYLOAD_MAX;
    if (pipe2(ends, O_CLOEXEC) < 0)
        return err_sys(err, ERR_SYSTEM, errno, "cannot make a pipe");
    pid = fork();
    if (pid == 0)
        probe_process(impair, payload_bytes, user_ns, ends[1]);
    close(ends[1]);
    got = pid < 0 ? -1 : read(ends[0], &a, sizeof(a));
    close(ends[0]);
    if (pid > 0)
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
            ;
    if (got != sizeof(a))
        return err_set(err, ERR_SYSTEM, "the process that measures the shaper's capacity died");
    if (a.status < 0) {
        *err = a.err;
        return err_wrap(err, "the shaper's capacity");
    }
    *packets_s = a.packets_s;
    return 0;
}
