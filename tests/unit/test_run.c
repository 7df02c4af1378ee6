/*
 * The run room against programs of known cost, in every way in which processes can be kept
 * together: as root and as a normal user.
 */
#include "check.h"
#include "rig.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/filter.h>
#include <linux/seccomp.h>

#include "base/clock.h"
#include "base/pattern.h"
#include "base/wire.h"
#include "run/cpus.h"

static enum isolation wanted; /* of the present group */
static bool users;
static struct rig rig;

static int set_up(void **state)
{
    (void)state;
    rig_open(&rig, wanted, users, 3);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    rig_close(&rig);
    return 0;
}

/* ---- start and end ---- */

static void an_exit_status_is_told(void **state)
{
    const struct outcome *o = rig_run_one(&rig, "die", "exit", "3");

    (void)state;
    assert_int_equal(o->end, RUN_DONE);
    assert_int_equal(o->roles[0].end, ROLE_EXITED);
    assert_int_equal(o->roles[0].exit_code, 3);
    assert_string_equal(o->roles[0].out.head, "before\n");
    assert_string_equal(o->roles[0].err.head, "why\n");
}

static void a_deadly_signal_is_told(void **state)
{
    const struct outcome *o = rig_run_one(&rig, "die", "signal", "11");

    (void)state;
    assert_int_equal(o->end, RUN_DONE);
    assert_int_equal(o->roles[0].end, ROLE_SIGNALED);
    assert_int_equal(o->roles[0].signal, 11);
    assert_string_equal(o->roles[0].out.head, "before\n");
}

static const char *script(const char *name, const char *text, mode_t mode)
{
    const char *path = arena_printf(&rig.arena, "/tmp/abba-test-%d-%s", (int)getpid(), name);
    int fd;

    unlink(path);
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
    return path;
}

static void expect_no_start(const char *program, const char *why)
{
    const struct outcome *o = rig_run_one(&rig, program);

    assert_int_equal(o->end, RUN_FAILED);
    assert_int_equal(o->roles[0].end, ROLE_START_FAILED);
    if (strstr(o->error, why) == NULL)
        fail_msg("'%s' does not say '%s'", o->error, why);
    assert_int_equal(o->wall_ns, 0);
}

static void a_program_that_cannot_start_says_why(void **state)
{
    const char *path;

    (void)state;
    expect_no_start("/nonexistent/program", "'/nonexistent/program' does not exist");
    expect_no_start("/tmp", "'/tmp' is a folder");
    path = script("plain", "#!/bin/true\n", 0644);
    expect_no_start(path, "is not executable");
    unlink(path);
    path = script("bad-interpreter", "#! /no/such/interpreter -x\n", 0755);
    expect_no_start(path, "needs the interpreter '/no/such/interpreter', which does not exist");
    unlink(path);
    path = script("nonsense", "just text\n", 0755);
    expect_no_start(path, "is neither a program of this machine nor a script");
    unlink(path);
    assert_int_equal(rig_run_one(&rig, "/bin/true")->end, RUN_DONE); /* and the place still works */
}

static void a_missing_folder_is_told(void **state)
{
    struct run_role role = rig_role(&rig, "program", "/bin/true", NULL);
    const struct outcome *o;

    (void)state;
    role.cwd = "/no/such/folder";
    o = rig_run(&rig, &role, 1);
    assert_int_equal(o->end, RUN_FAILED);
    assert_non_null(strstr(o->error, "cannot enter the folder '/no/such/folder'"));
}

static void a_program_starts_as_from_a_shell(void **state)
{
    struct run_role role = rig_role(&rig, "program", "show", "one", "two words", "", NULL);
    const struct outcome *o;
    char here[4096];

    (void)state;
    o = rig_run(&rig, &role, 1);
    assert_int_equal(o->end, RUN_DONE);
    assert_true(rig_says(&o->roles[0], "\narg=one\narg=two words\narg=\n"));
    assert_true(rig_says(&o->roles[0], "\nenv=PATH=/usr/bin:/bin\nenv=ABBA_TEST="));
    assert_non_null(getcwd(here, sizeof(here)));
    assert_true(rig_says(&o->roles[0], arena_printf(&rig.arena, "\nfolder=%s\n", here)));
    check_same(rig_number(&o->roles[0], "uid"), getuid());
    check_same(rig_number(&o->roles[0], "blocked"), 0);
    check_same(rig_number(&o->roles[0], "ignored"), 0);
    check_same(rig_number(&o->roles[0], "descriptors"), 3);
    assert_true(rig_says(&o->roles[0], "\ninput=\n"));
    assert_true(rig_says(&o->roles[0], "\nown_proc=yes\n"));
    role.cwd = "/usr";
    o = rig_run(&rig, &role, 1);
    assert_true(rig_says(&o->roles[0], "\nfolder=/usr\n"));
}

static void standard_input_comes_from_a_file(void **state)
{
    const char *path = script("input", "from a file", 0644);
    struct run_role role = rig_role(&rig, "program", "show", NULL);
    struct run_request request = {
        .number = 1, .roles = &role, .role_count = 1, .timeout_ns = rig.timeout_ns};
    const struct outcome *o;
    struct err err;

    (void)state;
    request.stdin_fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_int_equal(run_execute(rig.host, &request, &o, &err), 0);
    close(request.stdin_fd);
    unlink(path);
    assert_true(rig_says(&o->roles[0], "\ninput=from a file\n"));
}

