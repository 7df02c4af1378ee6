#include "run/rss.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"

#define LISTING_BYTES 32768
#define SAME_PAGES 8

/* ---- small texts of /proc ---- */

/* "PID/suffix" without the cost of printf. */
static void process_path(char out[64], pid_t pid, const char *suffix)
{
    char digits[16];
    size_t n = 0, len = 0;

    do {
        digits[n++] = (char)('0' + pid % 10);
        pid /= 10;
    } while (pid > 0);
    while (n > 0)
        out[len++] = digits[--n];
    memcpy(out + len, suffix, strlen(suffix) + 1);
}

/* Reads a file of /proc into `out`, NUL-terminated. Returns the length, or -1. */
static ssize_t read_at(int dir_fd, const char *path, char *out, size_t size)
{
    int fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC);
    ssize_t n;

    if (fd < 0)
        return -1;
    n = read(fd, out, size - 1);
    close(fd);
    if (n >= 0)
        out[n] = '\0';
    return n;
}

/* The number of a process folder, or 0 for any other name. */
static pid_t process_number(const char *name)
{
    pid_t pid = 0;

    for (; *name >= '0' && *name <= '9'; name++)
        pid = pid * 10 + (*name - '0');
    return *name == '\0' ? pid : 0;
}

/* ---- which processes there are ---- */

static struct rss_process *find(struct rss *r, pid_t pid)
{
    for (size_t i = 0; i < r->count; i++)
        if (r->process[i].pid == pid)
            return &r->process[i];
    return NULL;
}

static void add(struct rss *r, pid_t pid)
{
    char path[64];
    int fd = -1;

    if (r->count == RSS_PROCESSES)
        return;
    if (r->open < RSS_OPEN) {
        process_path(path, pid, "/statm");
        fd = openat(r->proc_fd, path, O_RDONLY | O_CLOEXEC);
        if (fd < 0 && errno != EMFILE && errno != ENFILE)
            return; /* gone already */
        r->open += fd >= 0;
    }
    r->process[r->count++] = (struct rss_process){.pid = pid, .statm_fd = fd, .listed = true};
}

static void drop(struct rss *r, size_t i)
{
    struct rss_process *p = &r->process[i];

    r->gone_cpu_ticks += p->cpu_ticks;
    if (p->statm_fd >= 0) {
        close(p->statm_fd);
        r->open--;
    }
    *p = r->process[--r->count];
}

/* Calls add() for each process of the private /proc but Z. */
static void list_namespace(struct rss *r)
{
    ssize_t n;

    if (lseek(r->proc_fd, r->seek, SEEK_SET) < 0)
        return;
    do {
        n = syscall(SYS_getdents64, r->proc_fd, r->listing, LISTING_BYTES);
        for (ssize_t at = 0; at < n;) {
            const struct dirent64 *e = (const struct dirent64 *)(void *)(r->listing + at);
            pid_t pid = process_number(e->d_name);
            struct rss_process *known;

            at += e->d_reclen;
            if (pid == 0 || pid == r->z_pid)
                continue;
            known = find(r, pid);
            if (known != NULL)
                known->listed = true;
            else
                add(r, pid);
        }
    } while (n > LISTING_BYTES / 2); /* less than that was all */
}

static void add_children_in(struct rss *r, const char *path)
{
    char text[4096], *p = text, *end;

    if (read_at(r->proc_fd, path, text, sizeof(text)) <= 0)
        return;
    for (;; p = end) {
        pid_t pid = (pid_t)strtol(p, &end, 10);
        struct rss_process *known;

        if (end == p || *end == '\0') /* the kernel ends each number with a space */
            return;
        known = find(r, pid);
        if (known != NULL)
            known->listed = true;
        else
            add(r, pid);
    }
}

