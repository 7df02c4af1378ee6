#include "shape.h"

#include "../common/timing.h"
#include "message.h"
#include "meter.h"
#include "peers.h"

#include <errno.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define STALLED_NS (10ll * NS_PER_S)     /* reliable delivery that stands still is broken */
#define WRITE_OFF_NS (200ll * NS_PER_MS) /* what has not come by then does not come */
#define LOOK_NS (50ll * NS_PER_MS)       /* how long who sleeps does not look */
#define BREATH_NS (50ll * 1000)          /* until a full send buffer is tried again */
#define SEND_BUFFER (4u << 20)
#define NOBODY UINT_FAST64_MAX

/* One repeat, seen from both threads. */
struct traffic {
    const struct options *o;
    atomic_uint_fast32_t round;
    atomic_uint_fast64_t arrived, bytes, damaged;
    atomic_int_fast64_t last_ns;  /* of the last arrival */
    atomic_uint_fast64_t wake_at; /* arrivals at which a sender that sleeps is woken */
    sem_t wake;
    uint64_t next;       /* ordered delivery: the sequence to come; on the reading thread */
    uint64_t sent, lost; /* on the sending thread */
    unsigned char *outgoing;
};

/* ---- waking who sleeps ---- */

static void wake_sender(struct traffic *t)
{
    if (atomic_exchange(&t->wake_at, NOBODY) != NOBODY)
        sem_post(&t->wake);
}

/* Sleeps until so many have arrived, or for a moment in which somebody must look at what stalls. */
static void sleep_until(struct traffic *t, uint64_t arrived)
{
    struct timespec until;

    atomic_store(&t->wake_at, arrived); /* before the look: an arrival after it is heard of */
    if (atomic_load(&t->arrived) >= arrived)
        wake_sender(t);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += LOOK_NS;
    if (until.tv_nsec >= NS_PER_S)
        until.tv_sec++, until.tv_nsec -= NS_PER_S;
    while (sem_timedwait(&t->wake, &until) < 0 && errno == EINTR)
        continue;
}

/* ---- arrivals ---- */

static void on_message(void *user, uint32_t pair, const void *bytes, size_t size)
{
    struct traffic *t = user;
    struct message_id id;

    (void)pair;
    if (message_read(bytes, size, t->o->size, &id) < 0) {
        atomic_fetch_add(&t->damaged, 1);
        return;
    }
    if (id.round != atomic_load_explicit(&t->round, memory_order_acquire))
        return; /* written off in the repeat before */
    if (t->o->delivery == ORDERED && id.sequence != t->next)
        atomic_fetch_add(&t->damaged, 1);
    t->next = id.sequence + 1;
    atomic_store_explicit(&t->last_ns, clock_ns(), memory_order_relaxed);
    atomic_fetch_add_explicit(&t->bytes, size, memory_order_relaxed);
    if (atomic_fetch_add(&t->arrived, 1) + 1 >= atomic_load(&t->wake_at))
        wake_sender(t);
}

/* ---- sending ---- */

static uint64_t under_way(const struct traffic *t)
{
    const uint64_t done = atomic_load_explicit(&t->arrived, memory_order_acquire) + t->lost;

    return done < t->sent ? t->sent - done : 0;
}

/* While the stack's buffer is full, of which it does not tell here when that ends. */
static void wait_a_moment(const struct traffic *t)
{
    if (t->o->pacing == YIELD)
        sched_yield();
    if (t->o->pacing == WAIT)
        nanosleep(&(struct timespec){.tv_nsec = BREATH_NS}, NULL);
}

/* While `most` or more are under way. Who sleeps does so until there is room for a quarter of them:
 * to be woken for every message would cost more than the message. */
static void wait_for_fewer(struct traffic *t, uint64_t most)
{
    if (t->o->pacing == WAIT)
        sleep_until(t, t->sent - t->lost - (most - 1 - (most - 1) / 4));
    else
        wait_a_moment(t);
}

/* After a moment without room or arrivals: goes on, writes off, or gives up. */
static int look_at_stall(struct traffic *t, const struct peers *p, int64_t since_ns, struct err *e)
{
    const int64_t last = atomic_load(&t->last_ns), now = clock_ns();
    const int64_t idle = now - (last > since_ns ? last : since_ns);

    if (peers_broken(p))
        return err_set(e, "%s", peers_broken(p));
    if (t->o->delivery == UNRELIABLE && idle >= WRITE_OFF_NS)
        t->lost = t->sent - atomic_load(&t->arrived);
    else if (idle >= STALLED_NS)
        return err_set(e, "nothing has arrived for 10 s, %llu messages are under way",
                       (unsigned long long)under_way(t));
    return 0;
}

