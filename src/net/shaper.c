#include "net/shaper.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "net/frame.h"
#include "net/pace.h"
#include "net/shaper_parts.h"

#define READ_MAX 256             /* packets read in a pass before others get their turn */
#define SEND_MAX 512             /* and sent */
#define PACKET_BYTES 1514        /* for a computed limit: MTU 1500 and the Ethernet header */
#define PLAIN_PACKETS 1024       /* room where packets pass untouched */
#define PATIENT_DELAY_NS 2000000 /* all packets are held longer: no hurry to read them */
#define STAMP_SLACK_NS 1000000   /* from a packet's stamp to its being seen in the ring */
#define TABLE_REACH 4            /* a distribution's table ends at 4 standard deviations */

/* ---- set-up ---- */

int shaper_new(struct shaper **s, struct err *err)
{
    (void)err;
    *s = xcalloc(1, sizeof(**s));
    return 0;
}

static void *make_ring(void *arg)
{
    struct port *port = arg;

    port->made = ring_make(&port->ring, &port->made_err);
    return NULL;
}

static int await_ring(struct port *port, struct err *err)
{
    if (!port->making)
        return 0;
    pthread_join(port->maker, NULL);
    port->making = false;
    if (port->made < 0)
        *err = port->made_err;
    return port->made;
}

static void *close_ring(void *ring)
{
    ring_close(ring);
    return NULL;
}

/* Each at the same time as the others: closing is waiting, as making is (packet_release). */
static void close_rings(struct shaper *s)
{
    pthread_t closing[SHAPER_MAX_PORTS];
    bool begun[SHAPER_MAX_PORTS];
    struct err ignored;

    for (int i = 0; i < s->port_count; i++)
        (void)await_ring(&s->ports[i], &ignored);
    for (int i = 0; i < s->port_count; i++)
        begun[i] = i > 0 && pthread_create(&closing[i], NULL, close_ring, &s->ports[i].ring) == 0;
    for (int i = 0; i < s->port_count; i++)
        if (!begun[i])
            ring_close(&s->ports[i].ring);
        else
            pthread_join(closing[i], NULL);
}

void shaper_free(struct shaper *s)
{
    if (!s)
        return;
    for (int i = 0; i < s->flow_count; i++) {
        queue_release(&s->flows[i]->queue);
        free(s->flows[i]);
    }
    close_rings(s);
    free(s);
}

int shaper_port(struct shaper *s, int ifindex, const unsigned char *mac, struct err *err)
{
    struct port *port = &s->ports[s->port_count];

    ABBA_ASSERT(s->port_count < SHAPER_MAX_PORTS);
    if (ring_open(&port->ring, ifindex, err) < 0)
        return -1;
    port->ifindex = ifindex;
    port->has_mac = mac != NULL;
    if (mac)
        memcpy(port->mac, mac, SHAPER_MAC_BYTES);
    port->making = pthread_create(&port->maker, NULL, make_ring, port) == 0;
    return s->port_count++;
}

/* Whether no packet can be due soon after it came. */
static bool is_patient(const struct net_impair *impair)
{
    int64_t reach = impair->distribution ? TABLE_REACH : 1;

    return impair->gap == 0 && impair->delay_ns >= PATIENT_DELAY_NS &&
           impair->jitter_ns <= (impair->delay_ns - PATIENT_DELAY_NS) / reach;
}

static int make_queue(struct flow *f, const struct net_impair *impair, struct arena *arena,
                      struct err *err)
{
    uint32_t packets = PLAIN_PACKETS;

    if (impair) {
        if (fate_init(&f->fate, impair, f->seed, PACKET_BYTES, arena, err) < 0)
            return -1;
        f->shaped = true;
        f->patient = is_patient(impair);
        packets = f->fate.limit < QUEUE_MAX_PACKETS ? f->fate.limit : QUEUE_MAX_PACKETS;
    }
    return queue_init(&f->queue, packets, err);
}

int shaper_flow(struct shaper *s, int from, int to, const char *name,
                const struct net_impair *impair, uint64_t seed, struct arena *arena,
                struct err *err)
{
    struct flow *f = xcalloc(1, sizeof(*f));

