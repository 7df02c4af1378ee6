#include "receiver.h"

#include "../common/timing.h"
#include "arrivals.h"
#include "payload.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { LATE_NS = 100 * NS_PER_MS, WAIT_MS = 100, BYE_NS = NS_PER_S, EVENTS = 64 };

struct receiver {
    struct session *s;
    struct arrivals *in; /* one a link */
    struct receiver_result *r;
    struct err *e;
    int epoll;
    uint32_t open;             /* streams that have neither ended nor been lost */
    int64_t first_ns, last_ns; /* of payloads; 0: none yet */
    int64_t heard_ns;          /* of anything */
};

/* ---- one payload ---- */

static void count_times(struct receiver *x, const struct payload *p, int64_t now)
{
    if (x->first_ns == 0)
        x->first_ns = now;
    x->last_ns = now;
    x->r->transit_ns += now - p->sent_ns;
    x->r->late += now - p->sent_ns > x->s->o->latency_ns + LATE_NS;
}

static void take_data(struct receiver *x, struct arrivals *in, const struct payload *p, int64_t now)
{
    if (x->s->o->verify && !arrivals_add(in, p->sequence))
        return;
    if (!x->s->o->verify)
        in->received++;
    count_times(x, p, now);
    x->r->payloads++;
    if (x->s->o->fault.die && x->r->payloads == x->s->o->fault.die)
        raise(SIGKILL);
}

static int wrong_size(struct receiver *x, const struct link *l, size_t len)
{
    return err_set(x->e, "stream %u: a payload of %zu bytes came, %llu are expected", l->stream,
                   len, (unsigned long long)x->s->o->payload);
}

/* ---- the end of a stream ---- */

static void confirm(struct receiver *x, struct link *l, const struct arrivals *in)
{
    uint8_t data[PAYLOAD_LEAST];
    const struct payload p = {PAYLOAD_FIN_ACK, l->stream, in->received, clock_ns()};

    payload_prepare(data, sizeof(data), l->stream);
    payload_write(data, sizeof(data), &p);
    x->s->lib->sendmsg2(l->socket, (char *)data, sizeof(data), NULL);
}

static void end_stream(struct receiver *x, struct link *l, struct arrivals *in,
                       const struct payload *p)
{
    if (!in->ended) {
        in->ended = true;
        in->sent = p->sequence;
        stats_add(&x->r->stats, x->s, l);
        x->r->ended++;
        x->open--;
    }
    confirm(x, l, in); /* each time: the one before may have been lost */
}

/* ---- what comes ---- */

static int take(struct receiver *x, struct link *l, uint8_t *data, size_t len)
{
    struct arrivals *in = &x->in[l - x->s->links];
    struct payload p;

    x->heard_ns = clock_ns();
    if (!payload_read(data, len, &p) || p.stream != l->stream ||
        (x->s->o->verify && !payload_intact(data, len))) {
        if (len != x->s->o->payload && len != PAYLOAD_LEAST)
            return wrong_size(x, l, len);
        x->r->corrupt++;
        return 0;
    }
    if (p.kind == PAYLOAD_FIN)
        end_stream(x, l, in, &p);
    else if (p.kind == PAYLOAD_DATA && len != x->s->o->payload)
        return wrong_size(x, l, len);
    else if (p.kind == PAYLOAD_DATA)
        take_data(x, in, &p, x->heard_ns);
    return 0;
}

/* A sender closes once all is confirmed; before that, it is a loss. */
static int gone(struct receiver *x, struct link *l)
{
    const struct arrivals *in = &x->in[l - x->s->links];

    x->s->lib->epoll_remove_usock(x->epoll, l->socket);
    if (in->ended) {
        l->lost = true;
        return 0;
    }
    x->open--;
    return session_lose(x->s, l, "before its end", in->received, x->e);
}

static int serve(struct receiver *x, const SRT_EPOLL_EVENT *event)
{
    uint8_t data[PAYLOAD_MOST + 64];
    struct link *l = session_link(x->s, event->fd);
    int len;

    if (!l || l->lost)
        return 0;
    len = x->s->lib->recvmsg2(l->socket, (char *)data, sizeof(data), NULL);
    if (len >= 0)
        return take(x, l, data, (size_t)len);
    if (x->s->lib->getlasterror(NULL) == SRT_EASYNCRCV && session_is_up(x->s, l))
        return 0;
    return gone(x, l);
}

static int wait_and_serve(struct receiver *x)
{
    SRT_EPOLL_EVENT events[EVENTS];
    int n = x->s->lib->epoll_uwait(x->epoll, events, EVENTS, WAIT_MS);

    for (int i = 0; i < n && i < EVENTS; i++)
        if (serve(x, &events[i]))
            return -1;
    return 0;
}

/* Whether all that is still open is the stream that may fail. */
static bool rest_may_fail(const struct receiver *x)
{
    for (uint32_t i = 0; i < x->s->count; i++)
        if (!x->in[i].ended && !x->s->links[i].lost && x->s->links[i].stream != x->s->o->may_fail)
            return false;
    return true;
}

static int receive_all(struct receiver *x)
{
    x->heard_ns = clock_ns();
    while (x->open) {
        if (wait_and_serve(x))
            return -1;
        if (clock_ns() - x->heard_ns <= x->s->o->idle_ns)
            continue;
        return rest_may_fail(x)
                   ? 0
                   : err_set(x->e, "nothing came for %g s: %u of %u streams have not ended",
                             (double)x->s->o->idle_ns / 1e9, x->open, x->s->count);
    }
    return 0;
}

/* Until the sender has closed, so that its last confirmation is not lost; no longer than a while.
 */
static void linger(struct receiver *x)
{
    int64_t end = clock_ns() + BYE_NS + 2 * x->s->o->latency_ns;
    uint32_t up = 1;

    while (up && clock_ns() < end) {
        if (wait_and_serve(x))
            return;
        up = 0;
        for (uint32_t i = 0; i < x->s->count; i++)
            up += !x->s->links[i].lost;
    }
}

static void sum_up(struct receiver *x)
{
    struct receiver_result *r = x->r;

    r->bytes = r->payloads * x->s->o->payload;
    r->delivery_ns = x->last_ns - x->first_ns;
    for (uint32_t i = 0; i < x->s->count; i++) {
        const struct arrivals *in = &x->in[i];

        r->duplicates += in->duplicates;
        r->out_of_order += in->out_of_order;
        if (x->s->o->verify)
            r->missing += arrivals_missing(in);
        else if (in->ended && in->sent > in->received)
            r->missing += in->sent - in->received;
    }
}

int receiver_run(struct session *s, struct receiver_result *r, struct err *e)
{
    struct receiver x = {.s = s, .r = r, .e = e, .open = s->count};
    int rc = -1;

    *r = (struct receiver_result){0};
    x.in = calloc(s->count, sizeof(*x.in));
    if (!x.in)
        return err_set(e, "out of memory");
    x.epoll = session_epoll(s, e);
    if (x.epoll >= 0)
        rc = receive_all(&x);
    sum_up(&x);
    if (rc == 0)
        linger(&x);
    free(x.in);
    return rc;
}

bool receiver_intact(const struct options *o, const struct receiver_result *r)
{
    return r->ended == o->streams && r->corrupt == 0 && r->duplicates == 0 &&
           (r->missing == 0 || o->tlpktdrop);
}
