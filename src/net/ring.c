#include "net/ring.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define RING_BYTES ((size_t)RING_FRAMES * RING_FRAME_BYTES)
#define BLOCK_BYTES 65536u
#define SEND_BUFFER (4 << 20)
#define SEND_RETRIES                                                                               \
    1000 /* of 1 ms: the socket's buffer is not given back, so something is stuck */

/* ---- set-up ---- */

static int set(int fd, int option, int value, const char *name, struct err *err)
{
    if (setsockopt(fd, SOL_PACKET, option, &value, sizeof(value)) == 0)
        return 0;
    return err_sys(err, ERR_SYSTEM, errno, "cannot set %s on a packet socket", name);
}

/* Protocol 0 receives nothing yet. */
static int bind_device(int fd, int ifindex, uint16_t protocol, struct err *err)
{
    struct sockaddr_ll to = {
        .sll_family = AF_PACKET, .sll_ifindex = ifindex, .sll_protocol = htons(protocol)};

    if (bind(fd, (const struct sockaddr *)&to, sizeof(to)) == 0)
        return 0;
    return err_sys(err, ERR_SYSTEM, errno, "cannot bind a packet socket to device %d", ifindex);
}

static int configure(struct ring *r, int ifindex, struct err *err)
{
    int bytes = SEND_BUFFER;

    if (set(r->fd, PACKET_VERSION, TPACKET_V2, "PACKET_VERSION", err) < 0 ||
        set(r->fd, PACKET_IGNORE_OUTGOING, 1, "PACKET_IGNORE_OUTGOING", err) < 0 ||
        set(r->fd, PACKET_QDISC_BYPASS, 1, "PACKET_QDISC_BYPASS", err) < 0)
        return -1;
    if (setsockopt(r->fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof(bytes)) < 0)
        (void)setsockopt(r->fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
    return bind_device(r->fd, ifindex, 0, err);
}

int ring_open(struct ring *r, int ifindex, struct err *err)
{
    memset(r, 0, sizeof(*r));
    for (int i = 0; i < RING_BATCH; i++) {
        r->messages[i].msg_hdr.msg_iov = &r->pieces[i];
        r->messages[i].msg_hdr.msg_iovlen = 1;
    }
    r->fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (r->fd < 0) {
        err_sys(err, errno == EPERM || errno == EAFNOSUPPORT ? ERR_CONFIG : ERR_SYSTEM, errno,
                "cannot open a packet socket");
        return err_hint(err, "the user back end needs AF_PACKET (CAP_NET_RAW in its namespace)");
    }
    if (configure(r, ifindex, err) == 0)
        return 0;
    ring_close(r);
    return -1;
}

void ring_close(struct ring *r)
{
    if (r->frames)
        munmap(r->frames, RING_BYTES);
    if (r->fd >= 0)
        close(r->fd);
    r->frames = NULL;
    r->fd = -1;
}

int ring_make(struct ring *r, struct err *err)
{
    struct tpacket_req request = {.tp_block_size = BLOCK_BYTES,
                                  .tp_block_nr = (unsigned)(RING_BYTES / BLOCK_BYTES),
                                  .tp_frame_size = RING_FRAME_BYTES,
                                  .tp_frame_nr = RING_FRAMES};
    void *frames;

    if (setsockopt(r->fd, SOL_PACKET, PACKET_RX_RING, &request, sizeof(request)) < 0)
        return err_sys(err, ERR_SYSTEM, errno, "cannot make a ring of %u packets", RING_FRAMES);
    frames = mmap(NULL, RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, r->fd, 0);
    if (frames == MAP_FAILED)
        return err_sys(err, ERR_SYSTEM, errno, "cannot map a ring of %u packets", RING_FRAMES);
    r->frames = frames;
    return 0;
}

int ring_listen(struct ring *r, int ifindex, struct err *err)
{
    if (!r->frames && ring_make(r, err) < 0)
        return -1;
    return bind_device(r->fd, ifindex, ETH_P_ALL, err);
}

/* ---- receiving ---- */

static struct tpacket2_hdr *header(const struct ring *r)
{
    return (void *)(r->frames + (size_t)r->next * RING_FRAME_BYTES);
}

bool ring_ready(const struct ring *r)
{
    return r->frames && (__atomic_load_n(&header(r)->tp_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER);
}

bool ring_next(const struct ring *r, struct ring_packet *p)
{
    const struct tpacket2_hdr *h;

    if (!ring_ready(r))
        return false;
    h = header(r);
    p->data = (const unsigned char *)h + h->tp_mac;
    p->bytes = h->tp_len;
    p->stored = h->tp_snaplen;
    p->real_ns = (int64_t)h->tp_sec * 1000000000 + h->tp_nsec;
    p->no_checksum = h->tp_status & TP_STATUS_CSUMNOTREADY;
    return true;
}

void ring_done(struct ring *r)
{
    __atomic_store_n(&header(r)->tp_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
    r->next = (r->next + 1) % RING_FRAMES;
}

/* The kernel counts anew after each reading. */
int ring_statistics(struct ring *r, struct err *err)
{
    struct tpacket_stats stats;
    socklen_t size = sizeof(stats);

    if (getsockopt(r->fd, SOL_PACKET, PACKET_STATISTICS, &stats, &size) < 0)
        return err_sys(err, ERR_SYSTEM, errno, "cannot read a packet socket's statistics");
    r->drops += stats.tp_drops;
    return 0;
}

/* ---- sending ---- */

void ring_put(struct ring *r, void *data, uint32_t bytes)
{
    ABBA_ASSERT(r->batch < RING_BATCH);
    r->pieces[r->batch++] = (struct iovec){data, bytes};
}

/* Returns whether the first of the remaining packets is to be tried again (1), is lost (0) or all
 * are (-1). */
static int after_failure(const struct ring *r, int error, int *retries, struct err *err)
{
    struct pollfd room = {.fd = r->fd, .events = POLLOUT};

    if (error == EINTR)
        return 1;
    if (error == ENOBUFS || error == EMSGSIZE)
        return 0;
    if (error == EAGAIN && (*retries)++ < SEND_RETRIES) {
        (void)poll(&room, 1, 1);
        return 1;
    }
    return err_sys(err, ERR_SYSTEM, error, "cannot send packets");
}

int ring_send(struct ring *r, uint32_t *lost, struct err *err)
{
    uint32_t done = 0;
    int retries = 0;

    *lost = 0;
    while (done < r->batch) {
        int sent = sendmmsg(r->fd, &r->messages[done], r->batch - done, MSG_DONTWAIT);
        int again;

        if (sent > 0) {
            done += (uint32_t)sent;
            continue;
        }
        again = after_failure(r, errno, &retries, err);
        if (again < 0)
            return -1;
        *lost += again == 0;
        done += again == 0;
    }
    r->batch = 0;
    return 0;
}
