#include "peers.h"

#include "../common/timing.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <usrsctp.h>

enum {
    SCTP_PORT = 5000,
    PATH_MTU = 1200,      /* what data channels start with (RFC 8831) */
    UDP_BUFFER = 4 << 20, /* asked for */
    PACKET = 65536,       /* more than any packet */
    READS = 64,           /* packets of one socket before the next one's turn */
    RECEIVE_BUFFER = 4 << 20,
    BINARY = 53, /* WebRTC Binary (RFC 8831) */
};
#define CONNECT_NS (15ll * NS_PER_S)

struct end {
    struct peers *peers;
    uint32_t pair;
    bool sends;
    int udp;
    struct socket *sctp, *listening; /* the receiver's end is accepted */
    atomic_bool up;
};

/* One of the two threads, with the ends whose sockets it reads. */
struct reader {
    pthread_t thread;
    struct end **ends;
    struct pollfd *polls; /* the ends', then the bell's */
    uint32_t count;
    bool runs;
};

struct peers {
    uint32_t count;
    struct end *ends; /* 2 a pair: the sender, the receiver */
    struct reader readers[2];
    int bell; /* readable: the threads are to end */
    struct peers_user user;
    atomic_uint up;
    atomic_bool broken;
    char why[128];
};

/* ---- packets ---- */

/* usrsctp has a packet for the other end. */
static int on_packet_out(void *end, void *packet, size_t size, uint8_t tos, uint8_t df)
{
    const struct end *from = end;
    ssize_t n;

    (void)tos;
    (void)df;
    do {
        n = send(from->udp, packet, size, MSG_NOSIGNAL);
    } while (n < 0 && errno == EINTR);
    return n < 0 ? errno : 0; /* what is lost here is retransmitted */
}

static void read_socket(struct end *end, unsigned char *packet)
{
    for (int i = 0; i < READS; i++) {
        ssize_t n = recv(end->udp, packet, PACKET, MSG_DONTWAIT);

        if (n <= 0)
            return;
        usrsctp_conninput(end, packet, (size_t)n, 0);
    }
}

static void *read_all(void *arg)
{
    struct reader *r = arg;
    unsigned char *packet = malloc(PACKET);

    while (packet && poll(r->polls, r->count + 1, -1) >= 0) {
        if (r->polls[r->count].revents)
            break;
        for (uint32_t i = 0; i < r->count; i++)
            if (r->polls[i].revents)
                read_socket(r->ends[i], packet);
    }
    free(packet);
    return NULL;
}

/* ---- what usrsctp tells ---- */

static void breaks(struct peers *p, const char *why)
{
    if (!atomic_exchange(&p->broken, true))
        snprintf(p->why, sizeof(p->why), "%s", why);
}

static void on_change(struct end *end, const union sctp_notification *n, size_t size)
{
    if (size < sizeof(n->sn_assoc_change) || n->sn_header.sn_type != SCTP_ASSOC_CHANGE)
        return;
    switch (n->sn_assoc_change.sac_state) {
    case SCTP_COMM_UP:
        if (end->sends && !atomic_exchange(&end->up, true))
            atomic_fetch_add(&end->peers->up, 1);
        break;
    case SCTP_COMM_LOST:
        breaks(end->peers, "an association was lost");
        break;
    case SCTP_CANT_STR_ASSOC:
        breaks(end->peers, "an association could not be set up");
        break;
    default:
        break;
    }
}

static int on_data(struct socket *so, union sctp_sockstore addr, void *data, size_t size,
                   struct sctp_rcvinfo info, int flags, void *arg)
{
    struct end *end = arg;

    (void)so;
    (void)addr;
    (void)info;
    if (data == NULL)
        return 1;
    if (flags & MSG_NOTIFICATION)
        on_change(end, data, size);
    else
        end->peers->user.message(end->peers->user.user, end->pair, data, size);
    free(data);
    return 1;
}

static int on_room(struct socket *so, uint32_t room, void *arg)
{
    struct end *end = arg;

    (void)so;
    (void)room;
    if (end->sends && end->peers->user.room)
        end->peers->user.room(end->peers->user.user, end->pair);
    return 1;
}

/* ---- set-up ---- */

static int udp_socket(struct sockaddr_in *at, struct err *e)
{
    const int buffer = UDP_BUFFER;
    socklen_t size = sizeof(*at);
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    *at = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (fd < 0 || bind(fd, (struct sockaddr *)at, sizeof(*at)) < 0 ||
        getsockname(fd, (struct sockaddr *)at, &size) < 0) {
        err_sys(e, "cannot make a UDP socket on 127.0.0.1");
        if (fd >= 0)
            close(fd);
        return -1;
    }
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof(buffer));
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &buffer, sizeof(buffer));
    return fd;
}

