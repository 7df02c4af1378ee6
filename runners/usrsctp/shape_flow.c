#include "shape.h"

#include "../common/timing.h"
#include "message.h"
#include "meter.h"
#include "peers.h"

#include <errno.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#define STALLED_S 10

struct pair {
    atomic_bool has_room;
    atomic_uint_fast64_t bytes; /* arrived */
    uint64_t next;              /* ordered delivery; on the reading thread */
    uint64_t sent;              /* messages; on the sending thread */
};

struct flow {
    const struct options *o;
    struct pair *pairs;
    sem_t wake; /* a pair has room, or a phase has ended */
    atomic_uint_fast64_t messages, damaged, skipped, done; /* pairs beyond each mark */
    unsigned char *outgoing;
};

/* ---- on the reading threads ---- */

static void on_message(void *user, uint32_t pair, const void *bytes, size_t size)
{
    struct flow *f = user;
    struct pair *p = &f->pairs[pair];
    const uint64_t skip = f->o->skip, all = skip + f->o->bytes;
    struct message_id id;
    uint64_t before;

    if (message_read(bytes, size, f->o->size, &id) < 0 || id.pair != pair ||
        (f->o->delivery == ORDERED && id.sequence != p->next))
        atomic_fetch_add(&f->damaged, 1);
    p->next = id.sequence + 1;
    atomic_fetch_add_explicit(&f->messages, 1, memory_order_relaxed);
    before = atomic_fetch_add(&p->bytes, size);
    if (before < skip && before + size >= skip &&
        atomic_fetch_add(&f->skipped, 1) + 1 == f->o->pairs)
        sem_post(&f->wake);
    if (before < all && before + size >= all && atomic_fetch_add(&f->done, 1) + 1 == f->o->pairs)
        sem_post(&f->wake);
}

static void on_room(void *user, uint32_t pair)
{
    struct flow *f = user;

    if (!atomic_exchange(&f->pairs[pair].has_room, true))
        sem_post(&f->wake);
}

/* ---- on the sending thread ---- */

/* Sends until the pair's buffer is full. */
static int fill(struct flow *f, struct peers *p, uint32_t pair, struct err *e)
{
    struct pair *at = &f->pairs[pair];
    int sent = 1;

    while (sent == 1) {
        const struct message_id id = {.pair = pair, .sequence = at->sent};

        message_stamp(f->outgoing, f->o->size, &id);
        /* Before the try: room that comes up after it is heard of. */
        atomic_store(&at->has_room, false);
        sent = peers_send(p, pair, f->outgoing, f->o->size, f->o->delivery, e);
        at->sent += sent == 1;
    }
    return sent;
}

static int fill_all(struct flow *f, struct peers *p, struct err *e)
{
    for (uint32_t i = 0; i < f->o->pairs; i++)
        if (atomic_load(&f->pairs[i].has_room) && fill(f, p, i, e) < 0)
            return -1;
    return 0;
}

static int await_wake(struct flow *f, const struct peers *p, struct err *e)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += STALLED_S;
    while (sem_timedwait(&f->wake, &until) < 0) {
        if (errno == EINTR)
            continue;
        return err_set(e, "no room and no end for %d s", STALLED_S);
    }
    return peers_broken(p) ? err_set(e, "%s", peers_broken(p)) : 0;
}

static uint64_t arrived(const struct flow *f)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < f->o->pairs; i++)
        sum += atomic_load(&f->pairs[i].bytes);
    return sum;
}

static uint64_t all_sent(const struct flow *f)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < f->o->pairs; i++)
        sum += f->pairs[i].sent;
    return sum;
}

/* Until all pairs are beyond a mark. */
static int phase(struct flow *f, struct peers *p, atomic_uint_fast64_t *beyond, uint64_t repeat,
                 const struct shape_user *user, struct err *e)
{
    const struct meter begin = meter_now();
    const uint64_t bytes = arrived(f), messages = atomic_load(&f->messages), sent = all_sent(f);
    struct meter end;
    struct result r;

    while (atomic_load(beyond) < f->o->pairs)
        if (fill_all(f, p, e) < 0 || await_wake(f, p, e) < 0)
            return -1;
    end = meter_now();
    r = (struct result){.repeat = repeat,
                        .messages = atomic_load(&f->messages) - messages,
                        .sent = all_sent(f) - sent,
                        .bytes = arrived(f) - bytes,
                        .seconds = (double)(end.wall_ns - begin.wall_ns) / NS_PER_S,
                        .cpu_seconds = (double)(end.cpu_ns - begin.cpu_ns) / NS_PER_S};
    user->result(user->user, &r);
    return 0;
}

/* Each has a window of its own, as it has a line of its own. */
static int phase_in_window(struct flow *f, struct peers *p, atomic_uint_fast64_t *beyond,
                           uint64_t repeat, const struct shape_user *user, struct err *e)
{
    int rc;

    meter_window_begin();
    rc = phase(f, p, beyond, repeat, user, e);
    meter_window_end();
    return rc;
}

static int both_phases(struct flow *f, struct peers *p, const struct shape_user *user,
                       struct err *e)
{
    for (uint32_t i = 0; i < f->o->pairs; i++)
        atomic_store(&f->pairs[i].has_room, true);
    user->ready(user->user);
    return phase_in_window(f, p, &f->skipped, 1, user, e) < 0
               ? -1
               : phase_in_window(f, p, &f->done, 2, user, e);
}

int shape_flow(const struct options *o, const struct shape_user *user, bool *intact, struct err *e)
{
    struct flow f = {
        .o = o, .pairs = calloc(o->pairs, sizeof(*f.pairs)), .outgoing = malloc(o->size)};
    const struct peers_user events = {.user = &f, .message = on_message, .room = on_room};
    struct peers *p;
    int rc = -1;

    if (!f.pairs || !f.outgoing) {
        err_set(e, "out of memory");
        goto out;
    }
    sem_init(&f.wake, 0, 0);
    message_fill(f.outgoing, o->size);
    if (o->skip == 0)
        atomic_store(&f.skipped, o->pairs);
    rc = peers_open(&p, (uint32_t)o->pairs, o, o->high, o->low, &events, e);
    if (rc == 0) {
        rc = both_phases(&f, p, user, e);
        peers_close(p);
    }
    sem_destroy(&f.wake);
out:
    *intact = atomic_load(&f.damaged) == 0;
    free(f.outgoing);
    free(f.pairs);
    return rc;
}
