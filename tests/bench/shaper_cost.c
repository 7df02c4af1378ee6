/*
 * shaper_cost: figures of the user back end, in private networks that it makes.
 *
 *   shaper_cost line RATE SECONDS DELAY_MS read|ignore   a paced source of 1316-byte datagrams, the
 *       shaper and a receiver, each a process. Prints: sent received unplanned link_drops
 *       late_p50_us late_p99_us late_max_us cpu_us_a_packet
 *   shaper_cost bare                 ns a packet of a bare read-and-send-back loop over the same
 *   shaper_cost shaped [DELAY_MS]    ring and veth, and of the shaper, fed with the same bursts
 *   shaper_cost capacity             packets/s that shaper_capacity finds at 20 ms
 *   shaper_cost rtt loopback|shaped  us of a datagram's round trip, p50 and p99
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "net/capacity.h"
#include "net/namespace.h"
#include "net/ring.h"
#include "net/shaper.h"
#include "net/wiring.h"

#define PAYLOAD 1316
#define BURST 64
#define TICK_NS 100000
#define BUFFER (8 << 20)

static struct err err;
static struct wiring wiring;
static struct wiring_tap tap;
static struct arena arena;

#define must(call)                                                                                 \
    do {                                                                                           \
        if ((call) < 0)                                                                            \
            die(#call);                                                                            \
    } while (0)

static void die(const char *call)
{
    fprintf(stderr, "shaper_cost: %s: %s\n", call, err.code ? err.msg : strerror(errno));
    exit(2);
}

static void network(bool tapped)
{
    must(namespace_permit(-1, &err));
    must(wiring_loopback(&wiring, tapped, &err));
    if (tapped)
        must(wiring_tap(&wiring, 0, &tap, &err));
}

static struct shaper *shaper_here(const struct net_impair *impair)
{
    struct shaper *s = NULL;

    must(shaper_new(&s, &err));
    must(shaper_port(s, tap.ifindex, tap.mac, &err));
    must(shaper_flow(s, 0, 0, "lo", impair, 1, &arena, &err));
    return s;
}

/* ---- sockets ---- */

static int receiver(struct sockaddr_in *at, int buffer)
{
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    socklen_t size = sizeof(*at);

    *at = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    must(bind(fd, (struct sockaddr *)at, sizeof(*at)));
    must(getsockname(fd, (struct sockaddr *)at, &size));
    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &buffer, sizeof(buffer)) < 0)
        must(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof(buffer)));
    return fd;
}

static int sender(const struct sockaddr_in *to)
{
    int fd = socket(AF_INET, SOCK_DGRAM, 0);

    must(connect(fd, (const struct sockaddr *)to, sizeof(*to)));
    return fd;
}

static struct mmsghdr messages[BURST];
static unsigned char payload[BURST][PAYLOAD];
static struct iovec pieces[BURST];

static void prepare_messages(void)
{
    for (int i = 0; i < BURST; i++) {
        pieces[i] = (struct iovec){payload[i], PAYLOAD};
        messages[i].msg_hdr = (struct msghdr){.msg_iov = &pieces[i], .msg_iovlen = 1};
    }
}

static void burst(int fd, unsigned count)
{
    unsigned done = 0;

    while (done < count) {
        int n = sendmmsg(fd, messages, count - done < BURST ? count - done : BURST, 0);

        must(n);
        done += (unsigned)n;
    }
}

/* ---- line: paced source, shaper, receiver ---- */

struct shared {
    uint64_t received;
    struct net_flow_proof proof;
    double cpu_s;
};

static double cpu_s(void)
{
    struct rusage u;

    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static void shape(struct shaper *s, int control, struct shared *shared)
{
    double before = cpu_s();

    must(shaper_run(s, control, &err));
    shared->cpu_s = cpu_s() - before;
    must(shaper_proof(s, 0, &shared->proof, &err));
    exit(0);
}

static void pin(long cpu)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET((size_t)(cpu % sysconf(_SC_NPROCESSORS_ONLN)), &set);
    (void)sched_setaffinity(0, sizeof(set), &set);
}

