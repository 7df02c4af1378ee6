#include "in_stream.h"

#include <stdlib.h>
#include <string.h>

/* A quarter of what may be unacknowledged. */
static uint32_t ack_every(uint32_t flight)
{
    uint32_t every = flight / 4;

    return every < 1 ? 1 : every > ACK_EVERY_MOST ? ACK_EVERY_MOST : every;
}

int in_stream_init(struct in_stream *s, uint32_t id, uint32_t slots, uint32_t flight,
                   const struct cut *cut)
{
    size_t bytes = (size_t)slots * cut->fragment;

    *s = (struct in_stream){.id = id, .slots = slots, .cut = *cut, .promised = slots};
    s->ack_every = ack_every(flight);
    s->len = malloc(slots * sizeof(*s->len));
    s->data = malloc(bytes);
    if (!s->len || !s->data)
        return -1;
    memset(s->len, 0, slots * sizeof(*s->len));
    memset(s->data, 0x5a, bytes);
    return 0;
}

void in_stream_release(struct in_stream *s)
{
    free(s->len);
    free(s->data);
    s->len = NULL;
    s->data = NULL;
}

static void consume(struct in_stream *s, const uint8_t *data, size_t len)
{
    if (!payload_matches(data, len, s->id, s->consumed))
        s->corrupt++;
    if (cut_ends_message(&s->cut, s->consumed))
        s->messages++;
    s->bytes += len;
    s->consumed++;
}

static void keep(struct in_stream *s, const struct wire_packet *p)
{
    size_t i = p->seq % s->slots;

    memcpy(s->data + i * s->cut.fragment, p->payload, p->payload_len);
    s->len[i] = (uint32_t)p->payload_len;
}

static void advance(struct in_stream *s)
{
    while (s->received < s->highest && s->len[s->received % s->slots])
        s->received++;
}

static void plan_acknowledgement(struct in_stream *s, bool now_please, int64_t now)
{
    s->unacknowledged++;
    if (now_please || s->unacknowledged >= s->ack_every)
        s->due = true;
    else if (s->due_ns == 0)
        s->due_ns = now + ACK_DELAY_NS;
}

void in_stream_accept(struct in_stream *s, const struct wire_packet *p, bool eager, int64_t now)
{
    bool in_order = p->seq == s->received;

    if (p->seq >= s->consumed + s->slots) {
        s->beyond++;
        return;
    }
    if (p->seq < s->received || s->len[p->seq % s->slots]) {
        s->duplicates++;
        s->due = true;
        return;
    }
    if (p->seq < s->highest)
        s->out_of_order++;
    else
        s->highest = p->seq + 1;
    if (eager && in_order && s->consumed == s->received) {
        s->received++;
        consume(s, p->payload, p->payload_len);
    } else {
        keep(s, p);
    }
    advance(s);
    plan_acknowledgement(s, (p->flags & WIRE_PUSH) || !in_order || s->received < s->highest, now);
}

void in_stream_consume(struct in_stream *s, uint64_t *budget)
{
    uint64_t before = s->consumed;

    while (s->consumed < s->received) {
        size_t i = s->consumed % s->slots;

        if (s->len[i] > *budget)
            break;
        *budget -= s->len[i];
        consume(s, s->data + i * s->cut.fragment, s->len[i]);
        s->len[i] = 0;
    }
    /* Tell a sender that may be standing at the limit. */
    if (s->consumed > before && s->consumed + s->slots - s->promised >= (s->slots + 3) / 4)
        s->due = true;
}

bool in_stream_due(const struct in_stream *s, int64_t now)
{
    return s->due || (s->due_ns && now >= s->due_ns);
}

static void list_ranges(const struct in_stream *s, struct wire_ack *a)
{
    uint64_t seq = s->received;

    while (seq < s->highest && a->count < WIRE_MAX_RANGES) {
        struct wire_range *r = &a->range[a->count];

        while (seq < s->highest && !s->len[seq % s->slots])
            seq++;
        r->start = (uint32_t)(seq - s->received);
        while (seq < s->highest && s->len[seq % s->slots])
            seq++;
        r->end = (uint32_t)(seq - s->received);
        if (r->end > r->start)
            a->count++;
    }
}

void in_stream_acknowledge(struct in_stream *s, struct wire_ack *a)
{
    s->promised = s->consumed + s->slots;
    s->unacknowledged = 0;
    s->due = false;
    s->due_ns = 0;
    a->stream = s->id;
    a->cumulative = s->received;
    a->limit = s->promised;
    a->duplicates = (uint32_t)s->duplicates;
    a->count = 0;
    list_ranges(s, a);
}
