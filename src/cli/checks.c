#include "cli/checks.h"

#include "base/files.h"
#include "base/mem.h"
#include "net/namespace.h"
#include "run/cgroup.h"
#include "run/run.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void checks_add(struct checks *c, const char *name, enum check_state state, const char *found,
                const char *mend)
{
    ABBA_ASSERT(c->count < CHECKS_MAX);
    c->items[c->count++] =
        (struct check){.name = name, .state = state, .found = found, .mend = mend};
}

const struct check *checks_find(const struct checks *c, const char *name)
{
    for (size_t i = 0; i < c->count; i++) {
        if (strcmp(c->items[i].name, name) == 0)
            return &c->items[i];
    }
    return NULL;
}

/* A small file of /proc or /sys as text, NULL if it is not there. */
static const char *look(const char *path, struct arena *arena)
{
    char text[256];
    return files_read_small(path, text, sizeof(text)) < 0 ? NULL : arena_strdup(arena, text);
}

/* ---- what a series stands on ---- */

static const char *const default_events[] = {
    "PERF_COUNT_HW_CPU_CYCLES",   "PERF_COUNT_HW_INSTRUCTIONS",  "PERF_COUNT_HW_CACHE_REFERENCES",
    "PERF_COUNT_HW_CACHE_MISSES", "PERF_COUNT_HW_BRANCH_MISSES", "PERF_COUNT_SW_CPU_MIGRATIONS",
};
#define HARDWARE_EVENTS 5

/* Only root gets process namespaces; where root does not, a container is the reason. */
static void check_isolation(struct checks *c, enum isolation isolation, struct arena *arena)
{
    if (isolation == ISOLATION_PID_NAMESPACE) {
        checks_add(c, "pid-namespace", CHECK_OK,
                   "each program runs in a process namespace of its own", NULL);
        return;
    }
    struct namespace_reason why = {"only root may make them", "run abba as root"};
    if (geteuid() == 0)
        why = namespace_why_not(EPERM, "", arena);
    checks_add(
        c, "pid-namespace", CHECK_MISSING,
        arena_printf(arena, "no: programs are followed and ended as a subreaper does; %s", why.why),
        why.mend);
}

static void check_pmu(struct checks *c, struct arena *arena)
{
    size_t works = 0;
    const char *reason = NULL;
    for (size_t i = 0; i < HARDWARE_EVENTS && i < c->counter_count; i++) {
        works += c->counters[i].status == VALUE_OK;
        if (c->counters[i].status != VALUE_OK && !reason)
            reason = c->counters[i].reason;
    }
    if (works == HARDWARE_EVENTS)
        checks_add(c, "pmu", CHECK_OK, "all five hardware counters count", NULL);
    else
        checks_add(
            c, "pmu", CHECK_MISSING,
            arena_printf(arena, "%zu of %d hardware counters count%s%s", works, HARDWARE_EVENTS,
                         reason ? ": " : "", reason ? reason : ""),
            works ? "--event names others that this CPU has (abba list events)"
            : reason && strstr(reason, "seccomp")
                ? "docker run --security-opt seccomp=unconfined --cap-add PERFMON ..."
                : "on a virtual machine: give it a virtual PMU (QEMU/KVM: -cpu host,pmu=on), or "
                  "use bare metal; else: sudo sysctl kernel.perf_event_paranoid=1");
}