static int join_udp(struct end *a, struct end *b, struct err *e)
{
    struct sockaddr_in at[2];

    a->udp = udp_socket(&at[0], e);
    b->udp = a->udp < 0 ? -1 : udp_socket(&at[1], e);
    if (b->udp < 0)
        return -1;
    if (connect(a->udp, (struct sockaddr *)&at[1], sizeof(at[1])) < 0 ||
        connect(b->udp, (struct sockaddr *)&at[0], sizeof(at[0])) < 0)
        return err_sys(e, "cannot connect a UDP socket");
    return 0;
}

static int set(struct end *end, int level, int name, const void *value, size_t size)
{
    return usrsctp_setsockopt(end->sctp, level, name, value, (socklen_t)size);
}

static int set_options(struct end *end, size_t high)
{
    const int on = 1, send_buffer = (int)high, receive_buffer = RECEIVE_BUFFER;
    const struct sctp_event changes = {
        .se_assoc_id = SCTP_ALL_ASSOC, .se_type = SCTP_ASSOC_CHANGE, .se_on = 1};
    const struct linger at_once = {.l_onoff = 1, .l_linger = 0};
    const struct sctp_paddrparams path = {.spp_flags = SPP_PMTUD_DISABLE, .spp_pathmtu = PATH_MTU};

    return set(end, IPPROTO_SCTP, SCTP_EVENT, &changes, sizeof(changes)) < 0 ||
                   set(end, IPPROTO_SCTP, SCTP_NODELAY, &on, sizeof(on)) < 0 ||
                   set(end, IPPROTO_SCTP, SCTP_PEER_ADDR_PARAMS, &path, sizeof(path)) < 0 ||
                   set(end, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once)) < 0 ||
                   set(end, SOL_SOCKET, SO_SNDBUF, &send_buffer, sizeof(send_buffer)) < 0 ||
                   set(end, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof(receive_buffer)) < 0
               ? -1
               : 0;
}

static int open_end(struct end *end, size_t high, size_t low, struct err *e)
{
    struct sockaddr_conn at = {
        .sconn_family = AF_CONN, .sconn_port = htons(SCTP_PORT), .sconn_addr = end};

    usrsctp_register_address(end);
    end->sctp = usrsctp_socket(AF_CONN, SOCK_STREAM, IPPROTO_SCTP, on_data, on_room,
                               (uint32_t)(high - low), end);
    if (end->sctp == NULL || set_options(end, high) < 0 ||
        usrsctp_set_non_blocking(end->sctp, 1) < 0 ||
        usrsctp_bind(end->sctp, (struct sockaddr *)&at, sizeof(at)) < 0)
        return err_sys(e, "cannot make an SCTP socket");
    return 0;
}

/* Who receives listens: where both connect at once, usrsctp now and then refuses one of them. */
static int join_sctp(struct end *end, struct err *e)
{
    struct sockaddr_conn at = {
        .sconn_family = AF_CONN, .sconn_port = htons(SCTP_PORT), .sconn_addr = end};

    if (!end->sends) {
        end->listening = end->sctp;
        end->sctp = NULL;
        return usrsctp_listen(end->listening, 1) < 0 ? err_sys(e, "cannot listen for SCTP") : 0;
    }
    if (usrsctp_connect(end->sctp, (struct sockaddr *)&at, sizeof(at)) < 0 && errno != EINPROGRESS)
        return err_sys(e, "cannot connect an SCTP socket");
    return 0;
}

static int start_readers(struct peers *p, struct err *e)
{
    for (int side = 0; side < 2; side++) {
        struct reader *r = &p->readers[side];

        r->count = p->count;
        r->ends = calloc(p->count, sizeof(*r->ends));
        r->polls = calloc(p->count + 1, sizeof(*r->polls));
        if (!r->ends || !r->polls)
            return err_set(e, "out of memory");
        for (uint32_t i = 0; i < p->count; i++) {
            r->ends[i] = &p->ends[2 * i + (uint32_t)side];
            r->polls[i] = (struct pollfd){.fd = r->ends[i]->udp, .events = POLLIN};
        }
        r->polls[p->count] = (struct pollfd){.fd = p->bell, .events = POLLIN};
        if (pthread_create(&r->thread, NULL, read_all, r) != 0)
            return err_set(e, "cannot start a thread");
        r->runs = true;
    }
    return 0;
}

static int await_up(struct peers *p, struct err *e)
{
    const int64_t until = clock_ns() + CONNECT_NS;

    while (atomic_load(&p->up) < p->count) {
        if (peers_broken(p))
            return err_set(e, "%s", peers_broken(p));
        if (clock_ns() >= until)
            return err_set(e, "not connected within 15 s");
        usleep(200);
    }
    return 0;
}

