/*
 * heap: a library to preload. It counts what a program asks its heap for: calls and bytes of
 * malloc, calloc, realloc and aligned allocation, and calls of free, of all threads. The program's
 * own allocator does the work.
 *
 * Counting is confined to windows, so that set-up does not count: a program opens one by looking
 * for the file /abba/window/begin and closes it by looking for /abba/window/end, with access(2),
 * which every language can call. The end of each window writes one line to standard error:
 *
 *     heap window=1 calls=200000 bytes=25600000 frees=199488
 *
 * A realloc is one call and counts the whole new size: it may copy. With ABBA_HEAP=process in the
 * environment the end of the process writes a line for all of it, "heap process calls=...".
 *
 * Each thread has a record of its own, written by it alone and never freed; there is no lock. The
 * sums are read while other threads may go on, so a window's edges are as sharp as the program
 * makes them.
 */
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define HIDDEN_TLS static __thread __attribute__((tls_model("initial-exec")))

/* One thread's, on a cache line of its own. */
struct counts {
    _Atomic uint64_t calls, bytes, frees;
    struct counts *next;
} __attribute__((aligned(64)));

struct sums {
    uint64_t calls, bytes, frees;
};

static _Atomic(struct counts *) all;
HIDDEN_TLS struct counts *mine;

/* ---- the allocator below ---- */

static struct {
    void *(*malloc)(size_t);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void (*free)(void *);
    int (*posix_memalign)(void **, size_t, size_t);
    void *(*aligned_alloc)(size_t, size_t);
    void *(*memalign)(size_t, size_t);
    int (*access)(const char *, int);
} below;

/* dlsym itself may allocate before it has found the allocator: that comes from here, and stays. */
static char early[16384];
static _Atomic size_t early_used;

static void *early_alloc(size_t size)
{
    const size_t at = atomic_fetch_add(&early_used, (size + 15) & ~(size_t)15);

    if (at > sizeof(early) || size > sizeof(early) - at) {
        errno = ENOMEM;
        return NULL;
    }
    return early + at;
}

static bool is_early(const void *p)
{
    return (const char *)p >= early && (const char *)p < early + sizeof(early);
}

#define FIND(name) *(void **)(void *)&below.name = dlsym(RTLD_NEXT, #name)

__attribute__((constructor)) static void find_below(void)
{
    if (below.free)
        return;
    FIND(malloc);
    FIND(calloc);
    FIND(realloc);
    FIND(posix_memalign);
    FIND(aligned_alloc);
    FIND(memalign);
    FIND(access);
    FIND(free);
}

/* ---- counting ---- */

/* The first record of a thread; NULL where there is no memory for one: it goes uncounted. */
static struct counts *new_counts(void)
{
    struct counts *c =
        mmap(NULL, sizeof(*c), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (c == MAP_FAILED)
        return NULL;
    c->next = atomic_load(&all);
    while (!atomic_compare_exchange_weak(&all, &c->next, c))
        continue;
    mine = c;
    return c;
}

/* Only this thread writes: no locked instruction is needed. */
static inline void bump(_Atomic uint64_t *count, uint64_t by)
{
    atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + by,
                          memory_order_relaxed);
}

static inline void allocated(size_t size)
{
    struct counts *c = mine ? mine : new_counts();

    if (c) {
        bump(&c->calls, 1);
        bump(&c->bytes, size);
    }
}

static struct sums sum(void)
{
    struct sums s = {0};

    for (const struct counts *c = atomic_load(&all); c; c = c->next) {
        s.calls += atomic_load_explicit(&c->calls, memory_order_relaxed);
        s.bytes += atomic_load_explicit(&c->bytes, memory_order_relaxed);
        s.frees += atomic_load_explicit(&c->frees, memory_order_relaxed);
    }
    return s;
}

EXPORT void *malloc(size_t size)
{
    void *p = below.malloc ? below.malloc(size) : early_alloc(size);

    if (p)
        allocated(size);
    return p;
}

EXPORT void *calloc(size_t count, size_t size)
{
    size_t bytes;
    void *p;

    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    p = below.calloc ? below.calloc(count, size) : early_alloc(bytes);
    if (p)
        allocated(bytes);
    return p;
}

EXPORT void *realloc(void *old, size_t size)
{
    void *p;

    if (!is_early(old)) {
        p = below.realloc ? below.realloc(old, size) : early_alloc(size);
    } else {
        const size_t left = (size_t)(early + sizeof(early) - (const char *)old);

        p = below.malloc ? below.malloc(size) : early_alloc(size);
        if (p)
            memcpy(p, old, size < left ? size : left);
    }
    if (p)
        allocated(size);
    return p;
}

EXPORT void free(void *p)
{
    struct counts *c;

    if (!p || is_early(p))
        return;
    c = mine ? mine : new_counts();
    if (c)
        bump(&c->frees, 1);
    if (below.free)
        below.free(p);
}

EXPORT int posix_memalign(void **p, size_t alignment, size_t size)
{
    int rc;

    find_below();
    rc = below.posix_memalign(p, alignment, size);
    if (rc == 0)
        allocated(size);
    return rc;
}

EXPORT void *aligned_alloc(size_t alignment, size_t size)
{
    void *p;

    find_below();
    p = below.aligned_alloc(alignment, size);
    if (p)
        allocated(size);
    return p;
}

EXPORT void *memalign(size_t alignment, size_t size)
{
    void *p;

    find_below();
    p = below.memalign(alignment, size);
    if (p)
        allocated(size);
    return p;
}

/* ---- windows ---- */

static struct sums at_begin;
static _Atomic unsigned windows;
static atomic_bool open_now;

/* Without stdio, which allocates. */
static void tell(const char *what, const struct sums *from)
{
    const struct sums now = sum();
    char line[160];
    int n = snprintf(line, sizeof(line), "heap %s calls=%llu bytes=%llu frees=%llu\n", what,
                     (unsigned long long)(now.calls - from->calls),
                     (unsigned long long)(now.bytes - from->bytes),
                     (unsigned long long)(now.frees - from->frees));

    if (n > 0)
        (void)!write(STDERR_FILENO, line, (size_t)n);
}

static void look_at(const char *path)
{
    char what[32];

    if (strcmp(path, "/abba/window/begin") == 0) {
        at_begin = sum();
        atomic_store(&open_now, true);
    } else if (strcmp(path, "/abba/window/end") == 0 && atomic_exchange(&open_now, false)) {
        snprintf(what, sizeof(what), "window=%u", atomic_fetch_add(&windows, 1) + 1);
        tell(what, &at_begin);
    }
}

EXPORT int access(const char *path, int mode)
{
    find_below();
    if (strncmp(path, "/abba/window/", 13) == 0)
        look_at(path);
    return below.access(path, mode);
}

__attribute__((destructor)) static void at_end(void)
{
    const struct sums nothing = {0};
    const char *asked = getenv("ABBA_HEAP");

    if (asked && strcmp(asked, "process") == 0)
        tell("process", &nothing);
}
