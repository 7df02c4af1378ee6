#include "io.h"

#include "../common/address.h"
#include "../common/timing.h"
#include "wire.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/sock_diag.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif
#ifndef UDP_GRO
#define UDP_GRO 104
#endif

enum {
    BUFFER = 65536,
    TRAIN_SEGMENTS = 64, /* UDP_MAX_SEGMENTS of older kernels */
    TRAIN_BYTES = 65000, /* below the largest IP packet, with any header */
    SEND_WAIT_MS = 100,  /* how long a full send buffer is waited for */
};

union control {
    struct cmsghdr header; /* for its alignment */
    char space[CMSG_SPACE(sizeof(int))];
};

struct io_inbox {
    struct mmsghdr message[IO_BATCH_MOST];
    struct iovec vector[IO_BATCH_MOST];
    union control control[IO_BATCH_MOST];
};

static const char *const mode_names[] = {"single", "batch", "gso"};

const char *io_mode_name(enum io_mode mode)
{
    return mode_names[mode];
}

int io_mode_parse(const char *text, enum io_mode *mode)
{
    for (int i = IO_SINGLE; i <= IO_GSO; i++) {
        if (strcmp(text, mode_names[i]) == 0) {
            *mode = (enum io_mode)i;
            return 0;
        }
    }
    return -1;
}

/* The kernel must know both halves of gso; the size of a train is given with each train. */
static int enable_gso(struct io *io, struct err *e)
{
    int one = 1;
    int none = 0;

    if (setsockopt(io->fd, IPPROTO_UDP, UDP_SEGMENT, &none, sizeof(none)))
        return err_sys(e, "the kernel refuses UDP_SEGMENT, use '--io batch'");
    if (setsockopt(io->fd, IPPROTO_UDP, UDP_GRO, &one, sizeof(one)))
        return err_sys(e, "the kernel refuses UDP_GRO, use '--io batch'");
    return 0;
}

static void prepare_inbox(struct io *io)
{
    for (size_t i = 0; i < io->buffer_count; i++) {
        struct msghdr *h = &io->inbox->message[i].msg_hdr;

        io->inbox->vector[i] = (struct iovec){io->buffers + i * io->buffer_size, io->buffer_size};
        h->msg_iov = &io->inbox->vector[i];
        h->msg_iovlen = 1;
        if (io->mode == IO_GSO)
            h->msg_control = &io->inbox->control[i];
    }
}

static int take_memory(struct io *io, struct err *e)
{
    static const size_t counts[] = {1, IO_BATCH_MOST, IO_GRO_BUFFERS};

    io->buffer_size = BUFFER;
    io->buffer_count = counts[io->mode];
    io->buffers = malloc(io->buffer_count * BUFFER);
    io->views = calloc(IO_VIEWS, sizeof(*io->views));
    io->inbox = calloc(1, sizeof(*io->inbox));
    if (!io->buffers || !io->views || !io->inbox)
        return err_set(e, "out of memory");
    prepare_inbox(io);
    return 0;
}

static int open_socket(struct io *io, int family, enum io_mode mode, struct err *e)
{
    *io = (struct io){.mode = mode};
    io->fd = socket(family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (io->fd < 0)
        return err_sys(e, "cannot open a socket");
    if (take_memory(io, e) || (mode == IO_GSO && enable_gso(io, e))) {
        io_close(io);
        return -1;
    }
    return 0;
}

int io_listen(struct io *io, const char *address, uint16_t port, enum io_mode mode, struct err *e)
{
    struct addrinfo *found;
    char service[8];
    int rc = -1;

    snprintf(service, sizeof(service), "%u", port);
    if (address_resolve(address, service, &found, e))
        return -1;
    if (open_socket(io, found->ai_family, mode, e))
        goto out;
    rc = bind(io->fd, found->ai_addr, found->ai_addrlen);
    if (rc) {
        err_sys(e, "cannot bind to '%s' port %u", address, port);
        io_close(io);
    }
out:
    freeaddrinfo(found);
    return rc;
}

int io_connect_to(struct io *io, const char *to, enum io_mode mode, struct err *e)
{
    struct addrinfo *found;
    int rc = -1;

    if (address_parse(to, &found, e))
        return -1;
    if (open_socket(io, found->ai_family, mode, e))
        goto out;
    rc = connect(io->fd, found->ai_addr, found->ai_addrlen);
    if (rc) {
        err_sys(e, "cannot connect to '%s'", to);
        io_close(io);
    }
    io->connected = true;
out:
    freeaddrinfo(found);
    return rc;
}

int io_connect_back(struct io *io, struct err *e)
{
    if (connect(io->fd, (struct sockaddr *)&io->from, io->from_len))
        return err_sys(e, "cannot connect back to the sender");
    io->connected = true;
    return 0;
}

void io_close(struct io *io)
{
    if (io->fd >= 0)
        close(io->fd);
    free(io->buffers);
    free(io->views);
    free(io->inbox);
    *io = (struct io){.fd = -1};
}

int io_port(const struct io *io, uint16_t *port, struct err *e)
{
    struct sockaddr_storage name;
    socklen_t len = sizeof(name);

    if (getsockname(io->fd, (struct sockaddr *)&name, &len))
        return err_sys(e, "cannot read the bound port");
    if (name.ss_family == AF_INET6)
        *port = ntohs(((struct sockaddr_in6 *)&name)->sin6_port);
    else
        *port = ntohs(((struct sockaddr_in *)&name)->sin_port);
    return 0;
}

int io_receive_buffer(struct io *io, uint64_t wanted, uint64_t *granted, struct err *e)
{
    int bytes = wanted > INT32_MAX / 2 ? INT32_MAX / 2 : (int)wanted;
    socklen_t len = sizeof(bytes);

    if (setsockopt(io->fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes)) ||
        getsockopt(io->fd, SOL_SOCKET, SO_RCVBUF, &bytes, &len))
        return err_sys(e, "cannot set the receive buffer");
    *granted = (uint64_t)bytes;
    return 0;
}

