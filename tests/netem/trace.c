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

#define RETURNS_AT 16 /* in a return probe's record: where the function returned to */
#define VALUE_AT 24   /* its first argument */

/*
 * time_to_send lies in skb->cb (offset 40 on 64-bit kernels) behind the eight bytes of
 * qdisc_skb_cb's own figures. One probe serves both who read the clock: of two on one function, one
 * would see the other's trampoline as the caller.
 */
enum probe { ENTER, RETURN, CLOCK, LEAVE, PROBES };

static const struct {
    const char *name, *text;
} probes[PROBES] = {
    [ENTER] = {"enter", "p:enter sch_netem:netem_enqueue"},
    [RETURN] = {"return", "r:return sch_netem:netem_enqueue"},
    [CLOCK] = {"clock", "r:clock ktime_get ns=$retval:s64"},
    [LEAVE] = {"leave", "r:leave sch_netem:netem_dequeue due=+48($retval):s64 skb=$retval:u64"},
};

static int ids[PROBES];

struct range {
    uint64_t from, to;
};

static struct range enqueue, dequeue;

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

/* The addresses of a function: from its symbol to the next one. */
static int find_range(const char *function, struct range *r, struct err *err)
{
    FILE *f = fopen("/proc/kallsyms", "re");
    char line[512], name[256];
    uint64_t at;

    *r = (struct range){0, UINT64_MAX};
    while (f && fgets(line, sizeof(line), f))
        if (sscanf(line, "%" SCNx64 " %*c %255s", &at, name) == 2 && strcmp(name, function) == 0)
            r->from = at;
    if (f)
        rewind(f);
    while (f && fgets(line, sizeof(line), f))
        if (sscanf(line, "%" SCNx64, &at) == 1 && at > r->from && at < r->to)
            r->to = at;
    if (f)
        fclose(f);
    return r->from ? 0 : err_set(err, ERR_MEASURE, "no symbol '%s' in the kernel", function);
}

static bool is_in(const struct range *r, uint64_t address)
{
    return address >= r->from && address < r->to;
}

static int put_filter(enum probe p, const char *text, struct err *err)
{
    char file[128];

    snprintf(file, sizeof(file), "events/kprobes/%s/filter", probes[p].name);
    return put(file, text, err);
}

static int set_filters(struct err *err)
{
    char text[512];

    if (find_range("netem_enqueue", &enqueue, err) < 0 ||
        find_range("netem_dequeue", &dequeue, err) < 0)
        return -1;
    snprintf(text, sizeof(text),
             "(__probe_ret_ip > %" PRIu64 " && __probe_ret_ip < %" PRIu64
             ") || (__probe_ret_ip > %" PRIu64 " && __probe_ret_ip < %" PRIu64 ")",
             enqueue.from, enqueue.to, dequeue.from, dequeue.to);
    if (put_filter(CLOCK, text, err) < 0)
        return -1;
    return put_filter(LEAVE, "skb != 0", err);
}

static int read_id(enum probe p, struct err *err)
{
    char file[128];
    FILE *f;
    int got;

    snprintf(file, sizeof(file), TRACING "events/kprobes/%s/id", probes[p].name);
    f = fopen(file, "re");
    got = f ? fscanf(f, "%d", &ids[p]) : 0;
    if (f)
        fclose(f);
    return got == 1 ? 0 : err_set(err, ERR_MEASURE, "the probe '%s' has no id", probes[p].name);
}

int trace_open(struct err *err)
{
    if (put("tracing_on", "0", err) < 0 || put("buffer_size_kb", BUFFER_KB, err) < 0)
        return -1;
    for (enum probe p = 0; p < PROBES; p++)
        if (put("kprobe_events", probes[p].text, err) < 0 || read_id(p, err) < 0)
            return -1;
    return set_filters(err);
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

/* ---- the ring buffer's pages ---- */

struct events {
    struct trace_event *list;
    size_t count, room;
};

/* What a record says; TRACE_KINDS: nothing that is looked for. */
static enum trace_kind kind_of(const unsigned char *record)
{
    uint64_t returns;
    uint16_t id;

    memcpy(&id, record, sizeof(id));
    memcpy(&returns, record + RETURNS_AT, sizeof(returns));
    if (id == ids[ENTER])
        return TRACE_ENTER;
    if (id == ids[RETURN])
        return TRACE_RETURN;
    if (id == ids[LEAVE])
        return TRACE_LEAVE;
    if (id == ids[CLOCK] && is_in(&enqueue, returns))
        return TRACE_NOW;
    if (id == ids[CLOCK] && is_in(&dequeue, returns))
        return TRACE_LOOK;
    return TRACE_KINDS;
}

static void add(struct events *e, const unsigned char *record)
{
    struct trace_event event = {.kind = kind_of(record)};

    if (event.kind == TRACE_KINDS)
        return;
    if (event.kind != TRACE_ENTER && event.kind != TRACE_RETURN)
        memcpy(&event.ns, record + VALUE_AT, sizeof(event.ns));
    if (e->count == e->room) {
        e->room = e->room ? 2 * e->room : 65536;
        e->list = xreallocarray(e->list, e->room, sizeof(*e->list));
    }
    e->list[e->count++] = event;
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

/*
 * Probes that were hit and could not be served: the last column of kprobe_profile. The clock is
 * read by others too, also within a probe; a reading that is missing of netem's own shows as a
 * packet without a time.
 */
static long missed_hits(void)
{
    FILE *f = fopen(TRACING "kprobe_profile", "re");
    long sum = 0, missed;
    char line[256], name[64];

    while (f && fgets(line, sizeof(line), f)) {
        if (sscanf(line, "%63s %*s %ld", name, &missed) != 2)
            continue;
        if (strcmp(name, probes[CLOCK].name) != 0)
            sum += missed;
    }
    if (f)
        fclose(f);
    return f ? sum : -1;
}

int trace_stop(struct trace_event **events, size_t *count, struct err *err)
{
    struct events e = {NULL, 0, 0};
    unsigned char page[PAGE + 32] = {0}; /* a short record may be looked beyond */
    bool whole = true;
    long missed;
    int fd;

    if (put("tracing_on", "0", err) < 0 || put("events/kprobes/enable", "0", err) < 0)
        return -1;
    fd = open(TRACING "per_cpu/cpu0/trace_pipe_raw", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return err_sys(err, ERR_SYSTEM, errno, "cannot read the trace");
    while (read(fd, page, PAGE) > 0)
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