static void arguments_of_any_length_arrive(void **state)
{
    const size_t size = 100000;
    char *longest = arena_alloc(&rig.arena, size + 1);
    struct run_role role;
    const struct outcome *o;

    (void)state;
    memset(longest, 'a', size);
    role = rig_role(&rig, "program", "/bin/echo", longest, longest, NULL);
    o = rig_run(&rig, &role, 1);
    assert_int_equal(o->end, RUN_DONE);
    assert_int_equal(o->roles[0].out.total, 2 * size + 2);
    role = rig_role(&rig, "program", "/bin/echo", "short", NULL);
    o = rig_run(&rig, &role, 1);
    assert_string_equal(o->roles[0].out.head, "short\n");
    assert_true(o->roles[0].max_rss_bytes < 2u << 20); /* the long ones left no trace */
}

static void a_cpu_set_is_applied_and_read_back(void **state)
{
    struct run_role role = rig_role(&rig, "program", "show", NULL);
    const struct outcome *o;

    (void)state;
    role.cpus = "0";
    o = rig_run(&rig, &role, 1);
    assert_int_equal(o->end, RUN_DONE);
    assert_string_equal(o->roles[0].cpus, "0");
    check_same(rig_number(&o->roles[0], "cpus"), 1);
    role.cpus = "8000";
    o = rig_run(&rig, &role, 1);
    assert_int_equal(o->end, RUN_FAILED);
    assert_non_null(strstr(o->error, "cannot bind to the CPUs"));
}

/* A new network namespace below the user namespace of the host's programs; -1: not here. */
/* Where this process may run, in list form. */
static void own_cpus(char *out, size_t size)
{
    uint64_t bits[WIRE_CPU_BYTES / 8] = {0};
    const long n = syscall(SYS_sched_getaffinity, 0, sizeof(bits), bits);

    assert_true(n > 0);
    cpus_format(bits, (size_t)n, out, size);
}

/* Run after run, short ones and one that lives to its first memory samples. */
static void programs_may_use_every_cpu_that_abba_may(void **state)
{
    char before[256], now[256];
    struct run_role role = rig_role(&rig, "program", "/bin/sh", "-c",
                                    "while read -r key list; do case $key in"
                                    " Cpus_allowed_list:) echo \"$list\" ;; esac;"
                                    " done < /proc/self/status",
                                    NULL);

    (void)state;
    own_cpus(before, sizeof(before));
    for (int i = 0; i < 20; i++) {
        const struct outcome *o = rig_run(&rig, &role, 1);

        assert_int_equal(o->end, RUN_DONE);
        assert_string_equal(o->roles[0].cpus, ""); /* none was asked for */
        assert_int_equal(strncmp(o->roles[0].out.head, before, strlen(before)), 0);
    }
    rig_run_one(&rig, "die", "exit", "0"); /* a short one, before two roles together */
    for (int i = 0; i < 2; i++)
        assert_int_equal(
            strncmp(rig_run(&rig, (struct run_role[]){role, role}, 2)->roles[i].out.head, before,
                    strlen(before)),
            0);
    rig_run_one(&rig, "spin", "30");
    own_cpus(now, sizeof(now));
    assert_string_equal(now, before); /* a sampler beside a program that works is free */
}

static int new_network(void)
{
    const int user_fd = run_host_user_namespace(rig.host);
    int pair[2], fds[WIRE_MAX_FDS], got = -1, status;
    char byte = 0;
    size_t count;
    pid_t pid, sender;

    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    pid = fork();
    if (pid == 0) {
        int fd;

        if (user_fd >= 0 && setns(user_fd, CLONE_NEWUSER) < 0)
            _exit(1);
        if (unshare(CLONE_NEWNET) < 0)
            _exit(2);
        fd = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
        _exit(fd < 0 || wire_send(pair[1], &byte, 1, &fd, 1) < 0 ? 3 : 0);
    }
    close(pair[1]);
    if (wire_recv(pair[0], &byte, 1, 0, fds, &count, &sender) == 1 && count == 1)
        got = fds[0];
    waitpid(pid, &status, 0);
    close(pair[0]);
    return got;
}

static void a_role_enters_the_network_it_is_given(void **state)
{
    struct run_role role = rig_role(&rig, "program", "show", NULL);
    const struct outcome *o;
    char mine[64], its[80];
    struct stat st;
    ssize_t n;

    (void)state;
    n = readlink("/proc/self/ns/net", mine, sizeof(mine) - 1);
    assert_true(n > 0);
    mine[n] = '\0';
    o = rig_run(&rig, &role, 1);
    assert_true(rig_says(&o->roles[0], arena_printf(&rig.arena, "\nnetwork=%s\n", mine)));
    role.net_fd = new_network();
    if (role.net_fd < 0)
        skip(); /* a normal user without a user namespace */
    assert_int_equal(fstat(role.net_fd, &st), 0);
    snprintf(its, sizeof(its), "\nnetwork=net:[%llu]\n", (unsigned long long)st.st_ino);
    o = rig_run(&rig, &role, 1);
    close(role.net_fd);
    assert_int_equal(o->end, RUN_DONE);
    assert_true(rig_says(&o->roles[0], its));
}

static void a_normal_users_programs_have_no_capabilities(void **state)
{
    const struct outcome *o = rig_run_one(&rig, "show");

    (void)state;
    if (geteuid() != 0)
        assert_true(rig_says(&o->roles[0], "\ncapabilities=0000000000000000\n"));
}

/* ---- what is left behind ---- */

