#include "net/queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/mem.h"

/* Touched beforehand, so that the first packets do not wait for memory. */
#define TOUCHED_FRAMES 4096u

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
    q->list = xcalloc(packets, sizeof(*q->list));
    q->heap = xcalloc(packets, sizeof(*q->heap));
    q->spare = xcalloc(packets, sizeof(*q->spare));
    return 0;
}

void queue_release(struct queue *q)
{
    if (q->frames)
        munmap(q->frames, (size_t)q->frame_count * QUEUE_FRAME_BYTES);
    free(q->list);
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

static struct queue_slot *list_at(const struct queue *q, uint32_t i)
{
    i += q->list_first;
    return &q->list[i < q->frame_count ? i : i - q->frame_count];
}

static void heap_put(struct queue *q, const struct queue_slot *slot)
{
    uint32_t i = q->heap_length++;

    while (i > 0 && before(slot, &q->heap[(i - 1) / 2])) {
        q->heap[i] = q->heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    q->heap[i] = *slot;
}

static void heap_take(struct queue *q)
{
    struct queue_slot last = q->heap[--q->heap_length];
    uint32_t i = 0, child;

    for (child = 1; child < q->heap_length; child = 2 * i + 1) {
        if (child + 1 < q->heap_length && before(&q->heap[child + 1], &q->heap[child]))
            child++;
        if (before(&last, &q->heap[child]))
            break;
        q->heap[i] = q->heap[child];
        i = child;
    }
    q->heap[i] = last;
}

void queue_put(struct queue *q, const struct queue_packet *p)
{
    struct queue_slot slot = {p->due_ns, ++q->sequence, *p};

    ABBA_ASSERT(q->length < q->frame_count);
    if (p->at_head) {
        slot.key = INT64_MIN;
        slot.sequence = UINT64_MAX - slot.sequence; /* the latest first */
    }
    if (q->list_length == 0 || before(list_at(q, q->list_length - 1), &slot))
        *list_at(q, q->list_length++) = slot;
    else
        heap_put(q, &slot);
    if (++q->length > q->high_water)
        q->high_water = q->length;
}

/* Whether the next one is in the heap. */
static bool heap_is_next(const struct queue *q)
{
    return q->heap_length && (q->list_length == 0 || before(&q->heap[0], list_at(q, 0)));
}

const struct queue_packet *queue_first(const struct queue *q)
{
    if (q->length == 0)
        return NULL;
    return heap_is_next(q) ? &q->heap[0].packet : &list_at(q, 0)->packet;
}

struct queue_packet queue_take(struct queue *q)
{
    struct queue_packet first;

    ABBA_ASSERT(q->length > 0);
    first = *queue_first(q);
    q->length--;
    if (heap_is_next(q)) {
        heap_take(q);
        return first;
    }
    q->list_first = q->list_first + 1 < q->frame_count ? q->list_first + 1 : 0;
    q->list_length--;
    return first;
}
