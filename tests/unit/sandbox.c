#include "sandbox.h"

#include "check.h"

#include <arpa/inet.h>
#include <errno.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "net/namespace.h"

const char *sandbox_say(const char *fmt, ...)
{
    static char text[SANDBOX_TEXT];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    return text;
}

static const char *become(uid_t uid)
{
    if (uid == getuid())
        return NULL;
    if (setgroups(0, NULL) < 0 || setgid((gid_t)uid) < 0 || setuid(uid) < 0)
        return sandbox_say("cannot become user %u: %s", uid, strerror(errno));
    prctl(PR_SET_DUMPABLE, 1); /* else its own /proc belongs to root */
    return NULL;
}

static void run_child(int fd, uid_t uid, sandbox_body body, void *arg)
{
    const char *text = become(uid);

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (!text)
        text = body(arg);
    if (text)
        (void)!write(fd, text, strlen(text));
    _exit(text ? 1 : 0);
}

static int run(uid_t uid, sandbox_body body, void *arg, char text[SANDBOX_TEXT])
{
    size_t len = 0;
    ssize_t got;
    int fds[2], status;
    pid_t pid;

    assert_int_equal(pipe(fds), 0);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        close(fds[0]);
        run_child(fds[1], uid, body, arg);
    }
    close(fds[1]);
    while (len < SANDBOX_TEXT - 1 && (got = read(fds[0], text + len, SANDBOX_TEXT - 1 - len)) > 0)
        len += (size_t)got;
    text[len] = '\0';
    close(fds[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (status && !len)
        snprintf(text, SANDBOX_TEXT, "the child ended with status 0x%x", (unsigned)status);
    return status ? -1 : 0;
}

void sandbox_run(uid_t uid, sandbox_body body, void *arg)
{
    char text[SANDBOX_TEXT];

    if (run(uid, body, arg, text) < 0)
        fail_msg("%s", text);
}

static const char *make_one(void *arg)
{
    struct err err;
    int fd;

    (void)arg;
    if (namespace_permit(-1, &err) < 0 || namespace_new(&fd, &err) < 0)
        return sandbox_say("%s", err.msg);
    return NULL;
}

int sandbox_can(uid_t uid)
{
    char text[SANDBOX_TEXT];

    if (uid != getuid() && getuid() != 0) {
        print_message("only root can become another user\n");
        return 0;
    }
    if (run(uid, make_one, NULL, text) == 0)
        return 1;
    print_message("no network namespaces here: %s\n", text);
    return 0;
}

/* ---- traffic ---- */

union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

static socklen_t fill(union address *a, const char *text)
{
    memset(a, 0, sizeof(*a));
    if (inet_pton(AF_INET, text, &a->v4.sin_addr) == 1) {
        a->any.sa_family = AF_INET;
        return sizeof(a->v4);
    }
    inet_pton(AF_INET6, text, &a->v6.sin6_addr);
    a->any.sa_family = AF_INET6;
    return sizeof(a->v6);
}

static int bound(const char *text, int type, union address *a)
{
    socklen_t len = fill(a, text);
    int fd = socket(a->any.sa_family, type, 0);
    struct timeval wait = {10, 0};

    if (fd < 0 || bind(fd, &a->any, len) < 0 || getsockname(fd, &a->any, &len) < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait));
    return fd;
}

static socklen_t size_of(const union address *a)
{
    return a->any.sa_family == AF_INET ? sizeof(a->v4) : sizeof(a->v6);
}

const char *sandbox_udp(const char *to)
{
    union address receiver, sender;
    char back[64] = "";
    int in = bound(to, SOCK_DGRAM, &receiver);
    int out = bound(to, SOCK_DGRAM, &sender);
    ssize_t got;

    if (in < 0 || out < 0)
        return sandbox_say("no socket on %s: %s", to, strerror(errno));
    if (sendto(out, "hello", 5, 0, &receiver.any, size_of(&receiver)) != 5)
        return sandbox_say("no datagram to %s: %s", to, strerror(errno));
    got = recv(in, back, sizeof(back), 0);
    close(in);
    close(out);
    if (got != 5 || memcmp(back, "hello", 5) != 0)
        return sandbox_say("the datagram to %s did not arrive: %s", to, strerror(errno));
    return NULL;
}

static void pour(int fd, size_t bytes)
{
    static char block[65536];
    ssize_t sent = 1;

    memset(block, 'x', sizeof(block));
    while (bytes > 0 && sent > 0) {
        sent = send(fd, block, bytes < sizeof(block) ? bytes : sizeof(block), MSG_NOSIGNAL);
        bytes -= sent > 0 ? (size_t)sent : 0;
    }
}

const char *sandbox_tcp(const char *to, size_t bytes)
{
    static char block[65536];
    union address server, unused;
    int listener = bound(to, SOCK_STREAM, &server);
    int from, at;
    size_t total = 0;
    ssize_t got;
    pid_t pid;

    if (listener < 0 || listen(listener, 1) < 0)
        return sandbox_say("no listener on %s: %s", to, strerror(errno));
    pid = fork();
    if (pid == 0) {
        from = bound(to, SOCK_STREAM, &unused);
        if (connect(from, &server.any, size_of(&server)) == 0)
            pour(from, bytes);
        _exit(0);
    }
    at = accept(listener, NULL, NULL);
    while (at >= 0 && (got = recv(at, block, sizeof(block), 0)) > 0)
        total += (size_t)got;
    close(listener);
    if (at >= 0)
        close(at);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    if (total != bytes)
        return sandbox_say("%zu of %zu bytes came over TCP to %s: %s", total, bytes, to,
                           strerror(errno));
    return NULL;
}
