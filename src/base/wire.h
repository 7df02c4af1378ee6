/*
 * wire: what abba and its zygote say to each other.
 *
 * The zygote is a small static program (src/zygote); abba executes it once a series. It becomes the
 * keeper K, which makes one role process Z per role; each Z starts, reaps and ends the programs of
 * its role. Messages are packets of a SOCK_SEQPACKET socket, one socket for K and one for each Z;
 * descriptors travel beside them. Both ends are built together, so structs go as they are.
 *
 *     HELLO   K, Z -> abba   it is ready; descriptors: its /proc [, its user namespace]
 *     ROLE    abba -> K      make a Z; descriptors: Z's socket, its shared page [, cgroup folder]
 *     START   abba -> Z      start a program; descriptors as `fds` says
 *     ARMED   child -> abba  about to exec; descriptors: the counters that opened
 *     FAILED  any -> abba    a step failed with errno
 *     EXITED  Z -> abba      the root process ended
 *     KILL    abba -> Z      SIGKILL: all processes of the role; another signal: the root process
 *     EMPTY   Z -> abba      no process of the role is left
 *     LOOK    Z -> abba      a process stands still at its end, or before its next program
 *     GO      abba -> Z      it may go on
 *
 * The sender's process id, as the receiver's pid namespace sees it, comes by SCM_CREDENTIALS.
 */
#ifndef ABBA_BASE_WIRE_H
#define ABBA_BASE_WIRE_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>

#define WIRE_MAX_BYTES 32768  /* of one packet; longer arguments travel in a memfd */
#define WIRE_MAX_FDS 64       /* beside one packet */
#define WIRE_MAX_EVENTS 64    /* counters of one program */
#define WIRE_MAX_STRINGS 2048 /* arguments and environment in a packet */
#define WIRE_ATTR_BYTES 192   /* struct perf_event_attr: 136 in Linux 6.3, and it grows */
#define WIRE_CPU_BYTES 1024   /* cpu set: 8192 CPUs */

enum wire_type {
    WIRE_HELLO = 1,
    WIRE_ROLE,
    WIRE_START,
    WIRE_ARMED,
    WIRE_FAILED,
    WIRE_EXITED,
    WIRE_KILL,
    WIRE_EMPTY,
    WIRE_LOOK,
    WIRE_GO,
};

/* How the zygote keeps the processes below it together. */
enum wire_mode {
    WIRE_MODE_PID_NAMESPACE,      /* own pid and mount namespaces, own /proc */
    WIRE_MODE_PID_USER_NAMESPACE, /* the same below an own user namespace, identity-mapped */
    WIRE_MODE_SUBREAPER,          /* no namespaces: orphans come to Z, which walks its tree */
};

/* What was being done when it failed. */
enum wire_step {
    WIRE_STEP_NONE,
    WIRE_STEP_NAMESPACES, /* clone3 with namespaces */
    WIRE_STEP_IDENTITY,   /* mapping of user and group */
    WIRE_STEP_MOUNT,      /* private mounts and /proc */
    WIRE_STEP_MESSAGE,    /* a START that makes no sense */
    WIRE_STEP_FORK,
    WIRE_STEP_NETWORK, /* entering the network namespace */
    WIRE_STEP_STDIO,
    WIRE_STEP_FOLDER, /* chdir */
    WIRE_STEP_CPUS,   /* sched_setaffinity */
    WIRE_STEP_EXEC,
};

struct wire_head {
    uint32_t type; /* enum wire_type */
    uint32_t run;  /* which START it belongs to; 0 outside of a run */
};

struct wire_hello {
    struct wire_head head;
    int32_t pid;    /* as itself sees it */
    uint32_t users; /* 1: the second descriptor is its user namespace */
};

/*
 * Descriptors: the socket of the new Z, its shared page, the socket of its children for ARMED [, an
 * open cgroup folder]. ARMED has a socket of its own so that abba need not wake for it: the program
 * is on its way, and there is nothing to do before the first memory sample.
 */
struct wire_role {
    struct wire_head head;
    uint32_t in_cgroup; /* 1: the fourth descriptor is there */
    uint32_t unused;
};

/* Descriptors of START, in this order. stdin is /dev/null where it is absent. */
enum wire_start_fd {
    WIRE_FD_OUT = 1 << 0,
    WIRE_FD_ERR = 1 << 1,
    WIRE_FD_IN = 1 << 2,
    WIRE_FD_NET = 1 << 3,  /* network namespace to enter */
    WIRE_FD_BLOB = 1 << 4, /* memfd with the strings */
};

/*
 * Followed by `events` struct wire_event, `cpu_bytes` of a cpu mask (a multiple of 8), then
 * `string_bytes` of strings, each with its NUL: program, folder ("": stay), `argc` arguments,
 * `envc` settings. With WIRE_FD_BLOB the strings are in the memfd instead, from its start.
 */
struct wire_start {
    struct wire_head head;
    uint32_t fds; /* enum wire_start_fd */
    uint32_t events;
    uint32_t cpu_bytes;
    uint32_t argc, envc;
    uint32_t string_bytes;
    uint32_t traced; /* 1: LOOK is told of its processes; never where a run is timed */
    uint32_t unused;
};

