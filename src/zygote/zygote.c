/*
 * zygote: K, the keeper of all processes of a series.
 *
 * abba executes this program with the control socket as descriptor 3; its arguments are the mode
 * and a word for people that says which abba it belongs to.
 * It clones itself into the namespaces (after the exec: a later exec inside a user namespace would
 * drop the capabilities) as a child of abba, and ends; the clone is K. Without namespaces it is K
 * itself. K dies with abba: by the parent-death signal, which the kernel follows by ending the
 * whole pid namespace, or by the end of the control socket.
 */
#include "zygote/zygote.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/sched.h>

static enum wire_mode mode;
static sigset_t wait_mask; /* all but SIGCHLD */

static void fail(int sock, enum wire_step step) __attribute__((noreturn));

static void fail(int sock, enum wire_step step)
{
    struct wire_failed m = {{WIRE_FAILED, 0}, step, errno};

    (void)wire_send(sock, &m, sizeof(m), NULL, 0);
    _exit(1);
}

/* A fork with namespaces; `cgroup` is an open folder or -1. */
static pid_t clone_with(unsigned long long flags, unsigned exit_signal, int cgroup)
{
    struct clone_args args = {.flags = flags, .exit_signal = exit_signal};

    if (cgroup >= 0) {
        args.flags |= CLONE_INTO_CGROUP;
        args.cgroup = (unsigned)cgroup;
    }
    return (pid_t)syscall(SYS_clone3, &args, sizeof(args));
}

static int write_text(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    ssize_t n;

    if (fd < 0)
        return -1;
    n = write(fd, text, strlen(text));
    close(fd);
    return n < 0 ? -1 : 0;
}

/* The same ids inside as outside: programs see who they are, and exec without capabilities. */
static int map_identity(uid_t uid, gid_t gid)
{
    char text[64];

    if (write_text("/proc/self/setgroups", "deny") < 0)
        return -1;
    snprintf(text, sizeof(text), "%u %u 1", uid, uid);
    if (write_text("/proc/self/uid_map", text) < 0)
        return -1;
    snprintf(text, sizeof(text), "%u %u 1", gid, gid);
    return write_text("/proc/self/gid_map", text);
}

/* A /proc that shows this pid namespace, in a mount namespace that the host does not see. */
static int mount_proc(void)
{
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        return -1;
    return mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
}

static void say_hello(int sock)
{
    struct wire_hello m = {.head = {WIRE_HELLO, 0}, .pid = getpid()};
    int fds[2];
    size_t count = 0;

    fds[count] = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fds[count++] < 0)
        fail(sock, WIRE_STEP_MOUNT);
    if (mode == WIRE_MODE_PID_USER_NAMESPACE) {
        fds[count] = open("/proc/self/ns/user", O_RDONLY | O_CLOEXEC);
        if (fds[count++] < 0)
            fail(sock, WIRE_STEP_IDENTITY);
        m.users = 1;
    }
    if (wire_send(sock, &m, sizeof(m), fds, count) < 0)
        _exit(1);
    for (size_t i = 0; i < count; i++)
        close(fds[i]);
}

/* Z's own way from the clone to its loop. `fds` as ROLE has them. */
static void become_role(const int *fds, bool in_cgroup)
{
    struct wire_page *page;

    if (mode != WIRE_MODE_SUBREAPER) {
        prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
        if (mount_proc() < 0)
            fail(fds[0], WIRE_STEP_MOUNT);
    }
    page = mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED, fds[1], 0);
    if (page == MAP_FAILED)
        fail(fds[0], WIRE_STEP_MESSAGE);
    prctl(PR_SET_NAME, "abba-role", 0, 0, 0);
    close(ZYGOTE_CONTROL_FD);
    close(fds[1]);
    if (in_cgroup)
        close(fds[3]);
    say_hello(fds[0]);
    role_serve(fds[0], fds[2], page, mode, in_cgroup);
}