/* Opens a host as a series does, to see what it gets. */
static void check_host(struct checks *c, struct arena *arena)
{
    struct run_host *host = NULL;
    struct run_options options = {.max_roles = 1, .wake_fd = -1};
    struct err err = {0};
    for (size_t i = 0; i < sizeof(default_events) / sizeof(default_events[0]); i++)
        strings_add(&options.events, arena, default_events[i]);
    if (run_host_open(&host, &options, &err) != 0) {
        checks_add(c, "pid-namespace", CHECK_MISSING, arena_strdup(arena, err.msg),
                   "run abba as root");
        checks_add(c, "pmu", CHECK_MISSING, "not tried: no program could be started", NULL);
        return;
    }
    const struct machine_counter *counters = run_host_counters(host, &c->counter_count);
    c->counters = arena_array(arena, c->counter_count, sizeof(*counters));
    for (size_t i = 0; i < c->counter_count; i++) {
        c->counters[i] = counters[i];
        c->counters[i].event = arena_strdup(arena, counters[i].event);
        if (counters[i].reason)
            c->counters[i].reason = arena_strdup(arena, counters[i].reason);
    }
    check_isolation(c, run_host_isolation(host), arena);
    check_pmu(c, arena);
    run_host_close(host);
}

static void check_paranoid(struct checks *c, struct arena *arena)
{
    const char *level = look("/proc/sys/kernel/perf_event_paranoid", arena);
    if (!level) {
        checks_add(c, "perf-events", CHECK_MISSING, "the kernel has no perf events",
                   "a kernel with CONFIG_PERF_EVENTS");
        return;
    }
    long number = strtol(level, NULL, 10);
    bool allowed = geteuid() == 0 || number <= 1;
    /* Above 2 is Debian's and Ubuntu's addition. */
    const char *effect =
        number > 2 ? ": only root may count" : ": user code may be counted, the kernel's part not";
    checks_add(c, "perf-events", allowed ? CHECK_OK : CHECK_NOTE,
               arena_printf(arena, "perf_event_paranoid is %s%s", level, allowed ? "" : effect),
               "sudo sysctl kernel.perf_event_paranoid=1");
}

/* Makes a group as a run does, and removes it. */
static void check_cgroup(struct checks *c, struct arena *arena)
{
    struct cgroup group;
    if (cgroup_open(&group, &cgroup_system, 999) == 0) {
        cgroup_close(&group);
        checks_add(c, "cgroup", CHECK_OK, "v2, groups may be made: CPU time has a second source",
                   NULL);
        return;
    }
    checks_add(c, "cgroup", CHECK_NOTE,
               arena_printf(arena, "CPU time has no second source: %s", group.why),
               "systemd-run --user --scope -p Delegate=yes abba ... (needs cgroup v2)");
}

/* ---- what disturbs ---- */

static void check_psi(struct checks *c, struct arena *arena)
{
    const char *psi = look("/proc/pressure/cpu", arena);
    checks_add(c, "psi", psi ? CHECK_OK : CHECK_NOTE,
               psi ? "CPU pressure can be read" : "no pressure figures: noisy pairs cannot be told",
               "boot with psi=1");
}

static void check_steal(struct checks *c, struct arena *arena)
{
    unsigned long long t[8] = {0}, all = 0;
    char text[512];
    if (files_read_small("/proc/stat", text, sizeof(text)) < 0 ||
        sscanf(text, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &t[0], &t[1], &t[2], &t[3],
               &t[4], &t[5], &t[6], &t[7]) != 8)
        return;
    for (size_t i = 0; i < 8; i++)
        all += t[i];
    double share = all ? (double)t[7] / (double)all : 0;
    checks_add(c, "steal", share < 0.01 ? CHECK_OK : CHECK_NOTE,
               arena_printf(arena, "%.2g%% of CPU time went to other virtual machines since boot",
                            100 * share),
               "a machine of its own, or dedicated CPUs");
}

static void check_aslr(struct checks *c, struct arena *arena)
{
    const char *aslr = look("/proc/sys/kernel/randomize_va_space", arena);
    if (aslr)
        checks_add(c, "aslr", CHECK_OK,
                   strcmp(aslr, "0") == 0 ? "off, for both of a pair"
                                          : "on, for both of a pair: layouts vary from run to run",
                   NULL);
}

