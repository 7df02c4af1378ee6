#include "receiver.h"

#include "fault.h"
#include "in_stream.h"
#include "io.h"
#include "../common/timing.h"
#include "wire.h"

#include <stdlib.h>

#define MEMORY_MOST (1ULL << 32) /* bytes kept for all streams together */

enum {
    ROUND_DATAGRAMS = 64,        /* read before acknowledging, in every mode of io */
    LINGER_NS = 300 * NS_PER_MS, /* the sender's FIN comes again every 20 ms */
    /* What one datagram may cost in a socket buffer beside its bytes: struct sk_buff, its shared
     * info, and rounding up to the allocator's sizes. */
    TRUESIZE_EXTRA = 1024,
};

struct receiver {
    const struct options *o;
    struct receiver_result *result;
    struct io io;
    struct fault fault;
    uint32_t session;
    bool open; /* a sender has come */
    bool bye;
    uint32_t streams;
    struct wire_hello hello;
    struct cut cut;
    struct in_stream *stream;
    uint8_t (*ack)[WIRE_ACK_MAX]; /* one a stream, borrowed by io until it flushes */
    uint64_t granted;
    struct pacer consumer;
    uint32_t turn; /* the stream that consumes first */
    int64_t first_ns, last_ns, heard_ns;
    int64_t fin_ns;                     /* when the last FIN came; 0: none yet */
    uint64_t messages_sent, bytes_sent; /* as FIN says */
    struct netstat before;
};

static bool consumes_at_once(const struct receiver *r)
{
    return r->o->consume_bps == 0;
}

static int send_control(struct receiver *r, const uint8_t *data, size_t len, struct err *e)
{
    return io_send(&r->io, data, len, e) || io_flush(&r->io, e) ? -1 : 0;
}

/* How many datagrams of each stream may be under way, so that the socket buffer can hold them all
 * while this process has no CPU. */
static uint32_t flight_for(const struct receiver *r, const struct wire_hello *h)
{
    uint64_t each = (uint64_t)h->fragment + WIRE_DATA_HEADER + TRUESIZE_EXTRA;
    uint64_t room = r->granted / each / h->streams;

    if (room < 1)
        room = 1;
    return h->slots < room ? h->slots : (uint32_t)room;
}

static int hello_is_sane(const struct wire_hello *h)
{
    return h->streams >= 1 && h->streams <= 65536 && h->message >= 1 && h->message <= 1 << 24 &&
           h->fragment >= 1 && h->fragment <= WIRE_MAX_PAYLOAD && h->slots >= 1 &&
           (uint64_t)h->streams * h->slots * h->fragment <= MEMORY_MOST;
}

static int open_session(struct receiver *r, const struct wire_packet *p, struct err *e)
{
    if (!hello_is_sane(&p->hello))
        return err_set(e, "the sender asks for more than this receiver gives");
    if (io_connect_back(&r->io, e))
        return -1;
    r->hello = p->hello;
    r->session = p->session;
    r->cut = cut_make(p->hello.message, p->hello.fragment);
    r->result->slots = p->hello.slots;
    r->result->message_size = p->hello.message;
    r->result->flight = flight_for(r, &p->hello);
    r->stream = calloc(p->hello.streams, sizeof(*r->stream));
    r->ack = calloc(p->hello.streams, sizeof(*r->ack));
    if (!r->stream || !r->ack)
        return err_set(e, "out of memory");
    for (uint32_t i = 0; i < p->hello.streams; i++, r->streams++)
        if (in_stream_init(&r->stream[i], i, r->result->slots, r->result->flight, &r->cut))
            return err_set(e, "out of memory for stream %u of %u", i + 1, p->hello.streams);
    pacer_init(&r->consumer, r->o->consume_bps, r->cut.fragment, clock_ns());
    r->open = true;
    return 0;
}

static int on_hello(struct receiver *r, const struct wire_packet *p, struct err *e)
{
    uint8_t out[WIRE_CONTROL_MAX];

    if (!r->open && open_session(r, p, e))
        return -1;
    return send_control(
        r, out, wire_put_hello_ack(out, r->session, r->result->slots, r->result->flight), e);
}

