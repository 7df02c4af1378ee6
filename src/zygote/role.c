/* role: Z, which starts, reaps and ends the processes of one role. */
#include "zygote/zygote.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct role {
    int sock, armed_sock;
    struct wire_page *page;
    bool namespaced;      /* pid 1 of its own namespace */
    bool in_cgroup;       /* its own CPU time is in the role's and must be told */
    uint32_t run;         /* 0: nothing is to be waited for */
    pid_t root;           /* 0: none, or reaped */
    bool killing;         /* SIGKILL was ordered */
    uint64_t told_own_ns; /* CPU time of this process itself, as of the last telling */
    struct wire_tree tree;
    char *strings[WIRE_MAX_STRINGS + 2];
    union {
        struct wire_head head;
        struct wire_start start;
        struct wire_kill kill;
        struct wire_stand stand;
        uint64_t align;
        char bytes[WIRE_MAX_BYTES];
    } message;
};

static struct role role;

static uint64_t clock_ns(clockid_t id)
{
    struct timespec ts;

    clock_gettime(id, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* A message that cannot be sent has nobody to read it: the socket's end is seen next. */
static void tell(const void *msg, size_t len)
{
    (void)wire_send(role.sock, msg, len, NULL, 0);
}

static void tell_failed(uint32_t step, int sys_errno)
{
    struct wire_failed m = {{WIRE_FAILED, role.run}, step, sys_errno};

    tell(&m, sizeof(m));
}

static void finish_tree(void)
{
    if (role.in_cgroup) {
        const uint64_t own_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);

        role.tree.own_ns = own_ns - role.told_own_ns;
        role.told_own_ns = own_ns;
    }
    role.killing = false;
}

static void tell_empty(void)
{
    struct wire_empty m = {.head = {WIRE_EMPTY, role.run}};

    finish_tree();
    m.tree = role.tree;
    tell(&m, sizeof(m));
    role.run = 0;
}

/* Takes the message apart. False if its parts do not fit its length or its descriptors. */
static bool unpack(struct order *o, size_t len, const int *fds, size_t fd_count)
{
    const struct wire_start *m = &role.message.start;
    int *slot[] = {&o->out, &o->err, &o->in, &o->net, &o->blob};
    size_t need, used = 0;

    *o = (struct order){
        .run = m->head.run, .out = -1, .err = -1, .in = -1, .net = -1, .blob = -1, .gate = -1};
    if (len < sizeof(*m) || m->events > WIRE_MAX_EVENTS || m->cpu_bytes > WIRE_CPU_BYTES ||
        m->cpu_bytes % 8 != 0)
        return false;
    for (size_t i = 0; i < sizeof(slot) / sizeof(slot[0]); i++)
        if (m->fds & (1u << i)) {
            if (used == fd_count)
                return false;
            *slot[i] = fds[used++];
        }
    need = sizeof(*m) + m->events * sizeof(struct wire_event) + m->cpu_bytes;
    o->events = (const struct wire_event *)(m + 1);
    o->event_count = m->events;
    o->cpus = o->events + m->events;
    o->cpu_bytes = m->cpu_bytes;
    o->argc = m->argc;
    o->envc = m->envc;
    o->string_bytes = m->string_bytes;
    o->die_with_parent = !role.namespaced;
    o->traced = m->traced != 0;
    if (o->blob >= 0)
        return len == need && used == fd_count;
    o->strings = role.message.bytes + need;
    return len == need + m->string_bytes && used == fd_count && m->string_bytes > 0 &&
           role.message.bytes[len - 1] == '\0' && (uint64_t)m->argc + m->envc <= WIRE_MAX_STRINGS;
}

/*
 * vfork: the child starts without a copy of the page tables and Z waits until its exec. Long
 * arguments take a fork, so that their pages never count as Z's own peak, which programs inherit.
 */
static pid_t start_child(const struct order *o)
{
    pid_t pid;

    if (o->blob >= 0) {
        pid = fork();
        if (pid == 0)
            child_exec_blob(o, role.armed_sock, role.page);
        return pid;
    }
    pid = vfork();
    if (pid == 0)
        child_exec(o, role.strings, role.armed_sock, role.page);
    return pid;
}

/* The child waits at its gate until it is followed; where it may not be it runs all the same. */
static pid_t start_traced(struct order *o)
{
    int gate[2];
    pid_t pid;

    if (pipe2(gate, O_CLOEXEC) < 0)
        return -1;
    o->gate = gate[0];
    pid = fork();
    if (pid == 0) {
        close(gate[1]);
        if (o->blob >= 0)
            child_exec_blob(o, role.armed_sock, role.page);
        child_exec(o, role.strings, role.armed_sock, role.page);
    }
    if (pid > 0)
        role.page->trace_errno = trace_begin(pid);
    close(gate[0]);
    close(gate[1]);
    return pid;
}

static void start(size_t len, const int *fds, size_t fd_count)
{
    struct order o;

    role.run = role.message.head.run;
    role.root = 0;
    role.killing = false;
    role.tree = (struct wire_tree){0};
    role.page->exec_ns = 0;
    role.page->step = WIRE_STEP_NONE;
    role.page->trace_errno = 0;
    if (!unpack(&o, len, fds, fd_count)) {
        tell_failed(WIRE_STEP_MESSAGE, EBADMSG);
        tell_empty();
        return;
    }
    role.root = o.traced ? start_traced(&o) : start_child(&o);
    if (role.root < 0) {
        role.root = 0;
        tell_failed(WIRE_STEP_FORK, errno);
        tell_empty();
    }
}

static void count(const struct rusage *ru, bool leftover)
{
    struct wire_usage *u = &role.tree.usage;

    u->user_us += (uint64_t)ru->ru_utime.tv_sec * 1000000u + (uint64_t)ru->ru_utime.tv_usec;
    u->system_us += (uint64_t)ru->ru_stime.tv_sec * 1000000u + (uint64_t)ru->ru_stime.tv_usec;
    if ((uint64_t)ru->ru_maxrss > u->max_rss_kib)
        u->max_rss_kib = (uint64_t)ru->ru_maxrss;
    u->minor_faults += (uint64_t)ru->ru_minflt;
    u->major_faults += (uint64_t)ru->ru_majflt;
    u->voluntary += (uint64_t)ru->ru_nvcsw;
    u->involuntary += (uint64_t)ru->ru_nivcsw;
    role.tree.processes++;
    role.tree.leftovers += leftover;
}

/* One that stands still waits for GO; without a run there is nobody to look. */
static void take_stop(pid_t pid, int status)
{
    struct wire_stand m = {.head = {WIRE_LOOK, role.run}, .pid = pid};

    if (role.run == 0)
        trace_leave(pid);
    else if (trace_stop(pid, status))
        tell(&m, sizeof(m));
}

/* Reaps what has ended; tells of the root, and when nothing is left. */
static void reap(void)
{
    const uint64_t now = clock_ns(CLOCK_MONOTONIC);
    struct wire_exited m = {.head = {WIRE_EXITED, role.run}, .end_ns = now};
    bool root_ended = false;
    struct rusage ru;
    int status;
    pid_t pid;

    while ((pid = wait4(-1, &status, WNOHANG | __WALL, &ru)) > 0) {
        if (WIFSTOPPED(status)) {
            take_stop(pid, status);
            continue;
        }
        count(&ru, role.killing && role.root == 0);
        if (pid == role.root) {
            role.root = 0;
            root_ended = true;
            m.pid = pid;
            m.status = status;
        }
    }
    if (role.run == 0)
        return;
    m.empty = pid < 0 && errno == ECHILD;
    if (root_ended && role.page->step != WIRE_STEP_NONE) {
        tell_failed(role.page->step, role.page->sys_errno);
    } else if (root_ended) {
        if (m.empty)
            finish_tree();
        m.tree = role.tree;
        tell(&m, sizeof(m));
        if (m.empty)
            role.run = 0;
    }
    if (m.empty && role.run != 0)
        tell_empty();
}

static void end(int sig)
{
    if (role.run == 0)
        return;
    if (sig != SIGKILL) {
        if (role.root > 0)
            kill(role.root, sig);
        return;
    }
    role.killing = true;
    if (role.namespaced)
        kill(-1, SIGKILL);
    else
        tree_kill(SIGKILL);
}

static void take_message(void)
{
    int fds[WIRE_MAX_FDS];
    size_t fd_count;
    pid_t pid;
    ssize_t len =
        wire_recv(role.sock, &role.message, sizeof(role.message), 0, fds, &fd_count, &pid);

    if (len == 0 || (len < 0 && errno != EMSGSIZE)) { /* abba is gone */
        if (!role.namespaced)
            tree_end();
        _exit(0);
    }
    if (len > 0 && role.message.head.type == WIRE_START)
        start((size_t)len, fds, fd_count);
    else if (len == (ssize_t)sizeof(struct wire_kill) && role.message.head.type == WIRE_KILL)
        end(role.message.kill.signal);
    else if (len == (ssize_t)sizeof(struct wire_stand) && role.message.head.type == WIRE_GO)
        trace_go(role.message.stand.pid);
    for (size_t i = 0; i < fd_count; i++)
        close(fds[i]);
}

static void on_child(int sig)
{
    (void)sig; /* its only work is to end ppoll */
}

void role_serve(int sock, int armed_sock, struct wire_page *page, enum wire_mode mode,
                bool in_cgroup)
{
    const struct sigaction action = {.sa_handler = on_child};
    const struct timespec again = {.tv_nsec = 1000 * 1000};
    struct pollfd p = {.fd = sock, .events = POLLIN};
    sigset_t wait_mask;

    role.sock = sock;
    role.armed_sock = armed_sock;
    role.page = page;
    role.namespaced = mode != WIRE_MODE_SUBREAPER;
    role.in_cgroup = in_cgroup;
    role.told_own_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID); /* abba counts from now on */
    if (!role.namespaced)
        prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    sigaction(SIGCHLD, &action, NULL);
    sigfillset(&wait_mask);
    sigdelset(&wait_mask, SIGCHLD);

    for (;;) {
        bool walk = role.killing && !role.namespaced;
        int n = ppoll(&p, 1, walk ? &again : NULL, &wait_mask);

        if (n > 0) {
            take_message();
            continue;
        }
        if (walk) /* whoever forked during the last walk */
            tree_kill(SIGKILL);
        reap();
    }
}