/* All senders are up, so that every receiver's association waits to be accepted. */
static int accept_all(struct peers *p, struct err *e)
{
    for (uint32_t i = 1; i < 2 * p->count; i += 2) {
        p->ends[i].sctp = usrsctp_accept(p->ends[i].listening, NULL, NULL);
        if (p->ends[i].sctp == NULL)
            return err_sys(e, "cannot accept an association");
    }
    return 0;
}

static int open_all(struct peers *p, size_t high, size_t low, struct err *e)
{
    p->bell = eventfd(0, EFD_CLOEXEC);
    if (p->bell < 0)
        return err_sys(e, "cannot make an event");
    for (uint32_t i = 0; i < p->count; i++)
        if (join_udp(&p->ends[2 * i], &p->ends[2 * i + 1], e) < 0)
            return -1;
    for (uint32_t i = 0; i < 2 * p->count; i++)
        if (open_end(&p->ends[i], high, low, e) < 0)
            return -1;
    if (start_readers(p, e) < 0)
        return -1;
    for (uint32_t i = 2 * p->count; i-- > 0;) /* receivers first: they have odd numbers */
        if (join_sctp(&p->ends[i], e) < 0)
            return -1;
    return await_up(p, e) < 0 ? -1 : accept_all(p, e);
}

int peers_open(struct peers **peers, uint32_t count, const struct options *o, size_t high,
               size_t low, const struct peers_user *user, struct err *e)
{
    struct peers *p = calloc(1, sizeof(*p));

    *peers = NULL;
    if (!p || !(p->ends = calloc(2 * (size_t)count, sizeof(*p->ends)))) {
        free(p);
        return err_set(e, "out of memory");
    }
    p->count = count;
    p->user = *user;
    p->bell = -1;
    for (uint32_t i = 0; i < 2 * count; i++)
        p->ends[i] = (struct end){.peers = p, .pair = i / 2, .sends = i % 2 == 0, .udp = -1};
    usrsctp_init(0, on_packet_out, NULL);
    usrsctp_sysctl_set_sctp_ecn_enable(0);
    usrsctp_sysctl_set_sctp_pr_enable(1);
    usrsctp_sysctl_set_sctp_max_chunks_on_queue(1 << 16);
    if (o->no_crc32c)
        usrsctp_enable_crc32c_offload();
    if (open_all(p, high, low, e) < 0) {
        peers_close(p);
        return -1;
    }
    *peers = p;
    return 0;
}

int peers_send(struct peers *p, uint32_t pair, const void *bytes, size_t size,
               enum delivery delivery, struct err *e)
{
    struct sctp_sendv_spa spa = {
        .sendv_flags = SCTP_SEND_SNDINFO_VALID,
        .sendv_sndinfo = {.snd_flags = SCTP_EOR, .snd_ppid = htonl(BINARY)},
    };

    if (delivery != ORDERED)
        spa.sendv_sndinfo.snd_flags |= SCTP_UNORDERED;
    if (delivery == UNRELIABLE) {
        spa.sendv_flags |= SCTP_SEND_PRINFO_VALID;
        spa.sendv_prinfo = (struct sctp_prinfo){.pr_policy = SCTP_PR_SCTP_RTX, .pr_value = 0};
    }
    if (usrsctp_sendv(p->ends[2 * pair].sctp, bytes, size, NULL, 0, &spa, sizeof(spa),
                      SCTP_SENDV_SPA, 0) == (ssize_t)size)
        return 1;
    if (errno == EWOULDBLOCK || errno == EAGAIN || errno == ENOBUFS)
        return 0;
    return err_sys(e, "cannot send a message");
}

const char *peers_broken(const struct peers *p)
{
    return atomic_load(&p->broken) ? p->why : NULL;
}

void peers_close(struct peers *p)
{
    const uint64_t ring = 1;

    if (!p)
        return;
    for (uint32_t i = 0; i < 2 * p->count; i++) {
        if (p->ends[i].sctp)
            usrsctp_close(p->ends[i].sctp);
        if (p->ends[i].listening)
            usrsctp_close(p->ends[i].listening);
        usrsctp_deregister_address(&p->ends[i]);
    }
    if (p->bell >= 0)
        (void)!write(p->bell, &ring, sizeof(ring));
    for (int side = 0; side < 2; side++) {
        if (p->readers[side].runs)
            pthread_join(p->readers[side].thread, NULL);
        free(p->readers[side].ends);
        free(p->readers[side].polls);
    }
    for (int i = 0; i < 200 && usrsctp_finish() != 0; i++) /* timers of what was just closed */
        usleep(10000);
    for (uint32_t i = 0; i < 2 * p->count; i++)
        if (p->ends[i].udp >= 0)
            close(p->ends[i].udp);
    if (p->bell >= 0)
        close(p->bell);
    free(p->ends);
    free(p);
}
