/* child: the last steps of a process before it becomes the program that is measured. */
#include "zygote/zygote.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <linux/perf_event.h>

static void give_up(struct wire_page *page, enum wire_step step) __attribute__((noreturn));

static void give_up(struct wire_page *page, enum wire_step step)
{
    page->sys_errno = errno;
    page->step = step;
    _exit(127);
}

/* Opens the counters on this very process; they start with the exec and follow its children. */
static size_t open_counters(const struct order *order, struct wire_armed *armed, int *fds)
{
    int by_event[WIRE_MAX_EVENTS];
    size_t count = 0;

    for (uint32_t i = 0; i < order->event_count; i++) {
        const struct wire_event *event = &order->events[i];
        int group = -1;
        long fd = -1;

        if (event->leader >= 0 && (uint32_t)event->leader < i)
            group = by_event[event->leader];
        if (event->leader >= 0 && group < 0)
            errno = ENODEV; /* a group without its leader counts nothing */
        else
            fd = syscall(SYS_perf_event_open, event->attr, 0, -1, group, PERF_FLAG_FD_CLOEXEC);
        by_event[i] = (int)fd;
        armed->event_errno[i] = fd < 0 ? errno : 0;
        if (fd >= 0)
            fds[count++] = (int)fd;
    }
    return count;
}

static void enter_stdio(const struct order *order, struct wire_page *page)
{
    if ((order->in >= 0 && dup2(order->in, STDIN_FILENO) < 0) ||
        (order->out >= 0 && dup2(order->out, STDOUT_FILENO) < 0) ||
        (order->err >= 0 && dup2(order->err, STDERR_FILENO) < 0))
        give_up(page, WIRE_STEP_STDIO);
}

/* Binds to the CPUs, and reads back what the kernel made of it (it drops those that are offline).
 */
static void enter_cpus(const struct order *order, struct wire_armed *armed, struct wire_page *page)
{
    long n;

    if (order->cpu_bytes == 0)
        return;
    if (syscall(SYS_sched_setaffinity, 0, (size_t)order->cpu_bytes, order->cpus) < 0)
        give_up(page, WIRE_STEP_CPUS);
    n = syscall(SYS_sched_getaffinity, 0, sizeof(armed->cpus), armed->cpus);
    if (n < 0)
        give_up(page, WIRE_STEP_CPUS);
    armed->cpu_bytes = (uint32_t)n;
}

static uint64_t now_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

void child_exec(const struct order *order, char **strings, int sock, struct wire_page *page)
{
    char *program = order->strings;
    char *folder = program + strlen(program) + 1;
    char *p = folder + strlen(folder) + 1;
    char **argv = strings, **envp = strings + order->argc + 1;
    struct wire_armed armed = {
        .head = {WIRE_ARMED, order->run}, .pid = getpid(), .events = order->event_count};
    int fds[WIRE_MAX_EVENTS];
    size_t fd_count;
    sigset_t none;
    char go;

    for (uint32_t i = 0; i < order->argc; i++, p += strlen(p) + 1)
        argv[i] = p;
    argv[order->argc] = NULL;
    for (uint32_t i = 0; i < order->envc; i++, p += strlen(p) + 1)
        envp[i] = p;
    envp[order->envc] = NULL;

    if (order->gate >= 0)
        (void)!read(order->gate, &go, 1); /* until Z follows this process */
    if (order->net >= 0 && setns(order->net, CLONE_NEWNET) < 0)
        give_up(page, WIRE_STEP_NETWORK);
    enter_stdio(order, page);
    if (*folder != '\0' && chdir(folder) < 0)
        give_up(page, WIRE_STEP_FOLDER);
    enter_cpus(order, &armed, page);
    if (order->die_with_parent)
        prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);

    fd_count = open_counters(order, &armed, fds);
    if (wire_send(sock, &armed, offsetof(struct wire_armed, cpus) + armed.cpu_bytes, fds,
                  fd_count) < 0)
        give_up(page, WIRE_STEP_MESSAGE);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    page->exec_ns = now_ns();
    execve(program, argv, envp);
    give_up(page, WIRE_STEP_EXEC);
}

void child_exec_blob(const struct order *order, int sock, struct wire_page *page)
{
    struct order mapped = *order;
    size_t pointers = sizeof(char *) * ((size_t)order->argc + order->envc + 2);
    char **strings;

    mapped.strings = mmap(NULL, order->string_bytes, PROT_READ, MAP_PRIVATE, order->blob, 0);
    strings = mmap(NULL, pointers, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped.strings == MAP_FAILED || strings == MAP_FAILED)
        give_up(page, WIRE_STEP_MESSAGE);
    child_exec(&mapped, strings, sock, page);
}