static void make_role(const struct wire_role *m, const int *fds, size_t fd_count)
{
    unsigned long long flags = mode == WIRE_MODE_SUBREAPER ? 0 : CLONE_NEWPID | CLONE_NEWNS;
    pid_t pid;

    if (fd_count != (m->in_cgroup ? 4u : 3u)) {
        errno = EBADMSG;
        pid = -1;
    } else if (flags == 0 && !m->in_cgroup) {
        pid = fork(); /* clone3 may be forbidden */
    } else {
        pid = clone_with(flags, SIGCHLD, m->in_cgroup ? fds[3] : -1);
    }
    if (pid == 0)
        become_role(fds, m->in_cgroup != 0);
    if (pid < 0 && fd_count > 0) {
        struct wire_failed failed = {{WIRE_FAILED, 0}, WIRE_STEP_FORK, errno};

        (void)wire_send(fds[0], &failed, sizeof(failed), NULL, 0);
    }
}

static void on_child(int sig)
{
    (void)sig; /* its only work is to end ppoll */
}

static void keep(int control) __attribute__((noreturn));

static void keep(int control)
{
    const struct sigaction action = {.sa_handler = on_child};
    struct pollfd p = {.fd = control, .events = POLLIN};

    sigaction(SIGCHLD, &action, NULL);
    for (;;) {
        struct wire_role m;
        int fds[WIRE_MAX_FDS];
        size_t fd_count;
        ssize_t len;
        pid_t pid;

        if (ppoll(&p, 1, NULL, &wait_mask) < 0) {
            while (waitpid(-1, NULL, WNOHANG | __WALL) > 0)
                continue;
            continue;
        }
        len = wire_recv(control, &m, sizeof(m), 0, fds, &fd_count, &pid);
        if (len <= 0) /* abba is gone, or done */
            break;
        if (len == (ssize_t)sizeof(m) && m.head.type == WIRE_ROLE)
            make_role(&m, fds, fd_count);
        for (size_t i = 0; i < fd_count; i++)
            close(fds[i]);
    }
    if (mode == WIRE_MODE_SUBREAPER)
        tree_end();
    _exit(0); /* a namespace ends with its first process */
}

/* What abba does with its signals and descriptors is not for the programs to inherit. */
static void forget_parent(void)
{
    const struct sigaction plain = {.sa_handler = SIG_DFL};
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    sigset_t all;

    for (int sig = 1; sig < NSIG; sig++)
        sigaction(sig, &plain, NULL);
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    wait_mask = all;
    sigdelset(&wait_mask, SIGCHLD);
    if (null >= 0)
        for (int fd = 0; fd < 3; fd++)
            dup2(null, fd);
    syscall(SYS_close_range, ZYGOTE_CONTROL_FD + 1, ~0u, 0);
    fcntl(ZYGOTE_CONTROL_FD, F_SETFD, FD_CLOEXEC);
}

int main(int argc, char **argv)
{
    unsigned long long flags = CLONE_PARENT | CLONE_NEWPID | CLONE_NEWNS;
    const int control = ZYGOTE_CONTROL_FD;
    const uid_t uid = getuid();
    const gid_t gid = getgid();
    pid_t pid;

    if (argc != 3)
        return 2;
    mode = (enum wire_mode)strtoul(argv[1], NULL, 10);
    forget_parent();
    if (mode == WIRE_MODE_PID_USER_NAMESPACE)
        flags |= CLONE_NEWUSER;
    if (mode != WIRE_MODE_SUBREAPER) {
        pid = clone_with(flags, 0, -1);
        if (pid < 0)
            fail(control, WIRE_STEP_NAMESPACES);
        if (pid > 0)
            _exit(0);
        if (mode == WIRE_MODE_PID_USER_NAMESPACE && map_identity(uid, gid) < 0)
            fail(control, WIRE_STEP_IDENTITY);
        if (mount_proc() < 0)
            fail(control, WIRE_STEP_MOUNT);
        prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    } else {
        prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    }
    setsid();
    prctl(PR_SET_NAME, "abba-zygote", 0, 0, 0);
    say_hello(control);
    keep(control);
}
