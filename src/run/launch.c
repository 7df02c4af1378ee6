#include "run/launch.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/files.h"
#include "base/mem.h"
#include "run/zygote_image.h"

#define HELLO_TIMEOUT_MS 10000
#define ZYGOTE_IMAGE_FD 4
#define ZYGOTE_CONTROL 3

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U
#endif

/* ---- the zygote's image ---- */

/* The embedded image in a memfd, or -1 where the kernel forbids to execute one. */
static int image_memfd(void)
{
    const size_t size = (size_t)(zygote_image_end - zygote_image);
    int fd = memfd_create("abba-zygote", MFD_CLOEXEC | MFD_EXEC);

    if (fd < 0 && errno == EINVAL) /* before Linux 6.3 all of them can be executed */
        fd = memfd_create("abba-zygote", MFD_CLOEXEC);
    if (fd < 0)
        return -1;
    if (files_write_all(fd, zygote_image, size) < 0) {
        close(fd);
        return -1;
    }
    return fd;
}

/* The same program as a file: installed, or beside a build. */
static int image_file(void)
{
    static const char *const places[] = {"../libexec/abba/zygote", "release/zygote",
                                         "../release/zygote"};
    char exe[4096], path[4352];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
    char *slash;

    if (n <= 0)
        return -1;
    exe[n] = '\0';
    slash = strrchr(exe, '/');
    if (slash == NULL)
        return -1;
    slash[1] = '\0';
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        int fd;

        snprintf(path, sizeof(path), "%s%s", exe, places[i]);
        fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd >= 0)
            return fd;
    }
    return -1;
}

/* In the child: descriptors in place, then the zygote. Returns only on failure. */
static void exec_image(int image, int control, enum wire_mode mode)
{
    char number[8], owner[16];
    char *const argv[] = {(char *)(uintptr_t) "abba-zygote", number, owner, NULL};
    char *const envp[] = {NULL};

    snprintf(number, sizeof(number), "%d", (int)mode);
    snprintf(owner, sizeof(owner), "of-%d", (int)getppid()); /* for people: whose it is */
    /* Both out of the way first: either may sit where the other has to go. */
    image = fcntl(image, F_DUPFD_CLOEXEC, 16);
    control = fcntl(control, F_DUPFD_CLOEXEC, 16);
    if ((image < 0 || control < 0) && errno == EINVAL) /* beyond RLIMIT_NOFILE */
        errno = EMFILE;
    if (image < 0 || control < 0 || dup2(control, ZYGOTE_CONTROL) < 0 ||
        dup3(image, ZYGOTE_IMAGE_FD, O_CLOEXEC) < 0)
        return;
    syscall(SYS_execveat, ZYGOTE_IMAGE_FD, "", argv, envp, AT_EMPTY_PATH);
}

/* Runs one image. -1 if it could not be executed: errno says why. */
static pid_t spawn_image(int image, int control, enum wire_mode mode)
{
    int report[2], failed = 0;
    pid_t pid;

    if (pipe2(report, O_CLOEXEC) < 0)
        return -1;
    pid = fork();
    if (pid == 0) {
        int why;

        exec_image(image, control, mode);
        why = errno;
        (void)!write(report[1], &why, sizeof(why));
        _exit(127);
    }
    close(report[1]);
    if (pid > 0 && read(report[0], &failed, sizeof(failed)) == (ssize_t)sizeof(failed)) {
        waitpid(pid, NULL, 0);
        errno = failed;
        pid = -1;
    }
    close(report[0]);
    return pid;
}

static pid_t spawn_zygote(int control, enum wire_mode mode, struct err *err)
{
    int (*const images[])(void) = {image_memfd, image_file};
    int why = ENOENT;

    for (size_t i = 0; i < 2; i++) {
        int fd = images[i]();
        pid_t pid;

        if (fd < 0) {
            why = errno;
            continue;
        }
        pid = spawn_image(fd, control, mode);
        why = errno;
        close(fd);
        if (pid > 0)
            return pid;
    }
    return err_sys(err, ERR_SYSTEM, why, "cannot execute the zygote");
}