static void add_children(struct rss *r, pid_t pid)
{
    char path[64], task[64];
    int fd;
    ssize_t n;

    process_path(path, pid, "/task");
    fd = openat(r->proc_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    while ((n = syscall(SYS_getdents64, fd, r->listing, LISTING_BYTES)) > 0) {
        for (ssize_t at = 0; at < n;) {
            const struct dirent64 *e = (const struct dirent64 *)(void *)(r->listing + at);
            pid_t tid = process_number(e->d_name);

            at += e->d_reclen;
            if (tid == 0)
                continue;
            process_path(task, pid, "/task/");
            process_path(task + strlen(task), tid, "/children");
            add_children_in(r, task);
        }
    }
    close(fd);
}

/* The tree below Z. Processes that are added are walked in their turn. */
static void walk_tree(struct rss *r)
{
    add_children(r, r->z_pid);
    for (size_t i = 0; i < r->count; i++)
        if (r->process[i].listed)
            add_children(r, r->process[i].pid);
}

static void refresh(struct rss *r)
{
    for (size_t i = 0; i < r->count; i++)
        r->process[i].listed = false;
    if (r->namespaced)
        list_namespace(r);
    else
        walk_tree(r);
    for (size_t i = r->count; i-- > 0;)
        if (!r->process[i].listed)
            drop(r, i);
}

/* ---- what they use ---- */

/* Reads statm. False if the process is gone. */
static bool read_process(struct rss *r, struct rss_process *p)
{
    char path[64], text[128];
    const char *s = text;
    uint64_t pages = 0;
    ssize_t n;

    if (p->statm_fd >= 0) {
        n = pread(p->statm_fd, text, sizeof(text) - 1, 0);
        if (n >= 0)
            text[n] = '\0';
    } else {
        process_path(path, p->pid, "/statm");
        n = read_at(r->proc_fd, path, text, sizeof(text));
    }
    if (n <= 0)
        return false;
    while (*s != ' ' && *s != '\0')
        s++;
    for (s += *s == ' '; *s >= '0' && *s <= '9'; s++)
        pages = pages * 10 + (uint64_t)(*s - '0');
    p->pages = pages;
    return true;
}

/* Field 4 of /proc/PID/stat; the 2nd is in brackets and may hold anything. 0: unknown. */
static pid_t parent_of(const struct rss *r, pid_t pid)
{
    char path[64], text[1024], *s;

    process_path(path, pid, "/stat");
    if (read_at(r->proc_fd, path, text, sizeof(text)) <= 0)
        return 0;
    s = strrchr(text, ')');
    return s != NULL && strlen(s) > 4 ? (pid_t)strtol(s + 4, NULL, 10) : 0;
}

/*
 * Whether a young process has its parent's memory: between vfork and exec both show the same, but
 * for a page or two that were touched between the two readings. (After a fork they do not: the
 * child has not mapped the parent's file pages yet.)
 */
static bool shares_its_parents_memory(struct rss *r, size_t i)
{
    struct rss_process *p = &r->process[i];

    if (p->age >= RSS_YOUNG)
        return false;
    for (size_t j = 0; j < r->count; j++) {
        const uint64_t a = r->process[j].pages, b = p->pages;

        if (j == i || (a > b ? a - b : b - a) > SAME_PAGES)
            continue;
        if (p->parent == 0)
            p->parent = parent_of(r, p->pid);
        if (p->parent == 0 || r->process[j].pid == p->parent) /* 0: it is gone by now */
            return true;
    }
    return false;
}

static uint64_t sum_pages(struct rss *r)
{
    uint64_t sum = 0;

    for (size_t i = r->count; i-- > 0;)
        if (!read_process(r, &r->process[i]))
            drop(r, i);
    for (size_t i = 0; i < r->count; i++)
        if (!shares_its_parents_memory(r, i))
            sum += r->process[i].pages;
    for (size_t i = 0; i < r->count; i++)
        if (r->process[i].age < RSS_YOUNG)
            r->process[i].age++;
    return sum;
}

/* utime and stime: the 14th and 15th field; the 2nd is in brackets and may hold anything. */
static void read_cpu_times(struct rss *r)
{
    for (size_t i = 0; i < r->count; i++) {
        struct rss_process *p = &r->process[i];
        char path[64], text[1024], *s, *end;
        uint64_t user;

        process_path(path, p->pid, "/stat");
        if (read_at(r->proc_fd, path, text, sizeof(text)) <= 0)
            continue;
        s = strrchr(text, ')');
        for (int field = 2; s != NULL && field < 14; field++)
            s = strchr(s + 1, ' ');
        if (s == NULL)
            continue;
        user = strtoull(s, &end, 10);
        p->cpu_ticks = user + strtoull(end, NULL, 10);
    }
}

/* ---- points ---- */

static void keep_point(struct rss *r, uint64_t at_ns, uint64_t bytes)
{
    if (r->point_count == RSS_POINTS) {
        for (size_t i = 0; i < RSS_POINTS / 2; i++) {
            const struct rss_point *a = &r->point[2 * i], *b = a + 1;

            r->point[i] = b->bytes > a->bytes ? *b : *a;
        }
        r->point_count = RSS_POINTS / 2;
        r->every *= 2;
    }
    if (r->ticks % r->every != 0 && r->point_count > 0) {
        struct rss_point *last = &r->point[r->point_count - 1];

        if (bytes > last->bytes)
            *last = (struct rss_point){at_ns, bytes};
        return;
    }
    r->point[r->point_count++] = (struct rss_point){at_ns, bytes};
}

/* ---- interface ---- */

/*
 * A listing of /proc begins with some sixty names that are no processes. The kernel
 * (fs/proc/base.c, TGID_OFFSET) has process N at place 258 + N. If a listing from there on yields
 * what a whole listing yields (Z alone, at this time), start there.
 */
#define PROC_FIRST_PLACE (258 + 1)

static uint64_t digest_listing(struct rss *r, long seek)
{
    uint64_t sum = 0;
    ssize_t n;

    if (lseek(r->proc_fd, seek, SEEK_SET) < 0)
        return UINT64_MAX;
    while ((n = syscall(SYS_getdents64, r->proc_fd, r->listing, LISTING_BYTES)) > 0) {
        for (ssize_t at = 0; at < n;) {
            const struct dirent64 *e = (const struct dirent64 *)(void *)(r->listing + at);
            pid_t pid = process_number(e->d_name);

            at += e->d_reclen;
            if (seek > 0 && pid == 0)
                return UINT64_MAX;
            sum += (uint64_t)pid;
        }
    }
    return sum;
}

void rss_init(struct rss *r, int proc_fd, bool namespaced, pid_t z_pid)
{
    *r = (struct rss){.proc_fd = proc_fd, .namespaced = namespaced, .z_pid = z_pid, .every = 1};
    r->page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
    r->clock_ticks = (uint64_t)sysconf(_SC_CLK_TCK);
    r->process = xcalloc(RSS_PROCESSES, sizeof(*r->process));
    r->point = xcalloc(RSS_POINTS, sizeof(*r->point));
    r->listing = xmalloc(LISTING_BYTES);
    if (namespaced && digest_listing(r, PROC_FIRST_PLACE) == digest_listing(r, 0))
        r->seek = PROC_FIRST_PLACE;
}

static void close_all(struct rss *r)
{
    for (size_t i = r->count; i-- > 0;)
        drop(r, i);
}

void rss_release(struct rss *r)
{
    close_all(r);
    free(r->process);
    free(r->point);
    free(r->listing);
    *r = (struct rss){.proc_fd = -1};
}

void rss_begin(struct rss *r)
{
    close_all(r);
    r->ticks = r->peak_pages = r->gone_cpu_ticks = 0;
    r->every = 1;
    r->point_count = 0;
}

void rss_tick(struct rss *r, uint64_t at_ns)
{
    uint64_t pages;

    if (r->namespaced || r->ticks % RSS_WALK_EVERY == 0)
        refresh(r);
    pages = sum_pages(r);
    if (pages > r->peak_pages)
        r->peak_pages = pages;
    if (r->count > 0)
        keep_point(r, at_ns, pages * r->page_bytes);
    if (r->ticks % RSS_WALK_EVERY == RSS_WALK_EVERY - 1)
        read_cpu_times(r);
    r->ticks++;
}

void rss_end(struct rss *r, struct role_outcome *o)
{
    close_all(r);
    o->samples = (uint32_t)r->ticks;
    o->sampled_rss_bytes = r->peak_pages * r->page_bytes;
    o->rss = r->point;
    o->rss_count = r->point_count;
    o->rss_room = RSS_POINTS;
    o->cpu.sampled_s = r->ticks < RSS_WALK_EVERY
                           ? value_none(VALUE_MISSING, "the run was too short to be sampled")
                           : value_ok((double)r->gone_cpu_ticks / (double)r->clock_ticks);
}

/* Whether it is a multiple of the largest power of two up to a sixteenth of it. */
static bool is_common_turn(uint64_t tick)
{
    uint64_t step = 1;

    while (step <= tick / 32)
        step *= 2;
    return tick % step == 0;
}

bool rss_is_turn(const struct rss *r, size_t i)
{
    return r->process[i].age <= 2 || is_common_turn(r->ticks); /* rss_tick() has counted it */
}
