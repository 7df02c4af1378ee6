/*
 * tree: programs of several processes.
 *
 *   tree peaks KIB MS   root and child each touch KIB, hold it together for MS, and the root says
 *                       the sum of both peaks
 *   tree unwaited MS    root, child and grandchild each spin MS of CPU; the root exits at once
 *                       without waiting, and the others go on
 *   tree ignored MS     a child spins MS; SIGCHLD is ignored, so nobody ever waits for it
 *   tree wide N MS      N children sleep for MS
 *   tree vfork KIB N    touches KIB, then N times in turn starts /bin/true by vfork
 */
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void spin(long ms)
{
    struct timespec ts;

    do {
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    } while (ts.tv_sec * 1000 + ts.tv_nsec / 1000000 < ms);
}

static void pause_ms(long ms)
{
    const struct timespec ts = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

    nanosleep(&ts, NULL);
}

static long peak_kib(void)
{
    FILE *f = fopen("/proc/self/status", "r");
    char line[256];
    long kib = -1;

    while (f != NULL && fgets(line, sizeof(line), f) != NULL)
        if (strncmp(line, "VmHWM:", 6) == 0)
            kib = strtol(line + 6, NULL, 10);
    if (f != NULL)
        fclose(f);
    return kib;
}

static void touch(size_t size)
{
    char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED)
        _exit(1);
    madvise(p, size, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < size; i += 4096)
        p[i] = 1;
}

static int peaks(size_t kib, long ms)
{
    int up[2], down[2];
    long mine, other = 0;
    char c = 0;

    if (pipe(up) < 0 || pipe(down) < 0)
        return 1;
    if (fork() == 0) {
        touch(kib * 1024);
        mine = peak_kib();
        if (write(up[1], &mine, sizeof(mine)) != sizeof(mine) || read(down[0], &c, 1) != 1)
            _exit(1);
        _exit(0);
    }
    touch(kib * 1024);
    if (read(up[0], &other, sizeof(other)) != sizeof(other))
        return 1;
    pause_ms(ms); /* both are at their peak */
    mine = peak_kib();
    if (write(down[1], &c, 1) != 1)
        return 1;
    wait(NULL);
    printf("peak_kib=%ld\n", mine + other);
    return 0;
}

static int unwaited(long ms)
{
    if (fork() == 0) {
        if (fork() == 0) {
            spin(ms);
            _exit(0);
        }
        spin(ms);
        _exit(0);
    }
    spin(ms);
    return 0;
}

static int ignored(long ms)
{
    pid_t pid;

    signal(SIGCHLD, SIG_IGN);
    pid = fork();
    if (pid == 0) {
        spin(ms);
        _exit(0);
    }
    waitpid(pid, NULL, 0); /* returns when it is gone; its usage is lost */
    return 0;
}

static int wide(long n, long ms)
{
    for (long i = 0; i < n; i++)
        if (fork() == 0) {
            pause_ms(ms);
            _exit(0);
        }
    while (wait(NULL) > 0)
        continue;
    return 0;
}

static int vforks(size_t kib, long n)
{
    char *const argv[] = {(char *)(uintptr_t) "true", NULL};

    touch(kib * 1024);
    for (long i = 0; i < n; i++) {
        pid_t pid = vfork();

        if (pid == 0) {
            execv("/bin/true", argv);
            _exit(127);
        }
        waitpid(pid, NULL, 0);
    }
    printf("peak_kib=%ld\n", peak_kib());
    return 0;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    const long a = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
    const long b = argc > 3 ? strtol(argv[3], NULL, 10) : 0;

    if (strcmp(what, "peaks") == 0)
        return peaks((size_t)a, b);
    if (strcmp(what, "unwaited") == 0)
        return unwaited(a);
    if (strcmp(what, "ignored") == 0)
        return ignored(a);
    if (strcmp(what, "wide") == 0)
        return wide(a, b);
    if (strcmp(what, "vfork") == 0)
        return vforks((size_t)a, b);
    return 2;
}