static void read_all(int fd, struct shared *shared)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    pin(1);
    for (;;) {
        int n = recvmmsg(fd, messages, BURST, MSG_WAITFORONE, NULL);

        must(n);
        __atomic_fetch_add(&shared->received, (uint64_t)n, __ATOMIC_RELAXED);
    }
}

static uint64_t send_paced(int fd, double rate, double seconds)
{
    int64_t began_ns = clock_mono_ns();
    uint64_t sent = 0;

    pin(0);
    prctl(PR_SET_TIMERSLACK, 1UL);
    for (int64_t now_ns = began_ns; now_ns < began_ns + (int64_t)(seconds * 1e9);
         now_ns = clock_mono_ns()) {
        uint64_t goal = (uint64_t)(rate * (double)(now_ns - began_ns) / 1e9);

        if (goal > sent)
            burst(fd, (unsigned)(goal - sent));
        sent = goal > sent ? goal : sent;
        clock_sleep_until(now_ns + TICK_NS);
    }
    return sent;
}

static void line(double rate, double seconds, int64_t delay_ns, bool reading)
{
    struct shared *shared =
        mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const struct net_impair impair = {.delay_ns = delay_ns};
    struct sockaddr_in to;
    struct shaper *s;
    uint64_t sent, drops_before = 0, drops = 0;
    int control[2], in;
    pid_t shaping, reader = -1;

    network(true);
    s = shaper_here(delay_ns ? &impair : NULL);
    must(pipe(control));
    shaping = fork();
    if (shaping == 0) {
        close(control[1]);
        shape(s, control[0], shared);
    }
    shaper_free(s);
    in = receiver(&to, reading ? BUFFER : 0);
    prepare_messages();
    if (reading && (reader = fork()) == 0)
        read_all(in, shared);
    must(wiring_drops(&wiring, &drops_before, &err));
    sent = send_paced(sender(&to), rate, seconds);
    clock_sleep_until(clock_mono_ns() + delay_ns + 100 * NSEC_PER_MSEC);
    if (reader > 0) {
        kill(reader, SIGKILL);
        waitpid(reader, NULL, 0); /* it holds the control's other end too */
    }
    close(control[1]);
    waitpid(shaping, NULL, 0);
    must(wiring_drops(&wiring, &drops, &err));
    printf("%llu %llu %llu %llu %.1f %.1f %.1f %.2f\n", (unsigned long long)sent,
           (unsigned long long)shared->received, (unsigned long long)shared->proof.unplanned,
           (unsigned long long)(drops - drops_before), (double)shared->proof.late_p50_ns / 1e3,
           (double)shared->proof.late_p99_ns / 1e3, (double)shared->proof.late_max_ns / 1e3,
           shared->cpu_s * 1e6 / (double)(shared->proof.offered ? shared->proof.offered : 1));
}

/* ---- the same bursts through a bare loop and through the shaper ---- */

static struct ring ring;

/* Puts all that is in the ring back on the cable, from where it lies. */
static uint32_t bare_pass(void)
{
    struct ring_packet p;
    uint32_t taken = 0;

    for (;;) {
        struct ring ahead = {.frames = ring.frames, .next = ring.next};
        uint32_t lost, count = 0;

        for (; count < RING_BATCH && ring_next(&ahead, &p); count++) {
            unsigned char *data = ring.frames + (p.data - ring.frames);

            memcpy(data, tap.mac, SHAPER_MAC_BYTES);
            ring_put(&ring, data, p.bytes);
            ahead.next = (ahead.next + 1) % RING_FRAMES;
        }
        if (count == 0)
            return taken;
        must(ring_send(&ring, &lost, &err));
        for (uint32_t i = 0; i < count; i++)
            ring_done(&ring);
        taken += count;
    }
}

static uint32_t shaper_pass_or_die(struct shaper *s)
{
    uint32_t packets;

    must(shaper_pass(s, &packets, &err));
    return packets;
}

