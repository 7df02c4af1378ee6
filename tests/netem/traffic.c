#include "traffic.h"

#include "base/mem.h"
#include "net/namespace.h"
#include "net/rtnl.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define HEADER 14
#define TOS (HEADER + 1)
#define CHECKSUM (HEADER + 10)
#define NUMBERS (HEADER + 20) /* three times, so that a flipped bit is outvoted */
#define ECT_0 2
#define CE 3

static void fill_header(unsigned char *out, uint32_t bytes)
{
    static const unsigned char ip[20] = {0x45, ECT_0, 0, 0, 0, 0, 0, 0, 64, 253,
                                         0,    0,     0, 0, 0, 0, 0, 0, 0,  0};
    uint16_t length = htons((uint16_t)(bytes - HEADER));

    memset(out, 2, 12); /* locally administered addresses; nobody has them */
    out[12] = ETH_P_IP >> 8;
    out[13] = ETH_P_IP & 0xff;
    memcpy(out + HEADER, ip, sizeof(ip));
    memcpy(out + HEADER + 2, &length, sizeof(length));
}

uint32_t traffic_bytes(uint32_t seq)
{
    return 64 + seq * 37 % (TRAFFIC_MAX_BYTES - 64);
}

uint32_t traffic_frame(uint32_t seq, unsigned char out[TRAFFIC_MAX_BYTES])
{
    static unsigned char ramp[TRAFFIC_MAX_BYTES + 256];
    uint32_t bytes = traffic_bytes(seq);

    for (size_t i = 0; ramp[1] == 0 && i < sizeof(ramp); i++)
        ramp[sizeof(ramp) - 1 - i] = (unsigned char)(sizeof(ramp) - 1 - i);
    memcpy(out, ramp + (seq & 0xff), bytes);
    fill_header(out, bytes);
    for (size_t i = 0; i < 3; i++)
        memcpy(out + NUMBERS + 4 * i, &seq, sizeof(seq));
    return bytes;
}

uint32_t traffic_seq(const unsigned char *frame)
{
    uint32_t n[3];

    memcpy(n, frame + NUMBERS, sizeof(n));
    return (n[0] & n[1]) | (n[0] & n[2]) | (n[1] & n[2]);
}

/* ---- the pair ---- */

static int packet_socket(int protocol, int index, struct err *err)
{
    struct sockaddr_ll at = {
        .sll_family = AF_PACKET, .sll_protocol = htons((uint16_t)protocol), .sll_ifindex = index};
    int size = 512 << 20, on = 1;
    int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return err_sys(err, ERR_SYSTEM, errno, "cannot make a packet socket");
    if (bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0 ||
        setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) < 0 ||
        setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size)) < 0 ||
        setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on)) < 0) {
        err_sys(err, ERR_SYSTEM, errno, "cannot prepare a packet socket");
        close(fd);
        return -1;
    }
    return fd;
}

/* IPv6 has its own to say on a link that comes up; where the kernel has no IPv6, so much the
 * better. */
static void quieten(const char *device)
{
    char name[64];
    struct err err;

    snprintf(name, sizeof(name), "ipv6/conf/%s/disable_ipv6", device);
    (void)namespace_sysctl(name, "1", &err);
}

int traffic_open(struct traffic *t, struct rtnl *r, int n, struct err *err)
{
    struct rtnl_link from, to;

    snprintf(t->from, sizeof(t->from), "a%d", n);
    snprintf(t->to, sizeof(t->to), "b%d", n);
    if (rtnl_veth(r, t->from, t->to, -1, err) < 0)
        return -1;
    quieten(t->from);
    quieten(t->to);
    if (rtnl_link_up(r, t->from, 1500, 1, err) < 0 || rtnl_link_up(r, t->to, 1500, 1, err) < 0 ||
        rtnl_link_find(r, t->from, &from, err) < 0 || rtnl_link_find(r, t->to, &to, err) < 0)
        return -1;
    t->from_index = from.ifindex;
    t->out_fd = packet_socket(0, from.ifindex, err); /* protocol 0: receives nothing */
    if (t->out_fd < 0)
        return -1;
    t->in_fd = packet_socket(ETH_P_ALL, to.ifindex, err);
    return t->in_fd < 0 ? -1 : 0;
}

