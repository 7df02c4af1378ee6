#include "relay.h"

#include "../common/address.h"
#include "../common/timing.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { HEADER_WORDS = 4, DATAGRAM_MOST = 2048, BURST = 64, SAVED_NS = 100 * NS_PER_MS };

/* Control packets (the SRT protocol, draft-sharabayko-srt, section 3.2). */
enum { CONTROL_ACK = 2, CONTROL_NAK = 3, CONTROL_SHUTDOWN = 5 };
#define CONTROL_BIT 0x80000000U
#define RANGE_BIT 0x80000000U
#define SEQUENCE_MASK 0x7fffffffU

struct relay {
    const struct options *o;
    struct relay_result *r;
    int front, back; /* towards the caller, towards the listener */
    struct sockaddr_storage caller;
    socklen_t caller_len; /* 0: none yet */
    /* learned on the way */
    uint32_t target;    /* socket id at the listener's side; 0: unknown */
    uint32_t timestamp; /* of the caller's last control packet */
    uint32_t low, high; /* oldest sequence number not acknowledged, highest sent */
    bool low_known, high_known, closed;
    int64_t first_ns, last_ns, credited_ns;
    double credit; /* reports that are due */
};

static volatile sig_atomic_t stopped;

static void on_signal(int signal)
{
    (void)signal;
    stopped = 1;
}

/* ---- reading what passes ---- */

static uint32_t word(const uint8_t *data, size_t index)
{
    uint32_t value;

    memcpy(&value, data + 4 * index, sizeof(value));
    return ntohl(value);
}

/* Whether a is after b, on the circle of 31-bit sequence numbers. */
static bool after(uint32_t a, uint32_t b)
{
    uint32_t ahead = (a - b) & SEQUENCE_MASK;

    return ahead && ahead < SEQUENCE_MASK / 2;
}

static unsigned control_type(const uint8_t *data)
{
    return word(data, 0) >> 16 & 0x7fff;
}

static void learn_from_caller(struct relay *x, const uint8_t *data, size_t len)
{
    if (len < 4 * HEADER_WORDS || !(word(data, 0) & CONTROL_BIT))
        return;
    x->timestamp = word(data, 2);
    if (control_type(data) == CONTROL_SHUTDOWN)
        x->closed = true;
    if (control_type(data) != CONTROL_ACK || len < 4 * HEADER_WORDS + 4)
        return;
    x->target = word(data, 3);
    x->low = word(data, HEADER_WORDS) & SEQUENCE_MASK;
    x->low_known = true;
}

static void learn_from_listener(struct relay *x, const uint8_t *data, size_t len)
{
    uint32_t sequence;

    if (len < 4 * HEADER_WORDS)
        return;
    sequence = word(data, 0);
    if (sequence & CONTROL_BIT) {
        x->closed |= control_type(data) == CONTROL_SHUTDOWN;
        return;
    }
    if (!x->high_known || after(sequence, x->high))
        x->high = sequence;
    x->high_known = true;
}

/* ---- forwarding ---- */

static void from_caller(struct relay *x)
{
    uint8_t data[DATAGRAM_MOST];

    for (int i = 0; i < BURST; i++) {
        struct sockaddr_storage from;
        socklen_t from_len = sizeof(from);
        ssize_t len = recvfrom(x->front, data, sizeof(data), MSG_DONTWAIT, (struct sockaddr *)&from,
                               &from_len);

        if (len < 0)
            return;
        x->caller = from;
        x->caller_len = from_len;
        learn_from_caller(x, data, (size_t)len);
        x->r->forwarded += send(x->back, data, (size_t)len, MSG_DONTWAIT) == len;
    }
}

static void from_listener(struct relay *x)
{
    uint8_t data[DATAGRAM_MOST];

    for (int i = 0; i < BURST; i++) {
        ssize_t len = recv(x->back, data, sizeof(data), MSG_DONTWAIT);

        if (len < 0)
            return;
        learn_from_listener(x, data, (size_t)len);
        if (x->caller_len)
            x->r->forwarded += sendto(x->front, data, (size_t)len, MSG_DONTWAIT,
                                      (struct sockaddr *)&x->caller, x->caller_len) == len;
    }
}

/* ---- loss reports ---- */

