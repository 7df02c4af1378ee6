#include "datagrams.h"

#include "../common/address.h"
#include "../common/timing.h"
#include "arrivals.h"
#include "pace.h"
#include "payload.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { FINS = 20, FIN_GAP_NS = 20 * NS_PER_MS, QUIET_MS = 200, BUFFER = 8 << 20 };

/* ---- feed ---- */

struct feed {
    const struct options *o;
    int fd;
    uint64_t count;
    uint8_t data[PAYLOAD_MOST];
};

/* A datagram that the kernel does not take is one that gets lost: it is missing at the other end.
 */
static enum offer offer(void *user, uint32_t stream, int64_t now)
{
    struct feed *f = user;
    const struct payload head = {PAYLOAD_DATA, stream, f->count, now};

    payload_write(f->data, f->o->payload, &head);
    send(f->fd, f->data, f->o->payload, 0);
    f->count++;
    return OFFER_TAKEN;
}

static void say_end(struct feed *f)
{
    const struct timespec gap = {.tv_nsec = FIN_GAP_NS};

    for (int i = 0; i < FINS; i++) {
        const struct payload fin = {PAYLOAD_FIN, 0, f->count, clock_ns()};

        nanosleep(&gap, NULL);
        payload_write(f->data, PAYLOAD_LEAST, &fin);
        send(f->fd, f->data, PAYLOAD_LEAST, 0);
    }
}

static int open_socket(const char *text, bool listening, struct err *e)
{
    const int bytes = BUFFER;
    struct addrinfo *at;
    int fd, rc;

    if (address_parse(text, &at, e))
        return -1;
    fd = socket(at->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    rc = fd < 0      ? -1
         : listening ? bind(fd, at->ai_addr, at->ai_addrlen)
                     : connect(fd, at->ai_addr, at->ai_addrlen);
    freeaddrinfo(at);
    if (rc < 0) {
        err_sys(e, listening ? "cannot bind to '%s'" : "cannot send to '%s'", text);
        if (fd >= 0)
            close(fd);
        return -1;
    }
    setsockopt(fd, SOL_SOCKET, listening ? SO_RCVBUF : SO_SNDBUF, &bytes, sizeof(bytes));
    return fd;
}

int feed_run(const struct options *o, struct sender_result *r, struct err *e)
{
    struct feed f = {.o = o, .fd = open_socket(o->call, false, e)};
    struct pace pace = {.rate_bps = o->rate_bps,
                        .duration_ns = o->duration_ns,
                        .payload = o->payload,
                        .streams = 1,
                        .offer = offer,
                        .user = &f};

    *r = (struct sender_result){0};
    if (f.fd < 0)
        return -1;
    payload_prepare(f.data, o->payload, 0);
    pace_run(&pace);
    say_end(&f);
    close(f.fd);
    r->payloads = f.count;
    r->bytes = f.count * o->payload;
    r->ticks = pace.ticks;
    r->offered_ns = pace.ended_ns - pace.started_ns;
    return 0;
}

/* ---- sink ---- */

struct sink {
    const struct options *o;
    int fd;
    struct arrivals in;
    struct receiver_result *r;
    int64_t first_ns, last_ns;
};

static void take(struct sink *s, uint8_t *data, size_t len)
{
    int64_t now = clock_ns();
    struct payload p;

    if (!payload_read(data, len, &p) || !payload_intact(data, len)) {
        s->r->corrupt++;
        return;
    }
    if (p.kind == PAYLOAD_FIN) {
        s->in.ended = true;
        s->in.sent = p.sequence;
        return;
    }
    if (!arrivals_add(&s->in, p.sequence))
        return;
    s->first_ns = s->first_ns ? s->first_ns : now;
    s->last_ns = now;
    s->r->payloads++;
    s->r->transit_ns += now - p.sent_ns;
    s->r->late += now - p.sent_ns > s->o->latency_ns + 100 * NS_PER_MS;
}

/* Until the end was said and it has been quiet since. */
static int read_all(struct sink *s, struct err *e)
{
    struct pollfd readable = {.fd = s->fd, .events = POLLIN};
    int64_t begun = clock_ns();
    uint8_t data[2048];

    for (;;) {
        int64_t silent_ns = s->first_ns ? s->o->idle_ns : s->o->wait_ns;
        int n = poll(&readable, 1, s->in.ended ? QUIET_MS : (int)(silent_ns / NS_PER_MS));
        ssize_t len;

        if (n == 0 && s->in.ended)
            return 0;
        if (n == 0)
            return err_set(e, "nothing came for %g s", (double)silent_ns / 1e9);
        while ((len = recv(s->fd, data, sizeof(data), MSG_DONTWAIT)) >= 0)
            take(s, data, (size_t)len);
        if (s->in.ended && clock_ns() - begun > s->o->idle_ns + s->o->duration_ns)
            return 0;
    }
}

int sink_run(const struct options *o, struct receiver_result *r, struct err *e)
{
    struct sink s = {.o = o, .fd = open_socket(o->listen, true, e), .r = r};
    int rc;

    *r = (struct receiver_result){0};
    if (s.fd < 0)
        return -1;
    puts("ready");
    fflush(stdout);
    rc = read_all(&s, e);
    close(s.fd);
    r->bytes = r->payloads * o->payload;
    r->delivery_ns = s.last_ns - s.first_ns;
    r->duplicates = s.in.duplicates;
    r->out_of_order = s.in.out_of_order;
    r->missing = arrivals_missing(&s.in);
    r->ended = s.in.ended;
    return rc;
}