static void nothing_outlives_a_run(void **state)
{
    const struct outcome *o = rig_run_one(&rig, "escape");

    (void)state;
    assert_int_equal(o->end, RUN_DONE);
    assert_int_equal(o->roles[0].end, ROLE_EXITED);
    assert_string_equal(o->roles[0].out.head, "done\n");
    assert_int_equal(o->roles[0].leftovers, 1);
    assert_int_equal(rig_count_processes("escape"), 0);
    o = rig_run_one(&rig, "escape", "fast");
    assert_int_equal(o->end, RUN_DONE);
    assert_int_equal(rig_count_processes("escape"), 0);
}

static void wall_time_ends_with_the_command_not_with_the_pipe(void **state)
{
    const struct outcome *o = rig_run_one(&rig, "escape", "30");
    const struct role_outcome *r = &o->roles[0];

    (void)state;
    assert_int_equal(o->end, RUN_DONE);
    assert_int_equal(o->wall_ns, r->end_ns - r->start_ns);
    assert_true(o->wall_ns >= 30000000);
    assert_int_equal(r->leftovers, 1); /* it lived, and held the pipe, until the grace was over */
    /* The last sample is from the end of the grace: wall time did not wait for it. */
    assert_true(r->rss_count > 0 && r->rss[r->rss_count - 1].at_ns > o->wall_ns);
}

static void a_time_out_ends_the_deaf(void **state)
{
    const struct outcome *o;

    (void)state;
    rig.timeout_ns = 200000000;
    o = rig_run_one(&rig, "stubborn");
    rig.timeout_ns = 20000000000u;
    assert_int_equal(o->end, RUN_TIMEOUT);
    assert_string_equal(o->error, "timed out after 0.2 s");
    assert_int_equal(o->roles[0].end, ROLE_KILLED);
    assert_string_equal(o->roles[0].out.head, "ready\n");
    assert_int_equal(rig_count_processes("stubborn"), 0);
}

/* The kernel lets an open wait while another process has a lease on the file (fcntl(2)). */
static void a_program_stuck_before_it_begins_is_ended(void **state)
{
    const char *path = script("leased", "#!/bin/true\n", 0755);
    const int fd = open(path, O_RDWR | O_CLOEXEC);
    const struct outcome *o;

    (void)state;
    signal(SIGIO, SIG_IGN);
    assert_true(fd >= 0);
    if (fcntl(fd, F_SETLEASE, F_WRLCK) < 0) {
        close(fd);
        unlink(path);
        skip();
    }
    rig.timeout_ns = 100000000;
    o = rig_run_one(&rig, path);
    rig.timeout_ns = 20000000000u;
    close(fd);
    unlink(path);
    assert_int_equal(o->end, RUN_TIMEOUT);
    assert_int_equal(o->roles[0].end, ROLE_KILLED);
    assert_int_equal(rig_run_one(&rig, "/bin/true")->end, RUN_DONE);
}

static volatile sig_atomic_t interrupted;
static int wake_fd = -1;

static void on_alarm(int sig)
{
    (void)sig;
    interrupted = 1;
    (void)!write(wake_fd, "x", 1);
}

static void an_interrupted_run_ends_at_once(void **state)
{
    struct rig mine;
    const struct outcome *o;
    const struct sigaction action = {.sa_handler = on_alarm};
    struct err err;
    int wake[2];

    (void)state;
    assert_int_equal(pipe2(wake, O_CLOEXEC | O_NONBLOCK), 0);
    wake_fd = wake[1];
    rig_open(&mine, wanted, users, 1);
    run_host_close(mine.host);
    mine.options.interrupted = &interrupted;
    mine.options.wake_fd = wake[0];
    assert_int_equal(run_host_open(&mine.host, &mine.options, &err), 0);
    sigaction(SIGALRM, &action, NULL);
    ualarm(100000, 0);
    o = rig_run_one(&mine, "stubborn");
    assert_int_equal(o->end, RUN_INTERRUPTED);
    assert_int_equal(o->roles[0].end, ROLE_KILLED);
    assert_int_equal(rig_count_processes("stubborn"), 0);
    interrupted = 0;
    rig_close(&mine);
    close(wake[0]);
    close(wake[1]);
}

static void closing_the_host_ends_everything(void **state)
{
    struct rig mine;

    (void)state;
    rig_open(&mine, wanted, users, 2);
    rig_run_one(&mine, "/bin/true");
    rig_close(&mine);
    assert_int_equal(waitpid(-1, NULL, WNOHANG | __WALL), rig.host != NULL ? 0 : -1);
}

/* ---- traced runs ---- */

static bool has_mapped(const struct role_outcome *o, const char *end)
{
    const size_t tail = strlen(end);

    for (size_t i = 0; i < o->mapped_count; i++) {
        const char *path = o->mapped[i].path;

        if (strlen(path) >= tail && strcmp(path + strlen(path) - tail, end) == 0)
            return true;
    }
    return false;
}

/* As rig_run, traced; one role. */
static const struct role_outcome *run_traced(struct run_role role)
{
    const struct outcome *o;

    rig.look = RUN_LOOK_TRACED;
    o = rig_run(&rig, &role, 1);
    rig.look = RUN_LOOK_NOT;
    assert_int_equal(o->roles[0].trace_errno, 0);
    return &o->roles[0];
}

