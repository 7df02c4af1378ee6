#include "sender.h"

#include "../common/timing.h"
#include "pace.h"
#include "payload.h"

#include <stdlib.h>

enum { FIN_AGAIN_NS = 50 * NS_PER_MS, FIN_POLL_MS = 20, WATCH_TICKS = 50, EVENTS = 64 };

struct out {
    uint8_t data[PAYLOAD_MOST];
    uint64_t count;
    uint32_t room; /* payloads that may still be sent before the queue is looked at again */
    bool looked;   /* in this tick */
    bool confirmed;
};

struct sender {
    struct session *s;
    struct out *out; /* one a link */
    struct sender_result *r;
    struct err *e;
    bool full; /* some stream was at its limit in this tick */
    int64_t started_ns;
};

/* ---- the stream that may fail ---- */

static struct link *watched_link(const struct sender *x)
{
    for (uint32_t i = 0; i < x->s->count; i++)
        if (x->s->links[i].stream == x->s->o->may_fail)
            return &x->s->links[i];
    return NULL;
}

/* libsrt forgets a broken connection's statistics, so they are read now and then. */
static void watch(struct sender *x)
{
    struct link *l = watched_link(x);
    struct stats now = {0};

    if (!l)
        return;
    x->r->watched_lost = l->lost;
    if (!l->lost)
        stats_add(&now, x->s, l);
    if (now.links == 0)
        return;
    x->r->watched = now;
    x->r->watched_ns = clock_ns() - x->started_ns;
}

/* ---- offering ---- */

static enum offer lose(struct sender *x, struct link *l, const char *when)
{
    const struct out *out = &x->out[l - x->s->links];

    if (session_lose(x->s, l, when, out->count, x->e))
        return OFFER_FAILED;
    return OFFER_FULL;
}

/* Looks, once a tick at most, how much room there is for more that waits. */
static enum offer look_for_room(struct sender *x, struct link *l, struct out *out)
{
    size_t waiting = 0;

    if (out->looked)
        return OFFER_FULL;
    out->looked = true;
    if (x->s->lib->getsndbuffer(l->socket, &waiting, NULL) < 0)
        return lose(x, l, "while sending");
    if (waiting < x->s->o->pending) {
        out->room = x->s->o->pending - (uint32_t)waiting;
        return OFFER_TAKEN;
    }
    x->full = true;
    return OFFER_FULL;
}

static enum offer send_payload(struct sender *x, struct link *l, struct out *out, int64_t now)
{
    const struct options *o = x->s->o;
    const struct payload head = {PAYLOAD_DATA, l->stream, out->count, now};

    payload_write(out->data, o->payload, &head);
    if (o->fault.corrupt && out->count % o->fault.corrupt == o->fault.corrupt - 1)
        out->data[o->payload - 1] ^= 1;
    if (x->s->lib->sendmsg2(l->socket, (char *)out->data, (int)o->payload, NULL) < 0) {
        if (x->s->lib->getlasterror(NULL) == SRT_EASYNCSND)
            return OFFER_FULL;
        return lose(x, l, "while sending");
    }
    if (o->fault.corrupt)
        payload_prepare(out->data, o->payload, l->stream);
    out->count++;
    out->room--;
    return OFFER_TAKEN;
}

static enum offer offer(void *user, uint32_t index, int64_t now)
{
    struct sender *x = user;
    struct link *l = &x->s->links[index];
    struct out *out = &x->out[index];

    if (l->lost)
        return OFFER_FULL;
    if (out->room == 0) {
        enum offer found = look_for_room(x, l, out);

        if (found != OFFER_TAKEN)
            return found;
    }
    return send_payload(x, l, out, now);
}

static void tick(void *user)
{
    struct sender *x = user;

    for (uint32_t i = 0; i < x->s->count; i++)
        x->out[i].looked = false;
    x->r->full_ticks += x->full;
    x->full = false;
    if (x->r->ticks++ % WATCH_TICKS == 0)
        watch(x);
}

