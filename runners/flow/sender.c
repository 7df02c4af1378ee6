#include "sender.h"

#include "fault.h"
#include "io.h"
#include "out_stream.h"
#include "wire.h"

#include <stdlib.h>
#include <sys/random.h>

enum {
    TURN_DATAGRAMS = 32,   /* that a stream may send before the next has its turn */
    ROUND_DATAGRAMS = 192, /* sent before acknowledgements are read */
    CONTROL_RETRY_NS = 20 * NS_PER_MS,
};

struct sender {
    const struct options *o;
    struct sender_result *result;
    struct io io;
    struct fault fault;
    uint32_t session;
    struct cut cut;
    uint32_t streams;
    struct out_stream *stream;
    int64_t *started_ns; /* pingpong: when each stream's message went out; 0: none is out */
    uint32_t turn;       /* the stream whose turn is next */
    struct pacer pacer;
    int64_t deadline_ns; /* no message starts after this */
    int64_t heard_ns;
    bool greeted, finished;
};

static int send_control(struct sender *s, const uint8_t *data, size_t len, struct err *e)
{
    return io_send(&s->io, data, len, e) || io_flush(&s->io, e) ? -1 : 0;
}

static void on_ack(struct sender *s, const struct wire_ack *a, int64_t now)
{
    struct out_stream *os;
    bool pingpong = s->o->mode == MODE_PINGPONG;

    if (a->stream >= s->streams)
        return;
    os = &s->stream[a->stream];
    out_stream_acked(os, a, now, pingpong ? NULL : &s->result->rtt);
    if (pingpong && s->started_ns[a->stream] && os->una == os->next &&
        os->next % s->cut.fragments == 0) {
        histogram_add(&s->result->rtt, now - s->started_ns[a->stream]);
        s->started_ns[a->stream] = 0;
    }
}

static void on_datagram(struct sender *s, struct datagram d, int64_t now)
{
    struct wire_packet p;

    if (wire_read(d.data, d.len, &p) || p.session != s->session)
        return;
    s->heard_ns = now;
    switch (p.type) {
    case WIRE_ACK:
        on_ack(s, &p.ack, now);
        break;
    case WIRE_HELLO_ACK:
        s->greeted = true;
        s->result->slots = p.slots;
        s->result->flight = p.flight;
        break;
    case WIRE_FIN_ACK:
        s->finished = p.done;
        s->result->intact = p.intact;
        break;
    default:
        break;
    }
}

/* Reads what is there. Returns datagrams read, or -1. */
static long read_all(struct sender *s, struct err *e)
{
    struct datagram out[FAULT_MOST];
    long total = 0;

    for (;;) {
        int64_t now;

        if (io_receive(&s->io, e))
            return -1;
        if (s->io.view_count == 0)
            return total;
        now = clock_ns();
        for (size_t i = 0; i < s->io.view_count; i++) {
            size_t n = fault_apply(&s->fault, s->io.views[i], out);

            for (size_t k = 0; k < n; k++)
                on_datagram(s, out[k], now);
        }
        total += (long)s->io.view_count;
        if (s->io.dry || total >= ROUND_DATAGRAMS)
            return total;
    }
}

static int peer_lives(const struct sender *s, int64_t now, const char *during, struct err *e)
{
    if (now - s->heard_ns > s->o->idle_ns)
        return err_set(e, "the receiver is silent for %.3g s %s", (double)s->o->idle_ns / NS_PER_S,
                       during);
    if (s->io.refused && s->greeted)
        return err_set(e, "the receiver has gone (its port is closed) %s", during);
    return 0;
}

/* Repeats a control datagram until *answered. */
static int ask(struct sender *s, const uint8_t *data, size_t len, const bool *answered,
               const char *during, struct err *e)
{
    int64_t next = 0;

    while (!*answered) {
        int64_t now = clock_ns();

        if (peer_lives(s, now, during, e))
            return -1;
        if (now >= next) {
            if (send_control(s, data, len, e))
                return -1;
            next = now + CONTROL_RETRY_NS;
        }
        if (io_wait(&s->io, next - now, e) || read_all(s, e) < 0)
            return -1;
    }
    return 0;
}