static void the_shortest_program_is_seen_with_its_libraries_when_traced(void **state)
{
    const struct role_outcome *o = run_traced(rig_role(&rig, "program", "/bin/true", NULL));

    (void)state;
    assert_int_equal(o->end, ROLE_EXITED);
    assert_int_equal(o->exit_code, 0);
    assert_true(has_mapped(o, "/true"));
    assert_true(has_mapped(o, "/libc.so.6"));
    assert_false(o->mapped_cut);
}

static void what_a_traced_program_was_before_its_exec_is_seen(void **state)
{
    const struct role_outcome *o =
        run_traced(rig_role(&rig, "program", "/usr/bin/env", "env", "/bin/false", NULL));

    (void)state;
    assert_int_equal(o->exit_code, 1);
    assert_true(has_mapped(o, "/env"));
    assert_true(has_mapped(o, "/false"));
    assert_true(has_mapped(o, "/libc.so.6"));
}

static void children_of_a_traced_program_are_seen_and_none_is_left(void **state)
{
    const struct role_outcome *o = run_traced(
        rig_role(&rig, "program", "/bin/sh", "-c", "(/bin/true &) ; /bin/false | /bin/cat", NULL));

    (void)state;
    assert_int_equal(o->exit_code, 0);
    assert_true(has_mapped(o, "/true"));
    assert_true(has_mapped(o, "/false"));
    assert_true(has_mapped(o, "/cat"));
    assert_int_equal(rig_count_processes("true") + rig_count_processes("cat"), 0);
}

static void signals_reach_a_traced_program(void **state)
{
    const struct role_outcome *o = run_traced(rig_role(
        &rig, "program", "/bin/sh", "-c", "trap 'exit 7' USR1; kill -USR1 $$; exit 8", NULL));

    (void)state;
    assert_int_equal(o->exit_code, 7);
    o = run_traced(rig_role(&rig, "program", "die", "signal", "11", NULL));
    assert_int_equal(o->end, ROLE_SIGNALED);
    assert_int_equal(o->signal, 11);
}

static void a_traced_program_that_stops_or_never_ends_is_ended(void **state)
{
    (void)state;
    rig.timeout_ns = 300000000u;
    assert_int_equal(
        run_traced(rig_role(&rig, "program", "/bin/sh", "-c", "kill -STOP $$", NULL))->end,
        ROLE_KILLED);
    assert_int_equal(run_traced(rig_role(&rig, "program", "stubborn", NULL))->end, ROLE_KILLED);
    assert_int_equal(run_traced(rig_role(&rig, "program", "escape", "fast", NULL))->leftovers > 0,
                     true);
    rig.timeout_ns = 20000000000u;
    assert_int_equal(rig_count_processes("stubborn") + rig_count_processes("escape"), 0);
    assert_int_equal(rig_run_one(&rig, "/bin/true")->end, RUN_DONE);
}

/* A child that runs `program` under a host of its own and is killed at some moment. */
static pid_t kill_abba_after(const char *program, const char *argument, enum run_look look,
                             int64_t ns)
{
    pid_t pid = fork();

    if (pid == 0) {
        struct rig mine;
        const struct outcome *o;
        struct err err;
        struct run_role role;

        arena_init(&mine.arena);
        mine.options = (struct run_options){
            .isolation = wanted, .users = users, .max_roles = 1, .wake_fd = -1};
        if (run_host_open(&mine.host, &mine.options, &err) < 0)
            _exit(1);
        role = rig_role(&mine, "program", program, argument, NULL);
        for (;;) {
            const struct run_request request = {
                .number = 1, .roles = &role, .role_count = 1, .stdin_fd = -1, .look = look};

            if (run_execute(mine.host, &request, &o, &err) < 0)
                _exit(1);
        }
    }
    clock_sleep_until(clock_mono_ns() + ns);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    return pid;
}

static void killing_abba_leaves_no_process(void **state)
{
    pid_t owners[24];
    int64_t give_up = clock_mono_ns() + 30 * NSEC_PER_SEC;
    int left;

    (void)state;
    for (int i = 0; i < 12; i++) {
        const enum run_look look = i % 3 == 2 ? RUN_LOOK_TRACED : RUN_LOOK_NOT;

        owners[2 * i] = kill_abba_after("escape", "fast", look, i * 1700000);
        owners[2 * i + 1] = kill_abba_after("stubborn", NULL, look, i * 900000);
    }
    do {
        left = rig_count_processes("escape") + rig_count_processes("stubborn");
        for (int i = 0; i < 24; i++)
            left += rig_count_zygotes(owners[i]);
    } while (left > 0 && clock_mono_ns() < give_up);
    assert_int_equal(left, 0);
}

/* The counting that the tests above lean on. */
static void processes_that_run_are_counted(void **state)
{
    struct rig mine;

    (void)state;
    assert_int_equal(rig_count_processes("stubborn"), 0);
    assert_int_equal(rig_count_zygotes(getpid()), 1 + 3); /* K, and Z for each of three roles */
    rig_open(&mine, wanted, users, 1);
    assert_int_equal(rig_count_zygotes(getpid()), 1 + 3 + 1 + 1);
    rig_close(&mine);
    assert_int_equal(rig_count_zygotes(getpid()), 1 + 3);
}

/* ---- true figures ---- */

static void expect_peak(const struct role_outcome *o, double want_kib)
{
    const double slack_kib =
        3 *
        (2 * sysconf(_SC_NPROCESSORS_ONLN) > 32 ? 2 * (double)sysconf(_SC_NPROCESSORS_ONLN) : 32) *
        (double)sysconf(_SC_PAGESIZE) / 1024;

    check_near((double)o->peak_rss_bytes / 1024, want_kib, fmax(0.02 * want_kib, slack_kib));
}