static int offer_all(struct sender *x)
{
    const struct options *o = x->s->o;
    struct pace pace = {
        .rate_bps = o->rate_bps,
        .duration_ns = o->duration_ns,
        .payload = o->payload,
        .streams = x->s->count,
        .offer = offer,
        .tick = tick,
        .user = x,
    };
    int rc;

    x->started_ns = clock_ns();
    rc = pace_run(&pace);
    x->r->full_ticks += x->full;
    x->r->offered_ns = pace.ended_ns - pace.started_ns;
    return rc;
}

/* ---- the end ---- */

/* Once more on every stream that is not confirmed: one that comes too late may be dropped. */
static int send_fins(struct sender *x, bool *open)
{
    *open = false;
    for (uint32_t i = 0; i < x->s->count; i++) {
        struct link *l = &x->s->links[i];
        struct out *out = &x->out[i];
        const struct payload fin = {PAYLOAD_FIN, l->stream, out->count, clock_ns()};

        if (l->lost || out->confirmed)
            continue;
        *open = true;
        payload_write(out->data, PAYLOAD_LEAST, &fin);
        if (x->s->lib->sendmsg2(l->socket, (char *)out->data, PAYLOAD_LEAST, NULL) < 0 &&
            x->s->lib->getlasterror(NULL) != SRT_EASYNCSND &&
            lose(x, l, "before the receiver had confirmed the end") == OFFER_FAILED)
            return -1;
    }
    return 0;
}

static int read_confirmation(struct sender *x, struct link *l)
{
    uint8_t data[PAYLOAD_MOST + 64];
    struct payload p;
    int len = x->s->lib->recvmsg2(l->socket, (char *)data, sizeof(data), NULL);

    if (len < 0) {
        if (x->s->lib->getlasterror(NULL) == SRT_EASYNCRCV)
            return 0;
        return lose(x, l, "before the receiver had confirmed the end") == OFFER_FAILED ? -1 : 0;
    }
    if (payload_read(data, (size_t)len, &p) && p.kind == PAYLOAD_FIN_ACK && p.stream == l->stream)
        x->out[l - x->s->links].confirmed = true;
    return 0;
}

static int read_confirmations(struct sender *x, int epoll)
{
    SRT_EPOLL_EVENT events[EVENTS];
    int n = x->s->lib->epoll_uwait(epoll, events, EVENTS, FIN_POLL_MS);

    for (int i = 0; i < n && i < EVENTS; i++) {
        struct link *l = session_link(x->s, events[i].fd);

        if (!l || l->lost)
            continue;
        if (read_confirmation(x, l))
            return -1;
        if (l->lost || x->out[l - x->s->links].confirmed)
            x->s->lib->epoll_remove_usock(epoll, l->socket);
    }
    return 0;
}

static int finish(struct sender *x)
{
    int64_t end = clock_ns() + x->s->o->idle_ns, again = 0;
    int epoll = session_epoll(x->s, x->e);
    bool open = true;

    if (epoll < 0)
        return -1;
    while (open) {
        int64_t now = clock_ns();

        if (now > end)
            return err_set(x->e, "the receiver did not confirm the end within %g s",
                           (double)x->s->o->idle_ns / 1e9);
        if (now >= again) {
            if (send_fins(x, &open))
                return -1;
            again = now + FIN_AGAIN_NS;
        }
        if (open && read_confirmations(x, epoll))
            return -1;
    }
    return 0;
}

static void sum_up(struct sender *x)
{
    watch(x);
    for (uint32_t i = 0; i < x->s->count; i++) {
        x->r->payloads += x->out[i].count;
        if (!x->s->links[i].lost)
            stats_add(&x->r->stats, x->s, &x->s->links[i]);
    }
    x->r->bytes = x->r->payloads * x->s->o->payload;
}

int sender_run(struct session *s, struct sender_result *r, struct err *e)
{
    struct sender x = {.s = s, .r = r, .e = e};
    int rc;

    *r = (struct sender_result){0};
    x.out = calloc(s->count, sizeof(*x.out));
    if (!x.out)
        return err_set(e, "out of memory");
    for (uint32_t i = 0; i < s->count; i++)
        payload_prepare(x.out[i].data, s->o->payload, s->links[i].stream);
    rc = offer_all(&x);
    if (rc == 0)
        rc = finish(&x);
    sum_up(&x);
    free(x.out);
    return rc;
}
