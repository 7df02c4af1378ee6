#include "run/drain.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"

#define DRAIN_READS 16 /* of at most a full pipe each, before others have their turn */

void drain_init(struct drain *d)
{
    *d = (struct drain){.fd = -1};
    d->head = xmalloc(CAPTURE_HEAD_BYTES + 1);
    d->ring = xmalloc(CAPTURE_TAIL_BYTES + 1);
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

void drain_release(struct drain *d)
{
    close_fd(&d->fd);
    free(d->head);
    free(d->ring);
}

static int make_pipe(int ends[2], struct err *err)
{
    if (pipe2(ends, O_CLOEXEC) == 0) {
        if (fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0) /* the program's own end stays blocking */
            return 0;
        close(ends[0]);
        close(ends[1]);
    }
    ends[0] = ends[1] = -1;
    return err_sys(err, ERR_SYSTEM, errno, "cannot make a pipe");
}

int drain_begin(struct drain *d, struct capture *capture, int *write_fd, struct err *err)
{
    int ends[2];

    if (make_pipe(ends, err) < 0)
        return -1;
    d->fd = ends[0];
    *write_fd = ends[1];
    d->ring_at = 0;
    d->capture = capture;
    *capture = (struct capture){.head = d->head, .tail = d->ring};
    return 0;
}

/* Reads once: into the head while it has room, then round the ring. As read(). */
static ssize_t read_once(struct drain *d, size_t *room)
{
    struct capture *c = d->capture;
    const bool in_head = c->head_len < CAPTURE_HEAD_BYTES;
    char *to = in_head ? d->head + c->head_len : d->ring + d->ring_at;
    ssize_t n;

    *room = in_head ? CAPTURE_HEAD_BYTES - c->head_len : CAPTURE_TAIL_BYTES - d->ring_at;
    do {
        n = read(d->fd, to, *room);
    } while (n < 0 && errno == EINTR);
    if (n <= 0)
        return n;
    c->total += (uint64_t)n;
    if (in_head) {
        c->head_len += (size_t)n;
    } else {
        d->ring_at = (d->ring_at + (size_t)n) % CAPTURE_TAIL_BYTES;
        c->tail_len += (size_t)n;
        if (c->tail_len > CAPTURE_TAIL_BYTES)
            c->tail_len = CAPTURE_TAIL_BYTES;
    }
    return n;
}

bool drain_read(struct drain *d)
{
    bool any = false;

    for (int i = 0; i < DRAIN_READS && d->fd >= 0; i++) {
        size_t room;
        ssize_t n = read_once(d, &room);

        if (n == 0 || (n < 0 && errno != EAGAIN)) {
            close_fd(&d->fd);
        }
        any = any || n > 0;
        if (n <= 0 || (n < 4096 && (size_t)n < room)) /* a short read emptied it */
            break;
    }
    return any;
}

static void reverse(char *p, size_t n)
{
    for (size_t i = 0; i < n / 2; i++) {
        char c = p[i];

        p[i] = p[n - 1 - i];
        p[n - 1 - i] = c;
    }
}

void drain_end(struct drain *d)
{
    struct capture *c = d->capture;

    if (c == NULL)
        return;
    /* What a pipe holds, and no more: a process outside of the role may hold an end, and write on.
     */
    for (int i = 0; i < 4 && drain_read(d); i++)
        continue;
    close_fd(&d->fd);
    if (c->tail_len == CAPTURE_TAIL_BYTES && d->ring_at > 0) { /* the oldest byte is at ring_at */
        reverse(d->ring, d->ring_at);
        reverse(d->ring + d->ring_at, CAPTURE_TAIL_BYTES - d->ring_at);
        reverse(d->ring, CAPTURE_TAIL_BYTES);
    }
    d->head[c->head_len] = '\0';
    d->ring[c->tail_len] = '\0';
    c->cut = c->total - c->head_len - c->tail_len;
    d->capture = NULL;
}
