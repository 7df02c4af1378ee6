/*
 * heap: a library to preload. It counts what a program asks its heap for: calls and bytes of
 * malloc, calloc, realloc and aligned allocation, and calls of free, of all threads. The program's
 * own allocator, or the next one that was preloaded, does the work.
 *
 * A program that wants its set-up left out marks a window: it opens one by looking for the file
 * /abba/window/begin and closes it by looking for /abba/window/end, with access(2), which every
 * language can call. A window is of the process that opened it.
 *
 * With ABBA_HEAP=/a/folder in the environment every process leaves a record there, a file
 * PID.NUMBER as base/heap_record.h has it. Without, the end of each window writes one line to
 * standard error, and with ABBA_HEAP=process so does the end of the process:
 *
 *     heap window=1 calls=200000 bytes=25600000 frees=199488
 *     heap process calls=200010 bytes=25601000 frees=199490
 *
 * A realloc is one call and counts the whole new size: it may copy. What fails does not count.
 * Each thread has a slot of its own, written by it alone; there is no lock. The sums are read while
 * other threads may go on, so a window's edges are as sharp as the program makes them.
 */
#include "base/heap_record.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define HIDDEN_TLS static __thread __attribute__((tls_model("initial-exec")))
#define UNLIKELY(x) __builtin_expect(!!(x), 0)
#define PAGE 4096

/*
 * The record lies at one place from the first allocation on; a file is mapped over it as soon as
 * the environment is there to name one, and another one in the child of a fork.
 */
static struct heap_record record __attribute__((aligned(4096)));
HIDDEN_TLS struct heap_slot *mine;
HIDDEN_TLS bool finding;

static char folder[4000]; /* of the records; "": none is wanted */
static pthread_key_t slot_key;
static bool has_key;

/* ---- the allocator below ---- */

static struct {
    void *(*malloc)(size_t);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void (*free)(void *);
    int (*posix_memalign)(void **, size_t, size_t);
    void *(*aligned_alloc)(size_t, size_t);
    void *(*memalign)(size_t, size_t);
    void *(*valloc)(size_t);
    void *(*pvalloc)(size_t);
    int (*access)(const char *, int);
} below;

/* What dlsym itself asks for while it looks for the allocator comes from here, and stays. */
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

/* Libraries allocate in their constructors, before this one's has run: the first call finds all.
 * False while it is being found: the call is dlsym's own. */
static bool found(void)
{
    if (finding)
        return false;
    finding = true;
    FIND(access);
    FIND(calloc);
    FIND(realloc);
    FIND(posix_memalign);
    FIND(aligned_alloc);
    FIND(memalign);
    FIND(valloc);
    FIND(pvalloc);
    FIND(free);
    FIND(malloc);
    finding = false;
    return true;
}

#define HAVE(name) (!UNLIKELY(!below.name) || found())

/* ---- slots ---- */

/* One that a thread gave back, else a new one; NULL where there is none left. */
static struct heap_slot *find_slot(void)
{
    for (uint32_t i = 0; i < HEAP_SLOTS; i++) {
        struct heap_slot *s = &record.slot[i];
        uint32_t none = 0, slots;

        if (__atomic_load_n(&s->taken, __ATOMIC_RELAXED) ||
            !__atomic_compare_exchange_n(&s->taken, &none, 1, false, __ATOMIC_ACQUIRE,
                                         __ATOMIC_RELAXED))
            continue;
        slots = __atomic_load_n(&record.slots, __ATOMIC_RELAXED);
        while (slots <= i && !__atomic_compare_exchange_n(&record.slots, &slots, i + 1, true,
                                                          __ATOMIC_RELEASE, __ATOMIC_RELAXED))
            continue;
        return s;
    }
    __atomic_fetch_or(&record.flags, HEAP_LOST, __ATOMIC_RELAXED);
    return NULL;
}

/* What pthread_setspecific asks for is not the program's. */
static struct heap_slot *take_slot(void)
{
    static struct heap_slot scrap;
    struct heap_slot *s;

    mine = &scrap;
    s = find_slot();
    if (s && has_key)
        pthread_setspecific(slot_key, s);
    mine = s;
    return s;
}

/* The end of a thread. Where other ends allocate after this one, it takes a slot again. */
static void give_back(void *slot)
{
    struct heap_slot *s = slot;

    mine = NULL;
    __atomic_store_n(&s->taken, 0, __ATOMIC_RELEASE);
}

/* Only this thread writes: no locked instruction is needed. */
static inline void bump(uint64_t *count, uint64_t by)
{
    __atomic_store_n(count, *count + by, __ATOMIC_RELAXED);
}