static int by_size(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

#define CHUNKS 60

static int64_t held(struct shaper *s)
{
    struct net_flow_proof proof = {.queued = 0};

    if (s)
        must(shaper_proof(s, 0, &proof, &err));
    return (int64_t)proof.queued;
}

/*
 * ns a packet: lower quartile of chunks of 16 bursts, after the delay. Chunks in which more packets
 * came than left, or fewer, are not counted.
 */
static void loop_cost(struct shaper *s, int64_t delay_ns)
{
    double times[CHUNKS];
    struct sched_param fifo = {.sched_priority = 10};
    struct sockaddr_in to;
    int64_t began_ns = clock_mono_ns();
    int in = receiver(&to, 0), out = sender(&to);

    (void)in;
    (void)sched_setscheduler(0, SCHED_FIFO, &fifo);
    prepare_messages();
    for (int count = 0; count < CHUNKS;) {
        int64_t spent_ns = 0, before = held(s);
        uint32_t taken = 0;

        for (int i = 0; i < 16; i++) {
            int64_t from_ns;

            burst(out, BURST);
            from_ns = clock_mono_ns();
            taken += s ? shaper_pass_or_die(s) : bare_pass();
            spent_ns += clock_mono_ns() - from_ns;
        }
        times[count] = (double)spent_ns / taken;
        count += clock_mono_ns() - began_ns > delay_ns + 20 * NSEC_PER_MSEC &&
                 llabs(held(s) - before) <= taken / 20;
    }
    qsort(times, CHUNKS, sizeof(times[0]), by_size);
    printf("%.0f\n", times[CHUNKS / 4]);
}

/* ---- round trips ---- */

#define TRIPS 3000

static void echo(int fd)
{
    char byte;
    struct sockaddr_in from;
    socklen_t size = sizeof(from);

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (recvfrom(fd, &byte, 1, 0, (struct sockaddr *)&from, &size) == 1)
        must(sendto(fd, &byte, 1, 0, (struct sockaddr *)&from, size));
    exit(2);
}

static void rtt(bool shaped)
{
    static double times[TRIPS];
    struct shared *shared =
        mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct sockaddr_in to;
    char byte = 0;
    int control[2], fd;
    pid_t echoing;

    network(shaped);
    must(pipe(control));
    if (shaped) {
        struct shaper *s = shaper_here(NULL);

        if (fork() == 0) {
            close(control[1]);
            shape(s, control[0], shared);
        }
        shaper_free(s);
    }
    fd = receiver(&to, BUFFER);
    echoing = fork();
    if (echoing == 0)
        echo(fd);
    fd = sender(&to);
    for (int i = 0; i < TRIPS; i++) {
        int64_t from_ns = clock_mono_ns();

        must(send(fd, &byte, 1, 0));
        must(recv(fd, &byte, 1, 0));
        times[i] = (double)(clock_mono_ns() - from_ns) / 1e3;
    }
    kill(echoing, SIGKILL);
    qsort(times, TRIPS, sizeof(times[0]), by_size);
    printf("%.1f %.1f\n", times[TRIPS / 2], times[TRIPS / 100 * 99]);
}

static void capacity(void)
{
    const struct net_impair impair = {.delay_ns = 20 * NSEC_PER_MSEC};
    uint64_t packets_s;

    must(shaper_capacity(&impair, PAYLOAD, -1, &packets_s, &err));
    printf("%llu\n", (unsigned long long)packets_s);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    double delay_ms = argc == 3 ? strtod(argv[2], NULL) : 20;
    const struct net_impair impair = {.delay_ns = (int64_t)(delay_ms * 1e6)};

    arena_init(&arena);
    if (strcmp(what, "line") == 0 && argc == 6) {
        line(strtod(argv[2], NULL), strtod(argv[3], NULL), (int64_t)(strtod(argv[4], NULL) * 1e6),
             strcmp(argv[5], "read") == 0);
    } else if (strcmp(what, "bare") == 0) {
        network(true);
        must(ring_open(&ring, tap.ifindex, &err));
        must(ring_listen(&ring, tap.ifindex, &err));
        loop_cost(NULL, 0);
    } else if (strcmp(what, "shaped") == 0) {
        network(true);
        loop_cost(shaper_here(impair.delay_ns ? &impair : NULL), impair.delay_ns);
    } else if (strcmp(what, "capacity") == 0) {
        capacity();
    } else if (strcmp(what, "rtt") == 0 && argc == 3) {
        rtt(strcmp(argv[2], "shaped") == 0);
    } else {
        fprintf(stderr, "usage: shaper_cost line|bare|shaped|capacity|rtt ...\n");
        return 2;
    }
    return 0;
}