    ABBA_ASSERT(s->flow_count < SHAPER_MAX_PORTS && from < s->port_count && to < s->port_count);
    *f = (struct flow){.name = name, .from = &s->ports[from], .to = &s->ports[to], .seed = seed};
    f->next_ns = PACE_NEVER;
    f->emptied_ns = clock_mono_ns();
    if (make_queue(f, impair, arena, err) < 0 || await_ring(f->from, err) < 0 ||
        ring_listen(&f->from->ring, f->from->ifindex, err) < 0) {
        queue_release(&f->queue);
        free(f);
        return err_wrap(err, "shaping '%s'", name);
    }
    s->flows[s->flow_count++] = f;
    return 0;
}

/* ---- packets come in ---- */

/*
 * Realtime first: whatever comes between the two readings makes stamps look later than they were,
 * never earlier, so no packet is held for less than asked.
 */
static void look_at_clocks(struct shaper *s)
{
    int64_t real_ns = clock_real_ns();

    s->now_ns = clock_mono_ns();
    s->real_ahead_ns = real_ns - s->now_ns;
}

/*
 * When the packet arrived, by the kernel's stamp: the shaper may have slept since. A stamp from
 * before the ring was last empty is none (the clock was set, or the packet bore another's stamp).
 */
static int64_t arrival_ns(struct shaper *s, struct flow *f, const struct ring_packet *p)
{
    int64_t at_ns = p->real_ns - s->real_ahead_ns;

    if (at_ns > s->now_ns) {
        s->now_ns = clock_mono_ns();
        if (at_ns > s->now_ns)
            at_ns = s->now_ns;
    }
    if (at_ns < f->emptied_ns - STAMP_SLACK_NS)
        at_ns = s->now_ns;
    if (at_ns < f->arrived_ns)
        at_ns = f->arrived_ns;
    f->arrived_ns = at_ns;
    return at_ns;
}

/* A copy of the packet goes into the queue. The address before the fault: that may hit it too. */
static void hold(struct flow *f, const struct ring_packet *p, int64_t at_ns,
                 const struct fate_copy *copy)
{
    uint32_t frame = queue_frame_new(&f->queue);
    struct queue_packet held = {copy->due_ns, copy->due_ns > at_ns ? copy->due_ns : at_ns, frame,
                                p->bytes, copy->at_head};
    unsigned char *data;

    if (frame == QUEUE_NO_FRAME) {
        f->unplanned++;
        f->figures.length--;
        return;
    }
    data = queue_frame(&f->queue, frame);
    memcpy(data, p->data, p->bytes);
    if (f->to->has_mac)
        memcpy(data, f->to->mac, SHAPER_MAC_BYTES);
    if (copy->ecn_mark)
        frame_ecn_mark(data);
    if (copy->corrupt)
        frame_flip(data, copy->bit);
    queue_put(&f->queue, &held);
}

static void admit(struct shaper *s, struct flow *f, const struct ring_packet *p)
{
    struct fate_copy copies[FATE_COPIES];
    int64_t at_ns = arrival_ns(s, f, p);
    int count;

    if (p->bytes > QUEUE_FRAME_BYTES || p->stored < p->bytes || p->bytes < FRAME_HEADER_BYTES) {
        f->offered++;
        f->unplanned++;
        return;
    }
    if (f->shaped) {
        count = fate_decide(&f->fate, at_ns, p->bytes, frame_ecn_capable(p->data, p->bytes),
                            &f->figures, copies);
    } else {
        copies[0] = (struct fate_copy){.due_ns = at_ns};
        count = 1;
        f->offered++;
        f->figures.length++;
    }
    for (int i = 0; i < count; i++)
        hold(f, p, at_ns, &copies[i]);
}

static int read_ring(struct shaper *s, struct flow *f, uint32_t *packets, struct err *err)
{
    struct ring_packet p;

    f->more = true;
    for (int i = 0; i < READ_MAX; i++) {
        if (!ring_next(&f->from->ring, &p)) {
            f->emptied_ns = s->now_ns;
            f->more = false;
            return 0;
        }
        if (p.no_checksum)
            return err_set(err, ERR_SYSTEM,
                           "packets of '%s' have no checksums: transmit checksum offload is on",
                           f->name);
        admit(s, f, &p);
        ring_done(&f->from->ring);
        ++*packets;
    }
    return 0;
}

