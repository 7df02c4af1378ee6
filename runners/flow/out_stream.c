#include "out_stream.h"

#include <stdlib.h>
#include <string.h>

enum {
    REORDER_FIRST = 3, /* the duplicate-acknowledgement threshold of RFC 5681 */
    REORDER_MOST = 32,
    TIMEOUT_BURST = 16, /* datagrams sent again at a time-out; acknowledgements tell the rest */
    BACKOFF_MOST = 6,
    PROBE_LEAST = 200 * NS_PER_MS, /* a closed window is asked about no sooner */
};

int out_stream_init(struct out_stream *s, uint32_t id, uint32_t slots, uint64_t limit,
                    uint32_t fragment)
{
    size_t bytes;

    *s = (struct out_stream){.id = id, .slots = slots, .end = UINT64_MAX, .reorder = REORDER_FIRST};
    s->stride = ((size_t)fragment + WIRE_DATA_HEADER + 7) & ~(size_t)7;
    s->limit = limit;
    rtt_init(&s->rtt);
    bytes = s->stride * slots;
    s->slot = calloc(slots, sizeof(*s->slot));
    s->data = malloc(bytes);
    if (!s->slot || !s->data)
        return -1;
    memset(s->slot, 0, slots * sizeof(*s->slot));
    memset(s->data, 0x5a, bytes);
    return 0;
}

void out_stream_release(struct out_stream *s)
{
    free(s->slot);
    free(s->data);
    s->slot = NULL;
    s->data = NULL;
}

static struct slot *slot_of(const struct out_stream *s, uint64_t seq)
{
    return &s->slot[seq % s->slots];
}

static uint8_t *data_of(const struct out_stream *s, uint64_t seq)
{
    return s->data + (seq % s->slots) * s->stride;
}

bool out_stream_open(const struct out_stream *s)
{
    return s->next < s->limit && s->next < s->end && s->next - s->una < s->slots;
}

uint8_t *out_stream_payload(const struct out_stream *s)
{
    return data_of(s, s->next) + WIRE_DATA_HEADER;
}

static void timer_start(struct out_stream *s, int64_t now)
{
    int64_t wait = s->rtt.rto_ns << s->backoff;

    if (s->una == s->next && wait < PROBE_LEAST)
        wait = PROBE_LEAST;
    s->timer_ns = now + (wait < NS_PER_S ? wait : NS_PER_S);
}

static struct datagram transmit(struct out_stream *s, uint64_t seq, int64_t now)
{
    struct slot *slot = slot_of(s, seq);

    slot->state = SLOT_FLYING;
    slot->transmission = s->transmissions++;
    slot->sent_ns = now;
    if (s->timer_ns == 0 || s->next - s->una == 1)
        timer_start(s, now);
    return (struct datagram){data_of(s, seq), slot->len};
}

struct datagram out_stream_new(struct out_stream *s, uint32_t session, uint32_t len, bool push,
                               int64_t now)
{
    uint64_t seq = s->next++;
    struct slot *slot = slot_of(s, seq);

    slot->len =
        (uint32_t)wire_seal_data(data_of(s, seq), session, s->id, seq, len, push ? WIRE_PUSH : 0);
    slot->again = false;
    return transmit(s, seq, now);
}

struct datagram out_stream_again(struct out_stream *s, int64_t now)
{
    uint64_t seq = s->lost_from > s->una ? s->lost_from : s->una;

    while (slot_of(s, seq)->state != SLOT_LOST)
        seq++;
    s->lost--;
    s->lost_from = seq + 1;
    s->recover = s->next;
    s->retransmissions++;
    slot_of(s, seq)->again = true;
    return transmit(s, seq, now);
}

static void mark_lost(struct out_stream *s, uint64_t seq)
{
    slot_of(s, seq)->state = SLOT_LOST;
    s->lost++;
    if (seq < s->lost_from || s->lost == 1)
        s->lost_from = seq;
}

