/* run/netns: processes inside and outside of a run's network namespace, and fenced-off ones. */
#include "check.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "net/rtnl.h"
#include "run/netns.h"
#include "sandbox.h"

#define ALL_GONE 4194303 /* above every process number */

/* A process of a test: this one, or one in a network namespace of its own. */
enum where { HERE, FENCED, BUSY };

/* Fenced off from all networks, or after a datagram to itself. */
static pid_t outsider(enum where where)
{
    struct rtnl *r;
    struct err err;
    int ends[2];
    char said = 0;
    pid_t pid;

    if (pipe(ends) < 0)
        return -1;
    pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (unshare(CLONE_NEWNET) < 0)
            _exit(1);
        if (where == BUSY && (rtnl_open(&r, &err) < 0 || rtnl_link_up(r, "lo", 1500, 1, &err) < 0 ||
                              sandbox_udp("127.0.0.1")))
            _exit(1);
        said = write(ends[1], "y", 1) == 1;
        pause();
        _exit(!said);
    }
    close(ends[1]);
    if (read(ends[0], &said, 1) != 1)
        pid = -1;
    close(ends[0]);
    return pid;
}

/* Whether a role of such processes has left this test's network at the given tick. */
static bool has_left(const enum where *where, size_t count, uint64_t tick, uint8_t age)
{
    struct rss_process process[NETNS_LOOKS_A_TICK + 1];
    struct rss rss = {.process = process, .count = count, .ticks = tick};
    int own = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    struct netns n;

    rss.proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (size_t i = 0; i < count; i++) {
        process[i] = (struct rss_process){.pid = getpid(), .age = age};
        if (where[i] != HERE)
            process[i].pid = outsider(where[i]);
        assert_true(process[i].pid > 0);
    }
    netns_begin(&n, own);
    netns_tick(&n, &rss);
    for (size_t i = 0; i < count; i++)
        if (where[i] != HERE) {
            kill(process[i].pid, SIGKILL);
            waitpid(process[i].pid, NULL, 0);
        }
    close(rss.proc_fd);
    close(own);
    return n.left;
}

#define LEFT(...)                                                                                  \
    has_left((const enum where[]){__VA_ARGS__}, sizeof((int[]){__VA_ARGS__}) / sizeof(int), 1, 1)

static bool can_unshare(void)
{
    pid_t pid = fork();
    int status;

    if (pid == 0)
        _exit(unshare(CLONE_NEWNET) < 0);
    return waitpid(pid, &status, 0) == pid && status == 0;
}

static void a_role_that_stays_has_not_left(void **state)
{
    (void)state;
    assert_false(LEFT(HERE));
    assert_false(LEFT(HERE, HERE));
}

static void a_role_none_of_whose_processes_is_inside_has_left(void **state)
{
    (void)state;
    if (!can_unshare())
        skip();
    assert_true(LEFT(FENCED));
    assert_true(LEFT(FENCED, FENCED));
}

static void a_process_that_talks_elsewhere_has_left_whoever_stays(void **state)
{
    (void)state;
    if (!can_unshare())
        skip();
    assert_true(LEFT(HERE, BUSY));
}

static void a_process_that_is_fenced_off_from_all_networks_has_not(void **state)
{
    (void)state;
    if (!can_unshare())
        skip();
    assert_false(LEFT(HERE, FENCED));
}

static void a_process_whose_turn_it_is_not_counts_as_inside(void **state)
{
    (void)state;
    if (!can_unshare())
        skip();
    assert_false(has_left((const enum where[]){FENCED}, 1, 33, 100));
    assert_true(has_left((const enum where[]){FENCED}, 1, 34, 100));
}

static void a_process_that_is_gone_tells_nothing(void **state)
{
    struct rss_process gone = {.pid = ALL_GONE, .age = 1};
    struct rss rss = {.process = &gone, .count = 1, .ticks = 1};
    int own = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    struct netns n;

    (void)state;
    rss.proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    netns_begin(&n, own);
    netns_tick(&n, &rss);
    assert_false(n.left);
    netns_begin(&n, -1); /* abba's own network: nobody is watched */
    assert_false(n.wanted);
    close(rss.proc_fd);
    close(own);
}

static void bytes_of_any_device_in_either_direction_are_seen(void **state)
{
    static const char head[] = "Inter-|   Receive | Transmit\n face |bytes packets\n";
    char text[512];

    (void)state;
    assert_false(netns_has_passed(head));
    assert_false(netns_has_passed(""));
    snprintf(text, sizeof(text), "%s    lo:       0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n", head);
    assert_false(netns_has_passed(text));
    strncat(text, "  eth0: 0 0 0 0 0 0 0 0 90 1 0 0 0 0 0 0\n", 64);
    assert_true(netns_has_passed(text));
    snprintf(text, sizeof(text), "%s    lo:70 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n", head);
    assert_true(netns_has_passed(text));
    assert_false(netns_has_passed("lo: 0 0")); /* cut by the end of the room */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_role_that_stays_has_not_left),
        cmocka_unit_test(a_role_none_of_whose_processes_is_inside_has_left),
        cmocka_unit_test(a_process_that_talks_elsewhere_has_left_whoever_stays),
        cmocka_unit_test(a_process_that_is_fenced_off_from_all_networks_has_not),
        cmocka_unit_test(a_process_whose_turn_it_is_not_counts_as_inside),
        cmocka_unit_test(a_process_that_is_gone_tells_nothing),
        cmocka_unit_test(bytes_of_any_device_in_either_direction_are_seen),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