static void check_peaks(void)
{
    static const char *const kib[] = {"102", "1024", "16384", "262144"};

    for (size_t i = 0; i < 4; i++)
        for (int hold = 0; hold < 2; hold++) {
            const struct outcome *o = rig_run_one(&rig, "touch", kib[i], hold ? "20" : "0");

            assert_int_equal(o->end, RUN_DONE);
            expect_peak(&o->roles[0], rig_number(&o->roles[0], "peak_kib"));
        }
}

static void peak_memory_is_true(void **state)
{
    (void)state;
    check_peaks();
}

static void peak_memory_is_true_whatever_abba_holds(void **state)
{
    const size_t size = 200u << 20;
    char *mine = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct rig *one = &rig;

    (void)state;
    assert_ptr_not_equal(mine, MAP_FAILED);
    memset(mine, 1, size);
    rig_close(one); /* a zygote that is born while abba is large */
    rig_open(one, wanted, users, 3);
    check_peaks();
    munmap(mine, size);
}

/* A busy machine may keep the sampler from its CPU while the peaks last; not three times. */
static void peaks_of_a_tree_add_up(void **state)
{
    /* Without a private /proc a tree is looked for every 50 ms. */
    const bool walks = run_host_isolation(rig.host) == ISOLATION_SUBREAPER;

    (void)state;
    for (int i = 0;; i++) {
        const struct outcome *o = rig_run_one(&rig, "tree", "peaks", "65536", walks ? "120" : "20");
        const struct role_outcome *r = &o->roles[0];
        const double want = rig_number(r, "peak_kib"), got = (double)r->peak_rss_bytes / 1024;

        assert_int_equal(o->end, RUN_DONE);
        assert_true(got < want * 1.02);
        if (i < 2 && r->missed_ticks > 0 && got < want * 0.98)
            continue;
        check_relative(got, want, 0.02);
        return;
    }
}

static void a_vfork_does_not_double_the_peak(void **state)
{
    const struct outcome *o = rig_run_one(&rig, "tree", "vfork", "131072", "60");

    (void)state;
    assert_int_equal(o->end, RUN_DONE);
    check_relative((double)o->roles[0].peak_rss_bytes / 1024, rig_number(&o->roles[0], "peak_kib"),
                   0.03);
}

static double cpu_s(const struct role_outcome *o)
{
    return o->cpu.user_s + o->cpu.system_s;
}

static void cpu_time_is_true(void **state)
{
    const struct outcome *o = rig_run_one(&rig, "spin", "200");

    (void)state;
    check_relative(cpu_s(&o->roles[0]), rig_number(&o->roles[0], "cpu_ns") / 1e9, 0.03);
    assert_false(o->roles[0].cpu.differ);
}

/* On a busy machine the grace may be over before all have spun; then it is tried again. */
static void cpu_time_of_processes_that_nobody_waited_for_counts(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        const struct outcome *o = rig_run_one(&rig, "tree", "unwaited", "60");

        assert_int_equal(o->end, RUN_DONE);
        assert_int_equal(o->roles[0].processes, 3);
        if (o->roles[0].leftovers > 0)
            continue;
        check_relative(cpu_s(&o->roles[0]), 0.18, 0.03);
        assert_false(o->roles[0].cpu.differ);
        return;
    }
    fail_msg("never had the time to spin");
}

static void cpu_time_that_waiting_misses_is_flagged(void **state)
{
    const struct outcome *o = rig_run_one(&rig, "tree", "ignored", "400");

    (void)state;
    assert_true(o->roles[0].cpu.differ);
    if (o->roles[0].cpu.cgroup_s.status == VALUE_OK)
        check_relative(o->roles[0].cpu.cgroup_s.number, 0.4, 0.05);
}

static void a_tree_of_many_processes_is_followed(void **state)
{
    const struct outcome *o = rig_run_one(&rig, "tree", "wide", "300", "800");

    (void)state;
    assert_int_equal(o->end, RUN_DONE);
    assert_true(o->roles[0].sampled_rss_bytes > 300u * 64 * 1024);
    assert_int_equal(o->roles[0].processes, 1); /* the root waited for the rest */
}

/* ---- output ---- */

static void all_output_is_kept_up_to_two_mib(void **state)
{
    const struct outcome *o = rig_run_one(&rig, "flood", "2097088");
    const struct capture *c = &o->roles[0].out;

    (void)state;
    assert_int_equal(c->total, 2097093);
    assert_int_equal(c->cut, 0);
    assert_int_equal(c->head_len, CAPTURE_HEAD_BYTES);
    assert_int_equal(c->tail_len, 2097093 - CAPTURE_HEAD_BYTES);
    assert_memory_equal(c->head, "0 .", 3);
    assert_memory_equal(c->tail, "16384 .", 7); /* the very next line */
    assert_memory_equal(c->tail + c->tail_len - 5, "last\n", 5);
}

static void the_middle_of_much_output_is_cut(void **state)
{
    const uint64_t total = 50000000u / 64 * 64 + 5;
    const struct outcome *o =
        rig_run_one(&rig, "flood", arena_printf(&rig.arena, "%d", 50000000 / 64 * 64));
    const struct capture *c = &o->roles[0].out;

    (void)state;
    assert_int_equal(o->end, RUN_DONE);
    assert_int_equal(c->total, total);
    assert_int_equal(c->cut, total - 2 * (1u << 20));
    assert_memory_equal(c->tail + c->tail_len - 5, "last\n", 5);
    /* In order: the tail's lines count up. */
    assert_int_equal(strtoul(memchr(c->tail, '\n', c->tail_len) + 1, NULL, 10) + 1,
                     strtoul((char *)memchr(c->tail, '\n', c->tail_len) + 65, NULL, 10));
}