uint32_t io_drops(const struct io *io)
{
    uint32_t info[SK_MEMINFO_VARS] = {0};
    socklen_t len = sizeof(info);

    if (getsockopt(io->fd, SOL_SOCKET, SO_MEMINFO, info, &len))
        return 0;
    return info[SK_MEMINFO_DROPS];
}

/* What a failed send means. Returns 1 to try again, 0 to go on as if it had been lost on the
 * way, -1 for an error. */
static int after_failed_send(struct io *io, struct err *e)
{
    struct pollfd p = {.fd = io->fd, .events = POLLOUT};

    switch (errno) {
    case EINTR:
        return 1;
    case EAGAIN:
        return poll(&p, 1, SEND_WAIT_MS) > 0 ? 1 : 0;
    case ECONNREFUSED:
        io->refused = true;
        return 1; /* the error of an earlier datagram; this one was not tried */
    case ENOBUFS:
        return 0;
    case EMSGSIZE:
    case EINVAL:
        return err_sys(e, "a datagram does not fit the path, lower --payload");
    default:
        return err_sys(e, "cannot send");
    }
}

static int send_one(struct io *io, const struct iovec *v, struct err *e)
{
    int again;

    do {
        io->send_calls++;
        if (send(io->fd, v->iov_base, v->iov_len, 0) >= 0)
            return 0;
        again = after_failed_send(io, e);
    } while (again == 1);
    return again;
}

/* Sends n messages; one that cannot be sent now counts as lost. */
static int send_messages(struct io *io, struct mmsghdr *m, unsigned n, struct err *e)
{
    while (n) {
        int sent = sendmmsg(io->fd, m, n, 0);

        io->send_calls++;
        if (sent < 0) {
            int again = after_failed_send(io, e);

            if (again < 0)
                return -1;
            sent = again ? 0 : 1;
        }
        m += sent;
        n -= (unsigned)sent;
    }
    return 0;
}

static int flush_batch(struct io *io, struct err *e)
{
    struct mmsghdr m[IO_BATCH_MOST]; /* filled in as far as it is used */
    unsigned n = 0;

    for (size_t i = 0; i < io->queued; i++) {
        m[n++].msg_hdr = (struct msghdr){.msg_iov = &io->queue[i], .msg_iovlen = 1};
        if (n == IO_BATCH_MOST || i + 1 == io->queued) {
            if (send_messages(io, m, n, e))
                return -1;
            n = 0;
        }
    }
    return 0;
}

/* How many of the count datagrams at v make one train: all of one size, the last may be
 * shorter. */
static size_t train_length(const struct iovec *v, size_t count)
{
    size_t bytes = v->iov_len;
    size_t n = 1;

    while (n < count && n < TRAIN_SEGMENTS && v[n - 1].iov_len == v->iov_len &&
           v[n].iov_len <= v->iov_len && bytes + v[n].iov_len <= TRAIN_BYTES)
        bytes += v[n++].iov_len;
    return n;
}

static void train_header(struct msghdr *h, union control *c, struct iovec *v, size_t n)
{
    uint16_t size = (uint16_t)v->iov_len;
    struct cmsghdr *cm;

    *h = (struct msghdr){.msg_iov = v, .msg_iovlen = n};
    if (n == 1)
        return;
    h->msg_control = c;
    h->msg_controllen = CMSG_SPACE(sizeof(size));
    cm = CMSG_FIRSTHDR(h);
    cm->cmsg_level = IPPROTO_UDP;
    cm->cmsg_type = UDP_SEGMENT;
    cm->cmsg_len = CMSG_LEN(sizeof(size));
    memcpy(CMSG_DATA(cm), &size, sizeof(size));
}

