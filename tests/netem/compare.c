#include "compare.h"

#include "base/mem.h"
#include "net/queue.h"

#include <stdlib.h>
#include <string.h>

/* What is known of a packet in fate's queue; it lies in the queue's memory for frames. */
struct held {
    uint32_t seq;
    bool corrupt, mark;
};

/* The kernel's side of one packet: the times at which its copies were put in. */
struct entered {
    int64_t now_ns[FATE_COPIES];
    int count;
};

struct walk {
    struct compare *c;
    struct fate *f;
    struct fate_queue q;
    struct queue queue;
    size_t at;         /* in the events */
    uint32_t seq;      /* next packet offered */
    size_t left;       /* packets that have left */
    bool looked;       /* netem_dequeue has read the clock and has said nothing since, */
    bool leaves;       /* the first packet may leave now, fate says, */
    int64_t looked_ns; /* and the time was this. Packets at the head leave without a look. */
    int64_t (*due)[FATE_COPIES]; /* by seq: what fate decided */
};

/* Reads the events of one packet's way into the queue, the duplicate's within it. */
static struct entered enter(struct walk *w)
{
    struct entered e = {{0}, 0};
    int depth = 0;

    for (; w->at < w->c->event_count; w->at++) {
        const struct trace_event *event = &w->c->events[w->at];

        if (event->kind == TRACE_ENTER)
            depth++;
        if (event->kind == TRACE_NOW && e.count < FATE_COPIES)
            e.now_ns[e.count++] = event->ns;
        if (event->kind == TRACE_RETURN && --depth == 0) {
            w->at++;
            break;
        }
    }
    return e;
}

static void hold(struct walk *w, const struct fate_copy *copy, uint32_t bytes)
{
    struct queue_packet p = {.due_ns = copy->due_ns, .bytes = bytes, .at_head = copy->at_head};
    struct held *held;

    p.frame = queue_frame_new(&w->queue);
    ABBA_ASSERT(p.frame != QUEUE_NO_FRAME);
    held = (struct held *)(void *)queue_frame(&w->queue, p.frame);
    *held = (struct held){w->seq, copy->corrupt, copy->ecn_mark};
    queue_put(&w->queue, &p);
}

/*
 * The kernel reads the clock for each copy, fate has one time for a packet: a second copy's due
 * time is compared with the difference taken into account. (With a rate it hangs on the queue
 * instead.)
 */
static void offer(struct walk *w)
{
    struct entered e = enter(w);
    struct fate_copy copies[FATE_COPIES];
    uint32_t bytes = traffic_bytes(w->seq);
    int count = fate_decide(w->f, e.now_ns[0], bytes, true, &w->q, copies);

    if (count != e.count && w->seq >= w->c->settle)
        w->c->copies++;
    else if (count != e.count)
        w->c->unsettled++;
    for (int i = 0; i < count; i++) {
        if (i && !w->f->rate_bytes_s && i < e.count)
            copies[i].due_ns += e.now_ns[i] - e.now_ns[0];
        w->due[w->seq][i] = copies[i].due_ns;
        hold(w, &copies[i], bytes);
    }
    w->seq++;
}

/* Takes the due time off the packet's list. */
static bool is_due(struct walk *w, uint32_t seq, int64_t due_ns)
{
    for (int i = 0; seq < w->seq && i < FATE_COPIES; i++)
        if (w->due[seq][i] == due_ns) {
            w->due[seq][i] = INT64_MIN;
            return true;
        }
    return false;
}

static void check_content(struct walk *w, const struct held *held, const struct traffic_arrival *a)
{
    if (held->seq != a->seq) {
        w->c->order++;
        return;
    }
    if (a->bits != held->corrupt)
        w->c->corrupt++;
    if (a->marked != held->mark)
        w->c->mark++;
}

/* The look before this event did not let a packet go. */
static void end_look(struct walk *w)
{
    if (w->looked && w->leaves)
        w->c->release++;
    w->looked = false;
}

static void look(struct walk *w, int64_t now_ns)
{
    const struct queue_packet *first = queue_first(&w->queue);

    end_look(w);
    if (w->c->settle)
        return; /* what is first in fate's queue may be another packet */
    w->looked = true;
    w->looked_ns = now_ns;
    w->leaves = first && !first->at_head &&
                fate_release_ns(w->f, now_ns, first->due_ns, first->bytes) <= now_ns;
}

static void leave(struct walk *w, int64_t due_ns)
{
    const struct traffic_arrival *a = &w->c->arrivals[w->left++];
    struct queue_packet p;

    if (w->looked && !w->leaves)
        w->c->release++;
    if (w->looked && w->looked_ns - due_ns > w->c->late_max_ns)
        w->c->late_max_ns = w->looked_ns - due_ns;
    w->looked = false;
    if (!is_due(w, a->seq, due_ns)) {
        if (a->seq >= w->c->settle)
            w->c->due++;
        else
            w->c->unsettled++;
    }
    if (!queue_first(&w->queue)) {
        w->c->order += w->c->settle == 0;
        return;
    }
    p = queue_take(&w->queue);
    w->q.length--;
    if (w->c->settle == 0)
        check_content(w, (struct held *)(void *)queue_frame(&w->queue, p.frame), a);
    queue_frame_free(&w->queue, p.frame);
}

static size_t count_kind(const struct compare *c, enum trace_kind kind)
{
    size_t count = 0;

    for (size_t i = 0; i < c->event_count; i++)
        count += c->events[i].kind == kind;
    return count;
}

static void walk_events(struct walk *w)
{
    while (w->at < w->c->event_count) {
        const struct trace_event *event = &w->c->events[w->at];

        switch (event->kind) {
        case TRACE_ENTER:
            end_look(w);
            offer(w);
            continue; /* it has moved on by itself */
        case TRACE_LOOK:
            look(w, event->ns);
            break;
        case TRACE_LEAVE:
            leave(w, event->ns);
            break;
        default:
            break;
        }
        w->at++;
    }
    end_look(w);
    if (w->c->settle == 0)
        w->c->order += w->queue.length; /* what fate has still there never came */
}

int compare_run(struct compare *c, struct fate *f, struct err *err)
{
    struct walk w = {.c = c, .f = f};
    size_t entered = count_kind(c, TRACE_ENTER), left = count_kind(c, TRACE_LEAVE);

    if (left != c->arrival_count)
        return err_set(err, ERR_MEASURE, "%zu packets left netem, %zu arrived", left,
                       c->arrival_count);
    if (queue_init(&w.queue, 50000, err) < 0)
        return -1;
    w.due = xcalloc(entered + 1, sizeof(*w.due));
    memset(w.due, 0x80, (entered + 1) * sizeof(*w.due)); /* no time */
    walk_events(&w);
    c->offered = w.seq;
    c->delivered = (uint32_t)left;
    free(w.due);
    queue_release(&w.queue);
    return 0;
}
