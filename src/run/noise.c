#include "run/noise.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static const char too_short[] = "the run was shorter than the steps of these figures";

static int open_below(const char *root, const char *path)
{
    char full[512];

    snprintf(full, sizeof(full), "%s%s", root, path);
    return open(full, O_RDONLY | O_CLOEXEC);
}

/* From the file's start; NUL-terminated. False if nothing can be read. */
static bool reread(int fd, char *out, size_t size)
{
    ssize_t n;

    if (fd < 0)
        return false;
    n = pread(fd, out, size - 1, 0);
    if (n <= 0)
        return false;
    out[n] = '\0';
    return true;
}

static bool reread_number(int fd, uint64_t *out)
{
    char text[32], *end;

    if (!reread(fd, text, sizeof(text)))
        return false;
    *out = strtoull(text, &end, 10);
    return end != text;
}

/* CPUs are numbered without gaps. */
static bool has_cpu(const char *root, int cpu)
{
    char path[512];

    snprintf(path, sizeof(path), "%s/sys/devices/system/cpu/cpu%d", root, cpu);
    return access(path, F_OK) == 0;
}

void noise_open(struct noise *n, const char *root)
{
    char path[128], text[256];

    *n = (struct noise){.psi_fd = open_below(root, "/proc/pressure/cpu"),
                        .stat_fd = open_below(root, "/proc/stat"),
                        .load_fd = open_below(root, "/proc/loadavg"),
                        .tick_s = 1.0 / (double)sysconf(_SC_CLK_TCK)};
    if (n->psi_fd >= 0 &&
        !reread(n->psi_fd, text, sizeof(text))) { /* psi=0: opens, cannot be read */
        close(n->psi_fd);
        n->psi_fd = -1;
    }
    for (int cpu = 0; cpu < NOISE_CPUS && has_cpu(root, cpu); cpu++) {
        int fd;

        snprintf(path, sizeof(path),
                 "/sys/devices/system/cpu/cpu%d/thermal_throttle/core_throttle_count", cpu);
        fd = open_below(root, path);
        if (fd >= 0)
            n->throttle_fd[n->throttle_count++] = fd;
        snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_cur_freq", cpu);
        fd = open_below(root, path);
        if (fd >= 0)
            n->frequency_fd[n->frequency_count++] = fd;
    }
}

void noise_close(struct noise *n)
{
    const int fds[] = {n->psi_fd, n->stat_fd, n->load_fd};

    for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
        if (fds[i] >= 0)
            close(fds[i]);
    for (size_t i = 0; i < n->throttle_count; i++)
        close(n->throttle_fd[i]);
    for (size_t i = 0; i < n->frequency_count; i++)
        close(n->frequency_fd[i]);
    *n = (struct noise){.psi_fd = -1, .stat_fd = -1, .load_fd = -1};
}

/* "cpu  user nice system idle iowait irq softirq steal ...", in ticks (proc(5)). */
static void read_stat(struct noise *n, struct noise_snapshot *s)
{
    char text[512];
    const char *p;

    if (!reread(n->stat_fd, text, sizeof(text)) || strncmp(text, "cpu ", 4) != 0)
        return;
    p = text + 4;
    for (int field = 0; field < 8; field++) {
        char *end;
        uint64_t ticks = strtoull(p, &end, 10);

        if (end == p)
            return;
        s->all_ticks += ticks;
        if (field == 7)
            s->steal = ticks;
        else if (field != 3 && field != 4) /* idle, iowait */
            s->busy_ticks += ticks;
        p = end;
    }
}