static int greet(struct sender *s, struct err *e)
{
    struct wire_hello h = {s->streams, s->cut.message, s->cut.fragment, 1};
    uint8_t out[WIRE_CONTROL_MAX];

    if (getrandom(&s->session, sizeof(s->session), 0) != sizeof(s->session))
        return err_sys(e, "cannot choose a session");
    if (s->o->window / s->cut.fragment > 1)
        h.slots = (uint32_t)(s->o->window / s->cut.fragment);
    s->heard_ns = clock_ns();
    if (ask(s, out, wire_put_hello(out, s->session, &h), &s->greeted, "at the start", e))
        return -1;
    if (s->result->flight < 1 || s->result->flight > s->result->slots || s->result->slots > h.slots)
        return err_set(e, "the receiver grants a window that was not asked for");
    return 0;
}

static int make_streams(struct sender *s, struct err *e)
{
    s->stream = calloc(s->streams, sizeof(*s->stream));
    s->started_ns = calloc(s->streams, sizeof(*s->started_ns));
    if (!s->stream || !s->started_ns)
        return err_set(e, "out of memory");
    for (uint32_t i = 0; i < s->streams; i++) {
        if (out_stream_init(&s->stream[i], i, s->result->flight, s->result->slots, s->cut.fragment))
            return err_set(e, "out of memory for stream %u of %u", i + 1, s->streams);
        if (s->o->messages)
            s->stream[i].end = s->o->messages * s->cut.fragments;
    }
    return 0;
}

/* Whether the stream may send its next new datagram; the first of a message takes its credit. */
static bool may_send(struct sender *s, struct out_stream *os)
{
    if (!out_stream_open(os))
        return false;
    if (os->next % s->cut.fragments != 0)
        return true;
    if (s->o->mode == MODE_PINGPONG && os->una != os->next)
        return false;
    return pacer_take(&s->pacer, s->cut.message);
}

/* Whether nothing will follow this datagram until it is acknowledged. */
static bool is_last(const struct sender *s, const struct out_stream *os)
{
    uint64_t after = os->next + 1;

    return after == os->limit || after == os->end || after - os->una == os->slots ||
           (s->o->mode == MODE_PINGPONG && after % s->cut.fragments == 0);
}

static int send_new(struct sender *s, struct out_stream *os, int64_t now, struct err *e)
{
    uint32_t len = cut_length(&s->cut, os->next);
    uint8_t *payload = out_stream_payload(os);
    struct datagram d;

    if (s->o->mode == MODE_PINGPONG && os->next % s->cut.fragments == 0)
        s->started_ns[os->id] = now;
    payload_fill(payload, len, os->id, os->next);
    if (fault_corrupts(&s->fault))
        payload[len / 2] ^= 1;
    d = out_stream_new(os, s->session, len, is_last(s, os), now);
    return io_send(&s->io, d.data, d.len, e);
}

/* One stream's turn. Returns the datagrams sent, or -1. */
static int take_turn(struct sender *s, struct out_stream *os, int64_t now, struct err *e)
{
    int sent = 0;

    while (sent < TURN_DATAGRAMS) {
        if (os->lost) {
            struct datagram d = out_stream_again(os, now);

            if (io_send(&s->io, d.data, d.len, e))
                return -1;
        } else if (!may_send(s, os)) {
            break;
        } else if (send_new(s, os, now, e)) {
            return -1;
        }
        sent++;
    }
    return sent;
}

/* Sends what may be sent, stream by stream. Returns the datagrams sent, or -1. */
static int send_round(struct sender *s, struct err *e)
{
    uint32_t idle = 0;
    int total = 0;

    pacer_advance(&s->pacer, clock_ns());
    while (total < ROUND_DATAGRAMS && idle < s->streams) {
        int sent = take_turn(s, &s->stream[s->turn], clock_ns(), e);

        if (sent < 0)
            return -1;
        idle = sent ? 0 : idle + 1;
        total += sent;
        s->turn = (s->turn + 1) % s->streams;
    }
    return io_flush(&s->io, e) ? -1 : total;
}

/* After the deadline each stream ends with the message that it is in. */
static void close_streams(struct sender *s, int64_t now)
{
    if (s->deadline_ns == 0 || now < s->deadline_ns)
        return;
    s->deadline_ns = 0;
    for (uint32_t i = 0; i < s->streams; i++) {
        struct out_stream *os = &s->stream[i];
        uint64_t whole = (os->next + s->cut.fragments - 1) / s->cut.fragments * s->cut.fragments;

        if (whole < os->end)
            os->end = whole;
    }
}