/* A counter that the child opens on itself. */
struct wire_event {
    int32_t leader; /* an earlier event whose group it joins, or -1 */
    uint32_t unused;
    unsigned char attr[WIRE_ATTR_BYTES] __attribute__((aligned(8))); /* struct perf_event_attr */
};

struct wire_armed {
    struct wire_head head;
    int32_t pid; /* in Z's namespace */
    uint32_t events;
    uint32_t cpu_bytes;                   /* of `cpus`, as the kernel gives it back; 0: not asked */
    int32_t event_errno[WIRE_MAX_EVENTS]; /* 0: its descriptor is beside, in order */
    uint64_t cpus[WIRE_CPU_BYTES / 8];
};

struct wire_failed {
    struct wire_head head;
    uint32_t step; /* enum wire_step */
    int32_t sys_errno;
};

/* What wait4() gave for a process and those that it had waited for; or sums of several. */
struct wire_usage {
    uint64_t user_us, system_us;
    uint64_t max_rss_kib; /* the largest single one */
    uint64_t minor_faults, major_faults;
    uint64_t voluntary, involuntary; /* context switches */
};

/* The tree's figures up to now: complete when `empty`. */
struct wire_tree {
    struct wire_usage usage; /* root and orphans, summed */
    uint64_t own_ns;         /* CPU time of Z itself since it last told it; 0 outside of a cgroup */
    uint32_t processes;      /* that Z waited for */
    uint32_t leftovers;      /* of them: ended after the root, once SIGKILL was ordered */
};

struct wire_exited {
    struct wire_head head;
    int32_t pid;     /* in Z's namespace */
    int32_t status;  /* as wait4 gives it */
    uint64_t end_ns; /* CLOCK_MONOTONIC */
    uint32_t empty;  /* 1: nothing else is left, and no EMPTY follows */
    uint32_t unused;
    struct wire_tree tree;
};

struct wire_kill {
    struct wire_head head;
    int32_t signal;
    uint32_t unused;
};

struct wire_empty {
    struct wire_head head;
    struct wire_tree tree;
};

/* LOOK and GO. */
struct wire_stand {
    struct wire_head head;
    int32_t pid; /* in Z's namespace; of a thread, perhaps */
    uint32_t unused;
};

/* One page, shared by abba, Z and the child about to exec. */
struct wire_page {
    volatile uint64_t exec_ns; /* CLOCK_MONOTONIC just before execve */
    volatile uint32_t step;    /* enum wire_step at which the child gave up */
    volatile int32_t sys_errno;
    volatile int32_t trace_errno; /* why a program that was to be traced is not; 0 */
};

union wire_control {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(sizeof(int) * WIRE_MAX_FDS) + CMSG_SPACE(sizeof(struct ucred))];
};

/* Sends one packet with descriptors. 0, or -1 with errno. A closed peer is EPIPE, no signal. */
static inline int wire_send(int sock, const void *msg, size_t len, const int *fds, size_t fd_count)
{
    union wire_control control;
    struct iovec iov = {.iov_base = (void *)(uintptr_t)msg, .iov_len = len};
    struct msghdr mh = {.msg_iov = &iov, .msg_iovlen = 1};
    ssize_t n;

    if (fd_count > 0) {
        struct cmsghdr *c;

        mh.msg_control = control.bytes;
        mh.msg_controllen = CMSG_SPACE(sizeof(int) * fd_count);
        c = CMSG_FIRSTHDR(&mh);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof(int) * fd_count);
        memcpy(CMSG_DATA(c), fds, sizeof(int) * fd_count);
    }
    do {
        n = sendmsg(sock, &mh, MSG_NOSIGNAL);
    } while (n < 0 && errno == EINTR);
    return n == (ssize_t)len ? 0 : -1;
}

/*
 * Takes one packet: its length, 0 at end-of-file, -1 with errno (EMSGSIZE: longer than `size`).
 * Descriptors come close-on-exec into `fds` (room for WIRE_MAX_FDS) and are the caller's; `pid`
 * gets the sender's process id where the socket has SO_PASSCRED, else 0.
 */
static inline ssize_t wire_recv(int sock, void *msg, size_t size, int flags, int *fds,
                                size_t *fd_count, pid_t *pid)
{
    union wire_control control;
    struct iovec iov = {.iov_base = msg, .iov_len = size};
    struct msghdr mh = {.msg_iov = &iov,
                        .msg_iovlen = 1,
                        .msg_control = control.bytes,
                        .msg_controllen = sizeof(control.bytes)};
    ssize_t n;

    *fd_count = 0;
    *pid = 0;
    do {
        n = recvmsg(sock, &mh, MSG_CMSG_CLOEXEC | flags);
    } while (n < 0 && errno == EINTR);
    if (n < 0)
        return -1;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(&mh); c != NULL; c = CMSG_NXTHDR(&mh, c)) {
        if (c->cmsg_level != SOL_SOCKET)
            continue;
        if (c->cmsg_type == SCM_RIGHTS) {
            *fd_count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
            memcpy(fds, CMSG_DATA(c), *fd_count * sizeof(int));
        } else if (c->cmsg_type == SCM_CREDENTIALS) {
            struct ucred cred;

            memcpy(&cred, CMSG_DATA(c), sizeof(cred));
            *pid = cred.pid;
        }
    }
    if (mh.msg_flags & MSG_TRUNC) {
        errno = EMSGSIZE;
        return -1;
    }
    return n;
}

#endif
