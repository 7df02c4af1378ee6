/*
 * used FILE COMMAND [ARGUMENT...]: runs the command and appends to FILE one line: seconds from fork
 * to end, CPU seconds (user and system, children that were waited for included), highest resident
 * set in KiB (ru_maxrss: of the command or of its largest child). Exits as the command does.
 *
 * The command gets a session of its own, as programs under abba have one: where the machine is
 * busy, the kernel shares its CPUs out among sessions (sched(7), autogroup). This program is small,
 * so that what a child inherits of its resident set is next to nothing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now_s(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

int main(int argc, char **argv)
{
    const double begin = now_s();
    struct rusage use;
    FILE *file;
    pid_t pid;
    int status;

    if (argc < 3) {
        fprintf(stderr, "usage: used FILE COMMAND [ARGUMENT...]\n");
        return 2;
    }
    pid = fork();
    if (pid == 0) {
        setsid();
        execvp(argv[2], argv + 2);
        perror(argv[2]);
        _exit(127);
    }
    if (pid < 0 || wait4(pid, &status, 0, &use) < 0 || (file = fopen(argv[1], "a")) == NULL) {
        perror("used");
        return 2;
    }
    fprintf(file, "%.6f %.6f %ld\n", now_s() - begin, seconds(use.ru_utime) + seconds(use.ru_stime),
            use.ru_maxrss);
    fclose(file);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
