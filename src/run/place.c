#include "run/place.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/pattern.h"
#include "run/cpus.h"
#include "run/ready.h"

int place_open(struct place *p, struct launch *l, unsigned index, struct err *err)
{
    *p = (struct place){.write_fd = {-1, -1}};
    drain_init(&p->out);
    drain_init(&p->err);
    cgroup_open(&p->cgroup, &cgroup_system, index);
    if (seat_open(&p->seat, l, p->cgroup.folder_fd, err) < 0) {
        if (p->cgroup.folder_fd < 0)
            return -1;
        cgroup_close(&p->cgroup); /* not every kernel lets a process be born elsewhere */
        snprintf(p->cgroup.why, sizeof(p->cgroup.why), "no process can be born in a cgroup here");
        if (seat_open(&p->seat, l, -1, err) < 0)
            return -1;
    }
    if (p->cgroup.folder_fd >= 0 && cgroup_usage(&p->cgroup, &p->cgroup_us) < 0)
        p->cgroup_us = 0;
    rss_init(&p->rss, p->seat.proc_fd, l->isolation == ISOLATION_PID_NAMESPACE, p->seat.own_pid);
    maps_init(&p->maps, p->seat.proc_fd, p->seat.own_pid);
    return 0;
}

static void close_both(int fd[2])
{
    for (int i = 0; i < 2; i++) {
        if (fd[i] >= 0)
            close(fd[i]);
        fd[i] = -1;
    }
}

/* The cgroup goes when its last process has: the caller ends the zygote first. */
void place_close(struct place *p)
{
    close_both(p->write_fd);
    rss_release(&p->rss);
    maps_release(&p->maps);
    drain_release(&p->out);
    drain_release(&p->err);
    seat_close(&p->seat);
    cgroup_close(&p->cgroup);
}

void place_begin(struct place *p, const struct run_role *role, struct role_outcome *o, uint32_t run,
                 enum run_look look)
{
    struct counter_reading *counters = o->counters;

    *o = (struct role_outcome){.name = role->name, .counters = counters};
    o->out = (struct capture){.head = p->out.head, .tail = p->out.ring};
    o->err = (struct capture){.head = p->err.head, .tail = p->err.ring};
    p->role = role;
    p->o = o;
    p->run = run;
    p->started = p->armed = p->ended = p->stop_sent = p->kill_sent = false;
    p->empty = true;
    p->host_pid = p->pid = 0;
    p->look_from = 0;
    p->tree = (struct wire_tree){0};
    for (size_t i = 0; i < WIRE_MAX_EVENTS; i++) {
        p->counter_fd[i] = -1;
        p->counter_errno[i] = 0;
    }
    rss_begin(&p->rss);
    p->traced = look == RUN_LOOK_TRACED;
    maps_begin(&p->maps, look != RUN_LOOK_NOT);
    netns_begin(&p->netns, role->net_fd);
}

/* ---- start ---- */

static int fail_start(struct place *p)
{
    p->o->end = ROLE_START_FAILED;
    p->started = p->ended = true;
    p->empty = true;
    return 0;
}

int place_start(struct place *p, const struct counters *counters, int in_fd,
                const struct cpus *free_cpus, uint64_t now_ns, struct err *err)
{
    const struct run_role *role = p->role;
    struct cpus cpus = {.bytes = 0};
    struct start start = {.run = p->run,
                          .argv = role->argv,
                          .envp = role->envp,
                          .folder = role->cwd,
                          .events = counters->event,
                          .event_count = counters->event_count,
                          .in_fd = in_fd,
                          .net_fd = role->net_fd,
                          .traced = p->traced};
    struct err bad;

    p->started_ns = now_ns;
    if (role->cpus != NULL && cpus_parse(&cpus, role->cpus, &bad) < 0) {
        snprintf(p->o->error, sizeof(p->o->error), "%.255s", bad.msg);
        return fail_start(p);
    }
    if (role->cpus == NULL && free_cpus != NULL) {
        start.cpus = free_cpus->bits;
        start.cpu_bytes = free_cpus->bytes;
    } else {
        start.cpus = cpus.bits;
        start.cpu_bytes = cpus.bytes;
    }
    if (drain_begin(&p->out, &p->o->out, &p->write_fd[0], err) < 0 ||
        drain_begin(&p->err, &p->o->err, &p->write_fd[1], err) < 0)
        return -1;
    start.out_fd = p->write_fd[0];
    start.err_fd = p->write_fd[1];
    if (seat_start(&p->seat, &start, err) < 0)
        return -1;
    p->started = true;
    p->empty = false;
    return 0;
}