/* Whether there is something that a receiver could still miss. */
static bool range_is_live(const struct relay *x)
{
    return x->low_known && x->high_known && !x->closed && !after(x->low, x->high);
}

/* Reports all that is not acknowledged as lost. */
static void inject(struct relay *x, int64_t now)
{
    uint32_t packet[HEADER_WORDS + 2] = {
        htonl(CONTROL_BIT | CONTROL_NAK << 16),
        0,
        htonl(x->timestamp),
        htonl(x->target),
        htonl(RANGE_BIT | x->low),
        htonl(x->high),
    };
    size_t len = sizeof(packet);

    if (x->low == x->high) {
        packet[HEADER_WORDS] = htonl(x->high);
        len -= sizeof(packet[0]);
    }
    if (send(x->back, packet, len, MSG_DONTWAIT) != (ssize_t)len)
        return;
    x->credit -= 1;
    x->r->naks++;
    if (x->first_ns == 0)
        x->first_ns = now;
    x->last_ns = now;
}

static void flood(struct relay *x)
{
    int64_t now = clock_ns();
    double most = (double)x->o->naks * SAVED_NS / NS_PER_S + 1;

    if (x->credited_ns)
        x->credit += (double)x->o->naks * (double)(now - x->credited_ns) / NS_PER_S;
    x->credited_ns = now;
    if (x->credit > most)
        x->credit = most;
    while (x->credit >= 1 && range_is_live(x)) {
        double before = x->credit;

        inject(x, now);
        if (before - x->credit < 1)
            return; /* the socket is full */
    }
}

/* ---- the loop ---- */

static int open_sockets(struct relay *x, struct err *e)
{
    struct addrinfo *at, *to;
    const int bytes = 4 << 20;
    int rc = 0;

    if (address_parse(x->o->listen, &at, e))
        return -1;
    if (address_parse(x->o->call, &to, e)) {
        freeaddrinfo(at);
        return -1;
    }
    x->front = socket(at->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    x->back = socket(to->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (x->front < 0 || x->back < 0)
        rc = err_sys(e, "cannot make a socket");
    else if (bind(x->front, at->ai_addr, at->ai_addrlen) < 0)
        rc = err_sys(e, "cannot bind to '%s'", x->o->listen);
    else if (connect(x->back, to->ai_addr, to->ai_addrlen) < 0)
        rc = err_sys(e, "cannot send to '%s'", x->o->call);
    freeaddrinfo(at);
    freeaddrinfo(to);
    if (rc)
        return rc;
    setsockopt(x->front, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
    setsockopt(x->back, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
    return 0;
}

/* SIGTERM is let in only while waiting, so that none is missed. */
static void hold_signal(sigset_t *waiting)
{
    const struct sigaction action = {.sa_handler = on_signal};
    sigset_t blocked;

    sigaction(SIGTERM, &action, NULL);
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGTERM);
    sigprocmask(SIG_BLOCK, &blocked, waiting);
    sigdelset(waiting, SIGTERM);
}

static void forward_until_stopped(struct relay *x)
{
    const struct timespec tick = {.tv_nsec = PACER_TICK_NS};
    struct pollfd watched[] = {{.fd = x->front, .events = POLLIN},
                               {.fd = x->back, .events = POLLIN}};
    sigset_t waiting;

    hold_signal(&waiting);
    while (!stopped) {
        bool ticking = x->o->naks && x->high_known && !x->closed;

        if (ppoll(watched, 2, ticking ? &tick : NULL, &waiting) < 0 && errno != EINTR)
            return;
        from_listener(x);
        from_caller(x);
        if (ticking)
            flood(x);
    }
}

int relay_run(const struct options *o, struct relay_result *r, struct err *e)
{
    struct relay x = {.o = o, .r = r, .front = -1, .back = -1};
    int rc;

    *r = (struct relay_result){0};
    rc = open_sockets(&x, e);
    if (rc == 0) {
        printf("ready\n");
        fflush(stdout);
        forward_until_stopped(&x);
        r->flood_ns = x.last_ns - x.first_ns;
        r->short_of = (double)r->naks < 0.9 * (double)o->naks * (double)r->flood_ns / NS_PER_S ||
                      (o->naks && r->naks == 0);
    }
    if (x.front >= 0)
        close(x.front);
    if (x.back >= 0)
        close(x.back);
    return rc;
}
