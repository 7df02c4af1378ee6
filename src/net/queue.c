#include "net/queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/mem.h"

/* Touched beforehand, so that the first packets do not wait for memory. */
#define TOUCHED_FRAMES 4096u

struct queue_slot {
    int64_t key;
    uint64_t sequence; /* decides between equal keys */
    struct queue_packet packet;
};

int queue_init(struct queue *q, uint32_t packets, struct err *err)
{
    size_t touched;
    void *frames;

    memset(q, 0, sizeof(*q));
    ABBA_ASSERT(packets > 0 && packets <= QUEUE_MAX_PACKETS);
    frames = mmap(NULL, (size_t)packets * QUEUE_FRAME_BYTES, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (frames == MAP_FAILED)
        return err_sys(err, ERR_SYSTEM, errno, "cannot reserve memory for %u packets", packets);
    touched = (size_t)(packets < TOUCHED_FRAMES ? packets : TOUCHED_FRAMES) * QUEUE_FRAME_BYTES;
    (void)madvise(frames, touched, MADV_POPULATE_WRITE); /* before Linux 5.14: touched later */
    q->frames = frames;
    q->frame_count = packets;
    q->heap = xcalloc(packets, sizeof(*q->heap));
    q->spare = xcalloc(packets, sizeof(*q->spare));
    return 0;
}

void queue_release(struct queue *q)
{
    if (q->frames)
        munmap(q->frames, (size_t)q->frame_count * QUEUE_FRAME_BYTES);
    free(q->heap);
    free(q->spare);
    memset(q, 0, sizeof(*q));
}

/* The last one given back is the likeliest to be in a cache. */
uint32_t queue_frame_new(struct queue *q)
{
    if (q->spare_count)
        return q->spare[--q->spare_count];
    return q->fresh < q->frame_count ? q->fresh++ : QUEUE_NO_FRAME;
}

void queue_frame_free(struct queue *q, uint32_t frame)
{
    ABBA_ASSERT(q->spare_count < q->frame_count);
    q->spare[q->spare_count++] = frame;
}

static bool before(const struct queue_slot *a, const struct queue_slot *b)
{
    return a->key != b->key ? a->key < b->key : a->sequence < b->sequence;
}

void queue_put(struct queue *q, const struct queue_packet *p)
{
    struct queue_slot slot = {p->due_ns, ++q->sequence, *p};
    uint32_t i = q->length++;

    ABBA_ASSERT(i < q->frame_count);
    if (p->at_head) {
        slot.key = INT64_MIN;
        slot.sequence = UINT64_MAX - slot.sequence; /* the latest first */
    }
    while (i > 0 && before(&slot, &q->heap[(i - 1) / 2])) {
        q->heap[i] = q->heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    q->heap[i] = slot;
    if (q->length > q->high_water)
        q->high_water = q->length;
}

const struct queue_packet *queue_first(const struct queue *q)
{
    return q->length ? &q->heap[0].packet : NULL;
}

struct queue_packet queue_take(struct queue *q)
{
    struct queue_packet first;
    struct queue_slot last;
    uint32_t i = 0, child;

    ABBA_ASSERT(q->length > 0);
    first = q->heap[0].packet;
    last = q->heap[--q->length];
    for (child = 1; child < q->length; child = 2 * i + 1) {
        if (child + 1 < q->length && before(&q->heap[child + 1], &q->heap[child]))
            child++;
        if (before(&last, &q->heap[child]))
            break;
        q->heap[i] = q->heap[child];
        i = child;
    }
    q->heap[i] = last;
    return first;
}
