#include "trace.h"

#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TRACING "/sys/kernel/tracing/"
#define BUFFER_KB "65536"
#define PAGE 4096

/*
 * time_to_send lies in skb->cb (offset 40 on 64-bit kernels) behind the eight bytes of
 * qdisc_skb_cb's own figures.
 */
static const struct {
    const char *name, *probe, *argument;
    const char *caller; /* what the probed function must return into, or NULL */
    const char *filter;
    size_t at; /* of the argument in the record; 0: none */
} probes[TRACE_KINDS] = {
    [TRACE_ENTER] = {"enter", "p:enter sch_netem:netem_enqueue", "", NULL, NULL, 0},
    [TRACE_RETURN] = {"return", "r:return sch_netem:netem_enqueue", "", NULL, NULL, 0},
    [TRACE_NOW] = {"now", "r:now ktime_get", "ns=$retval:s64", "netem_enqueue", NULL, 24},
    [TRACE_LOOK] = {"look", "r:look ktime_get", "ns=$retval:s64", "netem_dequeue", NULL, 24},
    [TRACE_LEAVE] = {"leave", "r:leave sch_netem:netem_dequeue",
                     "due=+48($retval):s64 skb=$retval:u64", NULL, "skb != 0", 24},
};

static int ids[TRACE_KINDS];

static int put(const char *file, const char *text, struct err *err)
{
    char path[256];
    int fd, n;

    snprintf(path, sizeof(path), TRACING "%s", file);
    fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (fd < 0)
        return err_sys(err, ERR_SYSTEM, errno, "cannot open '%s'", path);
    n = (int)write(fd, text, strlen(text));
    if (n < 0)
        err_sys(err, ERR_SYSTEM, errno, "cannot write '%s' to '%s'", text, path);
    close(fd);
    return n < 0 ? -1 : 0;
}

/* The addresses of a function: from its symbol to the next one of the module. */
static int bounds(const char *function, uint64_t *from, uint64_t *to, struct err *err)
{
    FILE *f = fopen("/proc/kallsyms", "re");
    char line[512], name[256];
    uint64_t at;

    *from = 0;
    *to = UINT64_MAX;
    while (f && fgets(line, sizeof(line), f))
        if (sscanf(line, "%" SCNx64 " %*c %255s", &at, name) == 2 && strcmp(name, function) == 0)
            *from = at;
    if (f)
        rewind(f);
    while (f && fgets(line, sizeof(line), f))
        if (sscanf(line, "%" SCNx64, &at) == 1 && at > *from && at < *to)
            *to = at;
    if (f)
        fclose(f);
    return *from ? 0 : err_set(err, ERR_MEASURE, "no symbol '%s' in the kernel", function);
}

static int set_probe(enum trace_kind kind, struct err *err)
{
    char text[512], file[128];
    uint64_t from, to;
    FILE *f;

    snprintf(text, sizeof(text), "%s %s", probes[kind].probe, probes[kind].argument);
    if (put("kprobe_events", text, err) < 0)
        return -1;
    snprintf(file, sizeof(file), "events/kprobes/%s/filter", probes[kind].name);
    if (probes[kind].filter && put(file, probes[kind].filter, err) < 0)
        return -1;
    if (probes[kind].caller) {
        if (bounds(probes[kind].caller, &from, &to, err) < 0)
            return -1;
        snprintf(text, sizeof(text), "__probe_ret_ip > %" PRIu64 " && __probe_ret_ip < %" PRIu64,
                 from, to);
        if (put(file, text, err) < 0)
            return -1;
    }
    snprintf(file, sizeof(file), TRACING "events/kprobes/%s/id", probes[kind].name);
    f = fopen(file, "re");
    if (!f || fscanf(f, "%d", &ids[kind]) != 1)
        err_set(err, ERR_MEASURE, "the probe '%s' has no id", probes[kind].name);
    else
        err->code = ERR_NONE;
    if (f)
        fclose(f);
    return err->code == ERR_NONE ? 0 : -1;
}