static void a_gibibyte_and_a_line_without_end_pass(void **state)
{
    const struct outcome *o;

    (void)state;
    o = rig_run_one(&rig, "flood", "1073741824", "binary", "stderr");
    assert_int_equal(o->end, RUN_DONE);
    assert_int_equal(o->roles[0].err.total, 1073741824);
    o = rig_run_one(&rig, "flood", "100000000", "line");
    assert_int_equal(o->roles[0].out.total, 100000000);
    assert_int_equal(o->roles[0].out.tail[CAPTURE_TAIL_BYTES - 1], 'x');
}

/* ---- several roles ---- */

static struct run_role server(const char *what, const char *ms, const char *status)
{
    struct run_role role = rig_role(&rig, "server", "serve", what, ms, status, NULL);

    role.stop_signal = SIGTERM;
    return role;
}

static struct run_role client(void)
{
    struct run_role role = rig_role(&rig, "client", "spin", "20", NULL);

    role.after = 1;
    return role;
}

static void a_server_is_waited_for_and_stopped(void **state)
{
    struct err err;
    struct pattern *ready = pattern_new("^ready$", &err);
    struct run_role roles[2] = {server("says", "60", NULL), client()};
    const struct outcome *o;

    (void)state;
    assert_non_null(ready);
    for (int i = 0; i < 2; i++) {
        roles[0] = server(i == 0 ? "says" : "whispers", "60", NULL);
        roles[0].ready = i == 0 ? RUN_READY_STDOUT : RUN_READY_STDERR;
        roles[0].ready_pattern = ready;
        o = rig_run(&rig, roles, 2);
        assert_int_equal(o->end, RUN_DONE);
        assert_true(o->roles[0].ready);
        assert_int_equal(o->roles[0].end, ROLE_STOPPED);
        assert_true(rig_says(&o->roles[0], "stopped\n"));
        assert_int_equal(o->roles[1].end, ROLE_EXITED);
        assert_true(o->roles[1].start_ns >= o->roles[0].start_ns + 60000000);
        assert_int_equal(o->wall_ns, o->roles[1].end_ns - o->roles[1].start_ns);
        assert_int_equal(o->roles[0].leftovers, 0);
    }
    pattern_free(ready);
}

/* A port that was free a moment ago; 0: there is no such network here. */
static uint16_t free_port(int type, int family)
{
    struct sockaddr_in6 six = {.sin6_family = AF_INET6};
    struct sockaddr_in four = {.sin_family = AF_INET};
    struct sockaddr_storage got;
    socklen_t len = sizeof(got);
    int fd = socket(family, type | SOCK_CLOEXEC, 0);
    int rc = family == AF_INET6 ? bind(fd, (struct sockaddr *)&six, sizeof(six))
                                : bind(fd, (struct sockaddr *)&four, sizeof(four));

    if (fd < 0 || rc < 0)
        return 0;
    assert_int_equal(getsockname(fd, (struct sockaddr *)&got, &len), 0);
    close(fd);
    return ntohs(family == AF_INET6 ? ((struct sockaddr_in6 *)&got)->sin6_port
                                    : ((struct sockaddr_in *)&got)->sin_port);
}

static void an_open_port_shows_that_a_server_is_ready(void **state)
{
    struct run_role roles[2] = {server("says", "0", NULL), client()};
    const uint16_t tcp = free_port(SOCK_STREAM, AF_INET), udp = free_port(SOCK_DGRAM, AF_INET6);
    const struct outcome *o;

    (void)state;
    roles[0] = server(arena_printf(&rig.arena, "tcp:%d", tcp), "40", NULL);
    roles[0].ready = RUN_READY_TCP;
    roles[0].ready_port = tcp;
    o = rig_run(&rig, roles, 2);
    assert_int_equal(o->end, RUN_DONE);
    assert_true(o->roles[1].start_ns >= o->roles[0].start_ns + 40000000);
    if (udp == 0)
        return; /* no IPv6 here */
    roles[0] = server(arena_printf(&rig.arena, "udp6:%d", udp), "40", NULL);
    roles[0].ready = RUN_READY_UDP;
    roles[0].ready_port = udp;
    o = rig_run(&rig, roles, 2);
    assert_int_equal(o->end, RUN_DONE);
    assert_true(o->roles[1].start_ns >= o->roles[0].start_ns + 40000000);
}

static void a_server_that_never_is_ready_fails_the_run(void **state)
{
    struct err err;
    struct pattern *never = pattern_new("^never$", &err);
    struct run_role roles[2] = {server("says", "0", NULL), client()};
    const struct outcome *o;

    (void)state;
    roles[0].ready = RUN_READY_STDOUT;
    roles[0].ready_pattern = never;
    roles[0].ready_timeout_ns = 100000000;
    o = rig_run(&rig, roles, 2);
    assert_int_equal(o->end, RUN_NOT_READY);
    assert_string_equal(o->error, "role 'server' was not ready within 0.1 s");
    assert_int_equal(o->roles[1].end, ROLE_NOT_STARTED);
    assert_int_equal(o->roles[0].end, ROLE_KILLED);

    roles[0] = server("exits", "10", "4");
    roles[0].ready = RUN_READY_STDOUT;
    roles[0].ready_pattern = never;
    o = rig_run(&rig, roles, 2);
    assert_int_equal(o->end, RUN_NOT_READY);
    assert_string_equal(o->error, "role 'server' exited with status 4 before it was ready");
    assert_int_equal(o->roles[1].end, ROLE_NOT_STARTED);
    pattern_free(never);
}