/* Strikes time-outs. Returns when the next will strike, or -1. */
static int64_t run_timers(struct sender *s, int64_t now, struct err *e)
{
    int64_t next = s->deadline_ns ? s->deadline_ns : INT64_MAX;

    for (uint32_t i = 0; i < s->streams; i++) {
        struct out_stream *os = &s->stream[i];
        struct datagram probe;

        if (out_stream_done(os))
            continue;
        if (os->timer_ns && now >= os->timer_ns && out_stream_timeout(os, now, &probe) &&
            io_send(&s->io, probe.data, probe.len, e))
            return -1;
        if (os->timer_ns && os->timer_ns < next)
            next = os->timer_ns;
    }
    return io_flush(&s->io, e) ? -1 : next;
}

static bool all_done(const struct sender *s)
{
    for (uint32_t i = 0; i < s->streams; i++)
        if (!out_stream_done(&s->stream[i]))
            return false;
    return true;
}

static int sleep_until(struct sender *s, int64_t next, int64_t now, struct err *e)
{
    int64_t give_up = s->heard_ns + s->o->idle_ns + NS_PER_MS;

    if (s->deadline_ns && pacer_next_ns(&s->pacer) < next)
        next = pacer_next_ns(&s->pacer);
    else if (!s->deadline_ns && s->o->messages && pacer_next_ns(&s->pacer) < next)
        next = pacer_next_ns(&s->pacer);
    return io_wait(&s->io, (next < give_up ? next : give_up) - now, e);
}

static int transfer(struct sender *s, struct err *e)
{
    int64_t now = clock_ns();

    s->deadline_ns = s->o->duration_ns ? now + s->o->duration_ns : 0;
    pacer_init(&s->pacer, s->o->rate_bps, s->cut.message, now);
    for (;;) {
        int64_t next;
        int sent;

        now = clock_ns();
        close_streams(s, now);
        if (all_done(s))
            return 0;
        next = run_timers(s, now, e);
        if (next < 0 || peer_lives(s, now, "before everything was acknowledged", e))
            return -1;
        sent = send_round(s, e);
        if (sent < 0 || (sent == 0 && sleep_until(s, next, now, e)) || read_all(s, e) < 0)
            return -1;
    }
}

static void add_up(struct sender *s)
{
    struct sender_result *sum = s->result;

    for (uint32_t i = 0; s->stream && i < s->streams; i++) {
        const struct out_stream *os = &s->stream[i];

        sum->datagrams += os->next;
        sum->messages += os->next / s->cut.fragments;
        sum->retransmissions += os->retransmissions;
        sum->timeouts += os->timeouts;
        sum->probes += os->probes;
    }
    sum->bytes = sum->messages * s->cut.message;
    sum->receive_calls = s->io.receive_calls;
    sum->send_calls = s->io.send_calls;
}

static int part(struct sender *s, struct err *e)
{
    uint8_t out[WIRE_CONTROL_MAX];

    add_up(s);
    if (ask(s, out, wire_put_fin(out, s->session, s->result->messages, s->result->bytes),
            &s->finished, "at the end", e))
        return -1;
    return send_control(s, out, wire_put_bye(out, s->session), e);
}

static void release(struct sender *s)
{
    for (uint32_t i = 0; s->stream && i < s->streams; i++)
        out_stream_release(&s->stream[i]);
    free(s->stream);
    free(s->started_ns);
    fault_release(&s->fault);
    io_close(&s->io);
}

int sender_run(const struct options *o, struct sender_result *r, struct err *e)
{
    struct sender s = {.o = o, .result = r, .fault = o->fault, .streams = o->streams};
    int rc = -1;

    *r = (struct sender_result){0};
    s.cut = cut_make(o->message, o->payload);
    if (io_connect_to(&s.io, o->to, o->io, e))
        return -1;
    if (fault_init(&s.fault, e) || greet(&s, e) || make_streams(&s, e))
        goto out;
    rc = transfer(&s, e);
    if (rc == 0)
        rc = part(&s, e);
    else
        add_up(&s);
out:
    release(&s);
    return rc;
}