static void on_data(struct receiver *r, const struct wire_packet *p, int64_t now)
{
    if (p->stream >= r->streams || p->payload_len != cut_length(&r->cut, p->seq)) {
        r->result->damaged++;
        return;
    }
    if (r->first_ns == 0)
        r->first_ns = now;
    in_stream_accept(&r->stream[p->stream], p, consumes_at_once(r), now);
}

static void add_up(struct receiver *r)
{
    struct receiver_result *sum = r->result;

    sum->messages = sum->bytes = sum->duplicates = sum->out_of_order = sum->corrupt = 0;
    for (uint32_t i = 0; i < r->streams; i++) {
        sum->messages += r->stream[i].messages;
        sum->bytes += r->stream[i].bytes;
        sum->duplicates += r->stream[i].duplicates;
        sum->out_of_order += r->stream[i].out_of_order;
        sum->corrupt += r->stream[i].corrupt;
    }
}

static int on_fin(struct receiver *r, const struct wire_packet *p, int64_t now, struct err *e)
{
    uint8_t out[WIRE_CONTROL_MAX];
    bool done;

    add_up(r);
    r->messages_sent = p->messages;
    r->bytes_sent = p->bytes;
    done = r->result->messages == p->messages && r->result->bytes == p->bytes;
    if (done)
        r->fin_ns = now;
    return send_control(r, out, wire_put_fin_ack(out, r->session, done, r->result->corrupt == 0),
                        e);
}

static int on_datagram(struct receiver *r, struct datagram d, int64_t now, struct err *e)
{
    struct wire_packet p;

    if (wire_read(d.data, d.len, &p)) {
        r->result->damaged++;
        return 0;
    }
    if (r->open ? p.session != r->session : p.type != WIRE_HELLO)
        return 0;
    r->heard_ns = now;
    switch (p.type) {
    case WIRE_DATA:
        on_data(r, &p, now);
        return 0;
    case WIRE_HELLO:
        return on_hello(r, &p, e);
    case WIRE_FIN:
        return on_fin(r, &p, now, e);
    case WIRE_BYE:
        r->bye = true;
        return 0;
    default:
        return 0;
    }
}

static int on_views(struct receiver *r, int64_t now, struct err *e)
{
    struct datagram out[FAULT_MOST];

    for (size_t i = 0; i < r->io.view_count; i++) {
        size_t n = fault_apply(&r->fault, r->io.views[i], out);

        for (size_t k = 0; k < n; k++)
            if (on_datagram(r, out[k], now, e))
                return -1;
    }
    return 0;
}

/* Reads until nothing is there or a round is full. Returns datagrams read, or -1. */
static long read_round(struct receiver *r, struct err *e)
{
    size_t total = 0;

    while (total < ROUND_DATAGRAMS) {
        bool was_open = r->open;

        if (io_receive(&r->io, e))
            return -1;
        if (r->io.view_count == 0)
            break;
        total += r->io.view_count;
        if (on_views(r, clock_ns(), e))
            return -1;
        if (r->io.dry || r->open != was_open)
            break;
    }
    return (long)total;
}

/* A consumer that is slower than the network takes its share in ticks. */
static void consume_paced(struct receiver *r, int64_t now)
{
    uint64_t budget;
    uint64_t left;

    pacer_advance(&r->consumer, now);
    left = budget = (uint64_t)r->consumer.credit;
    for (uint32_t i = 0; i < r->streams; i++)
        in_stream_consume(&r->stream[(r->turn + i) % r->streams], &left);
    r->turn = (r->turn + 1) % r->streams;
    if (left < budget)
        r->last_ns = now;
    r->consumer.credit -= (double)(budget - left);
}

static void consume(struct receiver *r, bool came, int64_t now)
{
    uint64_t all = UINT64_MAX;

    if (!r->open)
        return;
    if (!consumes_at_once(r)) {
        consume_paced(r, now);
        return;
    }
    if (!came)
        return;
    for (uint32_t i = 0; i < r->streams; i++)
        in_stream_consume(&r->stream[i], &all);
    if (r->fin_ns == 0)
        r->last_ns = now;
}