/* One datagram is known to have arrived. Keeps in *sent_ns the latest time of sending that may
 * serve as a round-trip sample. Returns whether it was news. */
static bool arrived(struct out_stream *s, uint64_t seq, int64_t *sent_ns)
{
    struct slot *slot = slot_of(s, seq);

    if (slot->state != SLOT_FLYING && slot->state != SLOT_LOST)
        return false;
    if (slot->state == SLOT_LOST)
        s->lost--;
    if (slot->transmission + 1 > s->newest_acked)
        s->newest_acked = slot->transmission + 1;
    if (!slot->again && slot->sent_ns > *sent_ns)
        *sent_ns = slot->sent_ns;
    slot->state = SLOT_DONE;
    return true;
}

static void find_losses(struct out_stream *s)
{
    for (uint64_t seq = s->una; seq < s->next; seq++) {
        const struct slot *slot = slot_of(s, seq);

        if (slot->state == SLOT_FLYING && slot->transmission + s->reorder < s->newest_acked)
            mark_lost(s, seq);
    }
}

/* Datagrams that came twice after we sent some twice: we may have been too eager. */
static void judge_eagerness(struct out_stream *s, uint32_t duplicates)
{
    if (duplicates <= s->duplicates)
        return;
    s->duplicates = duplicates;
    if (s->retransmissions > s->retransmissions_judged && s->reorder < REORDER_MOST)
        s->reorder *= 2;
    s->retransmissions_judged = s->retransmissions;
}

static bool mark_arrivals(struct out_stream *s, const struct wire_ack *a, int64_t *sent_ns)
{
    bool news = false;

    for (uint64_t seq = s->una; seq < a->cumulative; seq++)
        news |= arrived(s, seq, sent_ns);
    for (uint32_t i = 0; i < a->count; i++) {
        uint64_t from = a->cumulative + a->range[i].start;
        uint64_t to = a->cumulative + a->range[i].end;

        if (from < s->una)
            from = s->una;
        for (uint64_t seq = from; seq < to && seq < s->next; seq++)
            news |= arrived(s, seq, sent_ns);
    }
    return news;
}

bool out_stream_acked(struct out_stream *s, const struct wire_ack *a, int64_t now,
                      struct histogram *rtts)
{
    int64_t sent_ns = 0;
    bool opened = a->limit > s->limit;
    bool news;

    if (a->cumulative > s->next)
        return false;
    news = mark_arrivals(s, a, &sent_ns);
    if (a->cumulative > s->una)
        s->una = a->cumulative;
    if (opened)
        s->limit = a->limit;
    if (sent_ns) {
        rtt_sample(&s->rtt, now - sent_ns);
        if (rtts)
            histogram_add(rtts, now - sent_ns);
    }
    judge_eagerness(s, a->duplicates);
    if (a->count || s->una < s->recover)
        find_losses(s);
    if (news || opened) {
        s->backoff = 0;
        s->timer_ns = 0;
        if (s->una < s->next || !out_stream_open(s))
            timer_start(s, now);
    }
    return news;
}

bool out_stream_timeout(struct out_stream *s, int64_t now, struct datagram *probe)
{
    unsigned marked = 0;

    if (s->backoff < BACKOFF_MOST)
        s->backoff++;
    timer_start(s, now);
    if (s->una == s->next) {
        if (s->next == 0 || out_stream_open(s) || out_stream_done(s))
            return false;
        s->probes++;
        *probe = (struct datagram){data_of(s, s->next - 1), slot_of(s, s->next - 1)->len};
        return true;
    }
    s->timeouts++;
    s->reorder = REORDER_FIRST;
    for (uint64_t seq = s->una; seq < s->next && marked < TIMEOUT_BURST; seq++) {
        if (slot_of(s, seq)->state == SLOT_FLYING) {
            mark_lost(s, seq);
            marked++;
        }
    }
    return false;
}

bool out_stream_done(const struct out_stream *s)
{
    return s->una >= s->end;
}