/* ---- hello ---- */

/* Waits for HELLO. Descriptors into fds[2], -1 where absent. */
static int await_hello(int sock, const char *who, int32_t *own_pid, pid_t *pid, int fds[2],
                       struct err *err)
{
    union {
        struct wire_head head;
        struct wire_hello hello;
        struct wire_failed failed;
        struct wire_armed largest;
    } m;
    struct pollfd p = {.fd = sock, .events = POLLIN};
    int got[WIRE_MAX_FDS];
    size_t count;
    ssize_t n;
    int ready;

    fds[0] = fds[1] = -1;
    do {
        ready = poll(&p, 1, HELLO_TIMEOUT_MS);
    } while (ready < 0 && errno == EINTR);
    if (ready == 0)
        return err_set(err, ERR_SYSTEM, "%s does not answer", who);
    n = wire_recv(sock, &m, sizeof(m), 0, got, &count, pid);
    if (n < 0)
        return err_sys(err, ERR_SYSTEM, errno, "cannot hear %s", who);
    for (size_t i = 0; i < count; i++) {
        if (i < 2)
            fds[i] = got[i];
        else
            close(got[i]);
    }
    if (n == (ssize_t)sizeof(m.failed) && m.head.type == WIRE_FAILED)
        return err_sys(err, ERR_SYSTEM, m.failed.sys_errno, "%s cannot %s", who,
                       launch_step_text(m.failed.step));
    if (n != (ssize_t)sizeof(m.hello) || m.head.type != WIRE_HELLO || fds[0] < 0)
        return err_set(err, ERR_SYSTEM, "%s ended before it said hello", who);
    *own_pid = m.hello.pid;
    return 0;
}