/* abba's own work between and beside the runs is nobody else's. */
static double own_cpu_s(void)
{
    struct rusage u;

    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static void take(struct noise *n, uint64_t now_ns, struct noise_snapshot *s)
{
    char text[256];
    const char *total;
    uint64_t number;

    *s = (struct noise_snapshot){.at_ns = now_ns};
    if (reread(n->psi_fd, text, sizeof(text)) && strncmp(text, "some ", 5) == 0 &&
        (total = strstr(text, "total=")) != NULL)
        s->psi_us = strtoull(total + 6, NULL, 10);
    read_stat(n, s);
    s->own_s = own_cpu_s();
    for (size_t i = 0; i < n->throttle_count; i++)
        if (reread_number(n->throttle_fd[i], &number))
            s->throttled += number;
    if (reread(n->load_fd, text, sizeof(text)))
        n->load = value_ok(strtod(text, NULL));
    else
        n->load = value_none(VALUE_UNSUPPORTED, "no /proc/loadavg");
}

static struct value frequency(const struct noise *n)
{
    double sum = 0;
    size_t count = 0;
    uint64_t khz;

    for (size_t i = 0; i < n->frequency_count; i++)
        if (reread_number(n->frequency_fd[i], &khz)) {
            sum += (double)khz / 1000;
            count++;
        }
    if (count == 0)
        return value_none(VALUE_UNSUPPORTED, "this machine does not tell its frequency");
    return value_ok(sum / (double)count);
}

/* Steal time of some hypervisors goes back a little now and then. */
static double growth(uint64_t before, uint64_t after)
{
    return after > before ? (double)(after - before) : 0;
}

/*
 * Share of all CPU time that neither the runs nor abba itself used. Ticks are sampled, so that the
 * difference may come out a little below nothing.
 */
static double others(const struct noise *n, const struct noise_snapshot *a,
                     const struct noise_snapshot *b)
{
    const double used_s = n->runs_s + b->own_s - a->own_s;
    const double busy_s = growth(a->busy_ticks, b->busy_ticks) * n->tick_s;
    const double all_s = growth(a->all_ticks, b->all_ticks) * n->tick_s;

    return busy_s > used_s ? (busy_s - used_s) / all_s : 0;
}

static void compare(struct noise *n, const struct noise_snapshot *a, const struct noise_snapshot *b)
{
    struct noise_reading *r = &n->reading;
    const double ns = (double)(b->at_ns - a->at_ns);

    r->psi_cpu = n->psi_fd < 0
                     ? value_none(VALUE_UNSUPPORTED, "no pressure figures in this kernel (psi=1)")
                     : value_ok(growth(a->psi_us, b->psi_us) * 1000 / ns);
    if (n->stat_fd < 0)
        r->steal = value_none(VALUE_UNSUPPORTED, "no /proc/stat");
    else if (b->all_ticks <= a->all_ticks)
        r->steal = value_none(VALUE_MISSING, too_short);
    else
        r->steal = value_ok(growth(a->steal, b->steal) / growth(a->all_ticks, b->all_ticks));
    r->others = r->steal;
    if (value_usable(&r->steal))
        r->others = value_ok(others(n, a, b));
    r->throttled = n->throttle_count == 0
                       ? value_none(VALUE_UNSUPPORTED, "this machine does not count throttling")
                       : value_ok(growth(a->throttled, b->throttled));
    r->frequency = frequency(n);
}

static bool window_over(const struct noise *n, uint64_t now_ns)
{
    return now_ns - n->last.at_ns >= NOISE_WINDOW_NS;
}

void noise_begin(struct noise *n, uint64_t now_ns)
{
    if (n->last.at_ns == 0) {
        const struct value none = value_none(VALUE_MISSING, too_short);

        n->reading = (struct noise_reading){none, none, none, none, none, none};
    }
    if (n->last.at_ns == 0 || window_over(n, now_ns)) {
        take(n, now_ns, &n->last);
        n->runs_s = 0;
    }
    n->reading.load = n->load;
}

void noise_end(struct noise *n, uint64_t now_ns, double cpu_s, struct noise_reading *out)
{
    n->runs_s += cpu_s;
    if (window_over(n, now_ns)) {
        struct noise_snapshot now;
        const struct value load = n->reading.load;

        take(n, now_ns, &now);
        compare(n, &n->last, &now);
        n->reading.load = load; /* as it was when the run began */
        n->last = now;
        n->runs_s = 0;
    }
    *out = n->reading;
}
