/* tree: the processes below this one, found by /proc/PID/task/TID/children. */
#include "zygote/zygote.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TREE_MAX 8192 /* found in one walk; more are found by the next one, when these are gone */

static pid_t found[TREE_MAX];
static size_t found_count;

static void add_children_of_task(const char *path)
{
    char text[4096];
    size_t kept = 0;
    ssize_t n;
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return;
    while ((n = read(fd, text + kept, sizeof(text) - 1 - kept)) > 0) {
        char *p = text, *end;

        text[kept + (size_t)n] = '\0';
        for (;;) {
            long pid = strtol(p, &end, 10);

            if (end == p || *end == '\0') /* cut off: the next read brings the rest */
                break;
            if (found_count < TREE_MAX)
                found[found_count++] = (pid_t)pid;
            p = end + 1;
        }
        kept = strlen(p);
        memmove(text, p, kept);
    }
    close(fd);
}

static void add_children(pid_t pid)
{
    char path[64];
    struct dirent *e;
    DIR *d;

    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    d = opendir(path);
    if (d == NULL)
        return;
    while ((e = readdir(d)) != NULL) {
        if (e->d_name[0] == '.')
            continue;
        snprintf(path, sizeof(path), "/proc/%d/task/%.20s/children", (int)pid, e->d_name);
        add_children_of_task(path);
    }
    closedir(d);
}

void tree_kill(int sig)
{
    found_count = 0;
    add_children(getpid());
    for (size_t i = 0; i < found_count; i++) {
        kill(found[i], sig);
        add_children(found[i]);
    }
}

/* Whoever loses its parent meanwhile becomes a child of this subreaper, so this comes to an end. */
void tree_end(void)
{
    const struct timespec pause = {.tv_nsec = 500 * 1000};

    for (;;) {
        int status;
        pid_t pid;

        tree_kill(SIGKILL);
        while ((pid = waitpid(-1, &status, WNOHANG | __WALL)) > 0)
            if (WIFSTOPPED(status)) /* at its end, which it does not come to while it is held */
                trace_leave(pid);
        if (pid < 0 && errno == ECHILD)
            return;
        nanosleep(&pause, NULL);
    }
}