static inline void allocated(size_t size)
{
    struct heap_slot *s = mine;

    if (UNLIKELY(!s) && !(s = take_slot()))
        return;
    bump(&s->calls, 1);
    bump(&s->bytes, size);
}

static inline void freed(void)
{
    struct heap_slot *s = mine;

    if (UNLIKELY(!s) && !(s = take_slot()))
        return;
    bump(&s->frees, 1);
}

static struct heap_sums sum(void)
{
    const uint32_t slots = __atomic_load_n(&record.slots, __ATOMIC_ACQUIRE);
    struct heap_sums s = {0};

    for (uint32_t i = 0; i < slots; i++) {
        s.calls += __atomic_load_n(&record.slot[i].calls, __ATOMIC_RELAXED);
        s.bytes += __atomic_load_n(&record.slot[i].bytes, __ATOMIC_RELAXED);
        s.frees += __atomic_load_n(&record.slot[i].frees, __ATOMIC_RELAXED);
    }
    return s;
}

static struct heap_sums since(const struct heap_sums *from)
{
    const struct heap_sums now = sum();

    return (struct heap_sums){now.calls - from->calls, now.bytes - from->bytes,
                              now.frees - from->frees};
}

/* ---- what programs call ---- */

EXPORT void *malloc(size_t size)
{
    void *p;

    if (!HAVE(malloc))
        return early_alloc(size);
    p = below.malloc(size);
    if (p)
        allocated(size);
    return p;
}

EXPORT void *calloc(size_t count, size_t size)
{
    void *p;

    if (!HAVE(calloc))
        return early_alloc(count * size);
    p = below.calloc(count, size);
    if (p)
        allocated(count * size);
    return p;
}

static void *move_early(const void *old, size_t size)
{
    const size_t left = (size_t)(early + sizeof(early) - (const char *)old);
    void *p = HAVE(malloc) ? below.malloc(size) : early_alloc(size);

    return p ? memcpy(p, old, size < left ? size : left) : NULL;
}

/* Without a size it frees (malloc(3)). */
EXPORT void *realloc(void *old, size_t size)
{
    void *p;

    if (is_early(old))
        return move_early(old, size);
    if (!HAVE(realloc))
        return early_alloc(size);
    p = below.realloc(old, size);
    if (p)
        allocated(size);
    else if (old && size == 0)
        freed();
    return p;
}

EXPORT void free(void *p)
{
    if (!p || is_early(p) || !HAVE(free))
        return;
    freed();
    below.free(p);
}

EXPORT int posix_memalign(void **p, size_t alignment, size_t size)
{
    int rc;

    if (!HAVE(posix_memalign))
        return ENOMEM;
    rc = below.posix_memalign(p, alignment, size);
    if (rc == 0)
        allocated(size);
    return rc;
}

/* Functions of alignment and size, or of size alone; dlsym calls none of them. */
#define ALIGNED(name, parameters, arguments)                                                       \
    EXPORT void *name parameters                                                                   \
    {                                                                                              \
        void *p = HAVE(name) ? below.name arguments : NULL;                                        \
                                                                                                   \
        if (p)                                                                                     \
            allocated(size);                                                                       \
        return p;                                                                                  \
    }
ALIGNED(aligned_alloc, (size_t alignment, size_t size), (alignment, size))
ALIGNED(memalign, (size_t alignment, size_t size), (alignment, size))
ALIGNED(valloc, (size_t size), (size))
ALIGNED(pvalloc, (size_t size), (size))

/* ---- records ---- */

/* A new file for this process; -1 where there can be none. */
static int new_file(char path[sizeof(folder) + 32])
{
    int fd = -1;

    for (unsigned n = 0; fd < 0 && n < 1000; n++) {
        snprintf(path, sizeof(folder) + 32, "%s/%d.%u", folder, (int)getpid(), n);
        fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0 && errno != EEXIST)
            return -1;
    }
    return fd;
}

/*
 * Room for the record, and what it holds: the head and the slots that are taken. Who writes to a
 * mapping of a file that finds no room on disk is killed: pages that most processes never go beyond
 * are there from the start.
 */
static bool fill_file(int fd)
{
    const off_t slots_at = (off_t)offsetof(struct heap_record, slot);
    const size_t taken = record.slots * sizeof(record.slot[0]);

    return ftruncate(fd, sizeof(record)) == 0 && posix_fallocate(fd, 0, PAGE) == 0 &&
           posix_fallocate(fd, slots_at, PAGE) == 0 && pwrite(fd, &record, PAGE, 0) == PAGE &&
           pwrite(fd, record.slot, taken, slots_at) == (ssize_t)taken;
}