/* ---- what Z and the child tell ---- */

static void take_armed(struct place *p, const struct wire_armed *m, const int *fds, size_t fd_count,
                       pid_t sender)
{
    size_t used = 0;

    p->armed = true;
    p->host_pid = sender;
    p->pid = m->pid;
    for (uint32_t i = 0; i < m->events; i++) {
        p->counter_errno[i] = m->event_errno[i];
        if (m->event_errno[i] == 0 && used < fd_count)
            p->counter_fd[i] = fds[used++];
    }
    if (m->cpu_bytes > 0 && p->role->cpus != NULL)
        cpus_format(m->cpus, m->cpu_bytes, p->o->cpus, sizeof(p->o->cpus));
    if (p->role->ready == RUN_READY_AT_ONCE)
        p->o->ready = true;
}

static void take_exited(struct place *p, const struct wire_exited *m)
{
    struct role_outcome *o = p->o;

    p->ended = true;
    o->start_ns = p->seat.page->exec_ns;
    o->end_ns = m->end_ns;
    if (WIFSIGNALED(m->status)) {
        o->signal = WTERMSIG(m->status);
        o->end = p->kill_sent && o->signal == SIGKILL ? ROLE_KILLED : ROLE_SIGNALED;
        if (p->stop_sent && o->signal == p->role->stop_signal)
            o->end = ROLE_STOPPED;
    } else {
        o->exit_code = WEXITSTATUS(m->status);
        o->end = p->stop_sent ? ROLE_STOPPED : ROLE_EXITED;
    }
    if (m->empty) {
        p->tree = m->tree;
        p->empty = true;
    }
}

static void take_failed(struct place *p, const struct wire_failed *m)
{
    p->ended = true;
    p->o->end = ROLE_START_FAILED;
    launch_explain(m, p->role->argv[0], p->role->cwd, p->o->error, sizeof(p->o->error));
}

int place_hear_armed(struct place *p, const struct counters *counters, struct err *err)
{
    struct wire_armed m;
    int fds[WIRE_MAX_FDS];
    size_t fd_count;
    pid_t sender;
    ssize_t n;

    while (!p->armed) {
        n = wire_recv(p->seat.armed_sock, &m, sizeof(m), MSG_DONTWAIT, fds, &fd_count, &sender);
        if (n < 0 && errno == EAGAIN)
            return 0;
        if (n <= 0)
            return err_sys(err, ERR_SYSTEM, n < 0 ? errno : EPIPE,
                           "cannot hear the program of role '%s'", p->role->name);
        if (m.head.run == p->run && m.head.type == WIRE_ARMED &&
            m.events == counters->event_count) {
            take_armed(p, &m, fds, fd_count, sender);
            return 0;
        }
        for (size_t i = 0; i < fd_count; i++)
            close(fds[i]);
    }
    return 0;
}

int place_hear(struct place *p, const struct counters *counters, struct err *err)
{
    union {
        struct wire_head head;
        struct wire_failed failed;
        struct wire_exited exited;
        struct wire_empty empty;
        struct wire_stand stand;
    } m;
    int fds[WIRE_MAX_FDS];
    size_t fd_count;
    pid_t sender;
    ssize_t n = wire_recv(p->seat.sock, &m, sizeof(m), MSG_DONTWAIT, fds, &fd_count, &sender);

    if (n < 0 && errno == EAGAIN)
        return 0;
    if (n < 0)
        return err_sys(err, ERR_SYSTEM, errno, "cannot hear the process of role '%s'",
                       p->role->name);
    if (n == 0)
        return err_set(err, ERR_SYSTEM, "the process that keeps role '%s' was killed",
                       p->role->name);
    for (size_t i = 0; i < fd_count; i++)
        close(fds[i]);
    if (m.head.run != p->run)
        return 0;
    if (place_hear_armed(p, counters, err) < 0)
        return -1;
    if (m.head.type == WIRE_FAILED)
        take_failed(p, &m.failed);
    else if (m.head.type == WIRE_EXITED)
        take_exited(p, &m.exited);
    else if (m.head.type == WIRE_EMPTY) {
        p->tree = m.empty.tree;
        p->empty = true;
    } else if (m.head.type == WIRE_LOOK) {
        maps_look(&p->maps, p->seat.proc_fd, m.stand.pid);
        return seat_go(&p->seat, p->run, m.stand.pid, err);
    }
    return 0;
}

/* ---- while it runs ---- */