static void a_role_that_fails_ends_the_others(void **state)
{
    struct run_role roles[2] = {server("says", "0", NULL),
                                rig_role(&rig, "client", "die", "exit", "5", NULL)};
    const struct outcome *o;

    (void)state;
    roles[0].stop_signal = 0; /* would wait for ever */
    o = rig_run(&rig, roles, 2);
    assert_int_equal(o->end, RUN_FAILED);
    assert_string_equal(o->error, "role 'client' exited with status 5 while others were running");
    assert_int_equal(o->roles[0].end, ROLE_KILLED);
    assert_int_equal(o->roles[1].exit_code, 5);

    roles[0] = server("kills", "0", NULL); /* a server that dies takes the run with it */
    roles[1] = rig_role(&rig, "client", "stubborn", NULL);
    o = rig_run(&rig, roles, 2);
    assert_int_equal(o->end, RUN_FAILED);
    assert_non_null(strstr(o->error, "role 'server' was ended by signal 11"));
    assert_int_equal(o->roles[1].end, ROLE_KILLED);
}

static void a_server_deaf_to_its_stop_signal_is_killed_and_told(void **state)
{
    struct run_role roles[2] = {rig_role(&rig, "server", "stubborn", NULL), client()};
    const struct outcome *o;

    (void)state;
    roles[0].stop_signal = SIGTERM;
    roles[1].after = 0;
    o = rig_run(&rig, roles, 2);
    assert_int_equal(o->end, RUN_FAILED);
    assert_string_equal(o->error,
                        "role 'server' did not end within 200 ms of signal 15 (Terminated)");
    assert_int_equal(o->roles[0].end, ROLE_KILLED);
    assert_int_equal(rig_count_processes("stubborn"), 0);
}

static void roles_are_apart(void **state)
{
    struct run_role roles[3] = {rig_role(&rig, "a", "touch", "20480", "40", NULL),
                                rig_role(&rig, "b", "touch", "40960", "40", NULL),
                                rig_role(&rig, "c", "spin", "50", NULL)};
    const struct outcome *o = rig_run(&rig, roles, 3);

    (void)state;
    assert_int_equal(o->end, RUN_DONE);
    for (int i = 0; i < 2; i++)
        expect_peak(&o->roles[i], rig_number(&o->roles[i], "peak_kib"));
    check_relative(cpu_s(&o->roles[2]), 0.05, 0.05);
}

static void memory_stays_the_same_over_many_runs(void **state)
{
    long before, after;
    char text[64];
    FILE *f;

    (void)state;
    for (int i = 0; i < 20; i++)
        rig_run_one(&rig, "/bin/true");
    f = fopen("/proc/self/statm", "r");
    assert_non_null(fgets(text, sizeof(text), f));
    fclose(f);
    before = strtol(strchr(text, ' '), NULL, 10);
    {
        struct run_role role = rig_role(&rig, "program", "/bin/true", NULL);

        for (int i = 0; i < 300; i++)
            assert_int_equal(rig_run(&rig, &role, 1)->end, RUN_DONE);
    }
    f = fopen("/proc/self/statm", "r");
    assert_non_null(fgets(text, sizeof(text), f));
    fclose(f);
    after = strtol(strchr(text, ' '), NULL, 10);
    assert_true(after - before <= 16); /* pages */
}

/* ---- a machine that refuses ---- */