/* Puts the record as it is into a file, and maps that where the record lies. */
static void record_share(void)
{
    char path[sizeof(folder) + 32];
    const int saved = errno;
    int fd;

    memcpy(record.magic, HEAP_RECORD_MAGIC, sizeof(record.magic));
    record.version = HEAP_RECORD_VERSION;
    record.pid = getpid();
    pthread_getname_np(pthread_self(), record.program, 16);
    fd = folder[0] ? new_file(path) : -1;
    if (fd >= 0 && (!fill_file(fd) || mmap(&record, sizeof(record), PROT_READ | PROT_WRITE,
                                           MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED))
        unlink(path); /* no record is better than one that stands still */
    if (fd >= 0)
        close(fd);
    errno = saved;
}

/* The child of a fork is a process of its own, which has allocated nothing yet. */
static void record_renew(void)
{
    const uint32_t kept = record.flags & HEAP_SHADOWED;

    mmap(&record, sizeof(record), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
         -1, 0);
    record.flags = kept;
    mine = NULL;
    record_share();
}

/* ---- windows ---- */

/* Without stdio, which allocates. */
static void tell(const char *what, const struct heap_sums *s)
{
    char line[160];
    int n = snprintf(line, sizeof(line), "heap %s calls=%llu bytes=%llu frees=%llu\n", what,
                     (unsigned long long)s->calls, (unsigned long long)s->bytes,
                     (unsigned long long)s->frees);

    if (n > 0 && !folder[0])
        (void)!write(STDERR_FILENO, line, (size_t)n);
}

static void set_flag(uint32_t flag)
{
    __atomic_fetch_or(&record.flags, flag, __ATOMIC_RELAXED);
}

/* A window that is open goes on. */
static void window_begin(void)
{
    if (__atomic_exchange_n(&record.open, 1, __ATOMIC_ACQ_REL)) {
        set_flag(HEAP_TWICE);
        return;
    }
    record.begin = sum();
}

static void window_end(void)
{
    const struct heap_sums window = since(&record.begin);
    char what[32];
    uint32_t n;

    if (!__atomic_exchange_n(&record.open, 0, __ATOMIC_ACQ_REL)) {
        set_flag(HEAP_STRAY);
        return;
    }
    n = record.closed;
    if (n < HEAP_WINDOWS)
        record.windows[n] = window;
    else
        set_flag(HEAP_MANY);
    __atomic_store_n(&record.closed, n + 1, __ATOMIC_RELEASE);
    snprintf(what, sizeof(what), "window=%u", n + 1);
    tell(what, &window);
}

/* A process that no fork handler knows of, by clone(2), is seen here at the latest. */
static void look_at(const char *path)
{
    if (!path || strncmp(path, "/abba/window/", 13) != 0)
        return;
    if (record.pid && record.pid != getpid())
        record_renew();
    if (strcmp(path, HEAP_WINDOW_BEGIN) == 0)
        window_begin();
    else if (strcmp(path, HEAP_WINDOW_END) == 0)
        window_end();
}

EXPORT int access(const char *path, int mode)
{
    if (!HAVE(access)) {
        errno = ENOENT;
        return -1;
    }
    look_at(path);
    return below.access(path, mode);
}

/* ---- the process ---- */

/*
 * Whether the program takes its allocations elsewhere: its own functions go before all libraries'
 * (a sanitizer's, where it is linked statically). It is tried: the address that is found may be of
 * the program's jump to this library. Counts into `scrap`, which is this thread's slot for now.
 */
static void look_for_others(const struct heap_slot *scrap)
{
    const uint64_t before = scrap->calls;
    void *(*take)(size_t);
    void (*give)(void *);

    *(void **)(void *)&take = dlsym(RTLD_DEFAULT, "malloc");
    *(void **)(void *)&give = dlsym(RTLD_DEFAULT, "free");
    if (!take || !give)
        return;
    give(take(1));
    if (scrap->calls == before)
        set_flag(HEAP_SHADOWED);
}

__attribute__((constructor)) static void at_start(void)
{
    struct heap_slot *counting = mine;
    const char *asked = getenv(HEAP_FOLDER_ENV);
    static struct heap_slot scrap;

    mine = &scrap; /* what dlsym asks for is not the program's */
    (void)HAVE(malloc);
    look_for_others(&scrap);
    has_key = pthread_key_create(&slot_key, give_back) == 0;
    pthread_atfork(NULL, NULL, record_renew);
    if (asked && asked[0] == '/' && strlen(asked) < sizeof(folder))
        memcpy(folder, asked, strlen(asked) + 1);
    record_share();
    mine = counting;
}

__attribute__((destructor)) static void at_end(void)
{
    const struct heap_sums nothing = {0}, all = since(&nothing);
    const char *asked = getenv(HEAP_FOLDER_ENV);

    if (asked && strcmp(asked, "process") == 0)
        tell("process", &all);
}
