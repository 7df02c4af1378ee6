/*
 * escape [MS]: leaves a process behind that tries not to be found: own session, forked twice,
 * deaf to every signal that can be ignored, holding standard output and error. The root process
 * writes "done" and exits after MS.
 *
 * escape fast: the same, and what is left forks again and again, each time leaving its parent.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void hide(int fast)
{
    const struct timespec nap = {.tv_nsec = 2 * 1000 * 1000};

    setsid();
    for (int sig = 1; sig < NSIG; sig++)
        signal(sig, SIG_IGN);
    if (fork() != 0)
        _exit(0);
    for (;;) {
        if (!fast)
            pause();
        nanosleep(&nap, NULL);
        if (fork() != 0)
            _exit(0);
    }
}

int main(int argc, char **argv)
{
    const int fast = argc > 1 && strcmp(argv[1], "fast") == 0;
    const long ms = argc > 1 ? strtol(argv[1], NULL, 10) : 0;
    const struct timespec ts = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

    if (fork() == 0)
        hide(fast);
    nanosleep(&ts, NULL);
    puts("done");
    return 0;
}
