#include "base/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/confine.h"

/* What the child tells when it cannot become the program. */
struct failure {
    int step; /* 0: chdir, 1: confine, 2: exec */
    int sys_errno;
};

enum {
    LOOK_MS = 100,   /* how often it is asked whether a signal came; a signal wakes at once */
    GRACE_MS = 2000, /* from SIGTERM to SIGKILL */
};

struct pipes {
    int out[2], errors[2], failed[2];
};

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void close_pipes(struct pipes *p)
{
    for (int i = 0; i < 2; i++) {
        close_fd(&p->out[i]);
        close_fd(&p->errors[i]);
        close_fd(&p->failed[i]);
    }
}

static int open_pipes(struct pipes *p, struct err *err)
{
    *p = (struct pipes){{-1, -1}, {-1, -1}, {-1, -1}};
    if (pipe2(p->out, O_CLOEXEC) == 0 && pipe2(p->errors, O_CLOEXEC) == 0 &&
        pipe2(p->failed, O_CLOEXEC) == 0)
        return 0;
    err_sys(err, ERR_SYSTEM, errno, "cannot make a pipe");
    close_pipes(p);
    return -1;
}

/* ---- the child ---- */

static void give_up(const struct pipes *p, int step)
{
    struct failure f = {step, errno};
    ssize_t n = write(p->failed[1], &f, sizeof f);

    (void)n;
    _exit(127);
}

/* Between fork and exec: only what is safe there. */
static void become(const struct spawn *s, const struct pipes *p, int confine_fd, pid_t parent)
{
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    sigset_t none;

    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (s->stopped) /* it and all it starts can be ended together */
        setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(127);
    dup2(s->input_fd > 0 ? s->input_fd : nothing, STDIN_FILENO);
    dup2(s->output_fd >= 0 ? s->output_fd : p->out[1], STDOUT_FILENO);
    dup2(s->output_fd >= 0 ? s->output_fd : p->errors[1], STDERR_FILENO);
    if (s->cwd && chdir(s->cwd) != 0)
        give_up(p, 0);
    if (confine_fd >= 0 && confine_self(confine_fd) != 0)
        give_up(p, 1);
    execve(s->argv[0], (char *const *)s->argv, (char *const *)s->envp);
    give_up(p, 2);
}

/* ---- the parent ---- */

/* Reads what is there. False at the end of the stream. */
static bool take(int fd, struct buf *out)
{
    char chunk[16384];
    ssize_t n = read(fd, chunk, sizeof chunk);

    if (n < 0 && errno == EINTR)
        return true;
    if (n <= 0)
        return false;
    if (buf_add(out, chunk, (size_t)n) < 0 && out->max > out->len)
        buf_add(out, chunk, out->max - out->len);
    return true;
}

static void drain(struct pipes *p, struct buf *out, struct buf *errors)
{
    while (p->out[0] >= 0 || p->errors[0] >= 0) {
        struct pollfd fds[2] = {{.fd = p->out[0], .events = POLLIN},
                                {.fd = p->errors[0], .events = POLLIN}};

        if (poll(fds, 2, -1) < 0 && errno != EINTR)
            return;
        if (fds[0].revents && !take(p->out[0], out))
            close_fd(&p->out[0]);
        if (fds[1].revents && !take(p->errors[0], errors))
            close_fd(&p->errors[0]);
    }
}

static int not_started(const struct spawn *s, const struct failure *f, struct err *err)
{
    if (f->step == 0)
        return err_sys(err, ERR_SYSTEM, f->sys_errno, "cannot enter '%s'", s->cwd);
    if (f->step == 1)
        return err_sys(err, ERR_SYSTEM, f->sys_errno, "cannot confine '%s'", s->argv[0]);
    return err_sys(err, ERR_SYSTEM, f->sys_errno, "cannot execute '%s'", s->argv[0]);
}

/* Waits until it has ended, at most so long. Whether it has. */
static bool ended_within(int pidfd, int timeout_ms)
{
    struct pollfd wake = {.fd = pidfd, .events = POLLIN};

    return poll(&wake, 1, timeout_ms) == 1;
}

/* Until it has ended. A signal that asks for the end is passed on to all of its group, and those
 * who will not hear it are killed; so are those who outlive it. Not reaped yet, it keeps its
 * number, so that the group is nobody else's. */
static void wait_for_group(pid_t pid, int (*stopped)(void))
{
    int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    int asked_ms = 0;

    while (pidfd >= 0 && !ended_within(pidfd, LOOK_MS)) {
        if (!stopped())
            continue;
        if (asked_ms == 0)
            kill(-pid, SIGTERM);
        asked_ms += LOOK_MS;
        if (asked_ms > GRACE_MS)
            break;
    }
    if (pidfd >= 0)
        kill(-pid, SIGKILL);
    close_fd(&pidfd);
}

static int wait_for(pid_t pid, int (*stopped)(void), int *status)
{
    if (stopped)
        wait_for_group(pid, stopped);
    while (waitpid(pid, status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return 0;
}

static int follow(const struct spawn *s, struct pipes *p, pid_t pid, struct buf *out,
                  struct buf *errors, struct spawn_end *end, struct err *err)
{
    struct failure f;
    ssize_t n;

    close_fd(&p->out[1]);
    close_fd(&p->errors[1]);
    close_fd(&p->failed[1]);
    if (s->output_fd < 0)
        drain(p, out, errors);
    do
        n = read(p->failed[0], &f, sizeof f);
    while (n < 0 && errno == EINTR);
    if (wait_for(pid, s->stopped, &end->status) != 0)
        return err_sys(err, ERR_SYSTEM, errno, "cannot wait for '%s'", s->argv[0]);
    return n == (ssize_t)sizeof f ? not_started(s, &f, err) : 0;
}

int spawn_run(const struct spawn *s, struct buf *out, struct buf *errors, struct spawn_end *end,
              struct err *err)
{
    struct pipes p;
    int confine_fd = -1, rc = -1;
    pid_t parent = getpid(), pid;

    *end = (struct spawn_end){0};
    if (s->writes && confine_open(s->writes, &confine_fd, err) < 0)
        return -1;
    end->confined = confine_fd >= 0;
    if (open_pipes(&p, err) < 0) {
        close_fd(&confine_fd);
        return -1;
    }
    pid = fork();
    if (pid == 0)
        become(s, &p, confine_fd, parent);
    if (pid > 0 && s->stopped)
        setpgid(pid, pid); /* whoever comes first */
    if (pid < 0)
        err_sys(err, ERR_SYSTEM, errno, "cannot start '%s'", s->argv[0]);
    else
        rc = follow(s, &p, pid, out, errors, end, err);
    close_pipes(&p);
    close_fd(&confine_fd);
    return rc;
}

void spawn_say_end(int status, struct buf *out)
{
    if (WIFSIGNALED(status))
        buf_printf(out, "was ended by SIG%s", sigabbrev_np(WTERMSIG(status)));
    else
        buf_printf(out, "ended with status %d", WEXITSTATUS(status));
}