static int flush_gso(struct io *io, struct err *e)
{
    union control control[IO_BATCH_MOST];
    struct mmsghdr m[IO_BATCH_MOST]; /* filled in as far as it is used */
    unsigned n = 0;
    size_t i = 0;

    while (i < io->queued) {
        size_t train = train_length(&io->queue[i], io->queued - i);

        train_header(&m[n].msg_hdr, &control[n], &io->queue[i], train);
        n++;
        i += train;
        if (n == IO_BATCH_MOST || i == io->queued) {
            if (send_messages(io, m, n, e))
                return -1;
            n = 0;
        }
    }
    return 0;
}

int io_flush(struct io *io, struct err *e)
{
    int rc = 0;

    if (io->queued == 0)
        return 0;
    if (io->mode == IO_GSO)
        rc = flush_gso(io, e);
    else if (io->mode == IO_BATCH)
        rc = flush_batch(io, e);
    io->queued = 0;
    return rc;
}

int io_send(struct io *io, const uint8_t *data, size_t len, struct err *e)
{
    struct iovec v = {.iov_base = (void *)(uintptr_t)data, .iov_len = len};

    if (io->mode == IO_SINGLE)
        return send_one(io, &v, e);
    io->queue[io->queued++] = v;
    return io->queued == IO_QUEUE ? io_flush(io, e) : 0;
}

/* What a failed receive means: 0 nothing is there, 1 try again, -1 an error. */
static int after_failed_receive(struct io *io, struct err *e)
{
    if (errno == EAGAIN)
        return 0;
    if (errno == EINTR)
        return 1;
    if (errno == ECONNREFUSED) {
        io->refused = true;
        return 1;
    }
    return err_sys(e, "cannot receive");
}

static int receive_one(struct io *io, struct err *e)
{
    ssize_t len;
    int again;

    do {
        io->receive_calls++;
        if (io->connected) {
            len = recv(io->fd, io->buffers, io->buffer_size, 0);
        } else {
            io->from_len = sizeof(io->from);
            len = recvfrom(io->fd, io->buffers, io->buffer_size, 0, (struct sockaddr *)&io->from,
                           &io->from_len);
        }
        if (len >= 0) {
            io->views[0] = (struct datagram){io->buffers, (size_t)len};
            io->view_count = 1;
            return 0;
        }
        again = after_failed_receive(io, e);
    } while (again == 1);
    return again;
}

/* The size of the datagrams that the kernel joined, or the length of the only one. */
static size_t segment_size(const struct msghdr *h, size_t len)
{
    for (struct cmsghdr *c = CMSG_FIRSTHDR(h); c;
         c = CMSG_NXTHDR((struct msghdr *)(uintptr_t)h, c)) {
        int size;

        if (c->cmsg_level != IPPROTO_UDP || c->cmsg_type != UDP_GRO)
            continue;
        memcpy(&size, CMSG_DATA(c), sizeof(size));
        if (size > 0)
            return (size_t)size;
    }
    return len;
}

static void add_views(struct io *io, const uint8_t *data, size_t len, size_t segment)
{
    do {
        size_t part = len < segment ? len : segment;

        io->views[io->view_count++] = (struct datagram){data, part};
        data += part;
        len -= part;
    } while (len && io->view_count < IO_VIEWS);
}

static int receive_many(struct io *io, struct err *e)
{
    struct mmsghdr *m = io->inbox->message;
    int again;
    int got;

    if (io->mode == IO_GSO)
        for (size_t i = 0; i < io->buffer_count; i++)
            m[i].msg_hdr.msg_controllen = sizeof(io->inbox->control[i]);
    do {
        io->receive_calls++;
        got = recvmmsg(io->fd, m, (unsigned)io->buffer_count, 0, NULL);
        again = got < 0 ? after_failed_receive(io, e) : 0;
    } while (again == 1);
    io->dry = got < (int)io->buffer_count;
    for (int i = 0; i < got; i++)
        add_views(io, io->inbox->vector[i].iov_base, m[i].msg_len,
                  segment_size(&m[i].msg_hdr, m[i].msg_len));
    return again;
}

int io_receive(struct io *io, struct err *e)
{
    io->view_count = 0;
    io->dry = false;
    if (io->mode == IO_SINGLE || !io->connected)
        return receive_one(io, e);
    return receive_many(io, e);
}

int io_wait(const struct io *io, int64_t timeout_ns, struct err *e)
{
    struct pollfd p = {.fd = io->fd, .events = POLLIN};
    struct timespec t = {.tv_sec = timeout_ns / NS_PER_S, .tv_nsec = timeout_ns % NS_PER_S};

    if (timeout_ns <= 0)
        return 0;
    if (ppoll(&p, 1, &t, NULL) < 0 && errno != EINTR)
        return err_sys(e, "cannot wait for datagrams");
    return 0;
}
