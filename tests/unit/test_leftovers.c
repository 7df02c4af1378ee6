/*
 * Nothing is left of a private network when abba is killed at any moment, and the host's network is
 * as it was. In a pid namespace of its own, whose /proc shows every process that could be left.
 */
#include "check.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "net/network.h"
#include "sandbox.h"

#define KILLS 50
#define KILL_WITHIN_US 40000 /* set-up and end of a network lie within */
#define GONE_NS (10 * NSEC_PER_SEC)

/* What an administrator would see; lifetimes and counters run on by themselves. */
static const char look[] = "{ ip -d link; ip addr; ip rule; ip -6 rule; ip route show table all;"
                           " ip -6 route show table all; tc qdisc; ip netns; ip neigh | wc -l;"
                           " grep -rs . /proc/sys/net | grep -v conntrack | LC_ALL=C sort; } 2>&1 |"
                           " sed 's/valid_lft.*//; s/expires [0-9]*sec//; s/age [0-9.]*//'";

static size_t look_at_host(char *out, size_t size)
{
    FILE *f = popen(look, "r");
    size_t len = f ? fread(out, 1, size - 1, f) : 0;

    out[len] = '\0';
    if (f)
        pclose(f);
    return len;
}

/* ---- an abba that makes networks without end ---- */

static _Noreturn void make_networks(void)
{
    static const char *const roles[] = {"receiver", "sender"};
    struct network network = {.backend = NET_BACKEND_USER,
                              .has_impair = true,
                              .impair = {.delay_ns = NSEC_PER_MSEC},
                              .bound = {.lateness_p99_ns = NSEC_PER_SEC}};
    struct net_request request = {
        .network = &network, .roles = roles, .role_count = 2, .user_ns = -1};
    struct arena arena = ARENA_INIT;
    struct net_proof proof;
    struct net *net;
    struct err err;

    for (int i = 0;; i++) {
        network.topology = i & 1 ? NET_PAIR : NET_LOOPBACK;
        network.backend = i & 2 ? NET_BACKEND_USER : NET_BACKEND_AUTO;
        if (network_up(&net, &request, &err) < 0 || network_down(net, &proof, &arena, &err) < 0) {
            fprintf(stderr, "%s\n", err.msg);
            _exit(1);
        }
        arena_release(&arena);
    }
}

/* Processes in this pid namespace. */
static int count_processes(void)
{
    DIR *proc = opendir("/proc");
    const struct dirent *entry;
    int count = 0;

    while (proc && (entry = readdir(proc)))
        count += entry->d_name[0] >= '1' && entry->d_name[0] <= '9';
    if (proc)
        closedir(proc);
    return count;
}

static const char *kill_once(unsigned *random)
{
    struct timespec wait = {0, 0};
    int64_t until_ns;
    int status;
    pid_t pid = fork();

    if (pid == 0)
        make_networks();
    wait.tv_nsec = rand_r(random) % KILL_WITHIN_US * 1000L;
    nanosleep(&wait, NULL);
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    if (!WIFSIGNALED(status))
        return sandbox_say("it ended by itself: 0x%x", (unsigned)status);
    until_ns = clock_mono_ns() + GONE_NS;
    while (count_processes() > 1) {
        while (waitpid(-1, NULL, WNOHANG) > 0) /* as pid 1 of the namespace */
            ;
        if (clock_mono_ns() > until_ns)
            return sandbox_say("%d processes are left", count_processes() - 1);
        sched_yield();
    }
    return NULL;
}

static const char *kill_often(void)
{
    static char before[1 << 20], after[1 << 20];
    const char *text = NULL;
    unsigned random = 4711;
    size_t len;

    if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount("proc", "/proc", "proc", 0, NULL) < 0)
        return sandbox_say("no /proc of its own: %s", strerror(errno));
    len = look_at_host(before, sizeof(before));
    if (len < 200 || len > sizeof(before) - 2)
        return sandbox_say("the host's network cannot be looked at: %s", before);
    for (int i = 0; i < KILLS && !text; i++)
        text = kill_once(&random);
    look_at_host(after, sizeof(after));
    if (!text && strcmp(before, after) != 0) {
        size_t at = 0;

        while (before[at] == after[at])
            at++;
        text = sandbox_say("the host's network has changed: '%.80s', was '%.80s'", after + at,
                           before + at);
    }
    return text;
}

static const char *in_own_pid_namespace(void *arg)
{
    char text[SANDBOX_TEXT] = "";
    int fds[2], status = 0;
    pid_t pid;

    (void)arg;
    if (unshare(CLONE_NEWPID | CLONE_NEWNS) < 0 || pipe(fds) < 0)
        return sandbox_say("no pid namespace: %s", strerror(errno));
    pid = fork();
    if (pid == 0) {
        const char *said = kill_often();

        if (said)
            (void)!write(fds[1], said, strlen(said));
        _exit(said != NULL);
    }
    waitpid(pid, &status, 0);
    if (status)
        (void)!read(fds[0], text, sizeof(text) - 1);
    return status ? sandbox_say("%s (0x%x)", text, (unsigned)status) : NULL;
}

static void nothing_is_left_of_fifty_killed_abbas(void **state)
{
    (void)state;
    if (getuid() != 0 || !sandbox_can(0))
        skip();
    sandbox_run(0, in_own_pid_namespace, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_left_of_fifty_killed_abbas),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