/* Waits until fewer than `most` are under way. */
static int await_fewer(struct traffic *t, const struct peers *p, uint64_t most, struct err *e)
{
    const unsigned look = t->o->pacing == WAIT ? 1 : 1024;
    const int64_t since = clock_ns();

    for (unsigned tries = 1; under_way(t) >= most; tries++) {
        wait_for_fewer(t, most);
        if (tries % look == 0 && look_at_stall(t, p, since, e) < 0)
            return -1;
    }
    return 0;
}

static int send_one(struct traffic *t, struct peers *p, uint32_t round, struct err *e)
{
    const struct message_id id = {.round = round, .sequence = t->sent};
    const int64_t since = clock_ns();
    int sent;

    message_stamp(t->outgoing, t->o->size, &id);
    for (unsigned tries = 1;
         (sent = peers_send(p, 0, t->outgoing, t->o->size, t->o->delivery, e)) == 0; tries++) {
        wait_a_moment(t);
        if (tries % 1024 == 0 && look_at_stall(t, p, since, e) < 0)
            return -1;
    }
    t->sent += sent > 0;
    return sent < 0 ? -1 : 0;
}

/* So many messages, from the first send to the last arrival. */
static int send_all(struct traffic *t, struct peers *p, uint32_t round, uint64_t messages,
                    struct result *r, struct err *e)
{
    struct meter begin, end;
    const int64_t begun = clock_ns();
    int64_t last;

    t->sent = t->lost = t->next = 0;
    atomic_store(&t->arrived, 0);
    atomic_store(&t->bytes, 0);
    atomic_store(&t->last_ns, 0);
    atomic_store(&t->round, round);
    begin = meter_now();
    while (t->sent < messages)
        if (await_fewer(t, p, t->o->in_flight, e) < 0 || send_one(t, p, round, e) < 0)
            return -1;
    if (await_fewer(t, p, 1, e) < 0)
        return -1;
    end = meter_now();
    last = atomic_load(&t->last_ns);
    *r = (struct result){.repeat = round,
                         .messages = atomic_load(&t->arrived),
                         .sent = t->sent,
                         .bytes = atomic_load(&t->bytes),
                         .seconds = (double)(last > begun ? last - begun : 0) / NS_PER_S,
                         .cpu_seconds = (double)(end.cpu_ns - begin.cpu_ns) / NS_PER_S};
    r->lost = r->sent - r->messages;
    return 0;
}

/* How many messages a repeat sends: a tenth where all would take too long. */
static uint64_t calibrate(const struct options *o, const struct result *warmup,
                          const struct shape_user *user)
{
    const double projected_s =
        warmup->messages ? warmup->seconds / (double)warmup->messages * (double)o->messages : 0;

    if (warmup->messages && projected_s <= o->limit_s)
        return o->messages;
    user->lowered(user->user, o->messages / 10, o->messages, projected_s);
    return o->messages / 10;
}

static int repeats(struct traffic *t, struct peers *p, const struct shape_user *user, struct err *e)
{
    struct result r;
    uint64_t messages;

    if (send_all(t, p, 0, t->o->warmup, &r, e) < 0)
        return -1;
    user->ready(user->user);
    messages = calibrate(t->o, &r, user);
    for (uint32_t i = 1; i <= t->o->repeats; i++) {
        int rc;

        meter_window_begin();
        rc = send_all(t, p, i, messages, &r, e);
        meter_window_end();
        if (rc < 0)
            return -1;
        user->result(user->user, &r);
    }
    return 0;
}

int shape_message(const struct options *o, const struct shape_user *user, bool *intact,
                  struct err *e)
{
    struct traffic t = {.o = o, .wake_at = NOBODY};
    const struct peers_user arrivals = {.user = &t, .message = on_message};
    struct peers *p;
    int rc;

    t.outgoing = malloc(o->size);
    if (!t.outgoing)
        return err_set(e, "out of memory");
    message_fill(t.outgoing, o->size);
    sem_init(&t.wake, 0, 0);
    rc = peers_open(&p, 1, o, SEND_BUFFER, SEND_BUFFER / 2, &arrivals, e);
    if (rc == 0) {
        rc = repeats(&t, p, user, e);
        peers_close(p);
    }
    sem_destroy(&t.wake);
    *intact = atomic_load(&t.damaged) == 0;
    free(t.outgoing);
    return rc;
}