static void check_governor(struct checks *c, struct arena *arena)
{
    const char *governor = look("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", arena);
    if (!governor)
        checks_add(c, "governor", CHECK_NOTE, "unknown: the host decides about frequencies", NULL);
    else
        checks_add(c, "governor", strcmp(governor, "performance") == 0 ? CHECK_OK : CHECK_NOTE,
                   governor, "sudo cpupower frequency-set -g performance");
}

static void check_turbo(struct checks *c, struct arena *arena)
{
    const char *no_turbo = look("/sys/devices/system/cpu/intel_pstate/no_turbo", arena);
    const char *boost = look("/sys/devices/system/cpu/cpufreq/boost", arena);
    if (no_turbo)
        checks_add(c, "turbo", strcmp(no_turbo, "1") == 0 ? CHECK_OK : CHECK_NOTE,
                   strcmp(no_turbo, "1") == 0 ? "off" : "on: frequencies vary with temperature",
                   "echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo");
    else if (boost)
        checks_add(c, "turbo", strcmp(boost, "0") == 0 ? CHECK_OK : CHECK_NOTE,
                   strcmp(boost, "0") == 0 ? "off" : "on: frequencies vary with temperature",
                   "echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost");
    else
        checks_add(c, "turbo", CHECK_NOTE, "unknown: this machine does not say", NULL);
}

static void check_smt(struct checks *c, struct arena *arena)
{
    const char *active = look("/sys/devices/system/cpu/smt/active", arena);
    bool on = active && strcmp(active, "1") == 0;
    checks_add(c, "smt", on ? CHECK_NOTE : CHECK_OK,
               on ? "on: two threads of a core slow each other down" : "off, or one thread a core",
               "--cpus with one thread of each core, or: echo off | sudo tee "
               "/sys/devices/system/cpu/smt/control");
}

static void check_cpus(struct checks *c, struct arena *arena)
{
    cpu_set_t set;
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    int allowed = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 0;
    checks_add(c, "cpus", allowed >= 2 ? CHECK_OK : CHECK_NOTE,
               arena_printf(arena, "%d of %ld may be used%s", allowed, online,
                            allowed >= 2 ? "" : ": abba and what it measures share one"),
               "give abba two CPUs or more");
}

static void check_swap(struct checks *c, struct arena *arena)
{
    FILE *f = fopen("/proc/meminfo", "r");
    char line[256];
    unsigned long long total = 0, rest = 0;
    if (!f)
        return;
    while (fgets(line, sizeof(line), f)) {
        (void)sscanf(line, "SwapTotal: %llu", &total);
        (void)sscanf(line, "SwapFree: %llu", &rest);
    }
    fclose(f);
    checks_add(c, "swap", total == rest ? CHECK_OK : CHECK_NOTE,
               total == 0      ? "none"
               : total == rest ? "there, not in use"
                               : arena_printf(arena, "%llu MiB in use: page faults cost time",
                                              (total - rest) / 1024),
               "sudo swapoff -a");
}

static void check_load(struct checks *c, struct arena *arena)
{
    const char *text = look("/proc/loadavg", arena);
    double load = text ? strtod(text, NULL) : 0;
    double limit = 0.5 * (double)sysconf(_SC_NPROCESSORS_ONLN);
    checks_add(c, "load", load < limit ? CHECK_OK : CHECK_NOTE,
               arena_printf(arena, "load average of the last minute is %.2f%s", load,
                            load < limit ? "" : ": something else is at work"),
               "end other work (top shows it)");
}

void checks_make(struct checks *c, struct arena *arena)
{
    check_host(c, arena);
    check_paranoid(c, arena);
    checks_network(c, arena);
    check_cgroup(c, arena);
    check_psi(c, arena);
    check_steal(c, arena);
    check_aslr(c, arena);
    check_governor(c, arena);
    check_turbo(c, arena);
    check_smt(c, arena);
    check_cpus(c, arena);
    check_swap(c, arena);
    check_load(c, arena);
}
