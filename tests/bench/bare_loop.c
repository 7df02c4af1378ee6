/*
 * bare_loop RUNS [PROGRAM]: fork, exec and wait, RUNS times; prints the microseconds a run. The
 * least that running a program can cost, for others to be measured against.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now_us(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

int main(int argc, char **argv)
{
    const long runs = argc > 1 ? strtol(argv[1], NULL, 10) : 1000;
    char *program = argc > 2 ? argv[2] : (char *)(unsigned long)"/bin/true";
    char *const child_argv[] = {program, NULL};
    char *const env[] = {NULL};
    const double begin = now_us();

    for (long i = 0; i < runs; i++) {
        pid_t pid = fork();

        if (pid == 0) {
            execve(program, child_argv, env);
            _exit(127);
        }
        waitpid(pid, NULL, 0);
    }
    printf("%.1f\n", (now_us() - begin) / (double)runs);
    return 0;
}