/* ---- and go out ---- */

/* The time after the call is that of all: none has left later. */
static int send_batch(struct shaper *s, struct flow *f, struct err *err)
{
    struct ring *ring = &f->to->ring;
    uint32_t count = ring->batch, lost;

    if (count == 0)
        return 0;
    if (ring_send(ring, &lost, err) < 0)
        return err_wrap(err, "shaping '%s'", f->name);
    f->unplanned += lost;
    f->delivered += count - lost;
    s->now_ns = clock_mono_ns();
    for (uint32_t i = 0; i < count; i++) {
        lateness_add(&f->lateness, s->now_ns - f->batch[i].ready_ns);
        queue_frame_free(&f->queue, f->batch[i].frame);
    }
    return 0;
}

/* When the first packet may go: a slot may hold it longer than its delay. */
static int64_t release_ns(const struct shaper *s, struct flow *f, const struct queue_packet *p)
{
    int64_t at_ns;

    if (p->at_head || !f->shaped)
        return p->due_ns;
    at_ns = fate_release_ns(&f->fate, s->now_ns, p->due_ns, p->bytes);
    if (at_ns > p->due_ns)
        f->slot_ns = at_ns;
    return at_ns;
}

static void take(struct flow *f)
{
    struct queue_packet p = queue_take(&f->queue);

    f->figures.length--;
    if (p.ready_ns < f->slot_ns && !p.at_head)
        p.ready_ns = f->slot_ns;
    f->batch[f->to->ring.batch] = p;
    ring_put(&f->to->ring, queue_frame(&f->queue, p.frame), p.bytes);
}

/* Sends what is due; f->next_ns says when to come again. */
static int send_due(struct shaper *s, struct flow *f, struct err *err)
{
    f->next_ns = PACE_NEVER;
    for (int i = 0; f->queue.length; i++) {
        int64_t at_ns = i < SEND_MAX ? release_ns(s, f, queue_first(&f->queue)) : s->now_ns;

        if (at_ns > s->now_ns || i == SEND_MAX) {
            f->next_ns = at_ns;
            break;
        }
        take(f);
        if (f->to->ring.batch == RING_BATCH && send_batch(s, f, err) < 0)
            return -1;
    }
    return send_batch(s, f, err);
}

int shaper_pass(struct shaper *s, uint32_t *packets, struct err *err)
{
    *packets = 0;
    look_at_clocks(s);
    for (int i = 0; i < s->flow_count; i++) {
        if (read_ring(s, s->flows[i], packets, err) < 0 || send_due(s, s->flows[i], err) < 0)
            return -1;
    }
    return 0;
}

/* ---- what it did ---- */

int shaper_proof(struct shaper *s, int flow, struct net_flow_proof *out, struct err *err)
{
    struct flow *f = s->flows[flow];
    const struct fate_counts *c = &f->fate.counts;

    ABBA_ASSERT(flow >= 0 && flow < s->flow_count);
    if (ring_statistics(&f->from->ring, err) < 0)
        return -1;
    *out = (struct net_flow_proof){
        .link = f->name,
        .seed = f->seed,
        .offered = c->offered + f->offered + f->from->ring.drops,
        .delivered = f->delivered,
        .lost = c->lost,
        .limit = c->limit,
        .duplicated = c->duplicated,
        .corrupted = c->corrupted,
        .reordered = c->reordered,
        .ecn_marked = c->ecn_marked,
        .queued = f->queue.length,
        .high_water = f->queue.high_water,
        .unplanned = f->unplanned + f->from->ring.drops,
        .late_p50_ns = lateness_quantile(&f->lateness, 0.50),
        .late_p99_ns = lateness_quantile(&f->lateness, 0.99),
        .late_max_ns = f->lateness.total ? f->lateness.max_ns : -1,
    };
    return 0;
}