int trace_open(struct err *err)
{
    if (put("tracing_on", "0", err) < 0 || put("buffer_size_kb", BUFFER_KB, err) < 0)
        return -1;
    for (enum trace_kind kind = 0; kind < TRACE_KINDS; kind++)
        if (set_probe(kind, err) < 0)
            return -1;
    return 0;
}

int trace_start(struct err *err)
{
    int fd = open(TRACING "trace", O_WRONLY | O_TRUNC | O_CLOEXEC); /* empties the buffer */

    if (fd < 0)
        return err_sys(err, ERR_SYSTEM, errno, "cannot empty the trace");
    close(fd);
    if (put("events/kprobes/enable", "1", err) < 0)
        return -1;
    return put("tracing_on", "1", err);
}

/* ---- the ring buffer's pages -------------------------------------------------------------------
 */

struct events {
    struct trace_event *list;
    size_t count, room;
};

static void add(struct events *e, const unsigned char *record)
{
    struct trace_event event = {.ns = 0};
    uint16_t id;

    memcpy(&id, record, sizeof(id));
    for (enum trace_kind kind = 0; kind < TRACE_KINDS; kind++) {
        if (ids[kind] != id)
            continue;
        event.kind = kind;
        if (probes[kind].at)
            memcpy(&event.ns, record + probes[kind].at, sizeof(event.ns));
        if (e->count == e->room) {
            e->room = e->room ? 2 * e->room : 65536;
            e->list = xreallocarray(e->list, e->room, sizeof(*e->list));
        }
        e->list[e->count++] = event;
    }
}

/*
 * A page: time stamp, bytes used (with flags above), then records. A record's first word has the
 * type or length in words in its low 5 bits (Documentation/trace/ring-buffer-map, linux/
 * ring_buffer.h).
 */
static bool read_page(struct events *e, const unsigned char *page)
{
    uint64_t used;
    size_t at = 16, end;

    memcpy(&used, page + 8, sizeof(used));
    end = 16 + (used & 0xfffff);
    while (at + 4 <= end && end <= PAGE) {
        uint32_t word, length;

        memcpy(&word, page + at, sizeof(word));
        memcpy(&length, page + at + 4, sizeof(length));
        switch (word & 31) {
        case 29: /* padding */
            at += (word >> 5) ? 4 + length : PAGE;
            break;
        case 30: /* the time has passed far */
        case 31:
            at += 8;
            break;
        case 0: /* the length follows */
            add(e, page + at + 8);
            at += 4 + length;
            break;
        default:
            add(e, page + at + 4);
            at += 4 + (word & 31) * 4;
        }
    }
    return !(used & (1U << 31)); /* RB_MISSED_EVENTS */
}

/* Probes that were hit and could not be served: the last column of kprobe_profile. */
static long missed_hits(void)
{
    FILE *f = fopen(TRACING "kprobe_profile", "re");
    long sum = 0, missed;
    char line[256];

    while (f && fgets(line, sizeof(line), f))
        if (sscanf(line, "%*s %*s %ld", &missed) == 1)
            sum += missed;
    if (f)
        fclose(f);
    return f ? sum : -1;
}

int trace_stop(struct trace_event **events, size_t *count, struct err *err)
{
    struct events e = {NULL, 0, 0};
    unsigned char page[PAGE];
    bool whole = true;
    long missed;
    int fd;

    if (put("tracing_on", "0", err) < 0 || put("events/kprobes/enable", "0", err) < 0)
        return -1;
    fd = open(TRACING "per_cpu/cpu0/trace_pipe_raw", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return err_sys(err, ERR_SYSTEM, errno, "cannot read the trace");
    while (read(fd, page, sizeof(page)) > 0)
        whole = read_page(&e, page) && whole;
    close(fd);
    missed = missed_hits();
    if (!whole || missed) {
        free(e.list);
        return err_set(err, ERR_MEASURE, "the kernel lost events of the trace (%ld hits)", missed);
    }
    *events = e.list;
    *count = e.count;
    return 0;
}