void traffic_close(struct traffic *t)
{
    close(t->out_fd);
    close(t->in_fd);
}

static int64_t real_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

int traffic_send(const struct traffic *t, uint32_t count, int64_t pause_ns, int64_t *sent_ns,
                 struct err *err)
{
    struct timespec pause = {pause_ns / 1000000000, pause_ns % 1000000000};
    struct sockaddr_ll to = {
        .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_IP), .sll_ifindex = t->from_index};
    unsigned char frame[TRAFFIC_MAX_BYTES];

    for (uint32_t seq = 0; seq < count; seq++) {
        uint32_t bytes = traffic_frame(seq, frame);

        if (sent_ns)
            sent_ns[seq] = real_ns();
        /* A full queue says ENOBUFS: that packet is dropped, which is what is looked at. */
        if (sendto(t->out_fd, frame, bytes, 0, (struct sockaddr *)&to, sizeof(to)) < 0 &&
            errno != ENOBUFS)
            return err_sys(err, ERR_SYSTEM, errno, "cannot send frame %u", seq);
        if (pause_ns && seq % 500 == 499)
            nanosleep(&pause, NULL);
    }
    return 0;
}

int traffic_drain(const struct traffic *t, struct rtnl *r, struct err *err)
{
    struct rtnl_qdisc q = {.options = xmalloc(RTNL_OPTIONS_MAX)};
    struct timespec pause = {0, 5000000};
    int status;

    while ((status = rtnl_qdisc_get(r, t->from, &q, err)) == 0 && q.queued)
        nanosleep(&pause, NULL);
    nanosleep(&pause, NULL);
    free(q.options);
    return status;
}

static uint32_t differing_bits(const unsigned char *frame, size_t len, uint32_t seq, bool *marked)
{
    unsigned char want[TRAFFIC_MAX_BYTES];
    uint32_t bytes = traffic_frame(seq, want);
    uint32_t bits = 0;

    *marked = (frame[TOS] & 3) == CE && frame[CHECKSUM] != want[CHECKSUM];
    if (*marked) { /* the mark changes the header's checksum too */
        want[TOS] |= CE;
        memcpy(want + CHECKSUM, frame + CHECKSUM, 2);
    }
    if (bytes != len)
        return UINT32_MAX;
    if (memcmp(frame, want, bytes) == 0)
        return 0;
    for (size_t i = 0; i < bytes; i++)
        bits += (uint32_t)__builtin_popcount((unsigned)(frame[i] ^ want[i]));
    return bits;
}

static int64_t stamp_ns(struct msghdr *m)
{
    for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
        struct timespec t;

        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SO_TIMESTAMPNS)
            continue;
        memcpy(&t, CMSG_DATA(c), sizeof(t));
        return t.tv_sec * 1000000000LL + t.tv_nsec;
    }
    return 0;
}

size_t traffic_take(const struct traffic *t, struct traffic_arrival *out, size_t room)
{
    unsigned char frame[2 * TRAFFIC_MAX_BYTES];
    unsigned char control[128];
    size_t count = 0;

    while (count < room) {
        struct iovec vec = {frame, sizeof(frame)};
        struct msghdr m = {.msg_iov = &vec,
                           .msg_iovlen = 1,
                           .msg_control = control,
                           .msg_controllen = sizeof(control)};
        ssize_t n = recvmsg(t->in_fd, &m, MSG_DONTWAIT);
        struct traffic_arrival *a = &out[count];

        if (n < NUMBERS + 12)
            break;
        a->wall_ns = stamp_ns(&m);
        a->seq = traffic_seq(frame);
        a->bits = differing_bits(frame, (size_t)n, a->seq, &a->marked);
        count++;
    }
    return count;
}