void place_look_ready(struct place *p)
{
    const struct run_role *role = p->role;
    enum ready_answer answer = READY_NOT_YET;

    if (!p->started || p->o->ready)
        return;
    switch (role->ready) {
    case RUN_READY_AT_ONCE: /* see take_armed() */
        return;
    case RUN_READY_STDOUT:
        answer = ready_pattern(role->ready_pattern, &p->o->out, &p->look_from);
        break;
    case RUN_READY_STDERR:
        answer = ready_pattern(role->ready_pattern, &p->o->err, &p->look_from);
        break;
    case RUN_READY_TCP:
    case RUN_READY_UDP:
        if (p->armed && !p->ended &&
            ready_port(p->seat.proc_fd, p->pid, role->ready == RUN_READY_UDP, role->ready_port))
            answer = READY_NOW;
        break;
    }
    p->o->ready = answer == READY_NOW;
    if (answer == READY_NEVER)
        snprintf(p->o->error, sizeof(p->o->error),
                 "the ready pattern '%.160s' gave up: it backtracks too much",
                 pattern_source(role->ready_pattern));
}

void place_tick(struct place *p, uint64_t now_ns)
{
    const uint64_t exec_ns = p->seat.page->exec_ns;

    if (!p->started || p->empty || exec_ns < p->started_ns) /* 0, or still that of a run before */
        return;
    rss_tick(&p->rss, now_ns > exec_ns ? now_ns - exec_ns : 0);
    maps_tick(&p->maps, &p->rss);
    netns_tick(&p->netns, &p->rss);
}

int place_kill(struct place *p, int sig, struct err *err)
{
    if (sig == SIGKILL)
        p->kill_sent = true;
    else
        p->stop_sent = true;
    return seat_kill(&p->seat, p->run, sig, err);
}

/* ---- figures ---- */

static bool too_far(double a, double b)
{
    const double apart = a > b ? a - b : b - a;

    return apart > 0.005 && apart > 0.02 * (a > b ? a : b);
}

/* The cgroup has the time of all that ran in it: less that of Z itself. */
static struct value cgroup_seconds(struct place *p)
{
    const uint64_t own_us = p->tree.own_ns / 1000;
    uint64_t now_us, used_us;

    if (p->cgroup.folder_fd < 0)
        return value_none(VALUE_UNSUPPORTED, p->cgroup.why);
    if (cgroup_usage(&p->cgroup, &now_us) < 0)
        return value_none(VALUE_MISSING, "cpu.stat cannot be read");
    used_us = now_us - p->cgroup_us;
    p->cgroup_us = now_us;
    return value_ok((double)(used_us > own_us ? used_us - own_us : 0) / 1e6);
}

static void take_cpu(struct place *p)
{
    const struct wire_usage *u = &p->tree.usage;
    struct cpu_reading *cpu = &p->o->cpu;
    double sum;

    cpu->user_s = (double)u->user_us / 1e6;
    cpu->system_s = (double)u->system_us / 1e6;
    cpu->cgroup_s = cgroup_seconds(p);
    sum = cpu->user_s + cpu->system_s;
    cpu->differ = (cpu->cgroup_s.status == VALUE_OK && too_far(cpu->cgroup_s.number, sum)) ||
                  (cpu->sampled_s.status == VALUE_OK && cpu->sampled_s.number > sum &&
                   too_far(cpu->sampled_s.number, sum));
}

static void take_counters(struct place *p, struct counters *counters)
{
    struct role_outcome *o = p->o;

    o->counter_count = counters->request_count;
    if (p->armed) {
        counters_read(counters, p->counter_fd, p->counter_errno, o->counters);
        return;
    }
    for (size_t i = 0; i < o->counter_count; i++) {
        o->counters[i].event = counters->request[i].event;
        o->counters[i].value = value_none(VALUE_MISSING, "the program was not started");
    }
}

void place_finish(struct place *p, struct counters *counters)
{
    const struct wire_usage *u = &p->tree.usage;
    struct role_outcome *o = p->o;

    drain_end(&p->out);
    drain_end(&p->err);
    close_both(p->write_fd);
    rss_end(&p->rss, o);
    maps_end(&p->maps, o);
    o->trace_errno = p->traced ? p->seat.page->trace_errno : 0;
    o->left_network = p->netns.left;
    take_cpu(p);
    take_counters(p, counters);
    o->max_rss_bytes = u->max_rss_kib * 1024;
    o->peak_rss_bytes =
        o->sampled_rss_bytes > o->max_rss_bytes ? o->sampled_rss_bytes : o->max_rss_bytes;
    o->minor_faults = u->minor_faults;
    o->major_faults = u->major_faults;
    o->context_switches = u->voluntary + u->involuntary;
    o->processes = p->tree.processes;
    o->leftovers = p->tree.leftovers;
}