/* Sends the acknowledgements that are due. Returns when the next will be, or -1. */
static int64_t acknowledge(struct receiver *r, int64_t now, struct err *e)
{
    int64_t next = INT64_MAX;
    struct wire_ack a;

    for (uint32_t i = 0; i < r->streams; i++) {
        struct in_stream *s = &r->stream[i];

        if (in_stream_due(s, now)) {
            in_stream_acknowledge(s, &a);
            if (io_send(&r->io, r->ack[i], wire_put_ack(r->ack[i], r->session, &a), e))
                return -1;
        } else if (s->due_ns && s->due_ns < next) {
            next = s->due_ns;
        }
    }
    return io_flush(&r->io, e) ? -1 : next;
}

static int still_patient(const struct receiver *r, int64_t now, struct err *e)
{
    if (!r->open && now - r->heard_ns > r->o->wait_ns)
        return err_set(e, "no sender came within %.3g s", (double)r->o->wait_ns / NS_PER_S);
    if (r->open && now - r->heard_ns > r->o->idle_ns)
        return err_set(e, "the sender is silent for %.3g s", (double)r->o->idle_ns / NS_PER_S);
    return 0;
}

static int sleep_until(struct receiver *r, int64_t next, int64_t now, struct err *e)
{
    int64_t give_up = r->heard_ns + (r->open ? r->o->idle_ns : r->o->wait_ns) + NS_PER_MS;

    if (r->fin_ns && r->fin_ns + LINGER_NS < next)
        next = r->fin_ns + LINGER_NS;
    if (r->open && !consumes_at_once(r) && r->fin_ns == 0 && pacer_next_ns(&r->consumer) < next)
        next = pacer_next_ns(&r->consumer);
    if (give_up < next)
        next = give_up;
    return io_wait(&r->io, next - now, e);
}

static int serve(struct receiver *r, struct err *e)
{
    for (;;) {
        long came = read_round(r, e);
        int64_t now = clock_ns();
        int64_t next;

        if (came < 0)
            return -1;
        consume(r, came > 0, now);
        next = acknowledge(r, now, e);
        if (next < 0)
            return -1;
        if (r->fin_ns && (r->bye || now - r->fin_ns > LINGER_NS))
            return 0;
        if (came >= ROUND_DATAGRAMS)
            continue;
        if (still_patient(r, now, e) || sleep_until(r, next, now, e))
            return -1;
    }
}

static void finish(struct receiver *r)
{
    struct netstat after;

    add_up(r);
    netstat_read(&after);
    r->result->errors.known = after.known && r->before.known;
    r->result->errors.in_errors = after.in_errors - r->before.in_errors;
    r->result->errors.rcvbuf_errors = after.rcvbuf_errors - r->before.rcvbuf_errors;
    r->result->delivery_ns = r->last_ns > r->first_ns ? r->last_ns - r->first_ns : 0;
    r->result->receive_calls = r->io.receive_calls;
    r->result->send_calls = r->io.send_calls;
    r->result->drops = io_drops(&r->io);
    r->result->granted = r->granted;
    for (uint32_t i = 0; i < r->streams; i++)
        in_stream_release(&r->stream[i]);
    free(r->stream);
    free(r->ack);
    fault_release(&r->fault);
    io_close(&r->io);
}

int receiver_run(const struct options *o, void (*ready)(uint16_t port),
                 struct receiver_result *result, struct err *e)
{
    struct receiver r = {.o = o, .result = result, .fault = o->fault};
    uint16_t port;
    int rc = -1;

    *result = (struct receiver_result){0};
    if (io_listen(&r.io, o->bind, o->port, o->io, e))
        return -1;
    netstat_read(&r.before);
    r.heard_ns = clock_ns();
    if (fault_init(&r.fault, e) || io_receive_buffer(&r.io, o->receive_buffer, &r.granted, e) ||
        io_port(&r.io, &port, e))
        goto out;
    ready(port);
    rc = serve(&r, e);
out:
    finish(&r);
    return rc;
}
