/*
 * harness_cost: what the run room adds to a run.
 *
 * usage: harness_cost [ROUNDS [RUNS [PROGRAM]]]
 *
 * Each round runs PROGRAM (/bin/true) RUNS times in a bare loop of fork, exec and wait, and as
 * often through a run host with counters, pipes and sampler. Rounds take turns; the medians and
 * their ratio are printed, then the cost of leaving parts out.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "run/run.h"

static const char *const env[] = {"PATH=/usr/bin:/bin", "LC_ALL=C", "HOME=/", NULL};
static const char *program = "/bin/true";

/* A program of its own, so that the size of this one does not make its forks dear. */
static double bare(int runs)
{
    char self[4096], path[4352], number[16];
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
    char text[64];
    int out[2];
    pid_t pid;

    self[n > 0 ? n : 0] = '\0';
    *(strrchr(self, '/') + 1) = '\0';
    snprintf(path, sizeof(path), "%sbare_loop", self);
    snprintf(number, sizeof(number), "%d", runs);
    if (pipe(out) < 0)
        exit(1);
    pid = fork();
    if (pid == 0) {
        dup2(out[1], STDOUT_FILENO);
        setsid(); /* as the zygote does: the kernel shares CPUs out among sessions (autogroup) */
        execl(path, "bare_loop", number, program, (char *)NULL);
        _exit(127);
    }
    close(out[1]);
    n = read(out[0], text, sizeof(text) - 1);
    close(out[0]);
    waitpid(pid, NULL, 0);
    if (n <= 0) {
        fprintf(stderr, "harness_cost: cannot run %s\n", path);
        exit(1);
    }
    text[n] = '\0';
    return strtod(text, NULL);
}

static double harness(struct run_host *host, int runs)
{
    const char *const argv[] = {program, NULL};
    const struct run_role role = {.name = "program", .argv = argv, .envp = env, .net_fd = -1};
    const struct run_request request = {
        .number = 1, .roles = &role, .role_count = 1, .stdin_fd = -1, .timeout_ns = 10000000000u};
    const int64_t begin = clock_mono_ns();

    for (int i = 0; i < runs; i++) {
        const struct outcome *out;
        struct err err;

        if (run_execute(host, &request, &out, &err) < 0 || out->end != RUN_DONE) {
            fprintf(stderr, "harness_cost: a run failed\n");
            exit(1);
        }
    }
    return (double)(clock_mono_ns() - begin) / runs / 1e3;
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

struct kind {
    const char *name;
    enum isolation isolation;
    bool counters;
};

static const struct kind kinds[] = {
    {"pid namespace, counters", ISOLATION_AUTO, true},
    {"pid namespace, no counters", ISOLATION_AUTO, false},
    {"subreaper, counters", ISOLATION_SUBREAPER, true},
    {"subreaper, no counters", ISOLATION_SUBREAPER, false},
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static const char *names[] = {
    "PERF_COUNT_HW_CPU_CYCLES",       "PERF_COUNT_HW_INSTRUCTIONS",
    "PERF_COUNT_HW_CACHE_REFERENCES", "PERF_COUNT_HW_CACHE_MISSES",
    "PERF_COUNT_HW_BRANCH_MISSES",    "PERF_COUNT_SW_CONTEXT_SWITCHES",
    "PERF_COUNT_SW_CPU_MIGRATIONS",   "PERF_COUNT_SW_PAGE_FAULTS_MIN",
    "PERF_COUNT_SW_PAGE_FAULTS_MAJ",
};
#define NAMES (sizeof(names) / sizeof(names[0]))

static struct run_host *open_host(const struct kind *k)
{
    struct run_options options = {.isolation = k->isolation, .max_roles = 1, .wake_fd = -1};
    struct run_host *host;
    struct err err;

    if (k->counters)
        options.events = (struct strings){names, NAMES, NAMES};
    if (run_host_open(&host, &options, &err) < 0) {
        fprintf(stderr, "harness_cost: %s\n", err.msg);
        exit(1);
    }
    return host;
}

int main(int argc, char **argv)
{
    const size_t rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 31;
    const int runs = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 100;
    double *us[KINDS + 1], bare_median, bare_least;

    if (argc > 3)
        program = argv[3];
    for (size_t k = 0; k <= KINDS; k++)
        us[k] = xcalloc(rounds, sizeof(double));
    for (size_t i = 0; i < rounds; i++) {
        us[KINDS][i] = bare(runs);
        for (size_t k = 0; k < KINDS; k++) {
            struct run_host *host = open_host(&kinds[k]);

            harness(host, 5);
            us[k][i] = harness(host, runs);
            run_host_close(host);
        }
    }
    printf("%-28s %8s %8s %8s %8s\n", "us a run", "median", "x bare", "least", "x bare");
    bare_median = median(us[KINDS], rounds);
    bare_least = us[KINDS][0]; /* sorted by now */
    printf("%-28s %8.1f %8s %8.1f\n", "bare fork, exec, wait", bare_median, "", bare_least);
    for (size_t k = 0; k < KINDS; k++) {
        const double m = median(us[k], rounds), least = us[k][0];

        printf("%-28s %8.1f %8.3f %8.1f %8.3f\n", kinds[k].name, m, m / bare_median, least,
               least / bare_least);
    }
    for (size_t k = 0; k <= KINDS; k++)
        free(us[k]);
    return 0;
}
