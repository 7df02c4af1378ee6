/*
 * sampler_cost: what watching a run adds to an empty timer loop.
 *
 * usage: sampler_cost [ROUNDS [SECONDS]]
 *
 * Each round sleeps and wakes every 5 ms for SECONDS, doing nothing, and then as long runs a
 * sleeping program through a run host, which samples it every 5 ms. Printed are the medians of the
 * CPU time used by this process, in percent of one CPU, and how many points the sampler adds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "run/run.h"

#define PERIOD_NS (5 * NSEC_PER_MSEC)

static int64_t cpu_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return clock_timespec_ns(&ts);
}

/* Percent of a CPU. */
static double empty_loop(double seconds)
{
    const int64_t begin = clock_mono_ns(), begin_cpu = cpu_ns();
    const int64_t end = begin + (int64_t)(seconds * 1e9);

    for (int64_t t = begin + PERIOD_NS; t < end; t += PERIOD_NS)
        clock_sleep_until(t);
    return 100.0 * (double)(cpu_ns() - begin_cpu) / (double)(clock_mono_ns() - begin);
}

static double watching(enum isolation isolation, double seconds)
{
    char text[32];
    const char *const argv[] = {"/bin/sleep", text, NULL};
    const char *const env[] = {NULL};
    const struct run_role role = {.name = "sleeper", .argv = argv, .envp = env, .net_fd = -1};
    const struct run_request request = {
        .number = 1, .roles = &role, .role_count = 1, .stdin_fd = -1};
    const struct run_options options = {.isolation = isolation, .max_roles = 1, .wake_fd = -1};
    const struct outcome *out;
    struct run_host *host;
    struct err err;
    int64_t begin, begin_cpu;
    double percent;

    snprintf(text, sizeof(text), "%.2f", seconds);
    if (run_host_open(&host, &options, &err) < 0)
        goto fail;
    begin = clock_mono_ns();
    begin_cpu = cpu_ns();
    if (run_execute(host, &request, &out, &err) < 0)
        goto fail;
    percent = 100.0 * (double)(cpu_ns() - begin_cpu) / (double)(clock_mono_ns() - begin);
    run_host_close(host);
    return percent;
fail:
    fprintf(stderr, "sampler_cost: %s\n", err.msg);
    exit(1);
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *v, size_t n)
{
    qsort(v, n, sizeof(*v), ascending);
    return n % 2 == 1 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

int main(int argc, char **argv)
{
    const size_t rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 5;
    const double seconds = argc > 2 ? strtod(argv[2], NULL) : 2;
    double *v[3], m[3];

    for (int k = 0; k < 3; k++)
        v[k] = xcalloc(rounds, sizeof(double));
    for (size_t i = 0; i < rounds; i++) {
        v[0][i] = empty_loop(seconds);
        v[1][i] = watching(ISOLATION_AUTO, seconds);
        v[2][i] = watching(ISOLATION_SUBREAPER, seconds);
    }
    for (int k = 0; k < 3; k++) {
        m[k] = median(v[k], rounds);
        free(v[k]);
    }
    printf("%-28s %8s %8s\n", "", "% of CPU", "added");
    printf("%-28s %8.2f\n", "empty 5 ms loop", m[0]);
    printf("%-28s %8.2f %8.2f\n", "pid namespace", m[1], m[1] - m[0]);
    printf("%-28s %8.2f %8.2f\n", "subreaper", m[2], m[2] - m[0]);
    return 0;
}