/* A socket pair whose first end learns who sends. */
static int socket_pair(int pair[2], struct err *err)
{
    const int on = 1;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return err_sys(err, ERR_SYSTEM, errno, "cannot make a socket pair");
    if (setsockopt(pair[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) < 0) {
        err_sys(err, ERR_SYSTEM, errno, "cannot ask a socket for its peer");
        close(pair[0]);
        close(pair[1]);
        return -1;
    }
    return 0;
}

/* Of any kind: K sends no SIGCHLD. */
static void reap(pid_t pid)
{
    if (pid <= 0)
        return;
    while (waitpid(pid, NULL, __WALL) < 0 && errno == EINTR)
        continue;
}

static int launch_try(struct launch *l, enum wire_mode mode, struct err *err)
{
    int pair[2], fds[2];
    int32_t own_pid;
    pid_t spawned;

    if (socket_pair(pair, err) < 0)
        return -1;
    spawned = spawn_zygote(pair[1], mode, err);
    close(pair[1]);
    if (spawned < 0) {
        close(pair[0]);
        return -1;
    }
    if (mode != WIRE_MODE_SUBREAPER) /* it has cloned K, and ends */
        reap(spawned);
    if (await_hello(pair[0], "the zygote", &own_pid, &l->keeper, fds, err) < 0) {
        close(pair[0]); /* which ends it */
        for (int i = 0; i < 2; i++)
            if (fds[i] >= 0)
                close(fds[i]);
        reap(mode == WIRE_MODE_SUBREAPER ? spawned : l->keeper);
        return -1;
    }
    l->control = pair[0];
    l->proc_fd = fds[0];
    l->user_fd = fds[1];
    l->isolation = mode == WIRE_MODE_SUBREAPER ? ISOLATION_SUBREAPER : ISOLATION_PID_NAMESPACE;
    return 0;
}

int launch_open(struct launch *l, enum isolation wanted, bool users, struct err *err)
{
    const bool root = geteuid() == 0;
    const enum wire_mode spaced = root ? WIRE_MODE_PID_NAMESPACE : WIRE_MODE_PID_USER_NAMESPACE;

    *l = (struct launch){.control = -1, .proc_fd = -1, .user_fd = -1};
    if (wanted == ISOLATION_SUBREAPER)
        return launch_try(l, WIRE_MODE_SUBREAPER, err);
    if (wanted == ISOLATION_PID_NAMESPACE)
        return launch_try(l, spaced, err);
    if ((root || users) && launch_try(l, spaced, err) == 0)
        return 0;
    return launch_try(l, WIRE_MODE_SUBREAPER, err);
}

void launch_close(struct launch *l)
{
    if (l->control < 0)
        return;
    close(l->control);
    close(l->proc_fd);
    if (l->user_fd >= 0)
        close(l->user_fd);
    reap(l->keeper);
    *l = (struct launch){.control = -1, .proc_fd = -1, .user_fd = -1};
}

/* ---- seats ---- */

/* The page that Z and abba share; its descriptor goes to Z. */
static int make_page(struct wire_page **page, struct err *err)
{
    const size_t size = (size_t)sysconf(_SC_PAGESIZE);
    int fd = memfd_create("abba-page", MFD_CLOEXEC);

    if (fd < 0 || ftruncate(fd, (off_t)size) < 0)
        goto fail;
    *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (*page != MAP_FAILED)
        return fd;
fail:
    err_sys(err, ERR_SYSTEM, errno, "cannot share a page with the zygote");
    if (fd >= 0)
        close(fd);
    *page = NULL;
    return -1;
}

static void close_pair(int pair[2])
{
    close(pair[0]);
    close(pair[1]);
}

/* Asks K for a Z that has the far ends. */
static int ask_for_role(struct seat *s, struct launch *l, int cgroup_fd, struct err *err)
{
    const struct wire_role m = {.head = {WIRE_ROLE, 0}, .in_cgroup = cgroup_fd >= 0};
    int pair[2], armed[2], page_fd = -1, rc = -1;

    if (socket_pair(pair, err) < 0)
        return -1;
    if (socket_pair(armed, err) < 0) {
        close_pair(pair);
        return -1;
    }
    s->sock = pair[0];
    s->armed_sock = armed[0];
    page_fd = make_page(&s->page, err);
    if (page_fd >= 0) {
        rc =
            wire_send(l->control, &m, sizeof(m),
                      (const int[]){pair[1], page_fd, armed[1], cgroup_fd}, cgroup_fd >= 0 ? 4 : 3);
        if (rc < 0)
            err_sys(err, ERR_SYSTEM, errno, "cannot ask the zygote for a role");
        close(page_fd);
    }
    close(pair[1]);
    close(armed[1]);
    return rc;
}

int seat_open(struct seat *s, struct launch *l, int cgroup_fd, struct err *err)
{
    int hello[2];

    *s = (struct seat){.sock = -1, .armed_sock = -1, .proc_fd = -1};
    if (ask_for_role(s, l, cgroup_fd, err) < 0)
        goto fail;
    if (await_hello(s->sock, "a role's process", &s->own_pid, &s->host_pid, hello, err) < 0) {
        for (int i = 0; i < 2; i++)
            if (hello[i] >= 0)
                close(hello[i]);
        goto fail;
    }
    s->proc_fd = hello[0];
    if (hello[1] >= 0)
        close(hello[1]);
    s->message = xmalloc(WIRE_MAX_BYTES);
    return 0;
fail:
    seat_close(s);
    return -1;
}

void seat_close(struct seat *s)
{
    if (s->sock >= 0)
        close(s->sock);
    if (s->armed_sock >= 0)
        close(s->armed_sock);
    if (s->proc_fd >= 0)
        close(s->proc_fd);
    if (s->page != NULL)
        munmap(s->page, (size_t)sysconf(_SC_PAGESIZE));
    free(s->message);
    *s = (struct seat){.sock = -1, .armed_sock = -1, .proc_fd = -1};
}
