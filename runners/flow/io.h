/*
 * io: one UDP socket, and three ways of moving datagrams through it:
 *
 *   single  a system call a datagram: send, recv
 *   batch   up to 64 datagrams a call: sendmmsg, recvmmsg
 *   gso     trains of equal datagrams as one large buffer, cut by the kernel (UDP_SEGMENT) and
 *           joined again (UDP_GRO), several trains a call; see udp(7)
 *
 * Everything above this file is the same for all three. The socket does not block.
 */
#ifndef FLOW_IO_H
#define FLOW_IO_H

#include "../common/err.h"
#include "fault.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/uio.h>

enum io_mode { IO_SINGLE, IO_BATCH, IO_GSO };

enum {
    IO_BATCH_MOST = 64,             /* messages a system call */
    IO_QUEUE = 256,                 /* datagrams queued before a flush */
    IO_GRO_BUFFERS = 16,            /* joined buffers a recvmmsg */
    IO_VIEWS = IO_GRO_BUFFERS * 128 /* datagrams that one receive can yield */
};

struct io_inbox;

struct io {
    int fd;
    enum io_mode mode;
    bool connected;
    bool refused;                 /* the peer's port is closed (ICMP), seen since last cleared */
    struct sockaddr_storage from; /* who sent the last datagram, while not connected */
    socklen_t from_len;
    struct iovec queue[IO_QUEUE];
    size_t queued;
    uint8_t *buffers; /* received datagrams */
    size_t buffer_size, buffer_count;
    struct io_inbox *inbox; /* what recvmmsg fills in, prepared once */
    struct datagram *views;
    size_t view_count;
    bool dry;                           /* the last receive left nothing behind */
    uint64_t send_calls, receive_calls; /* system calls that moved datagrams */
};

const char *io_mode_name(enum io_mode mode);

/* "single", "batch", "gso". Returns 0, or -1 if it is none of them. */
int io_mode_parse(const char *text, enum io_mode *mode);

/* Binds to a numeric IPv4 or IPv6 address; port 0 lets the kernel choose. */
int io_listen(struct io *io, const char *address, uint16_t port, enum io_mode mode, struct err *e);

/* Connects to "ADDRESS:PORT" or "[ADDRESS]:PORT". */
int io_connect_to(struct io *io, const char *to, enum io_mode mode, struct err *e);

/* From now on only whoever sent the last datagram is heard and answered. */
int io_connect_back(struct io *io, struct err *e);

void io_close(struct io *io);

/* The port that the socket is bound to. */
int io_port(const struct io *io, uint16_t *port, struct err *e);

/* Asks for a receive buffer; *granted is what the kernel counts against (twice the request as
 * far as net.core.rmem_max allows; socket(7)). */
int io_receive_buffer(struct io *io, uint64_t wanted, uint64_t *granted, struct err *e);

/* Datagrams that this very socket dropped for lack of room. */
uint32_t io_drops(const struct io *io);

/* Queues a datagram. Its bytes are borrowed until io_flush. */
int io_send(struct io *io, const uint8_t *data, size_t len, struct err *e);
int io_flush(struct io *io, struct err *e);

/* Sets io->views and io->view_count (0: nothing is there), valid until the next call, and io->dry
 * where it is known that another call would find nothing. */
int io_receive(struct io *io, struct err *e);

/* Waits until a datagram is there or for timeout_ns (negative: returns at once). */
int io_wait(const struct io *io, int64_t timeout_ns, struct err *e);

#endif