/* As a container's filter does: none of these calls is allowed to this process and its children. */
static int forbid(const int *calls, size_t count, unsigned short why)
{
    struct sock_filter filter[64];
    struct sock_fprog program = {.filter = filter};
    unsigned short n = 0;

    filter[n++] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < count; i++) {
        filter[n++] =
            (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)calls[i], 0, 1);
        filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | why);
    }
    filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    program.len = n;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return -1;
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* In a process of its own. Exit status 0: `ISOLATION_AUTO` came down to a subreaper, and works. */
static void expect_subreaper_without(const int *calls, size_t count, unsigned short why)
{
    int status = -1;
    pid_t pid = fork();

    if (pid == 0) {
        static const char *event[] = {"PERF_COUNT_SW_PAGE_FAULTS_MIN"};
        const struct run_options options = {.isolation = ISOLATION_AUTO,
                                            .events = {event, 1, 1},
                                            .users = true,
                                            .max_roles = 1,
                                            .wake_fd = -1};
        const struct machine_counter *counter;
        const struct outcome *o;
        struct rig mine = {.timeout_ns = 20000000000u};
        struct err err;
        size_t n;

        arena_init(&mine.arena);
        if (forbid(calls, count, why) < 0)
            _exit(10);
        if (run_host_open(&mine.host, &options, &err) < 0)
            _exit(11);
        if (run_host_isolation(mine.host) != ISOLATION_SUBREAPER)
            _exit(12);
        o = rig_run_one(&mine, "escape", "fast");
        if (o->end != RUN_DONE || rig_count_processes("escape") != 0)
            _exit(13);
        counter = run_host_counters(mine.host, &n);
        if (counter[0].status == VALUE_OK || counter[0].reason == NULL ||
            o->roles[0].counters[0].value.status != counter[0].status)
            _exit(14);
        rig_close(&mine);
        _exit(0);
    }
    waitpid(pid, &status, 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void a_containers_filter_leaves_the_subreaper(void **state)
{
    static const int calls[] = {SYS_clone3, SYS_unshare, SYS_mount, SYS_setns, SYS_perf_event_open};

    (void)state;
    expect_subreaper_without(calls, 5, ENOSYS);
    expect_subreaper_without(calls, 5, EPERM);
    expect_subreaper_without(calls + 2, 3, EPERM); /* namespaces, but no /proc in them */
}

static int run_group(const char *name, enum isolation isolation, bool with_users)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_exit_status_is_told),
        cmocka_unit_test(a_deadly_signal_is_told),
        cmocka_unit_test(a_program_that_cannot_start_says_why),
        cmocka_unit_test(a_missing_folder_is_told),
        cmocka_unit_test(a_program_starts_as_from_a_shell),
        cmocka_unit_test(standard_input_comes_from_a_file),
        cmocka_unit_test(arguments_of_any_length_arrive),
        cmocka_unit_test(a_cpu_set_is_applied_and_read_back),
        cmocka_unit_test(programs_may_use_every_cpu_that_abba_may),
        cmocka_unit_test(a_role_enters_the_network_it_is_given),
        cmocka_unit_test(a_normal_users_programs_have_no_capabilities),
        cmocka_unit_test(nothing_outlives_a_run),
        cmocka_unit_test(wall_time_ends_with_the_command_not_with_the_pipe),
        cmocka_unit_test(a_time_out_ends_the_deaf),
        cmocka_unit_test(a_program_stuck_before_it_begins_is_ended),
        cmocka_unit_test(an_interrupted_run_ends_at_once),
        cmocka_unit_test(closing_the_host_ends_everything),
        cmocka_unit_test(killing_abba_leaves_no_process),
        cmocka_unit_test(processes_that_run_are_counted),
        cmocka_unit_test(peak_memory_is_true),
        cmocka_unit_test(peak_memory_is_true_whatever_abba_holds),
        cmocka_unit_test(peaks_of_a_tree_add_up),
        cmocka_unit_test(a_vfork_does_not_double_the_peak),
        cmocka_unit_test(cpu_time_is_true),
        cmocka_unit_test(cpu_time_of_processes_that_nobody_waited_for_counts),
        cmocka_unit_test(cpu_time_that_waiting_misses_is_flagged),
        cmocka_unit_test(a_tree_of_many_processes_is_followed),
        cmocka_unit_test(all_output_is_kept_up_to_two_mib),
        cmocka_unit_test(the_middle_of_much_output_is_cut),
        cmocka_unit_test(a_gibibyte_and_a_line_without_end_pass),
        cmocka_unit_test(a_server_is_waited_for_and_stopped),
        cmocka_unit_test(an_open_port_shows_that_a_server_is_ready),
        cmocka_unit_test(a_server_that_never_is_ready_fails_the_run),
        cmocka_unit_test(a_role_that_fails_ends_the_others),
        cmocka_unit_test(a_server_deaf_to_its_stop_signal_is_killed_and_told),
        cmocka_unit_test(roles_are_apart),
        cmocka_unit_test(memory_stays_the_same_over_many_runs),
        cmocka_unit_test(the_shortest_program_is_seen_with_its_libraries_when_traced),
        cmocka_unit_test(what_a_traced_program_was_before_its_exec_is_seen),
        cmocka_unit_test(children_of_a_traced_program_are_seen_and_none_is_left),
        cmocka_unit_test(signals_reach_a_traced_program),
        cmocka_unit_test(a_traced_program_that_stops_or_never_ends_is_ended),
        cmocka_unit_test(a_containers_filter_leaves_the_subreaper),
    };

    wanted = isolation;
    users = with_users;
    fflush(stdout);
    return cmocka_run_group_tests_name(name, tests, set_up, tear_down);
}

/* Whether this machine grants it; a group that cannot run says so. */
static bool can(enum isolation isolation, bool with_users)
{
    const struct run_options options = {
        .isolation = isolation, .users = with_users, .max_roles = 1, .wake_fd = -1};
    struct run_host *host;
    struct err err;

    if (run_host_open(&host, &options, &err) < 0) {
        printf("# left out: %s\n", err.msg);
        return false;
    }
    run_host_close(host);
    return true;
}

static int run_groups(void)
{
    int failed = 0;

    if (can(ISOLATION_PID_NAMESPACE, true))
        failed += run_group("run, pid namespace", ISOLATION_PID_NAMESPACE, true);
    failed += run_group("run, subreaper", ISOLATION_SUBREAPER, false);
    return failed;
}

/* The same as a normal user, where the programs can be reached as one. */
static int run_groups_as_nobody(void)
{
    const char *build = getenv("ABBA_BUILD");
    const char *probe = build != NULL ? build : "build";
    int status;
    pid_t pid;

    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        char path[4200];

        snprintf(path, sizeof(path), "%s/cost/touch", probe);
        if (setgroups(0, NULL) < 0 || setgid(65534) < 0 || setuid(65534) < 0 ||
            access(path, X_OK) < 0) {
            printf("# left out: the programs cannot be reached by a normal user\n");
            exit(0);
        }
        exit(run_groups());
    }
    return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(void)
{
    int failed = run_groups();

    if (geteuid() == 0)
        failed += run_groups_as_nobody();
    return failed;
}
