/*
 * A program that asks its heap for exactly what it is told. Dynamic, so that a library can be
 * preloaded.
 *
 * usage: known WHAT [THREADS COUNT SIZE [PLUGIN]]
 *
 * Every thread does COUNT rounds within the window, of which each makes 8 calls for 11 x SIZE + 64
 * bytes and 7 frees (see one_round). Nothing else is allocated there. WHAT:
 *   plain    a window, with allocations before and after it
 *   windows  three of them, of one, two and three times the rounds
 *   none     the same without a window
 *   plugin   besides, COUNT calls of SIZE by code of the library PLUGIN, that dlopen brought
 *   fork     besides, a child that allocates three times SIZE bytes and leaves
 *   ends     the threads end within the window, and others take their places
 *   close    closes every descriptor first
 *   crash, kill, exit   ends in the middle of the window
 *   twice, stray        opens it twice, closes it twice
 *   refused  besides, allocations that must fail
 */
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS_MAX 64

static long count;
static size_t size;
static pthread_barrier_t gate;

/* What a compiler cannot leave out. */
static void *keep(void *p)
{
    void *volatile kept = p;

    if (!kept)
        abort();
    return kept;
}

static void one_round(void)
{
    void *a = keep(malloc(size)), *b = keep(calloc(3, size)), *c = NULL;
    void *d = keep(aligned_alloc(64, 64)), *e = keep(memalign(32, size));
    void *f = keep(reallocarray(NULL, 2, size)), *g = keep(malloc(size));

    a = keep(realloc(a, 2 * size));
    if (posix_memalign(&c, 64, size) != 0)
        abort();
    if (realloc(g, 0)) /* frees */
        abort();
    free(keep(a));
    free(keep(b));
    free(keep(c));
    free(keep(d));
    free(keep(e));
    free(keep(f));
    free(NULL);
}

static void rounds(long n)
{
    for (long i = 0; i < n; i++)
        one_round();
}

/* Threads exist before the window opens and after it closes: making them allocates. */
static void *work(void *ends)
{
    rounds(3); /* before */
    pthread_barrier_wait(&gate);
    pthread_barrier_wait(&gate);
    rounds(count);
    if (ends)
        return NULL;
    pthread_barrier_wait(&gate);
    pthread_barrier_wait(&gate);
    rounds(2); /* after */
    return NULL;
}

static void begin(void)
{
    (void)!access("/abba/window/begin", F_OK);
}

static void end(void)
{
    (void)!access("/abba/window/end", F_OK);
}

/* A child's allocations are its own. */
static void fork_one(void)
{
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        for (int i = 0; i < 3; i++)
            free(keep(malloc(size)));
        _exit(0);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
        abort();
}

/* volatile: a size that cannot be is no constant. */
static void refused(void)
{
    volatile size_t much = SIZE_MAX / 2;
    void *p = NULL;

    if (malloc(much) || calloc(much, 4) || aligned_alloc(64, much) ||
        posix_memalign(&p, 64, much) == 0 || posix_memalign(&p, 3, 8) == 0)
        abort();
}

static void leave(const char *what)
{
    if (strcmp(what, "crash") == 0)
        abort();
    if (strcmp(what, "kill") == 0)
        raise(SIGKILL);
    if (strcmp(what, "exit") == 0)
        exit(0);
}

static void (*plugin(const char *path))(long, size_t)
{
    void *library = dlopen(path, RTLD_NOW);
    void (*call)(long, size_t) = NULL;

    if (library)
        *(void **)&call = dlsym(library, "plugin_work");
    if (!call)
        abort();
    return call;
}

static void start(pthread_t *threads, int n, bool ends)
{
    if (pthread_barrier_init(&gate, NULL, (unsigned)n + 1) != 0)
        abort();
    for (int i = 0; i < n; i++)
        if (pthread_create(&threads[i], NULL, work, ends ? &gate : NULL) != 0)
            abort();
    pthread_barrier_wait(&gate);
}

static void join(pthread_t *threads, int n)
{
    for (int i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int n = argc > 2 ? atoi(argv[2]) : 1;
    bool ends = strcmp(what, "ends") == 0, none = strcmp(what, "none") == 0;
    void (*call)(long, size_t) = NULL;
    pthread_t threads[THREADS_MAX], others[THREADS_MAX];

    count = argc > 3 ? atol(argv[3]) : 1;
    size = argc > 4 ? (size_t)atol(argv[4]) : 64;
    if (n < 1 || n > THREADS_MAX)
        return 2;
    if (strcmp(what, "plugin") == 0)
        call = plugin(argc > 5 ? argv[5] : "");
    if (strcmp(what, "close") == 0)
        close_range(0, ~0u, 0);
    if (none) {
        rounds(count);
        return 0;
    }
    if (strcmp(what, "stray") == 0)
        end();
    if (strcmp(what, "windows") == 0) {
        for (int i = 1; i <= 3; i++) {
            begin();
            rounds(i * count);
            end();
            rounds(1);
        }
        return 0;
    }
    start(threads, n, ends);
    begin();
    if (strcmp(what, "twice") == 0)
        begin();
    pthread_barrier_wait(&gate); /* they begin */
    if (strcmp(what, "fork") == 0)
        fork_one();
    if (call)
        call(count, size);
    if (strcmp(what, "refused") == 0)
        refused();
    if (ends) {
        join(threads, n);
        end();
        start(others, n, true);
        pthread_barrier_wait(&gate);
        join(others, n);
        return 0;
    }
    pthread_barrier_wait(&gate); /* they are done */
    leave(what);
    end();
    pthread_barrier_wait(&gate); /* they go on */
    join(threads, n);
    return 0;
}
