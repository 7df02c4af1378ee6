/*
 * The whole of abba on a kernel that has sch_netem: what a person types there takes the kernel back
 * end, in both topologies, as root and as a normal user, and its archive says so.
 */
#include "tests.h"

#include "tap.h"

#include "base/buf.h"
#include "base/files.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOBODY 65534
#define OUTPUT "/tmp/output"
#define DATAGRAMS 20 /* to each address */

static struct buf output = BUF_INIT;

static void become(const char *const *argv, uid_t uid)
{
    int fd = open(OUTPUT, O_WRONLY | O_CREAT | O_TRUNC, 0666);

    if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0 || dup2(fd, STDERR_FILENO) < 0)
        _exit(126);
    if (uid && (setgroups(0, NULL) < 0 || setgid(uid) < 0 || setuid(uid) < 0))
        _exit(125);
    execv(argv[0], (char *const *)argv);
    _exit(127);
}

/* Runs a command; its exit status, or -1. What it said goes to `output`. */
static int run(const char *const *argv, uid_t uid)
{
    struct err ignored;
    int status = 0;
    pid_t pid = fork();

    if (pid == 0)
        become(argv, uid);
    if (pid < 0 || waitpid(pid, &status, 0) < 0)
        return -1;
    buf_clear(&output);
    (void)files_read(OUTPUT, 1 << 20, &output, &ignored);
    unlink(OUTPUT);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool says(const char *text)
{
    return output.len && strstr(output.data, text) != NULL;
}

/* Says what the command said, as comments. */
static void explain(void)
{
    char *rest = output.data, *line;

    while (output.len && (line = strsep(&rest, "\n")))
        printf("#   %s\n", line);
}

/* A command whose status and words are known beforehand. */
static void expect(const char *name, const char *const *argv, uid_t uid, int status,
                   const char *text)
{
    int found = run(argv, uid);
    bool ok = found == status && says(text);

    tap(ok, "%s%s: status %d, says '%s'", name, uid ? ", as a normal user" : "", found, text);
    if (!ok)
        explain();
}

/* ---- a program in the network ---- */

static int talk_to(const struct sockaddr *to, socklen_t size)
{
    struct timeval patience = {.tv_usec = 300000}; /* some may be lost */
    int fd = socket(to->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    char byte = 0;

    if (fd < 0 || bind(fd, to, size) < 0 ||
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) < 0)
        return -1;
    for (int i = 0; i < DATAGRAMS; i++)
        if (sendto(fd, &byte, 1, 0, to, size) < 0)
            return -1;
    for (int i = 0; i < DATAGRAMS && recv(fd, &byte, 1, 0) == 1; i++)
        ;
    return close(fd);
}

int whole_talk(void)
{
    struct sockaddr_in four = {
        .sin_family = AF_INET, .sin_port = htons(4444), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_in6 six = {
        .sin6_family = AF_INET6, .sin6_port = htons(4444), .sin6_addr = IN6ADDR_LOOPBACK_INIT};

    return talk_to((struct sockaddr *)&four, sizeof(four)) < 0 ||
           talk_to((struct sockaddr *)&six, sizeof(six)) < 0;
}

/* ---- what is typed ---- */

static void probes(uid_t uid)
{
    static const char *const profiles[] = {"flow/try-light", "flow/try-pair", "flow/1x-20M-bursty",
                                           "flow/1x-8M-shallow", "flow/1x-20M-asymmetric"};

    /* The network is made the same way for a normal user; here every second costs several. */
    for (size_t i = 0; i < (uid ? 2 : sizeof(profiles) / sizeof(profiles[0])); i++) {
        const char *const argv[] = {"/abba", "net", profiles[i], "--probe", NULL};

        expect(profiles[i], argv, uid, 0, "agrees       yes");
    }
}

/* Datagrams on both loopback addresses pass the discipline, which counts them. */
static void inside(uid_t uid)
{
    const char *const argv[] = {"/abba", "net", "flow/try-light", "--", "/init", "talk", NULL};

    expect("a command inside, 127.0.0.1 and ::1", argv, uid, 0, "back end 'kernel': ");
    tap(says("40 packets"), "its 40 packets are counted");
}

static void look_at_samples(const char *archive)
{
    char path[64];
    struct err ignored;
    bool ok;

    snprintf(path, sizeof(path), "%s/samples.jsonl", archive);
    buf_clear(&output);
    ok = files_read(path, 1 << 20, &output, &ignored) == 0 && says("\"backend\":\"kernel\"") &&
         says("\"seeded\":true") && !says("\"backend\":\"user\"") &&
         !says("\"status\":\"invalid\"");
    tap(ok, "%s: every sample has the kernel back end, with its seed", archive);
    if (!ok)
        explain();
}

static void series(const char *profile, const char *archive, uid_t uid)
{
    const char *const argv[] = {"/abba",      "run",       "--no-lock", "--aa", "--baseline",
                                "flow=/flow", profile,     "-n",        "1",    "--confirm",
                                "0",          "--archive", archive,     NULL};
    const char *const verify[] = {"/abba", "verify", archive, NULL};

    expect(profile, argv, uid, 4, "back end 'kernel'");
    look_at_samples(archive);
    expect(archive, verify, uid, 0, "");
}

void test_wholly(void)
{
    const char *const doctor[] = {"/abba", "doctor", "--require", "network", NULL};

    mkdir("/tmp", 01777);
    chmod("/tmp", 01777);
    if (chdir("/data") < 0) {
        tap(false, "no /data");
        return;
    }
    expect("doctor", doctor, 0, 0, "netem");
    probes(0);
    probes(NOBODY);
    inside(0);
    inside(NOBODY);
    series("flow/try-light", "/tmp/light", 0);
    series("flow/try-pair", "/tmp/pair", 0);
    series("flow/try-light", "/tmp/normal", NOBODY);
}
